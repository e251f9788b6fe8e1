"""Survival curves as predictions of rules."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from clearwood.outcomes.kaplan_meier import SurvivalCurve, curve_of, pseudo_values
from clearwood.outcomes.survival import Survival, causes_of
from clearwood.rules.evaluation.sums import Kind, described
from clearwood.rules.rule import Rule
from clearwood.rules.training import Training


def with_curves(
    rules: Kind,
    training: Training,
    own: np.ndarray | None = None,
    counts: np.ndarray | None = None,
    n_own: np.ndarray | None = None,
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
        the effective number of a rule's own rows. Of several causes of events, that of
        the first (:func:`counts_by_cause`).
    n_own : ndarray of shape (n_rules,), optional
        The effective number of a rule's own rows, if ``counts`` are given.
    """
    real, horizons = training.real, training.outcome.horizons
    assigned = rules.apply_encoded(real.encoded)
    times: np.ndarray = real.times  # type: ignore[assignment]
    time, event = times["time"], causes_of(times)
    n_causes, ones = cast(Survival, training.outcome).n_causes, np.ones(len(times))
    values = np.empty((n_causes, 0))
    if counts is not None:
        values = np.array(
            [pseudo_values(time, event, ones, horizons, k + 1) for k in range(n_causes)]
        )
    curves = []
    for j in range(rules.n_rules):
        rows = (assigned == j) & (real.weight > 0)
        weight = pooled_weight(real.weight, rows, None if own is None else own[j])
        n_rows = weight.sum() ** 2 / (weight**2).sum()
        if own is not None and counts is not None and n_own is not None:
            n_rows = counts_by_cause(
                values, real.weight * rows, weight, own[j], counts[j], n_own[j]
            )
        curves.append(curve_of(time, event, rows, weight, n_rows, horizons, n_causes))
    lines = [
        replace(rule, curve=curve, prediction=float(curve.at(horizons).mean().round(4)))
        for rule, curve in zip(rules, curves)
    ]
    found = described(rules.with_lines(lines), real.counted)
    is_expected = own is not None
    return found.with_lines(
        with_interval(rule, horizons, is_expected) for rule in found
    )


def counts_by_cause(
    values: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    own: float,
    counts: float,
    n_own: float,
) -> np.ndarray:
    """Number of rows of a random sample whose estimate of each cause is as uncertain.

    Rules are selected by the estimate of the first cause, which makes it less certain
    than that of ``n_own`` random rows. If r is the correlation of another estimate with
    it, then r**2 of the variance of the other is that of its regression on the first,
    and the rest does not depend on the selection. Pooling biases the rest by
    ``1 - own`` times the distance d of the rule's mean from that of all rows:

        1 / counts_k = r**2 / counts + (1 - r**2) * (1 / n_own + bias)
        bias = (1 - own)**2 * max(d**2 / variance - 1 / n_own, 0)

    Parameters
    ----------
    values : ndarray of shape (n_causes, n_rows)
        Pseudo-values of each cause.
    rows, weight : ndarray of shape (n_rows,)
        Weights of the rule's own rows, and of pooled ones.
    own : float
        Share of the former in the latter.
    counts : float
        The number for the first cause.
    n_own : float
        Effective number of a rule's own rows; without any, all are as uncertain.

    Examples
    --------
    >>> values = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]])
    >>> counts_by_cause(values, np.ones(4), np.ones(4), 1.0, 2.0, 4.0)
    array([2., 4.])
    """
    if not n_own > 0:
        return np.full(len(values), counts)
    mean = np.average(values, axis=1, weights=weight)
    apart = values - mean[:, None]
    variance = np.average(apart**2, axis=1, weights=weight)
    shared = np.average(apart * apart[0], axis=1, weights=weight) ** 2
    # Without variance, the correlation is taken as 1.
    some = np.where(variance > 0, variance, np.inf)
    square = np.where(variance * variance[0] > 0, shared / (some * some[0]), 1.0)
    # Pooled means are nearer to those of all rows than own ones, by the bias.
    off = (np.average(values, axis=1, weights=rows) - mean) ** 2
    bias = np.maximum(off / some - (1 - own) ** 2 / n_own, 0)
    return np.asarray(1 / (square / counts + (1 - square) * (1 / n_own + bias)))


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
