"""Meta-tree with updates: statistics in, posterior and predictions out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import LeafModel
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.posterior import (
    Posterior,
    add_below,
    compute_posterior,
    evidence_of_stopped,
)
from clearwood.metatree.posterior.predictive import (
    Predictive,
    predict_at,
    rows_at_a_time,
)
from clearwood.metatree.posterior.prior import constant_prior
from clearwood.metatree.posterior.structure import Structure, features_of_both

FEW = 8
"""Ratio of tree size to nodes on the paths of rows above which partial updates pay."""


class SufficientStatistics(NamedTuple):
    """Sufficient statistics of some rows, to be added to those of others.

    Attributes
    ----------
    own : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that end at each node.
    rows : ndarray of shape (n_nodes,) or None
        Number of these rows.
    features : FeatureSpace
        With the kinds of their numeric columns.
    """

    own: np.ndarray
    rows: np.ndarray | None
    features: FeatureSpace


class Learned:
    """State of a meta-tree.

    It is replaced in one step, so that an interrupt changes all of it or nothing; only
    values derived from it are cached in place.

    Parameters
    ----------
    structure : Structure or BareTree
        With the kinds of the rows' numeric columns.
    own : ndarray of shape (n_nodes, n_stats)
    rows : ndarray of shape (n_nodes,) or None
        As in :class:`SufficientStatistics`.
    most : ndarray of shape (n_nodes, n_stats) or None
        Largest statistics from which rows were removed.
    posterior : Posterior or None
    in_turn : bool
        Whether the posterior has the rounding of row-by-row updates.
    """

    handed_out = False
    """Whether the arrays may be shared, so that they must not change."""

    def __init__(
        self,
        structure: Any,
        own: np.ndarray,
        rows: np.ndarray | None,
        most: np.ndarray | None = None,
        posterior: Posterior | None = None,
        in_turn: bool = False,
    ) -> None:
        self.structure, self.own, self.rows, self.most = structure, own, rows, most
        self.posterior, self.in_turn = posterior, in_turn

    def __getstate__(self) -> dict[str, Any]:
        # After unpickling, the arrays are not shared.
        return {name: x for name, x in vars(self).items() if name != "handed_out"}


class MetaTree:
    """All prunings of one tree, with the exact posterior over them.

    The state consists of the sufficient statistics of the rows at the nodes where they
    end. Everything else is derived from these, so any order, batches and shards give
    the same posterior.

    Parameters
    ----------
    structure : Structure or BareTree
        T_max. The rows of a bare tree are routed by the caller.
    model : LeafModel
        Prior of every leaf.
    g : float, callable or array-like, default=0.5
        Prior probability of a split; see :func:`constant_prior` and
        :func:`search_corrected_prior`.

    Examples
    --------
    >>> from clearwood.metatree import BernoulliBeta, given
    >>> tree = MetaTree(given([0], n_values=2), BernoulliBeta(), g=0.4)
    >>> tree.update([[0], [0], [1], [1]], [0, 0, 1, 1]).posterior().g.round(3)
    array([0.8, 0. , 0. ])
    >>> tree.predictive([[0], [1]]).mean().round(3)
    array([0.233, 0.767])
    """

    def __init__(self, structure: Any, model: LeafModel, g: Any = 0.5) -> None:
        self.model = model
        self.g = constant_prior(structure, g)
        n = structure.n_nodes
        self._state = Learned(structure, model.no_rows(n), np.zeros(n, np.int64))

    @property
    def structure(self) -> Any:
        """The tree whose prunings are averaged."""
        return self._state.structure

    @property
    def own(self) -> np.ndarray:
        """Statistics of the rows that end at each node, (n_nodes, n_stats)."""
        return self._hand_out().own

    @property
    def rows(self) -> np.ndarray | None:
        """Number of rows that end at each node; None where only weights are known."""
        return self._hand_out().rows

    def _hand_out(self) -> Learned:
        state = self._state
        state.handed_out = True
        return state

    def __copy__(self) -> MetaTree:
        """Independent copy."""
        found = object.__new__(MetaTree)
        found.model, found.g, found._state = self.model, self.g, self._hand_out()
        return found

    def without_rows(self) -> MetaTree:
        """Same tree without learned rows."""
        return MetaTree(self.structure, self.model, self.g)

    def put(
        self, own: np.ndarray, rows: np.ndarray | None = None, **changes: Any
    ) -> None:
        """Set the statistics, and numbers of rows where known.

        ``changes``: further attributes of ``Learned`` to change.
        """
        state = self._state
        known = {"structure": state.structure, "most": state.most} | changes
        self._state = Learned(own=own, rows=rows, **known)

    @property
    def weight(self) -> float:
        """Sum of the weights of all learned rows."""
        return float(self.model.weight_of(self._state.own).sum())

    # Updates

    def merge(self, other: MetaTree) -> MetaTree:
        """Add what another meta-tree on the same structure has learned.

        Parameters
        ----------
        other : MetaTree
            With the same structure, leaf model and prior.

        Returns
        -------
        MetaTree
            The object itself.
        """
        self.check_mergeable(other)
        return self.add(
            SufficientStatistics(other.own, other.rows, other.structure.coder.features)
        )

    def add(self, more: SufficientStatistics) -> MetaTree:
        """Add the statistics of other rows."""
        known, own = self._state, self._state.own.copy()
        self.model.merge(own, more.own)
        if known.rows is None or more.rows is None:
            rows = None
        else:
            rows = known.rows + more.rows
        structure = features_of_both(known.structure, more.features)
        self.put(own, rows, structure=structure)
        return self

    def check_mergeable(self, other: MetaTree) -> None:
        """Raise unless another meta-tree is a shard of the same model."""
        if not self.structure.same_as(other.structure):
            raise InputError(
                "The two meta-trees have different splits; only shards of one "
                "structure can be merged."
            )
        if self.model != other.model:
            raise InputError(
                f"The two meta-trees have different leaves, {self.model} and "
                f"{other.model}; only shards of one model can be merged."
            )
        if not np.array_equal(self.g, other.g):
            node = int((self.g != other.g).argmax())
            raise InputError(
                "The two meta-trees have different priors: split_prior is "
                f"{self.g[node]:.3g} and {other.g[node]:.3g} at node {node}; make "
                "both with the same split_prior, such as that of the first."
            )

    def update(self, codes: Any, y: Any, weight: Any = None, x: Any = None) -> MetaTree:
        """Learn rows.

        Parameters
        ----------
        codes : array-like of int of shape (n_rows, n_features)
            From ``structure.encode``.
        y : array-like of shape (n_rows,)
        weight : array-like of shape (n_rows,), optional
            Weights of the rows, as numbers of repetitions.
        x : array-like of shape (n_rows, n_columns), optional
            Features that the leaf model reads.

        Returns
        -------
        MetaTree
            The object itself.
        """
        return self.update_at(self.structure.route(codes), y, weight, x)

    def update_at(
        self,
        ends: np.ndarray,
        y: Any,
        weight: Any = None,
        x: Any = None,
        structure: Structure | None = None,
    ) -> MetaTree:
        """Learn rows that end at known nodes; otherwise as :meth:`update`.

        ``structure``: the same, with the kinds of their numeric columns.
        """
        y, weight = check_rows(self.model, len(ends), y, weight)
        known = self._state
        structure = known.structure if structure is None else structure
        if self._are_few(ends) and structure is known.structure:
            return self._update_few(ends, y, weight, x)
        own, rows = known.own.copy(), known.rows
        self.model.add_rows(own, ends, y, weight, x)
        if rows is not None:
            rows = rows + _count(ends, weight, len(rows))
        self.put(own, rows, structure=structure)
        return self

    def _are_few(self, ends: np.ndarray) -> bool:
        """Whether a partial update pays, and gives the same result."""
        n_levels = self.structure.routing.depth + 1
        few = 0 < FEW * len(ends) * n_levels < self.structure.n_nodes
        return few and not self.model.lent and not self._state.in_turn

    def _update_few(
        self, ends: np.ndarray, y: np.ndarray, weight: np.ndarray, x: Any
    ) -> MetaTree:
        """Corollary 1: only nodes on the paths of rows change.

        Bit for bit as if everything were computed from all statistics anew.
        """
        model, state = self.model, self._state
        s, now = state.structure, state.posterior
        near, at, own = _kernels.near_ways(
            ends, s.parent, s.first_child, state.own, now.total if now else state.own
        )
        model.add_rows(own, at, y, weight, x)
        came = at, weight
        state = self._to_change()
        if state.posterior is None:
            _kernels.put_own(near, came, own, state.own, state.rows)
            return self
        _, parent, first_child, _ = near
        total = add_below(model, own, parent)
        log_marginal = model.log_marginal_in_unit(total)
        log_stopped = evidence_of_stopped(model, total, total, own, first_child)
        known = own, total, log_marginal, log_stopped
        _kernels.learn_near(near, came, known, self.g, _arrays_of(state))
        return self

    def _to_change(self, in_turn: bool = False) -> Learned:
        """State whose arrays are not shared, to change them in place."""
        state = self._state
        own, rows, now = state.own, state.rows, state.posterior
        # Arrays mapped from a file may be read-only.
        copies = state.handed_out or not own.flags.writeable
        if copies:
            own, rows = own.copy(), None if rows is None else rows.copy()
        if now is not None:
            now = now.to_change(own, copies)
        self._state = Learned(state.structure, own, rows, state.most, now, in_turn)
        return self._state

    def unlearn(
        self, codes: Any, y: Any, weight: Any = None, x: Any = None
    ) -> MetaTree:
        """Remove rows that were learned before.

        Exact given the structure. A structure that was grown on these rows still
        depends on them; grow another to remove them completely.

        Parameters
        ----------
        codes, y, weight, x
            As in :meth:`update`.

        Returns
        -------
        MetaTree
            The object itself.

        Raises
        ------
        InputError
            The rows cannot have been learned; nothing is changed then.
        """
        ends = self.structure.route(codes)
        gone = self.model.no_rows(self.structure.n_nodes)
        y, weight = check_rows(self.model, len(ends), y, weight)
        self.model.add_rows(gone, ends, y, weight, x)
        state = self._state
        rows = state.rows
        if rows is not None:
            rows = np.maximum(rows - _count(ends, weight, len(rows)), 0)
        # Removing rows one by one leaves the rounding of the largest sums behind.
        most = state.own if state.most is None else np.maximum(state.most, state.own)
        self.put(self.model.remove(state.own, gone, most), rows, most=most)
        return self

    def update_stream(self, codes: Any, y: Any, x: Any = None) -> np.ndarray:
        """Learn rows one after the other by Proposition 1.

        Parameters
        ----------
        codes, y, x
            As in :meth:`update`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log density of each row given all rows before it.
        """
        ends = self.structure.route(codes)
        y, _ = check_rows(self.model, len(ends), y, None)
        model, s = self.model, self.structure
        if model.lent:
            # A row affects all nodes below those on its path.
            return np.array(
                [self._learn_one(end, value) for end, value in zip(ends, y)]
            )
        y = y.astype(np.float64)
        z = y[:, None] if model.n_columns is None else model.columns(y, x)
        self.current()
        learned = _arrays_of(self._to_change(in_turn=True))
        return _kernels.learn_in_turn(
            ends, z, s.parent, s.first_child, model.kind, model.prior, learned
        ) - math.log(model.unit)

    def _learn_one(self, end: int, y: float) -> float:
        at, value = np.array([end]), np.array([y])
        log_density = predict_at(self.current(), at).log_density(value)
        self.update_at(at, value)
        return float(log_density[0])

    # Posterior

    def current(self) -> Posterior:
        """Posterior; it may change with the next rows."""
        state = self._state
        if state.posterior is None:
            state.posterior = compute_posterior(
                state.structure, self.model, self.g, state.own
            )
        return state.posterior

    def posterior(self) -> Posterior:
        """Posterior given all rows so far; it does not change with later ones."""
        found = self.current()
        self._hand_out()
        return found

    @property
    def log_evidence(self) -> float:
        """Log probability of all learned targets, given their rows."""
        return self.current().log_evidence

    # Prediction

    def predictive(self, codes: Any, x: Any = None) -> Predictive:
        """Predictive distribution of each row.

        Parameters
        ----------
        codes : array-like of int of shape (n_rows, n_features)
        x : array-like of shape (n_rows, n_columns), optional
            Features that the leaf model reads.

        Returns
        -------
        Predictive
        """
        return predict_at(self.current(), self.structure.route(codes), x)

    def probabilities(self, codes: np.ndarray) -> np.ndarray:
        """Class probabilities, of shape (n_rows, n_classes)."""
        width = self.structure.routing.depth + 1
        batches = rows_at_a_time(len(codes), width, self.model)
        parts = [self.predictive(codes[rows]).probabilities() for rows in batches]
        return np.concatenate(parts)


def check_rows(
    model: LeafModel, n_rows: int, y: Any, weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Validate targets and weights of rows; one weight of 1 where there are none."""
    y = model.check_target(y)
    if weight is None and len(y) == n_rows:
        return y, np.ones(1)
    weight = np.asarray(1.0 if weight is None else weight, dtype=np.float64)
    if len(y) != n_rows or weight.shape != y.shape:
        raise InputError(
            f"Found {n_rows} rows of codes, {len(y)} targets and weights of the shape "
            f"{weight.shape}; pass one of each per row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("Weights must be finite and not negative.")
    return y, weight


def _arrays_of(state: Learned) -> tuple[Any, ...]:
    """Arrays that kernels change: statistics, the posterior, numbers of rows."""
    now: Any = state.posterior
    return (
        state.own, now.total, now.log_marginal, now.log_q, now.log_odds, state.rows
    )  # fmt: skip


def _count(ends: np.ndarray, weight: np.ndarray, n_nodes: int) -> np.ndarray:
    ends = ends[np.broadcast_to(weight > 0, ends.shape)]
    return np.bincount(ends, minlength=n_nodes)
