"""Projection of Bayesian reference models onto small proxies, and their evaluation."""

from clearwood._lazy import loader, names_in
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

_DISPLAYS = names_in(
    {
        "projection.display": "LeavesDisplay LocalDisplay SizePathDisplay",
        "projection.judging.stability_display": "TreeStabilityDisplay",
        "projection.judging.t_test_display": "DifferenceDisplay",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "DifferenceDisplay",
    "LeavesDisplay",
    "LocalDisplay",
    "LocalExplanation",
    "MethodComparison",
    "ProjectedLinearRegression",
    "ProjectedLogisticRegression",
    "ProjectedRuleListClassifier",
    "ProjectedRuleListRegressor",
    "ProjectedTreeClassifier",
    "ProjectedTreeRegressor",
    "SizePathDisplay",
    "TreeStability",
    "TreeStabilityDisplay",
    "compare_methods",
    "explain_local",
    "tree_dissimilarity",
    "tree_stability",
]

__getattr__ = loader(__name__, _DISPLAYS)
