"""Theorem 1: the posterior over all prunings of T_max, and what follows from it.

Symbols are the paper's: ``s`` is a node, ``g_s`` the prior probability that a tree
that reaches it asks on there, ``p(y_s)`` the evidence of the rows below ``s`` where it
is a leaf, and ``q_s`` their evidence averaged over all prunings. From the leaves up,

    q_s = p(y_s)                                          at leaves of T_max,
    q_s = (1 - g_s) p(y_s) + g_s prod_children q_child    elsewhere: (10) and (11),

and given the rows a tree asks on at ``s`` with the probability (9)

    g_s prod_children q_child / q_s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from clearwood._numeric import as_generator
from clearwood.conjugate import LeafModel
from clearwood.metatree.posterior import _kernels
from clearwood.metatree.posterior.structure import BareTree, Structure
from clearwood.metatree.posterior.top_trees import best_trees

TIE = 1e-12
"""Log probabilities that differ by less, times their size, count as equal."""


def compute_posterior(
    structure: Structure | BareTree, model: LeafModel, g: np.ndarray, own: np.ndarray
) -> Posterior:
    """The posterior from statistics: Theorem 1, in logs.

    Parameters
    ----------
    structure : Structure
    model : LeafModel
    g : ndarray of shape (n_nodes,)
        Prior of (2), 0 at leaves of T_max.
    own : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that end at each node.

    Returns
    -------
    Posterior
    """
    # p(y_s), from the statistics of all rows that pass through each node.
    total = add_below(model, own, structure.parent)
    log_marginal = model.log_marginal(total)
    # Rows that stop at an inner node are one more child of it, without questions.
    inner, log_own = ~structure.is_leaf, np.zeros(len(own))
    stopped = own[inner]
    if stopped.any():
        log_own[inner] = model.log_marginal(stopped)
    # q_s and the odds of asking on, from the leaves up: (9) to (11).
    log_stop, log_split = _kernels.logs_of_prior(g)
    log_q, log_odds = _kernels.evidence_up(
        structure.parent, structure.first_child,
        log_stop + log_marginal, log_split, log_own,
    )  # fmt: skip
    return Posterior(structure, model, own, total, log_marginal, log_q, log_odds)


def add_below(model: LeafModel, own: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Statistics of every node with all that is below it."""
    if model.n_columns is None:
        return _kernels.sum_up(own, parent)
    return _kernels.moments_up(own, parent, model.n_columns)


class PrunedTree(NamedTuple):
    """One pruning of T_max.

    Attributes
    ----------
    inner : ndarray of int
        Nodes at which it asks, ascending.
    leaves : ndarray of int
        Nodes at which it stops, ascending.
    log_probability : float
        In the posterior.
    """

    inner: np.ndarray
    leaves: np.ndarray
    log_probability: float

    @property
    def probability(self) -> float:
        """In the posterior."""
        return float(np.exp(self.log_probability))


