"""Numerical ground floor: compiled kernels, log-space arithmetic, seeds, row blocks."""

from clearwood._numeric.blocks import BLOCK_ROWS, Block, Blocks
from clearwood._numeric.kernel import kernel
from clearwood._numeric.logspace import clipped_log, xlogx
from clearwood._numeric.pooling import pool_values
from clearwood._numeric.seeds import as_generator, spawn_generators

__all__ = [
    "BLOCK_ROWS",
    "Block",
    "Blocks",
    "as_generator",
    "clipped_log",
    "kernel",
    "pool_values",
    "spawn_generators",
    "xlogx",
]
