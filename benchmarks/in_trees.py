"""inTrees on the sets of the papers, and its kernels against the plain formulas.

Usage: python benchmarks/in_trees.py [--quick] [--fresh]
"""

import sys
import time
from functools import partial

import numpy as np
from common import (
    REGRESSION,
    ROOT,
    Study,
    arguments,
    load_split,
    made_rows,
    make_ensemble,
    markdown_table,
    mean_and_sd,
)

SETTINGS = {
    "10 lines": {"max_rules": 10},
    "24 lines": {"max_rules": 24},
    "36 lines": {"max_rules": 36},
    "article": {
        "max_rules": None,
        "target": "labels",
        "nodes": "leaves",
        "decay": "relative",
        "min_frequency": 0.01,
    },
    "R package": {
        "max_rules": None,
        "target": "labels",
        "nodes": "leaves",
        "decay": "absolute",
        "min_frequency": 0.01,
    },
}
"""Defaults but for the number of lines, and the settings of others. In regression,
those of the R package come with ``discretize=3``."""

TEXT = """\
Forests of 100 trees, mean and standard deviation over random splits, scored on test
rows. Error: share of wrong classes, or mean squared error. The R package's lists, on
forests of 100 trees and 400 to 1,000 rows: 21-24 lines and 16-18 on energy, 28-36 lines
and .075-.081 on spambase, in 17-64 seconds. Seconds: reading the forest, all sizes and
printing."""

SPEED = """\
`plain`: the formulas with one NumPy mask per literal (`tests/simplifiers/
naive_in_trees.py`), on a part of the rules and counted up. 5,000 rows, 20 features, a
forest of 100 trees grown to pure leaves. Seconds of one thread."""

COLUMNS = ("lines", "literals", "error", "forest_error", "fidelity", "rules", "seconds")


def main():
    options = arguments(__doc__)
    study = Study("in_trees", ["data", "settings", "split"], options)
    study.run(
        {
            (name, how, split): partial(scores, name, how, split)
            for split in range(1 if options.quick else 5)
            for name in ("energy", "spambase", "synthetic1", "synthetic2", "xor")
            for how in SETTINGS
        }
    )
    body = [
        [*key, *(mean_and_sd(rows[column]) for column in COLUMNS)]
        for key, rows in study.frame().groupby(["data", "settings"], sort=False)
    ]
    table = markdown_table(["data", "settings", *COLUMNS], body)
    study.write_markdown("inTrees", TEXT, table, "## Speed", SPEED, speed())


def scores(name, how, split):
    """One fit."""
    import clearwood as cw

    X, y, X_test, y_test = load_split(name, split)
    forest = make_ensemble("forest", name, split).fit(X, y)
    settings = dict(SETTINGS[how], random_state=split)
    if name in REGRESSION and how == "R package":
        settings["discretize"] = 3
    make = cw.InTreesRegressor if name in REGRESSION else cw.InTreesClassifier
    begin = time.perf_counter()
    fit = make(forest, **settings).fit(X, y)
    seconds = time.perf_counter() - begin
    found = fit.rules_.evaluate(X_test, y_test, teacher=forest)
    said = forest.predict(X_test)
    wrong = (said - y_test) ** 2 if name in REGRESSION else said != y_test
    row = {
        "lines": found.n_rules,
        "literals": found.n_literals,
        "error": found.error,
        "forest_error": float(np.mean(wrong)),
        "fidelity": found.fidelity,
        "rules": len(fit.extracted_),
        "seconds": seconds,
    }
    return [row]


def speed():
    """A table of seconds: pruning and ordering, by kernels and by plain formulas."""
    sys.path.insert(0, str(ROOT))
    from sklearn.ensemble import RandomForestClassifier
    from tests.simplifiers import naive_in_trees as naive

    import clearwood as cw
    from clearwood.simplifiers import in_trees

    X, y = made_rows(5000, 20, 0)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    ensemble, fit = cw.read_ensemble(forest), cw.InTreesClassifier(max_rules=10)
    fit.set_params(estimator=ensemble, target="labels", random_state=0).fit(X, y)
    whole = timed(lambda: fit.fit(X, y))
    codes = fit.bins_.transform(X)
    rows = in_trees.Rows.of(codes, y, np.ones(len(y)), 2)
    paths, pruning = fit.extracted_._paths, in_trees.Pruning()
    (_, judged), fast = timed_result(in_trees.judge_and_prune, paths, rows, pruning)
    some = range(0, paths.n_rules, 50)
    facts = y, rows.weight, 2, "absolute", 0.05
    slow = timed(
        lambda: [
            naive.prune(naive.masks(paths, fit.bins_, codes, k), *facts) for k in some
        ]
    )
    slow *= paths.n_rules / len(some)
    part = in_trees.distinct(judged).take(np.arange(1000))
    order, fast_order = timed_result(in_trees.order_rules, part, rows, 0.01)
    inside = in_trees.unpacked(part.bits, len(y))
    facts = part.said, part.paths.lengths, y, rows.weight, 2, 0.01
    same, slow_order = timed_result(naive.order, inside, *facts)
    if same != order.rules:
        raise RuntimeError("The kernel and the plain formula order rules differently.")
    body = [
        [f"fit ({paths.n_rules:,} rules)", whole, np.nan, np.nan],
        [f"pruning {paths.n_rules:,} rules", fast, slow, slow / fast],
        [f"ordering 1,000 rules ({len(same)} lines)", fast_order, slow_order,
         slow_order / fast_order],
    ]  # fmt: skip
    return markdown_table(["", "kernel", "plain", "ratio"], body)


def timed(function):
    """Seconds of one call."""
    return timed_result(function)[1]


def timed_result(function, *args):
    """What a call gives, and its seconds."""
    begin = time.perf_counter()
    result = function(*args)
    return result, time.perf_counter() - begin


if __name__ == "__main__":
    main()
