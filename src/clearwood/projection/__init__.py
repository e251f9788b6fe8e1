"""Bayesian reference models read through small proxies, and how to judge them."""

from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)
from clearwood.projection.local import LocalExplanation, explain_local
from clearwood.projection.logistic import (
    ProjectedLinearRegression,
    ProjectedLogisticRegression,
)
from clearwood.projection.t_tests import MethodComparison, compare_methods
from clearwood.projection.tree_stability import (
    TreeStability,
    tree_dissimilarity,
    tree_stability,
)

__all__ = [
    "LocalExplanation",
    "MethodComparison",
    "ProjectedLinearRegression",
    "ProjectedLogisticRegression",
    "ProjectedTreeClassifier",
    "ProjectedTreeRegressor",
    "TreeStability",
    "compare_methods",
    "explain_local",
    "tree_dissimilarity",
    "tree_stability",
]
