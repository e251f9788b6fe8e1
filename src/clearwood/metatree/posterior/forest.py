"""Meta-trees on all trees of an ensemble, learned and predicted with together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from clearwood.conjugate import _kernels, statistics
from clearwood.conjugate.models import LeafModel
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError
from clearwood.metatree.baking.baking import said_by_nodes
from clearwood.metatree.growing.from_ensemble import from_ensemble_tree, shape_of_tree
from clearwood.metatree.posterior import _routing_kernels, _tree_kernels
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.predictive import Predictive
from clearwood.metatree.posterior.shape import TreeShape
from clearwood.metatree.posterior.structure import Structure
from clearwood.rules.bins import FeatureBins

BLOCK_ROWS = 32_768
"""Rows sent down all trees at a time."""

NOTHING = 1e-16
"""Posterior weight of a part that rounding would lose."""

MIXTURE_CELLS = 4_000_000
"""Numbers held at a time where whole distributions are asked for."""

QUESTIONS = (
    "feature", "left", "right", "missing_left", "unseen_left", "category_set",
    "category_offsets", "categories_left", "roots",
)  # fmt: skip
"""What must be equal, besides the cuts, where two forests ask the same."""


@dataclass(frozen=True, eq=False)
class ForestPosterior:
    """The posteriors of all trees, in the flat arrays of a ``MetaForest``.

    Parameters
    ----------
    total : ndarray of shape (n_nodes, n_stats)
        Statistics of all rows that pass through a node.
    log_odds : ndarray of shape (n_nodes,)
        As in ``Posterior``.
    log_evidence : ndarray of shape (n_trees,)
        Log probability of all targets learned.
    """

    total: np.ndarray
    log_odds: np.ndarray
    log_evidence: np.ndarray

    @cached_property
    def g(self) -> np.ndarray:
        """Posterior probability that a tree that reaches the node asks on."""
        return special.expit(self.log_odds)

    @cached_property
    def stop(self) -> np.ndarray:
        """Posterior probability that it stops there, also where g rounds to 1."""
        return special.expit(-self.log_odds)


class MetaForest:
    """One meta-tree per tree of an ensemble; rows find their way by the ensemble.

    The nodes of all trees stand end to end in flat arrays, those of each tree in the
    order of its ``Structure`` and counted from its root. Structures themselves, which
    know bins of all cuts, are made only when somebody asks for :attr:`trees`.

    Parameters
    ----------
    ensemble : TreeEnsemble
        Its leaf values play no part.
    model : LeafModel
        Whose leaves read no features.
    prior : callable
        From the shape of a tree to the prior g of its nodes.
    n_jobs : int or None
        Threads; nothing depends on their number.
    """

    def __init__(
        self,
        ensemble: TreeEnsemble,
        model: LeafModel,
        prior: Callable[[TreeShape], np.ndarray],
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
        n = ensemble.n_nodes
        borders = [*ensemble.roots.tolist(), n]
        self.nodes_of = [slice(*ends) for ends in zip(borders, borders[1:])]
        self.parent, self.first_child, self.original, self.place = (
            np.empty(n, dtype=np.int32) for _ in range(4)
        )
        self.g = np.empty(n)

        def enter(nodes: slice) -> None:
            parent, first_child, original = shape_of_tree(ensemble, nodes)
            self.parent[nodes], self.first_child[nodes] = parent, first_child
            self.original[nodes] = original
            # Where the nodes of the ensemble stand here.
            self.place[nodes][original] = np.arange(len(parent), dtype=np.int32)
            shape = TreeShape(parent, first_child, ensemble.n_features)
            self.g[nodes] = prior(shape)

        each(enter, self.nodes_of, n_jobs)
        self._set_own(statistics.no_rows(model, n))

    def _set_own(self, own: np.ndarray) -> None:
        """Take other statistics; what followed from those before is forgotten."""
        self.own = own
        self.baked: TreeEnsemble | None = None
        self._posterior: ForestPosterior | None = None
        self._trees: list[MetaTree] | None = None

    def ends(self, encoded: np.ndarray) -> np.ndarray:
        """Node of every tree at which each row ends, (n_trees, n_rows)."""
        return self.place[self.ensemble.find_leaves(encoded)]

    # Learning

    def update(
        self, X: Any, y: np.ndarray, weight: np.ndarray, n_jobs: int | None = None
    ) -> None:
        """Learn rows."""
        own = self.own
        self._add_rows(own, X, y, weight, n_jobs)
        self._set_own(own)

    def _add_rows(
        self,
        own: np.ndarray,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray,
        n_jobs: int | None = None,
    ) -> None:
        y = self.model.check_target(y)
        encoded = self.ensemble.encode(X)
        for start in range(0, len(encoded), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            ends = self.ends(encoded[rows])

            def learn(t: int, rows: slice = rows, ends: np.ndarray = ends) -> None:
                part = own[self.nodes_of[t]]
                statistics.add_rows(self.model, part, ends[t], y[rows], weight[rows])

            each(learn, range(len(ends)), n_jobs)

    def unlearn(self, X: Any, y: np.ndarray, weight: np.ndarray) -> None:
        """Take rows out again; where one tree cannot, all stay as they were."""
        gone = np.zeros_like(self.own)
        self._add_rows(gone, X, y, weight)
        self._set_own(statistics.remove(self.model, self.own, gone))

    def merge(self, other: MetaForest) -> None:
        """Add what a forest on the same structures has learned."""
        if len(self.nodes_of) != len(other.nodes_of):
            raise InputError(
                f"Cannot merge forests of {len(self.nodes_of)} and "
                f"{len(other.nodes_of)} trees."
            )
        if not _ask_the_same(self.ensemble, other.ensemble):
            raise InputError(
                "The trees of the two forests ask different questions; only shards of "
                "one forest can be merged."
            )
        if self.model != other.model or not np.array_equal(self.g, other.g):
            raise InputError(
                f"The two forests have different priors ({self.model} and "
                f"{other.model}, or g); only shards of one model can be merged."
            )
        own = self.own
        statistics.merge(self.model, own, other.own)
        self._set_own(own)

    # What it knows

    def posterior(self, n_jobs: int | None = None) -> ForestPosterior:
        """The posterior of all trees given all rows so far."""
        if self._posterior is None:
            total, log_odds = np.empty_like(self.own), np.empty_like(self.g)
            model = self.model

            def compute(nodes: slice) -> float:
                total[nodes], _, log_q, log_odds[nodes] = _kernels.posterior_up(
                    self.parent[nodes], self.first_child[nodes], self.g[nodes],
                    model.kind, model.prior, model.n_columns or 0, self.own[nodes],
                )  # fmt: skip
                return float(log_q[0])

            log_evidence = np.array(each(compute, self.nodes_of, n_jobs))
            self._posterior = ForestPosterior(total, log_odds, log_evidence)
        return self._posterior

    @property
    def trees(self) -> list[MetaTree]:
        """One meta-tree per tree, as it is now; it does not learn with the forest."""
        if self._trees is None:
            self._trees = []
            for structure, nodes in zip(self._structures, self.nodes_of):
                tree = MetaTree(structure, self.model, self.g[nodes])
                tree.own = self.own[nodes].copy()
                self._trees.append(tree)
        return self._trees

    @cached_property
    def _structures(self) -> list[Structure]:
        bins = FeatureBins.from_ensemble(self.ensemble)
        return [
            from_ensemble_tree(self.ensemble, t, bins=bins)
            for t in range(self.ensemble.n_trees)
        ]

    def feature_used(self) -> np.ndarray:
        """Posterior probability that each tree asks about each feature."""
        e, posterior = self.ensemble, self.posterior()
        return np.array(
            [
                _tree_kernels.use_of_features(
                    self.parent[nodes], self.first_child[nodes],
                    e.feature[nodes][self.original[nodes]], posterior.g[nodes],
                    e.n_features,
                )
                for nodes in self.nodes_of
            ]
        )  # fmt: skip

    @cached_property
    def _depth(self) -> list[np.ndarray]:
        """Number of questions above every node, tree by tree."""
        return [_routing_kernels.node_depths(self.parent[n]) for n in self.nodes_of]

    def mixtures(
        self, X: Any, tree_weight: np.ndarray
    ) -> Iterator[tuple[slice, Predictive]]:
        """Predictive distributions over all trees, some rows at a time."""
        encoded = self.ensemble.encode(X)
        posterior = self.posterior()
        width = sum(int(depth.max()) + 1 for depth in self._depth)
        step = max(1, MIXTURE_CELLS // (width * self.model.n_stats))
        for start in range(0, len(encoded), step):
            rows = slice(start, start + step)
            stats, weights = [], []
            for t, ends in enumerate(self.ends(encoded[rows])):
                nodes, depth = self.nodes_of[t], self._depth[t]
                levels = int(depth[ends].max(initial=0)) + 1
                way, weight = _tree_kernels.paths_up(
                    ends, self.parent[nodes], depth, posterior.g[nodes],
                    posterior.stop[nodes], levels,
                )  # fmt: skip
                stats.append(posterior.total[nodes][way])
                weights.append(tree_weight[t] * weight)
            weight = np.concatenate(weights, axis=1)
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
                    np.arange(len(weight)),
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
        e, n_trees = self.ensemble, len(self.nodes_of)
        posterior = self.posterior(n_jobs)
        said = said_by_nodes(self.model, posterior.total)
        value = np.zeros_like(said)

        def mix(t: int) -> None:
            nodes = self.nodes_of[t]
            factor = 1.0 if tree_weight is None else tree_weight[t] * n_trees
            value[nodes][self.original[nodes]] = factor * _tree_kernels.mix_down(
                self.parent[nodes], posterior.g[nodes], said[nodes]
            )

        each(mix, range(n_trees), n_jobs)
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


def _ask_the_same(a: TreeEnsemble, b: TreeEnsemble) -> bool:
    same_nodes = all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in QUESTIONS
    )
    return (
        same_nodes
        and np.array_equal(a.cut, b.cut, equal_nan=True)
        and a.features.categories == b.features.categories
    )


def each(
    function: Callable[[Any], Any], items: Sequence[Any], n_jobs: int | None
) -> list[Any]:
    """What a function says of all items, in their order, by so many threads."""
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(n_jobs) == 1:
        return [function(item) for item in items]
    return Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(function)(item) for item in items
    )
