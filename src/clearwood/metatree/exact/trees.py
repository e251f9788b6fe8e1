"""Single trees of the exact sum: the most probable one, and posterior draws.

A tree is written as nested tuples: ``(feature, child of value 0, child of value 1,
...)`` for a question, ``()`` for a leaf. The order in which a path came to its
conditions does not matter, so a place in the sum is a dict from features to values.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import metatree_exact as _kernels
from clearwood._numeric import as_generator
from clearwood.metatree.exact.sum import ExactSum
from clearwood.metatree.posterior.posterior import TIE
from clearwood.metatree.posterior.structure import Structure, given

Questions = tuple[Any, ...]
"""A tree as nested tuples."""

LEAF: Questions = ()


class BestTree(NamedTuple):
    """Most probable tree and its log posterior probability."""

    questions: Questions
    log_probability: float


def breadth_first(questions: Questions) -> list[int]:
    """Feature of the split at each node in breadth-first order, -1 at leaves.

    Examples
    --------
    >>> breadth_first((2, (), (0, (), ())))
    [2, -1, 0, -1, -1]
    """
    nodes, features = [questions], []
    for node in nodes:
        features.append(node[0] if node else -1)
        nodes.extend(node[1:])
    return features


def structure_of(
    questions: Questions, n_values: np.ndarray, **options: Any
) -> Structure:
    """Tree as a structure; ``options`` are those of ``structure.given``.

    Examples
    --------
    >>> structure_of((1, (), ()), np.array([2, 2])).feature.tolist()
    [1, -1, -1]
    """
    options.setdefault("n_features", len(n_values))
    return given(breadth_first(questions), n_values, **options)


def state_of(
    n_values: np.ndarray, start: np.ndarray, conditions: Mapping[int, int]
) -> int:
    """Number of a state within its level; see ``_kernels.cpp``."""
    rank, cell, stride = 0, 0, 1
    for i, feature in enumerate(sorted(conditions)):
        rank += comb(feature, i + 1)
        cell += conditions[feature] * stride
        stride *= int(n_values[feature])
    return int(start[rank]) + cell


def question_shares(
    result: ExactSum, conditions: Mapping[int, int], n_left: int | None = None
) -> np.ndarray:
    """Posterior over the split of a node, given that the tree reaches it.

    Parameters
    ----------
    result : ExactSum
    conditions : mapping of int to int
        Value of each feature on the path.
    n_left : int, optional
        Number of splits that may still follow. Needed only if splits were repeated; by
        default each condition was one split.

    Returns
    -------
    ndarray of shape (n_features + 1,)
        Probability of a split on each feature; the last one is that of a leaf.
    """
    p, size = result.levels, len(conditions)
    column = 0
    if result.repeats:
        column = len(result.g) - size if n_left is None else n_left
    state = state_of(p.n_values, p.start[size], conditions)
    prior, whole = p.priors[size], result.log_sum[size][state, column]
    shares = np.zeros(len(p.n_values) + 1)
    shares[-1] = np.exp(prior.stop[column] + p.log_leaf[size][state] - whole)
    if prior.ask[column] == -np.inf:
        return shares
    for feature, m in enumerate(p.n_values.tolist()):
        if feature not in conditions:
            below = [{**conditions, feature: value} for value in range(m)]
            children = [state_of(p.n_values, p.start[size + 1], c) for c in below]
            score = result.log_sum[size + 1][children, max(column - 1, 0)].sum()
        elif result.repeats:
            score = result.log_sum[size][state, column - 1]
        else:
            continue
        shares[feature] = np.exp(prior.ask[column] + score - whole)
    return shares


def sample_trees(result: ExactSum, n: int, random_state: Any = None) -> list[Questions]:
    """Draw independent, exact samples of trees from the posterior.

    Parameters
    ----------
    result : ExactSum
    n : int
    random_state : int, Generator, RandomState or None

    Returns
    -------
    list of nested tuples
    """
    rng = as_generator(random_state)
    known: dict[Any, np.ndarray] = {}
    n_values, max_depth = result.levels.n_values.tolist(), len(result.g)
    void = [np.exp(prior) for prior in result.levels.priors[0]]

    def draw(conditions: dict[int, int] | None, n_left: int) -> Questions:
        if conditions is None:  # a path that no row can take keeps its prior
            shares = np.append(np.full(len(n_values), void[1][n_left]), void[0][n_left])
        else:
            key = (frozenset(conditions.items()), n_left if result.repeats else 0)
            if key not in known:
                known[key] = question_shares(result, conditions, n_left)
            shares = known[key]
        choice = int(np.searchsorted(np.cumsum(shares), rng.random() * shares.sum()))
        if choice == len(n_values):
            return LEAF
        children = branch(conditions, choice, n_values[choice])
        return (choice, *(draw(child, n_left - 1) for child in children))

    return [draw({}, max_depth) for _ in range(n)]


def branch(
    conditions: Mapping[int, int] | None, feature: int, n_values: int
) -> list[dict[int, int] | None]:
    """Conditions of the children of a split; None where they contradict.

    Examples
    --------
    >>> branch({3: 0}, 1, 2), branch({3: 0}, 3, 2)
    ([{3: 0, 1: 0}, {3: 0, 1: 1}], [{3: 0}, None])
    """
    if conditions is None:
        return [None] * n_values
    if feature in conditions:
        value = conditions[feature]
        return [dict(conditions) if v == value else None for v in range(n_values)]
    return [{**conditions, feature: value} for value in range(n_values)]


class Best(NamedTuple):
    """Best tree below each state of one level, of shape (n_states, n_columns).

    Its log value, its size, and the feature of its first split, -1 for a leaf.
    """

    log_best: np.ndarray
    n_nodes: np.ndarray
    choice: np.ndarray

    @classmethod
    def empty(cls, n_states: int, n_columns: int) -> Best:
        """Uninitialized arrays."""
        shape = (n_states, n_columns)
        return cls(np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.int32))


def map_tree(result: ExactSum) -> BestTree:
    """Most probable tree; ties go to the smaller, then to the lowest features.

    Trees are tied as in :meth:`Posterior.map_tree`: rounding, which grows with the
    evidence, must not decide.

    Parameters
    ----------
    result : ExactSum

    Returns
    -------
    BestTree
    """
    p, max_depth = result.levels, len(result.g)
    n_values = p.n_values.tolist()
    tie = TIE * (1.0 + abs(result.log_whole))
    void_best, void_size, void_choice = _best_void(result, tie)
    below = Best.empty(0, 1)
    choices: list[np.ndarray] = []
    for size in range(len(p.start) - 1, -1, -1):
        prior = p.priors[size]
        best = Best.empty(p.start[size][-1], len(prior.stop))
        _kernels.best_level(
            p.numbers(size), prior, p.log_leaf[size], below, (void_best, void_size),
            tie, best,
        )  # fmt: skip
        below = best
        choices.insert(0, best.choice)

    def read(conditions: dict[int, int] | None, n_left: int) -> Questions:
        if conditions is None:
            feature = int(void_choice[n_left])
        else:
            size = len(conditions)
            state = state_of(p.n_values, p.start[size], conditions)
            feature = int(choices[size][state, n_left if result.repeats else 0])
        if feature < 0:
            return LEAF
        children = branch(conditions, feature, n_values[feature])
        return (feature, *(read(child, n_left - 1) for child in children))

    log_probability = float(below.log_best[0, -1]) - result.log_whole
    return BestTree(read({}, max_depth), log_probability)


def _best_void(
    result: ExactSum, tie: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best tree over no rows, by the number of splits that may follow.

    Its log prior, its size, and the feature of its first split (-1: none).
    """
    prior, n_values = result.levels.priors[0], result.levels.n_values
    feature = int(n_values.argmin())
    m = int(n_values[feature])
    best, size = prior.stop.copy(), np.ones(len(prior.stop))
    choice = np.full(len(best), -1)
    for r in range(1, len(best)):
        value = prior.ask[r] + m * best[r - 1]
        if value > best[r] + tie:
            best[r], size[r], choice[r] = value, 1 + m * size[r - 1], feature
    return best, size, choice
