"""References of Gaussian processes and Bayesian linear models: draws of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.stats import qmc

from clearwood._estimators import target_scale
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.references.base import ModelReference, centred_normals, fixed_seed

LANDMARKS = 200
"""Points, besides the training rows, at which functions are drawn."""

SMALLEST_SHARE = 1e-10
"""Eigenvalues of the prior covariance below this share of the largest are dropped."""

ROWS_AT_ONCE = 64
"""Rows per block of the kernel matrix that is computed for its diagonal."""


class _DrawnOnce(ModelReference):
    """Posterior over functions, sampled once when the reference is made."""

    task = "regression"
    features: FeatureSpace

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        n_draws: int = 500,
        random_state: Any = None,
    ) -> None:
        seed = fixed_seed(random_state)
        self._keep(model, X, n_draws=n_draws, random_state=seed)
        self.n_draws = n_draws
        self.description = f"{type(model).__name__}, {n_draws} draws"
        self._draw(np.random.default_rng(seed))

    def _draw(self, generator: np.random.Generator) -> None:
        raise NotImplementedError


class GaussianProcessReference(_DrawnOnce):
    """Functions drawn from the posterior of a scikit-learn Gaussian process.

    Functions are drawn jointly at landmarks, which are the training rows and points
    that fill their bounding box; elsewhere, each is its conditional mean given its
    values there. So the mean of the draws is the exact posterior mean, and their
    covariance is exact among landmarks. The conditional variance at other rows counts
    as noise, so that the predictive variance is exact, too: far from all landmarks
    most of it is noise.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted, to one target. ``alpha`` and white noise in its kernel are the noise;
        where ``alpha`` differs by row, new rows get its mean.
    X, y : ignored
    n_draws : int, default=500
        Number of functions. A single one is the mean.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> X, y = np.linspace(0, 6, 20)[:, None], np.sin(np.linspace(0, 6, 20))
    >>> process = GaussianProcessRegressor(alpha=0.01).fit(X, y)
    >>> reference = GaussianProcessReference(process, random_state=0)
    >>> mean, variance, noise = reference.mean_and_variance([[3.1]])
    >>> bool(np.allclose(mean, process.predict([[3.1]])))
    True
    """

    def _draw(self, generator: np.random.Generator) -> None:
        """Kernel coefficients of every draw at the landmarks.

        Matheron's rule: a prior draw, corrected by the residuals of its noisy values
        at the training rows, is a posterior draw.
        """
        model, train = self.model, self.model.X_train_
        if np.ndim(model.alpha_) > 1:
            raise InputError(
                "The Gaussian process has several targets; fit one process per "
                "target, and make a reference of one."
            )
        n = len(train)
        self.landmarks = np.vstack([train, _fill_box(train, generator)])
        # With the second argument given, kernels leave out white noise.
        prior = model.kernel_(self.landmarks, self.landmarks)
        values, vectors = linalg.eigh(prior)
        # K_ZZ^(-1/2), without directions of negligible variance: these would amplify
        # rounding errors, and their variance is added to the noise.
        kept = values > SMALLEST_SHARE * values[-1]
        self._root = vectors[:, kept] / np.sqrt(values[kept])
        coefficients = self._root @ centred_normals(
            generator, (int(kept.sum()), self.n_draws)
        )
        deviation = np.sqrt(model.alpha + self._white_noise(train))
        noise = centred_normals(generator, (n, self.n_draws))
        seen = prior[:n] @ coefficients + np.reshape(deviation, (n, 1)) * noise
        missed = model.alpha_[:, None] - linalg.cho_solve((model.L_, True), seen)
        coefficients[:n] += missed
        self._coefficients = coefficients

    def draws(self, X: Any) -> np.ndarray:
        """Values of every function; see :meth:`~clearwood.Reference.draws`."""
        shift, scale = target_scale(self.model)
        kernel = self.model.kernel_(self.features.encode(X), self.landmarks)
        return (shift + scale * (kernel @ self._coefficients)).T

    def noise_variance(self, X: Any) -> np.ndarray:
        """Noise variance plus conditional variance given the values at landmarks."""
        rows, kernel = self.features.encode(X), self.model.kernel_
        white = self._white_noise(rows)
        drawn = np.sum((kernel(rows, self.landmarks) @ self._root) ** 2, axis=1)
        left = np.maximum(kernel.diag(rows) - white - drawn, 0.0)
        scale = target_scale(self.model)[1]
        total = scale**2 * (np.mean(self.model.alpha) + white + left)
        return np.broadcast_to(total, (self.n_draws, len(rows)))

    def _white_noise(self, rows: np.ndarray) -> np.ndarray:
        """Kernel of each row with itself, less its kernel with an equal row."""
        kernel = self.model.kernel_
        smooth = [
            np.diag(kernel(block, block.copy()))
            for block in np.split(rows, range(ROWS_AT_ONCE, len(rows), ROWS_AT_ONCE))
        ]
        return np.maximum(kernel.diag(rows) - np.concatenate(smooth), 0.0)


def _fill_box(rows: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Evenly spread points in the bounding box of rows."""
    points = qmc.Halton(rows.shape[1], rng=generator).random(LANDMARKS)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return low + points * (high - low)


class LinearReference(_DrawnOnce):
    """Coefficients drawn from the posterior of a Bayesian linear regression.

    Parameters
    ----------
    model : BayesianRidge or ARDRegression
        Fitted. As in its own ``predict``, the intercept and the precisions are treated
        as known.
    X, y : ignored
    n_draws : int, default=500
        Number of draws. A single one is the mean.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model = BayesianRidge().fit(X, [0.1, 0.9, 2.2, 2.9])
    >>> reference = LinearReference(model, n_draws=4, random_state=0)
    >>> bool(np.allclose(reference.draws(X).mean(axis=0), model.predict(X)))
    True
    """

    def _draw(self, generator: np.random.Generator) -> None:
        model, n_draws = self.model, self.n_draws
        self.noise = 1 / model.alpha_
        # ARDRegression prunes coefficients, and sigma_ is of those that it keeps.
        limit = getattr(model, "threshold_lambda", np.inf)
        kept = np.flatnonzero(np.broadcast_to(model.lambda_ < limit, model.coef_.shape))
        values, vectors = np.linalg.eigh(model.sigma_)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        self._deviations = np.zeros((len(model.coef_), n_draws))
        self._deviations[kept] = root @ centred_normals(generator, (len(kept), n_draws))

    def draws(self, X: Any) -> np.ndarray:
        """Values of every linear function; see :meth:`~clearwood.Reference.draws`."""
        rows, model = self.features.encode(X), self.model
        mean = rows @ model.coef_ + model.intercept_
        # Slopes vary about the mean of the training rows.
        return (mean[:, None] + (rows - model.X_offset_) @ self._deviations).T
