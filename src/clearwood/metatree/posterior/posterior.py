"""Theorem 1: the posterior over all prunings of T_max, and derived quantities.

Symbols are the paper's: ``s`` is a node, ``g_s`` the prior probability that a tree with
node ``s`` splits there (has it as an inner node), ``p(y_s)`` the evidence of the rows
that pass through ``s`` where it is a leaf, and ``q_s`` their evidence averaged over all
prunings. From the leaves up,

    q_s = p(y_s)                                          at leaves of T_max,
    q_s = (1 - g_s) p(y_s) + g_s prod_children q_child    elsewhere: (10) and (11),

and given the rows a tree splits at ``s`` with the probability (9)

    g_s prod_children q_child / q_s

(printed with the posterior ``g_s`` on the right; the prior is meant). Rows may stop at
an inner node, unlike in the paper (an unseen category, a missing value): they are one
more child, a leaf, and their evidence one more factor of ``prod_children``.

A node may lend rows to its children, also unlike in the paper: besides its own rows, a
child ``c`` of ``s`` then has those known to ``s`` as pseudo-rows, thinned to ``lambda
n_c / n_s``, where ``n`` are numbers of own rows. The prior of the leaf is updated by
these pseudo-rows, so that ``p(y_c)`` is the evidence of pseudo-rows and own rows
together over that of the pseudo-rows. Own rows have the share ``1 / (1 + lambda /
n_s)`` in the mean of ``c``, as in hierarchical shrinkage (Agarwal et al. 2022): as in
Zellner's g-prior, the prior weighs a share of the rows, so that a small leaf is not
shrunk more than a large sibling. The prior depends on the targets (an empirical
prior); given it, all above holds unchanged, as the score of a node depends on its path
alone. All follows from the statistics of the rows: batches, shards and the removal of
rows are as exact as without loans.

Parents precede their children. ``_kernels.learn_in_turn`` is Proposition 1, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from clearwood._kernels import metatree_posterior as _kernels
from clearwood._numeric import as_generator
from clearwood.distributions import LeafModel
from clearwood.metatree.posterior.structure import BareTree, Structure
from clearwood.metatree.posterior.top_trees import best_trees

SPENT, PER_SPLIT = 4.0, 5.0
"""Degrees of freedom of hyperparameters estimated from the rows (three of the scale and
one of the mean), and of each split: its feature, its threshold and a mean."""

TIE = 1e-12
"""Rounding error of log probabilities, relative to the log evidence."""


def compute_posterior(
    structure: Structure | BareTree, model: LeafModel, g: np.ndarray, own: np.ndarray
) -> Posterior:
    """Compute the posterior from statistics: Theorem 1, in logs.

    Parameters
    ----------
    structure : Structure or BareTree
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
    known, lent = total, None
    if model.lent:
        known, lent = lend_down(model, total, structure.parent)
    log_marginal = _log_marginal_given(model, known, lent)
    log_stopped = evidence_of_stopped(model, known, total, own, structure.first_child)
    # q_s and the odds of a split, from the leaves up: (9) to (11).
    log_not_g, log_g = _kernels.logs_of_prior(g)
    log_q, log_odds = _kernels.evidence_up(
        structure.parent, structure.first_child,
        log_not_g + log_marginal, log_g, log_stopped,
    )  # fmt: skip
    return Posterior(structure, model, own, total, known, log_marginal, log_q, log_odds)


def add_below(model: LeafModel, own: np.ndarray, parent: np.ndarray) -> np.ndarray:
    """Statistics of each node including all its descendants."""
    if model.n_columns is None:
        return _kernels.sum_up(own, parent)
    return _kernels.moments_up(own, parent, model.n_columns)


