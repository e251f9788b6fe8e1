"""Projection of Bayesian reference models onto small proxies, and their evaluation."""

from clearwood._lazy import loader, names_in
from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)
from clearwood.projection.evaluation.split_posterior import (
    SplitPosterior,
    split_posterior,
)
from clearwood.projection.evaluation.t_tests import MethodComparison, compare_methods
from clearwood.projection.evaluation.tree_stability import (
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
from clearwood.projection.survival_trees import ProjectedTreeSurvival

_DISPLAYS = names_in(
    {
        "projection.display": "LeavesDisplay LocalDisplay SizePathDisplay",
        "projection.evaluation.stability_display": "TreeStabilityDisplay",
        "projection.evaluation.t_test_display": "DifferenceDisplay",
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
    "ProjectedTreeSurvival",
    "SizePathDisplay",
    "SplitPosterior",
    "TreeStability",
    "TreeStabilityDisplay",
    "compare_methods",
    "explain_local",
    "split_posterior",
    "tree_dissimilarity",
    "tree_stability",
]

__getattr__ = loader(__name__, _DISPLAYS)
