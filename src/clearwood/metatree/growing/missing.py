"""Treatment of missing values at the splits of a binary tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.distributions import LeafModel
from clearwood.metatree.posterior.posterior import compute_posterior
from clearwood.metatree.posterior.structure import Structure


def missing_codes(structure: Structure) -> np.ndarray:
    """Code of a missing value of each feature."""
    coder = structure.coder
    return np.array([coder.missing_code(d) for d in range(structure.n_features)])


def send_missing(
    structure: Structure, nodes: np.ndarray, child: np.ndarray | int
) -> Structure:
    """Structure with missing values sent to given children of some nodes.

    Parameters
    ----------
    structure : Structure
        Every node has a table of its own, or none.
    nodes : ndarray of int
        Inner nodes.
    child : ndarray of int or int
        Child numbers, -1 to stop there.
    """
    missing_child, goes_to = structure.missing_child.copy(), structure.goes_to.copy()
    missing_child[nodes] = child
    start = structure.table_start[nodes]
    entry = start + missing_codes(structure)[structure.feature[nodes]]
    goes_to[entry[start >= 0]] = missing_child[nodes][start >= 0]
    return replace(structure, missing_child=missing_child, goes_to=goes_to)


def branch_for_missing(structure: Structure, codes: np.ndarray) -> Structure:
    """Structure with a third child, a leaf, wherever some rows have a missing value.

    At other splits missing values stop.

    Parameters
    ----------
    structure : Structure
        From :func:`~clearwood.metatree.from_ensemble_tree`.
    codes : ndarray of shape (n_rows, n_features)

    Returns
    -------
    Structure
    """
    inner = np.flatnonzero(~structure.is_leaf)
    structure = send_missing(structure, inner, -1)
    ends = np.unique(structure.route(codes))
    nodes = ends[~structure.is_leaf[ends]]
    structure = send_missing(structure, nodes, 2)
    # By level: the new leaf comes right after its sibling.
    behind = structure.first_child[nodes] + 1
    place = np.arange(structure.n_nodes)
    place += np.searchsorted(behind, place)

    def widened(values: np.ndarray, new: Any) -> np.ndarray:
        return np.insert(values, behind + 1, new)

    def moved(pointers: np.ndarray) -> np.ndarray:
        return np.where(pointers < 0, -1, place[pointers]).astype(np.int32)

    n_children = structure.n_children.copy()
    n_children[nodes] = 3
    return replace(
        structure,
        parent=widened(moved(structure.parent), place[nodes]),
        first_child=widened(moved(structure.first_child), -1),
        n_children=widened(n_children, 0),
        feature=widened(structure.feature, -1),
        cut_code=widened(structure.cut_code, -1),
        missing_child=widened(structure.missing_child, -1),
        table_start=widened(structure.table_start, -1),
        original=widened(structure.original, -1),
    )


def send_missing_by_evidence(
    structure: Structure,
    model: LeafModel,
    g: np.ndarray,
    codes: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    x: np.ndarray | None = None,
) -> Structure:
    """Send missing values to the child with which the rows are more probable.

    Splits are decided from the root down. Initially missing values go to the child with
    more weight, and stay there where no row has one or both are equally probable.

    Parameters
    ----------
    structure : Structure
        From :func:`~clearwood.metatree.from_ensemble_tree`.
    model : LeafModel
    g : ndarray of shape (n_nodes,)
        Prior.
    codes : ndarray of shape (n_rows, n_features)
    y, weight : ndarray of shape (n_rows,)
    x : ndarray, optional
        Features that the leaf model reads.

    Returns
    -------
    Structure
    """
    missing = missing_codes(structure)
    awkward = (codes == missing).any(axis=1)
    own = model.no_rows(structure.n_nodes)
    clean = ~awkward
    model.add_rows(
        own, structure.route(codes[clean]), y[clean], weight[clean],
        None if x is None else x[clean],
    )  # fmt: skip
    total = compute_posterior(structure, model, g, own).total
    structure = _send_to_heavier(structure, model.weight_of(total))
    if not awkward.any():
        return structure
    below = _Subtrees(structure, model, g, own)
    held = {0: np.flatnonzero(awkward)}
    for node in np.flatnonzero(~structure.is_leaf).tolist():
        rows = held.pop(node, None)
        if rows is None or not len(rows):
            continue
        d = structure.feature[node]
        code = codes[rows, d]
        if (code == missing[d]).any():
            now = int(structure.child_of_codes(node)[missing[d]])
            other = send_missing(structure, np.array([node]), 1 - now)
            part = (y[rows], weight[rows], None if x is None else x[rows])
            stay, move = (
                below.log_evidence(node, s.route(codes[rows]), *part)
                for s in (structure, other)
            )
            structure = other if move > stay else structure
        child = structure.child_of_codes(node)[code]
        for k in (0, 1):
            held[int(structure.first_child[node]) + k] = rows[child == k]
    return structure


def _send_to_heavier(structure: Structure, weight: np.ndarray) -> Structure:
    inner = np.flatnonzero(~structure.is_leaf)
    left = structure.first_child[inner]
    child = (weight[left] < weight[left + 1]).astype(np.int32)
    return send_missing(structure, inner, child)


class _Subtrees:
    """Evidence of the rows below a node, at the cost of the nodes below it."""

    def __init__(
        self, structure: Structure, model: LeafModel, g: np.ndarray, own: np.ndarray
    ) -> None:
        self.structure, self.model, self.g, self.own = structure, model, g, own
        n = structure.n_nodes
        self.size = np.ones(n, dtype=np.int64)
        for s in range(n - 1, 0, -1):
            self.size[structure.parent[s]] += self.size[s]
        # Depth first: the descendants of a node are contiguous, right after it.
        self.place = np.zeros(n, dtype=np.int64)
        for s in np.flatnonzero(~structure.is_leaf).tolist():
            left = structure.first_child[s]
            self.place[left] = self.place[s] + 1
            self.place[left + 1] = self.place[left] + self.size[left]
        self.node_at = np.argsort(self.place)

    def log_evidence(
        self, node: int, ends: np.ndarray, y: np.ndarray, weight: np.ndarray, x: Any
    ) -> float:
        """Evidence with some more rows that end at nodes below; in the model's unit."""
        first = self.place[node]
        nodes = self.node_at[first : first + self.size[node]]
        s = self.structure
        parent = (self.place[s.parent[nodes]] - first).astype(np.int32)
        parent[0] = -1
        tree = replace(s, parent=parent, first_child=s.first_child[nodes])
        own = self.own[nodes]
        at = (self.place[ends] - first).astype(np.int32)
        self.model.add_rows(own, at, y, weight, x)
        return float(compute_posterior(tree, self.model, self.g[nodes], own).log_q[0])
