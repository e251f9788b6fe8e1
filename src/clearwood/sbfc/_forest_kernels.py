"""The hot loops on forests: the heaviest one, random ones, and what they predict.

Weights are logs throughout: they reach e^1273, and sums of them lose nothing, as no
kernel here ever subtracts one weight from another.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel

NO_WAY = -math.inf


@kernel
def log_add(a, b):
    """``log(exp(a) + exp(b))``."""
    if a < b:
        a, b = b, a
    gap = b - a
    # Below -40 nothing is left of it; this is not a number only for two zeros.
    return a + math.log1p(math.exp(gap)) if gap > -40.0 else a


# The heaviest forest


@kernel
def other_ways(inside, first, second, log_weight):
    """Kruskal's algorithm, which also tells how well each edge can be gone round.

    Edges come by falling weight; those that leave the nodes ``inside`` are passed by.

    Returns
    -------
    ndarray of shape (n_edges,)
        The weakest weight on the way through the heaviest forest between the two ends
        of an edge; ``NO_WAY`` for the edges of that forest, NaN for those passed by.
    """
    link = np.arange(inside.size)
    size = np.ones(inside.size, np.int64)
    worth = np.full(inside.size, NO_WAY)  # the edge by which a tree came to its link
    found = np.full(first.size, np.nan)
    for e in range(first.size):
        a, b = first[e], second[e]
        if not (inside[a] and inside[b]):
            continue
        way = math.inf
        # Upwards edges get weaker: where both ends meet, the weakest has been seen.
        while a != b and (link[a] != a or link[b] != b):
            if worth[a] >= worth[b]:
                way, a = min(way, worth[a]), link[a]
            else:
                way, b = min(way, worth[b]), link[b]
        found[e] = way
        if a != b:
            if size[a] < size[b]:
                a, b = b, a
            link[b], worth[b], found[e] = a, log_weight[e], NO_WAY
            size[a] += size[b]
    return found


@kernel
def breadth_first(n, first, second):
    """Parents, and an order in which they come before their children, in a forest.

    Every tree starts at its first node.
    """
    start = np.zeros(n + 1, np.int64)
    for e in range(first.size):
        start[first[e] + 1] += 1
        start[second[e] + 1] += 1
    start = np.cumsum(start)
    place, end = start.copy(), np.empty(2 * first.size, np.int64)
    for e in range(first.size):
        end[place[first[e]]], end[place[second[e]]] = second[e], first[e]
        place[first[e]] += 1
        place[second[e]] += 1
    parent, order = np.full(n, -2), np.empty(n, np.int64)
    done = 0
    for root in range(n):
        if parent[root] != -2:
            continue
        parent[root], order[done] = -1, root
        here, done = done, done + 1
        while here < done:
            node = order[here]
            for other in end[start[node] : start[node + 1]]:
                if other != parent[node]:
                    parent[other], order[done] = node, other
                    done += 1
            here += 1
    return parent, order


# Random forests, each as likely as the product of its weights
#
# A root above all nodes, joined to each by a weight of 1, makes rooted forests the
# spanning trees of one graph. Taking a node v out of a graph, and joining its
# neighbours u, w by c_vu c_vw / C_v more (C_v the sum of its weights), leaves a random
# spanning tree of the rest from which one with v is made: edges of the tree that came
# "by way of v" are cut, and v is joined to each part by one edge.


@kernel
def eliminate(start, ends, log_weight):
    """Take the nodes out one by one, in their order; the root is the last of them.

    Parameters
    ----------
    start, ends, log_weight : ndarray
        Edges from each node to later ones, those of node v from ``start[v]`` on.

    Returns
    -------
    column : ndarray of shape (n + 1,)
        Where the edges begin that each node had when it was taken out.
    end, now, given : ndarray
        Their other ends in order, their log weights then and at the beginning.
    total : ndarray of shape (n,)
        Log of the sum of the weights of a node; the sum of these is the log
        determinant of I + Laplacian.
    owner, head, following : ndarray
        The nodes from which these edges come, and chains of the edges to every node:
        ``head`` has the last one, ``following`` the one before.
    """
    n = start.size - 1
    room = 4 * (ends.size + n)
    end, owner = np.empty(room, np.int64), np.empty(room, np.int64)
    following = np.empty(room, np.int64)
    now, given = np.empty(room), np.empty(room)
    column, head = np.zeros(n + 1, np.int64), np.full(n, -1)
    total = np.empty(n)
    weight, first = np.full(n + 1, NO_WAY), np.full(n + 1, NO_WAY)
    touched = np.empty(n + 1, np.int64)
    for v in range(n):
        touched[0], weight[n], first[n] = n, 0.0, 0.0
        n_touched = 1
        for e in range(start[v], start[v + 1]):
            u = ends[e]
            touched[n_touched], n_touched = u, n_touched + 1
            weight[u] = first[u] = log_weight[e]
        e = head[v]
        while e >= 0:
            by = owner[e]
            for f in range(e + 1, column[by + 1]):
                u = end[f]
                if weight[u] == NO_WAY:
                    touched[n_touched], n_touched = u, n_touched + 1
                weight[u] = log_add(weight[u], now[e] + now[f] - total[by])
            e = following[e]
        size = column[v]
        if size + n_touched > room:
            room = 2 * room + n_touched
            end, owner = longer(end, room), longer(owner, room)
            following = longer(following, room)
            now, given = longer(now, room), longer(given, room)
        total[v] = NO_WAY
        for u in np.sort(touched[:n_touched]):
            total[v] = log_add(total[v], weight[u])
            end[size], owner[size], now[size], given[size] = u, v, weight[u], first[u]
            if u < n:
                following[size], head[u] = head[u], size
            weight[u] = first[u] = NO_WAY
            size += 1
        column[v + 1] = size
    return column, end, now, given, total, owner, head, following


@kernel
def longer(values, room):
    """A copy with more room."""
    found = np.empty(room, values.dtype)
    found[: values.size] = values
    return found


@kernel
def draw_way(v, u, column, end, now, given, total, owner, head, following, rng):
    """By way of which earlier node an edge between v and a later u came; -1: of none.

    The first weight counts for none, each node before both for what it added.
    """
    place = column[v] + np.searchsorted(end[column[v] : column[v + 1]], u)
    chosen, so_far = -1, given[place]
    e = head[v]
    while e >= 0:
        by = owner[e]
        f = e + 1 + np.searchsorted(end[e + 1 : column[by + 1]], u)
        if f < column[by + 1] and end[f] == u:
            added = now[e] + now[f] - total[by]
            so_far = log_add(so_far, added)
            if rng.random() < math.exp(added - so_far):
                chosen = by
        e = following[e]
    return chosen


@kernel
def put_back(column, end, now, given, total, owner, head, following, rng):
    """Draw a spanning tree of all nodes and the root: the parent of every node.

    The nodes come back in the opposite order; so far their tree hangs below the root.
    """
    n = total.size
    parent, way = np.full(n + 1, -1), np.full(n + 1, -1)
    top_weight, chosen = np.full(n + 1, NO_WAY), np.full(n + 1, -1)
    for v in range(n - 1, -1, -1):
        joined = end[column[v] : column[v + 1]]
        for u in joined:
            if way[u] == v:  # only of ends of edges to neighbours of v
                parent[u], way[u] = -1, -1
        tops = joined.copy()
        for i in range(joined.size):
            top = joined[i]
            while parent[top] >= 0:
                top = parent[top]
            tops[i] = top
            weight = now[column[v] + i]
            top_weight[top] = log_add(top_weight[top], weight)
            if rng.random() < math.exp(weight - top_weight[top]):
                chosen[top] = joined[i]
        for i in range(joined.size):
            top = tops[i]
            u = chosen[top]
            if u < 0:
                continue  # this part is joined already
            chosen[top], top_weight[top] = -1, NO_WAY
            label = draw_way(
                v, u, column, end, now, given, total, owner, head, following, rng
            )
            if top == n:
                parent[v], way[v] = u, label
                continue
            # The part now hangs at u: turn the way from there to its top round.
            above = v
            while u >= 0:
                next_up, next_label = parent[u], way[u]
                parent[u], way[u] = above, label
                above, u, label = u, next_up, next_label
    return parent[:n]


@kernel
def draw_forest(inside, first, second, log_weight, log_bound, rng):
    """Parents (-1 for roots) in a random rooted forest on the nodes ``inside``.

    Its probability is proportional to the product of its edges' weights. An edge that
    is in it with a probability below the bound is left out: it is there at most as
    often as its weight times the resistance between its ends, and that is not above 2
    nor the sum of 1 / weight over another way.

    Edges come by falling weight.
    """
    other = other_ways(inside, first, second, log_weight)
    most = math.log(inside.size)
    n_kept = n_tree = 0
    kept, tree = np.empty(first.size, np.int64), np.empty(first.size, np.int64)
    for e in range(first.size):
        if other[e] == NO_WAY:
            tree[n_tree], n_tree = e, n_tree + 1
        elif math.isnan(other[e]):
            continue
        elif log_weight[e] + min(math.log(2.0), most - other[e]) < log_bound:
            continue
        kept[n_kept], n_kept = e, n_kept + 1
    parent = np.full(inside.size, -1, np.int32)
    tree, kept = tree[:n_tree], kept[:n_kept]
    # Leaves of the heaviest forest first: that adds few edges.
    _, order = breadth_first(inside.size, first[tree], second[tree])
    joined = np.zeros(inside.size, np.bool_)
    joined[first[tree]] = True
    joined[second[tree]] = True
    nodes = order[::-1][joined[order[::-1]]]
    place = np.full(inside.size, -1)
    place[nodes] = np.arange(nodes.size)
    start = np.zeros(nodes.size + 1, np.int64)
    low, high = place[first[kept]], place[second[kept]]
    for e in range(kept.size):
        if low[e] > high[e]:
            low[e], high[e] = high[e], low[e]
        start[low[e] + 1] += 1
    by_low = np.argsort(low, kind="mergesort")
    column, end, now, given, total, owner, head, following = eliminate(
        np.cumsum(start), high[by_low], log_weight[kept][by_low]
    )
    drawn = put_back(column, end, now, given, total, owner, head, following, rng)
    for v in range(nodes.size):
        if drawn[v] < nodes.size:
            parent[nodes[v]] = nodes[drawn[v]]
    return parent
