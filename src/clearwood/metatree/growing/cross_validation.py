"""Choice of the priors of a grown tree by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import rounded
from clearwood._tables.merging import equal_rows
from clearwood.distributions import LeafModel
from clearwood.metatree.posterior.posterior import compute_posterior
from clearwood.metatree.posterior.predictive import predict_at
from clearwood.metatree.posterior.structure import Structure

N_FOLDS = 5

MOST_ROWS = 20_000
"""Of more distinct rows a random sample of this size is used."""

BORROWED = (1.0, 4.0, 16.0, 64.0)
"""Pseudo-rows that a node lends its children, of which one is chosen."""

POWERS = (1, 0)
"""Powers of the search-corrected prior, of which one is chosen; 0 is constant."""

STRICT = 2
"""Power of the prior where no other is better by more than its standard error."""


class Setting(NamedTuple):
    """Priors of a grown tree: of its splits, and of its leaves."""

    power: int
    borrowed: float


class Grown(NamedTuple):
    """A tree grown on some rows.

    Attributes
    ----------
    structure : Structure
    prior : callable
        From a power of the number of candidates to the prior g of the nodes.
    """

    structure: Structure
    prior: Callable[[int], np.ndarray]


def choose_setting(
    grow: Callable[[np.ndarray], Grown],
    leaf: LeafModel,
    powers: tuple[int, ...],
    encoded: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    fold: np.ndarray,
) -> Setting:
    """Setting with the highest log density of held-out rows, or the strict one.

    Of all settings the best one is compared with a tree that borrows nothing and whose
    splits have the smallest prior probability, on the same rows: it must be better by
    more than one standard error, since it was chosen among many.

    Parameters
    ----------
    grow : callable
        From indices of rows to a tree grown on these.
    leaf : LeafModel
    powers : tuple of int
        Powers of the number of candidates in the prior of the splits.
    encoded : ndarray of shape (n_rows, n_features)
    y, weight : ndarray of shape (n_rows,)
    fold : ndarray of int of shape (n_rows,)
        From :func:`folds_of`.
    """
    strict = Setting(STRICT if len(powers) > 1 else powers[0], 0.0)
    if fold.max() < N_FOLDS - 1:
        return strict
    settings = [strict, *map(Setting._make, product(powers, BORROWED))]
    found = np.zeros((len(settings), len(y)))
    for k in range(N_FOLDS):
        train = np.flatnonzero((fold != k) & (fold >= 0))
        test = np.flatnonzero(fold == k)
        structure, prior = grow(train)
        known, new = (
            structure.route(structure.coder.codes_of(encoded[rows]))
            for rows in (train, test)
        )
        own = leaf.no_rows(structure.n_nodes)
        leaf.add_rows(own, known, leaf.check_target(y[train]), weight[train])
        for i, (power, borrowed) in enumerate(settings):
            its: Any = replace(leaf, borrowed=borrowed)  # type: ignore[type-var]
            posterior = compute_posterior(structure, its, prior(power), own)
            found[i, test] = predict_at(posterior, new).log_density(y[test])
    weight = np.where(fold >= 0, weight, 0.0)
    gain = found - found[0]
    mean = rounded(np.average(gain, axis=1, weights=weight))
    best = int(mean.argmax())
    variance = np.average((gain[best] - mean[best]) ** 2, weights=weight)
    return settings[best if mean[best] ** 2 > variance / weight.sum() else 0]


def folds_of(
    encoded: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Folds with similar targets, -1 for rows that are not used.

    Equal rows share a fold, as if they were one row of a larger weight.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([5.0, 6.0, 7.0, 5.0])
    >>> fold = folds_of(X, y, np.random.default_rng(0))
    >>> bool(fold[0] == fold[3]), sorted(set(fold.tolist()))
    (True, [0, 1, 2])
    """
    # Ranks, so that folds do not depend on units.
    ranks = [np.unique(part, return_inverse=True)[1] for part in (y, *encoded.T)]
    first, place = equal_rows(np.stack(ranks, axis=1).astype(np.int32))
    order = rng.permutation(len(first))[:MOST_ROWS]
    order = order[np.argsort(y[first[order]], kind="stable")]
    fold = np.full(len(first), -1)
    fold[order] = np.arange(len(order)) % N_FOLDS
    return fold[place]
