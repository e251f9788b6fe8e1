"""Tree ensembles simplified to a few rules."""

from clearwood.simplify.api import simplify
from clearwood.simplify.estimators import FABRulesClassifier, FABRulesRegressor

__all__ = ["FABRulesClassifier", "FABRulesRegressor", "simplify"]
