"""The moves of the thesis (2.3.2), compiled: Switch Trees, Reassign Subtree, Pivot.

A forest is held in flat arrays, a node per place:

- ``up``, ``down``, ``before``, ``after``: parent, first child, siblings; -1 for none
- ``roots``, ``place``: the roots, and where each of them stands there
- ``size``: number of nodes of the tree, at its root
- ``edge``: log weights of the edge to the parent in both groups; 0 at roots
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel


@kernel
def weight_of(start, end, log_weight, j, u):
    """Log weight of an edge; minus infinity for one that was left out."""
    place = start[j] + np.searchsorted(end[start[j] : start[j + 1]], u)
    if place < start[j + 1] and end[place] == u:
        return log_weight[place]
    return -math.inf


@kernel
def hang(up, down, before, after, j, u):
    """Make a root the first child of a node."""
    up[j], before[j], after[j] = u, -1, down[u]
    if down[u] >= 0:
        before[down[u]] = j
    down[u] = j


@kernel
def take_off(up, down, before, after, j):
    """Make a child a root."""
    if before[j] >= 0:
        after[before[j]] = after[j]
    else:
        down[up[j]] = after[j]
    if after[j] >= 0:
        before[after[j]] = before[j]
    up[j] = before[j] = after[j] = -1


@kernel
def subtree(down, after, j, found):
    """Write a node and all below it into an array; return their number."""
    found[0], n = j, 1
    done = 0
    while done < n:
        child = down[found[done]]
        while child >= 0:
            found[n], n = child, n + 1
            child = after[child]
        done += 1
    return n


@kernel
def root_of(up, j):
    """The root of a node's tree."""
    while up[j] >= 0:
        j = up[j]
    return j


@kernel
def pivot(up, down, before, after, roots, place, size, edge, j):
    """Make a node the root of its tree."""
    old, above = root_of(up, j), up[j]
    if above < 0:
        return
    roots[place[old]], place[j], size[j] = j, place[old], size[old]
    worth_0, worth_1 = edge[0, j], edge[1, j]
    take_off(up, down, before, after, j)
    edge[0, j] = edge[1, j] = 0.0
    while above >= 0:  # each node on the way up goes below the one before
        higher, next_0, next_1 = up[above], edge[0, above], edge[1, above]
        if higher >= 0:
            take_off(up, down, before, after, above)
        hang(up, down, before, after, above, j)
        edge[0, above], edge[1, above] = worth_0, worth_1
        j, above, worth_0, worth_1 = above, higher, next_0, next_1


@kernel
def switch_trees(signal, down, after, roots, n_roots, place, alone, edge, most, rng):
    """Switch Trees: propose the other group for some trees, one by one (Metropolis)."""
    nodes = np.empty(signal.size, np.int64)
    accepted, n_tried = 0, min(most, n_roots)
    for i in range(n_tried):
        k = i + int(rng.random() * (n_roots - i))
        roots[i], roots[k] = roots[k], roots[i]
        place[roots[i]], place[roots[k]] = i, k
        n = subtree(down, after, roots[i], nodes)
        here = int(signal[roots[i]])
        log_ratio = 0.0
        for u in nodes[:n]:
            log_ratio += alone[1 - here, u] - alone[here, u]
            log_ratio += edge[1 - here, u] - edge[here, u]
        if math.log1p(-rng.random()) < log_ratio:
            signal[nodes[:n]] = 1 - here
            accepted += 1
    return accepted / n_tried


@kernel
def choose(log_share, n, rng):
    """One of some places, as likely as its share."""
    top = log_share[:n].max()
    total = 0.0
    for i in range(n):
        total += math.exp(log_share[i] - top)
    left = rng.random() * total
    chosen = 0
    for i in range(n):
        if log_share[i] > -math.inf:
            chosen = i
            left -= math.exp(log_share[i] - top)
            if left < 0.0:
                break
    return chosen


