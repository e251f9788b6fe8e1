"""Error and fidelity of the rules of FAB, on real and synthetic data.

Usage: python -m benchmarks.fab.quality [--quick] [--fresh]

Per data set, ensemble and split: the ensemble is trained, FAB explains it with its
default settings, prints the regions of its components, and these shortened
as far as no training prediction changes. All are evaluated on test rows.
"""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np

from benchmarks._data import SIZES_2018, is_classes, load, make_model
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd

REGIONS = {"rules": "regions", "min_samples_leaf": 1}

TEXT = """\
Mean and standard deviation over random splits. Error: share of wrong classes, or mean
squared error, on test rows, of the printed rules, of the soft posterior
(`predict_soft`), of the ensemble, and of the majority class or the mean of the
training rows. Fidelity: share of equal classes, or R2, of printed rules against
ensemble on test rows. Lines: rules printed, `otherwise` included. K: components of the
fit. Coverage: share of test rows that satisfy a rule other than `otherwise`. Overlap:
mean number of such rules per test row. L: distinct statements. Seconds: reading the
ensemble, 20 restarts and printing; not training the ensemble, nor cross-fitting, as the
fits have no labels. Settings: at most 10 lines, fitted to the predictions."""

COLUMNS = {
    "lines": ("lines", 1),
    "K": ("components", 1),
    "printed error": ("error", None),
    "soft error": ("soft_error", None),
    "ensemble error": ("ensemble_error", None),
    "constant error": ("constant_error", None),
    "fidelity": ("fidelity", 3),
    "coverage": ("coverage", 3),
    "overlap": ("overlap", 2),
    "literals": ("literals", 1),
    "L": ("statements", 0),
    "seconds": ("seconds", 2),
}
"""Heading -> column and decimals."""


def main():
    options = arguments(__doc__)
    study = Study("fab_quality", ["data", "ensemble", "split"], options)
    names = (
        [n for n in SIZES_2018 if n != "higgs"] if options.quick else list(SIZES_2018)
    )
    study.run(
        {
            (name, kind, split): partial(scores, name, kind, split)
            for split in range(1 if options.quick else 5)
            for name in names
            for kind in ("forest", "boosting")
        }
    )
    frame, body = study.frame(), []
    for key, rows in frame.groupby(["data", "ensemble", "method"], sort=False):
        values = [mean_and_sd(rows[name], digits) for name, digits in COLUMNS.values()]
        body.append([*key, len(rows), *values])
    header = ["data", "ensemble", "method", "splits", *COLUMNS]
    order = {name: i for i, name in enumerate(SIZES_2018)}
    body.sort(key=lambda line: order[line[0]])
    study.write_markdown(
        "Error and fidelity of the rules of FAB", TEXT, markdown_table(header, body)
    )


def scores(name, kind, split):
    """One row per method."""
    import clearwood as cw

    X_train, y_train, X_test, y_test = load(name, split, SIZES_2018[name])
    model = make_model(kind, is_classes(name), split).fit(X_train, y_train)
    regression = not is_classes(name)
    make = cw.FABRulesRegressor if regression else cw.FABRulesClassifier
    rows, fitted = [], {}
    for method, settings in {"default": {}, "regions": REGIONS}.items():
        fab = make(model, random_state=split, **settings)
        begin = time.perf_counter()
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            fab.fit(X_train)
        fitted[method] = fab, fab.rules_, len(raised), time.perf_counter() - begin
    fab, rules, *rest = fitted["regions"]
    short = shortened(rules, fab.ensemble_.encode(X_train))
    fitted["regions, shortened"] = fab, short, *rest
    for method, (fab, rules, n_warnings, taken) in fitted.items():
        found = rules.evaluate(X_test, y_test, model=model)
        row = {
            "method": method,
            "lines": found.n_rules,
            "components": fab.restarts_[fab.selected_]["n_components"],
            "error": found.error,
            "soft_error": error(y_test, fab.predict_soft(X_test), regression),
            "ensemble_error": error(y_test, model.predict(X_test), regression),
            "constant_error": error(y_test, constant(y_train, regression), regression),
            "fidelity": found.fidelity,
            "coverage": found.coverage,
            "overlap": found.overlap,
            "literals": found.n_literals,
            "statements": int(fab.bins_.n_statements),
            "warnings": n_warnings,
            "seconds": taken,
        }
        rows.append(row)
    return rows


def shortened(rules, encoded):
    """The list without the literals and rules whose removal changes no prediction."""
    from clearwood.rules import prune_by_prediction
    from clearwood.rules.conditions import matches_all

    kept, free = [], np.ones(len(encoded), dtype=bool)
    shorter = prune_by_prediction(
        [rule.conditions for rule in rules.rules],
        [rule.prediction for rule in rules.rules],
        rules.otherwise.prediction,
        encoded,
    )
    for rule, conditions in zip(rules.rules, shorter):
        decided = free & matches_all(conditions, encoded)
        if decided.any():
            kept.append(replace(rule, conditions=conditions))
        free &= ~decided
    return replace(rules, rules=tuple(kept))


def error(y, predicted, regression):
    """Mean squared error, or share of wrong classes."""
    return float(np.mean((y - predicted) ** 2 if regression else y != predicted))


def constant(y, regression):
    """The mean, or the most frequent class."""
    if regression:
        return y.mean()
    classes, counts = np.unique(y, return_counts=True)
    return classes[counts.argmax()]


if __name__ == "__main__":
    main()
