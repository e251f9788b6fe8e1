"""Plots: fidelity by number of states, and surprisal along a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.charts.chart import Axis, Chart
from clearwood.charts.display import Display
from clearwood.charts.marks import Level
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.reading.charts import two_lines
from clearwood.sequences.reading.markov_states import check_model, step_surprisal
from clearwood.sequences.reading.state_words import visible, written
from clearwood.sequences.reading.states_display import steps_shown
from clearwood.sequences.recurrent.explain_rnn import (
    RecurrentExplanation,
    SizeTried,
    check_explanation,
)
from clearwood.sequences.recurrent.fidelity import CONSTANT, LAST, NetworkFidelity
from clearwood.sequences.symbols import symbol_cells


@dataclass(eq=False, repr=False)
class FidelityCurveDisplay(Display):
    """Plot of the divergence from a network by number of states.

    One line for states read from the network, one for the automaton alone; horizontal
    lines for tables of the last 1, 2 and 3 symbols.

    Create it with :meth:`from_explanation`.

    Parameters
    ----------
    curve : sequence of SizeTried
    fidelity : NetworkFidelity

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    curve: Sequence[SizeTried]
    fidelity: NetworkFidelity

    @classmethod
    def from_explanation(cls, explanation: Any) -> FidelityCurveDisplay:
        """Create the display from all numbers of states that were tried.

        Parameters
        ----------
        explanation : RecurrentExplanation
            Preferably with ``n_states="auto"`` or several numbers.

        Returns
        -------
        FidelityCurveDisplay
        """
        found = check_explanation(explanation)
        return cls(found.curve_, found.fidelity_)

    def chart(self) -> Chart:
        """Chart of both lines, and the tables."""
        return two_lines(
            "Divergence against the number of states",
            [point.n_states for point in self.curve],
            [[getattr(p, name).kl for p in self.curve] for name in ("read", "alone")],
            ("states read", "automaton alone"),
            (
                Axis("states", is_log=None, is_whole=True),
                "divergence from the network, nats",
            ),
            dots=6.0,
            marks=[
                Level(self.fidelity[name].kl, "y", name, "quiet", is_beside=True)
                for name in (*LAST, CONSTANT)
            ],
        )


@dataclass(eq=False, repr=False)
class SurprisalDisplay(Display):
    """Plot of the surprisal of each step, under a network and its surrogate.

    Or under a hidden Markov model, and the same with states in random order. For
    numbers, surprisal is minus the log density, and may be negative.

    Create it with :meth:`from_explanation` or :meth:`from_estimator`.

    Parameters
    ----------
    symbols : sequence of str or None
        The symbols that followed; None for a series.
    network, picture : array-like
        Minus log probability of the symbols, in nats.
    names : (str, str), default=("network", "picture")
        Labels of the two lines.
    start : int, default=0
        Number of the first step of a series.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = SurprisalDisplay("abc", [0.1, 2.0, 0.3], [0.4, 1.0, 0.3]).plot()
    >>> [tick.get_text() for tick in display.ax_.get_xticklabels()]
    ['a', 'b', 'c']
    """

    symbols: Sequence[str] | None
    network: Any
    picture: Any
    names: tuple[str, str] = ("network", "picture")
    start: int = 0

    @classmethod
    def from_explanation(
        cls, explanation: Any, *, start: int = 0, length: int = 80
    ) -> SurprisalDisplay:
        """Create the display from held-out steps, with states read from the network.

        Parameters
        ----------
        explanation : RecurrentExplanation
        start, length : int
            Range of the held-out steps.

        Returns
        -------
        SurprisalDisplay
        """
        e = check_explanation(explanation)
        steps, network, picture = surprisals(e)
        part = steps_shown(start, length, len(steps))
        followed = e.trace.following[steps[part]]
        return cls([e.symbols[c] for c in followed], network[part], picture[part])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        lengths: Sequence[int] | None = None,
        *,
        start: int = 0,
        length: int = 80,
        ax: Any = None,
    ) -> SurprisalDisplay:
        """Create the display from steps of a text or series, each given all before it.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths
            As in ``HiddenMarkovModel.fit``.
        start, length : int
            Range of the steps shown.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        SurprisalDisplay
        """
        model = check_model(estimator)
        X, lengths = KINDS[model.emission].end_to_end(X, lengths)
        share = model.predict_proba(X, lengths).mean(axis=0)
        lines = step_surprisal(model, X, lengths, share)
        part = steps_shown(start, length, len(lines[0]))
        symbols = None
        if model.emission == "categorical":
            symbols = written(symbol_cells(X)[part])
        return cls(
            symbols, lines[0][part], lines[1][part],
            ("given all before", "states in random order"), start,
        ).plot(ax)  # fmt: skip

    def chart(self) -> Chart:
        """Chart of both lines over the symbols, or over the steps of a series."""
        n, ticks = len(self.network), None
        places = np.arange(n) + (self.start if self.symbols is None else 0)
        if self.symbols is not None:
            ticks = list(zip(places.tolist(), map(visible, self.symbols)))
        ends = places[0] - 0.5, places[-1] + 0.5
        across = Axis("" if ticks else "step", *ends, is_whole=True, ticks=ticks)
        lines = self.network, self.picture
        chart = two_lines(
            "Surprisal along the steps", places, lines, self.names,
            (across, "surprisal, nats"), dots=3.0,
        )  # fmt: skip
        # As wide as the text is long.
        return replace(chart, size=(min(max(0.16 * n, 5.0), 20.0), 2.8))


def surprisals(e: RecurrentExplanation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Held-out steps with a next symbol, and its surprisal.

    Returns
    -------
    steps : ndarray of int
    network, picture : ndarray of float
        In nats, under the network and under the states read from it.
    """
    following = e.trace.following
    steps = np.flatnonzero(e.trace.is_held_out & (following >= 0))
    network = -e.trace.log_proba[steps, following[steps]].astype(np.float64)
    with np.errstate(divide="ignore"):
        picture = -np.log(e.output_[e.states_[steps], following[steps]])
    return steps, network, picture
