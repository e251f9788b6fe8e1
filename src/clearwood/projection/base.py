"""What projected trees share: the way from a reference to a tree, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from clearwood._columns import features_of
from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import as_generator, weighted_mean_and_error
from clearwood._numeric.progress import progress
from clearwood._validation import check_forbidden, check_table, interval_ends
from clearwood.exceptions import InputError
from clearwood.projection.answers import (
    Answers,
    ask,
    find_reference,
    reads_gaps,
    rows_that_count,
)
from clearwood.projection.leaves import Leaves, expected_log_likelihood
from clearwood.projection.sizes import SizePath, folds_of
from clearwood.projection.trees import (
    leaves_of,
    project_trees,
    projection_problem,
    value_bins,
)
from clearwood.references import Reference
from clearwood.rules import RuleList, Training, Tree, print_tree
from clearwood.search import Grid
from clearwood.search.trees.nodes import GrownNode

N_FOLDS = 5
"""Parts of the rows, each held out once, where the size is chosen (section 3.2.2)."""


class ProjectedTree(BaseEstimator):
    """What regressor and classifier share: the method."""

    _task: str
    reference: Any
    max_leaf_nodes: int | str
    alpha: float | None
    most_leaf_nodes: int
    draws: str
    refine: bool
    tolerance: float
    min_rows: int
    forbidden: Sequence[str | int]
    round_cuts: bool
    verbose: bool
    random_state: Any

    _parameter_constraints: dict[str, Any] = {
        "reference": "no_validation",
        "max_leaf_nodes": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
        ],
        "alpha": [None, Interval(Real, 0, None, closed="left")],
        "most_leaf_nodes": [Interval(Integral, 1, None, closed="left")],
        "draws": [StrOptions({"mean", "shared", "each"})],
        "refine": ["boolean"],
        "tolerance": [Interval(Real, 0, None, closed="left")],
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "forbidden": "no_validation",
        "round_cuts": ["boolean"],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def _family(self) -> str:
        """What a leaf says: the proxy's likelihood."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = reads_gaps(self.reference)
        return tags

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Project the reference onto a tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows on which the tree shall say what the reference says: the reference's
            training rows, or others like those that it will be asked about.
        y : array-like of shape (n_samples,), optional
            What was observed. A reference that is not fitted yet learns from it; a
            fitted one is not changed, and ``y`` only tells how good the tree is, and
            how large it should be.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts: the neighbourhood pi of equation (1).

        Returns
        -------
        self
        """
        if self.alpha is not None and self.max_leaf_nodes != "auto":
            raise InputError(
                f"alpha={self.alpha} chooses the size, but max_leaf_nodes="
                f"{self.max_leaf_nodes} says it; give one of them."
            )
        target_name = getattr(y, "name", None)
        X, y, weight = rows_that_count(self, X, y, sample_weight, self._task)
        generator = as_generator(self.random_state)
        self.reference_ = find_reference(
            self.reference, X, y, weight, self._task, generator
        )
        if self.reference_.classes is not None:
            self.classes_ = np.asarray(self.reference_.classes)
        labels = None if y is None else self._positions(y)
        answers = ask(self.reference_, X)
        training = self._training(X, labels, weight, answers)
        path = self._project(self._followed(answers), training.grid, weight)
        self.size_path_ = self._judge(path, answers, X, labels, training, generator)
        chosen = self._choose_size(path)
        self.trees_ = tuple(
            print_tree(tree, training, round_cuts=self.round_cuts) for tree in path
        )
        self.tree_ = self.trees_[chosen]
        rules = self.tree_.to_rules().with_about(
            model=self.reference_.description, method="projection"
        )
        self.rules_ = rules.with_target(str(target_name)) if target_name else rules
        self.leaves_ = self._leaves(answers, training, self.rules_)
        self.draw_trees_ = None
        if self.draws == "each":
            self.draw_trees_ = self._tree_per_draw(answers, training, path[chosen])
        return self

    def _positions(self, y: np.ndarray) -> np.ndarray:
        """What was observed, as numbers."""
        return y

    def _training(
        self,
        X: Any,
        labels: np.ndarray | None,
        weight: np.ndarray,
        answers: Answers,
    ) -> Training:
        """The rows, in bins of their values."""
        features = features_of(X)
        encoded = features.encode(X)
        classes = self.reference_.classes
        said = answers.mean
        return Training(
            encoded,
            said,
            labels,
            weight,
            said if classes is None else said.argmax(axis=1),
            value_bins(features, encoded),
            () if classes is None else tuple(np.asarray(classes).tolist()),
            check_forbidden(self.forbidden, features, features.names),
        )

    def _followed(self, answers: Answers) -> Answers:
        """What the structure is fitted to: all draws, or these as one."""
        return answers if self.draws == "shared" else answers.together

    def _project(
        self, said: Answers, grid: Grid, weight: np.ndarray
    ) -> list[GrownNode]:
        """Trees of all sizes."""
        problem = projection_problem(said, self._family(), grid, weight, self.min_rows)
        return project_trees(problem, self._most_leaves, refine=self.refine)

    @property
    def _most_leaves(self) -> int:
        if self.max_leaf_nodes == "auto":
            return self.most_leaf_nodes
        return int(self.max_leaf_nodes)

    def _judge(
        self,
        path: list[GrownNode],
        answers: Answers,
        X: Any,
        labels: np.ndarray | None,
        training: Training,
        generator: np.random.Generator,
    ) -> SizePath:
        """What each size says of the reference and, where it is free, of other rows."""
        said, family = self._followed(answers), self._family()
        share = training.weight / training.weight.sum()
        leaves = (leaves_of(tree, training.grid) for tree in path)
        likelihood = np.array(
            [Leaves.of(said, leaf, share, family).log_likelihood for leaf in leaves]
        )
        own = float((said.negative_entropy @ share).mean())
        sizes = np.array([tree.n_leaves for tree in path])
        free = self.max_leaf_nodes == "auto" and self.alpha is None
        if not free or len(path) == 1:
            return SizePath(sizes, likelihood, own - likelihood)
        lost, judged_by = self._hold_out(X, labels, training, answers, generator)
        lost, weight = lost[sizes - 1], training.weight
        mean, error = weighted_mean_and_error(lost, weight)
        _, to_best = weighted_mean_and_error(lost - lost[mean.argmin()], weight)
        return SizePath(
            sizes, likelihood, own - likelihood, mean, error, to_best, judged_by,
            self.tolerance,
        )  # fmt: skip

    def _hold_out(
        self,
        X: Any,
        labels: np.ndarray | None,
        training: Training,
        answers: Answers,
        generator: np.random.Generator,
    ) -> tuple[np.ndarray, str]:
        """How much worse than the reference trees are on rows they did not see.

        The reference is fitted anew to the rows that are not held out, where it can
        be: else it has seen all observations, and only how well the tree follows it is
        judged.
        """
        is_class = self.reference_.classes is not None
        fold = folds_of(len(training), N_FOLDS, generator, labels if is_class else None)
        lost = np.empty((self._most_leaves, len(training)))
        by_labels = labels is not None and self.reference_.can_refit
        folds = progress(range(N_FOLDS), N_FOLDS, "held-out parts", self.verbose)
        for number in folds:
            rows, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            fitted, other = answers.take(rows), answers.take(test)
            truth = None
            if labels is not None and by_labels:
                refitted = self._refitted(X, labels, rows)
                fitted = ask(refitted, take_rows(X, rows))
                other = ask(refitted, take_rows(X, test))
                truth = labels[test]
            for size, gap in self._gaps(training, rows, test, fitted, other, truth):
                # Where no larger tree is found, the largest stands for it.
                lost[size - 1 :, test] = gap
        return lost, "labels" if by_labels else "reference"

    def _gaps(
        self,
        training: Training,
        rows: np.ndarray,
        test: np.ndarray,
        fitted: Answers,
        other: Answers,
        truth: np.ndarray | None,
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Per size, how much less likely held-out rows are than under the reference."""
        weight, grid = training.weight[rows], training.grid.take(rows)
        share, held_out = weight / weight.sum(), training.grid.take(test)
        said, target = self._followed(fitted), self._followed(other)
        # What the reference says is the same for trees of all sizes.
        own = target.negative_entropy if truth is None else other.log_density(truth)
        for tree in self._project(said, grid, weight):
            leaves = Leaves.of(said, leaves_of(tree, grid), share, self._family())
            leaves = leaves.softened(len(rows))
            there = leaves_of(tree, held_out)
            if truth is not None:
                says = leaves.answers(there)
                yield tree.n_leaves, own - says.log_density(truth)
            else:
                likely = expected_log_likelihood(leaves, target, there)
                yield tree.n_leaves, (own - likely).mean(axis=0)

    def _refitted(self, X: Any, labels: np.ndarray, rows: np.ndarray) -> Reference:
        y = labels[rows]
        if self.reference_.classes is not None:
            y = np.asarray(self.reference_.classes)[y]
        return self.reference_.refit(take_rows(X, rows), y)

    def _choose_size(self, path: list[GrownNode]) -> int:
        """Position of the size that was asked for, or is chosen."""
        sizes = [tree.n_leaves for tree in path]
        if self.alpha is not None:
            return sizes.index(self.size_path_.best_by_utility(self.alpha))
        if self.size_path_.held_out is None:
            return len(path) - 1
        return sizes.index(self.size_path_.fewest_leaves())

    def _leaves(self, answers: Answers, training: Training, rules: RuleList) -> Leaves:
        leaf = rules.apply_encoded(training.encoded)
        share = training.weight / training.weight.sum()
        return Leaves.of(answers, leaf, share, self._family())

    def _tree_per_draw(
        self, answers: Answers, training: Training, tree: GrownNode
    ) -> tuple[tuple[Tree, Leaves], ...]:
        """Of each draw a tree of its own, as large as the one that is printed."""
        found = []
        numbers = progress(
            range(answers.n_draws), answers.n_draws, "draws", self.verbose
        )
        for number in numbers:
            said = answers.draw(number)
            problem = projection_problem(
                said, self._family(), training.grid, training.weight, self.min_rows
            )
            grown = project_trees(problem, tree.n_leaves, refine=self.refine)[-1]
            printed = print_tree(grown, training, round_cuts=self.round_cuts)
            leaves = self._leaves(said, training, printed.to_rules())
            found.append((printed, leaves))
        return tuple(found)

    def predict(self, X: Any) -> np.ndarray:
        """What the printed tree says.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(check_table(self, X, reset=False))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """What the leaf says an observation, or a class's probability, lies between.

        In regression the interval holds an observation: what the draws of the
        reference disagree on and the noise that they see, with what the leaf leaves
        out. For classes it holds each class's mean probability in the leaf, and has
        no width where the reference has one draw.

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
        said = self._says(check_table(self, X, reset=False))
        return np.stack([said.quantile(end) for end in ends], axis=-1)

    def _says(self, X: Any) -> Answers:
        """The distributions that trees say of rows, draw by draw."""
        encoded = self.rules_.features.encode(X)
        if self.draw_trees_ is None:
            return self.leaves_.answers(self.rules_.apply_encoded(encoded))
        parts = [
            leaves.answers(tree.to_rules().apply_encoded(encoded))
            for tree, leaves in self.draw_trees_
        ]
        noise = [part.noise for part in parts if part.noise is not None]
        draws = np.concatenate([part.draws for part in parts])
        return Answers(draws, np.concatenate(noise) if noise else None)

    def predict_draws(self, X: Any) -> np.ndarray:
        """Means, rates or class probabilities of every posterior draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        return self._says(check_table(self, X, reset=False)).draws
