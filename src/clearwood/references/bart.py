"""Bayesian additive regression trees (BART), sampled by stochtree."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError
from clearwood.references.bart_counts import (
    GROW_FROM_ROOT,
    CountForests,
    check_counts,
    sample_counts,
)
from clearwood.references.base import Reference, fixed_seed
from clearwood.references.checks import check_draws
from clearwood.references.tabular import (
    as_numbers,
    check_cells,
    check_rows_of,
    choose_task,
)

FOREST = ("alpha", "beta", "min_samples_leaf", "max_depth", "sigma2_leaf_init")
"""Settings of the prior over trees; stochtree ignores unknown ones."""


class BartReference(Reference):
    """Posterior draws of Bayesian additive regression trees; needs the extra ``bart``.

    The chain starts from 10 sweeps of grow-from-root. Two classes have a probit model,
    more than two one each, against the rest, with probabilities normalized to sum to
    one; ordered classes have one model with a complementary log-log link. Counts have a
    Poisson distribution whose log rate is a sum of trees (Murray, 2021).

    Parameters
    ----------
    X : array-like or frame of shape (n_samples, n_features)
        Training rows, without missing values in numeric columns. Columns of text and
        categories are split on one category at a time.
    y : array-like of shape (n_samples,)
        Labels, values or counts.
    n_draws : int, default=500
        Number of draws kept.
    task : {"regression", "classification", "ordinal", "counts"}, optional
        "ordinal": ordered classes, that is numbers or pandas' ordered categories. By
        default text, booleans, and integers of at most 20 distinct values are labels.
    n_trees : int, default=200
        Number of trees of each draw.
    thin : int, default=1
        Keep every ``thin``-th draw of the chain.
    forest : dict, optional
        Settings of the prior over trees, as in stochtree: ``alpha``, ``beta``,
        ``min_samples_leaf``, ``max_depth`` and, not for counts, ``sigma2_leaf_init``.
        For counts, each event adds a row to its leaf.
    exposure : array-like of shape (n_samples,), optional
        For counts, the time, area or number at risk of each row, by default 1. Draws
        are rates per unit of exposure; project them with ``events / exposure`` as y and
        the exposure as ``sample_weight``. Such a reference is not refitted in folds.
    classes : sequence, optional
        Order of ordinal classes, in place of that of y.
    random_state : int, Generator, RandomState or None, default=None
        Seed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> BartReference(X, y, n_draws=20, n_trees=10, random_state=0)
    <BartReference: BART, 20 draws>
    """

    features: FeatureSpace
    _has_exposure = False

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        n_draws: int = 500,
        task: str | None = None,
        n_trees: int = 200,
        thin: int = 1,
        forest: dict[str, Any] | None = None,
        exposure: Any = None,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        tasks = ("regression", "classification", "ordinal", "counts")
        choose_task(task, tasks, "BART")
        task, target = check_rows_of("BART", X, y, task)
        known = FOREST[:-1] if task == "counts" else FOREST
        unknown = sorted(set(forest or {}) - set(known))
        if unknown:
            raise InputError(
                f"forest has no parameter {unknown[0]!r}; expected one of "
                f"{', '.join(known)}."
            )
        if exposure is not None and task != "counts":
            raise InputError("exposure is for task='counts' only.")
        self._has_exposure = exposure is not None
        if classes is not None and task != "ordinal":
            raise InputError(
                "classes sets an order, which is used by task='ordinal' only."
            )
        order = _order_of(y, target, classes) if task == "ordinal" else None
        seed = fixed_seed(random_state)
        self.settings: dict[str, Any] = {
            "n_draws": n_draws,
            "task": task,
            "n_trees": n_trees,
            "thin": thin,
            "forest": forest,
            # The labels of a fold alone do not define an order.
            "classes": order,
            "random_state": seed,
        }
        self.task: Any = "classification" if task == "ordinal" else task
        self.n_draws, self.description = n_draws, f"BART, {n_draws} draws"
        self.features = features_of(X)
        rows = self._numbers(X)
        self._models: list[Any]
        if task == "counts":
            _import_stochtree()
            exposure = check_counts(target, exposure)
            trees = {"num_trees": n_trees, **(forest or {})}
            chain = n_draws, thin, seed % 2**30
            self._models = [sample_counts(rows, target, exposure, trees, *chain)]
            return
        if task == "regression":
            self._models = [self._sample(rows, target, "continuous", "identity", seed)]
            self.noise = self._models[0].global_var_samples
            return
        self.classes = np.unique(target)
        if order is not None:
            self.classes = order[np.isin(order, target)]
        codes = np.argmax(target[:, None] == self.classes, axis=1)
        if task == "ordinal":
            self._models = [self._sample(rows, codes, "ordinal", "cloglog", seed)]
            return
        several = range(len(self.classes)) if len(self.classes) > 2 else [1]
        self._models = [
            self._sample(rows, (codes == k).astype(int), "binary", "probit", seed + k)
            for k in several
        ]

    def _numbers(self, X: Any) -> np.ndarray:
        rows = as_numbers(X, self.features)
        largest = float(np.finfo(np.float64).max)
        return check_cells(
            rows, "BART", self.features, largest=largest, may_be_empty=False
        )

    def _sample(
        self, rows: np.ndarray, target: np.ndarray, outcome: str, link: str, seed: int
    ) -> Any:
        stochtree = _import_stochtree()
        chain = {
            "random_seed": seed % 2**30,
            "keep_every": self.settings["thin"],
            "outcome_model": stochtree.OutcomeModel(outcome, link),
            "sample_sigma2_global": link == "identity",
        }
        trees = {
            "num_trees": self.settings["n_trees"],
            "sample_sigma2_leaf": link != "cloglog",
            **(self.settings["forest"] or {}),
        }
        model = stochtree.BARTModel()
        model.sample(
            rows,
            target,
            num_gfr=GROW_FROM_ROOT,
            num_mcmc=self.n_draws,
            general_params=chain,
            mean_forest_params=trees,
        )
        return model

    def draws(self, X: Any) -> np.ndarray:
        """Means, probabilities or rates; see :meth:`~clearwood.Reference.draws`."""
        rows = self._numbers(X)
        if self.task == "counts":
            return check_draws(self._models[0].rates(rows), self, len(rows))
        scale = "linear" if self.task == "regression" else "probability"
        predicted = [m.predict(rows, terms="y_hat", scale=scale) for m in self._models]
        if self.task == "regression":
            draws = predicted[0].T
        elif self.settings["task"] == "ordinal":
            draws = predicted[0].transpose(2, 0, 1)
        elif len(predicted) == 1:
            draws = np.stack([1 - predicted[0].T, predicted[0].T], axis=2)
        else:
            # In the far tail all probabilities may be zero.
            draws = np.stack([p.T for p in predicted], axis=2)
            draws = draws + np.finfo(np.float64).tiny
            draws /= draws.sum(axis=2, keepdims=True)
        return check_draws(draws, self, len(rows))

    @property
    def can_refit(self) -> bool:
        """Whether it can be fitted to other rows: their exposures would be unknown."""
        return not self._has_exposure

    def _fit_again(self, X: Any, y: Any) -> BartReference:
        return type(self)(X, y, **self.settings)

    # stochtree's trees are C++ objects, and are pickled as text.

    def __getstate__(self) -> dict[str, Any]:
        texts = [model.to_json() for model in self._models]
        return {**self.__dict__, "_models": texts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._models = []
        for text in state["_models"]:
            if self.task == "counts":
                self._models.append(CountForests.from_json(text))
                continue
            model = _import_stochtree().BARTModel()
            model.from_json(text)
            self._models.append(model)


def _order_of(y: Any, target: np.ndarray, classes: Any) -> np.ndarray | None:
    """Labels in the given order; None for numbers, which are ordered."""
    dtype: Any = getattr(y, "dtype", None)
    if classes is None and getattr(dtype, "ordered", False):
        classes = dtype.categories
    if classes is not None:
        order = np.asarray(classes)
        unknown = target[~np.isin(target, order)].tolist()
        if unknown:
            raise InputError(
                f"y holds {unknown[0]!r}, which is none of the classes in their order: "
                f"{', '.join(map(repr, order.tolist()))}."
            )
        return order
    if target.dtype.kind not in "iufb":
        raise InputError(
            "The order of the classes is unknown. For task='ordinal', pass y as "
            "numbers or as a pandas Series of ordered categories, or pass classes, in "
            "order."
        )
    return None


def _import_stochtree() -> Any:
    try:
        import stochtree
    except ImportError:
        raise InputError(
            "BART needs stochtree; install clearwood[bart], or pass None for a "
            "Bayesian bootstrap forest."
        ) from None
    return stochtree
