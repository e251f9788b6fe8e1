"""Recursive splits of rows into clusters and of columns into groups (4.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from clearwood.circuits.learning.leaf_blocks import Block
from clearwood.circuits.learning.slices import Parts, Slice
from clearwood.circuits.nodes import Node, Product, Sum
from clearwood.distributions.categorical import shares

SplitRule = Callable[[Slice], Parts | None]


@dataclass(frozen=True, eq=False)
class Piece:
    """Node without parameters: a sum, a product, or a block of leaves.

    Attributes
    ----------
    block : Block or None
        Statistics of its slice: its leaves if it has no children, otherwise those that
        may replace its children, if pruning is allowed.
    valid_rows : ndarray of int
        Indices of the validation rows of the slice.
    sizes : ndarray, optional
        Numbers of rows of the clusters, if it splits rows.
    children : list of int
    """

    block: Block | None
    valid_rows: np.ndarray
    sizes: np.ndarray | None = None
    children: list[int] = field(default_factory=list)


def grow(
    whole: Slice,
    splits: Sequence[SplitRule],
    trees: bool = True,
    prune: bool = True,
) -> list[Piece]:
    """Split a table recursively until no split is found.

    Parameters
    ----------
    whole : Slice
    splits : sequence of functions
        Tried in this order on every slice; the first that finds parts is taken. MiniSPN
        tries rows first (4.2.2), LearnSPN columns (4.2.1).
    trees : bool, default=True
        Whether leaves may be trees.
    prune : bool, default=True
        Whether pieces may become leaves again; otherwise they are not counted.

    Returns
    -------
    list of Piece
        The root first, parents before their children.
    """
    pieces: list[Piece] = []
    waiting = [(whole, -1)]
    while waiting:
        slice_, parent = waiting.pop()
        here = len(pieces)
        if parent >= 0:
            pieces[parent].children.append(here)
        found = (split(slice_) for split in splits) if slice_.n_columns > 1 else ()
        parts = next(filter(None, found), None)
        counted = parts is None or prune
        block = Block.from_slice(slice_, trees) if counted else None
        valid_rows = slice_.valid_rows
        pieces.append(Piece(block, valid_rows, parts.sizes if parts else None))
        if parts is None:
            continue
        waiting += [(part, here) for part in reversed(parts.slices)]
        if parts.alone is not None:
            pieces[here].children.append(len(pieces))
            pieces.append(
                Piece(Block.from_slice(parts.alone, independent=True), valid_rows)
            )
    return pieces


def assemble(
    pieces: list[Piece],
    alpha: float,
    trees: bool,
    pruned: Collection[int] = (),
) -> Node:
    """Build the circuit from grown pieces.

    Parameters
    ----------
    pieces : list of Piece
    alpha, trees
        Smoothing and the kind of leaves, see `Block.leaves`.
    pruned : collection of int
        Pieces replaced by trees.
    """
    made: dict[int, Node] = {}
    for i in reversed(range(len(pieces))):
        piece = pieces[i]
        children = [made.pop(child) for child in piece.children]
        if piece.block is not None and (i in pruned or not children):
            children = [*piece.block.leaves(alpha, trees or i in pruned)]
        elif piece.sizes is not None:
            made[i] = Sum(shares(piece.sizes + alpha), tuple(children))
            continue
        made[i] = children[0] if len(children) == 1 else product_of(children)
    return made[0]


def product_of(children: Sequence[Node]) -> Product:
    """A product whose children are none."""
    flat: list[Node] = []
    for child in children:
        flat += child.children if isinstance(child, Product) else (child,)
    return Product(tuple(flat))
