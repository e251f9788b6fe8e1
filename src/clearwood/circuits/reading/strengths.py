"""Which columns depend on each other in a circuit, and how much, from its moments."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from clearwood.circuits.circuit import Circuit, Node, Product, Sum
from clearwood.circuits.distributions import ChowLiuTree, Leaf, MultivariateGaussian
from clearwood.circuits.reading.profiles import Facts, Shares, facts_of, profile_of

NOTHING = 1e-10
"""Share of the largest variance of a column's statistics below which one is none."""


class Coordinates(NamedTuple):
    """Where columns stand among all statistics: one per level, or the number itself."""

    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def of(cls, circuit: Circuit) -> Coordinates:
        """Those of a circuit's columns."""
        levels = circuit.features.categories
        widths = [1 if labels is None else len(labels) for labels in levels]
        stop = np.cumsum(widths)
        return cls(stop - widths, stop)

    def of_columns(self, columns: tuple[int, ...]) -> np.ndarray:
        """All statistics of some columns."""
        return np.concatenate([np.arange(self.start[j], self.stop[j]) for j in columns])


def strengths(circuit: Circuit) -> np.ndarray:
    """How much every two columns depend on each other, from 0 to 1.

    Of two continuous columns it is the size of their correlation, of two discrete ones
    Cramér's V, of one of each kind the correlation ratio: all of them are the size of
    the correlation matrix between two sets of statistics (Pillai's trace, over the
    smaller number of them). Taken from the circuit's own moments, without rows. Of
    continuous columns it sees means alone: two that differ in their spread together
    depend on each other all the same, at a strength of 0.

    Parameters
    ----------
    circuit : Circuit

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        Symmetric; 1 on the diagonal, or 0 for a column that does not vary.

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.circuits.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> features = FeatureSpace(("a", "b"), ((0, 1), (0, 1)))
    >>> strengths(Circuit(Sum(np.array([0.5, 0.5]), tuple(kinds)), features)).round(3)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """
    at = Coordinates.of(circuit)
    covariance = _covariance(circuit.root, at)
    whitener = np.zeros_like(covariance)
    rank = np.zeros(len(at.start))
    for j, (start, stop) in enumerate(zip(at.start, at.stop)):
        variances, axes = np.linalg.eigh(covariance[start:stop, start:stop])
        varies = variances > NOTHING * max(variances[-1], 0.0)
        scaled = axes[:, varies] / np.sqrt(variances[varies])
        whitener[start:stop, start : start + varies.sum()] = scaled
        rank[j] = varies.sum()
    squares = (whitener.T @ covariance @ whitener) ** 2
    trace = np.add.reduceat(np.add.reduceat(squares, at.start, 0), at.start, 1)
    smaller = np.minimum.outer(rank, rank)
    share = np.divide(trace, smaller, out=np.zeros_like(trace), where=smaller > 0)
    return np.sqrt(np.clip(share, 0.0, 1.0))


def _covariance(root: Node, at: Coordinates) -> np.ndarray:
    """Of all statistics: what kinds of rows differ in, and what leaves have inside."""
    total = np.zeros((at.stop[-1],) * 2)
    # Nodes from the root on, the share of rows that each has, and where children begin.
    order: list[tuple[Node, float]] = [(root, 1.0)]
    first = []
    for node, share in order:
        first.append(len(order))
        if isinstance(node, Sum):
            order += zip(node.children, (share * node.weights).tolist())
        elif isinstance(node, Product):
            order += [(child, share) for child in node.children]
    means: list[Any] = [None] * len(order)
    for i in reversed(range(len(order))):
        node, share = order[i]
        if not isinstance(node, Sum | Product):
            means[i] = _leaf_means(node, at)
            inside = INSIDE.get(type(node))
            if inside is not None:
                places = at.of_columns(node.variables)
                total[np.ix_(places, places)] += share * inside(node)
            continue
        children = slice(first[i], first[i] + len(node.children))
        if isinstance(node, Product):
            places, mean = map(np.concatenate, zip(*means[children]))
            sort = np.argsort(places)
            means[i] = places[sort], mean[sort]
        else:
            places = means[first[i]][0]
            of_kinds = np.array([mean for _, mean in means[children]])
            mean = node.weights @ of_kinds
            gaps = np.sqrt(share * node.weights)[:, None] * (of_kinds - mean)
            total[np.ix_(places, places)] += gaps.T @ gaps
            means[i] = places, mean
        means[children] = [None] * len(node.children)
    # What a column has inside of leaves, all of it at once.
    for j, facts in profile_of(root).items():
        own = slice(at.start[j], at.stop[j])
        total[own, own] = _variance(facts)
    return total


def _variance(facts: Facts) -> np.ndarray:
    if isinstance(facts, Shares):
        p = facts.probabilities
        return np.diag(p) - np.outer(p, p)
    return np.array([[facts.variance]])


def _leaf_means(leaf: Leaf, at: Coordinates) -> tuple[np.ndarray, np.ndarray]:
    """Places of a leaf's statistics in increasing order, and their means."""
    facts = sorted(facts_of(leaf), key=itemgetter(0))
    places = at.of_columns(tuple(j for j, _ in facts))
    return places, np.concatenate([
        one.probabilities if isinstance(one, Shares) else [one.mean] for _, one in facts
    ])  # fmt: skip


def _tree_covariance(leaf: ChowLiuTree) -> np.ndarray:
    """Of the indicators of all levels of all columns of a Chow-Liu tree."""
    shares = [facts.probabilities for _, facts in facts_of(leaf)]  # type: ignore
    p = np.concatenate(shares)
    stop = np.cumsum([len(one) for one in shares])
    joint = np.zeros((len(p), len(p)))
    for i, (parent, table) in enumerate(zip(leaf.parents, leaf.tables)):
        own = slice(stop[i] - len(shares[i]), stop[i])
        before = slice(0, own.start)
        if parent >= 0:
            above = slice(stop[parent] - len(shares[parent]), stop[parent])
            # Given the parent, all columns before it are independent of this one.
            joint[own, before] = table.T @ joint[above, before]
            joint[before, own] = joint[own, before].T
        joint[own, own] = np.diag(shares[i])
    return joint - np.outer(p, p)


INSIDE: dict[type, Callable[[Any], np.ndarray]] = {
    MultivariateGaussian: lambda leaf: leaf.covariance,
    ChowLiuTree: _tree_covariance,
}
"""Covariances of leaves of several columns, in the order of their variables."""
