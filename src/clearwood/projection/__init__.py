"""Bayesian reference models, read through small proxies."""

from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)

__all__ = ["ProjectedTreeClassifier", "ProjectedTreeRegressor"]
