"""States of the exact sum: their number, statistics and recursion.

``_kernels.cpp`` describes how states are numbered.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import metatree_exact as _kernels
from clearwood._numeric import product
from clearwood.distributions import LeafModel
from clearwood.distributions.moments import moments_of, sums_about
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.meta_tree import check_rows
from clearwood.metatree.posterior.prior import split_probabilities


class SplitPrior(NamedTuple):
    """Log prior at the nodes of one level, one value per column.

    Column r is for nodes after which r splits may follow; without repeats on a path
    there is one column. ``stop`` is the prior of a leaf, ``ask`` that of any one split.
    """

    stop: np.ndarray
    ask: np.ndarray


class Numbers(NamedTuple):
    """Numbering of the states of one level and of the next, for the kernels."""

    n_values: np.ndarray
    binomial: np.ndarray
    start: np.ndarray
    start_below: np.ndarray
    size: int


class Levels(NamedTuple):
    """Tables of the recursion, by level: the number of conditions.

    Attributes
    ----------
    n_values : ndarray of shape (n_features,)
    binomial : ndarray of shape (n_features + 1, max_depth + 2)
    priors : list of SplitPrior
    start : list of ndarray
        First state of each set of features.
    log_leaf : list of ndarray
        Log evidence of a leaf at each state.
    """

    n_values: np.ndarray
    binomial: np.ndarray
    priors: list[SplitPrior]
    start: list[np.ndarray]
    log_leaf: list[np.ndarray]

    def numbers(self, size: int) -> Numbers:
        """Numbering of the level with ``size`` conditions; the last has no next one."""
        last = size + 1 == len(self.start)
        below = np.zeros(1, dtype=np.int64) if last else self.start[size + 1]
        return Numbers(self.n_values, self.binomial, self.start[size], below, size)


def count_states(n_values: np.ndarray, max_depth: int, *, repeats: bool) -> int:
    """Number of states of the sum.

    Examples
    --------
    >>> count_states(np.full(20, 2), 4, repeats=True)
    98201
    >>> count_states(np.full(20, 2), 4, repeats=False)
    87441
    """
    sets = [1] + [0] * max_depth
    for m in n_values.tolist():
        for size in range(max_depth, 0, -1):
            sets[size] += m * sets[size - 1]
    if not repeats:
        return sum(sets)
    # A set of few conditions may be deeper, after repeats; but not the empty set.
    return sum(n * (max_depth - k + 1) for k, n in enumerate(sets)) - max_depth


def check_n_values(codes: np.ndarray, n_values: Any) -> np.ndarray:
    """Number of values of each feature, validated against the codes."""
    if codes.ndim != 2 or codes.dtype.kind not in "biu":
        raise InputError(
            f"codes must be a table of integers, found {codes.dtype} of shape "
            f"{codes.shape}; encode the features first."
        )
    if n_values is None:
        n_values = np.full(codes.shape[1], 2)
    n_values = np.ascontiguousarray(n_values, dtype=np.int64)
    if n_values.shape != (codes.shape[1],) or (n_values < 2).any():
        raise InputError(
            f"n_values must be {codes.shape[1]} integers from 2, one per feature; "
            f"found {n_values.tolist()}."
        )
    if len(codes):
        wrong = (codes.max(axis=0) >= n_values) | (codes.min(axis=0) < 0)
        if wrong.any():
            d = int(wrong.argmax())
            raise InputError(
                f"Feature {d} has codes from {codes[:, d].min()} to "
                f"{codes[:, d].max()}, expected 0 to {n_values[d] - 1}; rows with "
                "missing or unseen values are not supported by the exact sum."
            )
    return n_values


def check_prior(g: Any, max_depth: int) -> np.ndarray:
    """Prior probability of a split at each depth."""
    if max_depth < 0:
        raise InputError(f"max_depth is {max_depth}; expected 0 or more.")
    given = split_probabilities(g, np.arange(max_depth))
    if given.ndim and given.shape != (max_depth,):
        raise InputError(
            f"g has {given.size} values, expected one, or one per depth: {max_depth}."
        )
    if not ((given >= 0) & (given <= 1)).all():
        raise InputError(f"g must be between 0 and 1, found {g}.")
    return np.broadcast_to(given, (max_depth,))


def merge_rows(
    leaf_model: LeafModel,
    codes: np.ndarray,
    y: Any,
    weight: Any,
    x: np.ndarray | None,
    n_values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Merge rows with equal codes; features by rows, and their statistics."""
    y, weight = check_rows(leaf_model, len(codes), y, weight)
    if np.prod(n_values.astype(np.float64)) < 2**62:
        place = np.cumprod(np.append(1, n_values[:-1]))
        key = (codes.astype(np.int64) * place).sum(axis=1)
        _, first, row = np.unique(key, return_index=True, return_inverse=True)
    else:
        _, first, row = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    stats = leaf_model.no_rows(len(first))
    leaf_model.add_rows(stats, row.reshape(-1), y, weight, x)
    return np.ascontiguousarray(codes[first].T, dtype=np.int32), stats


