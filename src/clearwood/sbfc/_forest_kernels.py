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
    # Leaves of the heaviest forest first: that adds few edges. Its roots come last, and
    # nodes without an edge do not come at all.
    above, order = breadth_first(inside.size, first[tree], second[tree])
    below = np.zeros(inside.size, np.bool_)
    for v in range(inside.size):
        if above[v] >= 0:
            below[above[v]] = True
    nodes, place = np.empty(inside.size, np.int64), np.empty(inside.size, np.int64)
    n = 0
    for v in order[::-1]:
        if above[v] >= 0 or below[v]:
            nodes[n], place[v], n = v, n, n + 1
    start = np.zeros(n + 2, np.int64)
    for e in kept:
        start[min(place[first[e]], place[second[e]]) + 2] += 1
    start = np.cumsum(start)
    ends, weight = np.empty(n_kept, np.int64), np.empty(n_kept)
    for e in kept:
        low, high = place[first[e]], place[second[e]]
        if low > high:
            low, high = high, low
        ends[start[low + 1]], weight[start[low + 1]] = high, log_weight[e]
        start[low + 1] += 1
    column, end, now, given, total, owner, head, following = eliminate(
        start[: n + 1], ends, weight
    )
    drawn = put_back(column, end, now, given, total, owner, head, following, rng)
    for v in range(n):
        if drawn[v] < n:
            parent[nodes[v]] = nodes[drawn[v]]
    return parent


# What forests predict


@kernel
def log_of_class(
    codes, y, levels, child, parent, start, log_table, entry, above, belief
):  # fmt: skip
    """Log probability of a row in a forest, given a class; unknown levels summed out.

    Children come before their parents and send them a message: the log probability of
    all that is known below, for each level of the parent (``belief``).
    """
    total = 0.0
    for e in range(entry.size):
        belief[e, : levels[child[entry[e]]]] = 0.0
    for e in range(entry.size):
        k = entry[e]
        j, p = child[k], parent[k]
        low, high = codes[j], codes[j] + 1
        if low < 0:
            low, high = 0, levels[j]
        width, low_p, high_p = 1, 0, 1
        if p >= 0:
            width, low_p, high_p = levels[p], codes[p], codes[p] + 1
            if low_p < 0:
                low_p, high_p = 0, levels[p]
        for m in range(low_p, high_p):
            message = NO_WAY
            for x in range(low, high):
                cell = start[k] + x * width + m
                message = log_add(message, log_table[cell, y] + belief[e, x])
            if p >= 0:
                belief[above[e], m] += message
            else:
                total += message
    return total


@kernel
def to_shares(log_share):
    """Logs to what they are logs of, scaled to the sum 1."""
    top, total = log_share[0], 0.0
    for x in log_share:
        top = max(top, x)
    for y in range(log_share.size):
        log_share[y] = math.exp(log_share[y] - top)
        total += log_share[y]
    for y in range(log_share.size):
        log_share[y] /= total


@kernel
def average_probabilities(
    codes, log_class, levels, child, parent, start, log_table, graph_start, entry,
    above, draws, n_batches,
):  # fmt: skip
    """Class probabilities of rows, averaged over graphs, and their standard errors.

    The arrays are those of ``GraphAverage``. Errors are those of means over batches of
    graphs that follow one another.
    """
    n, n_classes = codes.shape[0], log_class.size
    n_graphs = graph_start.size - 1
    probability, error = np.empty((n, n_classes)), np.full((n, n_classes), np.nan)
    value = np.empty((child.size, n_classes))
    each, batch = np.empty((n_graphs, n_classes)), np.empty((n_batches, n_classes))
    batch_size = np.zeros(n_batches)
    most = 0
    for i in range(draws.size):
        batch_size[i * n_batches // draws.size] += 1.0
    for g in range(n_graphs):
        most = max(most, graph_start[g + 1] - graph_start[g])
    belief = np.zeros((most, levels.max() if levels.size else 1))
    for row in range(n):
        code = codes[row]
        complete = True
        for j in range(code.size):
            complete = complete and code[j] >= 0
        if complete:
            for k in range(child.size):
                cell = start[k] + code[child[k]]
                if parent[k] >= 0:
                    cell += code[child[k]] * (levels[parent[k]] - 1) + code[parent[k]]
                for y in range(n_classes):
                    value[k, y] = log_table[cell, y]
        for g in range(n_graphs):
            first, last = graph_start[g], graph_start[g + 1]
            for y in range(n_classes):
                each[g, y] = log_class[y]
                if complete:
                    for e in range(first, last):
                        each[g, y] += value[entry[e], y]
                else:
                    each[g, y] += log_of_class(
                        code, y, levels, child, parent, start, log_table,
                        entry[first:last], above[first:last], belief,
                    )  # fmt: skip
            to_shares(each[g])
        batch[:] = 0.0
        for i in range(draws.size):
            b = i * n_batches // draws.size
            for y in range(n_classes):
                batch[b, y] += each[draws[i], y]
        for y in range(n_classes):
            total = 0.0
            for b in range(n_batches):
                total += batch[b, y]
            mean = probability[row, y] = total / draws.size
            if n_batches > 1:
                total = 0.0
                for b in range(n_batches):
                    total += (batch[b, y] / batch_size[b] - mean) ** 2
                error[row, y] = math.sqrt(total / (n_batches * (n_batches - 1)))
    return probability, error
