"""Estimates of rules' out-of-sample performance, by cross-fitting.

Rules are searched for where they fit, so that their statistics on the rows of the
search are optimistic: the more so, the fewer rows a rule has. By how much is estimated
by repeating the search without a part of the rows, and evaluating its rules on that
part. Two numbers summarize it (:class:`Shrinkage`):

- A rule's own rows are pooled with ``usual_rows`` more of the overall mix of rows,
  which shrinks its estimate towards that of all rows (the m-estimate of Cestnik, 1990).
- For an interval, each of its own rows counts as ``evidence`` of one.

Both are estimated from the held-out rows by maximum a posteriori. Rules differ: a
rule's own ``usual_rows`` may be several times fewer or more (``DIFFERS``), and its
interval is wider by that. In a sum no single rule is right or wrong: there all log-odds
are multiplied by one ``slope``, estimated in the same way (temperature scaling).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import betaln, log_softmax

from clearwood._numeric import WeightedMoments
from clearwood.outcomes import Outcome
from clearwood.rules.evaluation.sums import Kind
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleList, RuleSum
from clearwood.rules.rule_set import RuleSet
from clearwood.rules.training import Training

USUAL_ROWS, EVIDENCE = (math.e, 2.0), (0.5, 0.7)
"""Medians, and standard deviations of logarithms, of the prior: a few evaluated rules
carry little information."""

DIFFERS = 1.0
"""Standard deviation of the logarithm of ``usual_rows`` between rules: about a factor
of three more or less."""

SLOPES = (0.01, 1.0)
"""Range of the factor of log-odds: no sum is made more certain."""

NEVER = 1e-3
"""Bound of shares away from 0 and 1 in the likelihood of held-out rows."""


class Shrinkage(NamedTuple):
    """Shrinkage of rules' statistics for new rows.

    Attributes
    ----------
    usual_rows : float
        Rows of the overall mix that every rule is pooled with.
    evidence : float
        For intervals, the effective count of each of a rule's own rows.
    """

    usual_rows: float
    evidence: float


class FitAndHeldOut(NamedTuple):
    """Statistics of rules on the rows of their search and on held-out rows.

    All are arrays of shape (n_rules,); a mean is that of the target, or of the
    indicator of the predicted class.

    Attributes
    ----------
    rows, mean, variance : ndarray
        On the rows of the search that the rule predicts; their effective number.
    usual_mean, usual_variance : ndarray
        On all rows of the search.
    new_rows, new_mean : ndarray
        On the held-out rows that the rule predicts.
    """

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    usual_mean: np.ndarray
    usual_variance: np.ndarray
    new_rows: np.ndarray
    new_mean: np.ndarray


def evaluate_apart(
    rules: RuleSet, fitted: Training, left_out: Training
) -> FitAndHeldOut:
    """Evaluate rules on the rows of their search and on held-out rows.

    Parameters
    ----------
    rules : RuleSet
        Searched for on ``fitted``; each rule is a prediction of its own.
    fitted, left_out : Training
        With labels, without synthetic rows.

    Returns
    -------
    FitAndHeldOut
        Rules that predict no row of one of the two samples are omitted.
    """
    own, new = _lines_on(rules, fitted), _lines_on(rules, left_out)
    usual = [_usual(rule, fitted) for rule in rules]
    found = np.column_stack([*own, np.array(usual), new[0], new[1]]).T
    return FitAndHeldOut(*found[:, (own[0] > 0) & (new[0] > 0)])


def fit_shrinkage(evaluated: Sequence[FitAndHeldOut], outcome: Outcome) -> Shrinkage:
    """Estimate the shrinkage from held-out rows, by maximum a posteriori.

    Shares are beta-binomial, means normal around the estimate of a rule; both have the
    variance of the number of rows that it counts for.

    Examples
    --------
    >>> ten = np.full(10, 10.0)
    >>> tenth = ten / 10
    >>> lines = FitAndHeldOut(ten, tenth, 0 * ten, ten / 20, ten / 40, ten, tenth)
    >>> from clearwood.outcomes import ClassProbabilities
    >>> classes = ClassProbabilities()
    >>> kept = fit_shrinkage([lines], classes)
    >>> lost = fit_shrinkage([lines._replace(new_mean=ten / 20)], classes)
    >>> kept.usual_rows < 2 < 50 < lost.usual_rows
    True
    """
    lines = FitAndHeldOut(*map(np.concatenate, zip(*evaluated)))
    log_likelihood = _of_shares if outcome.shows_share else _of_means
    centre, width = np.log([USUAL_ROWS[0], EVIDENCE[0]]), (USUAL_ROWS[1], EVIDENCE[1])

    def loss(logs: np.ndarray) -> float:
        prior = 0.5 * (((logs - centre) / width) ** 2).sum()
        return float(prior - log_likelihood(lines, Shrinkage(*np.exp(logs))))

    found = minimize(loss, centre, method="Nelder-Mead")
    return Shrinkage(*np.exp(found.x).tolist())


def _of_shares(lines: FitAndHeldOut, shrinkage: Shrinkage) -> float:
    share = np.clip(_expected_mean(lines, shrinkage), NEVER, 1 - NEVER)
    hits = lines.new_rows * lines.new_mean
    own = _counts_for(lines, shrinkage, share * (1 - share))
    yes, no = own * share, own * (1 - share)
    return (betaln(hits + yes, lines.new_rows - hits + no) - betaln(yes, no)).sum()


def _of_means(lines: FitAndHeldOut, shrinkage: Shrinkage) -> float:
    mean, variance = (
        _expected_mean(lines, shrinkage),
        _expected_variance(lines, shrinkage),
    )
    own = _counts_for(lines, shrinkage, variance)
    error = variance * (1 / lines.new_rows + 1 / own)
    known = error > 0
    off = (lines.new_mean - mean)[known] ** 2 / error[known]
    return -0.5 * (off + np.log(error[known])).sum()


def _expected_mean(lines: FitAndHeldOut, shrinkage: Shrinkage) -> np.ndarray:
    """Mean of a rule's own rows pooled with usual ones."""
    own = lines.rows / (lines.rows + shrinkage.usual_rows)
    return own * lines.mean + (1 - own) * lines.usual_mean


