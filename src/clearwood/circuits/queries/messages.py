"""Messages along a Chow-Liu tree: sums or maxima over what is open, for a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clearwood.circuits.distributions import ChowLiuTree

Reduce = Callable[..., np.ndarray]
"""Over an axis of logs: ``np.logaddexp.reduce`` for sums, ``np.maximum.reduce``."""


def known_levels(leaf: ChowLiuTree, own: np.ndarray) -> list[np.ndarray]:
    """Per variable the logs of what each row allows: (n_rows, n_levels) of 0 and -inf.

    Parameters
    ----------
    leaf : ChowLiuTree
    own : ndarray of shape (n_rows, n_variables)
        Levels of the leaf's columns; a missing entry allows all.
    """
    allowed = []
    for column, table in zip(own.T, leaf.tables):
        cell = column[:, None]
        open_ = np.isnan(cell) | (cell == np.arange(table.shape[1]))
        allowed.append(np.where(open_, 0.0, -np.inf))
    return allowed


def upward(
    leaf: ChowLiuTree, log_allowed: list[np.ndarray], reduce: Reduce
) -> tuple[np.ndarray, list[np.ndarray]]:
    """From the tree's leaves to its root.

    Parameters
    ----------
    leaf : ChowLiuTree
    log_allowed : list of ndarray of shape (n_rows, n_levels)
        Logs by which the levels of each variable are weighted.
    reduce : callable

    Returns
    -------
    log_value : ndarray of shape (n_rows,)
        Log of the sum (or the maximum) over all levels.
    log_tables : list of ndarray of shape (n_rows, n_levels_of_parent, n_levels)
        The tree given what is allowed: what each row of a table adds up to (or has as
        its maximum) is 1. Rows of levels that cannot be are all -inf.
    """
    below = list(log_allowed)
    log_tables: list[np.ndarray] = [np.empty(0)] * len(below)
    with np.errstate(divide="ignore"):
        logs = [np.log(table) for table in leaf.tables]
    message = np.empty(0)
    for i in reversed(range(len(below))):
        joint = logs[i] + below[i][:, None, :]
        message = reduce(joint, axis=2)
        log_tables[i] = joint - _finite(message)[:, :, None]
        if leaf.parents[i] >= 0:
            below[leaf.parents[i]] = below[leaf.parents[i]] + message
    return message[:, 0], log_tables


def downward(
    leaf: ChowLiuTree, log_tables: list[np.ndarray], reduce: Reduce
) -> list[np.ndarray]:
    """From the tree's root to its leaves: what each level of each variable is worth.

    Returns
    -------
    list of ndarray of shape (n_rows, n_levels)
        Log probabilities given what is allowed; of maxima, the best with that level,
        less the best.
    """
    worth: list[np.ndarray] = []
    for parent, table in zip(leaf.parents, log_tables):
        above = worth[parent][:, :, None] if parent >= 0 else 0.0
        worth.append(reduce(above + table, axis=1))
    return worth


def _finite(logs: np.ndarray) -> np.ndarray:
    """With 0 in place of -inf, so that -inf less it stays -inf."""
    return np.where(np.isneginf(logs), 0.0, logs)
