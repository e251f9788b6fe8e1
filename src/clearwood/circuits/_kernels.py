"""Passes over compiled circuits, and over the leaves that are many or are trees."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel

NEGLIGIBLE = -40.0
"""Log of a share that leaves a sum as it is, to the last bit of a float64."""


@kernel
def pass_upward(log, is_sum, first, child, log_weight):
    """Log values of sums and products from those of their children, which come first.

    ``log`` (nodes, rows) holds the sums of the leaves' log densities.
    """
    n_nodes, n_rows = log.shape
    total = np.empty(n_rows)
    for node in range(n_nodes):
        own = log[node]
        if not is_sum[node]:
            for e in range(first[node], first[node + 1]):
                for r in range(n_rows):
                    own[r] += log[child[e], r]
            continue
        own[:] = -np.inf
        total[:] = 0.0
        for e in range(first[node], first[node + 1]):
            for r in range(n_rows):
                own[r] = max(own[r], log[child[e], r] + log_weight[e])
        for e in range(first[node], first[node + 1]):
            for r in range(n_rows):
                gap = log[child[e], r] + log_weight[e] - own[r]
                if gap == 0.0:
                    total[r] += 1.0
                elif gap > NEGLIGIBLE:  # not where all is impossible: gap is NaN there
                    total[r] += math.exp(gap)
        for r in range(n_rows):
            if total[r] > 1.0:
                own[r] += math.log(total[r])


@kernel
def pass_downward(log, flow, is_sum, first, child, log_weight):
    """Probability that a row comes to a node, given the row, times its weight.

    ``flow`` (nodes, rows) holds those of the root, and gets all others. Returns the
    sums over rows for every edge of a sum.
    """
    n_nodes, n_rows = log.shape
    expected = np.zeros(child.size)
    for node in range(n_nodes - 1, -1, -1):
        for e in range(first[node], first[node + 1]):
            below = child[e]
            if not is_sum[node]:
                flow[below] = flow[node]
                continue
            for r in range(n_rows):
                flow[below, r] = 0.0
                if flow[node, r] > 0.0:
                    gap = log[below, r] + log_weight[e] - log[node, r]
                    if gap > NEGLIGIBLE:
                        flow[below, r] = flow[node, r] * math.exp(gap)
                        expected[e] += flow[below, r]
    return expected


# Normal leaves


@kernel
def add_normals(log, columns, node, variable, mean, variance):
    """Add the log densities of normal leaves to the nodes that they belong to."""
    for i in range(node.size):
        own, x = log[node[i]], columns[variable[i]]
        constant = math.log(2.0 * math.pi * variance[i])
        for r in range(x.size):
            if not math.isnan(x[r]):
                gap = x[r] - mean[i]
                own[r] -= 0.5 * (constant + gap * gap / variance[i])


@kernel
def normal_moments(flow, columns, node, variable, mean):
    """Weight, sum and squares of distances from the mean, one row per leaf."""
    moments = np.zeros((node.size, 3))
    for i in range(node.size):
        own, x = flow[node[i]], columns[variable[i]]
        for r in range(x.size):
            if not math.isnan(x[r]):
                gap = x[r] - mean[i]
                moments[i, 0] += own[r]
                moments[i, 1] += own[r] * gap
                moments[i, 2] += own[r] * gap * gap
    return moments


# Chow-Liu trees, one or several. Tables stand one after the other in a flat array:
# column v has ``sizes[v]`` levels, and p(x_v = k | x_parent = s) is at starts[v] + s
# sizes[v] + k. Rows come as ``codes`` of all columns, -1 where nothing is known.


@kernel
def as_codes(values):
    """Levels of encoded rows, -1 for what is missing or unknown.

    Continuous columns become what no tree reads.
    """
    codes = np.empty(values.shape, np.int16)
    for r in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = values[r, j]
            codes[r, j] = np.int16(x) if 0.0 <= x < 32767.0 else np.int16(-1)
    return codes


@kernel
def tree_log_density(codes, variables, parents, sizes, starts, table):
    """Log probability of what is present in every row."""
    found = np.empty(codes.shape[0])
    log_table = np.log(table)
    levels = np.empty(parents.size, np.int64)
    evidence = np.empty((parents.size, sizes.max()))
    for r in range(found.size):
        if read_levels(codes[r], variables, sizes, levels):
            log_p = 0.0
            for v in range(parents.size):
                above = 0 if parents[v] < 0 else levels[parents[v]]
                log_p += log_table[starts[v] + above * sizes[v] + levels[v]]
            found[r] = log_p
        else:
            tables = starts, table, log_table
            found[r] = collect(levels, parents, sizes, *tables, evidence)
    return found


@kernel
def tree_counts(codes, weight, variables, parents, sizes, starts, table):
    """Expected counts of every cell of the tables, given what is present."""
    counts = np.zeros(table.size)
    log_table = np.log(table)
    levels = np.empty(parents.size, np.int64)
    evidence = np.empty((parents.size, sizes.max()))
    share = np.empty((parents.size, sizes.max()))
    for r in range(codes.shape[0]):
        if weight[r] == 0.0:
            continue
        if read_levels(codes[r], variables, sizes, levels):
            for v in range(parents.size):
                above = 0 if parents[v] < 0 else levels[parents[v]]
                counts[starts[v] + above * sizes[v] + levels[v]] += weight[r]
            continue
        log_p = collect(levels, parents, sizes, starts, table, log_table, evidence)
        if log_p > -np.inf:
            distribute(
                levels,
                weight[r],
                parents,
                sizes,
                starts,
                table,
                evidence,
                share,
                counts,
            )
    return counts


@kernel
def read_levels(row, variables, sizes, levels):
    """Fill in the levels of a tree's columns; whether none is missing or unknown."""
    least = np.int64(0)
    for v in range(variables.size):
        level = np.int64(row[variables[v]])
        levels[v] = level if level < sizes[v] else -1
        least = min(least, levels[v])
    return least == 0


