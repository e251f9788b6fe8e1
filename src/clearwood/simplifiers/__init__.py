"""Tree ensembles simplified to a few rules."""

from clearwood.simplifiers.additive_estimators import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
)
from clearwood.simplifiers.api import simplify
from clearwood.simplifiers.born_again.estimators import (
    BornAgainTreeClassifier,
    BornAgainTreeRegressor,
)
from clearwood.simplifiers.distilled_tree import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from clearwood.simplifiers.fab.estimators import FABRulesClassifier, FABRulesRegressor
from clearwood.simplifiers.in_trees.estimators import (
    InTreesClassifier,
    InTreesRegressor,
)
from clearwood.simplifiers.list_estimators import RuleListClassifier, RuleListRegressor
from clearwood.simplifiers.node_harvest.estimators import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)

__all__ = [
    "AdditiveRulesClassifier",
    "AdditiveRulesRegressor",
    "BornAgainTreeClassifier",
    "BornAgainTreeRegressor",
    "DistilledTreeClassifier",
    "DistilledTreeRegressor",
    "FABRulesClassifier",
    "FABRulesRegressor",
    "InTreesClassifier",
    "InTreesRegressor",
    "NodeHarvestClassifier",
    "NodeHarvestRegressor",
    "RuleListClassifier",
    "RuleListRegressor",
    "simplify",
]
