"""Numbers into few bins, as transformers: MDLP of Fayyad and Irani, and halves."""

from clearwood.discretize.binners import BinaryBinner, MDLPDiscretizer
from clearwood.discretize.cuts import (
    Decision,
    bin_positions,
    bin_texts,
    halving_cut,
    mdlp_decisions,
)

__all__ = [
    "BinaryBinner",
    "Decision",
    "MDLPDiscretizer",
    "bin_positions",
    "bin_texts",
    "halving_cut",
    "mdlp_decisions",
]
