"""Upward and downward passes of rows through a compiled circuit, in blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from clearwood.circuits.compiled import ROWS, Compiled
from clearwood.circuits.leaf_arrays import OneByOne
from clearwood.circuits.nodes import Product, Sum, walk
from clearwood.circuits.queries.conditioning import impossible, known
from clearwood.distributions import Leaf


class RowsInside(NamedTuple):
    """A block of rows in a circuit.

    Attributes
    ----------
    start : int
        Position of the block's first row.
    values : ndarray of shape (n_rows, n_features)
        Values known to the circuit; NaN for missing ones.
    log : ndarray of shape (n_places, n_rows)
        Log density of the present entries, at every place.
    flow : ndarray of shape (n_places, n_rows)
        Probability that a row reaches a place, given the present entries.
    """

    start: int
    values: np.ndarray
    log: np.ndarray
    flow: np.ndarray


def passes(
    compiled: Compiled, values: np.ndarray, block_rows: int = ROWS
) -> Iterator[RowsInside]:
    """Pass rows up and down; an impossible row raises an error with its position."""
    values = known(compiled.circuit, values)
    for start in range(0, len(values), block_rows):
        block = values[start : start + block_rows]
        log = compiled.upward(block)
        for row in np.flatnonzero(np.isneginf(log[-1])):
            raise impossible(start + int(row))
        flow, _ = compiled.downward(log, np.ones(len(block)))
        yield RowsInside(start, block, log, flow)


class ColumnLeaves(NamedTuple):
    """Leaves over a column, by type.

    Attributes
    ----------
    variable : int
    level_at : ndarray of shape (n_tables,)
        Places of Bernoulli and categorical leaves.
    levels : ndarray of shape (n_tables, n_levels)
        Their probabilities.
    normal_at, mean, variance : ndarray of shape (n_normals,)
        Of Gaussian leaves.
    others : list of (int, Leaf)
        Histograms, and leaves of several columns, with their places.
    """

    variable: int
    level_at: np.ndarray
    levels: np.ndarray
    normal_at: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    others: list[tuple[int, OneByOne]]


def columns_of(compiled: Compiled) -> list[ColumnLeaves]:
    """Leaves of every column, columns in increasing order."""
    tables, normals = compiled.leaves.levels, compiled.leaves.normals
    over = np.array([leaf.variable for leaf in tables.leaves], dtype=np.intp)
    others: dict[int, list[Any]] = defaultdict(list)
    for leaf, place in zip(compiled.leaves.others, compiled.leaves.place.tolist()):
        for variable in leaf.variables:
            others[variable].append((place, leaf))
    found = []
    for variable in sorted(compiled.circuit.root.variables):
        own = np.flatnonzero(over == variable)
        labels = compiled.circuit.features.categories[variable] or ()
        entries = tables.first[own][:, None] + np.arange(len(labels))
        normal = normals.variable == variable
        found.append(
            ColumnLeaves(
                variable,
                compiled.leaf_place[tables.at[own]],
                tables.probabilities[entries],
                normals.place[normal],
                normals.mean[normal],
                normals.variance[normal],
                others[variable],
            )
        )
    return found


def leaves_of(compiled: Compiled) -> dict[int, list[Leaf]]:
    """Leaves of every place that has some."""
    found: dict[int, list[Leaf]] = defaultdict(list)
    nodes = walk(compiled.circuit.root)
    leaves = (node for node in nodes if not isinstance(node, Sum | Product))
    for place, leaf in zip(compiled.leaf_place.tolist(), leaves):
        found[place].append(leaf)
    return found
