"""Tree ensembles of other libraries, read into one exact form.

``read_ensemble`` turns a fitted model or a model file into a ``TreeEnsemble``: flat
arrays that predict what the model predicts. ``TreeEnsemble.splits`` lists the splits of
its trees; ``check`` describes a model and validates it.

Read ``tree_ensemble`` first (the sum of the leaves), then ``flat_trees`` (the path of a
row). ``read`` selects the reader: one folder per library, which assembles trees with
``nodes`` and converts thresholds with ``casts``.
"""

from clearwood.ensembles.check import ModelCheck, check
from clearwood.ensembles.flat_trees import CategoricalSplit, NumericSplits, Splits
from clearwood.ensembles.read import read_ensemble
from clearwood.ensembles.tree_ensemble import TreeEnsemble

__all__ = [
    "CategoricalSplit",
    "ModelCheck",
    "NumericSplits",
    "Splits",
    "TreeEnsemble",
    "check",
    "read_ensemble",
]
