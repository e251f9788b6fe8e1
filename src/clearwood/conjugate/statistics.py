"""Sufficient statistics of the rows that end at each node: add, merge, take out.

Counts of unweighted rows are whole numbers and so exact: the same to the last bit for
any order, batches and shards. Means and sums of squares follow Chan's rule.
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.counts import Counts
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.moments import (
    add_moments,
    merge_all_moments,
    remove_all_moments,
)
from clearwood.exceptions import InputError

SLACK = 1e-9
"""How far below zero rounding may take a weight, as a share of what it was."""


def no_rows(model: LeafModel, n_nodes: int) -> np.ndarray:
    """Statistics of no rows at all, of shape (n_nodes, n_stats)."""
    return np.zeros((n_nodes, model.n_stats))


def add_rows(
    model: LeafModel,
    own: np.ndarray,
    ends: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    x: np.ndarray | None = None,
) -> None:
    """Add rows to the nodes where they end, in place and in their order.

    Parameters
    ----------
    model : LeafModel
    own : ndarray of shape (n_nodes, n_stats)
    ends : ndarray of int of shape (n_rows,)
    y : ndarray of shape (n_rows,)
        Targets as ``check_target`` gives them.
    weight : ndarray of shape (n_rows,) or (1,)
        One weight per row, or one for all.
    x : ndarray, optional
        Features that the leaf model reads.

    Examples
    --------
    >>> from clearwood.conjugate import NormalNormalGamma
    >>> own = no_rows(NormalNormalGamma(), 2)
    >>> ends, y = np.array([1, 1]), np.array([3.0, 5.0])
    >>> add_rows(NormalNormalGamma(), own, ends, y, np.ones(2))
    >>> own[1]
    array([2., 4., 2.])
    """
    if model.n_columns is not None:
        add_moments(own, ends, model.columns(y, x), weight)
    elif isinstance(model, Counts):
        add_counts(own, ends, y, weight)
    else:
        add_sums(own, ends, model.statistics(y, np.broadcast_to(weight, y.shape)))


@kernel
def add_counts(own, ends, labels, weight):
    """Add the weight of every row to the count of its label at its end.

    ``weight`` may be of length 1, for all rows.
    """
    step = int(weight.size == ends.size)
    for i in range(ends.size):
        own[ends[i], int(labels[i])] += weight[i * step]


@kernel
def add_sums(own, ends, rows):
    """Add one row of statistics per data row to its end."""
    for i in range(ends.size):
        for j in range(own.shape[1]):
            own[ends[i], j] += rows[i, j]


def merge(model: LeafModel, own: np.ndarray, other: np.ndarray) -> None:
    """Add the statistics of other rows, in place."""
    if model.n_columns is None:
        own += other
    else:
        merge_all_moments(own, other, model.n_columns)


def remove(model: LeafModel, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Statistics without those of some of the rows.

    Raises
    ------
    InputError
        Those rows cannot have been among them.
    """
    left = own.copy()
    if model.n_columns is None:
        left -= other
        smallest = left
    else:
        remove_all_moments(left, other, model.n_columns)
        # Means may be negative; weights may not.
        smallest = left[:, :1]
    too_small = smallest < -SLACK * np.maximum(1.0, own[:, : smallest.shape[1]])
    if too_small.any():
        node = int(np.argwhere(too_small)[0, 0])
        raise InputError(
            f"Node {node} would be left with less than no rows; take out only rows "
            "that were learned before, with the weights they had."
        )
    weight = model.weight_of(left)
    # What is left of all rows but rounding; one row of very many is a whole number.
    nothing = (weight <= SLACK * model.weight_of(own)) & (weight != np.rint(weight))
    left[nothing | (weight <= 0.0)] = 0.0
    if model.n_columns is None:
        return np.maximum(left, 0.0)
    _check_squares(model.n_columns, own, other, left)
    return left


def _check_squares(
    d: int, own: np.ndarray, other: np.ndarray, left: np.ndarray
) -> None:
    """Refuse sums of squares below zero; below by rounding, they become zero.

    Rows with the right weights but other values leave them behind, and with them a
    distribution without a scale.
    """
    place = np.cumsum(np.arange(1, d + 1)) + d
    # Squares of what was there, about zero: rounding of a mean is a share of it.
    before, gone = own[:, 1 : 1 + d], other[:, 1 : 1 + d]
    size = own[:, place] + own[:, :1] * np.maximum(abs(before), abs(gone)) ** 2
    impossible = left[:, place] < -SLACK * size
    if impossible.any():
        node = int(np.argwhere(impossible)[0, 0])
        raise InputError(
            f"The rows that end at node {node} would be left with a negative variance; "
            "take out only rows that were learned before, with the values they had."
        )
    left[:, place] = np.maximum(left[:, place], 0.0)
