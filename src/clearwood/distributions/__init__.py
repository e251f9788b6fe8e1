"""Probability distributions: conjugate models, leaves of circuits, and emissions.

Each has a file of its own, with its C++ kernels on arrays of numbers beside it
(``normal.hpp`` beside ``normal.py``); there are three ways to use one.

*A conjugate model* is a prior, such as ``NormalNormalGamma(kappa=0.2)``, with the
posterior of a target given a set of rows in closed form. Its methods are

- ``statistics``, ``add_rows``, ``merge``, ``remove``: sufficient statistics of rows,
  with weights,
- ``log_marginal``: evidence of the rows, their parameters integrated out,
- ``log_density``, ``mean``, ``variance``, ``cdf``, ``quantile`` (of classes
  ``probabilities`` too): the posterior predictive of one more row,
- ``check_target``: whether the target has positive probability.

*A leaf* of a circuit has parameters, such as ``Gaussian(0, 1.5, 2.0)`` of column 0; see
``leaves``. *An emission* of a hidden Markov model is a prior of the parameters of all
states, such as ``CategoricalEmission((1.0, 1.0))``; see ``emission``.

``partial_normal`` has multivariate normals for rows with missing entries: density,
moments for EM, draws; ``NormalInverseWishart`` is the prior of their means and
covariances, in its own parameters.
"""

from clearwood.distributions.categorical import (
    Bernoulli,
    Categorical,
    CategoricalEmission,
)
from clearwood.distributions.chow_liu import ChowLiuTree
from clearwood.distributions.counts import BernoulliBeta, CategoricalDirichlet
from clearwood.distributions.emission import Emission, JointEmission, PointMassEmission
from clearwood.distributions.gamma import ExponentialGamma, PoissonGamma
from clearwood.distributions.histogram import Histogram
from clearwood.distributions.leaf_model import LeafModel
from clearwood.distributions.linear import LinearRegressionNormalGamma
from clearwood.distributions.normal import Gaussian, NormalNormalGamma
from clearwood.distributions.normal_wishart import (
    NormalEmission,
    NormalInverseWishart,
    normal_prior,
)
from clearwood.distributions.partial_normal import MultivariateGaussian

CONJUGATE = (
    BernoulliBeta, CategoricalDirichlet, PoissonGamma, ExponentialGamma,
    NormalNormalGamma, LinearRegressionNormalGamma,
)  # fmt: skip
"""All models of targets; a new one needs a branch in ``_kernels.hpp``."""

Leaf = (
    Bernoulli | Categorical | Gaussian | Histogram | MultivariateGaussian | ChowLiuTree
)

LEAVES = (
    Bernoulli, Categorical, Gaussian, Histogram, MultivariateGaussian, ChowLiuTree,
)  # fmt: skip
"""All types of leaves; in files by their position, after sums and products."""

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
    "PointMassEmission",
    "PoissonGamma",
    "normal_prior",
]
