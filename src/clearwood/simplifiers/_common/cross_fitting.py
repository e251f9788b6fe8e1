"""Evaluation of rules on rows left out of their search (cross-fitting).

The printed rules come from all rows. Their shrinkage for new rows is estimated from
similar rules, which are found three times on two thirds of the rows and evaluated on
the remaining third; of few rows, five times on four fifths, as fewer rows yield other
rules, which generalize less. They are fitted to labels: the model's prediction for a
row depends on rows like it, and so on the labels that these rules are evaluated by.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._numeric.fold_roles import (
    N_FOLDS,
    check_groups,
    draw_folds,
    fold_roles,
)
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules import RuleSet, RuleSum, Training
from clearwood.rules.building.new_rows import (
    evaluate_apart,
    fit_shrinkage,
    learn_slope,
    with_expectations,
    with_slope,
)
from clearwood.rules.evaluation.overlap import with_selection

if TYPE_CHECKING:
    from clearwood.simplifiers._common.base import BaseRuleExtractor

MOST_ROWS = 10_000
"""Maximum number of rows, drawn at random, for the estimate."""

FEW_ROWS, FOLDS_OF_FEW = 1000, 5
"""Random folds of fewer rows than these: rules of two thirds of them are too unlike the
printed ones (``benchmarks.new_rows.cells``)."""

Change = Callable[[Any], Any]


def with_folds(
    training: Training, cv: Any, groups: Any, labels: Any, weight: np.ndarray
) -> Training:
    """The same rows with their groups and folds, of a table with these row weights."""
    n_rows, counted = len(weight), weight > 0
    groups = check_groups(groups, n_rows)
    folds = fold_roles(cv, groups, labels, n_rows)
    return replace(
        training,
        groups=None if groups is None else groups[counted],
        folds=None if folds is None else folds[counted],
    )


def cross_fit(
    method: BaseRuleExtractor, training: Training
) -> tuple[dict[str, float], Change] | None:
    """Estimate the shrinkage of a method's rules for new rows; None if unknown.

    Parameters
    ----------
    method : estimator with ``rules_`` and ``_refit``
    training : Training
        All rows, with labels; without synthetic ones.

    Returns
    -------
    shrinkage : dict of str to float
        The estimated numbers.
    with_estimates : callable
        Returns given rules with estimates for new rows, and, if they are fitted to
        labels, with the number of folds that selected each.
    """
    is_sum, is_class = isinstance(method.rules_, RuleSum), bool(training.classes)
    # The constant of a sum was not searched for.
    no_choice = is_sum and not (is_class and method.rules_.rules)
    if len(training) < N_FOLDS or no_choice:
        return None
    try:
        parts = list(left_out_parts(method, training))
    except InterruptedFitWarning:
        warnings.warn(
            "The fit was interrupted during cross-fitting. The rules are complete, but "
            "their performance on new rows is not estimated.",
            InterruptedFitWarning,
            stacklevel=6,
        )
        return None
    with_estimates: Change
    if is_sum:
        slope = learn_slope([(rules, rows) for rules, _, rows in parts])
        found, with_estimates = {"slope": slope}, partial(with_slope, slope=slope)
    else:
        evaluated = [evaluate_apart(*part) for part in parts]
        known = fit_shrinkage(evaluated, training.outcome)
        found = known.means()
        with_estimates = partial(with_expectations, training=training, shrinkage=known)
    if method.learn_from == "model":
        # Those of the folds are fitted to labels: their rules are no refits of these.
        return found, with_estimates
    refits, rows = [rules for rules, _, _ in parts], training.encoded[:MOST_ROWS]
    return found, lambda rules: with_selection(with_estimates(rules), refits, rows)


def left_out_parts(
    method: BaseRuleExtractor, training: Training
) -> Iterator[tuple[Any, Training, Training]]:
    """Rules of a part of the rows, these rows, and those that were left out."""
    # The same folds for every seed: methods without randomness stay without it.
    generator = np.random.default_rng(0)
    n_rows = len(training)
    n_folds = min(FOLDS_OF_FEW, n_rows) if n_rows < FEW_ROWS else N_FOLDS
    folds = draw_folds(n_rows, training.folds, generator, MOST_ROWS, n_folds)
    seeds = generator.integers(2**63, size=len(folds)).tolist()
    for (kept, left_out), seed in zip(folds, seeds):
        fitted = with_labels_as_target(training.take(kept))
        with warnings.catch_warnings():
            # These rules are not shown to anyone.
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", InterruptedFitWarning)
            rules: RuleSet = method._refit(fitted, np.random.default_rng(seed))
        yield rules, fitted, training.take(left_out)


def with_labels_as_target(training: Training) -> Training:
    """The same rows with the labels as target, not the model's predictions."""
    labels: Any = training.labels
    return replace(training, target=training.outcome.certain(labels))