@dataclass(frozen=True, eq=False)
class Posterior:
    """The posterior over all prunings of T_max.

    Parameters
    ----------
    structure : Structure or BareTree
    model : LeafModel
    own, total : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that end at a node, and of all that pass through it.
    log_marginal : ndarray of shape (n_nodes,)
        Evidence of a node's rows where the tree stops at it.
    log_q : ndarray of shape (n_nodes,)
        The same averaged over all trees: (10).
    log_odds : ndarray of shape (n_nodes,)
        ``log(g / (1 - g))`` of the posterior g of (9); -inf at leaves of T_max.
    """

    structure: Any
    model: LeafModel
    own: np.ndarray
    total: np.ndarray
    log_marginal: np.ndarray
    log_q: np.ndarray
    log_odds: np.ndarray

    def copy(self) -> Posterior:
        """The same on arrays of its own."""
        names = ("own", "total", "log_marginal", "log_q", "log_odds")
        return replace(self, **{name: getattr(self, name).copy() for name in names})

    @property
    def log_evidence(self) -> float:
        """Log probability of all targets, every tree and parameter averaged out."""
        return float(self.log_q[0])

    @cached_property
    def g(self) -> np.ndarray:
        """Posterior probability that a tree that reaches the node asks on: (9)."""
        return special.expit(self.log_odds)

    @cached_property
    def stop(self) -> np.ndarray:
        """Posterior probability that a tree that reaches the node stops there.

        Not ``1 - g``, which is 0 where g is nearly 1: a row that is most improbable
        below a node may owe all its density to such a small weight.
        """
        return special.expit(-self.log_odds)

    @cached_property
    def reach(self) -> np.ndarray:
        """Posterior probability that a tree has the node."""
        return _kernels.reach_down(self.structure.parent, self.g)

    @cached_property
    def leaf(self) -> np.ndarray:
        """Posterior probability that a tree has the node as a leaf."""
        return self.reach * self.stop

    @cached_property
    def feature_used(self) -> np.ndarray:
        """Posterior probability that a tree asks about a feature anywhere."""
        s = self.structure
        return _kernels.use_of_features(
            s.parent, s.first_child, s.feature, self.g, s.n_features
        )

    @cached_property
    def _log_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Logs of 1 - g and of g."""
        with np.errstate(divide="ignore"):
            return special.log_expit(-self.log_odds), special.log_expit(self.log_odds)

    @property
    def _tie(self) -> float:
        """What a question costs beyond its probability, so that ties stay small."""
        return TIE * (1.0 + abs(self.log_evidence))

    def map_tree(self) -> PrunedTree:
        """The most probable tree; of equally probable ones the smallest.

        Trees count as equally probable where their log probabilities differ by less
        than 1e-12 of the log evidence per question that one has more.

        Returns
        -------
        PrunedTree
        """
        s = self.structure
        log_stop, log_split = self._log_weights
        asks = _kernels.best_below(
            s.parent, s.first_child, log_stop, log_split - self._tie
        )
        return self._tree(asks)

    def top_trees(self, k: int) -> list[PrunedTree]:
        """The ``k`` most probable trees, best first; ties as in :meth:`map_tree`.

        Parameters
        ----------
        k : int
            There may be fewer trees.

        Returns
        -------
        list of PrunedTree
        """
        s = self.structure
        log_stop, log_split = self._log_weights
        found = best_trees(
            s.first_child, s.n_children, log_stop, log_split - self._tie, k
        )
        trees = []
        for inner in found:
            asks = np.zeros(s.n_nodes, dtype=bool)
            asks[inner] = True
            trees.append(self._tree(asks))
        return trees

    def sample_trees(self, n: int, random_state: Any = None) -> np.ndarray:
        """Draw trees from the posterior.

        Parameters
        ----------
        n : int
        random_state : int, Generator or RandomState, optional

        Returns
        -------
        ndarray of bool of shape (n, n_nodes)
            Whether the drawn tree asks on at the node.
        """
        rng = as_generator(random_state)
        asks = rng.random((n, self.structure.n_nodes)) < self.g
        _kernels.draw_down(self.structure.parent, asks)
        return asks

    def log_probability(self, asks: np.ndarray) -> float:
        """Log posterior probability of one tree: (5).

        Parameters
        ----------
        asks : ndarray of bool of shape (n_nodes,)
            Whether the tree asks on at the node; below a node where it does not,
            entries are of no account.
        """
        return self.pruned(asks).log_probability

    def pruned(self, asks: np.ndarray) -> PrunedTree:
        """The tree that asks at some nodes, such as a row of :meth:`sample_trees`.

        Parameters
        ----------
        asks : ndarray of bool of shape (n_nodes,)
            As in :meth:`log_probability`.
        """
        return self._tree(np.asarray(asks, dtype=bool))

    def _tree(self, asks: np.ndarray) -> PrunedTree:
        s = self.structure
        inner = (asks & ~s.is_leaf)[None].copy()
        _kernels.draw_down(s.parent, inner)
        has = np.ones(s.n_nodes, dtype=bool)
        has[1:] = inner[0, s.parent[1:]]
        leaves = np.flatnonzero(has & ~inner[0])
        nodes = np.flatnonzero(inner[0])
        log_stop, log_split = self._log_weights
        log_probability = float(log_split[nodes].sum() + log_stop[leaves].sum())
        return PrunedTree(nodes, leaves, log_probability)

    def path_weights(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How the prediction for a row mixes the nodes on its way.

        Parameters
        ----------
        ends : ndarray of int of shape (n_ends,)
            Nodes where rows end, from ``Structure.route``.

        Returns
        -------
        nodes : ndarray of int32 of shape (n_ends, n_levels)
            The way from the root; behind the end, the end again.
        weight : ndarray of shape (n_ends, n_levels)
            Posterior probability that the tree stops at the node; at the end all
            that is left, and 0 behind it.
        """
        s = self.structure
        ends = np.asarray(ends, dtype=np.int32)
        width = int(s.depth[ends].max(initial=0)) + 1
        return _kernels.paths_up(ends, s.parent, s.depth, self.g, self.stop, width)


def tree_weights(log_evidence: Any, prior: Any = None) -> np.ndarray:
    """Posterior probabilities of several T_max, from their evidence on the same data.

    Parameters
    ----------
    log_evidence : array-like of shape (n_trees,)
    prior : array-like of shape (n_trees,), optional
        Uniform by default.

    Returns
    -------
    ndarray of shape (n_trees,)

    Examples
    --------
    >>> import math
    >>> tree_weights([math.log(0.3), math.log(0.1)])
    array([0.75, 0.25])
    """
    log_weight = np.asarray(log_evidence, dtype=np.float64)
    if prior is not None:
        with np.errstate(divide="ignore"):
            log_weight = log_weight + np.log(prior)
    return special.softmax(log_weight)