@kernel
def make_moves(
    signal, parent, alone, noise_edges, signal_edges, n_moves, most, undirected, rng
):  # fmt: skip
    """Switch some trees, then reassign a subtree of a tree that was pivoted; repeat.

    Parameters
    ----------
    signal, parent : ndarray of shape (d,)
        The graph; both are overwritten.
    alone : ndarray of shape (2, d)
        Log weight of each node in the noise and in the signal.
    noise_edges, signal_edges : tuple of ndarray
        Starts of the rows, columns and log weights of a sparse table, rows sorted.
    n_moves, most : int
        Repetitions, and trees that each of them tries to switch.
    undirected : bool
        Whether a tree has 1 / (its size) of its weight.
    rng : Generator

    Returns
    -------
    switched, reassigned : float
        Shares of the trees proposed that have switched, and of moves that have changed
        the graph.
    log_weight : float
        Of the graph.
    """
    d = signal.size
    edges = (noise_edges, signal_edges)
    up = np.full(d, -1)
    down, before, after = up.copy(), up.copy(), up.copy()
    roots, place, size = np.empty(d, np.int64), np.empty(d, np.int64), np.ones(d)
    edge = np.zeros((2, d))
    nodes, below = np.empty(d, np.int64), np.zeros(d, np.bool_)
    log_share, target = np.empty(d + 2), np.empty(d + 2, np.int64)
    n_roots = 0
    for j in range(d):
        if parent[j] < 0:
            roots[n_roots], place[j], n_roots = j, n_roots, n_roots + 1
            continue
        hang(up, down, before, after, j, parent[j])
        for group in range(2):
            start, end, weight = edges[group]
            edge[group, j] = weight_of(start, end, weight, j, parent[j])
    for root in roots[:n_roots]:
        size[root] = subtree(down, after, root, nodes)

    switched = reassigned = 0.0
    for _ in range(n_moves):
        switched += switch_trees(
            signal, down, after, roots, n_roots, place, alone, edge, most, rng
        )
        j = int(rng.random() * d)
        n = subtree(down, after, root_of(up, j), nodes)
        new_root = nodes[int(rng.random() * n)]
        pivot(up, down, before, after, roots, place, size, edge, new_root)

        # Detach: from here on j is a root, and its old parent a candidate as others.
        old, old_group = up[j], signal[j]
        n = subtree(down, after, j, nodes)
        if old >= 0:
            size[root_of(up, j)] -= n
            take_off(up, down, before, after, j)
            roots[n_roots], place[j], n_roots = j, n_roots, n_roots + 1
            edge[0, j] = edge[1, j] = 0.0
        size[j] = n
        below[nodes[:n]] = True
        n_options = 0
        for group in range(2):
            own = 0.0
            for u in nodes[:n]:
                own += alone[group, u] + edge[group, u]
            log_share[n_options], target[n_options] = own, -1 - group
            n_options += 1
            start, end, weight = edges[group]
            for e in range(start[j], start[j + 1]):
                u = end[e]
                if signal[u] != group or below[u]:
                    continue
                log_share[n_options], target[n_options] = own + weight[e], u
                if undirected:
                    other = size[root_of(up, u)]
                    log_share[n_options] += math.log(n * other / (n + other))
                n_options += 1
        below[nodes[:n]] = False
        new = target[choose(log_share, n_options, rng)]
        signal[nodes[:n]] = -1 - new if new < 0 else signal[new]
        if new >= 0:
            size[root_of(up, new)] += n
            hang(up, down, before, after, j, new)
            for group in range(2):
                start, end, weight = edges[group]
                edge[group, j] = weight_of(start, end, weight, j, new)
            n_roots -= 1
            last = roots[n_roots]
            roots[place[j]], place[last] = last, place[j]
        reassigned += new != old if new >= 0 or old >= 0 else signal[j] != old_group

    log_weight = 0.0
    for j in range(d):
        parent[j] = up[j]
        log_weight += alone[int(signal[j]), j] + edge[int(signal[j]), j]
        if undirected and up[j] < 0:
            log_weight -= math.log(size[j])
    return switched / max(n_moves, 1), reassigned / max(n_moves, 1), log_weight
