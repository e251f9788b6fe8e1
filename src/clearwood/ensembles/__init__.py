"""Tree ensembles of other libraries, read into one exact form.

``read_ensemble`` turns a fitted model into a ``TreeEnsemble``: flat arrays that predict
what the model predicts. ``TreeEnsemble.splits`` lists the questions its trees ask.
"""

from clearwood.ensembles.read import read_ensemble
from clearwood.ensembles.splits import CategoricalSplit, NumericSplits, Splits
from clearwood.ensembles.tree_ensemble import TreeEnsemble

__all__ = [
    "CategoricalSplit",
    "NumericSplits",
    "Splits",
    "TreeEnsemble",
    "read_ensemble",
]
