"""The scikit-learn face of Node Harvest."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval
from clearwood.rules import RuleSet, Training, region_conditions
from clearwood.rules.building.averages import build_rule_average
from clearwood.search import candidate_boxes
from clearwood.simplifiers._common.base import (
    CORE,
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
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


class _NodeHarvest(RulesFromEnsemble):
    """What classifier and regressor share."""

    _needs_trees = True

    _parameter_constraints: dict[str, Any] = {
        **CORE,
        "max_rules": [*CORE["max_rules"], None],
        "max_interaction": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rules: int | str = "auto",
        max_rules: int | None = 10,
        min_rows: int = 10,
        target: str = "ensemble",
        forbidden: Sequence[str | int] = (),
        round_cuts: bool = True,
        max_interaction: int = 2,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_rules = n_rules
        self.max_rules = max_rules
        self.min_rows = min_rows
        self.target = target
        self.forbidden = forbidden
        self.round_cuts = round_cuts
        self.max_interaction = max_interaction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        nodes = shallow_nodes(
            self.ensemble_,
            training,
            max_features=self.max_interaction,
            min_rows=self.min_rows,
        )
        self.n_nodes_ = nodes.held.shape[1] + 1
        self.path_ = self._harvested(nodes, training)
        self.rules_ = self.path_[-1]
        return {
            "method": "node-harvest",
            "target": self.target,
            "max_interaction": str(self.max_interaction),
        }

    def find_again(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """As elsewhere, but of trees that are grown on these rows alone.

        Those of the ensemble have split by labels of the rows left out, too.
        """
        boxes = candidate_boxes(
            training.grid, training.standardised, training.weight, generator
        )
        nodes = nodes_of_boxes(
            boxes, training, max_features=self.max_interaction, min_rows=self.min_rows
        )
        quiet = copy(self).set_params(n_jobs=None, verbose=False, round_cuts=False)
        return quiet._harvested(nodes, training, roughly=True)[-1]

    def _harvested(
        self, nodes: Nodes, training: Training, roughly: bool = False
    ) -> tuple[RuleSet, ...]:
        """Averages of few nodes, the last with as many lines as there may be."""
        # Of two classes one tells all.
        is_binary = len(training.classes) == 2
        taught = training.taught[:, 1:] if is_binary else training.taught
        programme = make_programme(nodes.held, taught, training.weight)
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
        """Nodes in the data's own terms and units, the heaviest first."""
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
            regions, weights, weight_of_all, training, round_cuts=self.round_cuts
        )


class NodeHarvestClassifier(ClassifiesByRules, _NodeHarvest):
    """A weighted average of an ensemble's shallow nodes that says a class.

    Every node of the ensemble's trees that asks few features says the mean
    probabilities of its rows. Weights are given to the nodes so that the average over
    those that a row is in comes as near as possible to the ensemble's probabilities,
    by one quadratic programme: weights are at least 0, and on every training row they
    add up to one. Most come out as 0. All classes share the weights.

    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
    n_rules : int or "auto", default="auto"
        Lines printed at most, the one that always takes part included; fewer where
        more do not bring the average nearer. "auto" prints up to ``max_rules``.
    max_rules : int or None, default=10
        Most lines printed, the one that always takes part included. None keeps all
        nodes with weight: the solution of the programme as it is in the article,
        often dozens.
    min_rows : int, default=10
        Fewest training rows that a rule catches, whatever they weigh: all that are in
        its node.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules are fitted to: what the ensemble predicts (probabilities, or
        values), so that they explain the model; or the labels, as in the article.
    forbidden : sequence of str or int, default=()
        Names, or positions among the columns, of features that no rule may ask. The
        ensemble may ask them.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same training
        values, short values, and weights of three digits.
    max_interaction : int, default=2
        Most features that a node may ask.
    n_jobs : int or None, default=None
        Threads for the programmes that lead to few lines; with ``max_rules=None``
        there is one programme, and no use for them. The result does not depend on it.
    verbose : bool, default=False
        Show a progress bar on stderr, of these programmes.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default ensemble; nothing else is random.

    Attributes
    ----------
    rules_ : RuleSet
        The printed rules; ``predict`` is what they say.
    ensemble_ : TreeEnsemble
        The ensemble as it was read.
    estimator_ : estimator
        The fitted ensemble as it was handed in, or fitted here.
    bins_ : FeatureBins
        The bins on which the rules were found.
    single_split_fidelity_ : float
        How far a tree of one split follows what the rules were fitted to, on the
        training rows: what rules have to beat.
    caution_ : dict, or None
        Where labels were given, how careful to be with the rules on new rows:
        ``"usual_rows"`` of the usual mix that each is counted with, and for intervals
        the ``"evidence"`` of each of its own rows (cross-fitting).
    path_ : tuple of RuleSet
        The averages of all sizes found, from the mean of all rows alone to
        ``rules_``; with ``max_rules=None`` that one only. Weights that add up to one
        on every row are not to be had with every number of nodes (never with one and
        the mean of all rows), so sizes are missing.
    n_nodes_ : int
        Distinct nodes that the weights were sought for.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
    classes_ : ndarray
        Class labels.

    Notes
    -----
    Needs ``clarabel``: the extra ``harvest``. Where more than 1,000 nodes are found,
    those take part whose rows lie farthest from the mean, all in all.

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
    >>> rules.evaluate(X, y, teacher=forest).fidelity > 0.9
    True
    """


class NodeHarvestRegressor(PredictsByRules, _NodeHarvest):
    """A weighted average of an ensemble's shallow nodes that says a value.

    Parameters and attributes are those of :class:`NodeHarvestClassifier`, but for
    ``classes_``. A node says the mean value of its rows, and the average over the nodes
    comes as near as possible to the ensemble's values.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = NodeHarvestRegressor(forest, max_rules=6).fit(X, y).rules_
    >>> rules.combine, rules.n_rules <= 6
    ('average', True)
    """
