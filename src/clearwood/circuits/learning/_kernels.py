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

MOST_LOOKS = 64
"""At the bits of all rows, for a pair of columns; one look takes 64 rows at a time.

Columns of more than half as many levels need no bits.
"""

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
    """Per level of columns one bit per row: whether the cell is of that level.

    Also where the levels of each column begin; columns of many have no bits.
    """
    n, d = codes.shape
    starts = np.zeros(d + 1, np.int64)
    for j in range(d):
        size = offsets[j + 1] - offsets[j]
        starts[j + 1] = starts[j] + (size if 2 * size <= MOST_LOOKS else 0)
    planes = np.zeros((starts[d], (n + 63) // 64), dtype=np.uint64)
    for i in range(n):
        bit = np.uint64(1) << np.uint64(i & 63)
        for j in range(d):
            if codes[i, j] >= 0 and starts[j] < starts[j + 1]:
                planes[starts[j] + codes[i, j], i >> 6] |= bit
    return planes, starts


@kernel
def count_levels(planes):
    """Rows of every level."""
    totals = np.zeros(planes.shape[0], dtype=np.int64)
    for p in range(planes.shape[0]):
        for w in range(planes.shape[1]):
            totals[p] += np.int64(ones_of(planes[p, w]))
    return totals


@kernel
def count_by_rows(first, second, table):
    """Fill ``table`` with the rows of each pair of levels, from the codes."""
    table[:] = 0.0
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            table[first[i], second[i]] += 1


@kernel
def count_by_bits(planes, totals, low, high, start, end, complete, table):
    """Fill ``table`` with the rows of each pair of levels, from their bits.

    The levels are ``low`` to ``high`` and ``start`` to ``end``. Where no cell of the
    two is missing (``complete``) what is left of the totals counts the last levels, so
    that columns of two levels take one look at the rows.
    """
    rows, columns = high - low, end - start
    for a in range(rows - complete):
        for b in range(columns - complete):
            count = np.uint64(0)
            for w in range(planes.shape[1]):
                count += ones_of(planes[low + a, w] & planes[start + b, w])
            table[a, b] = count
    if complete:
        for a in range(rows - 1):
            table[a, columns - 1] = totals[low + a]
            for b in range(columns - 1):
                table[a, columns - 1] -= table[a, b]
        for b in range(columns):
            table[rows - 1, b] = totals[start + b]
            for a in range(rows - 1):
                table[rows - 1, b] -= table[a, b]


@kernel
def table_test(table, rows, columns, ratio, of_row, of_column):
    """Statistic, degrees of freedom and rows of one table; empty levels do not count.

    Pearson's ``sum (O - E)^2 / E``, or, with ``ratio``, ``G = 2 sum O log(O / E)``. The
    last two arguments are room for the margins.
    """
    of_row[:rows] = 0.0
    of_column[:columns] = 0.0
    for a in range(rows):
        for b in range(columns):
            of_row[a] += table[a, b]
            of_column[b] += table[a, b]
    n, row_levels, column_levels = 0.0, 0, 0
    for a in range(rows):
        n += of_row[a]
        row_levels += of_row[a] > 0
    for b in range(columns):
        column_levels += of_column[b] > 0
    statistic = 0.0
    for a in range(rows):
        for b in range(columns):
            if of_row[a] == 0 or of_column[b] == 0:
                continue
            expected = of_row[a] * (of_column[b] / n)
            if not ratio:
                statistic += (table[a, b] - expected) ** 2 / expected
            elif table[a, b] > 0:
                statistic += 2 * table[a, b] * math.log(table[a, b] / expected)
    return statistic, max((row_levels - 1) * (column_levels - 1), 0), n


@kernel
def pair_tests(codes, offsets, ratio):
    """Of all pairs of columns the statistic, its degrees of freedom and the rows."""
    d = codes.shape[1]
    planes, starts = bit_planes(codes, offsets)
    totals = count_levels(planes)
    most = 1
    complete = np.ones(d, np.int64)
    for j in range(d):
        most = max(most, offsets[j + 1] - offsets[j])
        complete[j] = (codes[:, j] >= 0).all()
    table, of_row, of_column = np.zeros((most, most)), np.zeros(most), np.zeros(most)
    statistic = np.zeros((d, d))
    freedom, both = np.zeros((d, d), np.int64), np.zeros((d, d), np.int64)
    for i in range(d):
        for j in range(i):
            levels = offsets[i + 1] - offsets[i], offsets[j + 1] - offsets[j]
            if levels[0] * levels[1] > MOST_LOOKS or min(levels) < 2:
                count_by_rows(codes[:, i], codes[:, j], table)
            else:
                bits = starts[i], starts[i + 1], starts[j], starts[j + 1]
                no_gaps = complete[i] * complete[j]
                count_by_bits(planes, totals, *bits, no_gaps, table)
            found, df, rows = table_test(table, *levels, ratio, of_row, of_column)
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


@kernel
def pair_counts(codes, columns, parents, sizes, starts):
    """Rows of the levels of columns, by the level of what each depends on.

    ``parents`` are positions in ``columns``; -1 of what depends on nothing. The table
    of (levels of the parent, levels) of a column begins at its ``starts``.
    """
    counts = np.zeros(starts[-1])
    for i in range(codes.shape[0]):
        for v in range(columns.size):
            level = codes[i, columns[v]]
            above = 0 if parents[v] < 0 else codes[i, columns[parents[v]]]
            if level >= 0 and above >= 0:
                counts[starts[v] + above * sizes[v] + level] += 1
    return counts


# Clusters of rows


@kernel
def majority(codes, offsets):
    """The level of each column that most rows have; of several, the first."""
    n, d = codes.shape
    counts = np.zeros(offsets[d], np.int64)
    for i in range(n):
        for j in range(d):
            if codes[i, j] >= 0:
                counts[offsets[j] + codes[i, j]] += 1
    levels = np.empty(d, codes.dtype)
    for j in range(d):
        levels[j] = np.argmax(counts[offsets[j] : offsets[j + 1]])
    return levels


@kernel
def differing_cells(codes, row):
    """How many cells of every row, present in both, are not as in one row."""
    found = np.zeros(codes.shape[0], np.int64)
    for i in range(codes.shape[0]):
        for j in range(row.size):  # without branches: several columns at a time
            cell = codes[i, j]
            found[i] += (cell != row[j]) & (cell >= 0) & (row[j] >= 0)
    return found


@kernel
def level_places(codes, offsets):
    """The place of each cell's level among all; past the last one where missing."""
    places = np.empty(codes.shape, np.int32)
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            missing = codes[i, j] < 0
            places[i, j] = offsets[-1] if missing else offsets[j] + codes[i, j]
    return places


@kernel
def level_counts(places, n_levels, cluster, k):
    """Present cells of every level in every cluster, of shape (k, n_levels)."""
    counts = np.zeros((k, n_levels + 1))
    for i in range(places.shape[0]):
        for j in range(places.shape[1]):
            counts[cluster[i], places[i, j]] += 1
    return counts[:, :n_levels]


@kernel
def log_tables(counts, offsets, alpha):
    """Log probabilities of levels, ``alpha`` rows added to each, and a 0 at the end."""
    k, n_levels = counts.shape
    tables = np.zeros((k, n_levels + 1))
    for c in range(k):
        for j in range(offsets.size - 1):
            low, high = offsets[j], offsets[j + 1]
            total = alpha * (high - low)
            for a in range(low, high):
                total += counts[c, a]
            for a in range(low, high):
                tables[c, a] = math.log((counts[c, a] + alpha) / total)
    return tables


@kernel
def cluster_normals(reals, cluster, k, mean, variance, kappa, floor):
    """Means and variances of columns in clusters, of shape (2, k, d).

    Variances as if ``kappa`` further rows varied as all do; a cluster without present
    cells is as all rows are.
    """
    n, d = reals.shape
    count, found = np.zeros((k, d)), np.zeros((2, k, d))
    for i in range(n):
        for j in range(d):
            if not np.isnan(reals[i, j]):
                count[cluster[i], j] += 1
                found[0, cluster[i], j] += reals[i, j]
    for c in range(k):
        for j in range(d):
            if count[c, j]:
                found[0, c, j] /= count[c, j]
            else:
                found[0, c, j] = mean[j]
    for i in range(n):
        for j in range(d):
            if not np.isnan(reals[i, j]):
                c = cluster[i]
                found[1, c, j] += (reals[i, j] - found[0, c, j]) ** 2
    for c in range(k):
        for j in range(d):
            pooled = found[1, c, j] + kappa * variance[j]
            found[1, c, j] = max(pooled / (count[c, j] + kappa), floor)
    return found


@kernel
def row_scores(places, reals, log_weights, tables, normals):
    """``log w_k + log p(row | k)`` of present cells, of shape (n, k)."""
    n, k = len(places), log_weights.size
    scores = np.empty((n, k))
    constant = -0.5 * np.log(2 * math.pi * normals[1])
    for c in range(k):
        table = tables[c]
        for i in range(n):
            total = log_weights[c]
            for j in range(places.shape[1]):
                total += table[places[i, j]]
            for j in range(reals.shape[1]):
                if not np.isnan(reals[i, j]):
                    apart = reals[i, j] - normals[0, c, j]
                    total += constant[c, j] - apart**2 / (2 * normals[1, c, j])
            scores[i, c] = total
    return scores


@kernel
def hard_em(codes, offsets, reals, mean, variance, kappa, floor, alpha, start, k):
    """Clusters of rows whose columns are independent, each row in its likeliest one.

    Ends where rows stay, with the parameters that they stayed under; or where a cluster
    has lost all its rows.
    """
    n = codes.shape[0]
    places = level_places(codes, offsets)
    cluster = start.copy()
    for _ in range(MOST_STEPS):
        sizes = np.zeros(k)
        for i in range(n):
            sizes[cluster[i]] += 1
        log_weights = np.log((sizes + alpha) / (n + k * alpha))
        counts = level_counts(places, offsets[-1], cluster, k)
        tables = log_tables(counts, offsets, alpha)
        normals = cluster_normals(reals, cluster, k, mean, variance, kappa, floor)
        if sizes.min() == 0:
            break
        scores = row_scores(places, reals, log_weights, tables, normals)
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
    return cluster, log_weights, tables, normals
