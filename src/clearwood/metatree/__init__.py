"""Meta-trees: the exact posterior over all prunings of a tree (Nakahara 2023).

The estimators ``MetaTreeClassifier``, ``MetaTreeRegressor``, ``MetaForestClassifier``
and ``MetaForestRegressor`` do all of it; ``map_tree_`` of a fitted one is an
``AnnotatedTree`` to read, and ``compare_scores`` sets the average beside single trees.

By hand: a ``Structure`` says what is asked where (``given``, ``from_sklearn_tree``), a
leaf model what a leaf says (``CategoricalDirichlet``, ``NormalNormalGamma``), and a
``MetaTree`` learns rows and predicts with all prunings at once. ``exact_sum`` averages
over the questions as well. Whoever reads the code begins in ``posterior/posterior.py``.
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
    # What most people need
    "MetaTreeClassifier",
    "MetaTreeRegressor",
    "MetaForestClassifier",
    "MetaForestRegressor",
    "AnnotatedTree",
    "compare_scores",
    # One tree by hand
    "MetaTree",
    "given",
    "from_sklearn_tree",
    "NormalNormalGamma",
    "CategoricalDirichlet",
    "exact_sum",
    # Further leaves
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
    # The posterior in parts
    "Posterior",
    "Predictive",
    "PrunedTree",
    "compute_posterior",
    "predict_at",
    "tree_weights",
    "TreeNode",
    "read_tree",
    # All questions at all nodes
    "ExactSum",
    "TreeSampler",
    "map_tree",
    "sample_trees",
    "structure_of",
]
