"""Numerical utilities: ordered sums, means, bisection, seeds, blocks."""

from clearwood._numeric.bisection import bisect, bisect_whole
from clearwood._numeric.blocks import (
    BLOCK_ROWS,
    Block,
    Blocks,
    map_blocks,
    written_in_place,
)
from clearwood._numeric.category_order import category_ranks
from clearwood._numeric.logspace import clipped_log, xlogx
from clearwood._numeric.pooling import pool_values
from clearwood._numeric.same_bits import product, rounded
from clearwood._numeric.seeds import as_generator, spawn_generators
from clearwood._numeric.weighted import (
    WeightedMoments,
    effective_number,
    variance,
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
    "category_ranks",
    "clipped_log",
    "effective_number",
    "pool_values",
    "product",
    "rounded",
    "map_blocks",
    "spawn_generators",
    "variance",
    "weighted_mean_and_error",
    "written_in_place",
    "xlogx",
]
