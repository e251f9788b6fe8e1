"""Survival curves as predictions of rules."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from clearwood.outcomes.kaplan_meier import SurvivalCurve, curve_of
from clearwood.outcomes.survival import Survival, causes_of
from clearwood.rules.evaluation.sums import Kind, described
from clearwood.rules.rule import Rule
from clearwood.rules.training import Training


def with_curves(
    rules: Kind,
    training: Training,
    own: np.ndarray | None = None,
    counts: np.ndarray | None = None,
) -> Kind:
    """Rules that predict by survival curves, with their statistics.

    Parameters
    ----------
    rules : RuleSet
        Exactly one rule predicts each row.
    training : Training
        With ``times``.
    own : ndarray of shape (n_rules,), optional
        Share of a rule's own rows in its estimate, the others being all rows; by
        default one.
    counts : ndarray of shape (n_rules,), optional
        Number of rows of a random sample whose estimate is as uncertain; by default
        the effective number of a rule's own rows.
    """
    real, horizons = training.real, training.outcome.horizons
    assigned = rules.apply_encoded(real.encoded)
    curves = []
    for j in range(rules.n_rules):
        rows = (assigned == j) & (real.weight > 0)
        weight = pooled_weight(real.weight, rows, None if own is None else own[j])
        n_rows = weight.sum() ** 2 / (weight**2).sum() if counts is None else counts[j]
        times: np.ndarray = real.times  # type: ignore[assignment]
        event, n_causes = causes_of(times), cast(Survival, training.outcome).n_causes
        curves.append(
            curve_of(times["time"], event, rows, weight, n_rows, horizons, n_causes)
        )
    lines = [
        replace(rule, curve=curve, prediction=float(curve.at(horizons).mean().round(4)))
        for rule, curve in zip(rules, curves)
    ]
    found = described(rules.with_lines(lines), real.counted)
    is_expected = own is not None
    return found.with_lines(
        with_interval(rule, horizons, is_expected) for rule in found
    )


def pooled_weight(
    weight: np.ndarray, rows: np.ndarray, own: float | None
) -> np.ndarray:
    """Weights of a rule's rows, pooled with all rows where ``own`` is their share.

    Of all rows, if the rule has none of positive weight.

    Examples
    --------
    >>> pooled_weight(np.array([1.0, 3.0]), np.array([True, False]), 0.5)
    array([0.625, 0.375])
    """
    of_rule = np.where(rows, weight, 0.0) if weight[rows].any() else weight
    if own is None:
        return of_rule
    usual = weight / weight.sum()
    return np.asarray(own * of_rule / of_rule.sum() + (1 - own) * usual)


def with_interval(rule: Rule, horizons: tuple[float, ...], is_expected: bool) -> Rule:
    """A rule with the mean of the intervals of its curve at the horizons."""
    curve: SurvivalCurve = rule.curve  # type: ignore[assignment]
    low, high = np.mean([curve.interval(h) for h in horizons], axis=0).tolist()
    known = replace(rule.statistics, low=low, high=high)
    if is_expected:
        known = replace(known, expected=rule.prediction)
    return replace(rule, statistics=known)
