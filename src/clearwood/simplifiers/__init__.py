"""Tree ensembles simplified to a few rules."""

from clearwood.simplifiers.api import simplify
from clearwood.simplifiers.estimators import FABRulesClassifier, FABRulesRegressor

__all__ = ["FABRulesClassifier", "FABRulesRegressor", "simplify"]
