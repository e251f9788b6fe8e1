"""Meta-trees: the exact posterior over all prunings of a tree (Nakahara 2023).

A ``Structure`` says what is asked where, a leaf model what a leaf says, and a
``MetaTree`` learns rows and predicts with all prunings at once.
"""

from clearwood.conjugate import (
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
from clearwood.metatree.growing.from_ensemble import (
    from_ensemble_tree,
    from_sklearn_tree,
    grow_cart,
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
    "AnnotatedTree",
    "BernoulliBeta",
    "BinCoder",
    "CategoricalDirichlet",
    "ExactSum",
    "ExponentialGamma",
    "LeafModel",
    "LinearRegressionNormalGamma",
    "MetaForestClassifier",
    "MetaForestRegressor",
    "MetaTree",
    "MetaTreeClassifier",
    "MetaTreeRegressor",
    "NormalNormalGamma",
    "PoissonGamma",
    "Posterior",
    "Predictive",
    "PrunedTree",
    "Structure",
    "TreeNode",
    "TreeSampler",
    "ValueCoder",
    "compare_scores",
    "compute_posterior",
    "constant_prior",
    "exact_sum",
    "from_ensemble_tree",
    "from_sklearn_tree",
    "given",
    "grow_cart",
    "map_tree",
    "predict_at",
    "read_tree",
    "sample_trees",
    "search_corrected_prior",
    "structure_of",
    "tree_weights",
]
