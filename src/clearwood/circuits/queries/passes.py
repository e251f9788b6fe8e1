"""Rows through a compiled circuit: where they go, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood.circuits.circuit import Product, Sum, walk
from clearwood.circuits.compiled import ROWS, Compiled
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
)
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


class ColumnLeaves(NamedTuple):
    """The leaves that are over a column, by what they say of it.

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
    others: list[tuple[int, Histogram | MultivariateGaussian | ChowLiuTree]]


def leaves_of(compiled: Compiled) -> Iterator[tuple[int, Leaf]]:
    """The leaves with their places."""
    nodes = walk(compiled.circuit.root)
    leaves = [node for node in nodes if not isinstance(node, Sum | Product)]
    return zip(compiled.leaf_place.tolist(), leaves)


def columns_of(compiled: Compiled) -> list[ColumnLeaves]:
    """The leaves of every column, columns in increasing order."""
    found: dict[int, list[tuple[int, Leaf]]] = {}
    for place, leaf in leaves_of(compiled):
        for variable in leaf.variables:
            found.setdefault(variable, []).append((place, leaf))
    categories = compiled.circuit.features.categories
    return [
        _column(variable, own, len(categories[variable] or ()))
        for variable, own in sorted(found.items())
    ]


def _column(variable: int, own: list[tuple[int, Leaf]], n_levels: int) -> ColumnLeaves:
    tables, normals, others = [], [], []
    for place, leaf in own:
        match leaf:
            case Bernoulli() | Categorical():
                tables.append((place, leaf.probabilities))
            case Gaussian(_, mean, variance):
                normals.append((place, mean, variance))
            case _:
                others.append((place, leaf))
    numbers = np.array(normals).reshape(-1, 3).T
    return ColumnLeaves(
        variable,
        np.array([place for place, _ in tables], dtype=np.intp),
        np.array([p for _, p in tables]).reshape(len(tables), n_levels),
        numbers[0].astype(np.intp),
        numbers[1],
        numbers[2],
        others,
    )
