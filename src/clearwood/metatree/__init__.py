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

from clearwood._lazy import loader, names_in
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

_DISPLAYS = names_in(
    {
        "metatree.reading.display": "MetaTreeDisplay",
    }
)
"""Names that are loaded when they are first used, and their modules."""

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
    "MetaTreeDisplay",
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
    "map_tree",
    "predict_at",
    "read_tree",
    "sample_trees",
    "search_corrected_prior",
    "structure_of",
    "tree_weights",
]

__getattr__ = loader(__name__, _DISPLAYS)
