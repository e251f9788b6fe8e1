"""Pareto fronts of densities, in size and likelihood (Krakovna, 4.2.3)."""

from __future__ import annotations

import copy
from collections.abc import Collection
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval
from clearwood.circuits.base import BaseSPN
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.estimators import MiniSPN
from clearwood.circuits.learning.clusters import ALPHA
from clearwood.circuits.learning.dependence import CRITICAL_P
from clearwood.circuits.learning.fitting import (
    PAPER_OPTIONS,
    LearningTable,
    Options,
    mini_spn,
    polished,
)
from clearwood.circuits.learning.pareto import likeliest, pareto_spn
from clearwood.circuits.nodes import Node
from clearwood.exceptions import InputError

NO_FRONT = (
    "This %(name)s has no front_: it is not fitted, or was read from a file, where "
    "only circuit_ is kept; choose a size before you save it."
)


class SizedCircuit(NamedTuple):
    """Circuit of the Pareto front: no smaller one is as likely.

    Attributes
    ----------
    degrees_of_freedom : int
    log_likelihood : float
        Mean log density of the held-out rows.
    circuit : Circuit
    """

    degrees_of_freedom: int
    log_likelihood: float
    circuit: Circuit


class ParetoSPN(BaseSPN):
    """Pareto front of sum-product networks in size and likelihood, by search (4.2.3).

    A population of networks starts with independent columns. In every iteration one of
    them grows: somewhere, rows are split into two clusters, or a group of columns is
    separated with two clusters of rows of its own, or dependent columns are joined in
    one leaf. A network stays until another one is no larger and no less likely. The
    result is a front: the likeliest network, and all smaller ones that are not
    dominated.

    It needs no critical values and no order of splits, and its networks are smaller
    than those of `MiniSPN`, for somewhat less likelihood.

    Parameters
    ----------
    n_iter : int, default=500
        Number of networks tried. More give larger and likelier ones.
    discrete : collection of str and int, default=()
        Names or positions of numeric columns that are codes; see `MiniSPN`.
    preset : {"paper"} or None, default=None
        Whether to search as the thesis does: a network is dropped only if another one
        is both smaller and likelier, discrete columns are never joined in a leaf, and
        EM does not refine the parameters of the likeliest network in the end.
    validation_fraction : float, default=0.1
        Share of validation rows, unless ``fit`` receives such rows. Without any,
        columns stay independent.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the validation split and of the search.

    Attributes
    ----------
    circuit_ : Circuit
        The likeliest network of the front, its parameters refined by EM.
    front_ : list of SizedCircuit
        In increasing order of size and likelihood, as found, without EM.
    degrees_of_freedom_ : int
        Number of parameters of ``circuit_``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    See Also
    --------
    HybridSPN : The same search, started from the network of MiniSPN.

    Notes
    -----
    Ctrl-C ends the search; the front so far is kept.

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, chapter 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coin = rng.integers(2, size=(300, 1))
    >>> X = np.hstack([coin, coin, coin ^ (rng.random((300, 1)) < 0.1)])
    >>> network = ParetoSPN(50, random_state=0).fit(X)
    >>> [one.degrees_of_freedom for one in network.front_]
    [3, 5]
    """

    front_: list[SizedCircuit]

    _parameter_constraints: dict[str, Any] = {
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        **{
            name: MiniSPN._parameter_constraints[name]
            for name in (
                *("discrete", "preset", "validation_fraction"),
                *("verbose", "random_state"),
            )
        },
    }

    n_networks, n_jobs = 1, None

    def __init__(
        self,
        n_iter: int = 500,
        *,
        discrete: Collection[str | int] = (),
        preset: str | None = None,
        validation_fraction: float = 0.1,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_iter = n_iter
        self.discrete = discrete
        self.preset = preset
        self.validation_fraction = validation_fraction
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        thesis = self.preset == "paper"
        options = PAPER_OPTIONS if thesis else Options()
        front = pareto_spn(
            table,
            self.n_iter,
            rng,
            seed=self._seed(table, options, rng),
            thesis=thesis,
            visible=bool(self.verbose),
        )
        units = self._units
        circuits = [
            Circuit(units.restored(one.root.node), table.features, self._table)
            for one in front
        ]
        plus = 0.0
        if len(table.valid):  # in the units of the table, the same for all
            own = circuits[0].log_density(units.unscaled(table.valid)).mean()
            plus = float(own) - front[0].log_likelihood
        self.front_ = [
            SizedCircuit(one.degrees_of_freedom, one.log_likelihood + plus, circuit)
            for one, circuit in zip(front, circuits)
        ]
        return polished(likeliest(front).root.node, ALPHA, table, options)

    def _seed(
        self, table: LearningTable, options: Options, rng: np.random.Generator
    ) -> Node | None:
        """Initial network of the search; None: independent columns."""
        return None

    def at_most(self, degrees_of_freedom: int) -> ParetoSPN:
        """Density with a smaller network of the front.

        Parameters
        ----------
        degrees_of_freedom : int
            Upper limit of the network.

        Returns
        -------
        ParetoSPN
            With the likeliest of these as ``circuit_``.
        """
        check_is_fitted(self, "front_", msg=NO_FRONT)
        small = [
            one for one in self.front_ if one.degrees_of_freedom <= degrees_of_freedom
        ]
        if not small:
            raise InputError(
                f"degrees_of_freedom is {degrees_of_freedom}, but the smallest network "
                f"has {self.front_[0].degrees_of_freedom}."
            )
        other = copy.copy(self)
        other.circuit_ = max(small, key=lambda one: one.log_likelihood).circuit
        return other


class HybridSPN(ParetoSPN):
    """MiniSPN, followed by the search of ParetoSPN from its network.

    The thesis compares such a hybrid and names it, but does not define it; this is our
    interpretation. The network of MiniSPN is the only initial member of the population;
    all of ``front_`` that is larger is likelier.

    Parameters
    ----------
    n_iter, discrete, preset, validation_fraction, verbose, random_state
        As in `ParetoSPN`.

    Attributes
    ----------
    circuit_, front_, degrees_of_freedom_, n_features_in_, feature_names_in_
        As in `ParetoSPN`.

    See Also
    --------
    MiniSPN, ParetoSPN

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, chapter 4.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coin = rng.integers(2, size=(300, 1))
    >>> X = np.hstack([coin, coin, coin ^ (rng.random((300, 1)) < 0.1)])
    >>> network = HybridSPN(10, random_state=0).fit(X)
    >>> np.exp(network.score_samples([[1, 1, 1], [1, 0, 1]])).round(1)
    array([0.5, 0. ])
    """

    def _seed(
        self, table: LearningTable, options: Options, rng: np.random.Generator
    ) -> Node | None:
        options = options._replace(hidden=False)  # which no step of the search changes
        return mini_spn(table, CRITICAL_P, options, rng)