@kernel
def collect(levels, parents, sizes, starts, table, log_table, evidence):
    """Log probability of the levels that are present, from the leaves to the root.

    ``evidence[v]`` becomes, where v is missing, how likely what is below v is for each
    of its levels, up to a factor. Columns that are present need none: the tree falls
    apart at them.
    """
    log_p = 0.0
    for v in range(parents.size):
        if levels[v] < 0:
            evidence[v, : sizes[v]] = 1.0
    for v in range(parents.size - 1, -1, -1):
        parent, size = parents[v], sizes[v]
        above = 0 if parent < 0 else levels[parent]
        if levels[v] >= 0 and above >= 0:
            log_p += log_table[starts[v] + above * size + levels[v]]
        elif above >= 0:
            at = starts[v] + above * size
            log_p += math.log(inner(table[at : at + size], evidence[v]))
        else:
            most = 0.0
            for s in range(sizes[parent]):
                at = starts[v] + s * size
                if levels[v] >= 0:
                    evidence[parent, s] *= table[at + levels[v]]
                else:
                    evidence[parent, s] *= inner(table[at : at + size], evidence[v])
                most = max(most, evidence[parent, s])
            if most == 0.0:
                return -np.inf
            # Of many columns the product would fall below the smallest float.
            evidence[parent, : sizes[parent]] /= most
            log_p += math.log(most)
    return log_p


@kernel
def distribute(levels, weight, parents, sizes, starts, table, evidence, share, counts):
    """Add the weight of a row to the cells it may be in, from the root to the leaves.

    ``share[v]`` becomes, where v is missing, the weight of each of its levels.
    """
    for v in range(parents.size):
        parent, size = parents[v], sizes[v]
        above = 0 if parent < 0 else levels[parent]
        if levels[v] < 0:
            share[v, :size] = 0.0
        low, high = (above, above + 1) if above >= 0 else (0, sizes[parent])
        for s in range(low, high):
            own = weight if above >= 0 else share[parent, s]
            at = starts[v] + s * size
            if levels[v] >= 0:
                counts[at + levels[v]] += own
                continue
            below = inner(table[at : at + size], evidence[v])
            for k in range(size):
                if own > 0.0:
                    part = own * table[at + k] * evidence[v, k] / below
                    share[v, k] += part
                    counts[at + k] += part


@kernel
def inner(probability, evidence):
    """Probability of what is below a column, given how likely each level makes it."""
    total = 0.0
    for k in range(probability.size):
        total += probability[k] * evidence[k]
    return total
