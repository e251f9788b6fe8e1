"""Conjugate models: what a set of rows says of a distribution, in closed form.

A model is a prior, such as ``NormalNormalGamma(kappa=0.2)``. It answers

- ``statistics``, ``add_rows``, ``merge``, ``remove``: what it has to know of rows,
  with weights,
- ``log_marginal``: evidence of the rows, their parameters integrated out,
- ``log_density``, ``mean``, ``variance``, ``cdf``, ``quantile`` (of classes
  ``probabilities`` too): the posterior predictive of one more row,
- ``check_target``: whether it gives the target any probability at all.

``conjugate.partial_normal`` has normals of several columns, of rows with missing
entries: density, moments for EM, draws. ``conjugate.dispatch`` has density and update
of one row for kernels.
"""

from clearwood.conjugate.counts import BernoulliBeta, CategoricalDirichlet
from clearwood.conjugate.gamma import ExponentialGamma, PoissonGamma
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.linear import LinearRegressionNormalGamma
from clearwood.conjugate.normal import NormalNormalGamma

__all__ = [
    "BernoulliBeta",
    "CategoricalDirichlet",
    "ExponentialGamma",
    "LeafModel",
    "LinearRegressionNormalGamma",
    "NormalNormalGamma",
    "PoissonGamma",
]
