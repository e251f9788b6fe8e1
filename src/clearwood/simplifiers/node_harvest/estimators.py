"""The scikit-learn face of Node Harvest."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood.rules import RuleSet, Training, region_conditions
from clearwood.rules.building.averages import build_rule_average
from clearwood.simplifiers._common.base import (
    ClassifiesByRules,
    PredictsByRules,
    RulesFromEnsemble,
)
from clearwood.simplifiers._common.docstrings import (
    HARVEST_ATTRIBUTES,
    HARVEST_PARAMETERS,
    HARVEST_REFERENCES,
)
from clearwood.simplifiers.node_harvest.nodes import Nodes, shallow_nodes
from clearwood.simplifiers.node_harvest.programme import (
    SMALLEST,
    Harvest,
    make_programme,
    most_telling,
    solve,
    sparse_path,
)


class _NodeHarvest(RulesFromEnsemble):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "max_rules": [None, Interval(Integral, 1, None, closed="left")],
        "max_interaction": [Interval(Integral, 1, None, closed="left")],
        "min_node_rows": [Interval(Integral, 1, None, closed="left")],
        "target": [StrOptions({"ensemble", "labels"})],
        "forbidden": "no_validation",
        "round_cuts": ["boolean"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_rules: int | None = 10,
        max_interaction: int = 2,
        min_node_rows: int = 10,
        target: str = "ensemble",
        round_cuts: bool = True,
        forbidden: Any = (),
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_rules = max_rules
        self.max_interaction = max_interaction
        self.min_node_rows = min_node_rows
        self.target = target
        self.round_cuts = round_cuts
        self.forbidden = forbidden
        self.random_state = random_state

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        nodes = shallow_nodes(
            self.ensemble_,
            self.bins_,
            training.codes,
            training.counts,
            max_features=self.max_interaction,
            min_rows=self.min_node_rows,
            forbidden=training.forbidden,
        )
        # Of two classes one tells all.
        taught = (
            training.taught[:, 1:] if len(training.classes) == 2 else training.taught
        )
        programme = make_programme(nodes.held, taught, training.weight)
        told = most_telling(programme)
        if self.max_rules is None:
            weights = solve(programme, told)
            kept = weights > SMALLEST
            path = [Harvest(told[kept], weights[kept])]
        else:
            path = sparse_path(programme, told, self.max_rules)
        self.n_nodes_ = nodes.held.shape[1] + 1
        self.path_ = tuple(self._printed(found, nodes, training) for found in path)
        self.rules_ = self.path_[-1]
        return {
            "method": "node-harvest",
            "target": self.target,
            "max_interaction": str(self.max_interaction),
        }

    def _printed(
        self,
        found: Harvest,
        nodes: Nodes,
        training: Training,
    ) -> RuleSet:
        """Nodes in the data's own terms and units, the heaviest first."""
        bins = self.bins_
        regions, weights, weight_of_all = [], [], 0.0
        for i in np.argsort(-found.weights, kind="stable"):
            node, weight = int(found.nodes[i]), float(found.weights[i])
            if node == 0:
                weight_of_all += weight
                continue
            allowed = np.ones(int(bins.n_bins.sum()), dtype=bool)
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
            round_cuts=self.round_cuts,
        )


class NodeHarvestClassifier(ClassifiesByRules, _NodeHarvest):  # noqa: D101
    __doc__ = f"""A weighted average of an ensemble's shallow nodes that says a class.

    Every node of the ensemble's trees that asks few features says the mean
    probabilities of its rows. Weights are given to the nodes so that the average over
    those that a row is in comes as near as possible to the ensemble's probabilities,
    by one quadratic programme: weights are at least 0, and on every training row they
    add up to one. Most come out as 0. All classes share the weights.
    {HARVEST_PARAMETERS}{HARVEST_ATTRIBUTES}
    classes_ : ndarray
        Class labels.
{HARVEST_REFERENCES}
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


class NodeHarvestRegressor(PredictsByRules, _NodeHarvest):  # noqa: D101
    __doc__ = f"""A weighted average of an ensemble's shallow nodes that says a value.

    Every node of the ensemble's trees that asks few features says the mean of its
    rows. Weights are given to the nodes so that the average over those that a row is
    in comes as near as possible to what the ensemble says, by one quadratic programme:
    weights are at least 0, and on every training row they add up to one. Most come out
    as 0.
    {HARVEST_PARAMETERS}{HARVEST_ATTRIBUTES}
{HARVEST_REFERENCES}
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