def binomial_table(n_features: int, max_depth: int) -> np.ndarray:
    """Binomial coefficients n over k, for all n and k that occur."""
    table = [[comb(n, k) for k in range(max_depth + 2)] for n in range(n_features + 1)]
    return np.array(table, dtype=np.int64)


def make_priors(
    n_features: int, g_at: np.ndarray, *, repeats: bool
) -> list[SplitPrior]:
    """Prior of each level: by the number of splits left, or a single one.

    Without repeats, a path that has split on all features stops; so do all paths if
    there are no features.
    """
    max_depth = len(g_at)
    priors = []
    for size in range(min(n_features, max_depth) + 1):
        if repeats and n_features:
            g = np.append(g_at[size:], 0.0)[::-1]
            choices = n_features
        else:
            left = size < min(n_features, max_depth)
            g = np.array([g_at[size] if left else 0.0])
            choices = max(n_features - size, 1)
        with np.errstate(divide="ignore"):  # the logarithm of nothing
            priors.append(SplitPrior(np.log1p(-g), np.log(g) - np.log(choices)))
    return priors


def first_states(
    n_values: np.ndarray, binomial: np.ndarray, n_levels: int
) -> list[np.ndarray]:
    """First state of each set of features, by level."""
    return [
        _kernels.level_starts(n_values, size, int(binomial[-1, size]))
        for size in range(n_levels)
    ]


def tabulate(
    leaf_model: LeafModel,
    columns: np.ndarray,
    rows: np.ndarray,
    n_values: np.ndarray,
    binomial: np.ndarray,
    starts: list[np.ndarray],
) -> list[np.ndarray]:
    """Statistics of all states, by level."""
    d = leaf_model.n_columns
    if d is not None:
        weight = max(rows[:, 0].sum(), np.finfo(np.float64).tiny)
        centre = product(rows[:, 0], rows[:, 1 : 1 + d]) / weight
        rows = sums_about(rows, centre)
    size = len(starts) - 1
    tables = [_kernels.tabulate(columns, rows, n_values, starts[size], size)]
    while size > 0:
        size -= 1
        numbers = Numbers(n_values, binomial, starts[size], starts[size + 1], size)
        tables.append(_kernels.marginalise(numbers, tables[-1]))
    if d is not None:
        tables = [moments_of(table, centre) for table in tables]
    return tables[::-1]


def add_up(
    levels: Levels, skipped: int = -1, log_void: np.ndarray | None = None
) -> list[np.ndarray]:
    """Log evidence of all trees below each state, by level.

    Trees that split on ``skipped`` are left out; ``log_void`` is then the log
    probability that a tree over no rows does not split on it.
    """
    log_sums: list[np.ndarray] = [np.empty((0, 1))]
    for size in range(len(levels.start) - 1, -1, -1):
        prior = levels.priors[size]
        log_sum = np.empty((levels.start[size][-1], len(prior.stop)))
        void = np.zeros(len(prior.stop)) if log_void is None else log_void
        _kernels.add_level(
            levels.numbers(size), prior, levels.log_leaf[size], log_sums[-1], void,
            skipped, log_sum,
        )  # fmt: skip
        log_sums.append(log_sum)
    return log_sums[:0:-1]
