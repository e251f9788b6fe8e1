"""Synthetic data of the papers, for examples, tests and simulation studies."""

from clearwood.datasets._groups import (
    make_cluster_classes,
    make_corral,
    make_logistic_classes,
)
from clearwood.datasets._series import make_hidden_series
from clearwood.datasets._synthetic import (
    make_synthetic1,
    make_synthetic2,
    make_xor_regression,
)

__all__ = [
    "make_cluster_classes",
    "make_corral",
    "make_hidden_series",
    "make_logistic_classes",
    "make_synthetic1",
    "make_synthetic2",
    "make_xor_regression",
]
