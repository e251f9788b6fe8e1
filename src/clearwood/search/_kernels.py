"""The hot loops of box search: who is in a box, and the best box along one feature."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel

ROUNDING = 1e-12
"""A box moves only if it gets better by more than this."""

MOST_ROUNDS = 100
"""Most visits of one feature while a box moves."""


@kernel
def put(values, into):
    """Write some numbers over others, as ``into[:] = values`` does.

    That would compile what an array of another shape is told, which takes seconds.
    """
    for j in range(len(values)):
        into[j] = values[j]


@kernel
def dot_product(numbers, weights):
    """Sum of numbers times weights.

    In four parts, of which none waits for another: of hundreds it takes a third.
    """
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    n_whole = len(weights) - len(weights) % 4
    for s in range(0, n_whole, 4):
        first += numbers[s] * weights[s]
        second += numbers[s + 1] * weights[s + 1]
        third += numbers[s + 2] * weights[s + 2]
        fourth += numbers[s + 3] * weights[s + 3]
    for s in range(n_whole, len(weights)):
        first += numbers[s] * weights[s]
    return (first + second) + (third + fourth)


@kernel
def one_stretch(allowed, wanted):
    """Where the bins that are allowed, or not, begin and end; -1 if others lie between.

    Only for bins of which some are allowed and some are not.
    """
    first, last, n = -1, -1, 0
    for b in range(len(allowed)):
        if allowed[b] == wanted:
            first = b if first < 0 else first
            last = b
            n += 1
    if last - first + 1 > n:
        return -1, -1
    return first, last


@kernel
def keep_allowed(column, allowed, row):
    """Shut out rows whose bin is not allowed.

    Nearly all bounds leave one stretch of bins, or leave one out: rows are compared
    with its ends many at a time, which takes a tenth of looking up each.
    """
    first, last = one_stretch(allowed, True)
    if first >= 0:
        for i in range(len(column)):
            row[i] &= (first <= column[i]) & (column[i] <= last)
        return
    first, last = one_stretch(allowed, False)
    if first >= 0:
        for i in range(len(column)):
            row[i] &= (column[i] < first) | (last < column[i])
        return
    for i in range(len(column)):
        row[i] &= allowed[column[i]]


@kernel
def contains(columns, start, n_bins, boxes):
    """Which rows are in which boxes: (n_boxes, n_rows)."""
    n_features, n_rows = columns.shape
    inside = np.ones((boxes.shape[0], n_rows), dtype=np.bool_)
    for k in range(boxes.shape[0]):
        row = inside[k]
        for d in range(n_features):
            allowed = boxes[k, start[d] : start[d] + n_bins[d]]
            if allowed.all():
                continue
            keep_allowed(columns[d], allowed, row)
    return inside


@kernel
def sums_of_boxes(member, rows, columns):
    """Sums of columns (n_some, n_columns) over some rows of each box.

    Row after row, in this order on every machine: BLAS, which takes longer besides,
    adds in another one on each.
    """
    n_columns, n_boxes = columns.shape[1], member.shape[1]
    sums = np.zeros((n_columns, n_boxes))
    for i in range(len(rows)):
        row = member[rows[i]]
        for c in range(n_columns):
            number, into = columns[i, c], sums[c]
            for k in range(n_boxes):
                into[k] += row[k] * number
    return sums.T.copy()


@kernel
def part_literals(allowed, seen, is_category):
    """Literals of one feature's part of a box.

    Only bins that hold rows matter: a bound beyond which there are none says nothing.
    """
    size = len(allowed)
    shut = 0
    for b in range(size):
        shut += seen[b] and not allowed[b]
    if shut == 0:
        return 0
    if is_category:
        return 1
    below, above, inside = 0, 0, False
    for b in range(size - 1):
        if allowed[b]:
            inside = True
        elif seen[b]:
            below += not inside
            above += inside
    if not inside:
        return 1
    return max(1, (below > 0) + (above > 0))


@kernel
def n_literals(start, n_bins, is_category, seen, box):
    """Literals of a box."""
    total = 0
    for d in range(len(start)):
        part = slice(start[d], start[d] + n_bins[d])
        total += part_literals(box[part], seen[part], is_category[d])
    return total


@kernel
def count_outside(columns, start, n_bins, box):
    """Of how many features' allowed bins each row is outside."""
    n_features, n_rows = columns.shape
    outside = np.zeros(n_rows, dtype=np.int32)
    for d in range(n_features):
        allowed = box[start[d] : start[d] + n_bins[d]]
        if not allowed.all():
            column = columns[d]
            for i in range(n_rows):
                outside[i] += not allowed[column[i]]
    return outside


@kernel
def list_near(outside, inside_rows, near_rows):
    """Rows in the box, and those outside of one feature at most; how many of each.

    All are written, and counted where they belong: here and below, no processor can
    guess which rows do, and a wrong guess takes longer than a sum with nothing.
    """
    n_inside, n_near = 0, 0
    for i in range(len(outside)):
        near_rows[n_near] = i
        n_near += outside[i] <= 1
        inside_rows[n_inside] = i
        n_inside += outside[i] == 0
    return n_inside, n_near


@kernel
def best_categories(total, allowed, better):
    """The bins that cost less than nothing; those without rows stay as they are."""
    for b in range(len(total)):
        better[b] = total[b] < 0.0 or (total[b] == 0.0 and allowed[b])


