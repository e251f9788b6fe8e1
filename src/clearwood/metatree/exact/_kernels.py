"""The hot loops of the exact sum over all trees: tables of counts, one level at a time.

A *state* is a set of conditions (feature, value); in which order they were asked does
not matter. The states of one level have equally many conditions. They are numbered by
their features first, in colexicographic order (the rank of j_1 < ... < j_d is
C(j_1, 1) + ... + C(j_d, d)), then by their values, the lowest feature running fastest:

    state = start[rank] + x_{j_1} + x_{j_2} m_{j_1} + x_{j_3} m_{j_1} m_{j_2} + ...

with m_j the number of values of feature j.
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


@kernel
def next_subset(subset):
    """Step to the next set of features; return the highest place that changed."""
    size = len(subset)
    for i in range(size):
        if i + 1 == size or subset[i] + 1 < subset[i + 1]:
            subset[i] += 1
            for lower in range(i):
                subset[lower] = lower
            return i
    return size - 1


@kernel
def split_rank(subset, binomial, low, high, stride, n_values):
    """What is needed to number the sets with one feature more.

    With a new feature at place i, the rank is ``low[i] + C(feature, i + 1) + high[i]``
    and the values of the new feature are ``stride[i]`` states apart. Without one, the
    rank is ``low[size]``, and ``stride[size]`` states share these features.
    """
    size = len(subset)
    low[0], stride[0], high[size] = 0, 1, 0
    for i in range(size):
        low[i + 1] = low[i] + binomial[subset[i], i + 1]
        stride[i + 1] = stride[i] * n_values[subset[i]]
    for i in range(size - 1, -1, -1):
        high[i] = high[i + 1] + binomial[subset[i], i + 2]


@kernel
def level_starts(n_values, size, n_subsets):
    """First state of each set of ``size`` features, and behind the last one."""
    start = np.zeros(n_subsets + 1, dtype=np.int64)
    subset = np.arange(size)
    for rank in range(n_subsets):
        states = 1
        for i in range(size):
            states *= n_values[subset[i]]
        start[rank + 1] = start[rank] + states
        next_subset(subset)
    return start


@kernel
def tabulate(columns, row_stats, n_values, start, size):
    """Sum the statistics of the rows in every state of one level.

    ``columns`` is features by rows. Neighbouring sets share their high features, so
    the part of a row's state that these decide is kept.
    """
    n_rows, n_stats = row_stats.shape
    table = np.zeros((start[-1], n_stats))
    keys = np.zeros((size + 1, n_rows), dtype=np.int64)
    subset = np.arange(size)
    changed = size - 1
    for rank in range(len(start) - 1):
        for i in range(changed, -1, -1):
            m, column = n_values[subset[i]], columns[subset[i]]
            above, here = keys[i + 1], keys[i]
            for row in range(n_rows):
                here[row] = above[row] * m + column[row]
        part, key = table[start[rank] : start[rank + 1]], keys[0]
        for row in range(n_rows):
            for k in range(n_stats):
                part[key[row], k] += row_stats[row, k]
        changed = next_subset(subset)
    return table


@kernel
def marginalise(table_below, n_values, binomial, start, start_below, size):
    """Statistics of one level from those of the level with one feature more."""
    n_stats = table_below.shape[1]
    table = np.zeros((start[-1], n_stats))
    subset = np.arange(size)
    low, high = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    stride = np.zeros(size + 1, np.int64)
    for rank in range(len(start) - 1):
        split_rank(subset, binomial, low, high, stride, n_values)
        # The lowest feature that is not in the set stands in front of a run 0, 1, ...
        place = 0
        while place < size and subset[place] == place:
            place += 1
        m, step = n_values[place], stride[place]
        begin = start_below[low[place] + binomial[place, place + 1] + high[place]]
        for cell in range(stride[size]):
            first = begin + cell % step + cell // step * step * m
            for value in range(m):
                for k in range(n_stats):
                    table[start[rank] + cell, k] += table_below[first + value * step, k]
        next_subset(subset)
    return table


@kernel
def score_new(
    scores, subset, low, high, stride, binomial, start_below, n_values, log_below,
    cell, column,
):  # fmt: skip
    """Log evidence of the children of each new question; -inf for those asked."""
    place, step = 0, 1
    inner, outer = 0, cell
    for feature in range(len(n_values)):
        if place < len(subset) and subset[place] == feature:
            scores[feature] = -np.inf
            place += 1
            step = stride[place]
            inner, outer = cell % step, cell // step * step
            continue
        m = n_values[feature]
        rank = low[place] + binomial[feature, place + 1] + high[place]
        child = start_below[rank] + inner + outer * m
        total = 0.0
        for value in range(m):
            total += log_below[child + value * step, column]
        scores[feature] = total


@kernel
def add_level(
    log_leaf, log_below, n_values, binomial, start, start_below, size,
    log_stop, log_ask, log_void, skipped, log_sum,
):  # fmt: skip
    """Equation (11), summed over the feature too, for all states of one level.

    With one column in ``log_sum`` no question comes twice. Otherwise column r is for
    states after which r questions may follow: one asked before sends all rows to one
    child, and the m - 1 others are void with evidence ``exp(log_void[r - 1])`` each.
    Trees that ask about ``skipped`` are left out.
    """
    n_features, n_columns = len(n_values), log_sum.shape[1]
    subset = np.arange(size)
    low, high = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    stride = np.zeros(size + 1, np.int64)
    scores = np.empty(n_features)
    for rank in range(len(start) - 1):
        split_rank(subset, binomial, low, high, stride, n_values)
        for cell in range(stride[size]):
            state = start[rank] + cell
            for r in range(n_columns):
                stop = log_stop[r] + log_leaf[state]
                if log_ask[r] == -np.inf:
                    log_sum[state, r] = stop
                    continue
                score_new(
                    scores, subset, low, high, stride, binomial, start_below,
                    n_values, log_below, cell, max(r - 1, 0),
                )  # fmt: skip
                if n_columns > 1:
                    for asked in subset:
                        scores[asked] = (
                            log_sum[state, r - 1]
                            + (n_values[asked] - 1) * log_void[r - 1]
                        )
                if skipped >= 0:
                    scores[skipped] = -np.inf
                log_sum[state, r] = log_add(stop, log_ask[r], scores)
        next_subset(subset)


@kernel
def log_add(stop, log_ask, scores):
    """``log(exp(stop) + sum(exp(log_ask + scores)))``."""
    top = max(stop, log_ask + scores.max())
    if top == -np.inf:
        return top
    total = np.exp(stop - top)
    for score in scores:
        total += np.exp(log_ask + score - top)
    return top + np.log(total)


@kernel
def best_level(
    log_leaf, log_below, size_below, n_values, binomial, start, start_below, size,
    log_stop, log_ask, log_void, size_void, tie, log_best, n_nodes, choice,
):  # fmt: skip
    """As ``add_level`` with the maximum in place of the sum.

    ``choice`` is the feature to ask about, -1 to stop. Among values within ``tie`` of
    the best the smallest tree wins, then the one that stops, then the lowest feature.
    """
    n_features, n_columns = len(n_values), log_best.shape[1]
    subset = np.arange(size)
    low, high = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    stride = np.zeros(size + 1, np.int64)
    scores, sizes = np.empty(n_features), np.empty(n_features)
    for rank in range(len(start) - 1):
        split_rank(subset, binomial, low, high, stride, n_values)
        for cell in range(stride[size]):
            state = start[rank] + cell
            for r in range(n_columns):
                log_best[state, r] = log_stop[r] + log_leaf[state]
                n_nodes[state, r], choice[state, r] = 1.0, -1
                if log_ask[r] == -np.inf:
                    continue
                score_new(
                    scores, subset, low, high, stride, binomial, start_below,
                    n_values, log_below, cell, max(r - 1, 0),
                )  # fmt: skip
                score_new(
                    sizes, subset, low, high, stride, binomial, start_below,
                    n_values, size_below, cell, max(r - 1, 0),
                )  # fmt: skip
                if n_columns > 1:
                    for asked in subset:
                        m = n_values[asked]
                        scores[asked] = (
                            log_best[state, r - 1] + (m - 1) * log_void[r - 1]
                        )
                        sizes[asked] = (
                            n_nodes[state, r - 1] + (m - 1) * size_void[r - 1]
                        )
                top = max(log_best[state, r], log_ask[r] + scores.max())
                found = log_best[state, r] >= top - tie
                for feature in range(n_features):
                    value = log_ask[r] + scores[feature]
                    if value >= top - tie and (
                        not found or 1.0 + sizes[feature] < n_nodes[state, r]
                    ):
                        found = True
                        log_best[state, r], choice[state, r] = value, feature
                        n_nodes[state, r] = 1.0 + sizes[feature]
        next_subset(subset)


@kernel
def pass_down(
    columns, log_leaf, log_sum, log_below, n_values, binomial, start, start_below, size,
    log_stop, log_ask, reach, reach_below, states, weights,
):  # fmt: skip
    """Posterior probability that the leaf of a row is each state of one level.

    ``reach`` (sets by columns by rows) is the probability that the tree comes to the
    row's state. It is passed on to ``reach_below``; ``weights`` gets what stops.
    """
    n_features, n_columns, n_rows = len(n_values), log_sum.shape[1], columns.shape[1]
    subset = np.arange(size)
    low, high = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
    stride = np.zeros(size + 1, np.int64)
    cells = np.zeros(n_rows, dtype=np.int64)
    most_cells = 1
    for rank in range(len(start) - 1):
        most_cells = max(most_cells, start[rank + 1] - start[rank])
    seen = np.zeros(most_cells, dtype=np.bool_)
    scores = np.empty(n_features)
    shares = np.zeros((n_features + 2, most_cells))
    for rank in range(len(start) - 1):
        split_rank(subset, binomial, low, high, stride, n_values)
        cells[:], seen[:] = 0, False
        for i in range(size):
            column, step = columns[subset[i]], stride[i]
            for row in range(n_rows):
                cells[row] += column[row] * step
        for row in range(n_rows):
            seen[cells[row]] = True
            states[rank, row], weights[rank, row] = start[rank] + cells[row], 0.0
        for r in range(n_columns - 1, -1, -1):
            asks = log_ask[r] > -np.inf
            for cell in range(stride[size]):
                if not seen[cell]:
                    continue
                state = start[rank] + cell
                whole = log_sum[state, r]
                shares[-1, cell] = share(log_stop[r] + log_leaf[state] - whole)
                if not asks:
                    continue
                if n_columns > 1:
                    again = log_ask[r] + log_sum[state, r - 1] - whole
                    shares[-2, cell] = size * share(again)
                score_new(
                    scores, subset, low, high, stride, binomial, start_below,
                    n_values, log_below, cell, max(r - 1, 0),
                )  # fmt: skip
                for feature in range(n_features):
                    shares[feature, cell] = share(log_ask[r] + scores[feature] - whole)
            here = reach[rank, r]
            add_shares(weights[rank], here, shares[-1], cells)
            if not asks:
                continue
            if n_columns > 1:
                add_shares(reach[rank, r - 1], here, shares[-2], cells)
            place = 0
            for feature in range(n_features):
                if place < size and subset[place] == feature:
                    place += 1
                    continue
                target = low[place] + binomial[feature, place + 1] + high[place]
                below = reach_below[target, max(r - 1, 0)]
                add_shares(below, here, shares[feature], cells)
        next_subset(subset)


@kernel
def share(log_share):
    """Its exponential; what is less than any sum would show is nothing.

    Products of tiny numbers would else become denormal, and slow.
    """
    return np.exp(log_share) if log_share > -100.0 else 0.0


@kernel
def add_shares(total, here, shares, cells):
    """Add to the total of every row its share of what is here."""
    for row in range(len(cells)):
        total[row] += here[row] * shares[cells[row]]
