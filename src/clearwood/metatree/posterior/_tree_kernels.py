"""What follows from the posterior: recursions over nodes, parents first."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel


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


@kernel
def reach_down(parent, g):
    """Probability that a tree reaches the node: the product of g above it."""
    reach = np.ones(parent.size)
    for node in range(1, parent.size):
        reach[node] = reach[parent[node]] * g[parent[node]]
    return reach


@kernel
def use_of_features(parent, first_child, feature, g, n_features):
    """Probability that a tree asks about a feature anywhere.

    Below a node it does so with ``u = g (1 if asked here else 1 - prod (1 - u'))``,
    the product over the children; kept in logs so that small ones stay exact.
    """
    used = np.zeros(n_features)
    asked = np.zeros(n_features, dtype=np.bool_)
    for node in range(parent.size):
        if first_child[node] >= 0:
            asked[feature[node]] = True
    log_unused = np.empty(parent.size)
    for d in range(n_features):
        if not asked[d]:
            continue
        log_unused[:] = 0.0
        for node in range(parent.size - 1, -1, -1):
            u = 0.0
            if first_child[node] >= 0:
                if feature[node] == d:
                    u = g[node]
                else:
                    u = -g[node] * math.expm1(log_unused[node])
            if node > 0:
                log_unused[parent[node]] += math.log1p(-u)
            else:
                used[d] = u
    return used


@kernel
def best_below(parent, first_child, log_stop, log_split):
    """Largest log weight of a subtree below every node, and whether it asks there."""
    n = parent.size
    children = np.zeros(n)
    asks = np.zeros(n, dtype=np.bool_)
    for node in range(n - 1, -1, -1):
        best = log_stop[node]
        if first_child[node] >= 0 and log_split[node] + children[node] > best:
            best = log_split[node] + children[node]
            asks[node] = True
        if node > 0:
            children[parent[node]] += best
    return asks


@kernel
def draw_down(parent, asks):
    """Keep of every draw (row) the nodes that can be reached, in place."""
    for i in range(asks.shape[0]):
        for node in range(1, parent.size):
            asks[i, node] = asks[i, node] and asks[i, parent[node]]


@kernel
def paths_up(ends, parent, depth, g, stop, width):
    """Nodes on the way to every end, and how much of the mixture lies at each.

    Returns
    -------
    nodes : ndarray of int32 of shape (n_ends, width)
        From the root on; behind the end, the end again.
    weight : ndarray of shape (n_ends, width)
        ``stop prod of g above``; all that is left at the end; 0 behind it.
    """
    nodes = np.empty((ends.size, width), dtype=np.int32)
    weight = np.zeros((ends.size, width))
    for i in range(ends.size):
        last = depth[ends[i]]
        nodes[i, last:] = ends[i]
        node = ends[i]
        for level in range(last, 0, -1):
            node = parent[node]
            nodes[i, level - 1] = node
        left = 1.0
        for level in range(last):
            weight[i, level] = left * stop[nodes[i, level]]
            left *= g[nodes[i, level]]
        weight[i, last] = left
    return nodes, weight


@kernel
def mix_down(parent, g, own):
    """What is predicted for rows that end at each node, from what the nodes say.

    Parameters
    ----------
    parent : ndarray of shape (n_nodes,)
    g : ndarray of shape (n_nodes,)
        Posterior probability that a tree that reaches the node asks on.
    own : ndarray of shape (n_nodes, n_outputs)

    Returns
    -------
    ndarray of shape (n_nodes, n_outputs)
        Mixture on the way to the node, all that is left given to the node.
    """
    mixed = own.copy()
    before = np.zeros(own.shape)
    left = np.ones(parent.size)
    for node in range(1, parent.size):
        up = parent[node]
        left[node] = left[up] * g[up]
        for j in range(own.shape[1]):
            before[node, j] = before[up, j] + left[up] * (1.0 - g[up]) * own[up, j]
            mixed[node, j] = before[node, j] + left[node] * own[node, j]
    return mixed
