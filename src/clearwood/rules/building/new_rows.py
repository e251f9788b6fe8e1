"""Estimates of rules' out-of-sample performance, by cross-fitting.

Rules are searched for where they fit, so that their statistics on the rows of the
search are optimistic: the more so, the fewer rows a rule has, and the more its search
could choose from, that is, the more literals it has. By how much is estimated by
repeating the search without a part of the rows, and evaluating its rules on that part.
Of rule j, with ``n_j`` rows of mean ``m_j`` and ``L_j`` literals, where ``u`` and
``v`` are mean and variance of all rows, the model is

    k_j = usual_rows * exp(x_j), x_j ~ Normal(0, DIFFERS)
    m_j - u | x_j ~ Normal(0, v * (1 / n_j + 1 / k_j))
    w_j = n_j / (n_j + k_j * (1 + L_j)**2)
    mean on new rows ~ Normal(u + w_j * (m_j - u), v_j / counts_j)
    1 / counts_j = 1 / (evidence * (n_j + usual_rows)) + 1 / MOST_COUNTED

So a rule's own rows are pooled with ``k_j * (1 + L_j)**2`` more of the overall mix of
rows, which shrinks its estimate towards that of all rows (the m-estimate of Cestnik,
1990), and those of a rule far from all others with fewer; ``v_j`` is the variance of
the pooled rows. Shares have the beta distribution of the same mean and variance.
``usual_rows`` and ``evidence`` are the same for all rules of a search; their posterior
on a grid, given the held-out rows, is integrated over (:class:`Shrinkage`), and so is
that of ``x_j``. In a sum no single rule is right or wrong: there all log-odds are
multiplied by one ``slope``, the one of largest held-out likelihood (temperature
scaling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln, log_softmax, roots_hermitenorm, softmax

from clearwood._numeric import WeightedMoments, product
from clearwood._numeric.fold_roles import design_effect
from clearwood.outcomes import Outcome
from clearwood.rules.building.rule_curves import with_curves
from clearwood.rules.building.true_estimates import with_true_estimates
from clearwood.rules.evaluation.sums import Kind
from clearwood.rules.rule import Rule
from clearwood.rules.rule_kinds import RuleList, RuleSum
from clearwood.rules.rule_set import RuleSet
from clearwood.rules.training import Training

USUAL_ROWS, EVIDENCE = (0.5, 2.5), {True: (-0.6, 0.9), False: (-0.2, 0.9)}
"""Means and standard deviations of the prior of their logarithms, of ``evidence`` for
shares, quantiles and effects, and for means of values: a few evaluated rules carry
little information. Chosen by simulation (``benchmarks.new_rows.cells``)."""

POINTS = np.linspace(-3, 3, 25), np.linspace(-2.5, 2.5, 9)
"""Points of the grid, in standard deviations of the prior."""

MOST_COUNTED = 1000.0
"""Number of rows that even very many count for: a large rule was chosen, too."""

DIFFERS = 1.0
"""Standard deviation of the logarithm of ``usual_rows`` between rules."""

NODES, NODE_WEIGHTS = roots_hermitenorm(7)
"""Gauss-Hermite quadrature of the normal distribution of that logarithm."""

SLOPES = (0.01, 1.0)
"""Range of the factor of log-odds: no sum is made more certain."""

NEVER = 1e-3
"""Bound of shares away from 0 and 1 in the likelihood of held-out rows."""


class Shrinkage(NamedTuple):
    """Posterior of the shrinkage of rules' statistics for new rows.

    All are arrays of shape (n_points,).

    Attributes
    ----------
    usual_rows : ndarray
        Rows of the overall mix that a rule without literals is pooled with.
    evidence : ndarray
        For intervals, the part of a row of a random sample that each row counts as.
    weight : ndarray
        Posterior probabilities.

    Examples
    --------
    >>> certain = Shrinkage(np.array([2.0]), np.array([0.5]), np.array([1.0]))
    >>> certain.means()
    {'usual_rows': 2.0, 'evidence': 0.5}
    """

    usual_rows: np.ndarray
    evidence: np.ndarray
    weight: np.ndarray

    def means(self) -> dict[str, float]:
        """Geometric means."""
        return {
            name: float(np.exp((self.weight * np.log(getattr(self, name))).sum()))
            for name in ("usual_rows", "evidence")
        }


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
    literals : ndarray
        Number of literals; for a default rule, the mean of the others.
    new_rows, new_mean : ndarray
        On the held-out rows that the rule predicts.
    """

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    usual_mean: np.ndarray
    usual_variance: np.ndarray
    literals: np.ndarray
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
    found = np.array([*own, *_usual(rules, fitted), _literals(rules), new[0], new[1]])
    return FitAndHeldOut(*found[:, (own[0] > 0) & (new[0] > 0)])


