"""Feature graphs: the class, the best graph of a signal group, and random graphs.

Given the groups, rooted forests have a probability proportional to the product of their
edge weights, so that they are drawn exactly, by elimination, and the best is a maximum
spanning forest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._kernels.sbfc import draw_parents
from clearwood._numeric import as_generator
from clearwood.exceptions import InputError
from clearwood.results import Result
from clearwood.sbfc.scores import MOST_KEPT, NOISE, SIGNAL

if TYPE_CHECKING:
    import pandas as pd
    from scipy.sparse import csr_array

    from clearwood.sbfc.scores import Edges, Penalty, Scores

NEGLIGIBLE = 1e-4
"""Edges that occur in less than this share of the random forests are left out."""

WEAKEST_OF_MANY = -16.0
"""The same, where that bound would keep hundreds of millions of edges."""

MOST_ASSESSED = 100
"""Number of edges whose convergence is assessed, the least certain ones."""

MOST_NAMED = 20
"""Number of features without an edge that are listed in each group."""

ROWS_AT_A_TIME = 256
"""Rows of the matrix of gains that are processed together."""


@dataclass(frozen=True, eq=False, repr=False)
class FeatureForest(Result):
    """Feature graph: two groups of features, each a forest of trees.

    Attributes
    ----------
    signal : ndarray of bool of shape (d,)
        Whether the class is a parent of each feature.
    parent : ndarray of int32 of shape (d,)
        The other parent of each feature, in the same group; -1 for roots.
    names : sequence of str, optional
        Names of the features; by default x0, x1, ...

    Examples
    --------
    >>> names = ["age", "hair", "pulse", "eyes"]
    >>> print(FeatureForest([True, False, True, False], [-1, -1, 0, -1], names))
    signal
      age
        pulse
    noise
      hair, eyes
    """

    _display = "clearwood.sbfc.reading.display:FeatureGraphDisplay"

    signal: np.ndarray
    parent: np.ndarray
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, kind in (("signal", np.bool_), ("parent", np.int32)):
            values = np.array(getattr(self, name), dtype=kind)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        wrong = self._fault()
        if wrong:
            raise InputError(f"No forest of features: {wrong}.")

    def _fault(self) -> str:
        d, parent = len(self.signal), self.parent
        if self.signal.ndim != 1 or parent.shape != (d,):
            return f"shapes {self.signal.shape} and {parent.shape}, expected two lists"
        child = np.flatnonzero(parent != -1)
        outside = child[(parent[child] < 0) | (parent[child] >= d)]
        if len(outside):
            return f"the parent of feature {outside[0]} is {parent[outside[0]]}"
        split = child[self.signal[child] != self.signal[parent[child]]]
        if len(split):
            return f"feature {split[0]} and its parent are in different groups"
        above = parent.copy()
        for _ in range(d.bit_length()):  # pointer doubling
            above = np.where(above < 0, -1, above[above])
        return "features are their own ancestors" if (above >= 0).any() else ""

    def to_frame(self) -> pd.DataFrame:
        """Group and parent of each feature."""
        import pandas as pd

        names = np.array(self.shown_names, dtype=object)
        parents = np.where(self.parent < 0, None, names[self.parent])
        return pd.DataFrame(
            {"signal": self.signal, "parent": parents},
            index=pd.Index(names, name="feature"),
        )

    @property
    def shown_names(self) -> tuple[str, ...]:
        """Names of the features, by default x0, x1, ..."""
        if self.names is None:
            return tuple(f"x{j}" for j in range(len(self.parent)))
        return tuple(self.names)

    @property
    def edges(self) -> np.ndarray:
        """Child and parent of every edge, an array of shape (n_edges, 2)."""
        child = np.flatnonzero(self.parent >= 0)
        return np.column_stack([child, self.parent[child]])

    def __str__(self) -> str:
        """Trees, indented; the first features without an edge are on one line."""
        names = self.shown_names
        children: dict[int, list[int]] = {}
        for child, parent in self.edges.tolist():
            children.setdefault(parent, []).append(child)
        lines = []
        for title, group in (("signal", self.signal), ("noise", ~self.signal)):
            roots = np.flatnonzero(group & (self.parent < 0)).tolist()
            if roots:
                lines.append(title)
            below = [(j, 1) for j in reversed(roots) if j in children]
            while below:
                j, depth = below.pop()
                lines.append("  " * depth + str(names[j]))
                below += [(c, depth + 1) for c in reversed(children.get(j, []))]
            alone = [str(names[j]) for j in roots if j not in children]
            if len(alone) > MOST_NAMED:
                alone[MOST_NAMED:] = [f"{len(alone) - MOST_NAMED:,} more"]
            if alone:
                lines.append("  " + ", ".join(alone))
        return "\n".join(lines)


def log_posterior(graph: FeatureForest, scores: Scores, penalty: Penalty) -> float:
    """Log posterior of a graph (2.3.1), up to constants.

    These are P(y) and the normalization of the prior.

    Examples
    --------
    >>> from clearwood.sbfc.scores import CodedTable, Penalty, score
    >>> codes = np.array([[0, 0], [0, 0], [1, 1], [1, 1]], dtype=np.uint8)
    >>> table = CodedTable(codes, np.array([2, 2]), codes[:, 0], 2, None, 2)
    >>> cost = Penalty.of("paper", 4.0, 1.0, n_columns=2, n_classes=2)
    >>> graph = FeatureForest([True, True], [-1, 0])
    >>> round(log_posterior(graph, score(table), cost), 3)
    -6.387
    """
    group, (child, parent) = graph.signal.astype(int), graph.edges.T
    d = len(group)
    total = scores.alone[group, np.arange(d)].sum() - np.take(penalty.node, group).sum()
    for of in (NOISE, SIGNAL):
        here = np.flatnonzero(group[child] == of)
        for i in range(0, len(here), ROWS_AT_A_TIME):
            some = here[i : i + ROWS_AT_A_TIME]
            gain = scores.gains(of, child[some])[np.arange(len(some)), parent[some]]
            total += (gain - penalty.edge[of]).sum()
    return float(total)


def weakest_edge(n_features: int) -> float:
    """Log weight below which edges may be left out.

    The share of random forests with an edge is at most twice its weight, so that fewer
    than one graph in 10,000 has any that was left out. This holds for up to 2,000
    features; with more of them each such edge is in fewer than one graph in four
    million.

    Examples
    --------
    >>> round(weakest_edge(1000), 1)
    -23.0
    """
    bound = math.log(NEGLIGIBLE / (n_features * max(n_features - 1, 1)))
    return bound if n_features <= MOST_KEPT else max(bound, WEAKEST_OF_MANY)


def best_graph(signal: np.ndarray, edges: tuple[Edges, Edges]) -> FeatureForest:
    """The most probable graph with given groups; the first features are the roots.

    Parameters
    ----------
    signal : ndarray of bool of shape (d,)
    edges : tuple of Edges
        Noise and signal edges, at least all those of positive log weight, from
        ``scores.strong_edges``.

    Examples
    --------
    >>> from clearwood.sbfc.scores import CodedTable, Penalty, score, strong_edges
    >>> codes = np.repeat([[0, 0], [1, 1]], 50, axis=0).astype(np.uint8)
    >>> table = CodedTable(codes, np.array([2, 2]), codes[:, 0], 2, None, 2)
    >>> cost = Penalty.of("paper", 4.0, 1.0, n_columns=2, n_classes=2)
    >>> edges = strong_edges(score(table), cost, bound=0.0)
    >>> best_graph(np.array([False, False]), edges).parent.tolist()
    [-1, 0]
    """
    signal = np.asarray(signal, dtype=bool)
    of_noise, of_signal = (
        rooted(heaviest_forest(part.log_weight, inside))[1]
        for inside, part in zip((~signal, signal), edges)
    )
    return FeatureForest(signal, np.where(signal, of_signal, of_noise))


def heaviest_forest(log_weight: csr_array, inside: np.ndarray) -> Any:
    """Maximum spanning forest on some features, of positive log weights (COO)."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    every = log_weight.tocoo()
    good = (every.data > 0.0) & inside[every.row] & inside[every.col]
    # Trees of SciPy 1.15 take 32-bit indices only.
    ends = np.array([every.row[good], every.col[good]], dtype=np.int32)
    costs = coo_array((-every.data[good], tuple(ends)), shape=every.shape)
    return -minimum_spanning_tree(costs.tocsr()).tocoo()


