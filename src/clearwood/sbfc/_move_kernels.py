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
from clearwood.sbfc._kernels import choose


@kernel
def weight_of(edges, j, u):
    """Log weight of an edge; minus infinity for one that was left out."""
    start, end, log_weight = edges
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
def parents_for(
    j, nodes, up, size, signal, alone, edge, edges, undirected, log_share, target
):  # fmt: skip
    """All places for a subtree that was taken off; return their number.

    ``nodes`` are those of the subtree, j first. Targets are parents, or -1 and -2 for
    none in the noise and in the signal; shares are log weights of the whole graph.
    """
    below = np.zeros(signal.size, np.bool_)
    below[nodes] = True
    n, n_options = nodes.size, 0
    for group in range(2):
        own = 0.0
        for u in nodes:
            own += alone[group, u] + edge[group, u]
        log_share[n_options], target[n_options] = own, -1 - group
        n_options += 1
        start, end, weight = edges[group]
        for e in range(start[j], start[j + 1]):
            u = end[e]
            if signal[u] != group or below[u]:
                continue
            log_share[n_options], target[n_options] = own + weight[e], u
            if undirected:  # 1 / (n + other), where two trees had 1 / n and 1 / other
                other = size[root_of(up, u)]
                log_share[n_options] += math.log(n * other / (n + other))
            n_options += 1
    return n_options


@kernel
def read_forest(parent, edges, up, down, before, after, roots, place, size, edge):
    """Fill the arrays of a forest from its parents; return the number of roots."""
    n_roots = 0
    for j in range(parent.size):
        if parent[j] < 0:
            roots[n_roots], place[j], n_roots = j, n_roots, n_roots + 1
            continue
        hang(up, down, before, after, j, parent[j])
        for group in range(2):
            edge[group, j] = weight_of(edges[group], j, parent[j])
    nodes = np.empty(parent.size, np.int64)
    for i in range(n_roots):
        size[roots[i]] = subtree(down, after, roots[i], nodes)
    return n_roots


@kernel
def make_moves(
    signal, parent, alone, edges, n_moves, most, undirected, rng
):  # fmt: skip
    """Switch some trees, then reassign a subtree of a tree that was pivoted; repeat.

    Parameters
    ----------
    signal, parent : ndarray of shape (d,)
        The graph; both are overwritten.
    alone : ndarray of shape (2, d)
        Log weight of each node in the noise and in the signal.
    edges : tuple of two tuples
        Of noise and signal: starts of the rows, columns and log weights of a sparse
        table, rows sorted.
    n_moves, most : int
        Repetitions, and trees that each of them tries to switch.
    undirected : bool
        Whether a tree has 1 / (its size) of its weight.
    rng : Generator

    Returns
    -------
    switched, reassigned : float
        Shares of the trees proposed that have switched, and of moves that have given a
        subtree another parent or group.
    log_weight : float
        Of the graph.
    """
    d = signal.size
    up, down = np.full(d, -1), np.full(d, -1)
    before, after = np.full(d, -1), np.full(d, -1)
    roots, place, size = np.empty(d, np.int64), np.empty(d, np.int64), np.ones(d)
    edge = np.zeros((2, d))
    n_roots = read_forest(
        parent, edges, up, down, before, after, roots, place, size, edge
    )
    found = np.empty(d, np.int64)
    log_share, target = np.empty(d + 2), np.empty(d + 2, np.int64)
    switched = reassigned = 0.0
    for _ in range(n_moves):
        switched += switch_trees(
            signal, down, after, roots, n_roots, place, alone, edge, most, rng
        )
        j = int(rng.random() * d)
        n = subtree(down, after, root_of(up, j), found)
        new_root = found[int(rng.random() * n)]
        pivot(up, down, before, after, roots, place, size, edge, new_root)

        nodes = found[: subtree(down, after, j, found)]
        old, old_group = up[j], signal[j]
        if old >= 0:
            size[root_of(up, j)] -= nodes.size
            take_off(up, down, before, after, j)
            edge[0, j] = edge[1, j] = 0.0
            roots[n_roots], place[j], n_roots = j, n_roots, n_roots + 1
        size[j] = nodes.size
        n_options = parents_for(
            j, nodes, up, size, signal, alone, edge, edges, undirected, log_share,
            target,
        )  # fmt: skip
        new = target[choose(log_share, n_options, rng)]
        signal[nodes] = new == -2 if new < 0 else signal[new]
        if new >= 0:
            size[root_of(up, new)] += nodes.size
            hang(up, down, before, after, j, new)
            for group in range(2):
                edge[group, j] = weight_of(edges[group], j, new)
            n_roots -= 1
            last = roots[n_roots]
            roots[place[j]], place[last] = last, place[j]
        reassigned += max(new, -1) != old or signal[j] != old_group

    log_weight = 0.0
    for j in range(d):
        parent[j] = up[j]
        log_weight += alone[int(signal[j]), j] + edge[int(signal[j]), j]
        if undirected and up[j] < 0:
            log_weight -= math.log(size[j])
    return switched / max(n_moves, 1), reassigned / max(n_moves, 1), log_weight