@kernel
def best_interval(
    total, seen, allowed, bound_cost, better, may_start=True, may_end=True
):
    """The interval of bins, with or without the last one, that costs least.

    The interval is the part of the histogram with the smallest sum: for every upper
    end, the lower end before which the sum was largest, or none. A side costs
    ``bound_cost`` where bins with rows lie beyond it. The last bin (missing values) is
    in where it costs less than nothing.

    Without ``may_start`` the interval begins with the first bin, without ``may_end``
    it ends with the last one that holds values.
    """
    last = len(total) - 1
    first_seen, last_seen = last, -1
    for b in range(last):
        if seen[b]:
            first_seen = min(first_seen, b)
            last_seen = b
    numeric = total[:last].sum()
    # Everything; all values, but not the missing ones; missing values only.
    best, low, high, missing = numeric + total[last], 0, last - 1, True
    if seen[last] and numeric + bound_cost < best:
        best, missing = numeric + bound_cost, False
    if seen[last] and total[last] + bound_cost < best:
        best, low, high, missing = total[last] + bound_cost, last, last - 1, True
    with_missing = total[last] < 0.0 or (total[last] == 0.0 and allowed[last])
    gained = total[last] if with_missing else 0.0
    upto, least, least_low = 0.0, np.inf, 0
    for b in range(last_seen + 1):
        if may_start and b > first_seen and bound_cost - upto < least:
            least, least_low = bound_cost - upto, b
        upto += total[b]
        if b == last_seen:
            # Without any bound, missing values would be in: see above.
            cost, first = upto + least, least_low
        elif may_end:
            cost = upto + min(least, 0.0) + bound_cost
            first = least_low if least < 0.0 else 0
        else:
            continue
        if cost + gained < best:
            best = cost + gained
            low, high, missing = first, b, with_missing
    if high == last_seen:
        high = last - 1
    for b in range(last):
        better[b] = low <= b <= high
    better[last] = missing


@kernel
def part_cost(total, seen, part, is_category, bound_cost):
    """What one feature's part of a box costs: its rows and its literals."""
    cost = bound_cost * part_literals(part, seen, is_category)
    for b in range(len(total)):
        if part[b]:
            cost += total[b]
    return cost


@kernel
def improve_box(
    columns,
    start,
    n_bins,
    is_category,
    seen,
    cost,
    counts,
    box,
    bound_cost,
    least,
    bounds,
    inside,
):
    """Move the sides of a box, feature by feature, while its cost falls.

    The cost of a box is the sum of ``cost`` over its rows and ``bound_cost`` per
    literal. Along one feature, all others as they are, the best part is found exactly.

    Parameters
    ----------
    columns, start, n_bins, is_category : ndarray
        Fields of a ``Grid``.
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    cost : ndarray of float64 of shape (n_rows,)
        What a row in the box costs; negative where it should be in.
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``least``.
    box : ndarray of bool of shape (total number of bins,)
        The start; changed in place.
    bound_cost : float
        Cost per literal.
    least : float
        Least sum of ``counts`` over the rows of the box.
    bounds : ndarray of bool of shape (2, n_features)
        Whether a numeric feature may have a lower bound, and an upper one. The box
        must not have others at the start.
    inside : ndarray of bool of shape (n_rows,)
        Written: which rows are in the box that was found.

    Returns
    -------
    float
        Cost of the box that was found.
    """
    n_features, n_rows = columns.shape
    outside = count_outside(columns, start, n_bins, box)
    inside_rows = np.empty(n_rows, dtype=np.uint32)
    near_rows = np.empty(n_rows, dtype=np.uint32)
    n_inside, n_near = list_near(outside, inside_rows, near_rows)
    inside_cost = cost[inside_rows[:n_inside]]
    totals = np.empty(n_bins.max())
    parts = np.empty(len(totals), dtype=np.bool_)
    d, unchanged, visits = 0, 0, 0
    # The bound on visits only matters where rounding feigns a better cost.
    while unchanged < n_features and visits < MOST_ROUNDS * n_features:
        visits += 1
        size, column = n_bins[d], columns[d]
        allowed = box[start[d] : start[d] + size]
        seen_here = seen[start[d] : start[d] + size]
        total, better = totals[:size], parts[:size]
        total[:] = 0.0
        # A row matters to a feature if it is outside of no other.
        if allowed.all():
            for j in range(n_inside):
                total[column[inside_rows[j]]] += inside_cost[j]
        else:
            for i in near_rows[:n_near]:
                b = column[i]
                total[b] += cost[i] if outside[i] == (not allowed[b]) else 0.0
        if is_category[d]:
            best_categories(total, allowed, better)
            everything = total.sum()
            some = part_cost(total, seen_here, better, True, bound_cost)
            if everything <= some:
                better[:] = True
        else:
            best_interval(
                total, seen_here, allowed, bound_cost, better,
                bounds[0, d], bounds[1, d],
            )  # fmt: skip
        now = part_cost(total, seen_here, allowed, is_category[d], bound_cost)
        then = part_cost(total, seen_here, better, is_category[d], bound_cost)
        unchanged += 1
        if then < now - ROUNDING:
            held = 0.0
            for i in near_rows[:n_near]:
                b = column[i]
                is_held = better[b] & (outside[i] == (not allowed[b]))
                held += counts[i] if is_held else 0.0
            if held >= least:
                unchanged = 1
                for i in range(n_rows):
                    b = column[i]
                    outside[i] += int(allowed[b]) - int(better[b])
                put(better, allowed)
                n_inside, n_near = list_near(outside, inside_rows, near_rows)
                inside_cost = cost[inside_rows[:n_inside]]
        d = (d + 1) % n_features
    found = bound_cost * n_literals(start, n_bins, is_category, seen, box)
    for i in inside_rows[:n_inside]:
        found += cost[i]
    for i in range(n_rows):
        inside[i] = outside[i] == 0
    return found