def _expected_variance(lines: FitAndHeldOut, shrinkage: Shrinkage) -> np.ndarray:
    """Variance of the same pooled rows."""
    own = lines.rows / (lines.rows + shrinkage.usual_rows)
    apart = (lines.mean - lines.usual_mean) ** 2
    within = own * lines.variance + (1 - own) * lines.usual_variance
    return within + own * (1 - own) * apart


def _counts_for(
    lines: FitAndHeldOut, shrinkage: Shrinkage, variance: np.ndarray
) -> np.ndarray:
    """Number of rows whose mean is as uncertain as the estimate of a rule.

    It has two sources of uncertainty: few rows, and its unknown ``usual_rows``.
    """
    own = lines.rows / (lines.rows + shrinkage.usual_rows)
    usual = own * (1 - own) * DIFFERS * (lines.mean - lines.usual_mean)
    rows = shrinkage.evidence * lines.rows
    # Without variance, rules equal the mix of all rows.
    return rows / (1 + rows * usual**2 / np.where(variance > 0, variance, np.inf))


def with_expectations(rules: Kind, training: Training, shrinkage: Shrinkage) -> Kind:
    """Add estimates for new rows to each rule.

    Parameters
    ----------
    rules : RuleSet
        Each of its rules is a prediction of its own.
    training : Training
        The rows of the search, with labels; without synthetic rows.
    shrinkage : Shrinkage

    Returns
    -------
    RuleSet
        With ``expected``, ``low`` and ``high`` of each rule, and in regression its
        ``spread``. In a list for classification, class probabilities are the estimates.
        The predicted class remains that of the model, likely or not: rules that
        approximate a wrong model show it by their probabilities.
    """
    rows, mean, spread = _lines_on(rules, training)
    usual = np.array([_usual(rule, training) for rule in rules])
    lines = FitAndHeldOut(rows, mean, spread, usual[:, 0], usual[:, 1], rows, mean)
    mean, spread = (f(lines, shrinkage) for f in (_expected_mean, _expected_variance))
    counts = _counts_for(lines, shrinkage, spread)
    estimated = [
        _with_estimate(rule, float(m), float(v), float(n), float(own), training.outcome)
        for rule, m, v, n, own in zip(rules, mean, spread, rows, counts, strict=True)
    ]
    if training.classes and isinstance(rules, RuleList):
        shares = _expected_shares(rules, training, rows, shrinkage.usual_rows)
        estimated = [
            replace(rule, probabilities=tuple(p))
            for rule, p in zip(estimated, shares.tolist(), strict=True)
        ]
    return rules.with_lines(estimated)


