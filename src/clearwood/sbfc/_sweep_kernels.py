"""The hot loops on components: the collapsed sampler, and random forests.

One graph holds both groups, of 2 d nodes: feature j is node j in the noise, and node
j + d in the signal. Of these two one is active. A component is a set of active nodes
that edges tie together.
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.sbfc._kernels import (
    draw_tree,
    edge_probabilities,
    eliminate_all,
    log_sum_of_forests,
)

NEVER = 1e-15
"""Moves less probable than this are not made."""


@kernel
def collect_component(start, active, graph, seen, stamp, members, n):
    """Write the active nodes tied to a node behind the n members there are."""
    first, neighbour, _ = graph
    seen[start] = stamp
    members[n] = start
    done, end = n, n + 1
    while done < end:
        v = members[done]
        for e in range(first[v], first[v + 1]):
            u = neighbour[e]
            if active[u] and seen[u] != stamp:
                seen[u] = stamp
                members[end] = u
                end += 1
        done += 1
    return end


@kernel
def component_graph(members, active, graph, place):
    """Log weights within a component, with the ground; see ``with_ground``."""
    first, neighbour, log_weight = graph
    m = members.size
    found = np.full((m + 1, m + 1), -np.inf)
    for i in range(m):
        place[members[i]] = i + 1
        found[i + 1, 0] = 0.0
    for i in range(m):
        v = members[i]
        for e in range(first[v], first[v + 1]):
            if active[neighbour[e]] and place[neighbour[e]] <= i:
                found[i + 1, place[neighbour[e]]] = log_weight[e]
    return found


@kernel
def component_sum(members, active, graph, place):
    """Log sum over the forests of a component."""
    if members.size == 1:
        return 0.0
    return log_sum_of_forests(component_graph(members, active, graph, place))


@kernel
def most_gained_by_one(j, active, own, graph):
    """``most_gained`` for a block of one feature; whether that is all it gains."""
    first, neighbour, log_weight = graph
    d = active.size // 2
    old, new = (j, j + d) if active[j] else (j + d, j)
    gain, tied, alone = own[new] - own[old], 0.0, True
    for e in range(first[old], first[old + 1]):
        if active[neighbour[e]]:
            alone = False
            tied += np.exp(min(log_weight[e], 700.0))
    for e in range(first[new], first[new + 1]):
        if active[neighbour[e]]:
            alone = False
            gain += np.log1p(2.0 * np.exp(min(log_weight[e], 700.0)))
            gain += max(log_weight[e] - 700.0, 0.0)
    return gain - np.log1p(tied), alone


@kernel
def most_gained(features, active, own, graph, inside, place):
    """More than what the log joint gains where a block of features changes sides.

    Let R be the others of a group, and det the sum over forests. A block A that leaves
    takes at least ``det(A) (1 + sum b / |A|)`` with it, b its edges to R: there are the
    forests without any of these edges, and those with one of them at a root in A, as
    every feature is with probability 1 / |A| or more. A block that comes brings at most
    ``det(A) prod (1 + 2 b)``: an edge more is worth ``1 + b r``, its resistance r at
    most 2.
    """
    first, neighbour, log_weight = graph
    d = active.size // 2
    m = features.size
    old, new = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
    for i in range(m):
        j = features[i]
        old[i], new[i] = (j, j + d) if active[j] else (j + d, j)
        inside[old[i]] = True
        place[old[i]] = place[new[i]] = i + 1
    before = np.full((m + 1, m + 1), -np.inf)
    after = before.copy()
    gain, tied = 0.0, np.zeros(2)
    for i in range(m):
        gain += own[new[i]] - own[old[i]]
        before[i + 1, 0] = after[i + 1, 0] = 0.0
        for e in range(first[old[i]], first[old[i] + 1]):
            u = neighbour[e]
            if inside[u]:
                before[i + 1, place[u]] = log_weight[e]
            elif active[u]:
                tied[old[i] // d] += np.exp(min(log_weight[e], 700.0)) / m
        for e in range(first[new[i]], first[new[i] + 1]):
            u = neighbour[e]
            if inside[u - d if u >= d else u + d]:
                after[i + 1, place[u]] = log_weight[e]
            elif active[u]:
                gain += np.log1p(2.0 * np.exp(min(log_weight[e], 700.0)))
                gain += max(log_weight[e] - 700.0, 0.0)
    for v in old:
        inside[v] = False
    gain -= np.log1p(tied).sum()
    return gain + log_sum_of_forests(after) - log_sum_of_forests(before)


@kernel
def label_components(active, own, graph, seen, members, place, label, value):
    """Name every component after its first node; returns the log joint."""
    log_joint = 0.0
    for v in range(active.size):
        if not active[v]:
            continue
        log_joint += own[v]
        if label[v] < 0:
            m = collect_component(v, active, graph, seen, 1, members, 0)
            value[v] = component_sum(members[:m], active, graph, place)
            log_joint += value[v]
            for u in members[:m]:
                label[u] = v
    return log_joint


@kernel
def value_before(features, active, own, graph, label, value, counted, stamp):
    """Log weight of all that a move of a block changes."""
    first, neighbour, _ = graph
    d = active.size // 2
    total = 0.0
    for j in features:
        old, new = (j, j + d) if active[j] else (j + d, j)
        total += own[old]
        if counted[label[old]] != stamp:
            counted[label[old]] = stamp
            total += value[label[old]]
        for e in range(first[new], first[new + 1]):
            u = neighbour[e]
            if active[u] and counted[label[u]] != stamp:
                counted[label[u]] = stamp
                total += value[label[u]]
    return total


@kernel
def components_after(features, active, graph, seen, stamp, members, ends):
    """Write down the components that a move has made or changed; their number."""
    first, neighbour, _ = graph
    d = active.size // 2
    n_found = 0
    ends[0] = 0
    for j in features:
        new, old = (j, j + d) if active[j] else (j + d, j)
        begin, end = first[old], first[old + 1]
        # The node where it is now, and whatever was tied to it where it was.
        for e in range(begin - 1, end):
            u = new if e < begin else neighbour[e]
            if active[u] and seen[u] != stamp:
                ends[n_found + 1] = collect_component(
                    u, active, graph, seen, stamp, members, ends[n_found]
                )
                n_found += 1
    return n_found


@kernel
def change_sides(features, active):
    """Move a block to the other group, in place."""
    d = active.size // 2
    for j in features:
        active[j], active[j + d] = active[j + d], active[j]


@kernel
def sweep(active, own, graph, blocks, draws):
    """Move every block of features to the other group, or leave it, in turn.

    A move replaces the components that it takes nodes from, or brings them to, by
    those that are there afterwards; all others stay as they are.

    Parameters
    ----------
    active : ndarray of bool of shape (2 d,)
        Changed in place.
    own : ndarray of shape (2 d,)
        Log weight of every node.
    graph : tuple of ndarray
        Edges: ``first``, ``neighbour`` and ``log_weight`` as in a CSR matrix.
    blocks : tuple of ndarray
        Where each block begins, and its features.
    draws : ndarray of shape (n_blocks,)
        Uniform; a move is made where one is below its probability (never: nan).

    Returns
    -------
    log_joint : float
        Of the groups at the end.
    p : ndarray of shape (n_blocks,)
        Probability to move, given where all others were at that turn; or a bound of it,
        where that settled that the block stays.
    """
    n = active.size
    label, value = np.full(n, -1), np.zeros(n)
    seen, counted = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    place, members = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    inside, ends = np.zeros(n, dtype=np.bool_), np.empty(n + 1, dtype=np.int64)
    log_joint = label_components(active, own, graph, seen, members, place, label, value)
    p = np.empty(draws.size)
    for b in range(draws.size):
        features = blocks[1][blocks[0][b] : blocks[0][b + 1]]
        stamp, exact = b + 2, False
        if features.size == 1:
            most, exact = most_gained_by_one(features[0], active, own, graph)
        else:
            most = most_gained(features, active, own, graph, inside, place)
        p[b] = 1.0 / (1.0 + np.exp(-most))
        if draws[b] >= p[b] or p[b] < NEVER or (exact and np.isnan(draws[b])):
            continue
        gain = -value_before(features, active, own, graph, label, value, counted, stamp)
        change_sides(features, active)
        n_found = components_after(features, active, graph, seen, stamp, members, ends)
        values = np.empty(n_found)
        for c in range(n_found):
            part = members[ends[c] : ends[c + 1]]
            values[c] = component_sum(part, active, graph, place)
            gain += values[c]
        for j in features:
            gain += own[j if active[j] else j + n // 2]
        p[b] = 1.0 / (1.0 + np.exp(-gain))
        if draws[b] < p[b]:
            log_joint += gain
            for c in range(n_found):
                part = members[ends[c] : ends[c + 1]]
                value[part[0]] = values[c]
                for u in part:
                    label[u] = part[0]
        else:
            change_sides(features, active)
    return log_joint, p


@kernel
def add_edge_probabilities(active, graph, share, total):
    """Add to every edge ``share`` times its probability, given the groups."""
    first, neighbour, _ = graph
    n = active.size
    seen = np.zeros(n, dtype=np.int64)
    place, members = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for v in range(n):
        if not active[v] or seen[v]:
            continue
        m = collect_component(v, active, graph, seen, 1, members, 0)
        if m == 1:
            continue
        part = members[:m]
        found = edge_probabilities(component_graph(part, active, graph, place))
        for u in part:
            for e in range(first[u], first[u + 1]):
                if active[neighbour[e]]:
                    i, j = place[u], place[neighbour[e]]
                    total[e] += share * found[max(i, j), min(i, j)]


@kernel
def draw_parents(active, graph, n_draws, rng):
    """Parents of all features, -1 for roots, in random forests, given the groups."""
    n = active.size
    d = n // 2
    seen = np.zeros(n, dtype=np.int64)
    place, members = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    parents = np.full((n_draws, d), -1, dtype=np.int32)
    for v in range(n):
        if not active[v] or seen[v]:
            continue
        m = collect_component(v, active, graph, seen, 1, members, 0)
        if m == 1:
            continue
        part = members[:m]
        own = component_graph(part, active, graph, place)
        left, log_total = eliminate_all(own)
        for draw in range(n_draws):
            found = draw_tree(own, left, log_total, rng)
            for i in range(m):
                if found[i + 1] > 0:
                    parents[draw, part[i] % d] = part[found[i + 1] - 1] % d
    return parents
