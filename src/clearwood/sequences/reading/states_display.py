"""Plot of states over time: a coloured strip above every column."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.display import Display
from clearwood.charts.marks import Level, Mark, Note, Points, Span
from clearwood.exceptions import InputError
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.kinds import KINDS, table_rows
from clearwood.sequences.reading.coloured_text import state_hues, state_runs
from clearwood.sequences.reading.markov_states import (
    MarkovState,
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

MOST_COLUMNS, MOST_WRITTEN, MOST_LABELS = 12, 120, 4
"""Maximum numbers of columns drawn, of steps with their symbols, and of labels next to
a column."""


@dataclass(eq=False, repr=False)
class StatesDisplay(Display):
    """Plot of the most probable states of a series, and the series in their colours.

    The top strip shows the states, each with its number if it fits, in a shade by their
    probability; below are those of a second model, if any, in the colours of matching
    states; and a line for every column, or the symbols.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    proba : array-like of shape (n_steps, n_states)
        Probabilities of the states.
    values : array-like of shape (n_steps, n_columns)
        NaN where missing.
    names : sequence of str
        Names of the columns.
    symbols : sequence of str, optional
        Symbols of the steps, if there are no columns.
    hues : sequence of float, optional
        Colours of the states, in degrees of hue.
    labels : sequence of sequence of str or None, optional
        Labels of the codes of every column; None for numbers.
    start : int, default=0
        Number of the first step.
    begins : sequence of int, optional
        First steps of sequences.
    other_states : array-like of int of shape (n_steps,), optional
        States of a second model.
    agreement : StateAgreement, optional
        Agreement of both models; by default on the steps shown.
    states : sequence of str, optional
        Names of the states, for pages.

    Attributes
    ----------
    agreement : StateAgreement or None
        ``matched``, the share of steps in states that match one to one, and
        ``information``, the adjusted mutual information of both models' states.
    parts_ : list of matplotlib Axes
        One for the states, for those of a second model, and for every column.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> proba = [[1, 0], [1, 0], [0, 1]]
    >>> display = StatesDisplay(proba, [[0.1], [0.3], [2.0]], ["pulse"]).plot()
    >>> len(display.parts_)
    2
    """

    proba: Any
    values: Any
    names: Sequence[str]
    symbols: Sequence[str] | None = None
    hues: Any = None
    labels: Sequence[Sequence[str] | None] | None = None
    start: int = 0
    begins: Sequence[int] = ()
    other_states: Any = None
    agreement: StateAgreement | None = None
    states: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.proba = np.asarray(self.proba, dtype=float)
        self.values = np.asarray(self.values, dtype=float)
        k = self.proba.shape[1]
        if self.hues is None:
            self.hues = np.arange(k) * 360.0 / k
        if self.labels is None:
            self.labels = [None] * len(self.names)
        if self.other_states is not None and self.agreement is None:
            found = self.proba.argmax(axis=1)
            self.agreement = state_agreement(found, np.asarray(self.other_states), k)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        lengths: Sequence[int] | None = None,
        *,
        start: int = 0,
        length: int = 500,
        other_states: Any = None,
        ax: Any = None,
    ) -> StatesDisplay:
        """Create the display from steps of one or several series.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths
            As in ``HiddenMarkovModel.predict_proba``; the states depend on all of it.
        start, length : int
            Range of the steps shown.
        other_states : HiddenMarkovModel or array-like of int, optional
            A second model, or any other state at every step, such as
            ``explain_rnn(...).states_`` of a network. ``agreement`` is that on all
            steps of X.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        StatesDisplay
        """
        model = check_model(estimator)
        X, lengths = KINDS[model.emission].end_to_end(X, lengths)
        proba = model.predict_proba(X, lengths)
        part = steps_shown(start, length, len(proba))
        states = markov_states(model, proba.mean(axis=0))
        shown = cls.of_states(model, X, lengths, proba, states, part)
        if other_states is not None:
            if hasattr(other_states, "predict_proba"):
                other_states = (
                    check_model(other_states).predict_proba(X, lengths).argmax(axis=1)
                )
            found = proba.argmax(axis=1)
            shown.agreement = state_agreement(found, other_states, proba.shape[1])
            shown.other_states = np.asarray(other_states)[part]
        return shown.plot(ax)

    @classmethod
    def of_states(
        cls,
        model: HiddenMarkovModel,
        X: Any,
        lengths: Any,
        proba: np.ndarray,
        states: list[MarkovState],
        part: slice,
    ) -> StatesDisplay:
        """Display of some of the steps of X, with known states."""
        values, symbols = np.empty((len(proba), 0)), None
        if model.emission == "categorical":
            symbols = [visible(text) for text in written(symbol_cells(X)[part])]
        else:
            values = table_rows(model, X)[:, :MOST_COLUMNS]
        bounds = sequence_bounds(lengths, len(proba))[1:-1]
        begins = bounds[(bounds > part.start) & (bounds < part.stop)]
        return cls(
            proba[part],
            values[part],
            column_names(model)[:MOST_COLUMNS],
            symbols=symbols,
            hues=state_hues(state_vectors(model, states)),
            labels=column_labels(model)[:MOST_COLUMNS],
            start=part.start,
            begins=begins.tolist(),
            states=[state.name for state in states],
        )

    def chart(self) -> Chart:
        """Chart of a strip of numbers, and columns below, over the states' colours."""
        n = len(self.proba)
        steps = self.start + np.arange(n)
        found = self.proba.argmax(axis=1)
        ticks = None
        if self.symbols is not None and n <= MOST_WRITTEN:
            ticks = list(zip(steps.tolist(), self.symbols))
        ends = steps[0] - 0.5, steps[-1] + 0.5
        across = Axis("step", *ends, is_whole=True, ticks=ticks)
        ground: list[Mark] = [
            *self._spans(found, self.hues, self.states),
            *(Level(begin - 0.5, "x", look="-") for begin in self.begins),
        ]
        up = Axis("state", 0.0, 1.0, ticks=())
        panels = [_panel(self._numbers(found), across, up)]
        if self.other_states is not None and self.agreement is not None:
            states = np.asarray(self.other_states)
            spans = self._spans(states, self.agreement.hues(self.hues))
            panels[0] = replace(panels[0], above=str(self.agreement))
            own = [*spans, *self._numbers(states)]
            panels.append(_panel(own, across, replace(up, label="other")))
        for name, values, labels in zip(self.names, self.values.T, self.labels or ()):
            line = Points(steps, values, "ink", dots=1.5, width=0.9)
            up = Axis(name, ticks=_ends(values, labels))
            panels.append(_panel([line], across, up, 56.0))
        n_columns = len(self.names)
        high = 0.9 + 0.75 * n_columns + 0.3 * (len(panels) - n_columns)
        title = "The series over time, before the colours of its states"
        return Chart(title, panels, size=(9.0, high), ground=ground)

    def _spans(
        self, states: np.ndarray, hues: np.ndarray, names: Sequence[str] = ()
    ) -> list[Mark]:
        """States as coloured spans, shaded by the first model's probability."""
        spans: list[Mark] = []
        for first, last, state in state_runs(states):
            sure = 1.0
            if states is not self.other_states:
                sure = float(self.proba[first:last, state].mean())
            spans.append(Span(
                self.start + first - 0.5, self.start + last - 0.5, f"cw-run s{state}",
                hsl(hues[state]), max(sure, 0.15),
                f"{state}: {names[state]}" if names else "",
            ))  # fmt: skip
        return spans

    def _numbers(self, states: np.ndarray) -> list[Mark]:
        """Numbers of the states that last long enough."""
        return [
            Note(self.start + (first + last - 1) / 2, 0.5, str(state), (0.0, 0.0),
                 "middle", True)
            for first, last, state in state_runs(states)
            if last - first > 0.015 * len(str(state)) * len(states)
        ]  # fmt: skip


def _panel(marks: Sequence[Mark], x: Axis, y: Axis, height: float = 18.0) -> Panel:
    return Panel(marks, x, y, height, None, "", is_named_beside=True)


def _ends(
    values: np.ndarray, labels: Sequence[str] | None
) -> Sequence[tuple[float, str]]:
    """Smallest and largest number, or the labels; of many, the first and last."""
    if labels is not None:
        ticks = [(float(k), label) for k, label in enumerate(labels)]
        return ticks if len(ticks) <= MOST_LABELS else [ticks[0], ticks[-1]]
    known = values[np.isfinite(values)]
    ends = {known.min(), known.max()} if len(known) else ()
    return [(float(end), short_text(float(end))) for end in sorted(ends)]


def steps_shown(start: int, length: int, n_steps: int) -> slice:
    """Range of the steps shown; at least one."""
    if not 0 <= start < n_steps or length < 1:
        raise InputError(
            f"start={start}, length={length} holds none of the {n_steps} steps."
        )
    return slice(start, start + length)


def hsl(hue: float) -> tuple[float, float, float]:
    """Colour of a state on the page, in light mode."""
    return colorsys.hls_to_rgb(float(hue) / 360.0, 0.78, 0.75)
