"""How rows find their way down a tree."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


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
