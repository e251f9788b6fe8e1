"""Estimates from true values as predictions of rules."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clearwood._words.numbers import short_value
from clearwood.rules.building.rule_curves import pooled_weight
from clearwood.rules.evaluation.sums import Kind, described
from clearwood.rules.training import Training

ROUNDING = 1 / 40
"""Rounding of predictions, as a part of their 95 % interval."""


def with_true_estimates(
    rules: Kind,
    training: Training,
    own: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> Kind:
    """Rules that predict estimates from the true values of their rows.

    Parameters
    ----------
    rules : RuleSet
        Exactly one rule predicts each row.
    training : Training
        With labels.
    own : ndarray of shape (n_rules,), optional
        Share of a rule's own rows in its estimate, the others being all rows; by
        default one. If given, the statistics are estimates for new rows.
    counts : ndarray of shape (n_rules,), optional
        Number of rows of a random sample whose estimate is as uncertain; by default
        the effective number of a rule's own rows.
    """
    real, outcome = training.real, training.outcome
    labels = np.asarray(real.labels)
    assigned = rules.apply_encoded(real.encoded)
    estimates = []
    for j in range(rules.n_rules):
        share = None if own is None else own[j]
        weight = pooled_weight(real.weight, assigned == j, share)
        n_rows = None if counts is None else float(counts[j])
        estimates.append(outcome.estimate(labels, weight, n_rows))
    lines = [
        replace(rule, prediction=short_value(value, ROUNDING * (high - low)))
        for rule, (value, low, high) in zip(rules, estimates)
    ]
    found = described(rules.with_lines(lines), real.counted)
    if own is None:
        return found
    return found.with_lines(
        replace(
            rule,
            statistics=replace(
                rule.statistics,
                expected=rule.prediction,
                low=low,
                high=high,
                # Of rows from which the prediction was estimated.
                precision_assigned=np.nan,
            ),
        )
        for rule, (_, low, high) in zip(found, estimates)
    )
