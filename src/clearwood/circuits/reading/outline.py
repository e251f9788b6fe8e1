"""Outline of a circuit: components and groups of columns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from clearwood.circuits.nodes import Node, Product, Sum
from clearwood.circuits.reading.profiles import Facts, Numbers, profile_of

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

MOST_CLUSTERS = 6
"""Maximum number of components listed at once."""

LEAST_MARK = 0.02
"""Minimum divergence in nats for a column to mark a component: 60 against 50 %."""


class CircuitPart(NamedTuple):
    """Subset of the rows and of the columns, and its parts.

    Attributes
    ----------
    node : node
    share : float
        Share of the rows of the parent; 1 for a group of columns.
    profile : dict of int to Shares or Moments
        Distribution of every column here.
    marks : tuple of int
        Columns that differ from those of the parent, in decreasing order.
    clusters : tuple of CircuitPart
        Components, the largest first; empty if rows are alike, or at the last depth.
    groups : tuple of CircuitPart
        Groups of columns, independent of each other in these rows, the largest first.
    """

    node: Node
    share: float
    profile: dict[int, Facts]
    marks: tuple[int, ...] = ()
    clusters: tuple[CircuitPart, ...] = ()
    groups: tuple[CircuitPart, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns in increasing order."""
        return tuple(self.profile)

    @property
    def n_hidden_clusters(self) -> int:
        """Number of components of the circuit that are not shown separately."""
        if isinstance(self.node, Sum) and not self.clusters:
            return len(clusters_of(self.node))
        return 0


def outline(node: Node, depth: int, numbers: Numbers = ()) -> CircuitPart:
    """Outline of a circuit down to some depth.

    Nested mixtures are merged, into up to six components; of more, the smaller ones
    stay together and are separated one level deeper. Nested products are merged as
    well.

    Parameters
    ----------
    node : node
    depth : int
        Depth to which nested components are shown.
    numbers : sequence of NumericColumn or None, optional
        Of the circuit's table, in whose units the distributions are.

    Returns
    -------
    CircuitPart
    """
    return _part(node, depth, 1.0, profile_of(node, numbers), (), numbers)


def _part(
    node: Node,
    depth: int,
    share: float,
    profile: dict[int, Facts],
    marks: tuple[int, ...],
    numbers: Numbers,
) -> CircuitPart:
    clusters: list[CircuitPart] = []
    groups: list[CircuitPart] = []
    if isinstance(node, Sum) and depth > 0:
        for weight, cluster in clusters_of(node):
            own = profile_of(cluster, numbers)
            marks_of = distinguishing_columns(own, profile, numbers)
            clusters.append(_part(cluster, depth - 1, weight, own, marks_of, numbers))
    elif isinstance(node, Product):
        for group in groups_of(node):
            own = {j: profile[j] for j in sorted(group.variables)}
            groups.append(_part(group, depth, 1.0, own, (), numbers))
        groups.sort(key=lambda part: (-len(part.profile), part.columns))
    return CircuitPart(node, share, profile, marks, tuple(clusters), tuple(groups))


def clusters_of(node: Sum, most: int = MOST_CLUSTERS) -> list[tuple[float, Node]]:
    """Components with their shares, the largest first.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.distributions import Bernoulli
    >>> inner = Sum(np.array([0.5, 0.5]), (Bernoulli(0, 0.1), Bernoulli(0, 0.9)))
    >>> outer = Sum(np.array([0.4, 0.6]), (Bernoulli(0, 0.5), inner))
    >>> [round(share, 2) for share, _ in clusters_of(outer)]
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
    """Groups of columns; nested products are merged."""
    found: list[Node] = []
    waiting = list(node.children)
    while waiting:
        child = waiting.pop()
        if isinstance(child, Product):
            waiting += child.children
        else:
            found.append(child)
    return found


def is_independent(node: Node, numbers: Numbers = ()) -> bool:
    """Whether columns are independent; point masses belong to their column."""
    of = {place: j for j, place in _places(numbers).items()}
    groups = groups_of(node) if isinstance(node, Product) else [node]
    return all(len({of.get(j, j) for j in group.variables}) == 1 for group in groups)


def _places(numbers: Numbers) -> dict[int, int]:
    """Variable of the point masses of a column, by column; see ``TableVariables``."""
    own = [j for j, one in enumerate(numbers) if one is not None and one.point_masses]
    return {j: len(numbers) + i for i, j in enumerate(own)}


def class_model_of(circuit: Circuit) -> str:
    """Model of the class of a classifier, the last column; "" if there is none."""
    root, table = circuit.root, circuit.table
    if not any(circuit.features.categories[table.n_variables :]):
        return ""
    if not isinstance(root, Sum):
        return "one network"
    parts = [part for _, part in clusters_of(root, sys.maxsize)]
    classes = [profile_of(part)[table.n_variables].probabilities for part in parts]  # type: ignore[union-attr]
    if any(shares.max() < 1 for shares in classes):
        return "one network"
    if all(is_independent(part, table.numbers) for part in parts):
        return "naive Bayes"
    return "one network per class"


def divergences(
    own: dict[int, Facts], of_all: dict[int, Facts], numbers: Numbers = ()
) -> dict[int, float]:
    """Divergence of each column from that of all rows, in nats per row."""
    gain = {j: own[j].divergence(of_all[j]) for j in own}  # type: ignore[arg-type]
    for j, place in _places(numbers).items():
        if j in own and place in own:
            # A row at a point mass has no number.
            gain[j] *= own[place].probabilities[0]  # type: ignore[union-attr]
    return gain


def distinguishing_columns(
    own: dict[int, Facts], of_all: dict[int, Facts], numbers: Numbers = ()
) -> tuple[int, ...]:
    """Columns whose distribution differs from that of all rows, in decreasing order."""
    gain = divergences(own, of_all, numbers)
    ranked = sorted(gain, key=lambda j: (-gain[j], j))
    return tuple(j for j in ranked if gain[j] >= LEAST_MARK)
