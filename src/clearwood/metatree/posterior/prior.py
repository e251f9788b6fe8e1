"""Prior probability of a split at a node of T_max: g of equation (2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder
from clearwood.metatree.posterior.structure import BareTree, Structure

MOST_BITS = 1000
"""Sets of a feature's categories are counted up to 2 to this power."""


def constant_prior(structure: Structure | BareTree, g: Any = 0.5) -> np.ndarray:
    """Prior of the paper: ``g`` at inner nodes, 0 at leaves of T_max.

    Parameters
    ----------
    structure : Structure
    g : float, callable or array-like of shape (n_nodes,) or (n_inner,), default=0.5
        One for all, a function of the depth of a node (0 at the root), or one per node,
        or per inner node in node order.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> from clearwood.metatree import given
    >>> constant_prior(given([0], n_values=2), 0.4)
    array([0.4, 0. , 0. ])
    >>> constant_prior(given([0, 1, -1], n_values=2), lambda depth: 0.9 / (1 + depth))
    array([0.9 , 0.45, 0.  , 0.  , 0.  ])
    """
    inner = ~structure.is_leaf
    values = split_probabilities(g, structure.depth[inner])
    if values.ndim and values.shape not in ((inner.sum(),), (structure.n_nodes,)):
        raise InputError(
            f"g (split_prior) has shape {values.shape}; expected one number, a "
            f"function of the depth, one per node ({structure.n_nodes}) or one per "
            f"inner node ({inner.sum()})."
        )
    found = np.zeros(structure.n_nodes)
    found[inner] = values[inner] if values.shape == inner.shape else values
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("g (split_prior) must be between 0 and 1 at every node.")
    return found


def split_probabilities(g: Any, depth: np.ndarray) -> np.ndarray:
    """Prior probabilities as numbers; of a function, those at these depths."""
    by_depth = callable(g)
    if by_depth:
        g = [g(d) for d in range(int(depth.max(initial=-1)) + 1)]
    try:
        found = np.asarray(g, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"g (split_prior) is {g!r}; expected numbers between 0 and 1."
        ) from None
    return found[depth] if by_depth else found


def search_corrected_prior(
    structure: Structure | BareTree, g: Any = 0.5, n_searched: Any = None
) -> np.ndarray:
    """Prior that accounts for a search of the splits on the same data.

    A split has the weight ``a = g / p``, where ``p`` is the number of candidates among
    which the search chose: one of them was taken because it fits these data. Stopping
    has the weight ``1 - g``. Weights are normalized to probabilities by the recursion
    of the posterior without data: ``Z = (1 - g) + a prod Z_child``, 1 at leaves of
    T_max, and ``g' = a prod Z_child / Z``. All formulas then hold with ``g'``.

    Parameters
    ----------
    structure : Structure
    g : float, callable or array-like, default=0.5
        As in :func:`constant_prior`.
    n_searched : int or array-like of shape (n_nodes,), optional
        The ``p`` above; by default all features. Estimators of one tree use, at every
        node, the number of features that vary there times the square root of the number
        of possible splits on the chosen feature.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> from clearwood.metatree import given
    >>> tree = given([0], n_values=2, n_features=4)
    >>> search_corrected_prior(tree, 0.5).round(3).tolist()
    [0.2, 0.0, 0.0]
    """
    g = constant_prior(structure, g)
    p = np.asarray(structure.n_features if n_searched is None else n_searched)
    if p.shape not in ((), (structure.n_nodes,)) or not (p >= 1).all():
        raise InputError(
            f"n_searched has the shape {p.shape}; expected a number from 1 on, or "
            f"one per node ({structure.n_nodes})."
        )
    with np.errstate(divide="ignore"):
        log_stop, log_split = np.log1p(-g), np.log(g / p)
    nothing = np.zeros(structure.n_nodes)
    _, log_odds = _kernels.evidence_up(
        structure.parent, structure.first_child, log_stop, log_split, nothing
    )
    return special.expit(log_odds)


