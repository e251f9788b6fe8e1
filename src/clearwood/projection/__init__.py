"""Bayesian reference models read through small proxies, and how to judge them."""

from clearwood.projection.t_tests import MethodComparison, compare_methods
from clearwood.projection.tree_stability import (
    TreeStability,
    tree_dissimilarity,
    tree_stability,
)

__all__ = [
    "MethodComparison",
    "TreeStability",
    "compare_methods",
    "tree_dissimilarity",
    "tree_stability",
]