def fit_shrinkage(evaluated: Sequence[FitAndHeldOut], outcome: Outcome) -> Shrinkage:
    """Posterior of the shrinkage given held-out rows, on a grid.

    Examples
    --------
    >>> ten = np.full(10, 10.0)
    >>> tenth, none = ten / 10, 0 * ten
    >>> lines = FitAndHeldOut(ten, tenth, none, ten / 20, ten / 40, none, ten, tenth)
    >>> from clearwood.outcomes import ClassProbabilities
    >>> classes = ClassProbabilities()
    >>> kept = fit_shrinkage([lines], classes)
    >>> lost = fit_shrinkage([lines._replace(new_mean=ten / 20)], classes)
    >>> kept.means()["usual_rows"] < 2 < 20 < lost.means()["usual_rows"]
    True
    """
    lines = FitAndHeldOut(*map(np.concatenate, zip(*evaluated)))
    points = np.meshgrid(*POINTS, indexing="ij")
    log_prior = -0.5 * (points[0] ** 2 + points[1] ** 2).ravel()
    prior = USUAL_ROWS, EVIDENCE[outcome.shows_share or outcome.estimates_truth]
    usual_rows, evidence = (
        np.exp(mean + width * at.ravel()) for (mean, width), at in zip(prior, points)
    )
    known = _at(lines, usual_rows, evidence)
    is_share = outcome.shows_share and not outcome.estimates_truth
    log_likelihood = _of_shares if is_share else _of_means
    found = log_likelihood(lines, *known)
    weight = softmax(log_prior + found.sum(axis=1))
    return Shrinkage(usual_rows, evidence, weight)


