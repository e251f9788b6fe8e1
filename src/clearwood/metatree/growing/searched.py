"""Among how much a search chose the questions of a tree."""

from __future__ import annotations

import numpy as np

from clearwood.metatree.posterior import _tree_kernels
from clearwood.metatree.posterior.coder import BinCoder
from clearwood.metatree.posterior.structure import Structure

MOST_BITS = 1000
"""Sets of a feature's categories are counted up to 2 to this power."""


def effective_questions(
    structure: Structure,
    encoded: np.ndarray,
    ends: np.ndarray,
    max_features: int | None = None,
) -> np.ndarray:
    """Among how many questions, in effect, a search on these rows chose at each node.

    Features that vary at the node, times the square root of how many questions there
    are about the one that is asked: cuts between its distinct values, or two sets of
    its categories. The root, as neighbouring questions say nearly the same; it was
    the best power in ``benchmarks/metatree/counts.py``. How often a row counts
    plays no part.

    Parameters
    ----------
    structure : Structure
    encoded : ndarray of shape (n_rows, n_features)
        Made by ``structure.coder.features.encode``; all missing values are one value.
    ends : ndarray of int of shape (n_rows,)
        Where every row ends in the structure.
    max_features : int, optional
        Most features that the search tried per question.

    Returns
    -------
    ndarray of shape (n_nodes,)
        1 where there are no rows.

    Examples
    --------
    Five cuts of the first feature, and another feature that varies:

    >>> from clearwood.metatree import grow_cart
    >>> X = np.array([[0.0, 7], [1, 7], [2, 7], [3, 8], [4, 8], [5, 8], [5, 8]])
    >>> tree = grow_cart(X, [0, 0, 1, 1, 1, 1, 1])
    >>> (effective_questions(tree, X, tree.route(tree.encode(X))) ** 2).round(9)
    array([20.,  1.,  4.])
    """
    columns = np.ascontiguousarray(encoded.T)
    n_varying = _tree_kernels.count_varying(columns, ends, structure.parent)
    n_asked = np.ones(structure.n_nodes)
    by_cuts = isinstance(structure.coder, BinCoder)
    for d in np.unique(structure.feature[~structure.is_leaf]) if by_cuts else ():
        column = columns[d]
        if ((column == column.min()) | (column == column.max())).all():
            continue  # Of two values there is one question.
        order, rank = _ranks(column)
        n_values = _tree_kernels.distinct_values(rank, ends[order], structure.parent)
        asked = structure.feature == d
        places = np.maximum(n_values[asked] - 1.0, 1.0)
        if structure.coder.features.categories[d] is not None:
            places = 2.0 ** np.minimum(places, MOST_BITS) - 1.0
        n_asked[asked] = places
    if max_features is not None:
        n_varying = np.minimum(n_varying, max_features)
    return np.maximum(n_varying, 1) * np.sqrt(n_asked)


def _ranks(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The order of a column's values, and in it the rank of each; missing ones last."""
    order = np.argsort(column)
    values = column[order]
    differs = (values[1:] != values[:-1]) & ~np.isnan(values[:-1])
    return order, np.concatenate([[0], np.cumsum(differs)])


def n_searchable(encoded: np.ndarray, max_features: int | None = None) -> int:
    """Among how many features a search on these rows could choose at a node.

    Columns that hold one value only can never be chosen.

    Examples
    --------
    >>> n_searchable(np.array([[0.0, 1.0, 7.0], [0.0, 2.0, np.nan]]))
    2
    """
    n = sum(_varies(column) for column in encoded.T)
    return max(1, n if max_features is None else min(n, max_features))


def _varies(column: np.ndarray) -> bool:
    missing = np.isnan(column)
    known = column[~missing]
    return bool(known.size and (missing.any() or known.min() < known.max()))
