"""Circuits compiled into arrays: upward and downward passes over batches of rows.

Values are logs, in float64. Missing entries, and levels that the circuit does not know,
are marginalized. What is impossible is -inf, never NaN.

Only sums, products, and leaves directly below a sum have a place in the arrays. A leaf
below a product adds its log density to the product's, and has the product's flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._kernels.circuits import pass_downward, pass_upward
from clearwood._numeric import Blocks
from clearwood._numeric.logspace import log_of, overrelaxed
from clearwood.circuits.leaf_arrays import Edges, LeafArrays, compile_leaves
from clearwood.circuits.nodes import Node, Product, Sum, fold, with_children
from clearwood.distributions.categorical import shares

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

ROWS = 1024
"""Rows per batch in log space: each takes 8 bytes per place, downward twice that."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """Arrays for the evaluation of a circuit.

    Attributes
    ----------
    circuit : Circuit
        The source, which also holds the structure.
    sums : ndarray of shape (n_places,)
        Places are in the order of :func:`walk`; the root is the last.
    first : ndarray of shape (n_places + 1,)
        Index of the first edge of each place; the end is that of the next place's.
    child : ndarray of shape (n_edges,)
        Place of the child of each edge.
    log_weight : ndarray of shape (n_edges,)
        Of edges of sums; 0 for those of products.
    leaf_place : ndarray of shape (n_leaves,)
        Place of each leaf, leaves in the order of :func:`walk`.
    leaves : LeafArrays
    """

    circuit: Circuit
    sums: np.ndarray
    first: np.ndarray
    child: np.ndarray
    log_weight: np.ndarray
    leaf_place: np.ndarray
    leaves: LeafArrays

    def log_likelihood(self, values: np.ndarray) -> np.ndarray:
        """Log density of the present cells of encoded rows.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_columns)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        blocks = Blocks.from_arrays(values)
        return blocks.map(_at_root, self).gather()[0]

    def upward(self, values: np.ndarray) -> np.ndarray:
        """Log values of all places, for batches of rows that fit into memory.

        Returns
        -------
        ndarray of shape (n_places, n_rows)
        """
        log = np.zeros((len(self.sums), len(values)))
        self.leaves.add_log_density(log, values)
        pass_upward(log, self._edges)
        return log

    def downward(
        self, log: np.ndarray, weight: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distribute the weight of every row over the places, given the row.

        Parameters
        ----------
        log : ndarray of shape (n_places, n_rows)
            From :meth:`upward`.
        weight : ndarray of shape (n_rows,)
            Impossible rows lose theirs.

        Returns
        -------
        flow : ndarray of shape (n_places, n_rows)
        expected : ndarray of shape (n_edges,)
            Sums of the flow along edges of sums; 0 for those of products.
        """
        flow = np.empty_like(log)
        flow[-1] = np.where(log[-1] > -np.inf, weight, 0.0)
        return flow, pass_downward(log, flow, self._edges)

    def expected(
        self, values: np.ndarray, weight: np.ndarray
    ) -> tuple[float, np.ndarray, list[np.ndarray]]:
        """E-step: log-likelihood, edge counts and sufficient statistics of leaves."""
        blocks = Blocks.from_arrays(values, weight)
        likelihood, edges, *leaves = blocks.map_sum(_expected, self)
        return float(likelihood), edges, leaves

    def estimated(
        self,
        edges: np.ndarray,
        leaves: list[np.ndarray],
        alpha: float,
        spread: np.ndarray,
    ) -> Compiled:
        """M-step: the same structure with maximum-likelihood parameters.

        Parameters
        ----------
        edges : ndarray
        leaves : list of ndarray
            From :meth:`expected`.
        alpha : float
            Pseudo-count of every edge and level, and pseudo-rows of normal leaves.
        spread : ndarray of shape (n_columns,)
            Variances of these rows.
        """
        return replace(
            self,
            log_weight=self._log_shares(edges + alpha),
            leaves=self.leaves.estimated(leaves, alpha, spread),
        )

    def beyond(self, earlier: Compiled, length: float, spread: np.ndarray) -> Compiled:
        """Extrapolate from earlier parameters through these by a factor ``length``.

        Weights, levels and variances in logs. Normal leaves of several columns and
        histograms keep their current parameters.
        """
        before, after = np.exp(earlier.log_weight), np.exp(self.log_weight)
        return replace(
            self,
            log_weight=self._log_shares(overrelaxed(after, before, length)),
            leaves=self.leaves.beyond(earlier.leaves, length, spread),
        )

    def _log_shares(self, counts: np.ndarray) -> np.ndarray:
        """Log weights of sums from edge counts; unchanged where there are none."""
        log_weight = self.log_weight.copy()
        for node in np.flatnonzero(self.sums):
            own = slice(self.first[node], self.first[node + 1])
            log_weight[own] = log_of(shares(counts[own], np.exp(log_weight[own])))
        return log_weight

    def as_circuit(self) -> Circuit:
        """Node tree with the current parameters."""
        leaves = iter(self.leaves.as_leaves())
        sums = iter(np.flatnonzero(self.sums))

        def sum_(_: Sum, children: Sequence[Node]) -> Sum:
            place = next(sums)
            own = slice(self.first[place], self.first[place + 1])
            return Sum(np.exp(self.log_weight[own]), tuple(children))

        root = fold(self.circuit.root, lambda _: next(leaves), with_children, sum_)
        return replace(self.circuit, root=root)

    @property
    def _edges(self) -> Edges:
        return self.sums, self.first, self.child, self.log_weight


def compile_circuit(circuit: Circuit) -> Compiled:
    """Compile a circuit into arrays.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.distributions import Bernoulli
    >>> root = Sum(np.array([0.5, 0.5]), (Bernoulli(0, 0.1), Bernoulli(0, 0.7)))
    >>> compiled = compile_circuit(Circuit(root, FeatureSpace(("a",), ((0, 1),))))
    >>> np.exp(compiled.log_likelihood(np.array([[1.0], [np.nan]]))).round(3)
    array([0.4, 1. ])
    """
    nodes, above = _with_parents(circuit.root)
    is_sum = np.array([isinstance(node, Sum) for node in nodes])
    is_product = np.array([isinstance(node, Product) for node in nodes])
    is_leaf = ~is_sum & ~is_product
    placed = ~(is_leaf & is_product[above] & (above >= 0))
    place = np.cumsum(placed) - 1
    place = np.where(placed, place, place[above])
    # Edges between places, by the place above; stable, so in the order of children.
    below = np.flatnonzero(placed)[:-1]
    upper = place[above[below]]
    order = np.argsort(upper, kind="stable")
    of_sum = is_sum[placed][upper[order]]
    log_weight = np.zeros(len(order))
    weights = [node.weights for node in nodes if isinstance(node, Sum)]
    log_weight[of_sum] = log_of(np.concatenate([np.zeros(0), *weights]))
    n_edges = np.bincount(upper, minlength=int(placed.sum()))
    leaves = [node for node in nodes if not isinstance(node, Sum | Product)]
    return Compiled(
        circuit,
        sums=is_sum[placed],
        first=np.concatenate([[0], np.cumsum(n_edges)]),
        child=place[below[order]],
        log_weight=log_weight,
        leaf_place=place[is_leaf],
        leaves=compile_leaves(leaves, place[is_leaf]),
    )


def _with_parents(root: Node) -> tuple[list[Node], np.ndarray]:
    """All nodes in the order of :func:`walk`, and the index of each one's parent."""
    nodes: list[Node] = []
    above: list[int] = []
    left = [(root, -1)]
    while left:
        node, parent = left.pop()
        if isinstance(node, Sum | Product):
            left.extend((child, len(nodes)) for child in node.children)
        nodes.append(node)
        above.append(parent)
    n = len(nodes)
    turned = np.array(above[::-1])
    return nodes[::-1], np.where(turned < 0, -1, n - 1 - turned)


def _unclear(log: np.ndarray) -> list[np.ndarray]:
    """Batches of rows whose log densities have to be computed in log space."""
    rows = np.flatnonzero(np.isnan(log))
    return np.split(rows, range(ROWS, len(rows), ROWS))


def _at_root(block: tuple[np.ndarray], compiled: Compiled) -> tuple[np.ndarray]:
    (values,) = block
    log = compiled.leaves.scaled_upward(compiled._edges, values)
    for rows in _unclear(log):
        log[rows] = compiled.upward(values[rows])[-1]
    return (log,)


def _expected(
    block: tuple[np.ndarray, np.ndarray], compiled: Compiled
) -> tuple[np.ndarray, ...]:
    values, weight = block
    log, *sums = compiled.leaves.scaled_passes(compiled._edges, *block)
    for rows in _unclear(log):
        in_logs = compiled.upward(values[rows])
        flow, edges = compiled.downward(in_logs, weight[rows])
        log[rows] = in_logs[-1]
        more = edges, *compiled.leaves.statistics(flow, values[rows])
        sums = [a + b for a, b in zip(sums, more)]
    counted = weight > 0.0
    return (weight[counted] * log[counted]).sum(), *sums
