"""Prior probability that a tree asks on at a node of T_max: g of equation (2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from clearwood.exceptions import InputError
from clearwood.metatree.posterior import _kernels
from clearwood.metatree.posterior.shape import BareTree
from clearwood.metatree.posterior.structure import Structure


def constant_prior(structure: Structure | BareTree, g: Any = 0.5) -> np.ndarray:
    """The paper's prior: ``g`` at inner nodes, 0 at leaves of T_max.

    Parameters
    ----------
    structure : Structure
    g : float or array-like of shape (n_nodes,) or (n_inner,), default=0.5
        One for all, or one per node, or per inner node in node order.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> from clearwood.metatree import given
    >>> constant_prior(given([0], n_values=2), 0.4)
    array([0.4, 0. , 0. ])
    """
    inner = ~structure.is_leaf
    try:
        values = np.asarray(g, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"g is {g!r}; expected numbers between 0 and 1.") from None
    if values.ndim and values.shape not in ((inner.sum(),), (structure.n_nodes,)):
        raise InputError(
            f"g has the shape {values.shape}; expected one number, one per node "
            f"({structure.n_nodes}) or one per inner node ({inner.sum()})."
        )
    found = np.zeros(structure.n_nodes)
    found[inner] = values[inner] if values.shape == inner.shape else values
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("g must lie between 0 and 1 at every node.")
    return found


def search_corrected_prior(
    structure: Structure | BareTree, g: Any = 0.5, n_searched: Any = None
) -> np.ndarray:
    """A prior for trees searched on the same data.

    Asking on has the weight ``a = g / p``, where ``p`` counts the questions among
    which the search chose: one of them was taken because it fits these data. Stopping
    has the weight ``1 - g``. Weights are made probabilities by the recursion of the
    posterior without data: ``Z = (1 - g) + a prod Z_child``, 1 at leaves of T_max,
    and ``g' = a prod Z_child / Z``. All formulas then hold with ``g'``.

    Parameters
    ----------
    structure : Structure
    g : float or array-like, default=0.5
        As in :func:`constant_prior`.
    n_searched : int or array-like of shape (n_nodes,), optional
        The ``p`` above; by default all features. Estimators of one tree take, at every
        node, the features that vary there times the square root of the questions
        there about the feature that is asked.

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
