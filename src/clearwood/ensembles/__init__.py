"""Tree ensembles of other libraries, read into one exact form.

``read_ensemble`` turns a fitted model or a model file into a ``TreeEnsemble``: flat
arrays that predict what the model predicts. ``TreeEnsemble.splits`` lists the questions
its trees ask; ``check`` says what is in a model and whether it is sound.

Read ``tree_ensemble`` first (what the leaves add up to), then ``flat_trees`` (which
way a row goes). ``read`` finds the reader: one folder per library, which puts trees
together with ``nodes`` and moves thresholds with ``casts``.
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
