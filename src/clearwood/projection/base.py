"""Shared steps of projected trees and lists: from a reference to rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import as_generator, weighted_mean_and_error
from clearwood._numeric.progress import progress
from clearwood._tables.learning import accepts_tables, sample_of
from clearwood._words.labels import target_name
from clearwood.columns.schema import features_of
from clearwood.columns.validation import (
    check_excluded,
    check_table,
    interval_ends,
)
from clearwood.exceptions import InputError
from clearwood.projection.leaves import Leaves
from clearwood.projection.predictive_draws import (
    PosteriorMean,
    PredictiveDraws,
    accepts_missing,
    check_fit_rows,
    find_reference,
    predictive_draws,
)
from clearwood.projection.proxy_fidelity import (
    explained_share,
    remedy,
    warn_of_poor_fit,
)
from clearwood.projection.sizes import (
    FittedPath,
    SizePath,
    Words,
    complexity_of,
    fit_path,
    folds_of,
    losses_on,
)
from clearwood.projection.trees import leaves_of, value_bins
from clearwood.rules import RuleList, Training
from clearwood.rules.evaluation.tables import counted
from clearwood.search import Grid

N_FOLDS = 5
"""Number of folds for the choice of the size (section 3.2.2)."""


class ProjectedRules(BaseEstimator):
    """Base class of projected trees and rule lists: the method.

    A subclass finds trees, or lists, of all sizes in ``_project`` and prints them in
    ``_print``; each has ``boxes``, one less than rules: the first one that contains a
    row gives its rule, and the last rule applies if none does.
    """

    _task: str
    _sizes: tuple[str, str]
    """Names of the parameters of the requested and of the maximum size."""
    _words: Words
    _measures: dict[str, Callable[[Any], float]]
    """Complexity of a printed tree or list, by name."""

    reference: Any
    alpha: float | str | None
    complexity: str | Callable[[Any], float]
    tolerance: float
    min_samples_leaf: int
    exclude_features: Sequence[str | int]
    round_thresholds: bool
    verbose: bool
    random_state: Any

    _parameter_constraints: dict[str, Any] = {
        "reference": "no_validation",
        "alpha": [None, StrOptions({"cv"}), Interval(Real, 0, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "exclude_features": "no_validation",
        "round_thresholds": ["boolean"],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def _family(self) -> str:
        raise NotImplementedError

    def _project(
        self,
        target: PredictiveDraws,
        grid: Grid,
        weight: np.ndarray,
        generator: np.random.Generator,
    ) -> Sequence[Any]:
        """Trees or lists of all sizes, the smallest first."""
        raise NotImplementedError

    def _printed(self, proxy: Any, training: Training) -> Any:
        """A tree or list as it is printed."""
        raise NotImplementedError

    def _print(
        self,
        path: Sequence[Any],
        chosen: int,
        predictive: PredictiveDraws,
        training: Training,
    ) -> RuleList:
        """Store those of all sizes, and return the rules of the chosen one."""
        raise NotImplementedError

    @property
    def _proxies(self) -> tuple[Any, ...]:
        """Stored proxy of each size of the path, for predictions."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = accepts_missing(self.reference)
        return tags

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Project the reference.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows on which the proxy imitates the reference: the reference's training
            rows, or others from the distribution of interest. Or a table read in
            blocks: the path of Parquet files, a function that returns pandas frames, or
            a Dask collection. Of more than 200,000 rows the proxy is found on a random
            sample of that size, and the statistics of its rules are from all.
        y : array-like of shape (n_samples,) or str, optional
            Observed targets. An unfitted reference is fitted to them; a fitted one is
            not changed, and ``y`` only serves to evaluate the proxy and to choose its
            size.
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row for the proxy, and for the choice of its size: the
            neighbourhood pi of equation (1). A reference that is fitted here uses them,
            too; where it is refitted to evaluate sizes, its rows have equal weights.

        Returns
        -------
        self
        """
        self._check_sizes()
        name, rows = target_name(y), (X, y, sample_weight)
        sample, table = sample_of(*rows)
        X, y, weight = check_fit_rows(self, *sample, self._task)
        generator = as_generator(self.random_state)
        self.reference_ = find_reference(
            self.reference, X, y, weight, self._task, generator
        )
        if self.reference_.classes is not None:
            self.classes_ = np.asarray(self.reference_.classes)
        labels = None if y is None else self._positions(y)
        predictive = predictive_draws(self.reference_, X)
        training = self._training(X, labels, weight, predictive)
        path = self._project(self._target(predictive), training.grid, weight, generator)
        path, self.size_path_ = self._evaluate_sizes(
            path, predictive, X, labels, training, generator
        )
        chosen = self.size_path_.size.tolist().index(self._choose_size())
        rules = self._print(path, chosen, predictive, training).with_metadata(
            model=self.reference_.description, method="projection"
        )
        self.rules_ = rules.with_target(name)
        self.leaves_ = self._leaves(predictive, training, self.rules_)
        predicted = self.rules_.answers_encoded(training.encoded)
        self.fidelity_ = explained_share(predictive.mean, predicted, weight)
        # A single rule is constant, as requested.
        if self._max_size > 1:
            warning = warn_of_poor_fit(
                self.fidelity_, predictive.mean, predicted, labels, training.classes,
                self.min_samples_leaf,
                remedy(self, int(self.size_path_.size[chosen])),
            )  # fmt: skip
            if warning:
                self.rules_ = self.rules_.with_metadata(warning=warning)
        if table is not None:
            names = getattr(self, "feature_names_in_", None)
            model = PosteriorMean(self.reference_, names)
            self.rules_ = counted(self.rules_, model, sample, rows, table.n_rows).rules
        return self

    def _check_sizes(self) -> None:
        size = getattr(self, self._sizes[0])
        if self.alpha is not None and size != "auto":
            raise InputError(
                f"alpha={self.alpha!r} chooses the size, but {self._sizes[0]}={size} "
                "sets it; pass one of them only."
            )

    @property
    def _max_size(self) -> int:
        size, largest = (getattr(self, name) for name in self._sizes)
        return int(largest if size == "auto" else size)

    def _positions(self, y: np.ndarray) -> np.ndarray:
        """Observed targets as numbers."""
        raise NotImplementedError

    def _training(
        self,
        X: Any,
        labels: np.ndarray | None,
        weight: np.ndarray,
        predictive: PredictiveDraws,
    ) -> Training:
        """Rows in bins of their values."""
        features = features_of(X)
        encoded = features.encode(X)
        features = features.with_kinds(encoded, X)
        classes = self.reference_.classes
        predicted = predictive.mean
        return Training(
            encoded,
            predicted,
            labels,
            weight,
            predicted if classes is None else predicted.argmax(axis=1),
            value_bins(features, encoded),
            () if classes is None else tuple(np.asarray(classes).tolist()),
            check_excluded(self.exclude_features, features, features.names),
        )

    def _target(self, predictive: PredictiveDraws) -> PredictiveDraws:
        """Target of the structure: all draws as one."""
        return predictive.pooled

    def _evaluate_sizes(
        self,
        path: Sequence[Any],
        predictive: PredictiveDraws,
        X: Any,
        labels: np.ndarray | None,
        training: Training,
        generator: np.random.Generator,
    ) -> tuple[Sequence[Any], SizePath]:
        """Evaluate each size on the training rows and, if it is free, on held-out rows.

        The latter also determine ``alpha``, where requested (section 3.2.2). Sizes that
        a simpler one equals are dropped.
        """
        weight, target = training.weight, self._target(predictive)
        path, _, sizes = self._fit_path(path, target, training.grid, weight, training)
        self.alpha_ = None if isinstance(self.alpha, str) else self.alpha
        is_free = getattr(self, self._sizes[0]) == "auto" and self.alpha_ is None
        if not is_free or len(path) == 1:
            return path, sizes
        alphas = sizes.alphas
        loss = np.empty((len(path), len(training)))
        loss_by_alpha = np.empty((len(alphas), len(training)))
        folds = self._held_out_losses(X, labels, training, predictive, generator)
        for test, fold_path, losses in folds:
            loss[:, test] = losses[fold_path.up_to(sizes.complexity)]
            loss_by_alpha[:, test] = losses[fold_path.best_at(alphas)]
        if self.alpha == "cv":
            mean, _ = weighted_mean_and_error(loss_by_alpha, weight)
            self.alpha_ = float(alphas[mean.argmin()])
        mean, error = weighted_mean_and_error(loss, weight)
        _, to_best = weighted_mean_and_error(loss - loss[mean.argmin()], weight)
        return path, replace(
            sizes,
            held_out=mean,
            standard_error=error,
            error_to_best=to_best,
            evaluated_on="labels" if self._uses_labels(labels) else "reference",
            tolerance=self.tolerance if self.alpha is None else None,
        )

    def _fit_path(
        self,
        path: Sequence[Any],
        target: PredictiveDraws,
        grid: Grid,
        weight: np.ndarray,
        training: Training,
    ) -> FittedPath:
        """Those of a path that no simpler one equals, with their leaves."""
        complexity = np.array([len(proxy.boxes) + 1 for proxy in path])
        measure = self.complexity
        name = getattr(measure, "__name__", str(measure))
        if measure != "size":
            if isinstance(measure, str):
                measure = self._measures[measure]
            printed = (self._printed(proxy, training) for proxy in path)
            complexity = np.array([complexity_of(proxy, measure) for proxy in printed])
        family = self._family()
        return fit_path(path, complexity, name, target, grid, weight, family)

    def _uses_labels(self, labels: np.ndarray | None) -> bool:
        """Whether held-out observations evaluate the sizes, and not the reference.

        A reference that cannot be refitted has seen all observations: then only the
        agreement of the proxy with it is evaluated.
        """
        return labels is not None and self.reference_.can_refit

    def _held_out_losses(
        self,
        X: Any,
        labels: np.ndarray | None,
        training: Training,
        predictive: PredictiveDraws,
        generator: np.random.Generator,
    ) -> Iterator[tuple[np.ndarray, SizePath, np.ndarray]]:
        """Per fold its rows, the sizes found on all others, and their losses."""
        classes = self.reference_.classes
        by_class = None if classes is None else labels
        fold = folds_of(len(training), N_FOLDS, generator, by_class)
        refits = None
        if labels is not None and self._uses_labels(labels):
            y = labels if classes is None else np.asarray(classes)[labels]
            refits = self.reference_.refits(X, y, fold)
        folds = progress(range(N_FOLDS), N_FOLDS, "folds", self.verbose)
        for number in folds:
            rows, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            fitted, held_out = predictive.take(rows), predictive.take(test)
            weight, grid = training.weight[rows], training.grid.take(rows)
            truth = None
            if labels is not None and refits is not None:
                refitted = next(refits)
                fitted = predictive_draws(refitted, take_rows(X, rows))
                # As the rules below, so that both are evaluated alike.
                held_out = predictive_draws(refitted, take_rows(X, test))
                held_out = held_out.smoothed(len(rows), fitted.baseline(weight))
                truth = labels[test]
            target = self._target(fitted)
            path = self._project(target, grid, weight, generator)
            path, leaves, sizes = self._fit_path(path, target, grid, weight, training)
            leaf = [leaves_of(proxy, training.grid.take(test)) for proxy in path]
            baseline = fitted.baseline(weight)
            leaves = [params.smoothed(len(rows), baseline) for params in leaves]
            if truth is None:
                held_out = self._target(held_out)
            yield test, sizes, losses_on(leaves, leaf, held_out, truth)

    def _choose_size(self) -> int:
        if self.alpha_ is not None:
            return self.size_path_.best_by_utility(self.alpha_)
        if self.size_path_.held_out is None:
            return int(self.size_path_.size[-1])
        return self.size_path_.smallest_adequate()

    def _leaves(
        self, predictive: PredictiveDraws, training: Training, rules: RuleList
    ) -> Leaves:
        leaf = rules.apply_encoded(training.encoded)
        share = training.weight / training.weight.sum()
        return Leaves.from_predictive(predictive, leaf, share, self._family())

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(check_table(self, X, reset=False))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Prediction interval of an observation, or interval of a class probability.

        In regression the interval is for an observation: it includes the variation of
        the reference's draws, their noise, and what the rule leaves out. For classes it
        is for each class's mean probability in the rule, and has zero width where the
        reference has one draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_classes, 2)
            Lower and upper ends.
        """
        check_is_fitted(self, "rules_")
        ends = interval_ends(coverage)
        predictive = self._predictive(check_table(self, X, reset=False))
        return np.stack([predictive.quantile(end) for end in ends], axis=-1)

    def _predictive(self, X: Any) -> PredictiveDraws:
        """Predictive distributions of rows under the rules, draw by draw."""
        encoded = self.rules_.encode(X)
        return self.leaves_.predictive(self.rules_.apply_encoded(encoded))

    def predict_draws(self, X: Any) -> np.ndarray:
        """Means, rates or class probabilities under each posterior draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        return self._predictive(check_table(self, X, reset=False)).draws
