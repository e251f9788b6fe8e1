"""Meta-trees on all trees of an ensemble, updated and evaluated together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from clearwood.distributions import LeafModel
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError
from clearwood.metatree.growing.from_ensemble import from_ensemble_tree, shape_of_tree
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.posterior import Posterior
from clearwood.metatree.posterior.predictive import Predictive, rows_at_a_time
from clearwood.metatree.posterior.structure import BareTree
from clearwood.rules.bins import FeatureBins

BLOCK_ROWS = 32_768
"""Rows routed through all trees at a time."""

NOTHING = 1e-16
"""Posterior weight below rounding error."""

QUESTIONS = {
    "feature": "i", "cut": "f", "left": "i", "right": "i", "missing_left": "b",
    "unseen_left": "b", "category_set": "i", "category_offsets": "i",
    "categories_left": "b", "roots": "i",
}  # fmt: skip
"""Splits of an ensemble, by the names of its arrays: integers, floats and booleans."""


class MetaForest:
    """One meta-tree per tree of an ensemble; rows are routed by the ensemble.

    Each tree learns as a single meta-tree does, on its bare shape. Structures, with
    bins of all cuts, are made only on access to :attr:`trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Its leaf values are not used.
    model : LeafModel
        With leaves that read no features.
    prior : callable
        From the shape of a tree to the prior g of its nodes.
    n_jobs : int or None
        Number of threads; results do not depend on it.
    """

    _most: np.ndarray | None = None
    tree_weight: np.ndarray
    """Weight of each tree in predictions."""

    def __init__(
        self,
        ensemble: TreeEnsemble,
        model: LeafModel,
        prior: Callable[[BareTree], np.ndarray],
        n_jobs: int | None = None,
    ) -> None:
        if model.reads_features:
            raise InputError(
                f"{type(model).__name__} is not supported in forests; use one tree, "
                "or a leaf model without features."
            )
        if not ensemble.n_trees:
            raise InputError("The ensemble has no trees; fit it to more rows.")
        self.ensemble = ensemble
        self.model = model
        n = ensemble.n_nodes
        borders = [*ensemble.roots.tolist(), n]
        self.nodes_of = [slice(*ends) for ends in zip(borders, borders[1:])]
        self.place = np.empty(n, dtype=np.int32)

        def enter(nodes: slice) -> MetaTree:
            parent, first_child, original = shape_of_tree(ensemble, nodes)
            # Position of the ensemble's nodes in the shape.
            self.place[nodes][original] = np.arange(len(parent), dtype=np.int32)
            feature = ensemble.feature[nodes][original]
            shape = BareTree(parent, first_child, feature, ensemble.n_features)
            return MetaTree(shape, model, prior(shape))

        self.bare: list[MetaTree] = each(enter, self.nodes_of, n_jobs)
        self.forget()

    def forget(self) -> None:
        """Clear the cached values derived from earlier statistics."""
        self.baked: TreeEnsemble | None = None
        self._trees: list[MetaTree] | None = None

    @property
    def own(self) -> np.ndarray:
        """Statistics at the nodes of all trees, concatenated."""
        return np.concatenate([tree.own for tree in self.bare])

    @property
    def g(self) -> np.ndarray:
        """Prior at the nodes of all trees, concatenated."""
        return np.concatenate([tree.g for tree in self.bare])

    def restore(self, own: np.ndarray, g: np.ndarray) -> None:
        """Set statistics and prior to those of another forest."""
        for tree, nodes in zip(self.bare, self.nodes_of):
            tree.g = g[nodes]
            tree.put(own[nodes])
        self.forget()

    def ends(self, encoded: np.ndarray) -> np.ndarray:
        """Node of every tree at which each row ends, (n_trees, n_rows)."""
        return self.place[self.ensemble.find_leaves(encoded)]

    # Updates make a new forest, so that a failure leaves this one unchanged.

    def with_rows(
        self, X: Any, y: np.ndarray, weight: np.ndarray, n_jobs: int | None = None
    ) -> MetaForest:
        """Forest updated with more rows."""
        own = self.own
        self._learn_rows(own, X, y, weight, n_jobs)
        return self._with_statistics(own)

    def _learn_rows(
        self,
        own: np.ndarray,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        n_jobs: int | None = None,
    ) -> None:
        """Add rows to the statistics of all trees, in place."""
        y = self.model.check_target(y)
        encoded = self.ensemble.encode(X, whole=False)
        for start in range(0, len(encoded), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            ends = self.ends(encoded[rows])

            def learn(t: int, rows: slice = rows, ends: np.ndarray = ends) -> None:
                its = own[self.nodes_of[t]]
                self.model.add_rows(its, ends[t], y[rows], weight[rows])

            each(learn, range(len(ends)), n_jobs)

    def statistics(
        self, X: Any, y: np.ndarray, weight: np.ndarray, n_jobs: int | None = None
    ) -> np.ndarray:
        """Statistics of some rows alone at the nodes of all trees, concatenated."""
        own = self.model.no_rows(self.ensemble.n_nodes)
        self._learn_rows(own, X, y, weight, n_jobs)
        return own

    def with_statistics(self, parts: Iterable[np.ndarray], anew: bool) -> MetaForest:
        """Forest with statistics of parts of a table, added or in place of its own."""
        own = self.model.no_rows(self.ensemble.n_nodes) if anew else self.own
        for part in parts:
            self.model.merge(own, part)
        return self._with_statistics(own)

    def without_rows(self, X: Any, y: np.ndarray, weight: np.ndarray) -> MetaForest:
        """Forest without some rows; raises if a tree cannot have learned them."""
        own = self.own
        gone = self.statistics(X, y, weight)
        # Removing rows one by one leaves the rounding of the largest sums behind.
        most = own if self._most is None else np.maximum(self._most, own)
        forest = self._with_statistics(self.model.remove(own, gone, most))
        forest._most = most
        return forest

    def with_shard(self, other: MetaForest) -> MetaForest:
        """Forest merged with another one on the same structures."""
        if len(self.bare) != len(other.bare):
            raise InputError(
                f"Cannot merge forests of {len(self.bare)} and {len(other.bare)} trees."
            )
        if not _ask_the_same(self.ensemble, other.ensemble):
            raise InputError(
                "The trees of the two forests have different splits; only shards of "
                "one forest can be merged."
            )
        for tree, its in zip(self.bare, other.bare):
            tree.check_mergeable(its)
        own = self.own
        self.model.merge(own, other.own)
        return self._with_statistics(own)

    def _with_statistics(self, own: np.ndarray) -> MetaForest:
        forest = copy(self)
        forest.bare = [tree.without_rows() for tree in self.bare]
        for tree, nodes in zip(forest.bare, self.nodes_of):
            tree.put(own[nodes])
        forest.forget()
        return forest

    # Posterior and predictions

    def posteriors(self, n_jobs: int | None = None) -> list[Posterior]:
        """Posterior of each tree given all rows so far."""
        return each(MetaTree.current, self.bare, n_jobs)

    @property
    def trees(self) -> list[MetaTree]:
        """One meta-tree per tree in its current state, as independent copies."""
        if self._trees is None:
            bins = FeatureBins.from_ensemble(self.ensemble)
            self._trees = []
            for t, bare in enumerate(self.bare):
                structure = from_ensemble_tree(self.ensemble, t, bins=bins)
                self._trees.append(MetaTree(structure, self.model, bare.g))
                self._trees[-1].put(bare.own.copy())
        return self._trees

    def mixtures(
        self, X: Any, tree_weight: np.ndarray
    ) -> Iterator[tuple[slice, Predictive]]:
        """Predictive distributions over all trees, in blocks of rows."""
        encoded = self.ensemble.encode(X, whole=False)
        posteriors = self.posteriors()
        width = sum(int(tree.structure.depth.max()) + 1 for tree in self.bare)
        for rows in rows_at_a_time(len(encoded), width, self.model):
            stats, weights, shares = [], [], []
            for t, ends in enumerate(self.ends(encoded[rows])):
                nodes, weight = posteriors[t].path_weights(ends)
                stats.append(posteriors[t].known[nodes])
                weights.append(tree_weight[t] * weight)
                shares.append(posteriors[t].kept[nodes])
            weight = np.concatenate(weights, axis=1)
            # Most prunings have negligible weight, at the same cost as others.
            weight = np.where(weight > NOTHING, weight, 0.0)
            matters = (weight > 0.0).sum(axis=1).max()
            kept = np.argsort(-weight, axis=1, kind="stable")[:, :matters]
            yield (
                rows,
                Predictive(
                    self.model,
                    np.take_along_axis(
                        np.concatenate(stats, axis=1), kept[..., None], axis=1
                    ),
                    np.take_along_axis(weight, kept, axis=1),
                    np.arange(len(weight)),
                    kept=np.take_along_axis(
                        np.concatenate(shares, axis=1), kept, axis=1
                    )
                    if self.model.estimated_from
                    else None,
                ),
            )


def _ask_the_same(a: TreeEnsemble, b: TreeEnsemble) -> bool:
    same_nodes = all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=kind == "f")
        for name, kind in QUESTIONS.items()
    )
    return same_nodes and a.features.categories == b.features.categories


def each(
    function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None
) -> list[Any]:
    """Results of a function for all items, in order, by a number of threads."""
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(n_jobs) == 1:
        return [function(item) for item in items]
    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(item) for item in items
    )
