"""Projection of Bayesian reference models onto small proxies, and their evaluation."""

from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)
from clearwood.projection.judging.t_tests import MethodComparison, compare_methods
from clearwood.projection.judging.tree_stability import (
    TreeStability,
    tree_dissimilarity,
    tree_stability,
)
from clearwood.projection.lists import (
    ProjectedRuleListClassifier,
    ProjectedRuleListRegressor,
)
from clearwood.projection.local.explanation import LocalExplanation, explain_local
from clearwood.projection.logistic import (
    ProjectedLinearRegression,
    ProjectedLogisticRegression,
)

__all__ = [
    "LocalExplanation",
    "MethodComparison",
    "ProjectedLinearRegression",
    "ProjectedLogisticRegression",
    "ProjectedRuleListClassifier",
    "ProjectedRuleListRegressor",
    "ProjectedTreeClassifier",
    "ProjectedTreeRegressor",
    "TreeStability",
    "compare_methods",
    "explain_local",
    "tree_dissimilarity",
    "tree_stability",
]