def _own_share(
    lines: FitAndHeldOut, usual_rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of ``w_j`` given a rule's own mean: (n_points, n_rules)."""
    k = usual_rows[:, None, None] * np.exp(DIFFERS * NODES)
    # A rule without rows has no estimate.
    own = np.maximum(lines.rows, NEVER)[:, None]
    w = own / (own + k * (1 + lines.literals[:, None]) ** 2)
    # Without variance, means are equal, and tell nothing.
    usual = np.where(lines.usual_variance > 0, lines.usual_variance, 1.0)
    spread = usual[:, None] * (1 / own + 1 / k)
    off = ((lines.mean - lines.usual_mean) ** 2)[:, None]
    p = softmax(np.log(NODE_WEIGHTS) - 0.5 * (np.log(spread) + off / spread), axis=-1)
    mean = (p * w).sum(axis=-1)
    return mean, (p * (w - mean[..., None]) ** 2).sum(axis=-1)


def _at(
    lines: FitAndHeldOut, usual_rows: np.ndarray, evidence: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of pooled rows, and the number of rows that they count for.

    At each point of the grid: (n_points, n_rules).
    """
    own, differs = _own_share(lines, usual_rows)
    variance = _variance(lines, own)
    error = 1 / (evidence[:, None] * (lines.rows + usual_rows[:, None]))
    error += 1 / MOST_COUNTED
    error += _relative(differs * (lines.mean - lines.usual_mean) ** 2, variance)
    return _mean(lines, own), variance, 1 / error


def _relative(square: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Squared error over a variance; without one, means are equal."""
    return square / np.where(variance > 0, variance, np.inf)


def _mean(lines: FitAndHeldOut, own: np.ndarray) -> np.ndarray:
    """Mean of pooled rows, of which ``own`` is the share of a rule's own."""
    return own * lines.mean + (1 - own) * lines.usual_mean


def _variance(lines: FitAndHeldOut, own: np.ndarray) -> np.ndarray:
    """Variance of the same rows."""
    apart = (lines.mean - lines.usual_mean) ** 2
    within = own * lines.variance + (1 - own) * lines.usual_variance
    return within + own * (1 - own) * apart


def _of_shares(
    lines: FitAndHeldOut, share: np.ndarray, _: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """Log likelihood of each rule's held-out rows: beta-binomial."""
    share = np.clip(share, NEVER, 1 - NEVER)
    hits = lines.new_rows * lines.new_mean
    yes, no = counts * share, counts * (1 - share)
    return betaln(hits + yes, lines.new_rows - hits + no) - betaln(yes, no)


def _of_means(
    lines: FitAndHeldOut, mean: np.ndarray, variance: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """The same of values: normal."""
    error = variance * (1 / lines.new_rows + 1 / counts)
    known = error > 0
    error = np.where(known, error, 1.0)
    return np.where(
        known, -0.5 * ((lines.new_mean - mean) ** 2 / error + np.log(error)), 0
    )


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
        approximate a wrong model show it by their probabilities. For survival, curves
        of the pooled rows; for quantiles and effects, the estimates are predictions.
    """
    rows, mean, variance = _lines_on(rules, training)
    of_all, spread = _usual(rules, training)
    literals = _literals(rules)
    lines = FitAndHeldOut(rows, mean, variance, of_all, spread, literals, rows, mean)
    own = product(shrinkage.weight, _own_share(lines, shrinkage.usual_rows)[0])
    mean, variance = _mean(lines, own), _variance(lines, own)
    means, _, counts = _at(lines, shrinkage.usual_rows, shrinkage.evidence)
    differ = product(shrinkage.weight, (means - mean) ** 2)
    # Number of rows whose mean is as uncertain.
    counts = 1 / (product(shrinkage.weight, 1 / counts) + _relative(differ, variance))
    if training.times is not None:
        return with_curves(rules, training, own, counts, rows)
    if training.outcome.estimates_truth:
        return with_true_estimates(rules, training, own, counts)
    pooled = rows / np.where(own > 0, own, np.inf)
    estimated = [
        _with_estimate(rule, training.outcome, *map(float, known))
        for rule, *known in zip(rules, mean, variance, pooled, counts, strict=True)
    ]
    if training.classes and isinstance(rules, RuleList):
        shares = _expected_shares(rules, training, own)
        estimated = [
            replace(rule, probabilities=tuple(p))
            for rule, p in zip(estimated, shares.tolist(), strict=True)
        ]
    return rules.with_lines(estimated)


def _with_estimate(
    rule: Rule, outcome: Outcome, mean: float, spread: float, rows: float, counts: float
) -> Rule:
    """A rule with its estimate, from pooled rows and what they count for."""
    if rows == 0:
        return rule
    found = outcome.interval(mean, spread, rows, counts)
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
    """Effective number of rows, mean and variance of each rule on some rows.

    Rows in groups are fewer by the design effect of their mean.
    """
    matches = rules.matches_encoded(training.encoded)
    assigned = rules.contributing(matches) & (training.weight > 0)[:, None]
    found = np.zeros((3, rules.n_rules))
    for i, (rule, here) in enumerate(zip(rules, assigned.T)):
        if here.any():
            truth, rows = _truth(rule, training), 1.0
            own = WeightedMoments.of(truth[here], training.weight[here])
            if training.groups is not None:
                rows = design_effect(truth, training.groups, here)
            found[:, i] = own.n_effective / rows, own.mean, own.variance
    return found[0], found[1], found[2]


def _usual(rules: RuleSet, training: Training) -> np.ndarray:
    """Mean and variance over all rows of what each rule predicts."""
    moments = [
        WeightedMoments.of(_truth(rule, training), training.weight) for rule in rules
    ]
    return np.array([(own.mean, own.variance) for own in moments]).T


def _literals(rules: RuleSet) -> np.ndarray:
    """Number of literals, as a measure of how much each rule was searched for.

    The rows of a default rule are what the search for the others has left.
    """
    found = np.array([rule.n_literals for rule in rules], dtype=float)
    searched = found > 0
    found[~searched] = found[searched].mean() if searched.any() else 0.0
    return found


def _truth(rule: Rule, training: Training) -> np.ndarray:
    """The target, or the indicator of the predicted class."""
    if training.outcome.estimates_truth:
        return np.asarray(training.labels)
    predicted = training.outcome.code(rule.prediction)
    return training.outcome.shown(np.asarray(training.labels), predicted)


def _expected_shares(
    rules: RuleList, training: Training, share: np.ndarray
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
    mixed = share[:, None] * own + (1 - share[:, None]) * usual
    return mixed / mixed.sum(axis=1, keepdims=True)
