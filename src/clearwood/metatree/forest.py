"""Meta-trees on all trees of an ensemble, learned and predicted with together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError
from clearwood.metatree.baking import node_values
from clearwood.metatree.ensemble_trees import from_ensemble_tree
from clearwood.metatree.leaf_models import LeafModel
from clearwood.metatree.meta_tree import MetaTree
from clearwood.metatree.predictive import Predictive
from clearwood.metatree.structure import Structure
from clearwood.rules.bins import FeatureBins

BLOCK_ROWS = 32_768
"""Rows sent down all trees at a time."""

NOTHING = 1e-16
"""Posterior weight of a part that rounding would lose."""

MIXTURE_CELLS = 4_000_000
"""Numbers held at a time where whole distributions are asked for."""


class MetaForest:
    """One meta-tree per tree of an ensemble; rows find their way by the ensemble.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Its leaf values play no part.
    model : LeafModel
        Whose leaves read no features.
    prior : callable
        From a structure to the prior g of its nodes.
    n_jobs : int or None
        Threads; nothing depends on their number.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        model: LeafModel,
        prior: Callable[[Structure], np.ndarray],
        n_jobs: int | None = None,
    ) -> None:
        if model.reads_features:
            raise InputError(
                f"{type(model).__name__} is no leaf for forests; use one tree, or "
                "leaves that read no features."
            )
        if not ensemble.n_trees:
            raise InputError("The ensemble has no trees; fit it to more rows.")
        self.ensemble = ensemble
        self.model = model
        self.baked: TreeEnsemble | None = None
        bins = FeatureBins.from_ensemble(ensemble)

        def meta_tree(t: int) -> MetaTree:
            structure = from_ensemble_tree(ensemble, t, bins=bins)
            return MetaTree(structure, model, prior(structure))

        self.trees: list[MetaTree] = each(meta_tree, range(ensemble.n_trees), n_jobs)
        # Where the nodes of the ensemble stand in the structures.
        self.place = np.empty(ensemble.n_nodes, dtype=np.int32)
        for root, tree in zip(ensemble.roots, self.trees):
            original = tree.structure.original
            self.place[root + original] = np.arange(len(original))

    def ends(self, encoded: np.ndarray) -> np.ndarray:
        """Node of every structure at which each row ends, (n_trees, n_rows)."""
        return self.place[self.ensemble._find_leaves(encoded)]

    def update(
        self, X: Any, y: np.ndarray, weight: np.ndarray, n_jobs: int | None = None
    ) -> None:
        """Learn rows."""
        encoded = self.ensemble.encode(X)
        for start in range(0, len(encoded), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            ends = self.ends(encoded[rows])

            def learn(t: int, rows: slice = rows, ends: np.ndarray = ends) -> None:
                self.trees[t].update_at(ends[t], y[rows], weight[rows])

            each(learn, range(len(self.trees)), n_jobs)

    def unlearn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows out again; where one tree cannot, all stay as they were."""
        codes = self.trees[0].structure.encode(X)
        before = [tree.own for tree in self.trees]
        try:
            for tree in self.trees:
                tree.unlearn(codes, y, weight)
        except InputError:
            for tree, own in zip(self.trees, before):
                tree._before_change()
                tree.own = own
            raise

    def merge(self, other: MetaForest) -> None:
        """Add what a forest on the same structures has learned."""
        if len(self.trees) != len(other.trees):
            raise InputError(
                f"Cannot merge forests of {len(self.trees)} and {len(other.trees)} "
                "trees."
            )
        # First all, so that a later tree that differs leaves no forest half merged.
        for tree, shard in zip(self.trees, other.trees):
            tree.check_mergeable(shard)
        for tree, shard in zip(self.trees, other.trees):
            tree.merge(shard)

    def log_evidence(self, n_jobs: int | None = None) -> np.ndarray:
        """Log evidence of every tree."""
        return np.array(each(lambda tree: tree.log_evidence, self.trees, n_jobs))

    def mixtures(
        self, X: Any, tree_weight: np.ndarray
    ) -> Iterator[tuple[slice, Predictive]]:
        """Predictive distributions over all trees, some rows at a time."""
        encoded = self.ensemble.encode(X)
        posteriors = [tree.posterior() for tree in self.trees]
        width = sum(int(p.structure.depth.max()) + 1 for p in posteriors)
        step = max(1, MIXTURE_CELLS // (width * self.model.n_stats))
        for start in range(0, len(encoded), step):
            rows = slice(start, start + step)
            ends = self.ends(encoded[rows])
            parts = [p.path_weights(end) for p, end in zip(posteriors, ends)]
            stats = [p.total[nodes] for p, (nodes, _) in zip(posteriors, parts)]
            share = [w * weight for w, (_, weight) in zip(tree_weight, parts)]
            weight = np.concatenate(share, axis=1)
            # Most prunings of a tree hardly count; their nodes cost as much as others.
            matters = (weight > NOTHING).sum(axis=1).max()
            kept = np.argsort(-weight, axis=1, kind="stable")[:, :matters]
            yield (
                rows,
                Predictive(
                    self.model,
                    np.take_along_axis(
                        np.concatenate(stats, axis=1), kept[..., None], axis=1
                    ),
                    np.take_along_axis(weight, kept, axis=1),
                    np.arange(ends.shape[1]),
                ),
            )

    def bake(
        self,
        classes: np.ndarray | None,
        tree_weight: np.ndarray | None,
        source: str,
        n_jobs: int | None = None,
    ) -> TreeEnsemble:
        """The ensemble with averaged predictions in its leaves.

        Parameters
        ----------
        classes : ndarray or None
        tree_weight : ndarray of shape (n_trees,) or None
            None means the same for all.
        source : str
        n_jobs : int or None

        Returns
        -------
        TreeEnsemble
        """
        e, n_trees = self.ensemble, len(self.trees)
        values = each(node_values, self.trees, n_jobs)
        value = np.zeros((e.n_nodes, values[0].shape[1]))
        for t, (root, tree) in enumerate(zip(e.roots, self.trees)):
            factor = 1.0 if tree_weight is None else tree_weight[t] * n_trees
            value[root + tree.structure.original] = factor * values[t]
        value[e.feature >= 0] = 0.0
        return replace(
            e,
            task="regression" if classes is None else "classification",
            classes=classes,
            value=value,
            output=np.zeros(n_trees),
            base_score=np.zeros(value.shape[1]),
            aggregation="sum",
            divisor=float(n_trees),
            scale=1.0,
            offset=np.zeros(0),
            sum_dtype="float64",
            tree_weight=np.zeros(0),
            link="identity" if classes is None else "probability",
            link_scale=1.0,
            decision="raw",
            source=source,
            details={},
            notes=(),
        )


def each(
    function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None
) -> list[Any]:
    """What a function says of all items, in their order, by so many threads."""
    from joblib import Parallel, delayed

    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(item) for item in items
    )
