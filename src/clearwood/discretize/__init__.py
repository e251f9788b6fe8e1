"""Discretization of numeric features: MDLP of Fayyad and Irani, and equal halves."""

from clearwood.discretize.binners import BinaryBinner, MDLPDiscretizer
from clearwood.discretize.cuts import (
    Decision,
    bin_positions,
    bin_texts,
    halving_cut,
    mdlp_decisions,
)
from clearwood.discretize.levels import UNSEEN_LEVEL, LevelCoder

__all__ = [
    "UNSEEN_LEVEL",
    "BinaryBinner",
    "Decision",
    "LevelCoder",
    "MDLPDiscretizer",
    "bin_positions",
    "bin_texts",
    "halving_cut",
    "mdlp_decisions",
]
