"""scikit-learn estimators of Node Harvest."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import RuleSet, Training, region_conditions
from clearwood.rules.building.averages import build_rule_average
from clearwood.search import candidate_boxes
from clearwood.simplifiers._common.base import (
    CORE,
    BaseRuleExtractor,
    RuleClassifierMixin,
    RuleRegressorMixin,
)
from clearwood.simplifiers.node_harvest.nodes import (
    Nodes,
    nodes_of_boxes,
    shallow_nodes,
)
from clearwood.simplifiers.node_harvest.programme import (
    Harvest,
    harvest,
    make_programme,
    most_telling,
)
from clearwood.simplifiers.node_harvest.sparse import sparse_path


class _NodeHarvest(BaseRuleExtractor):
    _needs_trees = True
    _paper = {"max_rules": None, "learn_from": "labels"}

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "max_rules": [*CORE["max_rules"], None],
        "max_interaction": [Interval(Integral, 1, None, closed="left")],
        "preset": [None, StrOptions({"paper"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int | None = 10,
        min_samples_leaf: int = 10,
        learn_from: str = "model",
        exclude_features: Sequence[str | int] = (),
        round_thresholds: bool = True,
        max_interaction: int = 2,
        preset: str | None = None,
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
        self.max_interaction = max_interaction
        self.preset = preset
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.cv = cv
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        nodes = shallow_nodes(
            self.ensemble_,
            training,
            max_features=self.max_interaction,
            min_samples_leaf=self.min_samples_leaf,
        )
        self.n_nodes_ = nodes.held.shape[1] + 1
        self.path_ = self._harvested(nodes, training)
        self.rules_ = self.path_[-1]
        return {
            "method": "node-harvest",
            "learn_from": self.learn_from,
            "max_interaction": str(self.max_interaction),
        }

    def _refit(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """As in the base class, but from trees grown on these rows alone.

        The ensemble's trees were split by labels of the rows left out, too.
        """
        boxes = candidate_boxes(
            training.grid, training.standardised, training.weight, generator
        )
        nodes = nodes_of_boxes(
            boxes,
            training,
            max_features=self.max_interaction,
            min_samples_leaf=self.min_samples_leaf,
        )
        quiet = copy(self).set_params(
            n_jobs=None, verbose=False, round_thresholds=False
        )
        return quiet._harvested(nodes, training, roughly=True)[-1]

    def _harvested(
        self, nodes: Nodes, training: Training, roughly: bool = False
    ) -> tuple[RuleSet, ...]:
        """Averages of few nodes, the last of the maximum size."""
        # Of two classes one is sufficient.
        is_binary = len(training.classes) == 2
        target = training.target[:, 1:] if is_binary else training.target
        programme = make_programme(nodes.held, target, training.weight)
        candidates = most_telling(programme)
        most = self._most_rules
        if most is None:
            path = [harvest(programme, candidates)]
        else:
            path = sparse_path(
                programme,
                candidates,
                most,
                roughly=roughly,
                n_jobs=self.n_jobs,
                verbose=self.verbose,
            )
        return tuple(self._print(found, nodes, training) for found in path)

    def _print(self, found: Harvest, nodes: Nodes, training: Training) -> RuleSet:
        """Nodes in the units of the data, by decreasing weight."""
        bins = training.bins
        regions, weights, weight_of_all = [], [], 0.0
        for i in np.argsort(-found.weights, kind="stable"):
            node, weight = int(found.nodes[i]), float(found.weights[i])
            if node == 0:
                weight_of_all += weight
                continue
            allowed = np.ones(len(training.seen), dtype=bool)
            for d, inside in nodes.allowed[node - 1].items():
                start = bins.bin_start[d]
                allowed[start : start + bins.n_bins[d]] = inside
            conditions = region_conditions(bins, allowed, training.seen)
            if conditions is not None:
                regions.append(conditions)
                weights.append(weight)
        return build_rule_average(
            regions,
            weights,
            weight_of_all,
            training,
            round_thresholds=self.round_thresholds,
        )


class NodeHarvestClassifier(RuleClassifierMixin, _NodeHarvest):
    """Weighted average of an ensemble's shallow nodes, for classification.

    Every node of the ensemble's trees with conditions on few features predicts the mean
    probabilities of its rows. Weights are chosen so that the average over the nodes of
    a row is as close as possible to the ensemble's probabilities, by one quadratic
    program: weights are at least 0, and on every training row they sum to one. Most
    are 0 at the solution. All classes share the weights.

    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
    n_rules : int or "auto", default="auto"
        Maximum number of rules, the default (which always takes part) included; fewer
        if more do not bring the average closer. "auto" prints up to ``max_rules``.
    max_rules : int or None, default=10
        Maximum number of rules, the default included. None keeps all nodes with
        positive weight: the solution of the program as in the article, often dozens.
    min_samples_leaf : int, default=10
        Minimum number of training rows that a rule covers, regardless of weights: all
        those in its node.
    learn_from : {"model", "labels"}, default="model"
        Target of the fit: the predictions of the ensemble (probabilities, or values),
        so that the rules explain the model; or the labels, as in the article.
    exclude_features : sequence of str or int, default=()
        Names, or column indices, of features that no rule may use. The ensemble may use
        them.
    round_thresholds : bool, default=True
        Print, and predict with, the shortest thresholds that separate the same training
        values, rounded values, and weights of three digits.
    max_interaction : int, default=2
        Maximum number of features in the conditions of a node.
    preset : {"paper"} or None, default=None
        "paper" keeps all nodes with a weight, fitted to the labels:
        ``max_rules=None`` and ``learn_from="labels"`` in place of the defaults of these
        parameters (other values are kept; for
        fewer rules set ``n_rules``).
    n_jobs : int or None, default=None
        Number of threads for the programs that lead to few rules; unused with
        ``max_rules=None``, which is a single program. The result does not depend on
        it.
    verbose : bool, default=False
        Show a progress bar on stderr, of these programs.
    cv : int, splitter of scikit-learn, iterable or None, default=None
        How rows are held out: None for random folds; otherwise as in
        scikit-learn, such as ``TimeSeriesSplit()`` for rows ordered by time. With
        ``groups`` in ``fit``, a number means so many folds of whole groups.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default ensemble; nothing else is random.

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
    path_ : tuple of RuleSet
        The averages of all sizes found, from the mean of all rows alone to ``rules_``;
        with ``max_rules=None`` the latter only. Weights that sum to one on every row do
        not exist for every number of nodes (never for one and the mean of all rows), so
        sizes are missing.
    n_nodes_ : int
        Number of distinct nodes in the program.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, if the table had any.
    classes_ : ndarray
        Class labels.

    Notes
    -----
    Needs ``clarabel``: the extra ``harvest``. Of more than 1,000 nodes, those whose
    rows lie farthest from the mean in total are used.

    References
    ----------
    Meinshausen, "Node Harvest", Annals of Applied Statistics 4, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = NodeHarvestClassifier(forest, max_rules=5).fit(X, y).rules_
    >>> rules.evaluate(X, y, model=forest).fidelity > 0.9
    True
    """


class NodeHarvestRegressor(RuleRegressorMixin, _NodeHarvest):
    """Weighted average of an ensemble's shallow nodes, for regression.

    Parameters and attributes are those of :class:`NodeHarvestClassifier`, but for
    ``classes_``. A node predicts the mean value of its rows, and the average over the
    nodes is as close as possible to the ensemble's values.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    >>> rules = NodeHarvestRegressor(forest, max_rules=6).fit(X, y).rules_
    >>> rules.combine, rules.n_rules <= 6
    ('average', True)
    """
