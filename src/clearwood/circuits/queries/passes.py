"""Rows through a compiled circuit: where they go, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood.circuits.circuit import Product, Sum, walk
from clearwood.circuits.compiled import ROWS, Compiled
from clearwood.circuits.distributions import Leaf
from clearwood.circuits.queries.conditioning import impossible, known


class RowsInside(NamedTuple):
    """A block of rows in a circuit.

    Attributes
    ----------
    start : int
        Position of the block's first row.
    values : ndarray of shape (n_rows, n_features)
        What the circuit knows of them; NaN for what is missing.
    log : ndarray of shape (n_places, n_rows)
        Log density of what is present, in every place.
    flow : ndarray of shape (n_places, n_rows)
        Probability that a row comes to a place, given what is present.
    """

    start: int
    values: np.ndarray
    log: np.ndarray
    flow: np.ndarray


def passes(
    compiled: Compiled, values: np.ndarray, block_rows: int = ROWS
) -> Iterator[RowsInside]:
    """Send rows up and down; a row that is impossible is an error that names it."""
    values = known(compiled.circuit, values)
    for start in range(0, len(values), block_rows):
        block = values[start : start + block_rows]
        log = compiled.upward(block)
        for row in np.flatnonzero(np.isneginf(log[-1])):
            raise impossible(start + int(row))
        flow, _ = compiled.downward(log, np.ones(len(block)))
        yield RowsInside(start, block, log, flow)


def leaves_of(compiled: Compiled) -> list[Leaf]:
    """The leaves, in the order of their places."""
    nodes = walk(compiled.circuit.root)
    return [node for node in nodes if not isinstance(node, Sum | Product)]


def by_column(compiled: Compiled) -> dict[int, list[tuple[int, Leaf]]]:
    """For each column the leaves that are over it, with their places."""
    found: dict[int, list[tuple[int, Leaf]]] = {}
    for place, leaf in zip(compiled.leaf_place.tolist(), leaves_of(compiled)):
        for variable in leaf.variables:
            found.setdefault(variable, []).append((place, leaf))
    return dict(sorted(found.items()))
