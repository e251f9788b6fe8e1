"""The hot loops of learning: counts of pairs, clusters of rows, trees of columns.

Discrete columns come as ``codes``, whole numbers of shape (n, d) with -1 where a cell
is missing, continuous ones as ``reals`` with NaN there. The levels of column ``j``
stand at ``offsets[j]:offsets[j + 1]`` of what is counted per level.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel

MOST_STEPS = 1000
"""Of hard EM, which ends by itself much sooner."""

# Pairs of columns


@kernel
def ones_of(word):
    """Number of bits that are set; compilers know this as one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def bit_planes(codes, offsets):
    """Per level of every column one bit per row: whether the cell is of that level."""
    n, d = codes.shape
    planes = np.zeros((offsets[d], (n + 63) // 64), dtype=np.uint64)
    for i in range(n):
        bit = np.uint64(1) << np.uint64(i & 63)
        for j in range(d):
            if codes[i, j] >= 0:
                planes[offsets[j] + codes[i, j], i >> 6] |= bit
    return planes


@kernel
def count_pair(planes, offsets, totals, n, i, j, table):
    """Fill ``table`` with the rows of each pair of levels of two columns.

    Where no cell of the two is missing, what is left of the totals counts the last
    levels, so two columns of two levels take one look at the rows.
    """
    rows, columns = offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]
    first, second = totals[offsets[i] : offsets[i + 1]], totals[offsets[j] :]
    complete = first.sum() == n and second[:columns].sum() == n
    for a in range(rows - complete):
        for b in range(columns - complete):
            count = np.uint64(0)
            for w in range(planes.shape[1]):
                count += ones_of(planes[offsets[i] + a, w] & planes[offsets[j] + b, w])
            table[a, b] = count
    if complete:
        for a in range(rows - 1):
            table[a, columns - 1] = first[a] - table[a, : columns - 1].sum()
        for b in range(columns):
            table[rows - 1, b] = second[b] - table[: rows - 1, b].sum()


@kernel
def test_table(table, ratio):
    """Statistic, degrees of freedom and rows of one table; empty levels do not count.

    Pearson's ``sum (O - E)^2 / E``, or, with ``ratio``, ``G = 2 sum O log(O / E)``.
    """
    of_row, of_column = table.sum(axis=1), table.sum(axis=0)
    n = of_row.sum()
    statistic = 0.0
    for a in range(of_row.size):
        for b in range(of_column.size):
            if of_row[a] == 0 or of_column[b] == 0:
                continue
            expected = of_row[a] * (of_column[b] / n)
            if not ratio:
                statistic += (table[a, b] - expected) ** 2 / expected
            elif table[a, b] > 0:
                statistic += 2 * table[a, b] * math.log(table[a, b] / expected)
    freedom = ((of_row > 0).sum() - 1) * ((of_column > 0).sum() - 1)
    return statistic, max(freedom, 0), n


@kernel
def test_pairs(codes, offsets, ratio):
    """Of all pairs of columns the statistic, its degrees of freedom and the rows."""
    n, d = codes.shape
    planes = bit_planes(codes, offsets)
    totals = np.zeros(offsets[d], dtype=np.int64)
    for p in range(planes.shape[0]):
        for w in range(planes.shape[1]):
            totals[p] += np.int64(ones_of(planes[p, w]))
    most = 1
    for j in range(d):
        most = max(most, offsets[j + 1] - offsets[j])
    cells = np.zeros((most, most))
    statistic = np.zeros((d, d))
    freedom, both = np.zeros((d, d), np.int64), np.zeros((d, d), np.int64)
    for i in range(d):
        for j in range(i):
            table = cells[: offsets[i + 1] - offsets[i], : offsets[j + 1] - offsets[j]]
            count_pair(planes, offsets, totals, n, i, j, table)
            found, df, rows = test_table(table, ratio)
            statistic[i, j] = statistic[j, i] = found
            freedom[i, j] = freedom[j, i] = df
            both[i, j] = both[j, i] = int(rows)
    return statistic, freedom, both


@kernel
def components(edges):
    """The number of each column's connected component, in the order of the columns."""
    d = edges.shape[0]
    label = np.full(d, -1)
    waiting = np.empty(d, np.int64)
    n_found = 0
    for start in range(d):
        if label[start] >= 0:
            continue
        label[start] = n_found
        waiting[0], n_waiting = start, 1
        while n_waiting:
            n_waiting -= 1
            i = waiting[n_waiting]
            for j in range(d):
                if edges[i, j] and label[j] < 0:
                    label[j] = n_found
                    waiting[n_waiting] = j
                    n_waiting += 1
        n_found += 1
    return label


@kernel
def heaviest_tree(weight):
    """The spanning tree of most weight: columns from the root on, and their parents.

    Prim's algorithm, from column 0. ``parent`` holds columns, -1 for the root.
    """
    d = weight.shape[0]
    order, parent = np.zeros(d, np.int64), np.full(d, -1)
    best = np.full(d, -np.inf)
    outside = np.ones(d, np.bool_)
    now = 0
    for step in range(d):
        order[step] = now
        outside[now] = False
        following = -1
        for j in range(d):
            if not outside[j]:
                continue
            if weight[now, j] > best[j]:
                best[j], parent[j] = weight[now, j], now
            if following < 0 or best[j] > best[following]:
                following = j
        now = following
    return order, parent


# Clusters of rows


@kernel
def level_counts(codes, offsets, cluster, k):
    """Present cells of every level in every cluster, of shape (n_levels, k)."""
    counts = np.zeros((offsets[-1], k))
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                counts[offsets[j] + codes[i, j], cluster[i]] += 1
    return counts


@kernel
def log_tables(counts, offsets, alpha):
    """Log probabilities of levels, ``alpha`` rows added to each."""
    tables = np.empty(counts.shape)
    for j in range(offsets.size - 1):
        low, high = offsets[j], offsets[j + 1]
        for k in range(counts.shape[1]):
            total = counts[low:high, k].sum() + alpha * (high - low)
            for a in range(low, high):
                tables[a, k] = math.log((counts[a, k] + alpha) / total)
    return tables


@kernel
def cluster_normals(reals, cluster, k, mean, variance, kappa, floor):
    """Means and variances of columns in clusters, of shape (2, d, k).

    Variances as if ``kappa`` further rows varied as all do; a cluster without present
    cells is as all rows are.
    """
    n, d = reals.shape
    count, found = np.zeros((d, k)), np.zeros((2, d, k))
    for i in range(n):
        for j in range(d):
            if not np.isnan(reals[i, j]):
                count[j, cluster[i]] += 1
                found[0, j, cluster[i]] += reals[i, j]
    for j in range(d):
        for c in range(k):
            if count[j, c]:
                found[0, j, c] /= count[j, c]
            else:
                found[0, j, c] = mean[j]
    for i in range(n):
        for j in range(d):
            if not np.isnan(reals[i, j]):
                c = cluster[i]
                found[1, j, c] += (reals[i, j] - found[0, j, c]) ** 2
    for j in range(d):
        for c in range(k):
            total = found[1, j, c] + kappa * variance[j]
            pooled = total / (count[j, c] + kappa) if count[j, c] + kappa else 0.0
            found[1, j, c] = max(pooled, floor)
    return found


@kernel
def row_scores(codes, offsets, reals, log_weights, tables, normals):
    """``log w_k + log p(row | k)`` of present cells, of shape (n, k)."""
    n, k = codes.shape[0], log_weights.size
    scores = np.empty((n, k))
    constant = -0.5 * np.log(2 * math.pi * normals[1])
    for i in range(n):
        for c in range(k):
            scores[i, c] = log_weights[c]
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                a = offsets[j] + codes[i, j]
                for c in range(k):
                    scores[i, c] += tables[a, c]
        for j in range(reals.shape[1]):
            if not np.isnan(reals[i, j]):
                for c in range(k):
                    apart = reals[i, j] - normals[0, j, c]
                    scores[i, c] += constant[j, c] - apart**2 / (2 * normals[1, j, c])
    return scores


@kernel
def hard_em(codes, offsets, reals, mean, variance, kappa, floor, alpha, start, k):
    """Clusters of rows whose columns are independent, each row in its likeliest one.

    Ends where rows stay, with the parameters that they stayed under. The first value
    returned is False where a cluster lost all its rows.
    """
    n = codes.shape[0]
    cluster = start.copy()
    for _ in range(MOST_STEPS):
        sizes = np.zeros(k)
        for i in range(n):
            sizes[cluster[i]] += 1
        log_weights = np.log((sizes + alpha) / (n + k * alpha))
        tables = log_tables(level_counts(codes, offsets, cluster, k), offsets, alpha)
        normals = cluster_normals(reals, cluster, k, mean, variance, kappa, floor)
        if sizes.min() == 0:
            return False, cluster, log_weights, tables, normals
        scores = row_scores(codes, offsets, reals, log_weights, tables, normals)
        moved = False
        for i in range(n):
            best = 0
            for c in range(1, k):
                if scores[i, c] > scores[i, best]:
                    best = c
            if best != cluster[i]:
                cluster[i] = best
                moved = True
        if not moved:
            break
    return True, cluster, log_weights, tables, normals