def make_prior(
    prior: Any,
    g: Any,
    structure: Structure | BareTree,
    searched: bool,
    count_searched: Callable[[], Any],
) -> np.ndarray:
    """Prior g of each node, from the parameters of an estimator.

    ``searched`` is whether the structure was searched on the rows to be learned; the
    candidates of the search are counted only if the prior depends on them.
    """
    check_prior(prior)
    if prior == "constant" or (prior == "auto" and not searched):
        return constant_prior(structure, g)
    return search_corrected_prior(structure, g, count_searched())


def check_prior(prior: Any) -> None:
    """Raise an error for an invalid name of a prior."""
    if not isinstance(prior, str) or prior not in (
        "auto", "constant", "search-corrected"
    ):  # fmt: skip
        raise InputError(
            f"prior is {prior!r}; expected 'auto', 'constant' or 'search-corrected'. "
            "Pass custom probabilities as split_prior."
        )


# Number of candidates of a search


def effective_questions(
    structure: Structure,
    encoded: np.ndarray,
    ends: np.ndarray,
    max_features: int | None = None,
) -> np.ndarray:
    """Effective number of candidate splits of a search on these rows, by node.

    Features that vary at the node, times the square root of the number of possible
    splits on the chosen feature: cuts between its distinct values, or two sets of its
    categories. The root, as neighbouring splits are nearly equivalent; it was the best
    power in ``benchmarks/metatree/counts.py``. Weights are ignored.

    Parameters
    ----------
    structure : Structure
    encoded : ndarray of shape (n_rows, n_features)
        Result of ``structure.coder.features.encode``; all missing values are one value.
    ends : ndarray of int of shape (n_rows,)
        Node at which each row ends in the structure.
    max_features : int, optional
        Maximum number of features that the search tried per split.

    Returns
    -------
    ndarray of shape (n_nodes,)
        1 at nodes without rows.

    Examples
    --------
    Five cuts of the first feature, and another feature that varies:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from clearwood.metatree import from_sklearn_tree
    >>> X = np.array([[0.0, 7], [1, 7], [2, 7], [3, 8], [4, 8], [5, 8], [5, 8]])
    >>> cart = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1, 1, 1, 1])
    >>> tree = from_sklearn_tree(cart)
    >>> (effective_questions(tree, X, tree.route(tree.encode(X))) ** 2).round(9)
    array([20.,  1.,  4.])
    """
    columns = np.ascontiguousarray(encoded.T)
    n_varying = _kernels.count_varying(columns, ends, structure.parent)
    n_places = np.ones(structure.n_nodes)
    by_cuts = isinstance(structure.coder, BinCoder)
    for d in np.unique(structure.feature[~structure.is_leaf]) if by_cuts else ():
        column = columns[d]
        if ((column == column.min()) | (column == column.max())).all():
            continue  # Two values have one split.
        order, rank = _ranks(column)
        n_values = _kernels.distinct_values(rank, ends[order], structure.parent)
        splits_on = structure.feature == d
        places = np.maximum(n_values[splits_on] - 1.0, 1.0)
        if structure.coder.features.categories[d] is not None:
            places = 2.0 ** np.minimum(places, MOST_BITS) - 1.0
        n_places[splits_on] = places
    if max_features is not None:
        n_varying = np.minimum(n_varying, max_features)
    return np.maximum(n_varying, 1) * np.sqrt(n_places)


def _ranks(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort order of a column, and in it the rank of each value; missing ones last."""
    order = np.argsort(column)
    values = column[order]
    differs = (values[1:] != values[:-1]) & ~np.isnan(values[:-1])
    return order, np.concatenate([[0], np.cumsum(differs)])


def n_searchable(encoded: np.ndarray, max_features: int | None = None) -> int:
    """Number of features among which a search on these rows could choose at a node.

    Constant columns can never be chosen.

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
