"""Most probable prunings in order: exact, from the leaves of T_max up."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from clearwood.exceptions import InputError


class _Below(NamedTuple):
    """One of the best subtrees at a node: a leaf, or a choice per child."""

    score: float
    ranks: tuple[int, ...] | None


def best_trees(
    first_child: np.ndarray,
    n_children: np.ndarray,
    log_stop: np.ndarray,
    log_split: np.ndarray,
    k: int,
) -> list[list[int]]:
    """The ``k`` prunings of largest weight, as lists of nodes with a split.

    Each node keeps its ``k`` best subtrees; the best trees consist of such subtrees.

    Parameters
    ----------
    first_child, n_children : ndarray of shape (n_nodes,)
    log_stop, log_split : ndarray of shape (n_nodes,)
        Log weights of stopping and of a split at a node.
    k : int

    Examples
    --------
    >>> best_trees(np.array([1, -1, -1]), np.array([2, 0, 0]),
    ...            np.log([0.3, 1, 1]), np.log([0.7, 1, 1]), k=5)
    [[0], []]
    """
    if k < 1:
        raise InputError(f"k is {k}, expected at least one tree.")
    below: list[list[_Below]] = [[]] * len(first_child)
    for node in range(len(first_child) - 1, -1, -1):
        ways = [_Below(float(log_stop[node]), None)]
        first = first_child[node]
        if first >= 0 and log_split[node] > -np.inf:
            children = below[first : first + n_children[node]]
            ways += [
                _Below(float(log_split[node]) + score, ranks)
                for score, ranks in _best_sums(children, k)
            ]
            ways.sort(key=lambda way: -way.score)
        below[node] = [way for way in ways[:k] if way.score > -np.inf]
    return [_inner_nodes(first_child, below, rank) for rank in range(len(below[0]))]


def _best_sums(
    children: list[list[_Below]], k: int
) -> list[tuple[float, tuple[int, ...]]]:
    """The ``k`` best choices of one subtree per child, by the sum of their scores."""
    if not all(children):
        return []
    start = (0,) * len(children)
    heap = [(-sum(ways[0].score for ways in children), start)]
    seen = {start}
    found: list[tuple[float, tuple[int, ...]]] = []
    while heap and len(found) < k:
        score, ranks = heapq.heappop(heap)
        found.append((-score, ranks))
        for j, ways in enumerate(children):
            if ranks[j] + 1 == len(ways):
                continue
            following = (*ranks[:j], ranks[j] + 1, *ranks[j + 1 :])
            if following not in seen:
                seen.add(following)
                total = sum(w[r].score for w, r in zip(children, following))
                heapq.heappush(heap, (-total, following))
    return found


def _inner_nodes(
    first_child: np.ndarray, below: list[list[_Below]], rank: int
) -> list[int]:
    """Nodes with a split in one of the best trees."""
    inner, open_ = [], [(0, rank)]
    while open_:
        node, rank = open_.pop()
        ranks = below[node][rank].ranks
        if ranks is not None:
            inner.append(node)
            open_ += [(int(first_child[node]) + j, r) for j, r in enumerate(ranks)]
    return sorted(inner)
