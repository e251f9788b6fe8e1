"""Design matrix of a linear model, and its fit to the predictions of a reference."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import sklearn
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression

from clearwood._kernels.numeric import solve_positive
from clearwood._numeric import product, rounded
from clearwood._words.labels import prediction_text
from clearwood.columns.cells import UNSEEN
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.projection.predictive_draws import EPS

MAX_ITERATIONS = 10_000
"""Maximum number of iterations of the solvers."""

MAX_NEWTON = 1000
"""Maximum number of coefficients for Newton's method, whose results have the same
digits on every machine; with more, its second derivatives take too long."""

VALUE, MISSING = -1, -2

SKLEARN = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


class Terms(NamedTuple):
    """Terms of a linear model: numeric features, categories and missing indicators.

    Attributes
    ----------
    features : FeatureSpace
    feature : ndarray of int of shape (n_terms,)
        Feature of each term.
    category : ndarray of int of shape (n_terms,)
        The category at which a term is 1, else 0; ``VALUE`` for the feature itself,
        ``MISSING`` for 1 where it is missing.
    centre, unit : ndarray of shape (n_terms,)
        Mean and standard deviation where the feature is known, which make penalties
        independent of units.
    """

    features: FeatureSpace
    feature: np.ndarray
    category: np.ndarray
    centre: np.ndarray
    unit: np.ndarray

    @classmethod
    def from_table(
        cls, features: FeatureSpace, encoded: np.ndarray, weight: np.ndarray
    ) -> Terms:
        """Terms of a table; for categories, all but the first of their labels."""
        pairs = [
            (d, category)
            for d, labels in enumerate(features.categories)
            for category in ([VALUE] if labels is None else list(range(1, len(labels))))
            + [MISSING]
        ]
        feature, category = np.array(pairs, dtype=int).reshape(-1, 2).T
        raw = _raw(encoded, features, feature, category)
        share = np.where(np.isnan(raw), 0.0, weight[:, None])
        share = share / np.maximum(share.sum(axis=0), 1e-300)
        raw = np.where(np.isnan(raw), 0.0, raw)
        centre = (share * raw).sum(axis=0)
        deviation = raw - centre
        # A power of two, so that squares neither underflow nor overflow.
        _, power = np.frexp(np.abs(deviation).max(axis=0))
        deviation = np.ldexp(deviation, -power)
        unit = np.ldexp(np.sqrt((share * deviation**2).sum(axis=0)), power)
        # A constant column is left out: its coefficient is not identified.
        varies = unit > 1e-12 * np.abs(centre)
        return cls(
            features, feature[varies], category[varies], centre[varies], unit[varies]
        )

    def design_matrix(self, encoded: np.ndarray) -> np.ndarray:
        """Standardized columns: (n_rows, n_terms).

        A missing value, or an unseen category, is replaced by the mean: 0.
        """
        raw = _raw(encoded, self.features, self.feature, self.category)
        return np.where(np.isnan(raw), 0.0, (raw - self.centre) / self.unit)

    def taken(self, kept: np.ndarray) -> Terms:
        """Some of the terms."""
        return Terms(self.features, *(values[kept] for values in self[1:]))

    @property
    def without_term(self) -> dict[str, list[str]]:
        """Categories without a term, by name of the feature, if others have one."""
        found = {}
        for d in np.unique(self.feature[self.category >= 0]).tolist():
            mine = set(self.category[self.feature == d].tolist())
            labels = enumerate(self.features.categories[d])
            found[self.features.names[d]] = [
                prediction_text(label) for c, label in labels if c not in mine
            ]
        return found

    @property
    def names(self) -> list[str]:
        """Names of the terms."""
        names = []
        for d, category in zip(self.feature, self.category):
            name, labels = self.features.names[d], self.features.categories[d]
            if category == MISSING:
                name = f"{name} missing"
            elif labels is not None:
                name = f"{name}={labels[category]}"
            names.append(name)
        return names


def _raw(
    encoded: np.ndarray,
    features: FeatureSpace,
    feature: np.ndarray,
    category: np.ndarray,
) -> np.ndarray:
    """Columns in the data's units; NaN where the feature is unknown."""
    column = encoded[:, feature]
    if np.isinf(column).any():
        row, term = np.argwhere(np.isinf(column))[0]
        raise InputError(
            f"Feature {features.names[feature[term]]!r} is infinite in row {row}, "
            "which a linear model cannot read; replace it, or project onto a tree."
        )
    missing = np.isnan(column)
    known = np.where(category >= 0, column == category, column)
    known = np.where(missing | ((category >= 0) & (column == UNSEEN)), np.nan, known)
    return np.where(category == MISSING, missing, known)


