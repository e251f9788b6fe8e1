"""A meta-tree that learns: statistics in, posterior and predictions out."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.conjugate import statistics
from clearwood.conjugate.models import LeafModel
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.posterior import (
    Posterior,
    _kernels,
    compute_posterior,
)
from clearwood.metatree.posterior.predictive import Predictive, predict_at
from clearwood.metatree.posterior.prior import constant_prior
from clearwood.metatree.posterior.structure import Structure


class MetaTree:
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

    def __init__(self, structure: Structure, model: LeafModel, g: Any = 0.5) -> None:
        self.structure = structure
        self.model = model
        self.g = constant_prior(structure, g)
        self.own = statistics.no_rows(model, structure.n_nodes)
        self._posterior: Posterior | None = None
        # Whether somebody else holds the posterior, so that it must not change.
        self._handed_out = False

    @property
    def weight(self) -> float:
        """Sum of the weights of all rows learned."""
        return float(self.model.weight_of(self.own).sum())

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
        self, ends: np.ndarray, y: Any, weight: Any = None, x: Any = None
    ) -> MetaTree:
        """Learn rows that end at known nodes; otherwise as :meth:`update`."""
        y, weight = self._check_rows(ends, y, weight)
        self._before_change()
        statistics.add_rows(self.model, self.own, ends, y, weight, x)
        return self

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
        y, weight = self._check_rows(ends, y, weight)
        gone = statistics.no_rows(self.model, self.structure.n_nodes)
        statistics.add_rows(self.model, gone, ends, y, weight, x)
        left = statistics.remove(self.model, self.own, gone)
        self._before_change()
        self.own = left
        return self

    def merge(self, other: MetaTree) -> MetaTree:
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
        self._before_change()
        statistics.merge(self.model, self.own, other.own)
        return self

    def check_mergeable(self, other: MetaTree) -> None:
        """Refuse another meta-tree that is no shard of the same model."""
        if not self.structure.same_as(other.structure):
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
        y = y.astype(np.float64)
        z = y[:, None] if model.n_columns is None else model.columns(y, x)
        now = self._current()
        if self._handed_out:
            now = now.copy()
            self.own = now.own
        # Without what it has computed from its arrays, as these change now.
        self._posterior = Posterior(
            s, model, now.own, now.total, now.log_marginal, now.log_q, now.log_odds
        )
        self._handed_out = False
        return _kernels.learn_in_turn(
            ends, z, s.parent, s.first_child, model.kind, model.prior, now.own,
            now.total, now.log_marginal, now.log_q, now.log_odds,
        )  # fmt: skip

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

    def _before_change(self) -> None:
        """Forget the posterior; leave the statistics to those who hold them."""
        if self._handed_out:
            self.own = self.own.copy()
        self._posterior = None
        self._handed_out = False

    # What it knows

    def _current(self) -> Posterior:
        if self._posterior is None:
            self._posterior = compute_posterior(
                self.structure, self.model, self.g, self.own
            )
        return self._posterior

    def posterior(self) -> Posterior:
        """The posterior given all rows so far; it does not change with later ones."""
        self._handed_out = True
        return self._current()

    @property
    def log_evidence(self) -> float:
        """Log probability of all targets learned, given their rows."""
        return self._current().log_evidence

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
        return predict_at(self._current(), self.structure.route(codes), x)
