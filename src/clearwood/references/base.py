"""What a reference has to be, and what all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from typing import Any, Literal

import numpy as np

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

Task = Literal["regression", "classification", "counts"]

BLOCK = 2**22
"""Numbers that :meth:`Reference.mean_and_variance` holds of the draws at once."""

_SAYS = {"regression": "values", "counts": "rates"}


class Reference:
    """A model that is read through a smaller one: draws of what it predicts.

    Draw ``l`` is the same function in every call, and says of a row what it says
    whatever other rows are asked about. Make one of most models with
    :func:`~clearwood.reference`; for any other, write a subclass that sets the
    attributes and has ``draws``, and ``noise_variance`` and ``refit`` where it can.

    Attributes
    ----------
    task : {"regression", "classification", "counts"}
        What is drawn: means, class probabilities or rates.
    classes : ndarray of shape (n_classes,) or None
        Labels in the order of the probabilities.
    n_draws : int
        Number of draws; a reference with one is a teacher.
    is_posterior : bool
        Whether the draws are of a posterior distribution. Trees of a forest are not,
        nor is a single model, and displays say so.
    description : str
        What is printed of it.
    features : FeatureSpace or None
        The columns it reads, where it knows them.
    noise : float or ndarray of shape (n_draws,), default=0.0
        In regression, the variance of the noise, where it is the same for all rows.
    rows : array-like, frame or None
        The rows it was made with, where known: what was handed in, not a copy.
    learns_noise : bool, default=False
        Whether fits to parts of the rows tell the noise: what these leave elsewhere.
    can_refit : bool
        Whether it is known how to fit it to other rows; else :meth:`refit` raises.

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
    is_posterior: bool = True
    features: FeatureSpace | None = None
    noise: Any = 0.0
    rows: Any = None
    learns_noise: bool = False

    @property
    def can_refit(self) -> bool:
        """Whether it is known how to fit it to other rows."""
        own = type(self)
        return own.refit is not Reference.refit or (
            own._fit_again is not Reference._fit_again
        )

    def draws(self, X: Any) -> np.ndarray:
        """What every draw says of every row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
            Means or rates; or class probabilities.
        """
        raise NotImplementedError

    def noise_variance(self, X: Any) -> np.ndarray:
        """Variance of the target around what each draw says; regression only.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples)
            Zero where there is none, or none is known. Not to be written to.
        """
        return check_noise(self.noise, self.n_draws, count_rows(X))

    def mean_and_variance(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and variance over the draws, a block of rows at a time.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Mean of the draws; for classes, of their probabilities.
        variance : ndarray of the shape of ``mean``
            Variance among the draws (over ``n_draws``, as they are all there is).
        noise : ndarray of shape (n_samples,)
            Mean of the noise variance. In regression ``variance + noise`` is the
            variance of what the reference predicts.
        """
        n_outputs = 1 if self.classes is None else len(self.classes)
        means, variances, noises = [], [], []
        for block in row_blocks(X, BLOCK // (self.n_draws * n_outputs)):
            draws = self.draws(block)
            means.append(draws.mean(axis=0))
            variances.append(draws.var(axis=0))
            noises.append(self.noise_variance(block).mean(axis=0))
        return np.concatenate(means), np.concatenate(variances), np.concatenate(noises)

    def predict(self, X: Any) -> np.ndarray:
        """What all draws say together, so that a reference is a teacher, too.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Their mean; of classes, the one that is most probable on average.
        """
        mean = self.mean_and_variance(X)[0]
        return mean if self.classes is None else self.classes[mean.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean of the draws' class probabilities, in the order of ``classes``.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        if self.classes is None:
            raise InputError(
                f"This reference ({self.description}) says {_SAYS[self.task]}, no "
                "probabilities of classes; call predict."
            )
        return self.mean_and_variance(X)[0]

    def refit(self, X: Any, y: Any) -> Reference:
        """The same kind of reference, fitted to other rows: folds, bootstraps.

        All these rows count alike. ``sample_weight`` in the fit of a proxy says how
        much a row counts for the proxy, and for judging it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        Reference
            On the rows it was fitted to before, the same one. Classes that these rows
            lack keep their place, with probability 0; where all rows are of one class,
            that has probability 1.

        Raises
        ------
        InputError
            It is not known how to fit it.
        """
        if not self.can_refit:
            raise InputError(
                f"It is not known how to fit this reference ({self.description}) to "
                "other rows. Hand in a model that can be fitted (a scikit-learn "
                'estimator, "bart" or None), or a subclass of Reference with '
                "refit(X, y)."
            )
        found = self._fit_again(X, y) if self.classes is None else _in_all(self, X, y)
        found.rows = X
        return found

    def refits(self, X: Any, y: np.ndarray, fold: np.ndarray) -> Iterator[Reference]:
        """The same kind of reference, fitted without each part of the rows in turn.

        Noise that is learned by such fits is learned by these, and not by fits within
        each: that of one is what all others leave in the parts that they lack. So the
        targets of a part are no errors in the noise under which they are judged.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        fold : ndarray of int of shape (n_samples,)
            The part that each row is in: 0, 1, ...
        """
        parts = [np.flatnonzero(fold == part) for part in range(fold.max() + 1)]
        again = _with_noise(self, 0.0) if self.learns_noise else self
        others = (np.flatnonzero(fold != part) for part in range(len(parts)))
        fits: Iterable[Reference] = (
            again.refit(take_rows(X, rows), y[rows]) for rows in others
        )
        if self.learns_noise:
            fits = list(fits)
            excess = [_excess(fit, X, y, part) for fit, part in zip(fits, parts)]
            for fit, part, own in zip(fits, parts, excess):
                fit.noise = max((sum(excess) - own) / (len(y) - len(part)), 0.0)
        yield from fits

    def _fit_again(self, X: Any, y: Any) -> Reference:
        """What :meth:`refit` calls; of labels, two or more classes of any number."""
        raise NotImplementedError

    def __sklearn_clone__(self) -> Reference:
        # What is asked is never fitted again, nor changed, by who asks it.
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.description}>"


def check_noise(values: Any, n_draws: int, n_rows: int) -> np.ndarray:
    """Noise variances: a number, one per draw, or one per draw and row.

    Returns
    -------
    ndarray of shape (n_draws, n_rows)
        Not to be written to.
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
    """A reference fitted again, that answers in the order of all its classes before."""
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
    """A reference fitted to rows of some classes, which answers in the order of all.

    Parameters
    ----------
    whole : Reference
        Of all classes, which was fitted again.
    fitted : Reference or None
        To the rows; None where they are of one class, of which there is no doubt.
    seen : ndarray of bool of shape (n_classes,)
        Classes of ``whole`` that the rows hold.
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
        """Of classes that are not seen 0; see :meth:`Reference.draws`."""
        draws = np.zeros((self.n_draws, count_rows(X), len(self.seen)))
        draws[..., self.seen] = 1.0 if self.fitted is None else self.fitted.draws(X)
        return draws

    def _fit_again(self, X: Any, y: Any) -> Reference:
        return self.whole.refit(X, y)


# For references that stand on a fitted model


class ModelReference(Reference):
    """A reference made of a fitted estimator, its rows and some settings.

    A subclass is made by ``(model, X, y, **settings)``, and calls :meth:`_keep`.
    """

    model: Any
    features: Any
    settings: dict[str, Any]

    def _keep(self, model: Any, X: Any, **settings: Any) -> None:
        self.model, self.settings = model, settings
        self.features = columns_read_by(model, X)

    @property
    def can_refit(self) -> bool:
        """Whether the model can be cloned, or the subclass has a way of its own."""
        own = type(self).refit is not Reference.refit
        return own or hasattr(self.model, "get_params")

    def _fit_again(self, X: Any, y: Any) -> Reference:
        make: Any = type(self)
        return make(fitted_clone(self.model, X, y), X, y, **self.settings)


def fitted_clone(model: Any, X: Any, y: Any) -> Any:
    """A clone of an estimator, fitted; an error names the cells that it cannot read."""
    from sklearn.base import clone

    try:
        return clone(model).fit(X, y)
    except Exception as error:  # CatBoost's is no ValueError.
        # Asked afterwards, as some models do read infinity, texts and dates.
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
                f"{' '.join(str(error).split())}. Put it in a Pipeline behind an "
                "encoder, or take a Bayesian bootstrap forest (None), which reads them."
            ) from error
        raise


def fixed_seed(random_state: Any) -> int:
    """A seed to be kept, so that a reference fitted again draws as before."""
    generator = as_generator(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(generator.integers(2**31))


def centred_normals(generator: np.random.Generator, shape: tuple[int, int]) -> Any:
    """Standard normal numbers, one draw per column, whose mean over draws is zero.

    So the mean over draws is exact. Their covariance still is, on average, the
    identity: ``sum over draws / n_draws``. A single draw is the mean.
    """
    numbers = generator.standard_normal(shape)
    n_draws = shape[1]
    numbers -= numbers.mean(axis=1, keepdims=True)
    return numbers * np.sqrt(n_draws / max(n_draws - 1, 1))


def out_of_fold_noise(
    fit: Callable[[Any, np.ndarray], Reference], X: Any, y: np.ndarray, seed: int
) -> float:
    """Noise variance that makes a reference's predictive variance right on new rows.

    Parameters
    ----------
    fit : callable
        Takes rows and targets, gives the reference fitted to them.
    X, y
        Training rows, split into five folds.
    seed : int
        Of the folds.

    Returns
    -------
    float
        The mean squared error out of fold, less the mean variance of the draws there,
        which the reference predicts already; zero where these say more than that.
    """
    from sklearn.model_selection import KFold

    folds = KFold(min(5, len(y)), shuffle=True, random_state=seed)
    excess = sum(
        _excess(fit(take_rows(X, train), y[train]), X, y, test)
        for train, test in folds.split(y)
    )
    return max(excess / len(y), 0.0)


def _excess(fitted: Reference, X: Any, y: np.ndarray, test: np.ndarray) -> float:
    """Squared error in some rows, less the variance of the draws there, added up."""
    mean, variance, _ = fitted.mean_and_variance(take_rows(X, test))
    return float(np.sum((y[test] - mean) ** 2 - variance))


def _with_noise(reference: Any, variance: float) -> Any:
    """A reference that tells those fitted again how large the noise is."""
    told = copy(reference)
    told.settings = {**reference.settings, "noise_variance": variance}
    return told
