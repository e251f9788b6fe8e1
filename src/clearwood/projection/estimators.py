"""Small trees that say what a Bayesian reference model says, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import as_generator
from clearwood._numeric.progress import progress
from clearwood._validation import (
    check_forbidden,
    check_table,
    check_target,
    check_weight,
    features_of,
)
from clearwood.exceptions import InputError
from clearwood.projection.answers import Answers, ask
from clearwood.projection.leaves import Leaves, expected_log_likelihood
from clearwood.projection.sizes import SizePath, folds_of, weighted_mean_and_error
from clearwood.projection.trees import (
    leaves_of,
    project_trees,
    projection_problem,
    value_bins,
)
from clearwood.references import Reference, reference
from clearwood.rules import RuleList, Training, Tree, print_tree
from clearwood.search import Grid
from clearwood.search.trees.nodes import GrownNode

N_FOLDS = 5
"""Parts of the rows, each held out once, where the size is chosen (section 3.2.2)."""


class _ProjectedTree(BaseEstimator):
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

    def _family(self, task: str) -> str:
        """What a leaf says: the proxy's likelihood."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = isinstance(self.reference, Reference)
        return tags

    @fit_context(prefer_skip_nested_validation=False)
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
        X = check_table(self, X, reset=True)
        weight = check_weight(sample_weight, X.shape[0])
        target_name = getattr(y, "name", None)
        if y is not None:
            y = check_target(y, X.shape[0], numeric=self._task == "regression")
        generator = as_generator(self.random_state)
        self.reference_ = self._find_reference(X, y, generator)
        counted = np.flatnonzero(weight > 0)
        X, weight = take_rows(X, counted), weight[counted]
        labels = None if y is None else self._positions(y[counted])
        answers = ask(self.reference_, X)
        training = self._training(X, labels, weight, answers)
        path = self._project(answers, training.grid, weight)
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

    def _find_reference(
        self, X: Any, y: np.ndarray | None, generator: np.random.Generator
    ) -> Reference:
        """The reference as it is, or made and fitted here."""
        found = self.reference
        if not isinstance(found, Reference):
            seed = int(generator.integers(2**31))
            found = reference(found, X, y, random_state=seed)
        is_class = found.task == "classification"
        if is_class != (self._task == "classification"):
            other = "Classifier" if is_class else "Regressor"
            raise InputError(
                f"The reference ({found.description}) is for {found.task}; use "
                f"ProjectedTree{other}."
            )
        return found

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
        features = features_of(X, np.ones(X.shape[0], dtype=bool))
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

    def _project(
        self, answers: Answers, grid: Grid, weight: np.ndarray
    ) -> list[GrownNode]:
        """Trees of all sizes."""
        family = self._family(self.reference_.task)
        said = answers if self.draws == "shared" else answers.together
        problem = projection_problem(said, family, grid, weight, self.min_rows)
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
        family = self._family(self.reference_.task)
        said = answers if self.draws == "shared" else answers.together
        share = training.weight / training.weight.sum()
        likelihood = np.array(
            [
                Leaves.of(
                    said, leaves_of(tree, training.grid), share, family
                ).log_likelihood
                for tree in path
            ]
        )
        own = float((said.negative_entropy @ share).mean())
        sizes = np.array([tree.n_leaves for tree in path])
        free = self.max_leaf_nodes == "auto" and self.alpha is None
        if not free or len(path) == 1:
            return SizePath(sizes, likelihood, own - likelihood)
        lost, judged_by = self._hold_out(X, labels, training, answers, generator)
        mean, error = weighted_mean_and_error(lost[sizes - 1], training.weight)
        return SizePath(
            sizes, likelihood, own - likelihood, mean, error, judged_by, self.tolerance
        )

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
        by_labels = labels is not None and self.reference_.can_refit
        fold = folds_of(len(training), N_FOLDS, generator)
        lost = np.empty((self._most_leaves, len(training)))
        family = self._family(self.reference_.task)
        folds = progress(range(N_FOLDS), N_FOLDS, "held-out parts", self.verbose)
        for held in (fold == number for number in folds):
            rows, test = np.flatnonzero(~held), np.flatnonzero(held)
            fitted, other = answers.take(rows), answers.take(test)
            if by_labels:
                refitted = self._refitted(X, labels, rows)
                fitted, other = (ask(refitted, take_rows(X, r)) for r in (rows, test))
            weight = training.weight[rows]
            path = self._project(fitted, training.grid.take(rows), weight)
            said = fitted if self.draws == "shared" else fitted.together
            best = other.log_density(labels[test]) if by_labels else None
            for tree in path:
                leaf = leaves_of(tree, training.grid.take(rows))
                leaves = Leaves.of(said, leaf, weight / weight.sum(), family)
                there = leaves_of(tree, training.grid.take(test))
                if by_labels:
                    gap = best - leaves.answers(there).log_density(labels[test])
                else:
                    target = other if self.draws == "shared" else other.together
                    gap = target.negative_entropy.mean(axis=0)
                    gap = gap - expected_log_likelihood(leaves, target, there).mean(0)
                # Where no larger tree is found, the largest stands for it.
                lost[tree.n_leaves - 1 :, test] = gap
        return lost, "labels" if by_labels else "reference"

    def _refitted(self, X: Any, labels: Any, rows: np.ndarray) -> Reference:
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
        return Leaves.of(answers, leaf, share, self._family(self.reference_.task))

    def _tree_per_draw(
        self, answers: Answers, training: Training, tree: GrownNode
    ) -> tuple[tuple[Tree, Leaves], ...]:
        """Of each draw a tree of its own, as large as the one that is printed."""
        found = []
        numbers = progress(
            range(answers.n_draws), answers.n_draws, "draws", self.verbose
        )
        family = self._family(self.reference_.task)
        for number in numbers:
            said = answers.draw(number)
            problem = projection_problem(
                said, family, training.grid, training.weight, self.min_rows
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
        if not 0 < coverage < 1:
            raise InputError(f"coverage is {coverage}, expected between 0 and 1.")
        said = self._says(check_table(self, X, reset=False))
        ends = [said.quantile(0.5 - coverage / 2), said.quantile(0.5 + coverage / 2)]
        return np.stack(ends, axis=-1)

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


class ProjectedTreeRegressor(RegressorMixin, _ProjectedTree):
    """A small tree that says what a Bayesian reference model predicts.

    The reference is fitted for accuracy alone; of all small trees, the one is printed
    whose predictive distribution is nearest to the reference's in Kullback-Leibler
    divergence (Afrabandpey et al. 2020). So interpretability does not enter the model
    of the data, and the leaves know how sure the reference is.

    Parameters
    ----------
    reference : Reference, estimator or None, default=None
        The model that is read: what :func:`clearwood.reference` gives, or anything
        that it takes. One that is not fitted is fitted to ``X, y``; None means a
        forest with Bayesian-bootstrap weights.
    max_leaf_nodes : int or "auto", default="auto"
        Leaves at most; fewer where more do not help. "auto" takes the fewest with
        which held-out rows are as likely as under the reference fitted without them,
        up to ``tolerance`` and one standard error; where no size is, the fewest within
        one standard error of the best.
    alpha : float, optional
        What a leaf costs, in nats per row: the tree of highest utility, equation (8),
        is taken. Half of the paper's alpha of equation (9). Not together with a number
        of leaves.
    most_leaf_nodes : int, default=20
        Largest tree of the size path, where the size is chosen.
    family : {"auto", "mean", "mean_variance"}, default="auto"
        What differs between leaves: the mean, with one variance for all (equation 6),
        or both. "auto" is "mean"; of a reference of counts leaves say a rate.
    draws : {"mean", "shared", "each"}, default="mean"
        What the structure is fitted to: the mean of the posterior draws and their
        whole variance; all draws at once; or, beside that of the mean, each draw by a
        tree of its own.
    refine : bool, default=True
        Whether splits and leaves are moved, at every size, while the likelihood
        rises. False is the paper's greedy growth, cut back exactly.
    tolerance : float, default=0.05
        Nats per held-out row that a smaller tree may lose against the reference.
    min_rows : int, default=5
        Fewest training rows of a leaf.
    forbidden : sequence of str or int, default=()
        Names, or positions among the columns, of features that the tree may not ask.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same training
        values, and values short within half a percent of their standard deviation.
    verbose : bool, default=False
        Show a progress bar on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds, and of a reference that is fitted here.

    Attributes
    ----------
    rules_ : RuleList
        The leaves as rules; ``predict`` is what they say.
    tree_ : Tree
        The same as a tree.
    trees_ : tuple of Tree
        Trees of all sizes.
    leaves_ : Leaves
        What each leaf says, draw by draw: its means and variances; ``epistemic`` is
        what the draws disagree on, ``aleatoric`` what an observation differs by.
    size_path_ : SizePath
        What each size says of the reference and of held-out rows; print it.
    draw_trees_ : tuple of (Tree, Leaves), or None
        The trees of the draws, with ``draws="each"``.
    reference_ : Reference
        The reference as it was handed in, or made here.

    References
    ----------
    Afrabandpey, Peltola, Piironen, Vehtari and Kaski, A decision-theoretic approach
    for model interpretability in Bayesian framework, Machine Learning 109, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import ProjectedTreeRegressor, reference
    >>> X = np.arange(40.0)[:, None] / 40
    >>> y = X[:, 0] + np.sin(np.arange(40.0)) / 10
    >>> ref = reference(BayesianRidge().fit(X, y), random_state=0)
    >>> tree = ProjectedTreeRegressor(ref, max_leaf_nodes=3).fit(X, y)
    >>> tree.rules_.n_rules
    3
    >>> tree.predict_interval(X[:1]).shape
    (1, 2)
    """

    _task = "regression"
    _parameter_constraints: dict[str, Any] = {
        **_ProjectedTree._parameter_constraints,
        "family": [StrOptions({"auto", "mean", "mean_variance"})],
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        max_leaf_nodes: int | str = "auto",
        alpha: float | None = None,
        most_leaf_nodes: int = 20,
        family: str = "auto",
        draws: str = "mean",
        refine: bool = True,
        tolerance: float = 0.05,
        min_rows: int = 5,
        forbidden: Sequence[str | int] = (),
        round_cuts: bool = True,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.max_leaf_nodes = max_leaf_nodes
        self.alpha = alpha
        self.most_leaf_nodes = most_leaf_nodes
        self.family = family
        self.draws = draws
        self.refine = refine
        self.tolerance = tolerance
        self.min_rows = min_rows
        self.forbidden = forbidden
        self.round_cuts = round_cuts
        self.verbose = verbose
        self.random_state = random_state

    def _family(self, task: str) -> str:
        if task != "counts":
            return "mean" if self.family == "auto" else self.family
        if self.family != "auto":
            raise InputError(
                f"family={self.family!r} has variances, but the reference "
                f"({self.reference_.description}) says rates of counts; leave family "
                "at 'auto'."
            )
        return "counts"


class ProjectedTreeClassifier(ClassifierMixin, _ProjectedTree):
    """A small tree that says what a Bayesian reference model finds how probable.

    Leaves say class probabilities, nearest to the reference's in Kullback-Leibler
    divergence (equation 11, with the penalty subtracted). Parameters and attributes
    are those of :class:`ProjectedTreeRegressor`, but for ``family``.

    Parameters
    ----------
    reference, max_leaf_nodes, alpha, most_leaf_nodes, draws, refine, tolerance, \
min_rows, forbidden, round_cuts, verbose, random_state
        As in :class:`ProjectedTreeRegressor`.

    Attributes
    ----------
    rules_, tree_, trees_, leaves_, size_path_, draw_trees_, reference_
        As in :class:`ProjectedTreeRegressor`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the reference's order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProjectedTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> tree.predict_proba(X[:1]).shape, tree.score(X, y) > 0.9
    ((1, 3), True)
    """

    _task = "classification"

    def __init__(
        self,
        reference: Any = None,
        *,
        max_leaf_nodes: int | str = "auto",
        alpha: float | None = None,
        most_leaf_nodes: int = 20,
        draws: str = "mean",
        refine: bool = True,
        tolerance: float = 0.05,
        min_rows: int = 5,
        forbidden: Sequence[str | int] = (),
        round_cuts: bool = True,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.max_leaf_nodes = max_leaf_nodes
        self.alpha = alpha
        self.most_leaf_nodes = most_leaf_nodes
        self.draws = draws
        self.refine = refine
        self.tolerance = tolerance
        self.min_rows = min_rows
        self.forbidden = forbidden
        self.round_cuts = round_cuts
        self.verbose = verbose
        self.random_state = random_state

    def _family(self, task: str) -> str:
        return "classes"

    def _find_reference(
        self, X: Any, y: np.ndarray | None, generator: np.random.Generator
    ) -> Reference:
        found = super()._find_reference(X, y, generator)
        self.classes_ = np.asarray(found.classes)
        return found

    def _positions(self, y: np.ndarray) -> np.ndarray:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise InputError(
                f"y holds label(s) {unknown.tolist()} that the reference does not "
                f"know; it knows {self.classes_.tolist()}."
            )
        order = np.argsort(self.classes_)
        return order[np.searchsorted(self.classes_, y, sorter=order)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities that the printed tree says.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(check_table(self, X, reset=False))
