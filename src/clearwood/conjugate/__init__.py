"""Conjugate models: what a set of rows says of a distribution, in closed form.

A model is a prior, such as ``NormalNormalGamma(kappa=0.2)``. It answers

- ``statistics``, ``add_rows``, ``merge``, ``remove``: what it has to know of rows,
  with weights,
- ``log_marginal``: evidence of the rows, their parameters integrated out,
- ``log_density``, ``mean``, ``variance``, ``cdf``, ``quantile`` (of classes
  ``probabilities`` too): the posterior predictive of one more row,
- ``check_target``: whether it gives the target any probability at all.

``conjugate.partial_normal`` has normals of several columns, of rows with missing
entries: density, moments for EM, draws; ``NormalInverseWishart`` is the prior of their
means and covariances, in terms of its own. What a model does to arrays of numbers
stands in C++ beside it (``normal.hpp`` beside ``normal.py``); ``conjugate.dispatch``
numbers the models for the kernels of other packages.
"""

from clearwood.conjugate.counts import BernoulliBeta, CategoricalDirichlet
from clearwood.conjugate.gamma import ExponentialGamma, PoissonGamma
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.linear import LinearRegressionNormalGamma
from clearwood.conjugate.normal import NormalNormalGamma
from clearwood.conjugate.normal_wishart import NormalInverseWishart

__all__ = [
    "BernoulliBeta",
    "CategoricalDirichlet",
    "ExponentialGamma",
    "LeafModel",
    "LinearRegressionNormalGamma",
    "NormalInverseWishart",
    "NormalNormalGamma",
    "PoissonGamma",
]
