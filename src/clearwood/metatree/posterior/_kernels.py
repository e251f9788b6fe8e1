"""The posterior over all prunings: recursions over the nodes of one tree.

Nodes stand parents first, so one loop from the last node to the first is bottom-up,
and one from the first to the last is top-down.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.kinds import add_one, log_predictive
from clearwood.conjugate.moments import merge_moments

# Bottom-up: Theorem 1


@kernel
def sum_up(own, parent):
    """Sums of every node with all that is below."""
    total = own.copy()
    for node in range(parent.size - 1, 0, -1):
        for j in range(own.shape[1]):
            total[parent[node], j] += total[node, j]
    return total


@kernel
def moments_up(own, parent, d):
    """Moments of every node with all that is below."""
    total = own.copy()
    for node in range(parent.size - 1, 0, -1):
        merge_moments(total[parent[node]], total[node], d)
    return total


@kernel
def logs_of_prior(g):
    """Logs of 1 - g and of g."""
    log_stop = np.empty(g.size)
    log_split = np.empty(g.size)
    for node in range(g.size):
        log_stop[node] = math.log1p(-g[node])
        log_split[node] = math.log(g[node])
    return log_stop, log_split


@kernel
def evidence_up(parent, first_child, log_stop, log_split, log_own):
    """Evidence of every node from those of its children: (10) and (11).

    Parameters
    ----------
    parent, first_child : ndarray of shape (n_nodes,)
    log_stop : ndarray of shape (n_nodes,)
        Log weight of the tree that stops at the node, its leaf's evidence included.
    log_split : ndarray of shape (n_nodes,)
        Log weight of asking on.
    log_own : ndarray of shape (n_nodes,)
        Evidence of the rows that stop at an inner node: one more child.

    Returns
    -------
    log_q, log_odds : ndarray of shape (n_nodes,)
        Evidence, and log odds of asking on given the data (9).
    """
    n = parent.size
    children = log_own.copy()
    log_q = np.empty(n)
    log_odds = np.empty(n)
    for node in range(n - 1, -1, -1):
        if first_child[node] < 0:
            log_q[node] = log_stop[node]
            log_odds[node] = -np.inf
        else:
            split = log_split[node] + children[node]
            log_q[node] = logaddexp(log_stop[node], split)
            log_odds[node] = split - log_stop[node]
        if node > 0:
            children[parent[node]] += log_q[node]
    return log_q, log_odds


@kernel
def logaddexp(a, b):
    """log(exp(a) + exp(b))."""
    if a == b:
        return a + math.log(2.0)
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


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


# Top-down


@kernel
def reach_down(parent, g):
    """Probability that a tree reaches the node: the product of g above it."""
    reach = np.ones(parent.size)
    for node in range(1, parent.size):
        reach[node] = reach[parent[node]] * g[parent[node]]
    return reach


@kernel
def draw_down(parent, asks):
    """Keep of every draw (row) the nodes that can be reached, in place."""
    for i in range(asks.shape[0]):
        for node in range(1, parent.size):
            asks[i, node] = asks[i, node] and asks[i, parent[node]]


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


# Proposition 1: one row after the other


@kernel
def learn_in_turn(ends, z, parent, first_child, kind, prior, arrays):
    """Proposition 1: every row changes only the nodes on its way.

    Parameters
    ----------
    ends : ndarray of shape (n_rows,)
        From ``find_ends``.
    z : ndarray of shape (n_rows, n_columns)
        The target, behind the features where the leaf model reads any.
    parent, first_child : ndarray of shape (n_nodes,)
    kind, prior
        Of the leaf model.
    arrays : tuple of ndarray
        ``own``, ``total``, ``log_marginal``, ``log_q`` and ``log_odds`` as in
        ``Posterior``; changed in place.

    Returns
    -------
    ndarray of shape (n_rows,)
        Log density of every row given the rows before it.
    """
    own, total, log_marginal, log_q, log_odds = arrays
    log_density = np.empty(ends.size)
    for i in range(ends.size):
        node = ends[i]
        # A row that stops at an inner node is in one more child of that node.
        below = 0.0
        if first_child[node] >= 0:
            below = log_predictive(kind, own[node], prior, z[i])
        add_one(kind, own[node], z[i])
        while node >= 0:
            here = log_predictive(kind, total[node], prior, z[i])
            q = here
            if first_child[node] >= 0:
                # (8), then (6), which adds q(child) / p(y | node) to the odds of g.
                stop = here - softplus(log_odds[node])
                q = logaddexp(stop, below - softplus(-log_odds[node]))
                log_odds[node] += below - here
            log_marginal[node] += here
            log_q[node] += q
            add_one(kind, total[node], z[i])
            below = q
            node = parent[node]
        log_density[i] = below
    return log_density


@kernel
def softplus(x):
    """log(1 + exp(x)), which is -log(1 - g) where x is the log odds of g."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))
