"""Leaf parameters of a projected tree: a distribution per posterior draw."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, xlogy

from clearwood._numeric import product
from clearwood.projection.predictive_draws import (
    EPS,
    NORMAL_ENDS,
    SMALLEST_VARIANCE,
    PredictiveDraws,
    smoothed,
)

ROWS_OF_ALL = 20
"""Rows of the whole tree that count as if they were in each leaf, where the spread of
observations in it is estimated."""


class Leaves(NamedTuple):
    """Parameters of all leaves of one tree, eta in the paper, per posterior draw.

    Attributes
    ----------
    share : ndarray of shape (n_leaves,)
        Share of the total weight of the rows in each leaf.
    means : ndarray of shape (n_draws, n_leaves) or (n_draws, n_leaves, n_classes)
        Mean, rate or class probabilities of the leaf.
    variances : ndarray of shape (n_draws, n_leaves) or None
        Variance of an observation around the mean.
    errors : ndarray of shape (n_leaves, n_levels) or None
        Quantiles of the difference of an observation from the prediction of the leaf,
        at the levels of ``NORMAL_ENDS``; None where no observations are known.
    """

    share: np.ndarray
    means: np.ndarray
    variances: np.ndarray | None
    errors: np.ndarray | None = None

    @classmethod
    def from_predictive(
        cls,
        predictive: PredictiveDraws,
        leaf: np.ndarray,
        share: np.ndarray,
        family: str,
    ) -> Leaves:
        """Maximize the expected log likelihood, equation (3).

        Parameters
        ----------
        predictive : PredictiveDraws
        leaf : ndarray of int of shape (n_rows,)
            Leaf of each row; none is empty.
        share : ndarray of shape (n_rows,)
            Weights of the rows, normalized to sum one.
        family : {"mean", "mean_variance", "counts", "classes"}
        """
        inside = np.zeros((len(leaf), int(leaf.max()) + 1))
        inside[np.arange(len(leaf)), leaf] = share
        total = inside.sum(axis=0)
        if predictive.noise is None:
            if predictive.draws.ndim == 2:
                return cls(total, product(predictive.draws, inside) / total, None)
            means = product(predictive.draws.swapaxes(1, 2), inside).swapaxes(1, 2)
            return cls(total, means / total[:, None], None)
        # Squares around one value for all rows, against cancellation.
        centre = predictive.draws.mean()
        values = predictive.draws - centre
        means = product(values, inside) / total
        # Noise of the reference within rows, and variation between rows of the leaf.
        variances = product(predictive.noise + values**2, inside) / total - means**2
        if family != "mean_variance":
            # One variance for the whole tree: sigma^2 in section 3.2.1.
            variances = np.broadcast_to(product(variances, total[:, None]), means.shape)
        least = SMALLEST_VARIANCE * max(float(values.mean(axis=0).var()), 1e-300)
        return cls(total, centre + means, np.maximum(variances, least))

    def with_observed(
        self, y: np.ndarray | None, leaf: np.ndarray, weight: np.ndarray
    ) -> Leaves:
        """Estimate the spread of observations in each leaf from observed targets.

        A normal distribution with one variance for all leaves is the nearest one to the
        reference, equation (6), but not that of the observations in a leaf. Means stay;
        variances and quantiles become those of the leaf's own rows, and of all rows,
        rescaled, with the weight of ``ROWS_OF_ALL``. The tree was fitted to these rows,
        so the spread is widened where equation (6) has a larger mean variance.

        Parameters
        ----------
        y : ndarray of shape (n_rows,) or None
            None leaves them as they are.
        leaf : ndarray of int of shape (n_rows,)
        weight : ndarray of shape (n_rows,)
        """
        if y is None or self.variances is None:
            return self
        weight = weight / weight.mean()
        error = y - self.means.mean(axis=0)[leaf]
        rows, squares = np.bincount(leaf, weight), np.bincount(leaf, weight * error**2)
        pooled = max(float(squares.sum() / rows.sum()), 1e-300)
        variances = (squares + ROWS_OF_ALL * pooled) / (rows + ROWS_OF_ALL)
        between = self.means.var(axis=0)
        of_reference = ((self.variances.mean(axis=0) + between) * self.share).sum()
        widened = max(1.0, float(of_reference / (variances * self.share).sum()))
        scale, levels = np.sqrt(variances), ndtr(NORMAL_ENDS)
        errors = np.empty((len(rows), len(levels)))
        for i, size in enumerate(scale):
            values = np.append(error[leaf == i], error * size / scale[leaf])
            share = np.append(weight[leaf == i], weight * ROWS_OF_ALL / len(y))
            errors[i] = np.quantile(
                values, levels, weights=share, method="inverted_cdf"
            )
        noise = np.maximum(widened * variances - between, SMALLEST_VARIANCE * pooled)
        return self._replace(
            variances=np.broadcast_to(noise, self.means.shape),
            errors=np.sqrt(widened) * errors,
        )

    @property
    def log_likelihood(self) -> float:
        """Expected log likelihood per row under the reference, mean over the draws.

        Equation (3), on the training rows; less a penalty it is the utility (4). Log
        factorials of counts are omitted.
        """
        if self.variances is not None:
            per_leaf = -0.5 * np.log(2 * np.pi * self.variances) - 0.5
        elif self.means.ndim == 3:
            per_leaf = xlogy(self.means, self.means).sum(axis=2)
        else:
            per_leaf = xlogy(self.means, self.means) - self.means
        return float(product(per_leaf, self.share).mean())

    def predictive(self, leaf: np.ndarray) -> PredictiveDraws:
        """Predictive distributions of rows in given leaves, as of a reference."""
        noise = None if self.variances is None else self.variances[:, leaf]
        errors = None if self.errors is None else self.errors[leaf]
        return PredictiveDraws(self.means[:, leaf], noise, errors)

    def smoothed(self, n_rows: int, baseline: float | None) -> Leaves:
        """Shrink rates or probabilities, as if each leaf had a row at the baseline."""
        if baseline is None:
            return self
        rows = n_rows * self.share
        rows = rows[:, None] if self.means.ndim == 3 else rows
        return self._replace(means=smoothed(self.means, rows, baseline))

    @property
    def epistemic(self) -> np.ndarray:
        """Standard deviation of the means over draws, per leaf (and class)."""
        return self.means.std(axis=0)

    @property
    def aleatoric(self) -> np.ndarray | None:
        """Standard deviation of an observation given the mean, per leaf."""
        if self.variances is None:
            return None
        return np.sqrt(self.variances.mean(axis=0))


def expected_log_likelihood(
    leaves: Leaves, predictive: PredictiveDraws, leaf: np.ndarray
) -> np.ndarray:
    """Expected log likelihood of a tree under its reference, per draw and row.

    Equation (3), on any rows. Log factorials of counts are omitted.
    """
    proxy = leaves.predictive(leaf)
    # An outcome of probability 0 in a leaf may occur elsewhere.
    positive = np.maximum(proxy.draws, EPS)
    if proxy.noise is not None:
        squares = predictive.noise + (predictive.draws - proxy.draws) ** 2
        return -0.5 * np.log(2 * np.pi * proxy.noise) - 0.5 * squares / proxy.noise
    if proxy.draws.ndim == 3:
        return xlogy(predictive.draws, positive).sum(axis=2)
    return xlogy(predictive.draws, positive) - proxy.draws
