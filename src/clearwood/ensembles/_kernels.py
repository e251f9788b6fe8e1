"""The one hot loop of this room: which leaf a row reaches in every tree."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


@kernel
def find_leaves(
    X,
    feature,
    cut,
    left,
    right,
    missing_left,
    unseen_left,
    category_set,
    category_offsets,
    categories_left,
    roots,
):
    """Position of the leaf that every row reaches in every tree.

    Trees run in the outer loop, so that the nodes of one tree stay in the cache.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Encoded rows: values, category codes, NaN, negative for unseen.
    feature, cut, left, right, missing_left, unseen_left, category_set, \
category_offsets, categories_left, roots : ndarray
        Fields of a ``TreeEnsemble``.

    Returns
    -------
    ndarray of int32 of shape (n_trees, n_rows)
    """
    n_rows = X.shape[0]
    leaves = np.empty((roots.size, n_rows), dtype=np.int32)
    for t in range(roots.size):
        for i in range(n_rows):
            node = roots[t]
            while feature[node] >= 0:
                x = X[i, feature[node]]
                if np.isnan(x):
                    go_left = missing_left[node]
                elif category_set[node] < 0:
                    go_left = x <= cut[node]
                elif x < 0:
                    go_left = unseen_left[node]
                else:
                    first = category_offsets[category_set[node]]
                    go_left = categories_left[first + np.int64(x)]
                node = left[node] if go_left else right[node]
            leaves[t, i] = node
    return leaves
