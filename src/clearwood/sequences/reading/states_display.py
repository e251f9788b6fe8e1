"""States over time as a picture: a strip in their colours above every column."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.charts.style import QUIET, plain
from clearwood.exceptions import InputError
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.reading.coloured_text import state_hues, state_runs
from clearwood.sequences.reading.markov_states import (
    check_model,
    column_labels,
    column_names,
    markov_states,
    state_vectors,
)
from clearwood.sequences.reading.state_words import visible, written
from clearwood.sequences.reading.two_models import StateAgreement, state_agreement
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import symbol_cells

MOST_COLUMNS, MOST_WRITTEN = 12, 120
"""Columns that are drawn, and steps of which symbols are written out."""


class StatesDisplay:
    """The most probable states of a series, and the series in their colours.

    On top stand the states, each with its number where there is room, as dark as they
    are certain; below, those of a second model, if there is one, where states that
    match have one colour; and a line for every column, or the symbols.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    proba : array-like of shape (n_steps, n_states)
        Probabilities of the states.
    values : array-like of shape (n_steps, n_columns)
        NaN where missing.
    names : sequence of str
        Of the columns.
    symbols : sequence of str, optional
        Of the steps, where there are no columns.
    hues : sequence of float, optional
        Colours of the states, as degrees.
    labels : sequence of sequence of str or None, optional
        Of every column what its codes stand for; None where it holds numbers.
    start : int, default=0
        Number of the first step.
    begins : sequence of int, optional
        Steps at which sequences begin.
    beside : array-like of int of shape (n_steps,), optional
        States of a second model.
    agreement : StateAgreement, optional
        Of both models; by default on the steps that are shown.

    Attributes
    ----------
    agreement : StateAgreement or None
        ``matched``, the share of steps in states that match one to one, and
        ``information``, the adjusted mutual information of both models' states.
    ax_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> proba = [[1, 0], [1, 0], [0, 1]]
    >>> display = StatesDisplay(proba, [[0.1], [0.3], [2.0]], ["pulse"]).plot()
    >>> len(display.ax_)
    2
    """

    def __init__(
        self,
        proba: Any,
        values: Any,
        names: Sequence[str],
        *,
        symbols: Sequence[str] | None = None,
        hues: Any = None,
        labels: Sequence[Sequence[str] | None] | None = None,
        start: int = 0,
        begins: Sequence[int] = (),
        beside: Any = None,
        agreement: StateAgreement | None = None,
    ) -> None:
        self.proba = np.asarray(proba, dtype=float)
        self.values = np.asarray(values, dtype=float)
        self.names = tuple(names)
        self.symbols = None if symbols is None else tuple(symbols)
        k = self.proba.shape[1]
        self.hues = np.arange(k) * 360.0 / k if hues is None else np.asarray(hues)
        self.labels = [None] * len(self.names) if labels is None else list(labels)
        self.start = start
        self.begins = tuple(begins)
        self.beside = None if beside is None else np.asarray(beside)
        if beside is not None and agreement is None:
            agreement = state_agreement(self.proba.argmax(axis=1), beside, k)
        self.agreement = agreement

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        lengths: Sequence[int] | None = None,
        *,
        start: int = 0,
        length: int = 500,
        beside: Any = None,
    ) -> StatesDisplay:
        """Some steps of a series, or of several ones.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths
            As in ``HiddenMarkovModel.predict_proba``; the states know all of it.
        start, length : int
            Which steps are shown.
        beside : HiddenMarkovModel or array-like of int of shape (n_steps,), optional
            A second model, or the state of anything else at every step: of a network,
            ``explain_rnn(...).states_``. ``agreement`` is that on all steps of X.

        Returns
        -------
        StatesDisplay
        """
        model = check_model(estimator)
        X, lengths = KINDS[model.emission].end_to_end(X, lengths)
        proba = model.predict_proba(X, lengths)
        n = len(proba)
        part = steps_shown(start, length, n)
        values, symbols = np.empty((n, 0)), None
        if model.emission == "categorical":
            symbols = [visible(text) for text in written(symbol_cells(X)[part])]
        else:
            values = KINDS[model.emission].values(model, X)[:, :MOST_COLUMNS]
        bounds = sequence_bounds(lengths, n)[1:-1]
        states = markov_states(model, proba.mean(axis=0))
        agreement = None
        if beside is not None:
            if hasattr(beside, "predict_proba"):
                beside = check_model(beside).predict_proba(X, lengths).argmax(axis=1)
            found = proba.argmax(axis=1)
            agreement = state_agreement(found, beside, proba.shape[1])
            beside = np.asarray(beside)[part]
        return cls(
            proba[part],
            values[part],
            column_names(model)[:MOST_COLUMNS],
            symbols=symbols,
            hues=state_hues(state_vectors(model, states)),
            labels=column_labels(model)[:MOST_COLUMNS],
            start=start,
            begins=bounds[(bounds > start) & (bounds < start + length)].tolist(),
            beside=beside,
            agreement=agreement,
        )

    def plot(self, ax: Any = None) -> StatesDisplay:
        """Draw.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            One more than there are columns; a new figure by default.

        Returns
        -------
        StatesDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        strips = [(self.proba.argmax(axis=1), self.hues)]
        if self.beside is not None and self.agreement is not None:
            strips.append((self.beside, self.agreement.hues(self.hues)))
        n, m = len(self.names), len(strips)
        if ax is None:
            _, ax = plt.subplots(
                n + m, 1, figsize=(9.0, 0.9 + 0.75 * n + 0.3 * m), sharex=True,
                squeeze=False, layout="constrained",
                gridspec_kw={"height_ratios": [0.5] * m + [1.0] * n},
            )  # fmt: skip
        axes = np.ravel(np.asarray(ax, dtype=object))
        if len(axes) != n + m:
            raise InputError(f"ax holds {len(axes)} axes, expected {n + m}.")
        steps = self.start + np.arange(len(self.proba))
        for axis, (states, hues) in zip(axes, strips):
            self._draw_strip(axis, states, hues, steps[0])
            axis.set(yticks=[], ylim=(0, 1))
            for first, last, state in state_runs(states):
                if last - first > 0.015 * len(steps):
                    axis.text(
                        steps[first] + (last - first - 1) / 2, 0.5, str(state),
                        fontsize=8, ha="center", va="center", clip_on=True,
                    )  # fmt: skip
        for axis, name in zip(axes[:m], ("state", "beside")):
            axis.set_ylabel(name, rotation=0, ha="right", va="center")
        if m > 1:
            axes[0].set_title(str(self.agreement), fontsize=9, loc="left")
        for axis, name, values, own in zip(
            axes[m:], self.names, self.values.T, self.labels
        ):
            self._draw_strip(axis, *strips[0], steps[0])
            if own is not None:
                axis.set_yticks(range(len(own)), [plain(label) for label in own])
            axis.plot(steps, values, color="black", linewidth=0.9, marker=".",
                      markersize=1.5)  # fmt: skip
            axis.set_ylabel(plain(name), rotation=0, ha="right", va="center")
            axis.tick_params(labelsize=8, colors=QUIET)
        for axis in axes:
            axis.set(xlim=(steps[0] - 0.5, steps[-1] + 0.5))
            axis.spines[["top", "right"]].set_visible(False)
        axes[-1].set_xlabel("step")
        if self.symbols is not None and len(self.symbols) <= MOST_WRITTEN:
            axes[-1].set_xticks(steps, [plain(own) for own in self.symbols])
            axes[-1].tick_params(axis="x", labelsize=8, length=0)
        self.ax_, self.figure_ = axes, axes[0].figure
        return self

    def _draw_strip(
        self, axis: Any, states: np.ndarray, hues: np.ndarray, start: int
    ) -> None:
        """States as colours behind an axis, as dark as the first model is sure."""
        for first, last, state in state_runs(states):
            sure = 1.0
            if states is not self.beside:
                sure = float(self.proba[first:last, state].mean())
            axis.axvspan(
                start + first - 0.5, start + last - 0.5, linewidth=0,
                color=hsl(hues[state]), alpha=max(sure, 0.15), zorder=0,
            )  # fmt: skip
        for begin in self.begins:
            axis.axvline(begin - 0.5, color="black", linewidth=1.2)


def steps_shown(start: int, length: int, n_steps: int) -> slice:
    """Some of the steps; at least one."""
    if not 0 <= start < n_steps or length < 1:
        raise InputError(
            f"start={start}, length={length} holds none of the {n_steps} steps."
        )
    return slice(start, start + length)


def hsl(hue: float) -> tuple[float, float, float]:
    """The colour that the page gives a state, in light mode."""
    return colorsys.hls_to_rgb(float(hue) / 360.0, 0.78, 0.75)
