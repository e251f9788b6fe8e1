"""The inner loops of inTrees: what rules cover, how wrong they are, and without what.

Literals come as the arrays of ``in_trees_paths.Literals``. What rules shall say comes as
``target``: class numbers (``n_classes`` of them), or values (``n_classes`` 0).
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


@kernel
def holds(code, low, high, other, start, truth):
    """Whether a bin satisfies a literal."""
    if start >= 0:
        return truth[start + code]
    return (low <= code and code <= high) or code == other


@kernel
def loss_within(
    rows, needed, feature, low, high, other, start, truth,
    columns, target, weight, said, n_classes,
):  # fmt: skip
    """Weight of those rows that satisfy the needed literals, what to say, and the loss.

    The class ``said`` is said again, and the loss is the weight of the rows of another;
    or the mean is said, and the loss is the sum of squared differences from it.
    """
    total, first, second = 0.0, 0.0, 0.0
    for r in rows:
        inside = True
        for one in needed:
            if not holds(
                columns[feature[one], r], low[one], high[one], other[one],
                start[one], truth,
            ):  # fmt: skip
                inside = False
                break
        if inside:
            total += weight[r]
            if n_classes == 0:
                first += weight[r] * target[r]
                second += weight[r] * target[r] ** 2
            elif target[r] != said:
                second += weight[r]
    if n_classes == 0 and total > 0:
        said = first / total
        second = max(second - first * said, 0.0)
    return total, said, second


@kernel
def most_frequent(rows, target, weight, n_classes):
    """The class of most weight among some rows; of several the first."""
    mass = np.zeros(max(n_classes, 1))
    if n_classes > 0:
        for r in rows:
            mass[int(target[r])] += weight[r]
    return float(mass.argmax())


@kernel
def prune(
    borders, literal, feature, low, high, other, start, truth,
    columns, target, weight, n_classes, most, floor, relative,
):  # fmt: skip
    """Leave out literals, last first, without which the error rises little.

    Parameters
    ----------
    borders, literal : ndarray
        Rules, see ``in_trees_paths.Paths``.
    feature, low, high, other, start, truth : ndarray
        Literals.
    columns : ndarray of unsigned integers of shape (n_features, n_rows)
        Bins.
    target, weight : ndarray of float64 of shape (n_rows,)
    n_classes : int
    most : float
        Most that the error of the whole rule may rise; minus infinity to keep all
        literals.
    floor : float
        Errors below this count as this where the rise is relative.
    relative : bool
        Whether the rise is relative to the error of the whole rule.

    Returns
    -------
    kept : ndarray of bool
        Per entry of ``literal``.
    total, said, loss : ndarray of float64 of shape (2, n_rules)
        Weight of the rows of the whole rule, and of what is left of it, what is said of
        them, and what is lost by that. The class is that of most weight in the whole
        rule.
    """
    n_rules, n_rows = len(borders) - 1, columns.shape[1]
    longest = 0
    for k in range(n_rules):
        longest = max(longest, borders[k + 1] - borders[k])
    # Line i: the rows that satisfy the first i literals of a rule.
    held = np.empty((longest + 1, n_rows), dtype=np.int64)
    n_held = np.empty(longest + 1, dtype=np.int64)
    held[0], n_held[0] = np.arange(n_rows), n_rows
    needed = np.empty(longest, dtype=np.int64)
    kept = np.ones(len(literal), dtype=np.bool_)
    total, said, loss = np.zeros((3, 2, n_rules))
    for k in range(n_rules):
        first, size = borders[k], borders[k + 1] - borders[k]
        for i in range(size):
            one, n = literal[first + i], 0
            column = columns[feature[one]]
            for r in held[i, : n_held[i]]:
                if holds(
                    column[r], low[one], high[one], other[one], start[one], truth
                ):
                    held[i + 1, n] = r
                    n += 1
            n_held[i + 1] = n
        rows = held[size, : n_held[size]]
        found = loss_within(
            rows, needed[:0], feature, low, high, other, start, truth, columns, target,
            weight, most_frequent(rows, target, weight, n_classes), n_classes,
        )  # fmt: skip
        total[:, k], said[:, k], loss[:, k] = found
        if total[0, k] == 0.0:
            continue
        before = loss[0, k] / total[0, k]
        n_needed = 0
        for i in range(size - 1, -1, -1):
            if i + n_needed == 0:
                break  # It is the last one left.
            found = loss_within(
                held[i, : n_held[i]], needed[:n_needed], feature, low, high, other,
                start, truth, columns, target, weight, said[0, k], n_classes,
            )  # fmt: skip
            rise = found[2] / found[0] - before
            if relative:
                rise /= max(before, floor)
            if rise <= most:
                kept[first + i] = False
                total[1, k], said[1, k], loss[1, k] = found
            else:
                needed[n_needed] = literal[first + i]
                n_needed += 1
    return kept, total, said, loss


@kernel
def cover(borders, literal, feature, low, high, other, start, truth, columns):
    """Which rows satisfy which rules, eight rows to a byte, the first one lowest."""
    n_rules, n_rows = len(borders) - 1, columns.shape[1]
    bits = np.zeros((n_rules, (n_rows + 7) // 8), dtype=np.uint8)
    inside = np.empty(n_rows, dtype=np.bool_)
    for k in range(n_rules):
        inside[:] = True
        for one in literal[borders[k] : borders[k + 1]]:
            column = columns[feature[one]]
            for r in range(n_rows):
                inside[r] &= holds(
                    column[r], low[one], high[one], other[one], start[one], truth
                )
        for r in range(n_rows):
            if inside[r]:
                bits[k, r >> 3] |= np.uint8(1 << (r & 7))
    return bits


@kernel
def add_rows(sums, bits, rows, sign, target, weight, said, n_classes):
    """Add what some rows weigh, and are taught, to every rule that covers them.

    Columns of ``sums``: weight, weighted target, weighted square of it; with classes
    the last two are zero and the weight of rows of another class.
    """
    for k in range(bits.shape[0]):
        total, first, second = 0.0, 0.0, 0.0
        for r in rows:
            if bits[k, r >> 3] >> (r & 7) & 1:
                total += weight[r]
                if n_classes == 0:
                    first += weight[r] * target[r]
                    second += weight[r] * target[r] ** 2
                elif target[r] != said[k]:
                    second += weight[r]
        sums[k, 0] += sign * total
        sums[k, 1] += sign * first
        sums[k, 2] += sign * second
