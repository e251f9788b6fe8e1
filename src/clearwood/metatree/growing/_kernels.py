"""Trees that others have grown: their order, their cuts, and what varied where."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel


@kernel
def breadth_first(left, right, root):
    """Nodes of one tree in breadth-first order, and each one's parent in that order.

    Parameters
    ----------
    left, right : ndarray of shape (n_nodes,)
        Children, which are counted from ``-root``; negative at leaves.
    root : int
    """
    order = np.zeros(left.size, dtype=np.int32)
    parent = np.full(left.size, -1, dtype=np.int32)
    n = 1
    for i in range(left.size):
        node = order[i]
        if left[node] >= 0:
            order[n] = left[node] - root
            order[n + 1] = right[node] - root
            parent[n] = i
            parent[n + 1] = i
            n += 2
    return order, parent


@kernel
def places_of_cuts(cuts, start, feature, cut):
    """Where cuts stand among the sorted cuts of their features; -1 where they do not.

    ``cuts[start[d] : start[d + 1]]`` are those of feature ``d``.
    """
    place = np.empty(cut.size, dtype=np.int32)
    for i in range(cut.size):
        first = start[feature[i]]
        last = start[feature[i] + 1]
        found = first + np.searchsorted(cuts[first:last], cut[i])
        known = found < last and cuts[found] == cut[i]
        place[i] = found - first if known else -1
    return place


@kernel
def count_varying(columns, ends, parent):
    """In how many features the rows that pass each node differ; NaN is one value.

    Parameters
    ----------
    columns : ndarray of float of shape (n_features, n_rows)
    ends : ndarray of int of shape (n_rows,)
        Where each row ends.
    parent : ndarray of shape (n_nodes,)
    """
    n_varying = np.zeros(parent.size, dtype=np.int64)
    first = np.empty(parent.size)
    for d in range(columns.shape[0]):
        seen = np.zeros(parent.size, dtype=np.bool_)
        varies = np.zeros(parent.size, dtype=np.bool_)
        for i in range(ends.size):
            node, value = ends[i], columns[d, i]
            if not seen[node]:
                seen[node], first[node] = True, value
            elif first[node] != value:
                varies[node] |= not (math.isnan(first[node]) and math.isnan(value))
        for node in range(parent.size - 1, 0, -1):
            up, value = parent[node], first[node]
            if seen[node]:
                if not seen[up]:
                    seen[up], first[up] = True, value
                elif first[up] != value:
                    varies[up] |= not (math.isnan(first[up]) and math.isnan(value))
                varies[up] |= varies[node]
        for node in range(parent.size):
            n_varying[node] += varies[node]
    return n_varying


@kernel
def distinct_values(rank, ends, parent):
    """How many values of one feature the rows that pass each node have.

    Parameters
    ----------
    rank : ndarray of int of shape (n_rows,)
        Of each row's value; rows in ascending order.
    ends : ndarray of int of shape (n_rows,)
        Where each row ends.
    parent : ndarray of shape (n_nodes,)
    """
    n_values = np.zeros(parent.size, dtype=np.int64)
    last = np.full(parent.size, -1, dtype=np.int64)
    for i in range(rank.size):
        node = ends[i]
        # Above a node that has seen the value all have.
        while node >= 0 and last[node] != rank[i]:
            last[node] = rank[i]
            n_values[node] += 1
            node = parent[node]
    return n_values
