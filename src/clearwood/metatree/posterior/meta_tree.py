"""A meta-tree that learns: statistics in, posterior and predictions out."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.columns.feature_space import FeatureSpace
from clearwood.conjugate import LeafModel
from clearwood.conjugate.dispatch import kind_of
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
from clearwood.metatree.posterior.structure import Structure, told_of_both

FEW = 8
"""Times the nodes on the ways of rows; in trees of more it pays to touch only those."""


class Taught(NamedTuple):
    """What some rows teach a meta-tree, to be added to what others do.

    Attributes
    ----------
    own : ndarray of shape (n_nodes, n_stats)
        Statistics of the rows that end at each node.
    rows : ndarray of shape (n_nodes,) or None
        Numbers of them.
    features : FeatureSpace
        Of which kinds the numbers in them are.
    """

    own: np.ndarray
    rows: np.ndarray | None
    features: FeatureSpace


class BareMetaTree:
    """What rows at the nodes of one tree have taught, however they came there.

    Parameters
    ----------
    structure : Structure or BareTree
    model : LeafModel
    g : ndarray of shape (n_nodes,)
        Prior of asking on, as the functions in ``prior`` give it.
    """

    structure: Any
    _own: np.ndarray
    _rows: np.ndarray | None
    _posterior: Posterior | None
    _in_turn: bool
    """Whether the posterior has the rounding of rows that came in turn."""
    _handed_out: bool
    """Whether somebody else may hold its arrays, so that they must not change."""
    _most: np.ndarray | None = None

    def __init__(self, structure: Any, model: LeafModel, g: np.ndarray) -> None:
        self.structure = structure
        self.model = model
        self.g = g
        self.put(model.no_rows(structure.n_nodes))

    @property
    def own(self) -> np.ndarray:
        """Statistics of the rows that end at each node, (n_nodes, n_stats)."""
        self._handed_out = True
        return self._own

    @own.setter
    def own(self, own: np.ndarray) -> None:
        self.put(own)
        self._handed_out = True

    @property
    def rows(self) -> np.ndarray | None:
        """Numbers of the rows that end at each node; None where only weights are."""
        self._handed_out = True
        return self._rows

    def __copy__(self) -> Any:
        """Another that knows the same."""
        self._handed_out = True
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        return found

    def put(
        self,
        own: np.ndarray,
        rows: np.ndarray | None = None,
        most: np.ndarray | None = None,
        **told: Any,
    ) -> None:
        """Take over statistics, numbers of rows where known, and what was the most.

        ``told``: what else is to be known of the rows, in the same step.
        """
        # In one step, so that an interrupt leaves the old or the new.
        most = self._most if most is None else most
        new = {"_own": own, "_rows": rows, "_most": most, **told}
        self.__dict__.update(new, _posterior=None, _in_turn=False, _handed_out=False)

    @property
    def weight(self) -> float:
        """Sum of the weights of all rows learned."""
        return float(self.model.weight_of(self._own).sum())

    # Learning

    def merge(self, other: BareMetaTree) -> Any:
        """Add what another meta-tree on the same structure has learned.

        Parameters
        ----------
        other : MetaTree
            With the same structure, leaf model and prior.

        Returns
        -------
        MetaTree
            Itself.
        """
        self.check_mergeable(other)
        return self.add(other.own, other.rows, **self._told_of(other))

    def add(self, own: np.ndarray, rows: np.ndarray | None, **told: Any) -> Any:
        """Add statistics of other rows, and their numbers where known.

        ``told``: see :meth:`put`.
        """
        both = self._own.copy()
        self.model.merge(both, own)
        known = self._rows
        self.put(both, None if known is None or rows is None else known + rows, **told)
        return self

    def _told_of(self, other: Any) -> dict[str, Any]:
        """What is to be said of the rows of another too."""
        return {}

    def check_mergeable(self, other: BareMetaTree) -> None:
        """Refuse another meta-tree that is no shard of the same model."""
        if not self._asks_as(other):
            raise InputError(
                "The two meta-trees ask different questions; only shards of one "
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
                f"The two meta-trees have different priors: g is {self.g[node]:.3g} "
                f"and {other.g[node]:.3g} at node {node}; make both with the same g, "
                "such as that of the first."
            )

    def _asks_as(self, other: BareMetaTree) -> bool:
        mine, its = self.structure, other.structure
        return np.array_equal(mine.first_child, its.first_child)

    # What it knows

    def current(self) -> Posterior:
        """The posterior; it may change with the next rows."""
        if self._posterior is None:
            self._posterior = compute_posterior(
                self.structure, self.model, self.g, self._own
            )
        return self._posterior

    def posterior(self) -> Posterior:
        """The posterior given all rows so far; it does not change with later ones."""
        found = self.current()
        self._handed_out = True
        return found

    @property
    def log_evidence(self) -> float:
        """Log probability of all targets learned, given their rows."""
        return self.current().log_evidence


class MetaTree(BareMetaTree):
    """All prunings of one tree, with the exact posterior over them.

    What it knows of the rows is their sufficient statistics at the nodes where they
    end. Everything else follows from these, so any order, any batches and any shards
    give the same posterior.

    Parameters
    ----------
    structure : Structure
        T_max.
    model : LeafModel
        Prior of every leaf.
    g : float or array-like, default=0.5
        Prior probability of asking on; see :func:`constant_prior` and
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

    structure: Structure

    def __init__(self, structure: Structure, model: LeafModel, g: Any = 0.5) -> None:
        super().__init__(structure, model, constant_prior(structure, g))
        self._rows = np.zeros(structure.n_nodes, np.int64)

    def without_rows(self) -> MetaTree:
        """The same tree, which has learned nothing."""
        return MetaTree(self.structure, self.model, self.g)

    def _told_of(self, other: Any) -> dict[str, Any]:
        its = other.structure.coder.features
        return {"structure": told_of_both(self.structure, its)}

    def _asks_as(self, other: BareMetaTree) -> bool:
        return self.structure.same_as(other.structure)

    # Learning

    def update(self, codes: Any, y: Any, weight: Any = None, x: Any = None) -> MetaTree:
        """Learn rows.

        Parameters
        ----------
        codes : array-like of int of shape (n_rows, n_features)
            From ``structure.encode``.
        y : array-like of shape (n_rows,)
        weight : array-like of shape (n_rows,), optional
            How often each row counts.
        x : array-like of shape (n_rows, n_columns), optional
            Features that the leaf model reads.

        Returns
        -------
        MetaTree
            Itself.
        """
        return self.update_at(self.structure.route(codes), y, weight, x)

    def update_at(
        self, ends: np.ndarray, y: Any, weight: Any = None, x: Any = None, **told: Any
    ) -> MetaTree:
        """Learn rows that end at known nodes; otherwise as :meth:`update`.

        ``told``: see :meth:`put`.
        """
        y, weight = self._check_rows(ends, y, weight)
        if self._are_few(ends) and all(
            getattr(self, name) is value for name, value in told.items()
        ):
            return self._update_few(ends, y, weight, x)
        own, rows = self._own.copy(), self._rows
        self.model.add_rows(own, ends, y, weight, x)
        if rows is not None:
            rows = rows + _count(ends, weight, len(rows))
        self.put(own, rows, **told)
        return self

    def _are_few(self, ends: np.ndarray) -> bool:
        """Whether it pays, and makes no difference, to change only what rows change."""
        n_levels = self.structure.routing.depth + 1
        few = 0 < FEW * len(ends) * n_levels < self.structure.n_nodes
        return few and not self.model.borrowed and not self._in_turn

    def _update_few(
        self, ends: np.ndarray, y: np.ndarray, weight: np.ndarray, x: Any
    ) -> MetaTree:
        """Corollary 1: only nodes on the ways of rows change.

        To the last bit as all would be computed from all statistics anew.
        """
        model, s, now = self.model, self.structure, self._posterior
        near, at, own = _kernels.near_ways(
            ends, s.parent, s.first_child, self._own, now.total if now else self._own
        )
        model.add_rows(own, at, y, weight, x)
        came = at, weight
        if now is None:
            self._to_change()
            _kernels.put_own(near, came, own, self._own, self._rows)
            return self
        _, parent, first_child, _ = near
        total = add_below(model, own, parent)
        log_marginal = model.log_marginal_in_unit(total)
        log_stopped = evidence_of_stopped(model, total, own, first_child)
        known = own, total, log_marginal, log_stopped
        _kernels.learn_near(near, came, known, self.g, self._to_change())
        return self

    def _to_change(self) -> tuple[Any, ...] | None:
        """Have all arrays that rows change to oneself, to change them in place.

        Returns
        -------
        tuple of ndarray or None
            Own statistics and total, log_marginal, log_q and log_odds of the posterior,
            numbers of rows; None where no posterior is known.
        """
        own, rows, now = self._own, self._rows, self._posterior
        # What is mapped from a file may not be writable.
        copies = self._handed_out or not own.flags.writeable
        if copies:
            own, rows = own.copy(), None if rows is None else rows.copy()
        if now is not None:
            now = now.to_change(own, copies)
        self.__dict__.update(_own=own, _rows=rows, _posterior=now, _handed_out=False)
        if now is None:
            return None
        return own, now.total, now.log_marginal, now.log_q, now.log_odds, rows

    def unlearn(
        self, codes: Any, y: Any, weight: Any = None, x: Any = None
    ) -> MetaTree:
        """Take rows out again that were learned before.

        Exact given the structure. A structure that was grown on these rows still
        knows them; grow another to forget them altogether.

        Parameters
        ----------
        codes, y, weight, x
            As in :meth:`update`.

        Returns
        -------
        MetaTree
            Itself.

        Raises
        ------
        InputError
            The rows cannot have been learned; nothing is changed then.
        """
        ends = self.structure.route(codes)
        gone = self.model.no_rows(self.structure.n_nodes)
        y, weight = self._check_rows(ends, y, weight)
        self.model.add_rows(gone, ends, y, weight, x)
        rows = self._rows
        if rows is not None:
            rows = np.maximum(rows - _count(ends, weight, len(rows)), 0)
        # Rows taken out one by one leave the rounding of the largest sums behind.
        most = self._own if self._most is None else np.maximum(self._most, self._own)
        own = self.model.remove(self._own, gone, most)
        self.put(own, rows, most)
        return self

    def update_one(self, codes: Any, y: float, x: Any = None) -> float:
        """Learn one row by Proposition 1, which changes only the nodes on its way.

        Parameters
        ----------
        codes : array-like of int of shape (n_features,)
        y : float
        x : array-like of shape (n_columns,), optional

        Returns
        -------
        float
            Log density of the row given all rows before.
        """
        x = None if x is None else np.asarray(x)[None]
        return float(self.update_stream(np.asarray(codes)[None], [y], x)[0])

    def update_stream(self, codes: Any, y: Any, x: Any = None) -> np.ndarray:
        """Learn rows one after the other by Proposition 1.

        Parameters
        ----------
        codes, y, x
            As in :meth:`update`.

        Returns
        -------
        ndarray of shape (n_rows,)
            Log density of every row given all rows before it.
        """
        ends = self.structure.route(codes)
        y, _ = self._check_rows(ends, y, None)
        model, s = self.model, self.structure
        if model.borrowed:
            # What a row changes it changes in all nodes below those on its way.
            return np.array(
                [self._learn_one(end, value) for end, value in zip(ends, y)]
            )
        y = y.astype(np.float64)
        z = y[:, None] if model.n_columns is None else model.columns(y, x)
        kind = kind_of(model)
        self.current()
        learned = self._to_change()
        self._in_turn = True
        return _kernels.learn_in_turn(
            ends, z, s.parent, s.first_child, kind, model.prior, learned
        ) - math.log(model.unit)

    def _learn_one(self, end: int, y: float) -> float:
        at, value = np.array([end]), np.array([y])
        log_density = predict_at(self.current(), at).log_density(value)
        self.update_at(at, value)
        return float(log_density[0])

    def _check_rows(
        self, ends: np.ndarray, y: Any, weight: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        y = self.model.check_target(y)
        if weight is None and len(y) == len(ends):
            return y, np.ones(1)
        weight = np.asarray(1.0 if weight is None else weight, dtype=np.float64)
        if len(y) != len(ends) or weight.shape != y.shape:
            raise InputError(
                f"Found {len(ends)} rows of codes, {len(y)} targets and weights of "
                f"the shape {weight.shape}; give one of each per row."
            )
        if not np.isfinite(weight).all() or (weight < 0).any():
            raise InputError("weight must be finite and not negative.")
        return y, weight

    # Predicting

    def predictive(self, codes: Any, x: Any = None) -> Predictive:
        """The predictive distribution of every row.

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
        """Probability of every class, of shape (n_rows, n_classes)."""
        width = self.structure.routing.depth + 1
        batches = rows_at_a_time(len(codes), width, self.model)
        parts = [self.predictive(codes[rows]).probabilities() for rows in batches]
        return np.concatenate(parts)


def _count(ends: np.ndarray, weight: np.ndarray, n_nodes: int) -> np.ndarray:
    """Numbers of the rows that end at each node and have weight."""
    ends = ends[np.broadcast_to(weight > 0, ends.shape)]
    return np.bincount(ends, minlength=n_nodes)
