"""Slow and obviously right twins of the kernels: one row, one node at a time."""

import math

import numpy as np


def leaf(ensemble, tree, row):
    """Position of the leaf that an encoded row reaches in a tree."""
    node = ensemble.roots[tree]
    while ensemble.left[node] != -1:
        goes_left = _goes_left(ensemble, node, row[ensemble.feature[node]])
        node = ensemble.left[node] if goes_left else ensemble.right[node]
    return node


def _goes_left(ensemble, node, x):
    if math.isnan(x):
        return ensemble.missing_left[node]
    which = ensemble.category_set[node]
    if which == -1:
        return x <= ensemble.cut[node]
    if x == -1:
        return ensemble.unseen_left[node]
    offsets = ensemble.category_offsets
    codes_left = ensemble.categories_left[offsets[which] : offsets[which + 1]]
    return codes_left[int(x)]


def leaves(ensemble, X):
    return np.array(
        [[leaf(ensemble, t, row) for t in range(ensemble.n_trees)] for row in X]
    ).reshape(len(X), ensemble.n_trees)


def raw_sum(ensemble, X):
    """Base score, then tree by tree, number by number, in the ensemble's own type."""
    number = np.dtype(ensemble.sum_dtype).type
    result = []
    for row in X:
        scores = [number(b) for b in ensemble.base_score]
        for t in range(ensemble.n_trees):
            for k, v in enumerate(ensemble.value[leaf(ensemble, t, row)]):
                scores[ensemble.output[t] + k] += number(v)
        result.append(
            [
                s / number(ensemble.divisor) * number(ensemble.scale) + number(o)
                for s, o in zip(scores, ensemble.offset)
            ]
        )
    return np.array(result, dtype=float).reshape(len(X), ensemble.n_outputs)


def depth(ensemble, node):
    if ensemble.left[node] == -1:
        return 0
    return 1 + max(
        depth(ensemble, ensemble.left[node]), depth(ensemble, ensemble.right[node])
    )


def casts_below(x, threshold):
    """What a library asks that casts x to float32 first."""
    with np.errstate(over="ignore"):
        return bool(np.float64(np.float32(x)) <= threshold)
