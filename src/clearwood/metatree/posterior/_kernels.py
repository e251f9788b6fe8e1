"""The hot loops of this room: recursions over the nodes of a tree, and ways down it.

Nodes stand parents first, so one loop from the last node to the first is bottom-up,
and one from the first to the last is top-down.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.dispatch import add_one, log_predictive
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
    """Logs of 1 - g and of g; compiled, as NumPy's own may differ in the last bit."""
    return np.log1p(-g), np.log(g)


@kernel
def evidence_up(parent, first_child, log_stop, log_split, log_stopped):
    """Evidence of every node from those of its children: (10) and (11).

    Parameters
    ----------
    parent, first_child : ndarray of shape (n_nodes,)
    log_stop : ndarray of shape (n_nodes,)
        Log weight of the tree that stops at the node, its leaf's evidence included.
    log_split : ndarray of shape (n_nodes,)
        Log weight of asking on.
    log_stopped : ndarray of shape (n_nodes,)
        Evidence of the rows that stop at an inner node: one more child.

    Returns
    -------
    log_q, log_odds : ndarray of shape (n_nodes,)
        Evidence, and log odds of asking on given the data (9).
    """
    n = parent.size
    children = log_stopped.copy()
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
    """Whether the subtree of the largest log weight below every node asks there."""
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
        add_one(kind, own[node], prior, z[i])
        while node >= 0:
            here = log_predictive(kind, total[node], prior, z[i])
            q = here
            if first_child[node] >= 0:
                # (8), then (6): the odds of g times q(child) / p(y | node).
                stop = here - softplus(log_odds[node])
                q = logaddexp(stop, below - softplus(-log_odds[node]))
                log_odds[node] += below - here
            log_marginal[node] += here
            log_q[node] += q
            add_one(kind, total[node], prior, z[i])
            below = q
            node = parent[node]
        log_density[i] = below
    return log_density


@kernel
def softplus(x):
    """log(1 + exp(x)), which is -log(1 - g) where x is the log odds of g."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


# How rows find their way down


@kernel
def node_depths(parent):
    """Number of questions above every node."""
    depth = np.zeros(parent.size, dtype=np.int32)
    for node in range(1, parent.size):
        depth[node] = depth[parent[node]] + 1
    return depth


@kernel
def narrow(codes, narrowed):
    """Codes in a small type; those that do not fit become its largest number.

    Rows of 64-bit codes are read from memory once, in order, and then sent down from
    the cache, which is several times as fast.

    Parameters
    ----------
    codes : ndarray of int of shape (n_codes,)
    narrowed : ndarray of unsigned int of shape (n_codes,)
    """
    largest = np.uint64(np.iinfo(narrowed.dtype).max)
    for i in range(codes.size):
        # A negative code is a very large one here.
        narrowed[i] = min(np.uint64(codes[i]), largest)


@kernel
def make_ways(
    first_child, feature, cut_code, missing_child, table_start, goes_to, n_codes
):
    """What routing reads of every node, side by side, and where each answer leads.

    Returns
    -------
    ways : ndarray of int32 of shape (n_nodes, 4)
        Feature, first place in ``leads_to``, number of codes, and last code that goes
        to child 0, which is -1 at nodes with a place for every code.
    leads_to : ndarray of int32
        The next node, or the node itself to end there. Nodes with a table have a place
        per code, and one for codes outside; the others have four: child 0, child 1,
        missing, outside. Leaves have one.
    """
    n_nodes = first_child.size
    size = 0
    for node in range(n_nodes):
        if first_child[node] < 0:
            size += 1
        else:
            size += 4 if table_start[node] < 0 else n_codes[feature[node]] + 1
    ways = np.zeros((n_nodes, 4), dtype=np.int32)
    leads_to = np.empty(size, dtype=np.int32)
    place = 0
    for node in range(n_nodes):
        first, start = first_child[node], table_start[node]
        ways[node, 1] = place
        ways[node, 3] = -1
        n_places = 1
        if first >= 0:
            n = n_codes[feature[node]]
            ways[node, 0] = feature[node]
            ways[node, 2] = n
            if start < 0:
                ways[node, 3] = cut_code[node]
            n_places = n + 1 if start >= 0 else 4
        for j in range(n_places):
            child = -1
            if first >= 0 and start >= 0 and j < n:
                child = goes_to[start + j]
            elif first >= 0 and start < 0 and j < 3:
                child = j if j < 2 else missing_child[node]
            leads_to[place] = first + child if child >= 0 else node
            place += 1
    return ways, leads_to


@kernel
def find_ends(codes, ways, leads_to, has_cuts, least_depth, depth, ends):
    """Write the node at which every row ends.

    While no row can have reached a leaf, all go down together, level by level: with
    nothing to guess, that takes half the time. The rest of the way each goes alone.
    There are no calls in here, as Numba would count references to each array in them.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows, n_features)
    ways, leads_to : ndarray
        From ``make_ways``.
    has_cuts : bool
        Whether any node has no table.
    least_depth, depth : int
        Smallest and largest depth of a leaf.
    ends : ndarray of int32 of shape (n_rows,)
    """
    ends[:] = 0
    for _ in range(least_depth):
        if has_cuts:
            for i in range(ends.size):
                node = ends[i]
                n = np.int64(ways[node, 2])
                code = np.int64(min(np.uint64(codes[i, ways[node, 0]]), np.uint64(n)))
                cut = ways[node, 3]
                place = int(code > cut) + int(code >= n - 1) + int(code >= n)
                ends[i] = leads_to[ways[node, 1] + (code if cut < 0 else place)]
        else:
            for i in range(ends.size):
                node = ends[i]
                largest = np.uint64(ways[node, 2])
                answer = np.int64(min(np.uint64(codes[i, ways[node, 0]]), largest))
                ends[i] = leads_to[ways[node, 1] + answer]
    if least_depth == depth:
        return
    for i in range(ends.size):
        node = -1
        following = ends[i]
        while following != node:
            node = following
            n = np.int64(ways[node, 2])
            code = np.int64(min(np.uint64(codes[i, ways[node, 0]]), np.uint64(n)))
            cut = ways[node, 3]
            place = int(code > cut) + int(code >= n - 1) + int(code >= n)
            following = leads_to[ways[node, 1] + (code if cut < 0 else place)]
        ends[i] = node


@kernel
def look_up_ends(codes, n_forms, end_of_form, ends):
    """Write the node at which every row ends, where rows take few forms.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows, n_features)
    n_forms : ndarray of uint64 of shape (n_features,)
        Codes of every feature and one for all outside.
    end_of_form : ndarray of int32
        Ends of all combinations, those of the last feature side by side.
    ends : ndarray of int32 of shape (n_rows,)
    """
    one = np.uint64(1)
    for i in range(ends.size):
        form = np.uint64(0)
        for d in range(n_forms.size):
            # A negative code is a very large one here.
            code = min(np.uint64(codes[i, d]), n_forms[d] - one)
            form = form * n_forms[d] + code
        ends[i] = end_of_form[form]
