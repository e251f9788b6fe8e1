"""Tree ensembles of other libraries, read into one exact form.

``read_ensemble`` turns a fitted model into a ``TreeEnsemble``: flat arrays that predict
what the model predicts. ``TreeEnsemble.splits`` lists the questions its trees ask.
"""

from clearwood.ensembles.read import read_ensemble
from clearwood.ensembles.tree_ensemble import (
    CategoricalSplit,
    NumericSplits,
    Splits,
    TreeEnsemble,
)

__all__ = [
    "CategoricalSplit",
    "NumericSplits",
    "Splits",
    "TreeEnsemble",
    "read_ensemble",
]