def rooted(forest: Any) -> tuple[np.ndarray, np.ndarray]:
    """Order in which parents precede their children, and the parents.

    Every tree is rooted at its first feature.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    d = forest.shape[0]
    _, tree = connected_components(forest, directed=False)
    first = np.unique(tree, return_index=True)[1]
    # Node d is an artificial root, connected to all of these.
    row = np.concatenate([forest.row, np.full(len(first), d)])
    ends = row, np.concatenate([forest.col, first])
    whole = coo_array((np.ones(len(row)), ends), shape=(d + 1, d + 1)).tocsr()
    order, parent = breadth_first_order(whole, d, directed=False)
    return order[1:], np.where(parent[:d] == d, -1, parent[:d])


def both_layers(
    edges: tuple[Edges, Edges],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Graph of 2 d nodes: feature j is node j in the noise and j + d in the signal.

    Returns
    -------
    first, neighbour, log_weight : ndarray
        As in a CSR matrix.
    """
    noise, signal = (part.log_weight for part in edges)
    first = np.concatenate([noise.indptr[:-1], noise.nnz + signal.indptr])
    neighbour = np.concatenate([noise.indices, noise.shape[0] + signal.indices])
    return (
        first.astype(np.int32, copy=False),  # of fewer than two billion edges
        neighbour.astype(np.int32, copy=False),
        np.concatenate([noise.data, signal.data]),
    )


