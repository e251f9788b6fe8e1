"""All models by number, for kernels that take one row after the other.

A new model stands in a file of its own, and in the table and the branches here.
"""

from __future__ import annotations

from clearwood._numeric import kernel
from clearwood.conjugate.counts import (
    BernoulliBeta,
    CategoricalDirichlet,
    add_one_label,
    count_log_predictive,
)
from clearwood.conjugate.gamma import (
    ExponentialGamma,
    PoissonGamma,
    add_one_count,
    add_one_duration,
    exponential_log_predictive,
    poisson_log_predictive,
)
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.linear import (
    LinearRegressionNormalGamma,
    linear_log_predictive,
)
from clearwood.conjugate.moments import add_one_moment
from clearwood.conjugate.normal import (
    NormalNormalGamma,
    add_one_rounded,
    normal_log_predictive,
)
from clearwood.exceptions import InputError

COUNTS, POISSON, EXPONENTIAL, NORMAL, LINEAR = range(5)

KINDS: dict[type[LeafModel], int] = {
    BernoulliBeta: COUNTS,
    CategoricalDirichlet: COUNTS,
    PoissonGamma: POISSON,
    ExponentialGamma: EXPONENTIAL,
    NormalNormalGamma: NORMAL,
    LinearRegressionNormalGamma: LINEAR,
}


def kind_of(model: LeafModel) -> int:
    """Number by which the kernels below know a model.

    Examples
    --------
    >>> kind_of(BernoulliBeta()) == kind_of(CategoricalDirichlet((1.0, 1.0)))
    True
    """
    for known, kind in KINDS.items():
        if isinstance(model, known):
            return kind
    raise InputError(
        f"Kernels know no leaves of your own kind, {model!r}; take one of "
        f"{[known.__name__ for known in KINDS]}."
    )


@kernel
def log_predictive(kind, stats, prior, z):
    """Log density of one more row in the model's unit, given those in the statistics.

    Parameters
    ----------
    kind : int
        From ``kind_of``.
    stats : ndarray of shape (n_stats,)
    prior : ndarray
        Hyperparameters in the order of the model's ``prior``.
    z : ndarray of shape (n_columns,)
        The target, behind the features where the model reads any.
    """
    if kind == COUNTS:
        return count_log_predictive(stats, prior, z)
    if kind == POISSON:
        return poisson_log_predictive(stats, prior, z)
    if kind == EXPONENTIAL:
        return exponential_log_predictive(stats, prior, z)
    if kind == NORMAL:
        return normal_log_predictive(stats, prior, z)
    return linear_log_predictive(stats, prior, z)


@kernel
def add_one(kind, stats, prior, z):
    """Take one row of weight 1 into statistics; otherwise as ``log_predictive``."""
    if kind == COUNTS:
        add_one_label(stats, z)
    elif kind == POISSON:
        add_one_count(stats, z)
    elif kind == EXPONENTIAL:
        add_one_duration(stats, z)
    elif kind == NORMAL:
        add_one_rounded(stats, prior, z)
    else:
        add_one_moment(stats, z, 1.0)
