"""A small tree that approximates an ensemble.

The ensemble labels the training rows, and synthetic mixtures of them. A tree grows by
the split with the lowest loss after its two best follow-up splits, is pruned to every
size exactly, and at each size splits and leaves are moved until no move improves it
(``search.trees``). The number of leaves is chosen on held-out rows (``size_path``). The
leaves are printed as disjoint rules in the units of the data, rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.rules import Training, Tree, print_tree
from clearwood.search.trees.grow import grow_trees
from clearwood.search.trees.nodes import TREE_PENALTY, GrownNode, make_tree_problem
from clearwood.simplifiers._common.base import (
    CORE,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers._common.scoring import CLASS_WEIGHT, SCORING, at_stake
from clearwood.simplifiers._common.size_path import N_SYNTHETIC, BaseTreePath

SOFTNESS = 1.0
"""Weight of the squared error of probabilities added to the regret: half of it ranks
rows worse, three times as much lowers the agreement of classes."""


class _DistilledTree(BaseTreePath):
    _reads_sparse = True
    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "n_synthetic": N_SYNTHETIC,
        "scoring": SCORING["classification"],
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int = 10,
        min_samples_leaf: int = 5,
        learn_from: str = "model",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        n_synthetic: int | str = "auto",
        scoring: Any = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        cv: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.min_samples_leaf = min_samples_leaf
        self.learn_from = learn_from
        self.exclude_features = exclude_features
        self.round_thresholds = round_thresholds
        self.n_synthetic = n_synthetic
        self.scoring = scoring
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    def _about(self) -> dict[str, str]:
        return {"method": "tree"}

    def _fit(
        self, training: Training, generator: np.random.Generator
    ) -> list[GrownNode]:
        loss = training.soft_loss(SOFTNESS)
        problem = make_tree_problem(
            training.grid,
            loss,
            training.counts,
            at_stake(loss) * TREE_PENALTY,
            min_samples_leaf=self.min_samples_leaf,
        )
        return grow_trees(problem, self.max_rules)

    def _print_tree(self, training: Training, tree: GrownNode) -> Tree:
        return print_tree(tree, training, round_thresholds=self.round_thresholds)


class DistilledTreeClassifier(RuleClassifierMixin, _DistilledTree):
    """Small decision tree that approximates an ensemble classifier.

    Every row is in one leaf only, so each rule can be read by itself. Splits are chosen
    by the loss after two follow-up splits, and the whole tree is then improved; see
    :class:`RuleListClassifier` for lists, which are closer to the ensemble at the same
    number of rules.

    Parameters
    ----------
    estimator : estimator, callable, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted (wrap
        it in ``sklearn.frozen.FrozenEstimator`` where it must survive ``clone``); an
        unfitted one is fitted on ``X, y``; None means histogram gradient boosting. Of
        any other model, or a function that predicts, only predictions are used, and the
        method chooses thresholds itself.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default rule included; fewer if more bring no
        improvement. "auto" chooses the number, up to ``max_rules``: the fewest within
        half a standard error of the best score (``scoring``) on mixtures of held-out
        training rows (three folds); one only if the ensemble predicts the same for all
        rows.
    max_rules : int, default=10
        Maximum number of rules, the default rule included: each is a leaf. ``path_``
        holds the trees of all sizes.
    min_samples_leaf : int, default=5
        Minimum number of training rows that a rule covers, regardless of weights.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the ensemble (probabilities, or values),
        so that the rules explain the model; or the labels.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use. The ensemble may use
        them.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values, and predicted values rounded within half a percent of the target's
        standard deviation.
    n_synthetic : int or "auto", default="auto"
        Number of synthetic rows, labelled by the ensemble: training rows mixed with
        their neighbours. "auto" makes three per row, at least 4,000 and at most 20,000,
        and none with ``learn_from="labels"``.
    scoring : {"auto", "log_loss", "agreement", "balanced"} or callable, default="auto"
        Score that chooses the number of rules on held-out rows. "auto": log
        loss of the probabilities of the rules against those of the ensemble (R2 for
        regression). "log_loss": the same. "agreement": the share of rows for which
        rules and ensemble predict the same class. "balanced": the mean of the agreement
        in each class; unless ``class_weight`` is given, the fit weights classes as if
        equally frequent. Or a function of the targets and predictions (probabilities or
        values) of some rows that returns one number per row, higher is better.
    class_weight : "balanced", dict from label to float, or None, default=None
        Weights of the classes: rules predict the class whose probability times its
        weight is largest, and print the unweighted probability. "balanced" finds rare
        classes: weights are inverse to the mean probabilities.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out: None for random folds; otherwise as in
        scikit-learn, such as ``TimeSeriesSplit()`` for rows ordered by time. With
        ``groups`` in ``fit``, a number means so many folds of whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search (and of the default ensemble).

    Attributes
    ----------
    rules_ : RuleSet
        The printed rules, which ``predict`` applies.
    ensemble_ : TreeEnsemble
        The ensemble as it was read.
    estimator_ : estimator
        The fitted ensemble, as passed in or fitted here.
    bins_ : FeatureBins
        The bins on which the rules were found.
    single_split_fidelity_ : float
        Fidelity of a tree with a single split (decision stump) to the target of the
        fit, on the training rows: the benchmark for the rules.
    shrinkage_ : dict, or None
        If labels were given, the shrinkage of the rules for new rows (cross-fitting):
        ``"usual_rows"``, the rows of average composition that each is pooled with,
        times ``(1 + n_literals) ** 2``; and for intervals ``"evidence"``, the weight of
        each row.
    tree_ : Tree
        The rules as a tree, which predicts the same.
    trees_ : tuple of Tree
        Trees of all sizes.
    path_ : tuple of RuleSet
        The trees of all sizes as rules, from the default rule alone to the largest.
    n_rules_ : int
        Number of leaves, as requested or chosen.
    cv_results_ : dict of str to list, or None
        If the size was chosen on held-out rows, an entry per size: ``"fidelity"`` and
        its ``"standard_error"``; with another ``scoring`` also ``"score"`` and
        ``"score_error"``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = DistilledTreeClassifier(forest, n_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class DistilledTreeRegressor(RuleRegressorMixin, _DistilledTree):
    """Small decision tree that approximates an ensemble regressor.

    Every row is in one leaf only, so each rule can be read by itself. Parameters and
    attributes are those of :class:`DistilledTreeClassifier`, but for ``class_weight``
    and ``classes_``; see :class:`RuleListRegressor` for lists, which are closer to the
    ensemble at the same number of rules.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> tree = DistilledTreeRegressor(forest, n_rules=5, random_state=0).fit(X, y)
    >>> tree.tree_.n_leaves
    5
    """

    _parameter_constraints = {
        **_DistilledTree._parameter_constraints,
        "scoring": SCORING["regression"],
        "class_weight": [None],
    }
