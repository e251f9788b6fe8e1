"""Ordering of categories for splits of trees."""

from __future__ import annotations

import numpy as np

from clearwood._numeric.same_bits import product, rounded

TIED = 1e-9
"""Relative tolerance below which variances along two axes are equal."""


def category_ranks(
    code: np.ndarray, targets: np.ndarray, weight: np.ndarray, n: int
) -> np.ndarray:
    """Rank of each category along the first principal component of the mean targets.

    Means are weighted by category (Coppersmith, Hong & Hosking, 1999, as in ranger);
    for one target, categories are ranked by its mean. Where several components share
    the largest variance, as with balanced classes, none of them is unique: the
    direction is then the projection of one axis on the plane that they span, and
    categories at the same position are ordered by their means. So the ranks do not
    depend on the linear algebra library.

    Parameters
    ----------
    code : ndarray of int of shape (n_samples,)
        Category of each row.
    targets : ndarray of shape (n_samples, n_targets)
        Values, or one column of 0 and 1 per class.
    weight : ndarray of shape (n_samples,)
    n : int
        Number of categories.

    Returns
    -------
    ndarray of int of shape (n,)
        From 0; categories with equal means keep their order.

    Examples
    --------
    >>> code, classes = np.array([0, 1, 2, 3]), np.array([2, 0, 2, 1])
    >>> category_ranks(code, np.eye(3)[classes], np.ones(4), 4).tolist()
    [2, 1, 3, 0]
    """
    if not n:
        return np.zeros(0, dtype=int)
    count = np.bincount(code, weight, n)
    sums = np.stack([np.bincount(code, weight * t, n) for t in targets.T], axis=1)
    mean = sums / np.maximum(count, np.finfo(float).tiny)[:, None]
    centred = mean - np.average(mean, axis=0, weights=count + (not count.any()))
    place = centred[:, 0]
    if targets.shape[1] > 1:
        weighted = np.sqrt(count)[:, None] * centred
        variances, axes = np.linalg.eigh(product(weighted.T, weighted))
        first = axes[:, variances >= variances[-1] * (1 - TIED)]
        onto = product(first, first.T)
        place = product(centred, onto[rounded(onto.diagonal()).argmax()])
    rank = np.empty(n, dtype=int)
    rank[np.lexsort((*rounded(centred).T[::-1], rounded(place)))] = np.arange(n)
    return rank
