"""Approximating an ensemble by a few rules: rule lists, trees, sums and peers.

Usage: python -m benchmarks.few_rules.run [--quick] [--fresh] [--tables]
       [--methods NAME,NAME] [--again NAME]

Per data set, ensemble, split and method: the ensemble is trained, the method
approximates it by at most K rules, and their fidelity to the ensemble and error against
the true target are measured on test rows. ``--methods`` runs only these, ``--again``
drops the rows of one method and measures them again, ``--tables`` only writes the
tables from existing rows.
"""

import time
from functools import partial
from typing import NamedTuple

import numpy as np

from benchmarks._data import SETS
from benchmarks._study import Study, arguments
from benchmarks.few_rules import methods
from benchmarks.few_rules.cases import make_case
from benchmarks.few_rules.tables import write_tables
from clearwood.comparison.peers import is_installed

TASKS = ("binary", "multiclass", "regression")
CLASSES = TASKS[:2]


class Method(NamedTuple):
    """How a method is run.

    Attributes
    ----------
    run : callable
        Takes a Case, gives Answers by size.
    tasks : tuple of str
        Those that it supports.
    turn : int
        Methods with a lower one are run first, on all data.
    splits : int
        Of five.
    ensembles : tuple of str
    wants_key : bool
        Whether it takes the case's key too, by which fits are shared.
    """

    run: object
    tasks: tuple = TASKS
    turn: int = 0
    splits: int = 5
    ensembles: tuple = ("forest", "xgboost")
    wants_key: bool = False


EVERY = ("forest", "xgboost", "small")

METHODS = {
    "list": Method(methods.rule_list, ensembles=EVERY),
    "tree": Method(methods.tree, splits=3),
    "additive": Method(methods.additive, splits=2),
    "cart_labels": Method(methods.cart_labels, CLASSES, ensembles=EVERY),
    "cart_probabilities": Method(methods.cart_probabilities, ensembles=EVERY),
    "cart_synthetic_labels": Method(methods.cart_synthetic_labels, CLASSES),
    "cart_synthetic_probabilities": Method(methods.cart_synthetic_probabilities),
    "figs": Method(partial(methods.peer, name="imodels:FIGS"), turn=1),
    "figs_probabilities": Method(methods.figs_probabilities, CLASSES, 1),
    "figs_splits": Method(methods.figs_splits, turn=1),
    "greedy_list": Method(
        partial(methods.peer, name="imodels:GreedyRuleList"), ("binary",), 1
    ),
    "rulefit": Method(
        partial(methods.peer, name="imodels:RuleFit"), ("binary", "regression"), 3, 1
    ),
    "fab_regions": Method(methods.fab_regions, turn=2, splits=1, wants_key=True),
    "fab_soft": Method(methods.fab_soft, turn=2, splits=1, wants_key=True),
    "fab_refined": Method(methods.fab_refined, turn=2, splits=1, wants_key=True),
    "te2rules": Method(methods.te2rules, ("binary",), 1, ensembles=("small",)),
    "te2rules_full": Method(methods.te2rules, ("binary",), 4, splits=1),
}
"""In the order of the tables."""

PACKAGES = dict.fromkeys(
    ("figs", "figs_probabilities", "figs_splits", "greedy_list", "rulefit"), "imodels"
) | dict.fromkeys(("te2rules", "te2rules_full"), "te2rules")
"""Packages of peers."""

QUICK_SETS = ("heart", "vote", "pima", "synthetic1", "energy", "autorisk")


def main():
    options = arguments(
        __doc__,
        {"methods": "run these only", "again": "measure this method again"},
        tables="only write the tables",
    )
    study = Study("few_rules", ["data", "ensemble", "split", "method"], options)
    if options.again:
        if options.again not in METHODS:
            raise SystemExit(f"No method {options.again}; known: {', '.join(METHODS)}.")
        study.drop(method=options.again)
    if not options.tables:
        study.run(cases_of(options))
    write_tables(study, list(METHODS))


def cases_of(options):
    """Key -> function giving rows, in the order in which they are run."""
    wanted = options.methods.split(",") if options.methods else list(METHODS)
    for method, package in PACKAGES.items():
        if method in wanted and not is_installed(package):
            print(f"{method} is left out: {package} is not installed")
            wanted.remove(method)
    sets = QUICK_SETS if options.quick else SETS
    cases = {
        (name, kind, split, method): partial(scores, name, kind, split, method)
        for split in range(1 if options.quick else 5)
        for name in sets
        for kind in EVERY
        for method in wanted
        if kind in METHODS[method].ensembles
        and split < METHODS[method].splits
        and SETS[name][0] in METHODS[method].tasks
        and (kind != "small" or SETS[name][0] == "binary")
    }
    return dict(sorted(cases.items(), key=lambda case: METHODS[case[0][3]].turn))


def scores(name, kind, split, method):
    """One row per size; a peer that fails has lines 0 and no scores."""
    case, chosen = make_case(name, kind, split), METHODS[method]
    keys = {"key": (name, kind, split)} if chosen.wants_key else {}
    begin = time.perf_counter()
    try:
        answers = chosen.run(case, **keys)
    except Exception as problem:
        if method not in PACKAGES:
            raise
        print(f"    {method} failed: {type(problem).__name__}: {problem}")
        nothing = np.full(len(case.predicted), np.nan)
        answers = dict.fromkeys(methods.SIZES, methods.Answer(nothing, 0, 0, np.nan))
    taken = time.perf_counter() - begin
    return [
        {
            "K": size,
            "lines": answer.lines,
            "fidelity": agreement(case.predicted, answer.predicted, case.is_class),
            "error": 1 - agreement(case.y_test, answer.predicted, case.is_class),
            "ensemble_error": 1 - agreement(case.y_test, case.predicted, case.is_class),
            "literals": answer.literals,
            "overlap": answer.overlap,
            "seconds": taken,
        }
        for size, answer in answers.items()
    ]


def agreement(truth, predicted, is_class):
    """Share of equal classes, or R2; NaN where there are no predictions."""
    from sklearn.metrics import r2_score

    if np.isnan(np.asarray(predicted, dtype=float)).any():
        return np.nan
    return float(
        np.mean(truth == predicted) if is_class else r2_score(truth, predicted)
    )


if __name__ == "__main__":
    main()
