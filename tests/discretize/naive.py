"""MDLP as the paper writes it: every cut of every interval, from the rows."""

from math import log2


def entropy(labels):
    n = len(labels)
    shares = [labels.count(c) / n for c in set(labels)]
    return -sum(p * log2(p) for p in shares)


def mdlp_decisions(values, labels):
    """(n, cut, gain, threshold) of every interval, the left part first."""
    rows = sorted(zip(values, labels))
    labels, n = [label for _, label in rows], len(rows)
    found = []
    for at in range(1, n):
        low, high = rows[at - 1][0], rows[at][0]
        if low < high:
            parts = labels[:at], labels[at:]
            mixed = sum(len(part) * entropy(part) for part in parts) / n
            found.append((mixed, at, (low + high) / 2))
    if not found:
        return []
    least = min(mixed for mixed, _, _ in found)
    mixed, at, cut = next(one for one in found if one[0] <= least + 1e-12)
    left, right = labels[:at], labels[at:]
    k, k1, k2 = (len(set(part)) for part in (labels, left, right))
    whole = entropy(labels)
    delta = log2(3**k - 2) - (k * whole - k1 * entropy(left) - k2 * entropy(right))
    gain, threshold = whole - mixed, (log2(n - 1) + delta) / n
    inner = []
    if gain > threshold:
        for part in (rows[:at], rows[at:]):
            inner += mdlp_decisions(*zip(*part))
    return [(n, cut, gain, threshold), *inner]
