"""Growing of a tree, whose priors are chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import rounded
from clearwood._tables.merging import equal_rows
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import LeafModel
from clearwood.metatree.growing.cart import grow_ensemble
from clearwood.metatree.growing.from_ensemble import from_ensemble_tree, stop_unseen
from clearwood.metatree.growing.missing import (
    branch_for_missing,
    send_missing_by_evidence,
)
from clearwood.metatree.posterior.posterior import compute_posterior
from clearwood.metatree.posterior.predictive import predict_at
from clearwood.metatree.posterior.prior import (
    constant_prior,
    effective_questions,
    search_corrected_prior,
)
from clearwood.metatree.posterior.structure import Structure

N_FOLDS = 5

MOST_ROWS = 20_000
"""Of more distinct rows a random sample of this size is used."""

LENT = (1.0, 4.0, 16.0, 64.0)
"""Pseudo-rows that a node lends its children, of which one is chosen."""

POWERS = (1, 0)
"""Powers of the search-corrected prior, of which one is chosen; 0 is constant."""

STRICT = 2
"""Power of the prior where no other is better by more than its standard error."""


class Setting(NamedTuple):
    """Priors of a grown tree: of its splits, and of its leaves."""

    power: int
    lent: float


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


class GrowingRows(NamedTuple):
    """Encoded rows, their targets and weights, and features of linear leaves."""

    encoded: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    x: np.ndarray | None

    def at(self, rows: np.ndarray) -> GrowingRows:
        """Some of the rows."""
        x = None if self.x is None else self.x[rows]
        return GrowingRows(self.encoded[rows], self.target[rows], self.weight[rows], x)


def grow_tree(
    rows: GrowingRows,
    features: FeatureSpace,
    classes: np.ndarray | None,
    model: Any,
    missing: str,
    split_prior: Any,
    leaf: LeafModel,
    power: int,
) -> Grown:
    """Grow a CART on some rows, which also determine where missing values go.

    Where they go by evidence is decided by the leaf model and the prior of this power.
    """
    encoded, target, weight, x = rows
    ensemble = grow_ensemble(encoded, features, target, weight, model, classes)
    structure = stop_unseen(from_ensemble_tree(ensemble))
    codes = structure.coder.codes_of(encoded)
    if missing == "branch":
        structure = branch_for_missing(structure, codes)
    ends = structure.route(codes)
    n = effective_questions(structure, encoded, ends, model.max_features_)

    def prior(power: int) -> np.ndarray:
        if power == 0:
            return constant_prior(structure, split_prior)
        return search_corrected_prior(structure, split_prior, n**power)

    if missing == "evidence":
        structure = send_missing_by_evidence(
            structure, leaf, prior(power), codes, target, weight, x
        )
    return Grown(structure, prior)


def choose_setting(
    grow: Callable[[GrowingRows], Grown],
    leaf: LeafModel,
    powers: tuple[int, ...],
    rows: GrowingRows,
    fold: np.ndarray,
) -> Setting:
    """Setting with the highest log density of held-out rows, or the strict one.

    Of all settings the best one is compared with a tree that borrows nothing and whose
    splits have the smallest prior probability, on the same rows: it must be better by
    more than one standard error, since it was chosen among many.

    Parameters
    ----------
    grow : callable
        From some of the rows to a tree grown on these.
    leaf : LeafModel
        It reads no features.
    powers : tuple of int
        Powers of the number of candidates in the prior of the splits.
    rows : GrowingRows
    fold : ndarray of int of shape (n_rows,)
        From :func:`folds_of`.
    """
    strict = Setting(STRICT if len(powers) > 1 else powers[0], 0.0)
    if fold.max() < N_FOLDS - 1:
        return strict
    settings = [strict, *map(Setting._make, product(powers, LENT))]
    found = np.zeros((len(settings), len(fold)))
    for k in range(N_FOLDS):
        train = rows.at(np.flatnonzero((fold != k) & (fold >= 0)))
        test = rows.at(np.flatnonzero(fold == k))
        structure, prior = grow(train)
        known, new = (
            structure.route(structure.coder.codes_of(some.encoded))
            for some in (train, test)
        )
        own = leaf.no_rows(structure.n_nodes)
        target = leaf.check_target(train.target)
        leaf.add_rows(own, known, target, train.weight)
        for i, (power, lent) in enumerate(settings):
            its: Any = replace(leaf, lent=lent)  # type: ignore[type-var]
            posterior = compute_posterior(structure, its, prior(power), own)
            predictive = predict_at(posterior, new)
            found[i, fold == k] = predictive.log_density(test.target)
    weight = np.where(fold >= 0, rows.weight, 0.0)
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
