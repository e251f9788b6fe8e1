"""Base classes of references, and their shared helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq
from sklearn.utils.metaestimators import available_if

from clearwood._estimators import take_rows
from clearwood._numeric import as_generator
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.references.tabular import (
    FLOAT32,
    as_numbers,
    check_cells,
    columns_read_by,
    count_rows,
    row_blocks,
)

Task = Literal["regression", "classification", "counts", "survival"]

BLOCK = 2**22
"""Most numbers in a block of draws in :meth:`Reference.mean_and_variance`."""

LEAST_NOISE = 1e-9
"""Noise variance that counts as none, relative to the mean squared error."""

_PREDICTS = {"regression": "values", "counts": "rates", "survival": "survival"}


class Reference:
    """Reference model for projection: draws of the predictions of a model.

    Draw ``l`` is the same function in every call, and its prediction for a row does
    not depend on other rows. Make one of most models with
    :func:`~clearwood.reference`; for any other, write a subclass that sets the
    attributes and has ``draws``, and ``noise_variance`` and ``refit`` if possible.

    Attributes
    ----------
    task : {"regression", "classification", "counts", "survival"}
        Kind of the predictions: means, class probabilities, rates, or probabilities of
        survival beyond each horizon.
    classes : ndarray of shape (n_classes,) or None
        Labels in the order of the probabilities.
    horizons : tuple of float
        For survival, ascending times.
    time_unit : str
        Their unit, such as "years".
    n_draws : int
        Number of draws; with a single one, projection is distillation.
    is_posterior : bool
        Whether the draws are from a posterior distribution. Trees of a forest are not,
        nor is a single model, and displays note it.
    description : str
        Printed description.
    features : FeatureSpace or None
        The columns that it reads, if known.
    noise : float or ndarray of shape (n_draws,), default=0.0
        In regression, the noise variance, where it is the same for all rows.
    rows : array-like, frame or None
        The rows that it was made with, if known: the object passed, not a copy.
    targets : array-like or None
        The observed targets of ``rows``, likewise.
    learns_noise : bool, default=False
        Whether noise is estimated from held-out residuals of fits to parts of the rows.
    can_refit : bool
        Whether it can be fitted to other rows; else :meth:`refit` raises.

    Examples
    --------
    Two straight lines, as good as each other:

    >>> import numpy as np
    >>> import clearwood as cw
    >>> class TwoLines(cw.Reference):
    ...     task = "regression"
    ...     n_draws = 2
    ...     description = "two lines"
    ...     def draws(self, X):
    ...         return np.array([1.0, 3.0])[:, None] * np.asarray(X)[:, 0]
    >>> mean, variance, noise = TwoLines().mean_and_variance([[0.0], [5.0]])
    >>> mean.tolist(), variance.tolist(), noise.tolist()
    ([0.0, 10.0], [0.0, 25.0], [0.0, 0.0])
    """

    task: Task
    n_draws: int
    description: str
    classes: np.ndarray | None = None
    horizons: tuple[float, ...] = ()
    time_unit: str = ""
    is_posterior: bool = True
    features: FeatureSpace | None = None
    noise: Any = 0.0
    rows: Any = None
    targets: Any = None
    learns_noise: bool = False

    @property
    def can_refit(self) -> bool:
        """Whether it can be fitted to other rows."""
        own = type(self)
        return own.refit is not Reference.refit or (
            own._fit_again is not Reference._fit_again
        )

    @property
    def n_outputs(self) -> int:
        """Number of predictions per row: of classes or horizons, else 1."""
        return len(self.horizons) or (1 if self.classes is None else len(self.classes))

    def draws(self, X: Any) -> np.ndarray:
        """Prediction of every draw for every row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_outputs)
            Means or rates; or class or survival probabilities.
        """
        raise NotImplementedError

    def noise_variance(self, X: Any) -> np.ndarray:
        """Variance of the target given each draw (noise); regression only.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples)
            Zero where there is none, or it is unknown. Read-only.
        """
        return check_noise(self.noise, self.n_draws, count_rows(X))

    def mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and variance over the draws, computed in blocks of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Mean of the draws; for classes and survival, of their probabilities.
        variance : ndarray of the shape of ``mean``
            Variance among the draws (with divisor ``n_draws``).
        noise : ndarray of shape (n_samples,)
            Mean of the noise variance. In regression ``variance + noise`` is the
            predictive variance of the reference.
        """
        means, variances, noises = [], [], []
        for block in row_blocks(X, BLOCK // (self.n_draws * self.n_outputs)):
            draws = self.draws(block)
            means.append(draws.mean(axis=0))
            variances.append(draws.var(axis=0))
            noises.append(self.noise_variance(block).mean(axis=0))
        return np.concatenate(means), np.concatenate(variances), np.concatenate(noises)

    def predict(self, X: Any) -> np.ndarray:
        """Mean prediction over the draws, so that a reference is also a fitted model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Mean of the draws; for classes, the one with the highest mean probability;
            for survival, the mean over the horizons, too.
        """
        mean = self.mean_and_variance(X)[0]
        if self.horizons:
            return mean.mean(axis=1)
        return mean if self.classes is None else self.classes[mean.argmax(axis=1)]

    @property
    def classes_(self) -> np.ndarray | None:
        """The same as ``classes``, by the name that fitted models have."""
        return self.classes

    def _has_classes(self) -> bool:
        if self.classes is None:
            raise InputError(
                f"This reference ({self.description}) predicts "
                f"{_PREDICTS[self.task]}, not class probabilities; call predict."
            )
        return True

    @available_if(_has_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean class probabilities over the draws, in the order of ``classes``.

        References of values, rates and survival do not have this method.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self.mean_and_variance(X)[0]

    def refit(self, X: Any, y: Any) -> Reference:
        """Fit the same kind of reference to other rows (folds, bootstrap samples).

        All these rows have equal weight. ``sample_weight`` in the fit of a proxy
        weights rows for the proxy and its evaluation only.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        Reference
            On its original rows, the same one. Classes that are absent from the rows
            keep their position, with probability 0; where all rows are of one class,
            that has probability 1.

        Raises
        ------
        InputError
            The reference cannot be refitted.
        """
        if not self.can_refit:
            raise InputError(
                f"This reference ({self.description}) cannot be fitted to other rows. "
                "Pass a model that can be fitted (a scikit-learn "
                'estimator, "bart" or None), or a subclass of Reference with '
                "refit(X, y)."
            )
        found = self._fit_again(X, y) if self.classes is None else _in_all(self, X, y)
        found.rows = X
        return found

    def refits(self, X: Any, y: np.ndarray, fold: np.ndarray) -> Iterator[Reference]:
        """Fit the same kind of reference without each fold of the rows in turn.

        With ``learns_noise``, the noise variance is estimated from these fits, without
        nested ones: that of one fit from the held-out residuals of all others. So the
        targets of a fold do not enter the noise under which they are evaluated.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        fold : ndarray of int of shape (n_samples,)
            Fold of each row: 0, 1, ...
        """
        parts = [np.flatnonzero(fold == part) for part in range(fold.max() + 1)]
        again = _with_noise(self, 0.0) if self.learns_noise else self
        others = (np.flatnonzero(fold != part) for part in range(len(parts)))
        fits: Iterable[Reference] = (
            again.refit(take_rows(X, rows), y[rows]) for rows in others
        )
        if self.learns_noise:
            fits = list(fits)
            errors = np.empty((2, len(y)))
            for fit, part in zip(fits, parts):
                errors[:, part] = _held_out_errors(fit, X, y, part)
            for fit, part in zip(fits, parts):
                fit.noise = calibrated_noise(*np.delete(errors, part, axis=1))
        yield from fits

    def _fit_again(self, X: Any, y: Any) -> Reference:
        """Fit to other rows, for :meth:`refit`; labels are of two or more classes."""
        raise NotImplementedError

    def __sklearn_clone__(self) -> Reference:
        # Estimators that read a reference neither refit nor change it.
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"


def check_noise(values: Any, n_draws: int, n_rows: int) -> np.ndarray:
    """Validate noise variances: a number, one per draw, or one per draw and row.

    Returns
    -------
    ndarray of shape (n_draws, n_rows)
        Read-only.
    """
    noise = np.asarray(values, dtype=np.float64)
    if noise.shape == (n_draws,):
        noise = noise[:, None]
    if noise.shape not in ((), (n_draws, 1), (n_draws, n_rows)):
        raise InputError(
            f"noise_variance has shape {noise.shape}; expected a number, ({n_draws},) "
            f"with one per draw, or ({n_draws}, {n_rows}) with one per draw and row."
        )
    if not np.isfinite(noise).all() or (noise < 0).any():
        raise InputError(
            "noise_variance must be finite and not negative; it is a variance, the "
            "square of a standard deviation."
        )
    return np.broadcast_to(noise, (n_draws, n_rows))


# Rows that lack some of the classes


def _in_all(reference: Reference, X: Any, y: Any) -> Reference:
    """Refit a reference, with probabilities in the order of its original classes."""
    classes: Any = reference.classes
    labels = check_target(y, count_rows(X), numeric=False)
    seen = np.isin(classes, labels)
    known = np.isin(labels, classes).all()
    if known and seen.sum() == 1:
        return _SomeClasses(reference, None, seen)
    found: Any = reference._fit_again(X, y)
    lacks = known and not seen.all() and np.array_equal(found.classes, classes[seen])
    return _SomeClasses(reference, found, seen) if lacks else found


class _SomeClasses(Reference):
    """Reference fitted to rows of some classes, with probabilities of all classes.

    Parameters
    ----------
    whole : Reference
        The original, with all classes.
    fitted : Reference or None
        The one fitted to the rows; None where these are of a single class.
    seen : ndarray of bool of shape (n_classes,)
        Classes of ``whole`` that occur in the rows.
    """

    task = "classification"

    def __init__(
        self, whole: Reference, fitted: Reference | None, seen: np.ndarray
    ) -> None:
        like = fitted or whole
        self.whole, self.fitted, self.seen = whole, fitted, seen
        self.classes, self.features = whole.classes, like.features
        self.n_draws, self.is_posterior = like.n_draws, like.is_posterior
        self.description = like.description

    def draws(self, X: Any) -> np.ndarray:
        """Draws with 0 for unseen classes; see :meth:`Reference.draws`."""
        draws = np.zeros((self.n_draws, count_rows(X), len(self.seen)))
        draws[..., self.seen] = 1.0 if self.fitted is None else self.fitted.draws(X)
        return draws

    def _fit_again(self, X: Any, y: Any) -> Reference:
        return self.whole.refit(X, y)


# References made of a fitted model


class ModelReference(Reference):
    """Base class of references made of a fitted estimator, its rows and settings.

    A subclass is constructed by ``(model, X, y, **settings)``, and calls :meth:`_keep`.
    """

    model: Any
    features: Any
    settings: dict[str, Any]

    def _keep(self, model: Any, X: Any, **settings: Any) -> None:
        self.model, self.settings = model, settings
        self.features = columns_read_by(model, X)

    @property
    def can_refit(self) -> bool:
        """Whether the model can be cloned, or the subclass overrides :meth:`refit`."""
        own = type(self).refit is not Reference.refit
        return own or hasattr(self.model, "get_params")

    def _fit_again(self, X: Any, y: Any) -> Reference:
        make: Any = type(self)
        return make(fitted_clone(self.model, X, y), X, y, **self.settings)


def fitted_clone(model: Any, X: Any, y: Any) -> Any:
    """Fit a clone of an estimator; an error names the cells that it cannot read."""
    from sklearn.base import clone

    try:
        return clone(model).fit(X, y)
    except Exception as error:  # CatBoost's is no ValueError.
        # Checked afterwards, as some models do read infinity, texts and dates.
        features = features_of(X)
        if "infinity" in str(error):
            rows = as_numbers(X, features)
            check_cells(rows, type(model).__name__, features, largest=FLOAT32)
        columns = zip(features.names, features.categories, features.info)
        raw = [name for name, labels, info in columns if labels or info.is_time]
        if raw:
            raise InputError(
                f"Fitting the {type(model).__name__} failed, with columns of texts, "
                f"categories or dates in X ({', '.join(map(repr, raw[:5]))}): "
                f"{' '.join(str(error).split())}. Put it in a Pipeline after an "
                "encoder, or use a Bayesian bootstrap forest (None), which accepts "
                "them."
            ) from error
        raise


def fixed_seed(random_state: Any) -> int:
    """Integer seed to keep, so that a refitted reference draws the same numbers."""
    generator = as_generator(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(generator.integers(2**31))


def centred_normals(generator: np.random.Generator, shape: tuple[int, int]) -> Any:
    """Standard normal numbers, one draw per column, centred over the draws.

    So the mean over draws is exact. Their expected covariance is still the identity:
    ``sum over draws / n_draws``. A single draw is the mean.
    """
    numbers = generator.standard_normal(shape)
    n_draws = shape[1]
    numbers -= numbers.mean(axis=1, keepdims=True)
    return numbers * np.sqrt(n_draws / max(n_draws - 1, 1))


def out_of_fold_noise(
    fit: Callable[[Any, np.ndarray], Reference], X: Any, y: np.ndarray, seed: int
) -> float:
    """Noise variance that calibrates the predictive variance, by cross-validation.

    Parameters
    ----------
    fit : callable
        Takes rows and targets, returns the reference fitted to them.
    X, y
        Training rows, split into five folds.
    seed : int
        Seed of the folds.

    Returns
    -------
    float
        From :func:`calibrated_noise`.
    """
    from sklearn.model_selection import KFold

    folds = KFold(min(5, len(y)), shuffle=True, random_state=seed)
    errors = np.empty((2, len(y)))
    for train, test in folds.split(y):
        fitted = fit(take_rows(X, train), y[train])
        errors[:, test] = _held_out_errors(fitted, X, y, test)
    return calibrated_noise(*errors)


def _held_out_errors(fitted: Reference, X: Any, y: np.ndarray, test: np.ndarray) -> Any:
    """Squared errors of held-out rows, and the variance of the draws there."""
    mean, variance, _ = fitted.mean_and_variance(take_rows(X, test))
    return (y[test] - mean) ** 2, variance


def calibrated_noise(squares: np.ndarray, variance: np.ndarray) -> float:
    """Noise variance with which errors have their predictive variance, row by row.

    That is, squared errors are one on average relative to the variance of the draws and
    the noise. The difference of their means may be negative where some rows have draws
    that differ much, and other rows, in which all draws agree, would be certain.

    Parameters
    ----------
    squares : ndarray of shape (n_rows,)
        Squared errors of the mean of the draws.
    variance : ndarray of shape (n_rows,)
        Variance of the draws.

    Returns
    -------
    float
        Zero if the variance of the draws is enough.

    Examples
    --------
    >>> calibrated_noise(np.array([1.0, 1.0, 9.0]), np.array([0.0, 0.0, 8.0]))
    1.0
    """
    most = float(squares.mean())

    def excess(noise: float) -> float:
        return float(np.mean(squares / (variance + noise * most))) - 1

    if most == 0 or excess(LEAST_NOISE) <= 0:
        return 0.0
    return most * float(brentq(excess, LEAST_NOISE, 2.0, xtol=1e-12))


def _with_noise(reference: Any, variance: float) -> Any:
    """Copy of a reference whose refits have a given noise variance."""
    known = copy(reference)
    known.settings = {**reference.settings, "noise_variance": variance}
    return known
