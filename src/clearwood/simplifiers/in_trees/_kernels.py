"""The inner loops of inTrees: what rules cover, how wrong they are, and without what.

Sets of rows are packed bits, eight rows to a byte, the first one lowest. What rules
shall say comes as ``target``: class numbers (``n_classes`` of them), or values
(``n_classes`` 0).
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


@kernel
def satisfied(columns, feature, low, high, other, start, truth):
    """Which rows satisfy which literals, as packed bits (n_literals, n_rows / 8).

    The literals come as the arrays of ``paths.Literals``.
    """
    n_literals, n_rows = len(feature), columns.shape[1]
    bits = np.zeros((n_literals, (n_rows + 7) // 8), dtype=np.uint8)
    for one in range(n_literals):
        column = columns[feature[one]]
        lowest, highest, further = low[one], high[one], other[one]
        for r in range(n_rows):
            code = np.int64(column[r])
            if start[one] >= 0:
                inside = truth[start[one] + code]
            else:
                inside = (lowest <= code and code <= highest) or code == further
            if inside:
                bits[one, r >> 3] |= np.uint8(1 << (r & 7))
    return bits


@kernel
def sums_over(bits, mask, target, weight, said, n_classes):
    """Weight, and weighted sums of targets and of their squares, over two sets at once.

    With classes, nothing and the weight of the rows of another class than ``said``.
    """
    total, first, second = 0.0, 0.0, 0.0
    for i in range(len(bits)):
        byte = bits[i] & mask[i]
        if byte == 0:
            continue
        for j in range(8):
            if byte >> j & 1:
                r = 8 * i + j
                total += weight[r]
                if n_classes == 0:
                    first += weight[r] * target[r]
                    second += weight[r] * target[r] ** 2
                elif target[r] != said:
                    second += weight[r]
    return total, first, second


@kernel
def judged(bits, mask, target, weight, said, n_classes):
    """Weight of the rows in two sets at once, what is said of them, and the loss.

    The class ``said`` is said again, and the loss is the weight of the rows of another;
    or the mean is said, and the loss is the sum of squared differences from it.
    """
    total, first, second = sums_over(bits, mask, target, weight, said, n_classes)
    if n_classes == 0 and total > 0:
        said = first / total
        second = max(second - first * said, 0.0)
    return total, said, second


@kernel
def most_frequent(bits, target, weight, n_classes):
    """The class of most weight in a set of rows; of several the first."""
    mass = np.zeros(max(n_classes, 1))
    if n_classes > 0:
        for r in range(len(target)):
            if bits[r >> 3] >> (r & 7) & 1:
                mass[int(target[r])] += weight[r]
    return float(mass.argmax())


@kernel
def prune(
    borders, literal, satisfied_by, target, weight, n_classes, most, floor, relative
):
    """Leave out literals, last first, without which the error rises little.

    Parameters
    ----------
    borders, literal : ndarray
        Rules, see ``paths.Paths``.
    satisfied_by : ndarray of uint8 of shape (n_literals, n_rows / 8)
        See ``satisfied``.
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
    bits : ndarray of uint8 of shape (n_rules, n_rows / 8)
        The rows of what is left of each rule.
    total, said, loss : ndarray of float64 of shape (n_rules, 2)
        Weight of the rows of the whole rule, and of what is left of it, what is said of
        them, and what is lost by that. The class is that of most weight in the whole
        rule.
    """
    n_rules, n_bytes = len(borders) - 1, satisfied_by.shape[1]
    longest = 0
    for k in range(n_rules):
        longest = max(longest, borders[k + 1] - borders[k])
    # Line i: the rows that satisfy the first i literals of a rule.
    held = np.full((longest + 1, n_bytes), 255, dtype=np.uint8)
    kept = np.ones(len(literal), dtype=np.bool_)
    bits = np.full((n_rules, n_bytes), 255, dtype=np.uint8)
    total, said, loss = np.zeros((3, n_rules, 2))
    for k in range(n_rules):
        first, size = borders[k], borders[k + 1] - borders[k]
        for i in range(size):
            held[i + 1] = held[i] & satisfied_by[literal[first + i]]
        # The rows that satisfy all literals that were found to be needed.
        needed = bits[k]
        found = judged(
            held[size], needed, target, weight,
            most_frequent(held[size], target, weight, n_classes), n_classes,
        )  # fmt: skip
        total[k], said[k], loss[k] = found
        if found[0] == 0.0:
            continue
        before = found[2] / found[0]
        n_needed = 0
        for i in range(size - 1, -1, -1):
            rise = np.inf
            if i + n_needed > 0:  # Not the last one left.
                found = judged(held[i], needed, target, weight, said[k, 0], n_classes)
                rise = found[2] / found[0] - before
                if relative:
                    rise /= max(before, floor)
            if rise <= most:
                kept[first + i] = False
                total[k, 1], said[k, 1], loss[k, 1] = found
            else:
                needed &= satisfied_by[literal[first + i]]
                n_needed += 1
    return kept, bits, total, said, loss


@kernel
def add_rows(sums, bits, mask, sign, target, weight, said, n_classes):
    """Add the sums over a set of rows to those of every rule that covers them."""
    for k in range(bits.shape[0]):
        total, first, second = sums_over(
            bits[k], mask, target, weight, said[k], n_classes
        )
        sums[k, 0] += sign * total
        sums[k, 1] += sign * first
        sums[k, 2] += sign * second
