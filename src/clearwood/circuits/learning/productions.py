"""Production rules that grow circuits from blocks of leaves (4.2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearwood._numeric.logspace import log_of
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import ROWS, Compiled, compile_circuit
from clearwood.circuits.learning.clusters import ALPHA, Starts, cluster_rows, starts
from clearwood.circuits.learning.dependence import find_dependence
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.leaf_blocks import Block
from clearwood.circuits.learning.recursion import product_of
from clearwood.circuits.learning.slices import LEAST_ROWS, Slice
from clearwood.circuits.nodes import Node, Product, Sum
from clearwood.distributions.categorical import shares

NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Subcircuit:
    """Part of a circuit, its log density of validation rows, and where it may grow.

    Circuits that differ in one place share all other branches.

    Attributes
    ----------
    node : node
    log_density : ndarray of shape (n_valid,)
    degrees_of_freedom : int
    children : tuple of Subcircuit
        None for a block: leaves that were fitted together.
    rows, columns : ndarray of int and of bool, or None
        Rows and columns of the whole table that a block was fitted to.
    """

    node: Node
    log_density: np.ndarray
    degrees_of_freedom: int
    children: tuple[Subcircuit, ...] = ()
    rows: np.ndarray | None = None
    columns: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """Table on which circuits grow, with the production rules for blocks of leaves.

    Attributes
    ----------
    table : LearningTable
    whole : Slice
        The same, as a slice.
    trees : bool
        Whether discrete columns may be joined in one leaf.
    """

    table: LearningTable
    whole: Slice
    trees: bool

    @classmethod
    def from_table(cls, table: LearningTable, trees: bool) -> SearchSpace:
        """Read a table."""
        return cls(
            table, Slice.from_table(table.train, table.valid, table.features), trees
        )

    def single_block(self) -> Subcircuit:
        """One block of all rows, with independent columns."""
        columns = np.ones(self.whole.n_columns, dtype=bool)
        return self.block(np.arange(len(self.table.train)), columns, joined=False)

    def grow(self, root: Subcircuit, rng: np.random.Generator) -> Subcircuit | None:
        """Apply a production rule to one block, drawn by its number of cells."""
        paths = [path for path in _paths_to_blocks(root) if _n_cells(path[-1])]
        if not paths:
            return None
        n_cells = np.array([_n_cells(path[-1]) for path in paths], dtype=np.float64)
        path = paths[rng.choice(len(paths), p=n_cells / n_cells.sum())]
        rules = [self.mixture, self.partition] + [self.union] * self.trees
        rows, columns = path[-1].rows, path[-1].columns
        assert rows is not None and columns is not None  # as it is a block
        new = rules[rng.integers(len(rules))](rows, columns, rng)
        return None if new is None else _put(path, new)

    def mixture(
        self, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> Subcircuit | None:
        """Mixture of two clusters of rows, by hard EM from two random rows."""
        own = self._slice(rows, columns)
        start = next(starts(own, Starts(1, drawn=True), rng), None)
        found = None if start is None else cluster_rows(own, start, 2)
        if found is None or not found.sizes.all():
            return None
        joined = self._joined(rng)
        kinds = [rows[found.cluster == k] for k in range(2)]
        children = tuple(self.block(kind, columns, joined) for kind in kinds)
        return _above(Sum(shares(found.sizes + ALPHA), _nodes(children)), children)

    def partition(
        self, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> Subcircuit | None:
        """Product of a group of columns, with two clusters, and the other columns.

        Without the clusters the density would not change, as the leaves of a block are
        independent of each other.
        """
        own = self._slice(rows, columns)
        group = _drawn_group(find_dependence(own).groups, rng)
        chosen = np.zeros_like(columns)
        chosen[np.flatnonzero(columns)[group]] = True
        kinds = self.mixture(rows, chosen, rng)
        if kinds is None:
            return None
        children = self.block(rows, columns & ~chosen, self._joined(rng)), kinds
        return _above(product_of(_nodes(children)), children)

    def union(
        self, rows: np.ndarray, columns: np.ndarray, rng: np.random.Generator
    ) -> Subcircuit:
        """One leaf per group of dependent columns."""
        return self.block(rows, columns, joined=True)

    def block(self, rows: np.ndarray, columns: np.ndarray, joined: bool) -> Subcircuit:
        """Fit leaves to some cells, with or without trees of discrete columns."""
        block = Block.from_slice(self._slice(rows, columns), trees=joined)
        return self._block(tuple(block.leaves(ALPHA, joined)), rows, columns)

    def _block(
        self, leaves: tuple[Node, ...], rows: np.ndarray, columns: np.ndarray
    ) -> Subcircuit:
        root = leaves[0] if len(leaves) == 1 else product_of(leaves)
        circuit = Circuit(root, self.table.features)
        return Subcircuit(
            root,
            compile_circuit(circuit).log_likelihood(self.table.valid),
            circuit.degrees_of_freedom,
            rows=rows,
            columns=columns,
        )

    def _joined(self, rng: np.random.Generator) -> bool:
        return self.trees and rng.random() < 0.5

    def _slice(self, rows: np.ndarray, columns: np.ndarray) -> Slice:
        return self.whole.of_rows(rows, NONE).of_columns(columns)

    def from_circuit(self, root: Node) -> Subcircuit:
        """Import a circuit; sibling leaves become a block.

        The rows of a block are those that most likely belong to its component.
        """
        compiled = compile_circuit(Circuit(root, self.table.features))
        rows = _rows_of_places(compiled, self.table.train)
        order = np.append(self.whole.discrete, self.whole.continuous)
        found, below = [(root, len(rows) - 1)], []
        for node, place in found:  # which grows on the way
            inner = [child for child in _children(node) if not _is_leaf(child, node)]
            below.append(range(len(found), len(found) + len(inner)))
            own = slice(compiled.first[place], compiled.first[place + 1])
            found += zip(inner, compiled.child[own].tolist())
        made: dict[int, Subcircuit] = {}
        for i, (node, place) in reversed(list(enumerate(found))):
            children = [made.pop(j) for j in below[i]]
            leaves = tuple(c for c in _children(node) or (node,) if _is_leaf(c, node))
            if leaves:
                columns = [j for leaf in leaves for j in leaf.variables]
                chosen = np.isin(order, columns)
                children.append(self._block(leaves, rows[place], chosen))
            made[i] = children[0]
            if isinstance(node, Sum | Product) and len(children) > 1:
                made[i] = _above(node, tuple(children))
        return made[0]


def _drawn_group(label: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw connected columns; if all or none are, each with probability 1/2."""
    sizes = np.bincount(label)
    sizes[sizes == 1] = 0
    if sizes.max() in (0, len(label)):
        group = rng.random(len(label)) < 0.5
        group[rng.choice(len(label), 2, replace=False)] = [False, True]
        return group
    return label == rng.choice(len(sizes), p=sizes / sizes.sum())


