"""Growth of time and memory with the rows, and the time of a path of lists.

Usage: python -m benchmarks.few_rules.scale [--quick] [--fresh]

An XGBoost model of HIGGS is approximated by ten rules, from so many rows of HIGGS drawn
with some noise; each fit runs in a fresh process.
"""

import time
from functools import partial

import numpy as np

from benchmarks._data import gaussian_rows, load, make_model, table_of
from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
)

ROWS = (2000, 5000, 20_000, 50_000, 200_000)
QUICK_ROWS = (2000, 5000, 20_000)

METHODS = {
    "list": ("RuleListClassifier", {"n_rules": 10}),
    "tree": ("DistilledTreeClassifier", {"n_rules": 10}),
    "additive": ("AdditiveRulesClassifier", {"n_rules": 10}),
    "FAB, one restart": ("FABRulesClassifier", {"n_init": 1}),
}
"""Name -> estimator and its settings."""

NOISE = 0.05
"""Standard deviation of the noise over that of the feature."""

TRAINING = 20_000
"""Real rows to which the model is fitted and from which new ones are drawn; those on
which fidelity is measured are drawn from the others (5,970)."""

TEXT = f"""\
Rows of HIGGS (28 features) drawn with replacement, every feature with normal noise of
{NOISE} of its standard deviation; labelled by XGBoost (100 rounds, depth 6) fitted to
{TRAINING:,} real rows. One fit with K = 10 in a fresh process on one thread, after one
small fit that loads all modules. Wall seconds, and seconds of processor time. Memory:
peak of the process, its size before the fit (libraries, model, rows), and the array of
rows alone. Growth: processor seconds over those of the row above, and rows over rows.
FAB's default is 20 restarts; this is one of them. Runs are single-threaded on the
machine named above."""


PATH_TEXT = """\
The path of lists from K = 1 to 10 on 2,000 real rows (1,598 of chess), with a forest of
100 trees and XGBoost as models, measured in the same way."""

PATH_SETS = ("chess", "spambase", "higgs", "waveform21", "satimage", "letter")


def main():
    options = arguments(__doc__)
    sizes = QUICK_ROWS if options.quick else ROWS
    study = Study("few_rules_scale", ["method", "data", "rows"], options)
    growth = [(method, "noisy", size) for size in sizes for method in METHODS]
    paths = [
        ("list", f"{name} {kind}", 2000)
        for name in PATH_SETS[: 3 if options.quick else None]
        for kind in ("forest", "xgboost")
    ]
    study.run({key: partial(cost, *key) for key in growth + paths})
    frame = study.frame()
    is_growth = frame["data"] == "noisy"
    columns = ["data", "seconds", "cpu", "peak_mb", "lines", "fidelity"]
    header = ["data", "seconds", "processor seconds", "peak MB", "lines", "fidelity"]
    study.write_markdown(
        "Time and memory of few rules on many rows",
        TEXT,
        table(frame[is_growth].copy()),
        PATH_TEXT,
        markdown_table(header, frame.loc[~is_growth, columns].to_numpy().tolist()),
    )


def table(frame):
    """Lines by method, in order of rows."""
    frame["rows"] = frame["rows"].astype(int)
    lines = []
    for method, part in frame.groupby("method", sort=False):
        part = part.sort_values("rows")
        growth = part["cpu"] / part["cpu"].shift()
        more = part["rows"] / part["rows"].shift()
        for row, times, rows in zip(part.to_dict("records"), growth, more):
            lines.append(
                [
                    method,
                    row["rows"],
                    row["seconds"],
                    row["cpu"],
                    f"{times:.1f} for {rows:.1f}" if rows == rows else "",
                    row["peak_mb"],
                    row["before_mb"],
                    row["data_mb"],
                    row["lines"],
                    f"{row['fidelity']:.3f}",
                ]
            )
    header = ["method", "rows", "seconds", "processor seconds", "growth", "peak MB"]
    header += ["MB before", "MB of rows", "lines", "fidelity, new rows"]
    return markdown_table(header, lines)


def cost(method, data, size):
    """One row of results."""
    return [in_fresh_process(measure, method, data, size)]


def measure(method, data, size):
    """In the fresh process: fit, and measure time and memory."""
    import clearwood as cw

    model, rows, new = model_and_rows(data, size)
    name, settings = METHODS[method]
    make = partial(getattr(cw, name), random_state=0, **settings)
    small, labels = gaussian_rows(300, 8, seed=0)
    make(make_model("xgboost", True, 0).fit(small, labels)).fit(small, labels)

    before = memory("VmRSS")
    begin, cpu = time.perf_counter(), time.process_time()
    rules = make(model).fit(rows).rules_
    taken, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {
        "seconds": taken,
        "cpu": cpu,
        "peak_mb": memory("VmHWM"),
        "before_mb": before,
        "data_mb": rows.nbytes / 1e6,
        "lines": rules.n_rules,
        "fidelity": float(np.mean(rules.predict(new) == model.predict(new))),
    }


def model_and_rows(data, size):
    """The model, training rows for the rules, and new rows."""
    if data != "noisy":
        name, kind = data.split()
        X, y, new, _ = load(name, 0)
        return make_model(kind, True, 0).fit(X, y), X, new
    X, y = table_of("higgs", 0)
    model = make_model("xgboost", True, 0).fit(X[:TRAINING], y[:TRAINING])
    return model, noisy_rows(X[:TRAINING], size, 1), noisy_rows(X[TRAINING:], 5000, 2)


def noisy_rows(X, size, seed):
    """Rows drawn with replacement, with noise."""
    rng = np.random.default_rng(seed)
    drawn = X[rng.integers(len(X), size=size)]
    drawn += rng.normal(size=drawn.shape) * (NOISE * X.std(axis=0))
    return drawn


if __name__ == "__main__":
    main()
