"""The hot loops of this room: scores, and sums over forests."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.leaf_model import log_gamma_rise

# Scores


@kernel
def rising_table(starts, size):
    """``log gamma(start + n) - log gamma(start)`` of every start (row), n < size."""
    table = np.empty((starts.size, size))
    for i in range(starts.size):
        for n in range(size):
            table[i, n] = log_gamma_rise(starts[i], float(n))
    return table


@kernel
def rising(table, start, count):
    """One such number: looked up where the table reaches."""
    if count < table.size:
        return table[int(count)]
    return log_gamma_rise(start, count)


@kernel
def joint_scores(counts, first, second, levels, kind, starts, tables):
    """Sums over the cells of two features, without and with the class.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_levels of first, n_levels of second)
        Rows of each class with each pair of levels, feature after feature.
    first, second : ndarray of int
        The features that they belong to.
    levels, kind : ndarray of int of shape (d,)
        Number of levels of every feature, and its place among the different numbers.
    starts : ndarray of shape (2, n_kinds, n_kinds)
        Pseudo-count of each cell.
    tables : ndarray of shape (2, n_kinds, n_kinds, size)
        Of ``rising_table``; size 0 to have nothing looked up.

    Returns
    -------
    ndarray of shape (2, len(first), len(second))
    """
    total = np.zeros((2, first.size, second.size))
    row = 0
    for a in range(first.size):
        column = 0
        i = kind[first[a]]
        for b in range(second.size):
            j = kind[second[b]]
            plain, by_class = tables[0, i, j], tables[1, i, j]
            start, start_by_class = starts[0, i, j], starts[1, i, j]
            for k in range(row, row + levels[first[a]]):
                for m in range(column, column + levels[second[b]]):
                    both = 0.0
                    for c in range(counts.shape[0]):
                        count = counts[c, k, m]
                        both += count
                        total[1, a, b] += rising(by_class, start_by_class, count)
                    total[0, a, b] += rising(plain, start, both)
            column += levels[second[b]]
        row += levels[first[a]]
    return total


# Sums over forests, by the matrix-tree theorem in logs


NOTHING = -50.0
"""Edges of a lower log weight change no sum over forests."""


@kernel
def with_ground(log_weight, members):
    """Log weights between some features and the ground, which is node 0.

    Rooted forests are the trees of this graph: a root is tied to the ground, with
    weight 1. Only what stands below the diagonal counts.
    """
    m = members.size
    found = np.full((m + 1, m + 1), -np.inf)
    for i in range(m):
        found[i + 1, 0] = 0.0
        for j in range(i):
            found[i + 1, j + 1] = log_weight[members[i], members[j]]
    return found


@kernel
def eliminate_last(graph, k):
    """Take out node k, the last one, by edges between all its neighbours, in place.

    Gaussian elimination that reads no diagonal, and so subtracts nothing (Grassmann,
    Taksar, Heyman 1985). What an edge through k gets is ``w_ik w_kj / sum_l w_kl``.
    Returns the log of that sum: their product over all nodes is the determinant.
    """
    row = graph[k]
    top = row[:k].max()
    total = 0.0
    for i in range(k):
        if row[i] > top + NOTHING:
            total += np.exp(row[i] - top)
    log_total = top + np.log(total)
    for i in range(k):
        first = row[i] - log_total
        if first + top < NOTHING:
            continue
        for j in range(i):
            through = first + row[j]
            if through < NOTHING:
                continue
            gap = through - graph[i, j]
            if gap > 0.0:
                graph[i, j] = through
                gap = -gap
            if gap > -40.0:
                graph[i, j] += np.log1p(np.exp(gap))
    return log_total


@kernel
def log_sum_of_forests(graph):
    """Log of the sum of the weights of all rooted forests; the graph is used up."""
    total = 0.0
    for k in range(graph.shape[0] - 1, 0, -1):
        total += eliminate_last(graph, k)
    return total


@kernel
def eliminate_all(graph):
    """Take out all nodes, and keep what is left each time; the graph is used up.

    Row k of the graph stays as it was when node k went.

    Returns
    -------
    left : ndarray of shape (n, n, n)
        Log weights (below the diagonal) without node k and all after it.
    log_total : ndarray of shape (n,)
    """
    n = graph.shape[0]
    left, log_total = np.empty((n, n, n)), np.empty(n)
    for k in range(n - 1, 0, -1):
        log_total[k] = eliminate_last(graph, k)
        left[k, :k, :k] = graph[:k, :k]
    return left, log_total


@kernel
def edge_probabilities(graph):
    """Probability of every edge in a forest drawn by weight; the graph is used up.

    The way of ``log_sum_of_forests`` back. An edge there stands for itself, or for a
    way through the node that was taken out, by their shares; and with t of the latter
    that node has on average ``1 + t`` edges.
    """
    n = graph.shape[0]
    left, log_total = eliminate_all(graph)
    found = np.zeros((n, n))
    ends = np.empty(n)
    for k in range(1, n):
        row = graph[k]
        ends[:k] = 0.0
        for i in range(k):
            for j in range(i):
                through = row[i] + row[j] - log_total[k]
                if found[i, j] == 0.0 or through < NOTHING:
                    continue
                moved = found[i, j] * np.exp(min(through - left[k, i, j], 0.0))
                found[i, j] -= moved
                ends[i] += moved
                ends[j] += moved
        rest = 1.0 - 0.5 * ends[:k].sum()
        for i in range(k):
            found[k, i] = max(np.exp(row[i] - log_total[k]) * rest + ends[i], 0.0)
    return found


@kernel
def choose(log_share, n, rng):
    """One of some places, as likely as its share."""
    top = log_share[:n].max()
    total = 0.0
    for i in range(n):
        total += np.exp(log_share[i] - top)
    left = rng.random() * total
    chosen = 0
    for i in range(n):
        if log_share[i] > -np.inf:
            chosen = i
            left -= np.exp(log_share[i] - top)
            if left < 0.0:
                break
    return chosen


@kernel
def draw_tree(graph, left, log_total, rng):
    """Parents of all nodes in a random forest, drawn by weight; roots have parent 0.

    The same way back, from what ``eliminate_all`` has left. An edge of the tree that
    came through node k is cut, and its lower end hung at k: these ends are by their
    weights already, whatever else the tree is. Then k is hung at one of the nodes that
    are still tied to the ground.
    """
    n = graph.shape[0]
    parent, log_share = np.zeros(n, np.int64), np.empty(n)
    for k in range(1, n):
        row = graph[k]
        for i in range(1, k):
            p = parent[i]
            through = row[i] + row[p] - log_total[k]
            if rng.random() < np.exp(through - left[k, max(i, p), min(i, p)]):
                parent[i] = k
        for i in range(k):
            top = i
            while 0 < top < k:
                top = parent[top]
            log_share[i] = row[i] if top == 0 else -np.inf
        parent[k] = choose(log_share, k, rng)
    return parent


# All sets


@kernel
def members_of(number, d):
    """The features of a set that is written as a number, feature 0 the lowest bit."""
    found = np.empty(d, dtype=np.int64)
    m = 0
    for j in range(d):
        if number >> j & 1:
            found[m] = j
            m += 1
    return found[:m]


@kernel
def log_sums_of_sets(log_weight):
    """Log sums over the forests of every set of features."""
    d = log_weight.shape[0]
    found = np.empty(1 << d)
    for number in range(found.size):
        graph = with_ground(log_weight, members_of(number, d))
        found[number] = log_sum_of_forests(graph)
    return found


@kernel
def edges_of_sets(log_weight, numbers, probability):
    """Probabilities of edges (below the diagonal), averaged over sets."""
    d = log_weight.shape[0]
    found = np.zeros((d, d))
    for s in range(numbers.size):
        members = members_of(numbers[s], d)
        edges = edge_probabilities(with_ground(log_weight, members))
        for i in range(members.size):
            for j in range(i):
                found[members[i], members[j]] += probability[s] * edges[i + 1, j + 1]
    return found
