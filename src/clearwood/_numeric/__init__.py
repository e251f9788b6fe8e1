"""Numerical ground floor: kernels, log space, means, bisection, seeds, row blocks."""

from clearwood._numeric.bisection import bisect, bisect_whole
from clearwood._numeric.blocks import BLOCK_ROWS, Block, Blocks
from clearwood._numeric.kernel import kernel
from clearwood._numeric.logspace import clipped_log, xlogx
from clearwood._numeric.pooling import pool_values
from clearwood._numeric.seeds import as_generator, spawn_generators
from clearwood._numeric.weighted import (
    WeightedMoments,
    effective_number,
    weighted_mean_and_error,
)

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "Blocks",
    "WeightedMoments",
    "as_generator",
    "bisect",
    "bisect_whole",
    "clipped_log",
    "effective_number",
    "kernel",
    "pool_values",
    "spawn_generators",
    "weighted_mean_and_error",
    "xlogx",
]