def least_certain_edges(probability: csr_array) -> np.ndarray:
    """Edges that are assessed for convergence: their ends, of shape (n_edges, 2)."""
    from scipy.sparse import triu

    every = triu(probability, 1, format="coo")
    order = np.argsort(np.abs(every.data - 0.5), kind="stable")[:MOST_ASSESSED]
    return np.column_stack([every.row, every.col])[order]


def active_nodes(signal: np.ndarray) -> np.ndarray:
    """Nodes of ``both_layers`` that exist in a graph with this signal group."""
    return np.concatenate([~signal, signal])


def draw_graphs(
    signals: Iterable[np.ndarray], edges: tuple[Edges, Edges], random_state: Any = None
) -> list[FeatureForest]:
    """Draw a random graph for each of several signal groups.

    The time is cubic in the number of features that edges connect.

    Parameters
    ----------
    signals : iterable of ndarray of bool of shape (d,)
    edges : tuple of Edges
        Noise and signal edges; forests are made of these only.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> from clearwood.sbfc.scores import CodedTable, Penalty, score, strong_edges
    >>> codes = np.random.default_rng(0).integers(2, size=(50, 3), dtype=np.uint8)
    >>> table = CodedTable(codes, np.array([2, 2, 2]), codes[:, 0], 2, None, 3)
    >>> cost = Penalty.of("paper", 4.0, 1.0, n_columns=3, n_classes=2)
    >>> edges = strong_edges(score(table), cost, weakest_edge(3))
    >>> print(draw_graphs([np.array([True, False, False])], edges, 0)[0])
    signal
      x0
    noise
      x1, x2
    """
    rng, graph = as_generator(random_state), both_layers(edges)
    every = np.array(list(signals), dtype=bool).reshape(-1, len(edges[NOISE].dropped))
    distinct, which = np.unique(every, axis=0, return_inverse=True)
    parents = np.empty(every.shape, dtype=np.int32)
    for i, signal in enumerate(distinct):
        here = which == i
        n_draws = int(here.sum())
        parents[here] = draw_parents(active_nodes(signal), graph, n_draws, rng)
    return [FeatureForest(*one) for one in zip(every, parents)]
