"""Plots of the fit of a hidden Markov model: its chains, its number of states."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.display import Display
from clearwood.charts.marks import Level, Mark, Points
from clearwood.charts.sweeps import sweeps_chart
from clearwood.exceptions import InputError
from clearwood.sequences.reading.markov_states import check_model


@dataclass(eq=False, repr=False)
class SweepsDisplay(Display):
    """Trace plot of the log-likelihood, one line per chain; or the history of EM.

    Chains that agree vary within the same band. Separate bands mean that the chains
    found different states: the posterior is multimodal.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    values : array-like of shape (n_chains, n_draws)
    what : str, default="log-likelihood"
    rhat : float, default=NaN

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> SweepsDisplay([[-9, -8, -8], [-8, -9, -7]]).plot().ax_.get_ylabel()
    'log-likelihood'
    """

    values: Any
    what: str = "log-likelihood"
    rhat: float = math.nan

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> SweepsDisplay:
        """Create the display from the chains, or the iterations, of a fitted model.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        SweepsDisplay
        """
        model = check_model(estimator)
        check_is_fitted(model, ["startprob_"])
        chains, history = (getattr(model, n, None) for n in ("chains_", "history_"))
        if history:
            return cls([history], "log posterior density").plot(ax)
        if chains is None:
            raise InputError(
                "There are no chains: parameters were set by hand, or the model was "
                "loaded from a file, which does not keep them."
            )
        name = "log_likelihood"
        return cls(chains.draws[name], rhat=chains.diagnose()[name].rhat).plot(ax)

    def chart(self) -> Chart:
        """Chart with a line for every chain."""
        across = "draw" if len(np.atleast_2d(self.values)) > 1 else "iteration"
        return sweeps_chart(self.values, self.rhat, self.what, across)


@dataclass(eq=False, repr=False)
class StateNumbersDisplay(Display):
    """Plot of the held-out log-likelihood per step by number of states.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    scores : dict of int to float
        Log-likelihood by number of states.
    selected : int
        The selected number: the smallest within a standard error of the best.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> StateNumbersDisplay({1: -9, 2: -8, 3: -8.1}, 2).plot().ax_.get_xlabel()
    'states'
    """

    scores: Mapping[int, float]
    selected: int

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> StateNumbersDisplay:
        """Create the display from a model fitted with ``n_states="auto"``.

        Parameters
        ----------
        estimator : HiddenMarkovModel
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        StateNumbersDisplay
        """
        return cls.of_result(estimator).plot(ax)

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """The numbers of states of a fitted model."""
        model = check_model(result)
        if not hasattr(model, "held_out_scores_"):
            raise InputError(
                "The number of states was set, not selected: fit with n_states='auto'."
            )
        return cls(model.held_out_scores_, model.n_states_)

    def chart(self) -> Chart:
        """Chart with a line, and the selected number."""
        sizes = list(self.scores)
        marks: list[Mark] = [
            Points(sizes, list(self.scores.values()), dots=6.0),
            Level(self.selected, "x", "selected", "quiet"),
        ]
        up = Axis("held-out log-likelihood per step")
        panel = Panel(marks, Axis("states", is_whole=True), up)
        return Chart("Held-out log-likelihood by number of states", [panel])
