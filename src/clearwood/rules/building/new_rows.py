"""What rules are worth on new rows, learnt from rules that were judged on such.

Rules are searched for where they fit, so that on the rows of the search they look
better than they are: the fewer rows a rule has, the more so. How much is seen where
the same search leaves out a part of the rows, and its rules are judged on that part.
Two numbers sum it up (:class:`Caution`):

- A rule's own rows are counted together with ``usual_rows`` more of the usual mix of
  all rows, which takes what it says towards what is true of all (the m-estimate of
  Cestnik, 1990).
- For an interval, each of its own rows counts as ``evidence`` of one.

Both are those under which the rows that were left out are likeliest. Some lines were
there to be found, others only look it: a line's own ``usual_rows`` may be several times
fewer or more (``DIFFERS``), and its interval is as much wider. Of a sum no line
is right or wrong by itself: there all log-odds are multiplied by one ``slope``, found
in the same way (temperature scaling).
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
"""Medians, and standard deviations of logarithms, of what is believed beforehand: a
few rules that were judged do not tell much."""

DIFFERS = 1.0
"""Standard deviation of the logarithm of ``usual_rows`` from line to line: about a
factor of three more or less."""

SLOPES = (0.01, 1.0)
"""Least and largest by which log-odds may be multiplied: no sum is made surer."""

NEVER = 1e-3
"""No share is nearer to 0 or 1 than this where rows that were left out are judged."""


class Caution(NamedTuple):
    """How much less than on their own rows rules are worth on new ones.

    Attributes
    ----------
    usual_rows : float
        Rows of the usual mix that every rule is counted with.
    evidence : float
        For intervals, how much each of its own rows counts.
    """

    usual_rows: float
    evidence: float


class JudgedLines(NamedTuple):
    """Lines of rules on the rows of their search and on rows that were left out.

    All are arrays of shape (n_lines,); a mean is that of the target, or of whether a
    row is of the class that the line says.

    Attributes
    ----------
    rows, mean, variance : ndarray
        On the rows of the search that the line decides; their effective number.
    usual_mean, usual_variance : ndarray
        On all rows of the search.
    new_rows, new_mean : ndarray
        On the rows that were left out and that the line decides.
    """

    rows: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    usual_mean: np.ndarray
    usual_variance: np.ndarray
    new_rows: np.ndarray
    new_mean: np.ndarray


def judge(rules: RuleSet, fitted: Training, left_out: Training) -> JudgedLines:
    """What the lines of rules said of their own rows, and what of others.

    Parameters
    ----------
    rules : RuleSet
        Found on ``fitted``; its lines predict each by itself.
    fitted, left_out : Training
        With labels, without synthetic rows.

    Returns
    -------
    JudgedLines
        Lines that decide no row here or there are left out.
    """
    own, new = _lines_on(rules, fitted), _lines_on(rules, left_out)
    usual = [_usual(rule, fitted) for rule in rules]
    found = np.column_stack([*own, np.array(usual), new[0], new[1]]).T
    return JudgedLines(*found[:, (own[0] > 0) & (new[0] > 0)])


def learn_caution(judged: Sequence[JudgedLines], outcome: Outcome) -> Caution:
    """The caution under which rows that were left out are likeliest.

    Shares are beta-binomial, means normal around what is expected of a line; both vary
    as if it had as many rows as it counts for.

    Examples
    --------
    >>> ten = np.full(10, 10.0)
    >>> lines = JudgedLines(ten, ten / 10, 0 * ten, ten / 20, ten / 40, ten, ten / 10)
    >>> from clearwood.outcomes import ClassProbabilities
    >>> classes = ClassProbabilities()
    >>> kept = learn_caution([lines], classes)
    >>> lost = learn_caution([lines._replace(new_mean=ten / 20)], classes)
    >>> kept.usual_rows < 2 < 50 < lost.usual_rows
    True
    """
    lines = JudgedLines(*map(np.concatenate, zip(*judged)))
    log_likelihood = _of_shares if outcome.tells_share else _of_means
    centre, width = np.log([USUAL_ROWS[0], EVIDENCE[0]]), (USUAL_ROWS[1], EVIDENCE[1])

    def loss(logs: np.ndarray) -> float:
        prior = 0.5 * (((logs - centre) / width) ** 2).sum()
        return float(prior - log_likelihood(lines, Caution(*np.exp(logs))))

    found = minimize(loss, centre, method="Nelder-Mead")
    return Caution(*np.exp(found.x).tolist())


def _of_shares(lines: JudgedLines, caution: Caution) -> float:
    share = np.clip(_expected_mean(lines, caution), NEVER, 1 - NEVER)
    hits = lines.new_rows * lines.new_mean
    own = _counts_for(lines, caution, share * (1 - share))
    yes, no = own * share, own * (1 - share)
    return (betaln(hits + yes, lines.new_rows - hits + no) - betaln(yes, no)).sum()


def _of_means(lines: JudgedLines, caution: Caution) -> float:
    mean, variance = _expected_mean(lines, caution), _expected_variance(lines, caution)
    own = _counts_for(lines, caution, variance)
    error = variance * (1 / lines.new_rows + 1 / own)
    known = error > 0
    off = (lines.new_mean - mean)[known] ** 2 / error[known]
    return -0.5 * (off + np.log(error[known])).sum()


def _expected_mean(lines: JudgedLines, caution: Caution) -> np.ndarray:
    """The mean of a line's own rows and of so many usual ones."""
    own = lines.rows / (lines.rows + caution.usual_rows)
    return own * lines.mean + (1 - own) * lines.usual_mean


