"""All models by number, as kernels that take one row after the other know them.

A new model stands in two files of its own, ``.py`` and ``.hpp``, in the table here and
in the branches of ``_kernels.hpp``.
"""

from __future__ import annotations

from clearwood._kernels.conjugate import COUNTS, EXPONENTIAL, LINEAR, NORMAL, POISSON
from clearwood.conjugate.counts import BernoulliBeta, CategoricalDirichlet
from clearwood.conjugate.gamma import ExponentialGamma, PoissonGamma
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.linear import LinearRegressionNormalGamma
from clearwood.conjugate.normal import NormalNormalGamma
from clearwood.exceptions import InputError

KINDS: dict[type[LeafModel], int] = {
    BernoulliBeta: COUNTS,
    CategoricalDirichlet: COUNTS,
    PoissonGamma: POISSON,
    ExponentialGamma: EXPONENTIAL,
    NormalNormalGamma: NORMAL,
    LinearRegressionNormalGamma: LINEAR,
}


def kind_of(model: LeafModel) -> int:
    """Number by which kernels know a model.

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