# Branches


def _above(node: Sum | Product, children: tuple[Subcircuit, ...]) -> Subcircuit:
    """Subcircuit of a node with given children."""
    parts = np.array([child.log_density for child in children])
    freedom = sum(child.degrees_of_freedom for child in children)
    if isinstance(node, Product):
        return Subcircuit(node, parts.sum(axis=0), freedom, children)
    parts += log_of(node.weights)[:, None]
    density = np.logaddexp.reduce(parts)
    return Subcircuit(node, density, freedom + len(children) - 1, children)


def _put(path: tuple[Subcircuit, ...], new: Subcircuit) -> Subcircuit:
    """Replace the branch at the end of a path from the root."""
    for parent, old in zip(path[-2::-1], path[:0:-1]):
        children = tuple(new if child is old else child for child in parent.children)
        if isinstance(parent.node, Sum):
            node = Sum(parent.node.weights, _nodes(children))
            new = _above(node, children)
        else:
            new = _above(product_of(_nodes(children)), children)
    return new


def _children(node: Node) -> tuple[Node, ...]:
    return node.children if isinstance(node, Sum | Product) else ()


def _is_leaf(node: Node, parent: Node) -> bool:
    """Whether a node is a leaf that has no place of its own."""
    return not isinstance(parent, Sum) and not isinstance(node, Sum | Product)


def _rows_of_places(compiled: Compiled, values: np.ndarray) -> list[np.ndarray]:
    """Rows of each place, each row in the likeliest child of every sum."""
    parts: list[list[np.ndarray]] = [[] for _ in compiled.sums]
    for start in range(0, len(values), ROWS):
        log = compiled.upward(values[start : start + ROWS])
        comes = np.ones(log.shape, dtype=bool)
        for place in reversed(range(len(log))):
            own = slice(compiled.first[place], compiled.first[place + 1])
            child = compiled.child[own]
            comes[child] = comes[place]
            if compiled.sums[place]:
                best = (log[child] + compiled.log_weight[own, None]).argmax(axis=0)
                comes[child] &= best == np.arange(len(child))[:, None]
            parts[place].append(start + np.flatnonzero(comes[place]))
    return [np.concatenate([NONE, *part]) for part in parts]


def _nodes(branches: tuple[Subcircuit, ...]) -> tuple[Node, ...]:
    return tuple(branch.node for branch in branches)


def _paths_to_blocks(root: Subcircuit) -> Iterator[tuple[Subcircuit, ...]]:
    """Paths from the root to every block."""
    waiting: list[tuple[Subcircuit, ...]] = [(root,)]
    while waiting:
        path = waiting.pop()
        if path[-1].rows is not None:
            yield path
        waiting += [(*path, child) for child in path[-1].children]


def _n_cells(block: Subcircuit) -> int:
    """Number of cells of a block that may grow; 0 if it is too small."""
    assert block.rows is not None and block.columns is not None
    n_rows, n_columns = len(block.rows), int(block.columns.sum())
    return n_rows * n_columns if n_rows >= LEAST_ROWS and n_columns > 1 else 0
