"""Calibration of the averaged class probabilities, on rows left out of the counts.

Graphs are chosen to be probable, not to predict: their features overlap, so that the
evidence of their average is counted more than once, and weak features are noise. So
its log odds, relative to the class frequencies, are multiplied by a temperature, and
every feature adds steps between parts of its values, and its share of an intercept: an
additive logistic regression with normal priors, around the average as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from clearwood._estimators import take_rows
from clearwood._numeric import clipped_log
from clearwood.discretize import LevelCoder
from clearwood.sbfc.prediction import Averaged

if TYPE_CHECKING:
    from scipy.sparse import csr_array

N_PARTS = 10
"""Parts of equal weight of a numeric feature, between which there are steps."""

MOST_CALIBRATED = 10_000
"""Number of rows beyond which a random sample determines the calibration."""

MOST_STEPS, MOST_PRODUCTS, CLOSE, NEARLY_ZERO = 50, 100, 1e-3, 1e-12
"""Newton steps, products for each, its relative residual, and slope per row at the
end."""


class Calibration(NamedTuple):
    """Calibrated class probabilities as a function of averaged ones and of the row.

    Attributes
    ----------
    temperature : float
        Factor of the log odds of the average, relative to the class frequencies. Below
        1 where they are too certain; 0 where the features say all that the graphs do.
    parts : LevelCoder
        Parts of the features.
    effect : ndarray of shape (n_parts, n_classes)
        What each part adds to the log odds; the mean over training rows is the same for
        each feature, and all together an intercept. No rows for a temperature alone.
    """

    temperature: float
    parts: LevelCoder
    effect: np.ndarray

    @property
    def features(self) -> set[int]:
        """Positions of the features that add steps."""
        is_added = (self.parts.n_levels > 1) & (len(self.effect) > 0)
        return set(np.flatnonzero(is_added).tolist())

    def apply(
        self, average: Averaged, log_class: np.ndarray, codes: np.ndarray
    ) -> Averaged:
        """Calibrate averaged probabilities of rows by their parts; -1 adds nothing.

        The errors are exact to first order for two classes, else upper bounds.
        """
        total = log_class + self.temperature * _evidence(average.probability, log_class)
        if len(self.effect):
            total = total + _rows_by_part(self.parts, codes) @ self.effect
        found = softmax(total, axis=1)
        part = average.error / np.maximum(average.probability, np.finfo(float).tiny)
        shared = (found * part).sum(axis=1, keepdims=True)
        error = self.temperature * found * ((1 - 2 * found) * part + shared)
        return Averaged(found, error)


def calibrate(
    left_out: np.ndarray,
    log_class: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    parts: LevelCoder,
    codes: np.ndarray | None = None,
) -> Calibration:
    """Fit a calibration to averaged probabilities of training rows.

    Its penalized likelihood has one maximum, so that the result depends neither on the
    order of rows nor on a seed. All features together may add as much as one alone: the
    variance of a step is 1 over the number of features, that of an intercept 1.

    Parameters
    ----------
    left_out : ndarray of shape (n, n_classes)
        From counts without the row.
    log_class : ndarray of shape (n_classes,)
        Logs of the class frequencies.
    label : ndarray of int of shape (n,)
    weight : ndarray of shape (n,)
    parts : LevelCoder
    codes : ndarray of int of shape (n, n_features), optional
        Parts of the rows, for steps; by default there is a temperature only.
    """
    from scipy.sparse import csr_array, hstack

    evidence, n_classes = _evidence(left_out, log_class), len(log_class)
    rows, steps = csr_array((len(label), 0)), csr_array((0, 0))
    varies = parts.n_levels > 1
    n_features = max(int(varies.sum()), 1)
    if codes is not None:
        # In shares, so that cells that are not known add nothing to it.
        intercept = np.repeat(varies, parts.n_levels)[:, None] / n_features
        rows, steps = _rows_by_part(parts, codes), _steps(parts, codes, weight)
        steps = hstack([csr_array(intercept), steps], format="csr")
    penalty = np.full(1 + steps.shape[1] * n_classes, float(n_features))
    penalty[: 1 + n_classes] = 1.0
    actual = np.eye(n_classes)[label]

    def fitted(evidence: np.ndarray) -> np.ndarray:
        return _most_probable(
            _Terms(evidence, rows, steps), penalty, log_class, actual, weight[:, None]
        )

    found = fitted(evidence)
    if found[0] < 0:
        found = fitted(np.zeros_like(evidence))
        found[0] = 0.0
    return Calibration(float(found[0]), parts, steps @ found[1:].reshape(-1, n_classes))


def fit_calibration(
    left_out_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
    log_class: np.ndarray,
    levels: LevelCoder,
    sample: tuple[Any, np.ndarray, np.ndarray],
    *,
    with_steps: bool,
    rng: np.random.Generator,
) -> Calibration:
    """Calibration from training rows, or from a random sample of very many.

    Parameters
    ----------
    left_out_of : callable
        From levels and classes of rows to probabilities without each row's count.
    log_class : ndarray of shape (n_classes,)
    levels : LevelCoder
    sample : table, ndarray of int and ndarray
        Rows in memory, their classes and weights.
    with_steps : bool
        Whether there are steps next to the temperature.
    rng : Generator
    """
    X, label, weight = sample
    if len(label) > MOST_CALIBRATED:
        rows = np.sort(rng.choice(len(label), MOST_CALIBRATED, replace=False))
        X, label, weight = take_rows(X, rows), label[rows], weight[rows]
    encoded = levels.features.encode(X)
    left_out = left_out_of(levels.codes_encoded(encoded), label)
    if not with_steps:
        return calibrate(left_out, log_class, label, weight, levels)
    parts = levels.in_even_parts(encoded, weight, N_PARTS)
    codes = parts.codes_encoded(encoded)
    return calibrate(left_out, log_class, label, weight, parts, codes)


def _evidence(probability: np.ndarray, log_class: np.ndarray) -> np.ndarray:
    found: np.ndarray = clipped_log(probability) - log_class
    return found


def _rows_by_part(parts: LevelCoder, codes: np.ndarray) -> csr_array:
    """One-hot rows: a column per part of every feature."""
    from scipy.sparse import csr_array

    n_levels, known = parts.n_levels, codes >= 0
    place = (codes + np.cumsum(n_levels) - n_levels)[known]
    start = np.append(0, np.cumsum(known.sum(axis=1)))
    shape = len(codes), int(n_levels.sum())
    return csr_array((np.ones(len(place)), place, start), shape=shape)


def _steps(parts: LevelCoder, codes: np.ndarray, weight: np.ndarray) -> csr_array:
    """From steps (columns) to effects of parts, whose means over rows are 0.

    The parts of numbers follow one another; categories and missing values stand alone.
    """
    from scipy.sparse import block_diag

    blocks = []
    for own, cuts, n, has_values in zip(
        codes.T, parts.cuts, parts.n_levels, parts.has_values
    ):
        n_cuts = 0 if cuts is None or not has_values else len(cuts)
        block = np.eye(n)[:, n_cuts > 0 :]
        block[: n_cuts + 1, :n_cuts] = np.tri(n_cuts + 1, n_cuts, -1)
        share = np.bincount(own, weight, n) / weight.sum()
        blocks.append(block - (share[:, None] * block).sum(axis=0))
    return block_diag(blocks, format="csr")


class _Terms:
    """Log odds of rows as a linear function of a temperature and of steps."""

    def __init__(self, evidence: np.ndarray, rows: csr_array, steps: csr_array) -> None:
        self.evidence, self.rows, self.steps = evidence, rows, steps
        self.of_rows, self.of_steps = rows.T.tocsr(), steps.T.tocsr()

    def of(self, x: np.ndarray) -> np.ndarray:
        effect = self.steps @ x[1:].reshape(-1, self.evidence.shape[1])
        return x[0] * self.evidence + self.rows @ effect

    def sums(self, by_row: np.ndarray, power: int = 1) -> np.ndarray:
        """Sums over rows of their terms, or the squares of these, times numbers."""
        steps = self.of_steps.power(power) @ (self.of_rows @ by_row)
        return np.append((self.evidence**power * by_row).sum(), steps)


def _most_probable(
    terms: _Terms,
    penalty: np.ndarray,
    offset: np.ndarray,
    actual: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """Temperature, near 1, and steps, near 0, by Newton's method without BLAS."""

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        log_p = log_softmax(offset + terms.of(x), axis=1)
        away = (penalty * (x - centre) ** 2).sum() / 2
        return float(away - (weight * actual * log_p).sum()), np.exp(log_p)

    def curvature(x: np.ndarray) -> np.ndarray:
        change = terms.of(x)
        change -= (p * change).sum(axis=1, keepdims=True)
        return terms.sums(weight * p * change) + penalty * x

    centre = np.zeros(len(penalty))
    centre[0] = 1.0
    x, (now, p) = centre, loss(centre)
    for _ in range(MOST_STEPS):
        slope = terms.sums(weight * (p - actual)) + penalty * (x - centre)
        if np.abs(slope).max() <= NEARLY_ZERO * weight.sum():
            break
        scale = terms.sums(weight * p * (1 - p), power=2) + penalty
        step = _solved(curvature, -slope, scale)
        new, new_p = loss(x + step)
        while new > now and np.abs(step).max() > NEARLY_ZERO:
            step = step / 2
            new, new_p = loss(x + step)
        x, now, p = x + step, new, new_p
    return x


def _solved(
    product: Callable[[np.ndarray], np.ndarray], right: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """Solution of a positive definite system by preconditioned conjugate gradients."""
    x, left = np.zeros_like(right), right
    way = left / scale
    size = first = (left * way).sum()
    for _ in range(MOST_PRODUCTS):
        along = product(way)
        length = size / (way * along).sum()
        x, left = x + length * way, left - length * along
        new = (left * left / scale).sum()
        if new <= CLOSE**2 * first:
            break
        way, size = left / scale + new / size * way, new
    return x
