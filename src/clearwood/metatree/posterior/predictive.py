"""Bayes-optimal prediction: a mixture over the nodes on the path of a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from clearwood._kernels.metatree_posterior import mixture_quantiles
from clearwood._numeric import bisect, bisect_whole
from clearwood._numeric.logspace import log_of
from clearwood.distributions import LeafModel
from clearwood.distributions.counts import Counts
from clearwood.distributions.moments import MomentsLeaf
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.posterior import Posterior

LEAST = 0.01
"""Half the degrees of freedom below which quantiles are infinite."""

MIXTURE_CELLS = 4_000_000
"""Numbers held at a time when whole distributions are computed."""


def rows_at_a_time(n_rows: int, n_levels: int, model: LeafModel) -> Iterator[slice]:
    """Blocks of rows, all nodes of whose paths are held at a time."""
    step = max(1, MIXTURE_CELLS // (n_levels * model.n_stats))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


@dataclass(frozen=True, eq=False)
class Predictive:
    """Predictive distribution of each row of a table.

    Rows that end at the same node share one mixture, computed once; leaves that read
    features of the row have one mixture per row.

    Parameters
    ----------
    model : LeafModel
    stats : ndarray of shape (n_mixtures, n_levels, n_stats)
    weight : ndarray of shape (n_mixtures, n_levels)
    mixture : ndarray of int of shape (n_rows,)
        Index of the mixture of each row.
    x : ndarray of shape (n_mixtures, 1, n_columns) or None
    kept : ndarray of shape (n_mixtures, n_levels) or None
        Shares of degrees of freedom in quantiles, by default all; see ``Posterior``.
    """

    model: LeafModel
    stats: np.ndarray
    weight: np.ndarray
    mixture: np.ndarray
    x: np.ndarray | None = None
    kept: np.ndarray | None = None

    def mean(self) -> np.ndarray:
        """Mean per row, of shape (n_rows,)."""
        return _mix(self.weight, self.model.mean(self.stats, self.x))[self.mixture]

    def variance(self) -> np.ndarray:
        """Variance per row; infinite where a leaf has none."""
        mean = self.model.mean(self.stats, self.x)
        with np.errstate(invalid="ignore"):
            gap = mean - _mix(self.weight, mean)[:, None]
            spread = self.model.variance(self.stats, self.x) + gap * gap
        spread = np.where(np.isnan(spread), np.inf, spread)
        return _mix(self.weight, spread)[self.mixture]

    def probabilities(self) -> np.ndarray:
        """Class probabilities, of shape (n_rows, n_classes)."""
        if not isinstance(self.model, Counts):
            raise InputError(
                f"{type(self.model).__name__} has no classes; use mean or log_density."
            )
        p = self.model.probabilities(self.stats)
        return (self.weight[..., None] * p).sum(axis=1)[self.mixture]

    def log_density(self, y: Any) -> np.ndarray:
        """Log density (log probability of integers) at one ``y`` per row."""
        stats, weight, x, y = self._per_row(y)
        log_weight = log_of(weight)
        terms = log_weight + self.model.log_density(stats, y, x)
        largest = terms.max(axis=1)
        shift = np.where(np.isfinite(largest), largest, 0.0)
        return shift + log_of(_in_order(np.exp(terms - shift[:, None])))

    def cdf(self, y: Any) -> np.ndarray:
        """Cumulative distribution function at one ``y`` per row."""
        stats, weight, x, y = self._per_row(y)
        if self.kept is None or not isinstance(self.model, MomentsLeaf):
            return _mix(weight, self.model.cdf(stats, y, x))
        m, a, b = self.model.student(stats, x)
        a = a * self.kept[self.mixture]
        with np.errstate(divide="ignore"):
            part = special.stdtr(2.0 * a, (y - m) / np.sqrt(b / a))
        # Without degrees of freedom all values are equally far.
        return _mix(weight, np.where(a > 0.0, part, 0.5))

    def _per_row(self, y: Any) -> tuple[Any, ...]:
        y = np.broadcast_to(np.asarray(y, dtype=np.float64), self.mixture.shape)
        x = None if self.x is None else self.x[self.mixture]
        return self.stats[self.mixture], self.weight[self.mixture], x, y[:, None]

    def quantile(self, p: Any) -> np.ndarray:
        """Quantiles of the mixtures, where their distribution functions reach ``p``.

        Infinite, except for the median, if hyperparameters are estimated from one row.

        Parameters
        ----------
        p : float or array-like of shape (n_levels,)
            Strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_levels)
        """
        levels = np.asarray(p, dtype=np.float64)
        if (
            levels.ndim > 1
            or not levels.size
            or not ((levels > 0) & (levels < 1)).all()
        ):
            raise InputError(
                f"p is {p}, expected probabilities strictly between 0 and 1."
            )
        each = np.atleast_1d(levels)
        if isinstance(self.model, MomentsLeaf):
            parts = self.model.student(self.stats, self.x)
            m, a, b = (np.broadcast_to(part, self.weight.shape) for part in parts)
            a = a if self.kept is None else a * self.kept
            z = special.ndtri(each)
            if (a > LEAST).all():
                found = mixture_quantiles(self.weight, m, a, b, each, z)
            else:
                median = _mix(self.weight, m)[:, None]
                found = np.where(z == 0.0, median, np.copysign(np.inf, z))
        else:
            found = np.stack([self._quantile(level) for level in each], axis=1)
        return (found if levels.ndim else found[:, 0])[self.mixture]

    def _quantile(self, p: float) -> np.ndarray:
        """Quantile, between the smallest and the largest one of the components."""
        parts = self.model.quantile(self.stats, np.full(self.weight.shape, p), self.x)
        used = self.weight > 0
        low = np.where(used, parts, np.inf).min(axis=1)
        high = np.where(used, parts, -np.inf).max(axis=1)

        def reached(y: np.ndarray) -> np.ndarray:
            part = self.model.cdf(self.stats, y[:, None], self.x)
            return _mix(self.weight, part) >= p

        return (bisect_whole if self.model.discrete else bisect)(reached, low, high)


def _mix(weight: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Weighted sums over paths; components of weight zero may be infinite."""
    return _in_order(weight * np.where(weight > 0, parts, 0.0))


def _in_order(parts: np.ndarray) -> np.ndarray:
    """Sums of rows from first to last, independent of zeros that pad the paths.

    The last bits of NumPy's own sum depend on the number of terms.
    """
    return np.cumsum(parts, axis=1)[:, -1]


def predict_at(posterior: Posterior, ends: np.ndarray, x: Any = None) -> Predictive:
    """Predictive distribution of rows that end at given nodes.

    A row that stops at an inner node, such as one with an unseen category, gives all
    the remaining weight to the node's own prediction.

    Parameters
    ----------
    posterior : Posterior
    ends : ndarray of int of shape (n_rows,)
        From ``Structure.route``.
    x : array-like of shape (n_rows, n_columns), optional
        Features that the leaf model reads.

    Returns
    -------
    Predictive
    """
    model = posterior.model
    if model.reads_features:
        z = model.columns(np.zeros(len(ends)), x)
        mixture = np.arange(len(ends))
        x = z[:, None, :-1]
    else:
        ends, mixture = np.unique(ends, return_inverse=True)
        x = None
    nodes, weight = posterior.path_weights(ends)
    kept = posterior.kept[nodes] if model.estimated_from else None
    return Predictive(model, posterior.known[nodes], weight, mixture, x, kept)
