"""References of trees: Bayesian bootstrap forests, and fitted forests."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from clearwood._estimators import take_rows
from clearwood._numeric import spawn_generators
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_target, check_weight
from clearwood.exceptions import InputError
from clearwood.references.base import (
    ModelReference,
    Reference,
    calibrated_noise,
    fixed_seed,
    out_of_fold_noise,
)
from clearwood.references.tabular import (
    FLOAT32,
    as_numbers,
    check_cells,
    check_rows_of,
    choose_task,
    count_rows,
)

TREES_FOR_NOISE = 25
"""Most trees grown per fold to estimate the noise variance."""


class BayesianBootstrapForest(Reference):
    """Forest of trees grown on Bayesian bootstrap samples of the rows.

    If nothing but the rows is known of their distribution, its posterior gives them
    weights from a flat Dirichlet distribution (Rubin, 1981); the tree that CART grows
    on weighted rows is then a draw from the posterior of the tree that it would grow on
    the whole population (Taddy et al., 2015). Nothing else is random: trees consider
    all columns at every split.

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Training rows. Columns of text and categories are split on one category at a
        time; missing values are allowed.
    y : array-like of shape (n_samples,)
        Labels or values.
    n_draws : int, default=200
        Number of trees.
    task : {"regression", "classification"}, optional
        By default text, booleans, and integers of at most 20 distinct values are
        labels.
    min_samples_leaf : int, default=5
        Minimum number of rows in a leaf.
    noise_variance : float, optional
        By default the out-of-fold mean squared error less the variance of the trees
        there, with equal weight of all rows.
    sample_weight : array-like of shape (n_samples,), optional
        How many rows each row stands for, as parameters of the Dirichlet distribution;
        rows of weight 0 are left out. The out-of-fold noise ignores these weights, and
        a forest refitted to other rows has none.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BayesianBootstrapForest(X, y, n_draws=20, random_state=0)
    >>> forest.draws(X).shape
    (20, 150, 3)
    """

    features: FeatureSpace

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        n_draws: int = 200,
        task: str | None = None,
        min_samples_leaf: int = 5,
        noise_variance: float | None = None,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        name = "a Bayesian bootstrap forest"
        choose_task(task, ("regression", "classification"), name)
        task, target = check_rows_of(name, X, y, task)
        weight = _counts(sample_weight, len(target))
        if not weight.all():
            counted = np.flatnonzero(weight)
            X, weight = take_rows(X, counted), weight[counted]
            task, target = check_rows_of(name, X, target[counted], task)
        seed = fixed_seed(random_state)
        self.task: Any = task
        self.settings: dict[str, Any] = {
            "n_draws": n_draws,
            "task": task,
            "min_samples_leaf": min_samples_leaf,
            "noise_variance": noise_variance,
            "random_state": seed,
        }
        self.n_draws = n_draws
        self.description = f"Bayesian bootstrap forest, {n_draws} draws"
        self.features = features_of(X)
        self._make: Any = DecisionTreeRegressor
        if task == "classification":
            self.classes, target = np.unique(target, return_inverse=True)
            self._make = DecisionTreeClassifier
        rows = check_cells(
            as_numbers(X, self.features),
            name.capitalize(),
            self.features,
            largest=FLOAT32,
        )
        # scikit-learn grows trees in float32, and ignores gains below a fixed limit.
        self._columns = _centre_and_unit(rows)
        rows, values = _scaled(rows, self._columns), target
        if task == "regression":
            self._target = _centre_and_unit(target)
            values = _scaled(target, self._target)
        generators = spawn_generators(seed, n_draws)
        self._trees = [self._grow(rows, values, weight, g) for g in generators]
        self.learns_noise = noise_variance is None and task == "regression"
        if self.learns_noise:
            few = {**self.settings, "noise_variance": 0.0}
            few["n_draws"] = min(n_draws, TREES_FOR_NOISE)
            fit = partial(BayesianBootstrapForest, **few)
            noise_variance = out_of_fold_noise(fit, X, target, seed)
        self.noise = noise_variance or 0.0

    def _grow(
        self,
        rows: np.ndarray,
        target: np.ndarray,
        counts: np.ndarray,
        generator: np.random.Generator,
    ) -> Any:
        # Gamma weights are Dirichlet weights times a factor that trees ignore; counts
        # of one give exponential weights, the flat Dirichlet distribution.
        weight = generator.standard_gamma(counts)
        tree = self._make(
            min_samples_leaf=self.settings["min_samples_leaf"],
            random_state=int(generator.integers(2**31)),
        )
        return tree.fit(rows, target, sample_weight=weight)

    def draws(self, X: Any) -> np.ndarray:
        """Predictions of every tree; see :meth:`~clearwood.Reference.draws`."""
        rows = check_cells(
            as_numbers(X, self.features),
            "A Bayesian bootstrap forest",
            self.features,
            largest=FLOAT32,
        )
        draws = _draws_of_trees(self._trees, _scaled(rows, self._columns))
        return draws if self.classes is not None else _unscaled(draws, self._target)

    def _fit_again(self, X: Any, y: Any) -> BayesianBootstrapForest:
        return type(self)(X, y, **self.settings)


def _centre_and_unit(values: np.ndarray) -> Any:
    """Per column the mean, and a power of two above the largest distance from it."""
    known = np.where(np.isnan(values), 0.0, 1.0)
    # Divided before they are added: a sum of large numbers may overflow.
    share = known / np.maximum(known.sum(axis=0), 1.0)
    centre = (np.where(known > 0, values, 0.0) * share).sum(axis=0)
    apart = np.where(known > 0, np.abs(values / 2 - centre / 2), 0.0).max(axis=0)
    return centre, np.where(apart > 0, np.frexp(apart)[1] + 1, 0)


def _scaled(values: np.ndarray, by: Any) -> np.ndarray:
    centre, power = by
    scaled = np.ldexp(values / 2 - centre / 2, 1 - power)
    # Values outside the training range lie beyond all thresholds.
    return np.clip(scaled, -2.0, 2.0)


def _unscaled(values: np.ndarray, by: Any) -> np.ndarray:
    centre, power = by
    return centre + np.ldexp(values, power)


def _counts(sample_weight: Any, n_rows: int) -> np.ndarray:
    counts = check_weight(sample_weight, n_rows)
    # With a total far below one, all gamma weights of a tree would underflow to zero.
    if counts.sum() < 1:
        raise InputError(
            f"sample_weight sums to {counts.sum():g}, less than one row; weights are "
            "numbers of repetitions, for example with mean 1."
        )
    return counts


class ForestReference(ModelReference):
    """Trees of a fitted scikit-learn forest, one draw each.

    They are not draws from a posterior: their variance depends on how the forest
    randomizes them.

    Parameters
    ----------
    model : fitted forest
        Random forest or extra trees.
    X, y : optional
        In regression, its training rows, to estimate the noise variance: the
        out-of-bag mean squared error less the variance of the trees there. Without
        them the noise is unknown, and zero.
    noise_variance : float, optional
        The noise variance in place of this estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    >>> ForestReference(forest, X, y)
    <ForestReference: RandomForestRegressor, 20 trees as draws (not a posterior)>
    """

    is_posterior = False

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        noise_variance: float | None = None,
    ) -> None:
        self._keep(model, X, noise_variance=noise_variance)
        self.n_draws = len(model.estimators_)
        self.description = (
            f"{type(model).__name__}, {self.n_draws} trees as draws (not a posterior)"
        )
        if model.n_outputs_ > 1:
            raise InputError(
                f"The forest has {model.n_outputs_} targets; fit one forest per "
                "target, and make a reference of one."
            )
        self.task = "classification" if is_classifier(model) else "regression"
        if self.task == "classification":
            self.classes = np.asarray(model.classes_)
        elif noise_variance is None:
            self.learns_noise = not model.bootstrap
            noise_variance = None if y is None else self._noise_of(X, y)
        self.noise = noise_variance or 0.0

    def _noise_of(self, X: Any, y: Any) -> float:
        target = check_target(y, count_rows(X), numeric=True)
        if not self.model.bootstrap:
            fit = ForestReference(self.model, noise_variance=0.0).refit
            return out_of_fold_noise(fit, X, target, seed=0)
        out = np.ones((self.n_draws, len(target)), dtype=bool)
        for tree, rows in zip(out, self.model.estimators_samples_):
            if rows.max() >= len(target):
                raise InputError(
                    f"X and y have {len(target)} rows, fewer than the forest was "
                    "fitted to; pass the rows that it was fitted to, or noise_variance."
                )
            tree[rows] = False
        draws = np.where(out, self.draws(X), np.nan)[:, out.sum(axis=0) > 1]
        errors = (target[out.sum(axis=0) > 1] - np.nanmean(draws, axis=0)) ** 2
        return calibrated_noise(errors, np.nanvar(draws, axis=0))

    def draws(self, X: Any) -> np.ndarray:
        """Predictions of every tree; see :meth:`~clearwood.Reference.draws`."""
        rows = check_cells(
            self.features.encode(X),
            type(self.model).__name__,
            self.features,
            largest=FLOAT32,
        )
        return _draws_of_trees(self.model.estimators_, rows)


def _draws_of_trees(trees: list[Any], rows: np.ndarray) -> np.ndarray:
    ask = "predict_proba" if is_classifier(trees[0]) else "predict"
    # All trees read the same cells, which are checked once, in float32.
    cells, places = rows.astype(np.float32), range(len(trees))
    return np.stack([getattr(trees[i], ask)(cells, check_input=i == 0) for i in places])
