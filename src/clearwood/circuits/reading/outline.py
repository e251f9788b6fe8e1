"""The parts of a circuit that one reads first: kinds of rows and groups of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clearwood.circuits.nodes import Heap, Node, Product, Sum
from clearwood.circuits.reading.profiles import Facts, profile_of

MOST_KINDS = 6
"""Kinds of rows that are told apart at once."""

LEAST_MARK = 0.02
"""Nats by which a column must differ to mark a kind: 60 instead of 50 % is as much."""


class CircuitPart(NamedTuple):
    """Some of the rows and some of the columns, and what these are made of.

    Attributes
    ----------
    node : node
    share : float
        Of the rows of the part that it is in; 1 for a group of columns.
    profile : dict of int to Shares or Spread
        Every column's distribution here.
    marks : tuple of int
        Columns that differ from those of the part that it is in, most of all first.
    kinds : tuple of CircuitPart
        Of rows, the largest first; none where all are alike, or at the last depth.
    groups : tuple of CircuitPart
        Of columns, independent of each other among these rows, the largest first.
    """

    node: Node
    share: float
    profile: dict[int, Facts]
    marks: tuple[int, ...] = ()
    kinds: tuple[CircuitPart, ...] = ()
    groups: tuple[CircuitPart, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """What it tells of, in increasing order."""
        return tuple(self.profile)

    @property
    def n_kinds_inside(self) -> int:
        """Kinds of rows that are not told apart, though the circuit does."""
        if isinstance(self.node, Sum) and not self.kinds:
            return len(kinds_of(self.node))
        return 0


def outline(node: Node, depth: int, heaps: Sequence[Heap] = ()) -> CircuitPart:
    """A circuit down to some depth.

    Mixtures of mixtures are one, of up to six kinds of rows; of more, the smaller
    ones stay together and are told apart a step further down. So are products of
    products.

    Parameters
    ----------
    node : node
    depth : int
        How often rows are told apart, one kind within another.
    heaps : sequence of Heap, optional
        Of the circuit.

    Returns
    -------
    CircuitPart
    """
    return _part(node, depth, 1.0, profile_of(node, heaps), (), heaps)


def _part(
    node: Node,
    depth: int,
    share: float,
    profile: dict[int, Facts],
    marks: tuple[int, ...],
    heaps: Sequence[Heap],
) -> CircuitPart:
    kinds: list[CircuitPart] = []
    groups: list[CircuitPart] = []
    if isinstance(node, Sum) and depth > 0:
        for weight, kind in kinds_of(node):
            own = profile_of(kind, heaps)
            marks_of = marking(own, profile)
            kinds.append(_part(kind, depth - 1, weight, own, marks_of, heaps))
    elif isinstance(node, Product):
        for group in groups_of(node):
            own = {j: profile[j] for j in sorted(group.variables)}
            groups.append(_part(group, depth, 1.0, own, (), heaps))
        groups.sort(key=lambda part: (-len(part.profile), part.columns))
    return CircuitPart(node, share, profile, marks, tuple(kinds), tuple(groups))


def kinds_of(node: Sum, most: int = MOST_KINDS) -> list[tuple[float, Node]]:
    """Kinds of rows with their shares, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.distributions import Bernoulli
    >>> inner = Sum(np.array([0.5, 0.5]), (Bernoulli(0, 0.1), Bernoulli(0, 0.9)))
    >>> outer = Sum(np.array([0.4, 0.6]), (Bernoulli(0, 0.5), inner))
    >>> [round(share, 2) for share, _ in kinds_of(outer)]
    [0.4, 0.3, 0.3]
    """
    found = _weighted(node, 1.0)
    while True:
        mixtures = [pair for pair in found if isinstance(pair[1], Sum)]
        if not mixtures:
            break
        largest = max(mixtures, key=lambda pair: pair[0])
        inner = _weighted(largest[1], largest[0])  # type: ignore[arg-type]
        if len(found) + len(inner) - 1 > most:
            break
        found = [pair for pair in found if pair is not largest] + inner
    return sorted(found, key=lambda pair: -pair[0])


def _weighted(node: Sum, share: float) -> list[tuple[float, Node]]:
    weights = (share * node.weights).tolist()
    return [(w, child) for w, child in zip(weights, node.children) if w > 0]


def groups_of(node: Product) -> list[Node]:
    """Groups of columns; those of a product within the product count by themselves."""
    found: list[Node] = []
    waiting = list(node.children)
    while waiting:
        child = waiting.pop()
        if isinstance(child, Product):
            waiting += child.children
        else:
            found.append(child)
    return found


def marking(own: dict[int, Facts], of_all: dict[int, Facts]) -> tuple[int, ...]:
    """Columns whose distribution differs from that of all, most of all first."""
    gain = {j: own[j].divergence(of_all[j]) for j in own}  # type: ignore[arg-type]
    ranked = sorted(gain, key=lambda j: (-gain[j], j))
    return tuple(j for j in ranked if gain[j] >= LEAST_MARK)
