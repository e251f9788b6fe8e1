"""Tree ensembles simplified to a few rules."""

from clearwood.simplifiers.api import simplify
from clearwood.simplifiers.estimators import FABRulesClassifier, FABRulesRegressor
from clearwood.simplifiers.list_estimators import RuleListClassifier, RuleListRegressor

__all__ = [
    "FABRulesClassifier",
    "FABRulesRegressor",
    "RuleListClassifier",
    "RuleListRegressor",
    "simplify",
]
