"""Density estimators for mixed tables: MiniSPN and LearnSPN (Krakovna, 4.2)."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np

from clearwood._estimators import Interval, StrOptions
from clearwood._warned_once import users_level
from clearwood.circuits.base import BaseSPN
from clearwood.circuits.learning.dependence import CRITICAL_P
from clearwood.circuits.learning.fitting import (
    CRITICAL_PS,
    MIXTURE_OPTIONS,
    PAPER_OPTIONS,
    PENALTIES,
    LearningTable,
    Options,
    latent_tree,
    learn_spn,
    mini_spn,
)
from clearwood.circuits.learning.hidden_trees import N_STATES
from clearwood.circuits.nodes import Node
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import TableVariables
from clearwood.exceptions import IndependentColumnsWarning

MOST_NAMED = 3
"""Maximum number of columns that a warning names."""


def options_for(preset: str | None, n_networks: int) -> Options:
    """Options that a learner leaves to the validation rows."""
    if preset == "paper":
        return PAPER_OPTIONS
    return Options() if n_networks == 1 else MIXTURE_OPTIONS


SHARED: dict[str, Any] = {
    "discrete": ["array-like", set],
    "n_networks": [Interval(Integral, 1, None, closed="left")],
    "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
    "random_state": "no_validation",
}
"""Constraints of the parameters of all learners of one density."""


class MiniSPN(BaseSPN):
    """Sum-product network for mixed tables with missing cells (4.2.2).

    A density of rows with exact inference: densities of rows, distributions of missing
    cells, conditional queries. Rows are split into two clusters as long as the
    likelihood of held-out rows rises; then columns into independent groups, in which
    rows are split again. Finally, a part is replaced by a tree of its columns where
    that raises the held-out likelihood, and the whole by a `LatentTreeSPN`. Strings,
    numbers and Booleans may be mixed, and missing cells are left out of all counts,
    never imputed.

    Parameters
    ----------
    significance_level : float, default=0.0005
        Significance level of the chi-square test of two columns' independence; below it
        they are dependent.
    discrete : collection of str and int, default=()
        Names or positions of numeric columns that are codes. Strings, Booleans,
        categories and numbers of at most five values are always discrete.
    preset : {"paper"} or None, default=None
        Whether to learn as the thesis does: clusters start once, from two random rows,
        no smoothing but .1, columns that cannot be split become independent though they
        are not, and parameters are estimated from the rows that reached them. By
        default there are ten starts for the first split, dependent discrete columns may
        become a tree, a part is replaced by such a tree where held-out rows prefer it,
        leaves and smoothing are chosen on these rows, EM improves all parameters
        jointly, and a latent tree of the whole table takes the place of the network if
        held-out rows are likelier under it.
    n_networks : int, default=1
        Number of networks, from different seeds, whose mixture is the density. Five
        have a higher likelihood than one, which is interpretable.
    validation_fraction : float, default=0.1
        Share of validation rows, unless ``fit`` receives such rows.
    n_jobs : int, default=None
        Number of parallel jobs, one network each. The result does not depend on it.
    verbose : bool, default=False
        Show progress on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the validation split and of the starts.

    Attributes
    ----------
    circuit_ : Circuit
        The density, for inspection.
    degrees_of_freedom_ : int
        Number of its parameters.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    See Also
    --------
    LearnSPN : Splits columns first, and rows into many clusters.
    LatentTreeSPN : Likelier where many columns depend on each other.

    Notes
    -----
    Of more than 50,000 training rows, a random sample of that size determines the
    structure, and EM estimates the parameters from all rows. With ``preset="paper"``
    all rows determine both.

    Continuous columns have densities, so the log density has the unit of the data:
    a column in grams in place of kilograms adds a constant. Rows have no weights: tests
    of independence need to know how many there are.

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, chapter 4.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"smokes": ["yes", "no"] * 100, "coughs": ["yes", "no", None, "no"] * 50}
    ... )
    >>> network = MiniSPN(random_state=0).fit(table)
    >>> both = pd.DataFrame({"smokes": ["yes", "yes"], "coughs": ["yes", "no"]})
    >>> np.exp(network.score_samples(both)).round(1)
    array([0.5, 0. ])
    """

    _parameter_constraints: dict[str, Any] = {
        "significance_level": [Interval(Real, 0, 1, closed="neither")],
        "preset": [None, StrOptions({"paper"})],
        **SHARED,
    }

    def __init__(
        self,
        significance_level: float = CRITICAL_P,
        *,
        discrete: Collection[str | int] = (),
        preset: str | None = None,
        n_networks: int = 1,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.significance_level = significance_level
        self.discrete = discrete
        self.preset = preset
        self.n_networks = n_networks
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        options = options_for(self.preset, self.n_networks)
        return mini_spn(table, self.significance_level, options, rng)


class LearnSPN(BaseSPN):
    """Sum-product network by the original algorithm, which MiniSPN simplifies (4.2.1).

    Columns are split first, by a G-test; then rows into as many clusters as pay the
    penalty per cluster. The input is as for `MiniSPN`, with missing cells, where the
    original took complete tables of discrete columns.

    Parameters
    ----------
    penalty : float or None, default=None
        Penalty of a cluster on the log-likelihood, per column. None: chosen on the
        held-out rows, among .2, .4, .6 and .8, the grid of the original.
    significance_level : float or None, default=None
        Significance level of the G-test of two columns' independence; below it they are
        dependent. None: chosen from .0001 and .0015.
    discrete, preset, n_networks, validation_fraction, n_jobs, verbose, random_state
        As in `MiniSPN`.

    Attributes
    ----------
    circuit_ : Circuit
        The density, for inspection.
    degrees_of_freedom_ : int
        Number of its parameters.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    See Also
    --------
    MiniSPN : Faster; as good where there are many rows per column.

    References
    ----------
    Gens and Domingos, "Learning the Structure of Sum-Product Networks", ICML 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coin = rng.integers(2, size=(200, 1))
    >>> X = np.hstack([coin, coin, rng.integers(2, size=(200, 1))])
    >>> network = LearnSPN(random_state=0).fit(X)
    >>> np.exp(network.score_samples([[1, 1, 0], [1, 0, 0]])).round(1)
    array([0.3, 0. ])
    """

    _parameter_constraints: dict[str, Any] = {
        **MiniSPN._parameter_constraints,
        "penalty": [None, Interval(Real, 0, None, closed="left")],
        "significance_level": [None, Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        penalty: float | None = None,
        significance_level: float | None = None,
        *,
        discrete: Collection[str | int] = (),
        preset: str | None = None,
        n_networks: int = 1,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.penalty = penalty
        self.significance_level = significance_level
        self.discrete = discrete
        self.preset = preset
        self.n_networks = n_networks
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        options = options_for(self.preset, self.n_networks)
        penalties = PENALTIES if self.penalty is None else (self.penalty,)
        critical_ps = (
            CRITICAL_PS
            if self.significance_level is None
            else (self.significance_level,)
        )
        return learn_spn(table, penalties, critical_ps, options, rng)


class LatentTreeSPN(BaseSPN):
    """Hidden Chow-Liu tree: the columns depend on each other by hidden variables.

    Each discrete column has a hidden variable, and these form the Chow-Liu tree of the
    columns. All parameters are learned by EM, which leaves missing cells out. Where
    many columns depend on each other it is likelier than networks that split rows and
    columns, and has no clusters of rows to read.

    Parameters
    ----------
    n_states : int or None, default=None
        Number of states of each hidden variable. None: chosen on the held-out rows,
        among 4, 8 and 16. The time is proportional to its square. If the Chow-Liu tree
        without hidden variables is as likely, it is kept.
    discrete, n_networks, validation_fraction, n_jobs, verbose, random_state
        As in `MiniSPN`.

    Attributes
    ----------
    circuit_ : Circuit
        The density, for inspection.
    degrees_of_freedom_ : int
        Number of its parameters.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    See Also
    --------
    MiniSPN : Clusters of rows; selects a latent tree if held-out rows are likelier.

    Notes
    -----
    Hidden variables are discrete, and so are the columns of the tree: those that are
    continuous have a normal distribution, independent of the tree, and ``fit`` warns of
    them. `MiniSPN` models their dependence.

    References
    ----------
    Liu and Van den Broeck, "Tractable Regularization of Probabilistic Circuits",
    NeurIPS 2021, where it is the structure of the circuits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> steps = rng.random((400, 6)) < 0.1
    >>> X = (np.cumsum(steps, axis=1) + rng.integers(2, size=(400, 1))) % 2
    >>> network = LatentTreeSPN(random_state=0).fit(X[:300])
    >>> network.conditional([[0, 0, np.nan, 0, 0, 0]])["x2"].probabilities.round(1)
    array([[0.9, 0.1]])
    """

    _parameter_constraints: dict[str, Any] = {
        "n_states": [None, Interval(Integral, 1, None, closed="left")],
        **SHARED,
    }

    preset = None

    def __init__(
        self,
        n_states: int | None = None,
        *,
        discrete: Collection[str | int] = (),
        n_networks: int = 1,
        validation_fraction: float = 0.1,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.discrete = discrete
        self.n_networks = n_networks
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def variables_of(self, columns: FeatureSpace, values: np.ndarray) -> TableVariables:
        """Variables of the columns, with a warning of those outside of the tree."""
        outside = [j for j, own in enumerate(columns.categories) if own is None]
        if outside and columns.n_features > 1:
            names = [repr(columns.names[j]) for j in outside[:MOST_NAMED]]
            more = len(outside) - len(names)
            names += [f"{more:,} more"] if more else []
            warnings.warn(
                f"LatentTreeSPN models continuous columns ({', '.join(names)}) by "
                "normal distributions that are independent of all other columns. Use "
                "MiniSPN, which models their dependence; if they are codes, declare "
                "them with discrete=.",
                IndependentColumnsWarning,
                stacklevel=users_level(),
            )
        return super().variables_of(columns, values)

    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        n_states = N_STATES if self.n_states is None else (self.n_states,)
        return latent_tree(table, n_states, Options(), rng)
