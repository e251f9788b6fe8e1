"""Distributions: what rows say of them, what they say of rows, and draws.

Each stands in a file of its own, with what it does to arrays of numbers in C++ beside
it (``normal.hpp`` beside ``normal.py``); there are three ways to use one.

*A conjugate model* is a prior, such as ``NormalNormalGamma(kappa=0.2)``: what a set of
rows says of a target, in closed form. It answers

- ``statistics``, ``add_rows``, ``merge``, ``remove``: what it has to know of rows,
  with weights,
- ``log_marginal``: evidence of the rows, their parameters integrated out,
- ``log_density``, ``mean``, ``variance``, ``cdf``, ``quantile`` (of classes
  ``probabilities`` too): the posterior predictive of one more row,
- ``check_target``: whether it gives the target any probability at all.

*A leaf* of a circuit has parameters, such as ``Gaussian(0, 1.5, 2.0)`` of column 0; see
``leaves``. *An emission* of a hidden Markov model is a prior of the parameters of all
states, such as ``CategoricalEmission((1.0, 1.0))``; see ``emission``.

``partial_normal`` has normals of several columns, of rows with missing entries:
density, moments for EM, draws; ``NormalInverseWishart`` is the prior of their means and
covariances, in terms of its own.
"""

from clearwood.distributions.categorical import (
    Bernoulli,
    Categorical,
    CategoricalEmission,
)
from clearwood.distributions.chow_liu import ChowLiuTree
from clearwood.distributions.counts import BernoulliBeta, CategoricalDirichlet
from clearwood.distributions.emission import Emission, JointEmission
from clearwood.distributions.gamma import ExponentialGamma, PoissonGamma
from clearwood.distributions.histogram import Histogram
from clearwood.distributions.leaf_model import LeafModel
from clearwood.distributions.linear import LinearRegressionNormalGamma
from clearwood.distributions.normal import Gaussian, NormalNormalGamma
from clearwood.distributions.normal_wishart import NormalEmission, NormalInverseWishart
from clearwood.distributions.partial_normal import MultivariateGaussian

CONJUGATE = (
    BernoulliBeta, CategoricalDirichlet, PoissonGamma, ExponentialGamma,
    NormalNormalGamma, LinearRegressionNormalGamma,
)  # fmt: skip
"""All models that a target may have; a new one needs a branch in ``_kernels.hpp``."""

Leaf = (
    Bernoulli | Categorical | Gaussian | Histogram | MultivariateGaussian | ChowLiuTree
)

LEAVES = (
    Bernoulli, Categorical, Gaussian, Histogram, MultivariateGaussian, ChowLiuTree,
)  # fmt: skip
"""All kinds of leaves; in files by their position, after sums and products."""

__all__ = [
    "Bernoulli",
    "BernoulliBeta",
    "Categorical",
    "CategoricalDirichlet",
    "CategoricalEmission",
    "ChowLiuTree",
    "Emission",
    "ExponentialGamma",
    "Gaussian",
    "Histogram",
    "JointEmission",
    "Leaf",
    "LeafModel",
    "LinearRegressionNormalGamma",
    "MultivariateGaussian",
    "NormalEmission",
    "NormalInverseWishart",
    "NormalNormalGamma",
    "PoissonGamma",
]