def lend_down(
    model: LeafModel, total: np.ndarray, parent: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Statistics of each node with pseudo-rows, and those of the pseudo-rows.

    Parameters
    ----------
    model : LeafModel
        Defines the number of pseudo-rows.
    total : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that pass through each node.
    parent : ndarray of int of shape (n_nodes,)

    Returns
    -------
    known, lent : ndarray of shape (n_nodes, n_stats)

    Examples
    --------
    Of ten rows, the children have two and eight, and get as many of ten lent ones:

    >>> from clearwood.distributions import CategoricalDirichlet
    >>> model = CategoricalDirichlet((0.5, 0.5), lent=10.0)
    >>> total = np.array([[5.0, 5.0], [2.0, 0.0], [3.0, 5.0]])
    >>> lend_down(model, total, np.array([-1, 0, 0], np.int32))[0].tolist()
    [[5.0, 5.0], [3.0, 1.0], [7.0, 9.0]]
    """
    known, lent = total.copy(), np.zeros_like(total)
    depth = _kernels.node_depths(parent)
    order = np.argsort(depth, kind="stable")
    starts = np.searchsorted(depth[order], np.arange(1, depth.max() + 1))
    for level in np.split(order, starts)[1:]:
        above = parent[level]
        both = loans(model, known[above], total[above], total[level])
        lent[level] = both
        model.merge(both, total[level])
        known[level] = both
    return known, lent


def loans(
    model: LeafModel, known: np.ndarray, above: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Pseudo-rows of nodes: rows known to their parents, thinned.

    Parameters
    ----------
    model : LeafModel
    known, above, own : ndarray of shape (n, n_stats)
        Statistics of the parent with its own pseudo-rows and without, and of the node.
    """
    weight, n = model.weight_of(known), model.weight_of(own)
    # A node without rows has no other estimate than its parent's.
    part = np.divide(n, model.weight_of(above), out=np.ones_like(n), where=n > 0)
    number = model.lent * part
    share = np.divide(number, weight, out=np.ones_like(n), where=weight > number)
    lent = share[:, None] * known
    if model.n_columns is not None:
        # A mean does not shrink with the number of rows.
        means = slice(1, 1 + model.n_columns)
        lent[:, means] = np.where(lent[:, :1] > 0, known[:, means], 0.0)
    return lent


def evidence_of_stopped(
    model: LeafModel,
    known: np.ndarray,
    total: np.ndarray,
    own: np.ndarray,
    first_child: np.ndarray,
) -> np.ndarray:
    """Evidence of the rows that stop at inner nodes.

    They are one more child of the node, without splits.
    """
    log_stopped = np.zeros(len(own))
    stopped = _kernels.stops(own, first_child)
    if stopped.size:
        lent = loans(model, known[stopped], total[stopped], own[stopped])
        both = lent.copy()
        model.merge(both, own[stopped])
        log_stopped[stopped] = _log_marginal_given(model, both, lent)
    return log_stopped


def _log_marginal_given(
    model: LeafModel, both: np.ndarray, lent: np.ndarray | None
) -> np.ndarray:
    """Evidence of rows, given the pseudo-rows."""
    found = model.log_marginal_in_unit(both)
    return found if lent is None else found - model.log_marginal_in_unit(lent)


class PrunedTree(NamedTuple):
    """One pruning of T_max.

    Attributes
    ----------
    inner : ndarray of int
        Nodes with a split, ascending.
    leaves : ndarray of int
        Nodes without a split, ascending.
    log_probability : float
        Log posterior probability.
    """

    inner: np.ndarray
    leaves: np.ndarray
    log_probability: float

    @property
    def probability(self) -> float:
        """Posterior probability."""
        return float(np.exp(self.log_probability))


@dataclass(frozen=True, eq=False)
class Posterior:
    """Posterior over all prunings of T_max.

    Parameters
    ----------
    structure : Structure or BareTree
    model : LeafModel
    own, total : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that end at a node, and of all that pass through it.
    known : ndarray of shape (n_nodes, n_stats)
        Statistics of each leaf: ``total``, and the pseudo-rows of the parent.
    log_marginal : ndarray of shape (n_nodes,)
        Log p(y_s), for the target in the model's ``unit``.
    log_q : ndarray of shape (n_nodes,)
        Log q_s: (10) and (11), likewise.
    log_odds : ndarray of shape (n_nodes,)
        ``log(g / (1 - g))`` of the posterior g of (9); -inf at leaves of T_max.
    """

    structure: Any
    model: LeafModel
    own: np.ndarray
    total: np.ndarray
    known: np.ndarray
    log_marginal: np.ndarray
    log_q: np.ndarray
    log_odds: np.ndarray

    def to_change(self, own: np.ndarray, copy: bool) -> Posterior:
        """Copy to be changed in place, without cached values.

        For models without pseudo-rows. ``copy`` if its arrays are shared.
        """
        names = ("total", "log_marginal", "log_q", "log_odds")
        arrays = {name: getattr(self, name) for name in names}
        if copy:
            arrays = {name: array.copy() for name, array in arrays.items()}
        return replace(self, own=own, known=arrays["total"], **arrays)

    @property
    def log_evidence(self) -> float:
        """Log probability of all targets, averaged over all trees and parameters."""
        return float(self.log_q[0] - self.model.log_of_unit(self.total[0]))

    @cached_property
    def g(self) -> np.ndarray:
        """Posterior probability that a tree that reaches the node splits there: (9)."""
        return special.expit(self.log_odds)

    @cached_property
    def stop(self) -> np.ndarray:
        """Posterior probability that a tree that reaches the node stops there.

        Not ``1 - g``, which rounds to 0 where g is nearly 1: where a row is far less
        probable below the node than at it, even that weight matters.
        """
        return special.expit(-self.log_odds)

    @cached_property
    def reach(self) -> np.ndarray:
        """Posterior probability that a tree has the node."""
        return _kernels.reach_down(self.structure.parent, self.g)

    @cached_property
    def leaf(self) -> np.ndarray:
        """Posterior probability that the node is a leaf of the tree: reach * stop."""
        return self.reach * self.stop

    @cached_property
    def kept(self) -> np.ndarray:
        """Share of degrees of freedom that each node has in quantiles.

        All, unless the hyperparameters are estimated: the rows then determine the scale
        twice, as data and as prior, so that ``n`` of them keep only ``n - 1`` of ``n -
        1 + SPENT + PER_SPLIT * depth``.
        """
        depth, n = self.structure.depth, self.model.estimated_from
        if not n:
            return np.ones(len(depth))
        # Weights may be in any unit in the first fit; rows may have been added since.
        left = max(n, float(self.model.weight_of(self.total[0]))) - 1.0
        return left / (left + SPENT + PER_SPLIT * depth)

    @cached_property
    def feature_used(self) -> np.ndarray:
        """Posterior probability that a tree splits on a feature anywhere."""
        s = self.structure
        return _kernels.use_of_features(
            s.parent, s.first_child, s.feature, self.g, s.n_features
        )

    @cached_property
    def _log_stop_and_split(self) -> tuple[np.ndarray, np.ndarray]:
        """Logs of the posterior 1 - g and of g; -inf where 0."""
        with np.errstate(divide="ignore"):
            return special.log_expit(-self.log_odds), special.log_expit(self.log_odds)

    @property
    def _tie(self) -> float:
        """Penalty per inner node, to prefer the smallest of equally probable trees."""
        return TIE * (1.0 + abs(self.log_q[0]))

    def map_tree(self) -> PrunedTree:
        """Most probable tree; among equally probable ones the smallest.

        Trees count as equally probable where their log probabilities differ by less
        than ``1e-12 (1 + |log evidence|)`` per additional inner node.

        Returns
        -------
        PrunedTree
        """
        s = self.structure
        log_stop, log_split = self._log_stop_and_split
        asks = _kernels.best_below(
            s.parent, s.first_child, log_stop, log_split - self._tie
        )
        return self.pruned(asks)

    def top_trees(self, k: int) -> list[PrunedTree]:
        """The ``k`` most probable trees, best first; ties as in :meth:`map_tree`.

        Parameters
        ----------
        k : int
            Number of trees; there may be fewer.

        Returns
        -------
        list of PrunedTree
        """
        s = self.structure
        log_stop, log_split = self._log_stop_and_split
        found = best_trees(
            s.first_child, s.n_children, log_stop, log_split - self._tie, k
        )
        trees = []
        for inner in found:
            asks = np.zeros(s.n_nodes, dtype=bool)
            asks[inner] = True
            trees.append(self.pruned(asks))
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
            Whether the drawn tree splits at the node.
        """
        rng = as_generator(random_state)
        asks = rng.random((n, self.structure.n_nodes)) < self.g
        _kernels.draw_down(self.structure.parent, asks)
        return asks

    def pruned(self, asks: np.ndarray) -> PrunedTree:
        """Tree with splits at given nodes, and its probability: (5).

        Parameters
        ----------
        asks : ndarray of bool of shape (n_nodes,)
            Whether the tree splits at the node, such as a row of :meth:`sample_trees`;
            entries below a node without a split are ignored.
        """
        s = self.structure
        asks = np.asarray(asks, dtype=bool) & ~s.is_leaf
        # One draw, of the splits of all nodes.
        _kernels.draw_down(s.parent, asks[None])
        exists = np.ones(s.n_nodes, dtype=bool)
        exists[1:] = asks[s.parent[1:]]
        inner, leaves = np.flatnonzero(asks), np.flatnonzero(exists & ~asks)
        log_stop, log_split = self._log_stop_and_split
        log_probability = float(log_split[inner].sum() + log_stop[leaves].sum())
        return PrunedTree(inner, leaves, log_probability)

    def path_weights(self, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the nodes on the path of a row in its prediction.

        Parameters
        ----------
        ends : ndarray of int of shape (n_ends,)
            Nodes where rows end, from ``Structure.route``.

        Returns
        -------
        nodes : ndarray of int32 of shape (n_ends, n_levels)
            The path from the root, padded with its end.
        weight : ndarray of shape (n_ends, n_levels)
            Posterior probability that the tree stops at the node; at the end all the
            rest, and 0 in the padding.
        """
        s, log_odds = self.structure, self.log_odds
        ends = np.asarray(ends, dtype=np.int32)
        width = int(s.depth[ends].max(initial=0)) + 1
        if "g" in vars(self) or 2 * width * len(ends) > s.n_nodes:
            return _kernels.paths_up(ends, s.parent, s.depth, self.g, self.stop, width)
        # Of few paths, not the g of all nodes.
        (nodes, parent, *_), ends, _ = _kernels.near_ways(
            ends, s.parent, s.first_child, log_odds[:, None], log_odds[:, None]
        )
        g, stop = special.expit(log_odds[nodes]), special.expit(-log_odds[nodes])
        ways, weight = _kernels.paths_up(ends, parent, s.depth[nodes], g, stop, width)
        return nodes[ways], weight


def tree_weights(log_evidence: Any) -> np.ndarray:
    """Posterior probabilities of several T_max, from their evidence on the same data.

    They are equally probable a priori.

    Parameters
    ----------
    log_evidence : array-like of shape (n_trees,)

    Returns
    -------
    ndarray of shape (n_trees,)

    Examples
    --------
    >>> import math
    >>> tree_weights([math.log(0.3), math.log(0.1)])
    array([0.75, 0.25])
    """
    return special.softmax(np.asarray(log_evidence, dtype=np.float64))
