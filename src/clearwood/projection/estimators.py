"""Small decision trees projected from a Bayesian reference model, with uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood._numeric.progress import progress
from clearwood.exceptions import InputError
from clearwood.projection.base import ProjectedRules
from clearwood.projection.leaves import Leaves
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.sizes import Words
from clearwood.projection.tasks import ProjectedClasses, ProjectedValues
from clearwood.projection.trees import project_trees, projection_problem
from clearwood.rules import RuleList, Training, Tree, print_tree
from clearwood.search import Grid
from clearwood.search.trees.nodes import GrownNode


class ProjectedTree(ProjectedRules):
    """Base class of projected trees."""

    _sizes = "n_leaf_nodes", "max_leaf_nodes"
    _words = Words("tree", "leaf", "leaves")
    _measures = {
        "size": lambda tree: tree.n_leaves,
        "literals": lambda tree: tree.to_rules().n_literals,
        "depth": lambda tree: tree.depth,
    }
    draws: str
    refine: bool
    draw_trees_: tuple[tuple[Tree, Leaves], ...] | None = None

    _parameter_constraints: dict[str, Any] = {
        **ProjectedRules._parameter_constraints,
        "n_leaf_nodes": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
        ],
        "max_leaf_nodes": [Interval(Integral, 1, None, closed="left")],
        "complexity": [StrOptions(set(_measures)), callable],
        "draws": [StrOptions({"mean", "shared", "each"})],
        "refine": ["boolean"],
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        n_leaf_nodes: int | str = "auto",
        alpha: float | str | None = None,
        complexity: str | Callable[[Tree], float] = "size",
        max_leaf_nodes: int = 20,
        draws: str = "mean",
        refine: bool = True,
        tolerance: float = 0.001,
        min_samples_leaf: int | str = "auto",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.n_leaf_nodes = n_leaf_nodes
        self.alpha = alpha
        self.complexity = complexity
        self.max_leaf_nodes = max_leaf_nodes
        self.draws = draws
        self.refine = refine
        self.tolerance = tolerance
        self.min_samples_leaf = min_samples_leaf
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.verbose = verbose
        self.random_state = random_state

    def _target(self, predictive: PredictiveDraws) -> PredictiveDraws:
        return predictive if self.draws == "shared" else super()._target(predictive)

    def _project(
        self,
        target: PredictiveDraws,
        grid: Grid,
        weight: np.ndarray,
        generator: np.random.Generator,
        min_samples_leaf: int,
    ) -> list[GrownNode]:
        problem = projection_problem(
            target, self._family(), grid, weight, min_samples_leaf
        )
        return project_trees(problem, self._max_size, refine=self.refine)

    def _printed(self, proxy: GrownNode, training: Training) -> Tree:
        return print_tree(proxy, training, round_thresholds=self.round_thresholds)

    def _print(
        self,
        path: Sequence[Any],
        chosen: int,
        predictive: PredictiveDraws,
        training: Training,
    ) -> RuleList:
        self.trees_ = tuple(self._printed(tree, training) for tree in path)
        self.tree_ = self.trees_[chosen]
        self.draw_trees_ = None
        if self.draws == "each":
            size = path[chosen].n_leaves
            self.draw_trees_ = self._tree_per_draw(predictive, training, size)
        return self.tree_.to_rules()

    @property
    def _proxies(self) -> tuple[Tree, ...]:
        return self.trees_

    def _tree_per_draw(
        self, predictive: PredictiveDraws, training: Training, size: int
    ) -> tuple[tuple[Tree, Leaves], ...]:
        """Tree of each draw, as large as the printed one."""
        found = []
        numbers = progress(
            range(predictive.n_draws), predictive.n_draws, "draws", self.verbose
        )
        for number in numbers:
            draw = predictive.draw(number)
            problem = projection_problem(
                draw,
                self._family(),
                training.grid,
                training.weight,
                self.min_samples_leaf_,
            )
            grown = project_trees(problem, size, refine=self.refine)[-1]
            printed = self._printed(grown, training)
            leaves = self._leaves(draw, training, printed.to_rules())
            found.append((printed, leaves))
        return tuple(found)

    def _predictive(self, X: Any) -> PredictiveDraws:
        if self.draw_trees_ is None:
            return super()._predictive(X)
        lists = [tree.to_rules() for tree, _ in self.draw_trees_]
        used = set().union(*(rules.used_features for rules in lists))
        encoded = self.rules_.features.encode(X, used)
        parts = [
            leaves.predictive(rules.apply_encoded(encoded))
            for rules, (_, leaves) in zip(lists, self.draw_trees_)
        ]
        noise = [part.noise for part in parts if part.noise is not None]
        draws = np.concatenate([part.draws for part in parts])
        return PredictiveDraws(draws, np.concatenate(noise) if noise else None)


class ProjectedTreeRegressor(ProjectedValues, ProjectedTree):
    """Small regression tree projected from a Bayesian reference model.

    The reference is fitted for accuracy alone; of all small trees, the one is returned
    whose predictive distribution is nearest to the reference's in Kullback-Leibler
    divergence (Afrabandpey et al. 2020). So interpretability does not enter the model
    of the data, and the leaves express the uncertainty of the reference.

    Parameters
    ----------
    reference : Reference, estimator or None, default=None
        The model to project: a result of :func:`clearwood.reference`, or anything that
        it accepts. An unfitted one is fitted to ``X, y``; None means a forest with
        Bayesian-bootstrap weights.
    n_leaf_nodes : int or "auto", default="auto"
        Maximum number of leaves; fewer where more do not help. "auto" takes the fewest
        with which held-out rows are as likely as with the best size, up to
        ``tolerance``.
    alpha : float or "cv", optional
        Penalty per leaf, in nats per row: the tree of highest utility, equation (8), is
        taken. Half of the paper's alpha of equation (9). "cv" is the paper's choice:
        the alpha whose trees perform best on held-out data (five folds). Not together
        with a number of leaves.
    complexity : {"size", "literals", "depth"} or callable, default="size"
        What ``alpha`` penalizes, and by which "auto" takes the simplest tree: the
        number of leaves, the literals of all rules, the depth, or a function of the
        :class:`~clearwood.rules.Tree`. Trees are searched by their number of leaves; of
        those found, the path keeps the ones that no simpler one equals.
    max_leaf_nodes : int, default=20
        Largest tree of the size path, where the size is chosen.
    family : {"auto", "mean", "mean_variance"}, default="auto"
        Parameters that differ between leaves: the mean, with one variance for all
        (equation 6), or both. "auto" is "mean"; for a reference of counts leaves have
        rates.
    draws : {"mean", "shared", "each"}, default="mean"
        Target of the structure: the mean of the posterior draws with their total
        variance; all draws at once; or, in addition to the tree of the mean, one tree
        per draw.
    refine : bool, default=True
        Whether to improve splits and leaves at every size while the likelihood rises.
        False is the paper's greedy growth, pruned exactly.
    tolerance : float, default=0.001
        Loss that a smaller tree may have relative to the best size, in nats per
        held-out row; 0.001 is about 0.1 per cent of the root mean squared error.
    min_samples_leaf : int or "auto", default="auto"
        Minimum number of training rows of a leaf. "auto" takes 2 or 10, whichever is
        better on the held-out rows that choose the size, and 2 where none do.
    exclude_features : sequence of str or int, default=()
        Names, or positions among the columns, of features that the tree may not use.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest bounds that separate the same training
        values, and values rounded within half a percent of their standard deviation.
    verbose : bool, default=False
        Show a progress bar on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the folds, and of a reference that is fitted here.

    Attributes
    ----------
    rules_ : RuleList
        The leaves as rules, by which ``predict`` predicts.
    tree_ : Tree
        The same as a tree.
    trees_ : tuple of Tree
        Trees of all sizes.
    leaves_ : Leaves
        Means and variances of each leaf, draw by draw, and quantiles of observations
        where targets are known; ``epistemic`` is the standard
        deviation of the means over draws, ``aleatoric`` that of an observation.
    size_path_ : SizePath
        Agreement of each size with the reference and on held-out rows; print it.
    min_samples_leaf_ : int
        Minimum number of rows of a leaf, as given or chosen.
    alpha_ : float or None
        Penalty per leaf, where that chose the size.
    fidelity_ : float
        Share of the variation of the reference's mean prediction between rows that the
        rules reproduce: R2, for classes the analogue for divergences.
    draw_trees_ : tuple of (Tree, Leaves), or None
        The trees of the draws, with ``draws="each"``.
    reference_ : Reference
        The reference as passed, or made here.

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
    >>> tree = ProjectedTreeRegressor(ref, n_leaf_nodes=3).fit(X, y)
    >>> tree.rules_.n_rules
    3
    >>> tree.predict_interval(X[:1]).shape
    (1, 2)
    """

    _parameter_constraints: dict[str, Any] = {
        **ProjectedTree._parameter_constraints,
        "family": [StrOptions({"auto", "mean", "mean_variance"})],
    }

    def __init__(
        self,
        reference: Any = None,
        *,
        n_leaf_nodes: int | str = "auto",
        alpha: float | str | None = None,
        complexity: str | Callable[[Tree], float] = "size",
        max_leaf_nodes: int = 20,
        family: str = "auto",
        draws: str = "mean",
        refine: bool = True,
        tolerance: float = 0.001,
        min_samples_leaf: int | str = "auto",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.reference = reference
        self.n_leaf_nodes = n_leaf_nodes
        self.alpha = alpha
        self.complexity = complexity
        self.max_leaf_nodes = max_leaf_nodes
        self.family = family
        self.draws = draws
        self.refine = refine
        self.tolerance = tolerance
        self.min_samples_leaf = min_samples_leaf
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.verbose = verbose
        self.random_state = random_state

    def _family(self) -> str:
        family = super()._family()
        if family != "counts":
            return family if self.family == "auto" else self.family
        if self.family != "auto":
            raise InputError(
                f"family={self.family!r} has variances, but the reference "
                f"({self.reference_.description}) predicts rates of counts; leave "
                "family at 'auto'."
            )
        return family


class ProjectedTreeClassifier(ProjectedClasses, ProjectedTree):
    """Small classification tree projected from a Bayesian reference model.

    Leaves hold class probabilities, nearest to the reference's in Kullback-Leibler
    divergence (equation 11, with the penalty subtracted). Parameters and attributes are
    those of :class:`ProjectedTreeRegressor`, except ``family``.

    Parameters
    ----------
    reference, n_leaf_nodes, alpha, complexity, max_leaf_nodes, draws, refine, \
tolerance, min_samples_leaf, exclude_features, round_thresholds, verbose, random_state
        As in :class:`ProjectedTreeRegressor`.

    Attributes
    ----------
    rules_, tree_, trees_, leaves_, size_path_, alpha_, fidelity_, draw_trees_, \
reference_
        As in :class:`ProjectedTreeRegressor`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, in the reference's order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import ProjectedTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = ProjectedTreeClassifier(n_leaf_nodes=3, random_state=0).fit(X, y)
    >>> tree.predict_proba(X[:1]).shape, tree.score(X, y) > 0.9
    ((1, 3), True)
    """
