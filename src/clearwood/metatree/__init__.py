"""Meta-trees: the exact posterior over all prunings of a tree (Nakahara 2023).

The estimators ``MetaTreeClassifier``, ``MetaTreeRegressor``, ``MetaForestClassifier``
and ``MetaForestRegressor`` cover most uses; ``map_tree_`` of a fitted one is a readable
``AnnotatedTree``, and ``compare_scores`` compares the average with single trees.

For finer control, a ``Structure`` holds the splits (``given``, ``from_sklearn_tree``),
a leaf model is the predictive model of a leaf (``CategoricalDirichlet``,
``NormalNormalGamma``), and a ``MetaTree`` learns rows and predicts with the average
over all prunings. ``exact_sum`` averages over the splits as well. The place to start
reading the code is ``posterior/posterior.py``.
"""

from clearwood.distributions import (
    BernoulliBeta,
    CategoricalDirichlet,
    ExponentialGamma,
    LeafModel,
    LinearRegressionNormalGamma,
    NormalNormalGamma,
    PoissonGamma,
)
from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree.exact.sampler import TreeSampler
from clearwood.metatree.exact.sum import ExactSum, exact_sum
from clearwood.metatree.exact.trees import map_tree, sample_trees, structure_of
from clearwood.metatree.forest_estimators import (
    MetaForestClassifier,
    MetaForestRegressor,
)
from clearwood.metatree.growing.cart import grow_cart
from clearwood.metatree.growing.from_ensemble import (
    from_ensemble_tree,
    from_sklearn_tree,
)
from clearwood.metatree.posterior.coder import BinCoder, ValueCoder
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.posterior import (
    Posterior,
    PrunedTree,
    compute_posterior,
    tree_weights,
)
from clearwood.metatree.posterior.predictive import Predictive, predict_at
from clearwood.metatree.posterior.prior import constant_prior, search_corrected_prior
from clearwood.metatree.posterior.structure import Structure, given
from clearwood.metatree.reading.annotated_tree import AnnotatedTree, TreeNode
from clearwood.metatree.reading.compare_scores import compare_scores
from clearwood.metatree.reading.read_tree import read_tree

__all__ = [
    # Main interface
    "MetaTreeClassifier",
    "MetaTreeRegressor",
    "MetaForestClassifier",
    "MetaForestRegressor",
    "AnnotatedTree",
    "compare_scores",
    # A single tree in parts
    "MetaTree",
    "given",
    "from_sklearn_tree",
    "NormalNormalGamma",
    "CategoricalDirichlet",
    "exact_sum",
    # Further leaf models
    "LeafModel",
    "BernoulliBeta",
    "PoissonGamma",
    "ExponentialGamma",
    "LinearRegressionNormalGamma",
    # Structures and priors
    "Structure",
    "BinCoder",
    "ValueCoder",
    "from_ensemble_tree",
    "grow_cart",
    "constant_prior",
    "search_corrected_prior",
    # Parts of the posterior
    "Posterior",
    "Predictive",
    "PrunedTree",
    "compute_posterior",
    "predict_at",
    "tree_weights",
    "TreeNode",
    "read_tree",
    # Sums over all splits at all nodes
    "ExactSum",
    "TreeSampler",
    "map_tree",
    "sample_trees",
    "structure_of",
]