def _with_estimate(
    rule: Rule, mean: float, spread: float, rows: float, own: float, outcome: Outcome
) -> Rule:
    """A rule with its estimate, from its rows and their effective count."""
    if rows == 0:
        return rule
    found = outcome.interval(mean, spread, rows, own)
    known = replace(rule.statistics, expected=mean, **found)
    return replace(rule, statistics=known)


def learn_slope(parts: Sequence[tuple[RuleSum, Training]]) -> float:
    """Estimate the factor of log-odds that maximizes the held-out likelihood.

    Parameters
    ----------
    parts : sequence of (RuleSum, Training)
        Sums for classification, and rows held out of their search.
    """
    totals = np.concatenate(
        [rules.aggregate(rules.matches_encoded(rows.encoded)) for rules, rows in parts]
    )
    labels = np.concatenate([np.asarray(rows.labels) for _, rows in parts])
    weight = np.concatenate([rows.weight for _, rows in parts])
    right = np.arange(len(totals)), labels

    def loss(slope: float) -> float:
        log_p = log_softmax(slope * totals, axis=1)
        return float(-np.average(log_p[right], weights=weight))

    return float(minimize_scalar(loss, bounds=SLOPES, method="bounded").x)


def with_slope(rules: RuleSum, slope: float) -> RuleSum:
    """Multiply all log-odds of a sum; the predicted classes are the same."""
    return rules.with_lines(
        replace(rule, scores=tuple(float(f"{slope * s:.3g}") for s in rule.scores))
        for rule in rules
    )


def _lines_on(
    rules: RuleSet, training: Training
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effective number of rows, mean and variance of each rule on some rows."""
    matches = rules.matches_encoded(training.encoded)
    assigned = rules.contributing(matches) & (training.weight > 0)[:, None]
    found = np.zeros((3, rules.n_rules))
    for i, (rule, here) in enumerate(zip(rules, assigned.T)):
        if here.any():
            own = WeightedMoments.of(
                _truth(rule, training)[here], training.weight[here]
            )
            found[:, i] = own.n_effective, own.mean, own.variance
    return found[0], found[1], found[2]


def _usual(rule: Rule, training: Training) -> tuple[float, float]:
    """Mean and variance over all rows."""
    own = WeightedMoments.of(_truth(rule, training), training.weight)
    return own.mean, own.variance


def _truth(rule: Rule, training: Training) -> np.ndarray:
    """The target, or the indicator of the predicted class."""
    predicted = training.outcome.code(rule.prediction)
    return training.outcome.shown(np.asarray(training.labels), predicted)


def _expected_shares(
    rules: RuleList, training: Training, rows: np.ndarray, usual_rows: float
) -> np.ndarray:
    """Class probabilities of each rule's own rows pooled with usual ones."""
    labels: Any = training.labels
    n_classes = len(training.classes)
    cell = rules.apply_encoded(training.encoded) * n_classes + labels
    own = np.bincount(cell, training.weight, rules.n_rules * n_classes)
    own = own.reshape(rules.n_rules, n_classes)
    usual = own.sum(axis=0) / own.sum()
    total = own.sum(axis=1, keepdims=True)
    own = np.divide(own, total, out=np.zeros_like(own), where=total > 0)
    mixed = rows[:, None] * own + usual_rows * usual
    return mixed / mixed.sum(axis=1, keepdims=True)
