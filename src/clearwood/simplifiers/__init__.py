"""Tree ensembles simplified to a few rules."""

from clearwood.simplifiers.additive_estimators import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
)
from clearwood.simplifiers.api import simplify
from clearwood.simplifiers.distilled import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from clearwood.simplifiers.estimators import FABRulesClassifier, FABRulesRegressor
from clearwood.simplifiers.list_estimators import RuleListClassifier, RuleListRegressor
from clearwood.simplifiers.node_harvest import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)

__all__ = [
    "AdditiveRulesClassifier",
    "AdditiveRulesRegressor",
    "DistilledTreeClassifier",
    "DistilledTreeRegressor",
    "FABRulesClassifier",
    "FABRulesRegressor",
    "NodeHarvestClassifier",
    "NodeHarvestRegressor",
    "RuleListClassifier",
    "RuleListRegressor",
    "simplify",
]
