"""Shared steps of projected trees and lists: from a reference to rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any

import numpy as np

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import as_generator
from clearwood._numeric.progress import progress
from clearwood._tables.learning import sample_of
from clearwood._words.labels import target_name
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_excluded
from clearwood.exceptions import InputError
from clearwood.projection.evaluation.proxy_fidelity import (
    explained_share,
    remedy,
    warn_of_poor_fit,
)
from clearwood.projection.leaves import Leaves
from clearwood.projection.predictive_draws import (
    PredictiveDraws,
    accepts_missing,
    check_fit_rows,
    find_reference,
    predictive_draws,
    targets_of,
)
from clearwood.projection.sizes import (
    FittedPath,
    SizePath,
    Words,
    complexity_of,
    fit_path,
    folds_of,
    judged,
    losses_on,
)
from clearwood.projection.tasks import ProjectedPredictions
from clearwood.projection.trees import leaves_of, value_bins
from clearwood.rules import RuleList, Training
from clearwood.rules.evaluation.tables import counted
from clearwood.search import Grid

LEAST_ROWS = 2, 10
"""Minimum numbers of rows of a leaf among which held-out rows choose."""

N_FOLDS = 5
"""Number of folds for the choice of the size (section 3.2.2)."""


class ProjectedRules(ProjectedPredictions, Estimator):
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
    min_samples_leaf: int | str
    exclude_features: Sequence[str | int]
    round_thresholds: bool
    verbose: bool
    random_state: Any

    _parameter_constraints: dict[str, Any] = {
        "reference": "no_validation",
        "alpha": [None, StrOptions({"cv"}), Interval(Real, 0, None, closed="left")],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "min_samples_leaf": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
        ],
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
        min_samples_leaf: int,
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
        path, self.size_path_ = self._find_path(
            predictive, X, labels, training, generator
        )
        chosen = self.size_path_.chosen(self.alpha_)
        rules = self._print(path, chosen, predictive, training).with_metadata(
            model=self.reference_.description, method="projection"
        )
        self.rules_ = rules.with_target(name)
        observed = targets_of(self.reference_, training)
        self.leaves_ = self._leaves(predictive, training, self.rules_, observed)
        predicted = self._completed(predictive, training, labels)
        self.fidelity_ = explained_share(predictive.mean, predicted, weight)
        # A single rule is constant, as requested.
        if self._max_size > 1:
            warning = warn_of_poor_fit(
                self.fidelity_, predictive.mean, predicted, labels, training.classes,
                self.min_samples_leaf_,
                remedy(self, int(self.size_path_.size[chosen])),
            )  # fmt: skip
            if warning:
                self.rules_ = self.rules_.with_metadata(warning=warning)
        if table is not None:
            # Its probabilities would change the measure of fidelity.
            names = getattr(self, "feature_names_in_", None)
            predict = self.reference_.predict
            model = SimpleNamespace(predict=predict, feature_names_in_=names)
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

    @property
    def _holds_out(self) -> bool:
        """Whether held-out rows choose the size."""
        size = getattr(self, self._sizes[0])
        return size == "auto" and (self.alpha is None or isinstance(self.alpha, str))

    @property
    def _least_rows(self) -> tuple[int, ...]:
        """Minimum numbers of rows of a leaf to be tried."""
        if self.min_samples_leaf != "auto":
            return (int(self.min_samples_leaf),)
        return LEAST_ROWS if self._holds_out else LEAST_ROWS[:1]

    def _positions(self, y: np.ndarray) -> np.ndarray:
        """Observed targets as numbers."""
        raise NotImplementedError

    def _completed(self, own: PredictiveDraws, training: Training, labels: Any) -> Any:
        """Predictions of the rows, after completing rules that show their draws."""
        return self.rules_.answers_encoded(training.encoded)

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

    def _find_path(
        self,
        predictive: PredictiveDraws,
        X: Any,
        labels: np.ndarray | None,
        training: Training,
        generator: np.random.Generator,
    ) -> tuple[Sequence[Any], SizePath]:
        """Project, and evaluate each size; if it is free, also on held-out rows.

        The latter also determine ``alpha``, where requested (section 3.2.2), and the
        minimum number of rows of a leaf. Sizes that a simpler one equals are dropped.
        """
        rows = self._target(predictive), training.grid, training.weight
        fitted = {
            least: self._fit_path(*rows, training, generator, least)
            for least in self._least_rows
        }
        self.alpha_ = None if isinstance(self.alpha, str) else self.alpha
        self.min_samples_leaf_, best = min(fitted), []
        path, _, sizes = fitted[self.min_samples_leaf_]
        if not self._holds_out or len(path) == 1:
            return path, sizes
        folds = list(self._held_out_losses(X, labels, training, predictive, generator))
        for least, (path, _, sizes) in fitted.items():
            parts = [(test, *found[least]) for test, found in folds]
            sizes, alpha = judged(sizes, parts, training.weight)
            best.append((sizes.least_loss, -least, path, sizes, alpha))
        # Of equal ones the larger leaves.
        _, least, path, sizes, alpha = min(best, key=lambda found: found[:2])
        self.min_samples_leaf_ = -least
        self.alpha_ = alpha if self.alpha == "cv" else None
        return path, replace(
            sizes,
            evaluated_on="labels" if self._uses_labels(labels) else "reference",
            tolerance=self.tolerance if self.alpha is None else None,
        )

    def _fit_path(
        self,
        target: PredictiveDraws,
        grid: Grid,
        weight: np.ndarray,
        training: Training,
        generator: np.random.Generator,
        min_samples_leaf: int,
    ) -> FittedPath:
        """Those of a path that no simpler one equals, with their leaves."""
        path = self._project(target, grid, weight, generator, min_samples_leaf)
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
    ) -> Iterator[tuple[np.ndarray, dict[int, tuple[SizePath, np.ndarray]]]]:
        """Per fold its rows, and the sizes found on all others with their losses."""
        classes = self.reference_.classes
        by_class = None if classes is None else labels
        fold = folds_of(len(training), N_FOLDS, generator, by_class)
        refits = None
        if labels is not None and self._uses_labels(labels):
            y = labels if classes is None else np.asarray(classes)[labels]
            refits = self.reference_.refits(X, y, fold)
        for number in progress(range(N_FOLDS), N_FOLDS, "folds", self.verbose):
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
            target, baseline = self._target(fitted), fitted.baseline(weight)
            if truth is None:
                held_out = self._target(held_out)
            found = {}
            for least in self._least_rows:
                path, leaves, sizes = self._fit_path(
                    target, grid, weight, training, generator, least
                )
                leaf = [leaves_of(proxy, training.grid.take(test)) for proxy in path]
                leaves = [params.smoothed(len(rows), baseline) for params in leaves]
                found[least] = (
                    sizes,
                    losses_on(leaves, leaf, held_out, truth, training.weight[test]),
                )
            yield test, found

    def _leaves(
        self,
        predictive: PredictiveDraws,
        training: Training,
        rules: RuleList,
        observed: np.ndarray | None = None,
    ) -> Leaves:
        leaf = rules.apply_encoded(training.encoded)
        share = training.weight / training.weight.sum()
        leaves = Leaves.from_predictive(predictive, leaf, share, self._family())
        return leaves.with_observed(observed, leaf, training.weight)
