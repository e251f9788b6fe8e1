"""Plot of the automaton: states on a circle, and arrows for transitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from clearwood._words.numbers import share_text
from clearwood.charts.chart import WIDTH, Chart
from clearwood.charts.display import Display
from clearwood.charts.marks import LEADING, Mark
from clearwood.charts.shapes import Disc, Place, Shape, TextLine, drawing
from clearwood.charts.style import wrapped
from clearwood.sequences.reading.coloured_text import state_hues
from clearwood.sequences.reading.markov_states import (
    MarkovState,
    check_model,
    markov_states,
    state_vectors,
)
from clearwood.sequences.reading.state_words import describe_states, visible
from clearwood.sequences.reading.states_display import hsl
from clearwood.sequences.recurrent.explain_rnn import (
    RecurrentExplanation,
    check_explanation,
)

RADIUS, AROUND, NODE, LEAST = 165.0, 70.0, 21.0, 11.0
"""Radius of the circle, its margin, and largest and smallest radius of a state."""
LOOP, TIP = 20.0, 8.0
"""Extent of an arrow from a state to itself, and length of an arrowhead."""
LONGEST, INK = 26, "#8B93A0"
"""Characters per line of a name, and colour of arrows in matplotlib."""
MOST_SYMBOLS = 3
"""Maximum number of symbols next to an arrow."""


class Move(NamedTuple):
    """Transition of the automaton.

    Attributes
    ----------
    source, target : int
    share : float
        Share of the transitions from the source.
    symbols : tuple of str
        Symbols of the transition, most frequent first.
    """

    source: int
    target: int
    share: float
    symbols: tuple[str, ...]


def moves_of(explanation: RecurrentExplanation) -> list[Move]:
    """All observed transitions of an automaton, grouped by state."""
    automaton, found = explanation.automaton_, []
    for source, (targets, counts) in enumerate(
        zip(automaton.transition, automaton.counts)
    ):
        total = int(counts.sum())
        for target in np.unique(targets[counts > 0]).tolist():
            codes = np.flatnonzero((targets == target) & (counts > 0))
            codes = codes[np.argsort(-counts[codes], kind="stable")]
            share = float(counts[codes].sum()) / total
            names = tuple(visible(explanation.symbols[code]) for code in codes)
            found.append(Move(source, target, share, names))
    return found


@dataclass(eq=False, repr=False)
class AutomatonDisplay(Display):
    """Plot of states on a circle, with arrows for transitions.

    The size of a state shows its frequency. The width of an arrow shows its share of
    the transitions from its state, and its label the symbols of the transition, or, for
    a hidden Markov model, its probability; arrows of small share are left out.

    Create it with :meth:`from_explanation` or :meth:`from_estimator`.

    Parameters
    ----------
    names : sequence of str
        Names of the states shown.
    share : sequence of float
        Frequency of each.
    moves : sequence of Move
        Transitions between them.
    n_left_out : int, default=0
        Number of states not shown.
    numbers : sequence of int, optional
        Numbers of the states shown; by default 0, 1, ...
    hues : sequence of float, optional
        Colours of the states, in degrees of hue.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> moves = [Move(0, 1, 0.5, ("1",)), Move(0, 0, 0.5, ("0",))]
    >>> display = AutomatonDisplay(["even", "odd"], [0.5, 0.5], moves)
    >>> len(display.plot().ax_.patches)  # two circles, and two arrows with tips
    6
    """

    names: Sequence[str]
    share: Any
    moves: Sequence[Move]
    n_left_out: int = 0
    numbers: Sequence[int] | None = None
    hues: Any = None

    def __post_init__(self) -> None:
        n = len(self.names)
        self.share = np.asarray(self.share, dtype=float)
        if self.numbers is None:
            self.numbers = range(n)
        if self.hues is None:
            self.hues = np.arange(n) * 360.0 / n

    @classmethod
    def from_explanation(
        cls, explanation: Any, *, most: int = 10, cutoff: float = 0.15
    ) -> Self:
        """Create the display from an explanation: a network's most frequent states.

        Parameters
        ----------
        explanation : RecurrentExplanation
        most : int, default=10
            Maximum number of states shown.
        cutoff : float, default=0.15
            Minimum share of the transitions from a state for an arrow.

        Returns
        -------
        AutomatonDisplay
        """
        e = check_explanation(explanation)
        words = describe_states(
            e.trace.codes, e.trace.age, e.states_, e.output_, e.symbols, e.outputs
        )
        n_shown = min(max(most, 1), len(words))
        return cls(
            [word.name for word in words[:n_shown]],
            [word.share for word in words[:n_shown]],
            [
                move
                for move in moves_of(e)
                if max(move.source, move.target) < n_shown and move.share >= cutoff
            ],
            len(words) - n_shown,
            hues=state_hues(np.sqrt(e.output_)),
        )

    of_result = from_explanation

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        lengths: Sequence[int] | None = None,
        *,
        most: int = 10,
        cutoff: float = 0.15,
        ax: Any = None,
    ) -> AutomatonDisplay:
        """Create the display from a hidden Markov model.

        Arrows show transitions to other states, without self-transitions.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths : optional
            Steps that determine the frequencies of states, as in ``predict_proba``; by
            default those expected in a sequence of the mean training length.
        most : int, default=10
            Maximum number of states shown, the most frequent ones.
        cutoff : float, default=0.15
            Minimum share of the transitions from a state for an arrow.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        AutomatonDisplay
        """
        model, share = check_model(estimator), None
        if X is not None:
            share = model.predict_proba(X, lengths).mean(axis=0)
        states = markov_states(model, share)
        hues = state_hues(state_vectors(model, states))
        return cls.of_states(states, hues, most=most, cutoff=cutoff).plot(ax)

    @classmethod
    def of_states(
        cls, states: Sequence[MarkovState], hues: Any, *, most: int, cutoff: float
    ) -> AutomatonDisplay:
        """Display of the most frequent states of a hidden Markov model."""
        shown = sorted(states, key=lambda state: -state.share)[: max(most, 1)]
        shown.sort(key=lambda state: state.number)
        place = {state.number: i for i, state in enumerate(shown)}
        return cls(
            [state.name for state in shown],
            [state.share for state in shown],
            [
                Move(place[state.number], place[target], p, (share_text(p),))
                for state in shown
                for target, p in state.transitions
                if target in place and p >= cutoff
            ],
            len(states) - len(shown),
            numbers=list(place),
            hues=[hues[number] for number in place],
        )

    def chart(self) -> Chart:
        """Chart of arrows below states, their names, and shares on top."""
        n = len(self.names)
        angle = -math.pi / 2 + 2 * math.pi * np.arange(n) / max(n, 1)
        out = np.column_stack([np.cos(angle), np.sin(angle)])
        places = np.array([WIDTH / 2, RADIUS + AROUND]) + RADIUS * out
        share = self.share / max(self.share.max(initial=0.0), 1e-300)
        sizes = np.maximum(NODE * np.sqrt(share), LEAST)
        arrows, states, labels = list[Mark](), list[Mark](), list[Mark]()
        loops = {move.source for move in self.moves if move.source == move.target}
        for move in self.moves:
            way, label = _way(move, places, sizes, out)
            says = f"{self._number(move.source)} to {self._number(move.target)}"
            says = f"{says}: {share_text(move.share)}"
            width = 0.8 + 3.2 * move.share
            arrows.append(
                Shape([way[:-1]], "cw-arrow", INK, width, is_bent=True, says=says)
            )
            arrows.append(Shape([_tip(*way[-2:])], "cw-tip", INK))
            more = " ..." if len(move.symbols) > MOST_SYMBOLS else ""
            words = " ".join(move.symbols[:MOST_SYMBOLS]) + more
            labels.append(TextLine(*label, words, "cw-label halo"))
        for i, (name, (x, y), (a, b)) in enumerate(zip(self.names, places, out)):
            number, r = self._number(i), sizes[i]
            ink = hsl(self.hues[i])
            states += [
                Disc(x, y, r, f"cw-node s{number}", ink, says=name),
                TextLine(x, y, str(number), "cw-number panel"),
            ]
            lines = wrapped(name.replace(", ", ",\n").split("\n"), LONGEST, len)
            if len(lines) > 2:
                lines = [lines[0], f"{lines[1]} …"]
            far = r + LOOP * (i in loops)
            side = "middle" if abs(a) < 0.2 else "start" if a > 0 else "end"
            left, high = x + (far + 8) * a, y + (far + 16) * b
            for k, line in enumerate(lines):
                below = high + LEADING * (k - (1 - b) / 2 * (len(lines) - 1))
                labels.append(TextLine(left, below, line, "cw-name", side))
        above = ""
        if self.n_left_out:
            above = f"the {n} most frequent of {n + self.n_left_out:,} states"
        title = "States, and their transitions"
        marks = [*arrows, *states, *labels]
        return drawing(title, marks, WIDTH, 2 * (RADIUS + AROUND), above)

    def _number(self, state: int) -> int:
        return list(self.numbers or ())[state]


def _way(
    move: Move, places: np.ndarray, sizes: np.ndarray, out: np.ndarray
) -> tuple[list[Place], Place]:
    """Curve that ends before a state, the position of its tip, and that of its label.

    Bent so that curves in both directions are separate; a loop for self-transitions.
    """
    first, last = places[move.source], places[move.target]
    if move.source == move.target:
        r, away = sizes[move.source], out[move.source]
        across = np.array([-away[1], away[0]])
        start = first + 0.8 * r * away + 0.6 * r * across
        middle, side = first + (r + 1.7 * LOOP) * away, 1.5 * r * across
        bends = [middle + side, middle - side]
        goal = first + 0.8 * r * away - 0.6 * r * across
        label = first - (r + 15.0) * away
    else:
        across = np.array([first[1] - last[1], last[0] - first[0]])
        start, bends = first, [(first + last) / 2 + 0.15 * across]
        toward = last - bends[0]
        goal = last - toward / np.linalg.norm(toward) * sizes[move.target]
        # Nearer to where it begins, or labels of arrows to and fro would meet.
        label = 0.42 * first + 0.46 * bends[0] + 0.12 * last
    toward = goal - bends[-1]
    end = goal - TIP * toward / np.linalg.norm(toward)
    return [tuple(p) for p in (start, *bends, end, goal)], tuple(label)


def _tip(end: Place, goal: Place) -> list[Place]:
    """Arrowhead from the end of a line to its target."""
    x, y = (goal[0] - end[0]) / 2, (goal[1] - end[1]) / 2
    return [goal, (end[0] - y, end[1] + x), (end[0] + y, end[1] - x)]
