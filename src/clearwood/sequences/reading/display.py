"""Pictures: what states explain by their number, and surprise along a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.charts.scale import log_ticks, scale_of
from clearwood.charts.style import COLOURS, MARKERS, QUIET, plain
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.reading.markov_states import check_model, step_surprise
from clearwood.sequences.reading.state_words import visible, written
from clearwood.sequences.reading.states_display import steps_shown
from clearwood.sequences.recurrent.explain_rnn import (
    RecurrentExplanation,
    SizeTried,
    check_explanation,
)
from clearwood.sequences.recurrent.fidelity import CONSTANT, LAST, NetworkFidelity
from clearwood.sequences.symbols import symbol_cells


class FidelityCurveDisplay:
    """How far pictures of more and more states are from the network.

    One line for states read from the network, one for the automaton run alone; across,
    what tables of the last 1, 2 and 3 symbols come to.

    Make one with :meth:`from_explanation`.

    Parameters
    ----------
    curve : sequence of SizeTried
    fidelity : NetworkFidelity

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, curve: Sequence[SizeTried], fidelity: NetworkFidelity) -> None:
        self.curve = tuple(curve)
        self.fidelity = fidelity

    @classmethod
    def from_explanation(cls, explanation: Any) -> FidelityCurveDisplay:
        """All numbers of states that were tried.

        Parameters
        ----------
        explanation : RecurrentExplanation
            Best with ``n_states="auto"`` or several numbers.

        Returns
        -------
        FidelityCurveDisplay
        """
        found = check_explanation(explanation)
        return cls(found.curve_, found.fidelity_)

    def plot(self, ax: Any = None) -> FidelityCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        FidelityCurveDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        sizes = [point.n_states for point in self.curve]
        for i, (name, style) in enumerate((("read", "-"), ("alone", "--"))):
            label = "states read" if name == "read" else "automaton alone"
            kl = [getattr(point, name).kl for point in self.curve]
            ax.plot(
                sizes, kl, style, color=COLOURS[i], marker=MARKERS[i], label=label
            )  # fmt: skip
        for name in (*LAST, CONSTANT):
            height = self.fidelity[name].kl
            ax.axhline(height, color=QUIET, linewidth=0.8, linestyle=":")
            ax.annotate(
                name, (0.0, height), xycoords=("axes fraction", "data"), fontsize=8,
                xytext=(2, 2), textcoords="offset points", ha="left", color=QUIET,
            )  # fmt: skip
        scale = scale_of([float(size) for size in sizes])
        if scale.is_log:
            ax.set_xscale("log")
            ticks = log_ticks(scale)
            ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            ax.minorticks_off()
        ax.set(xlabel="states", ylabel="divergence from the network, nats")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False, fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class StepSurpriseDisplay:
    """How improbable each step was, to a network and to the picture made of it.

    Or to a hidden Markov model, beside what it would say if its states came in any
    order. Of numbers, surprise is less the logarithm of a density, and may be below 0.

    Make one with :meth:`from_explanation` or :meth:`from_estimator`.

    Parameters
    ----------
    symbols : sequence of str or None
        That followed; None of a series.
    network, picture : array-like
        Less the logarithm of its probability, in nats.
    names : (str, str), default=("network", "picture")
        Of the two lines.
    start : int, default=0
        Number of the first step of a series.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = StepSurpriseDisplay("abc", [0.1, 2.0, 0.3], [0.4, 1.0, 0.3]).plot()
    >>> [tick.get_text() for tick in display.ax_.get_xticklabels()]
    ['a', 'b', 'c']
    """

    def __init__(
        self,
        symbols: Sequence[str] | None,
        network: Any,
        picture: Any,
        names: tuple[str, str] = ("network", "picture"),
        start: int = 0,
    ) -> None:
        self.symbols = None if symbols is None else tuple(symbols)
        self.network = np.asarray(network, dtype=float)
        self.picture = np.asarray(picture, dtype=float)
        self.names = names
        self.start = start

    @classmethod
    def from_explanation(
        cls, explanation: Any, *, start: int = 0, length: int = 80
    ) -> StepSurpriseDisplay:
        """Some of the held-out steps, with states read from the network.

        Parameters
        ----------
        explanation : RecurrentExplanation
        start, length : int
            Which of the held-out steps.

        Returns
        -------
        StepSurpriseDisplay
        """
        e = check_explanation(explanation)
        steps, network, picture = surprise(e)
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
    ) -> StepSurpriseDisplay:
        """Some steps of a text or a series, given all before them.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths
            As in ``HiddenMarkovModel.fit``.
        start, length : int
            Which steps are shown.

        Returns
        -------
        StepSurpriseDisplay
        """
        model = check_model(estimator)
        X, lengths = KINDS[model.emission].end_to_end(X, lengths)
        share = model.predict_proba(X, lengths).mean(axis=0)
        lines = step_surprise(model, X, lengths, share)
        part = steps_shown(start, length, len(lines[0]))
        symbols = None
        if model.emission == "categorical":
            symbols = written(symbol_cells(X)[part])
        return cls(
            symbols, lines[0][part], lines[1][part],
            ("given all before", "states in any order"), start,
        )  # fmt: skip

    def plot(self, ax: Any = None) -> StepSurpriseDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default, as wide as the text is long.

        Returns
        -------
        StepSurpriseDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        n = len(self.network)
        if ax is None:
            wide = min(max(0.16 * n, 5.0), 20.0)
            _, ax = plt.subplots(figsize=(wide, 2.8), layout="constrained")
        places = np.arange(n) + (self.start if self.symbols is None else 0)
        lines = zip(self.names, (self.network, self.picture), ("-", "--"))
        for i, (name, values, style) in enumerate(lines):
            ax.plot(
                places, values, style, color=COLOURS[i], marker=MARKERS[i],
                markersize=3, linewidth=1, label=name,
            )  # fmt: skip
        if self.symbols is None:
            ax.set_xlabel("step")
        else:
            ax.set_xticks(places, [plain(visible(symbol)) for symbol in self.symbols])
            ax.tick_params(axis="x", labelsize=8, length=0)
        ax.set(xlim=(places[0] - 0.5, places[-1] + 0.5), ylabel="surprise, nats")
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
        ax.legend(frameon=False, fontsize=9, ncols=2)
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def surprise(e: RecurrentExplanation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Held-out steps that a symbol follows, and how improbable it was.

    Returns
    -------
    steps : ndarray of int
    network, picture : ndarray of float
        In nats, for the network and for the states read from it.
    """
    following = e.trace.following
    steps = np.flatnonzero(e.trace.is_held_out & (following >= 0))
    network = -e.trace.log_proba[steps, following[steps]].astype(np.float64)
    with np.errstate(divide="ignore"):
        picture = -np.log(e.output_[e.states_[steps], following[steps]])
    return steps, network, picture