def fit_logistic(
    columns: np.ndarray,
    probabilities: np.ndarray,
    weight: np.ndarray,
    *,
    ridge: float = 0.0,
    lasso: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression to soft labels by minimal cross-entropy.

    The objective is the weighted sum of the cross-entropies, plus ``ridge`` / 2 times
    the squares, or ``lasso`` times the absolute values, of the coefficients. Intercepts
    are not penalized.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_terms)
    probabilities : ndarray of shape (n_rows, n_classes)
    weight : ndarray of shape (n_rows,)
    ridge, lasso : float
        One of them is positive.

    Returns
    -------
    intercept : ndarray of shape (n_outputs,)
        One output for two classes, else one per class.
    coef : ndarray of shape (n_outputs, n_terms)
    """
    n_rows, n_classes = probabilities.shape
    if not columns.shape[1]:
        shares = np.average(probabilities, axis=0, weights=weight)
        logs = np.log(np.maximum(shares, EPS))
        odds = logs[1:] - logs[0] if n_classes == 2 else logs - logs.mean()
        return odds, np.zeros((len(odds), 0))
    # A soft label is one row per class, weighted by its probability; a class that
    # is never predicted stays in the model.
    probabilities = np.maximum(probabilities, EPS)
    rows = np.repeat(columns, n_classes, axis=0)
    labels = np.tile(np.arange(n_classes), n_rows)
    share = (weight[:, None] * probabilities).ravel()
    n_coefficients = n_classes * columns.shape[1]
    newton = "newton-cholesky" if n_coefficients <= MAX_NEWTON else "lbfgs"
    settings: dict[str, Any] = {"solver": newton, "tol": 1e-10}
    if lasso:
        settings = {"solver": "saga", "tol": 1e-6, "l1_ratio": 1.0}
        if SKLEARN < (1, 8):
            settings["penalty"] = "elasticnet"
    solver = LogisticRegression(
        C=1.0 / (lasso or ridge), max_iter=MAX_ITERATIONS, random_state=0, **settings
    )
    with warnings.catch_warnings():
        # Where a step of Newton's method fails, lbfgs continues.
        warnings.filterwarnings("ignore", "Line search of Newton", ConvergenceWarning)
        solver.fit(rows, labels, sample_weight=share)
    return rounded(solver.intercept_), rounded(solver.coef_)


def fit_linear(
    columns: np.ndarray,
    values: np.ndarray,
    weight: np.ndarray,
    *,
    ridge: float = 0.0,
    lasso: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a linear regression by least squares, for several draws at once.

    Half the weighted sum of squares, plus the penalty of :func:`fit_logistic`.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_terms)
    values : ndarray of shape (n_draws, n_rows)
    weight : ndarray of shape (n_rows,)
    ridge, lasso : float

    Returns
    -------
    intercept : ndarray of shape (n_draws,)
    coef : ndarray of shape (n_draws, n_terms)
    """
    share = weight / weight.sum()
    middle, centres = product(share, columns), product(values, share)
    columns, values = columns - middle, values - centres[:, None]
    if not columns.shape[1]:
        coef = np.zeros((len(values), 0))
    elif lasso:
        root = np.sqrt(weight)
        solver = Lasso(
            alpha=lasso / len(columns), fit_intercept=False, max_iter=MAX_ITERATIONS
        )
        coef = np.array(
            [
                rounded(solver.fit(columns * root[:, None], draw * root).coef_)
                for draw in values
            ]
        )
    else:
        weighted = weight[:, None] * columns
        normal = product(weighted.T, columns) + ridge * np.eye(columns.shape[1])
        coef = solve_positive(normal, product(values, weighted))
    return centres - product(coef, middle), coef


def probabilities_of(scores: np.ndarray) -> np.ndarray:
    """Class probabilities of log odds: one column for two classes, else one each."""
    if scores.shape[1] == 1:
        second = expit(scores[:, 0])
        return np.stack([1 - second, second], axis=1)
    return softmax(scores, axis=1)
