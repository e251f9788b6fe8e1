"""The automaton as a picture: states on a circle, and arrows between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.numbers import share_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, QUIET, plain
from clearwood.sequences.reading.markov_states import check_model, markov_states
from clearwood.sequences.reading.state_words import describe_states, visible
from clearwood.sequences.recurrent.explain_rnn import (
    RecurrentExplanation,
    check_explanation,
)

MOST_SYMBOLS = 3
"""Symbols that stand beside an arrow."""


class Move(NamedTuple):
    """An arrow of the automaton.

    Attributes
    ----------
    source, target : int
    share : float
        Of the moves from the source.
    symbols : tuple of str
        Those with which it is made, most frequent first.
    """

    source: int
    target: int
    share: float
    symbols: tuple[str, ...]


def moves_of(explanation: RecurrentExplanation) -> list[Move]:
    """All moves of an automaton that were seen, those of each state together."""
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


class AutomatonDisplay(Display):
    """States on a circle, and arrows between those that follow each other.

    A state is as large as it is frequent. An arrow is as wide as its share of the moves
    from its state, and names the symbols with which it is made, of a hidden Markov
    model its probability; those of little share are left out.

    Make one with :meth:`from_explanation` or :meth:`from_estimator`.

    Parameters
    ----------
    names : sequence of str
        Of the states that are shown.
    share : sequence of float
        How frequent each is.
    moves : sequence of Move
        Between them.
    n_left_out : int, default=0
        States that are not shown.
    numbers : sequence of int, optional
        Of the states that are shown; by default 0, 1, ...

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> moves = [Move(0, 1, 0.5, ("1",)), Move(0, 0, 0.5, ("0",))]
    >>> display = AutomatonDisplay(["even", "odd"], [0.5, 0.5], moves)
    >>> len(display.plot().ax_.patches)
    4
    """

    def __init__(
        self,
        names: Sequence[str],
        share: Sequence[float],
        moves: Sequence[Move],
        n_left_out: int = 0,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self.names = tuple(names)
        self.share = np.asarray(share, dtype=float)
        self.moves = list(moves)
        self.n_left_out = n_left_out
        self.numbers = tuple(range(len(self.names)) if numbers is None else numbers)

    @classmethod
    def from_explanation(
        cls, explanation: Any, *, most: int = 10, cutoff: float = 0.15
    ) -> AutomatonDisplay:
        """The most frequent states of a network, and how they follow each other.

        Parameters
        ----------
        explanation : RecurrentExplanation
        most : int, default=10
            States that are shown.
        cutoff : float, default=0.15
            Least share of the moves from a state that an arrow has.

        Returns
        -------
        AutomatonDisplay
        """
        e = check_explanation(explanation)
        words = describe_states(
            e.trace.codes, e.trace.age, e.states_, e.output_, e.symbols
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
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        lengths: Sequence[int] | None = None,
        *,
        most: int = 10,
        cutoff: float = 0.15,
    ) -> AutomatonDisplay:
        """The states of a hidden Markov model, and how they follow each other.

        As if no state lasted: arrows are of the moves away from a state.

        Parameters
        ----------
        estimator : HiddenMarkovModel
            Fitted.
        X, lengths : optional
            Steps that say how frequent states are, as in ``predict_proba``; by default
            they are those of a sequence as long as those of the fit.
        most : int, default=10
            States that are shown, the most frequent ones.
        cutoff : float, default=0.15
            Least share of the moves from a state that an arrow has.

        Returns
        -------
        AutomatonDisplay
        """
        model, share = check_model(estimator), None
        if X is not None:
            share = model.predict_proba(X, lengths).mean(axis=0)
        states = markov_states(model, share)
        shown = sorted(states, key=lambda state: -state.share)[: max(most, 1)]
        shown.sort(key=lambda state: state.number)
        place = {state.number: i for i, state in enumerate(shown)}
        return cls(
            [state.name for state in shown],
            [state.share for state in shown],
            [
                Move(place[state.number], place[target], p, (share_text(p),))
                for state in shown
                for target, p in state.leads
                if target in place and p >= cutoff
            ],
            len(states) - len(shown),
            numbers=list(place),
        )

    def _draw(self, ax: Any) -> list[Any]:
        from matplotlib.patches import Circle

        ax = axes_of(ax, 8.0, 6.4)
        n = len(self.names)
        angle = math.pi / 2 - 2 * math.pi * np.arange(n) / max(n, 1)
        places = np.column_stack([np.cos(angle), np.sin(angle)])
        widest = 0.16 if n < 3 else min(0.16, 0.8 * math.sin(math.pi / n))
        size = widest * np.sqrt(self.share / max(self.share.max(initial=0), 1e-12))
        size = np.maximum(size, 0.35 * widest)
        for move in self.moves:
            _draw_move(ax, move, places, size)
        for state, (place, name) in enumerate(zip(places, self.names)):
            ax.add_patch(
                Circle(
                    place, size[state], facecolor="#cfe3f3", edgecolor=QUIET, zorder=3
                )
            )
            ax.text(
                *place,
                str(self.numbers[state]),
                ha="center",
                va="center",
                zorder=4,
                fontsize=9,
            )
            out = place * (1.12 + 1.6 * size[state])
            side = (
                "center" if abs(place[0]) < 0.2 else "left" if place[0] > 0 else "right"
            )
            ax.text(*out, plain(name), ha=side, va="center", fontsize=8, color=QUIET)
        ax.set(xlim=(-1.75, 1.75), ylim=(-1.4, 1.4), aspect="equal")
        ax.axis("off")
        if self.n_left_out:
            ax.set_title(
                f"the {n} most frequent of {n + self.n_left_out:,} states",
                fontsize=9, color=QUIET, loc="left",
            )  # fmt: skip
        return [ax]


def _draw_move(ax: Any, move: Move, places: np.ndarray, size: np.ndarray) -> None:
    """An arrow, bent so that those to and fro stand apart; to itself, a loop."""
    from matplotlib.patches import FancyArrowPatch

    start, end = places[move.source], places[move.target]
    look: dict[str, Any] = {
        "arrowstyle": "-|>", "mutation_scale": 9, "color": COLOURS[0],
        "linewidth": 0.5 + 2.5 * move.share, "alpha": 0.75, "zorder": 2,
    }  # fmt: skip
    radius = size[move.source]
    if move.source == move.target:
        across = np.array([-start[1], start[0]]) * 0.6 * radius
        out = start * (1 + 0.8 * radius)
        arrow = FancyArrowPatch(
            out + across, out - across, connectionstyle="arc3,rad=-1.6", **look
        )
        where = start * (1 - 1.8 * radius)
    else:
        way = (end - start) / np.linalg.norm(end - start)
        first, last = start + way * radius, end - way * size[move.target]
        arrow = FancyArrowPatch(first, last, connectionstyle="arc3,rad=0.15", **look)
        bent = np.array([way[1], -way[0]]) * 0.075 * np.linalg.norm(last - first)
        where = 0.4 * first + 0.6 * last + bent
    ax.add_patch(arrow)
    more = " ..." if len(move.symbols) > MOST_SYMBOLS else ""
    text = plain(" ".join(move.symbols[:MOST_SYMBOLS]) + more)
    box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
    ax.text(*where, text, fontsize=7, ha="center", va="center", zorder=5, bbox=box)
