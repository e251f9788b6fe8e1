"""Bayesian reference models, read through small proxies."""

from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)
from clearwood.projection.local import LocalExplanation, explain_local
from clearwood.projection.logistic import (
    ProjectedLinearRegression,
    ProjectedLogisticRegression,
)

__all__ = [
    "LocalExplanation",
    "ProjectedLinearRegression",
    "ProjectedLogisticRegression",
    "ProjectedTreeClassifier",
    "ProjectedTreeRegressor",
    "explain_local",
]