def _expected_variance(lines: JudgedLines, caution: Caution) -> np.ndarray:
    """The variance of the same mixture of rows."""
    own = lines.rows / (lines.rows + caution.usual_rows)
    apart = (lines.mean - lines.usual_mean) ** 2
    within = own * lines.variance + (1 - own) * lines.usual_variance
    return within + own * (1 - own) * apart


def _counts_for(
    lines: JudgedLines, caution: Caution, variance: np.ndarray
) -> np.ndarray:
    """Rows of some variance whose mean is as uncertain as what is expected of a line.

    It is so for two reasons: it has few rows, and nobody knows its own ``usual_rows``.
    """
    own = lines.rows / (lines.rows + caution.usual_rows)
    usual = own * (1 - own) * DIFFERS * (lines.mean - lines.usual_mean)
    rows = caution.evidence * lines.rows
    # Where nothing varies, lines are what all rows are.
    return rows / (1 + rows * usual**2 / np.where(variance > 0, variance, np.inf))


def with_expectations(rules: Kind, training: Training, caution: Caution) -> Kind:
    """The same rules with what is to be expected of each on new rows.

    Parameters
    ----------
    rules : RuleSet
        Its lines predict each by itself.
    training : Training
        Where they were searched for, with labels; without synthetic rows.
    caution : Caution

    Returns
    -------
    RuleSet
        ``expected``, ``low`` and ``high`` of each line, and in regression its
        ``spread``. In a list that classifies, class probabilities are what is expected.
        The class that a line says stays what the model says there, likely or not: rules
        of a model that is wrong say so by their probabilities.
    """
    rows, mean, spread = _lines_on(rules, training)
    usual = np.array([_usual(rule, training) for rule in rules])
    lines = JudgedLines(rows, mean, spread, usual[:, 0], usual[:, 1], rows, mean)
    mean, spread = (f(lines, caution) for f in (_expected_mean, _expected_variance))
    counts = _counts_for(lines, caution, spread)
    told = [
        _told(rule, float(m), float(v), float(n), float(own), training.outcome)
        for rule, m, v, n, own in zip(rules, mean, spread, rows, counts, strict=True)
    ]
    if training.classes and isinstance(rules, RuleList):
        shares = _expected_shares(rules, training, rows, caution.usual_rows)
        told = [
            replace(rule, probabilities=tuple(p))
            for rule, p in zip(told, shares.tolist(), strict=True)
        ]
    return rules.with_lines(told)


def _told(
    rule: Rule, mean: float, spread: float, rows: float, own: float, outcome: Outcome
) -> Rule:
    """A line with what is expected, from its rows and for how many they count."""
    if rows == 0:
        return rule
    found = outcome.interval(mean, spread, rows, own)
    known = replace(rule.statistics, expected=mean, **found)
    return replace(rule, statistics=known)


def learn_slope(parts: Sequence[tuple[RuleSum, Training]]) -> float:
    """By what to multiply the log-odds of sums so that left-out labels are likeliest.

    Parameters
    ----------
    parts : sequence of (RuleSum, Training)
        Sums that classify, and rows that took no part in their search.
    """
    totals = np.concatenate([rules.comes_to(rows.encoded) for rules, rows in parts])
    labels = np.concatenate([np.asarray(rows.labels) for _, rows in parts])
    weight = np.concatenate([rows.weight for _, rows in parts])
    right = np.arange(len(totals)), labels

    def loss(slope: float) -> float:
        log_p = log_softmax(slope * totals, axis=1)
        return float(-np.average(log_p[right], weights=weight))

    return float(minimize_scalar(loss, bounds=SLOPES, method="bounded").x)


def with_slope(rules: RuleSum, slope: float) -> RuleSum:
    """The same sum with all log-odds times a number; it says the same classes."""
    return rules.with_lines(
        replace(rule, scores=tuple(float(f"{slope * s:.3g}") for s in rule.scores))
        for rule in rules
    )


def _lines_on(
    rules: RuleSet, training: Training
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effective number of rows, mean and variance of each line, on some rows."""
    caught = rules.takes_part(training.encoded) & (training.weight > 0)[:, None]
    found = np.zeros((3, rules.n_rules))
    for i, (rule, here) in enumerate(zip(rules, caught.T)):
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
    """The target, or whether a row is of the class that a line says."""
    said = training.outcome.codes(np.array([rule.prediction]))[0]
    return training.outcome.shown(np.asarray(training.labels), said)


def _expected_shares(
    rules: RuleList, training: Training, rows: np.ndarray, usual_rows: float
) -> np.ndarray:
    """Class probabilities of each line's own rows and of so many usual ones."""
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
