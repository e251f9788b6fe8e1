"""Report section of a hidden Markov model, as plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.numbers import percent_text, share_text, short_text
from clearwood.charts.chart import svg
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.reading.automaton_display import AutomatonDisplay
from clearwood.sequences.reading.charts import surprisal_chart
from clearwood.sequences.reading.coloured_text import (
    coloured_text,
    state_hues,
    state_styles,
    text_pieces,
)
from clearwood.sequences.reading.markov_states import (
    MarkovState,
    check_model,
    column_names,
    markov_states,
    state_vectors,
    step_surprisal,
)
from clearwood.sequences.reading.state_words import MISSING, written
from clearwood.sequences.reading.states_display import StatesDisplay
from clearwood.sequences.reading.sweeps_display import StateNumbersDisplay
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import symbol_cells

MOST_SHOWN, MOST_STEPS = 20_000, 1_000
"""Maximum numbers of symbols, and of steps of a series, that are shown."""

MOST_COLUMNS, MOST_NODES, MOST_MOVES = 12, 12, 4
"""Maximum numbers of columns, of states in the graph, and of transitions per state."""

LEAST_MOVE, FARTHEST = 0.15, 1.5
"""Minimum share of a transition for an arrow; deviation of the darkest colour."""

CONVERGED = 1.01
"""Largest R-hat of chains that have converged."""

SURE = 0.9
"""Minimum probability of a state that counts as certain."""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """States over time, their emissions, transitions, and scores.

    ``X`` are the steps to show and to score, as in ``HiddenMarkovModel.fit``, and ``y``
    the lengths of their sequences.
    """
    model = check_model(result)
    if X is not None:
        X, y = KINDS[model.emission].end_to_end(X, y)
    proba = None if X is None else model.predict_proba(X, y)
    states = markov_states(model, None if proba is None else proba.mean(axis=0))
    names = column_names(model)
    hues = state_hues(state_vectors(model, states))
    return {
        "title": f"{len(states)} hidden states",
        "tiles": _tiles(model, states, proba),
        "styles": state_styles([state.name for state in states], hues),
        "columns": names[:MOST_COLUMNS],
        "has_masses": bool(getattr(model, "point_masses_", {})),
        "n_hidden": max(len(names) - MOST_COLUMNS, 0),
        "farthest": FARTHEST,
        "states": [_line(s) for s in sorted(states, key=lambda s: -s.share)],
        "length": round(model.mean_length_) if hasattr(model, "mean_length_") else None,
        "sizes": _sizes(model),
        "graph": _graph(states, hues),
        "over_time": (
            None if proba is None else _over_time(model, X, proba, y, states)
        ),
        "scores": None if proba is None else _scores(model, X, y, states),
    }


def _tiles(
    model: HiddenMarkovModel, states: list[MarkovState], proba: np.ndarray | None
) -> list[tuple[str, str, str]]:
    ends = sum(state.share / state.stay for state in states)
    steps = 1 / ends if ends > 0 else math.inf
    length = getattr(model, "mean_length_", math.inf)
    # No training sequence was this long, so that it is unknown.
    lasts = (
        ("as long as a sequence", f"of {short_text(length)} steps on average")
        if steps > length
        else (f"{short_text(steps)} steps" if ends > 0 else "for ever", "on average")
    )
    tiles = [
        ("States", f"{len(states):,}", f"emission: {model.emission}"),
        ("A state lasts", *lasts),
    ]
    if found := _convergence(model):
        tiles.append(("Convergence", *found))
    if proba is not None:
        sure = float((proba.max(axis=1) >= SURE).mean())
        tiles.append(
            (
                "Steps with a clear state",
                percent_text(sure),
                f"probability at least {share_text(SURE)}",
            )
        )
    return tiles


def _convergence(model: HiddenMarkovModel) -> tuple[str, str] | None:
    """Whether the fit has converged; None after loading."""
    if history := getattr(model, "history_", None):
        n_updates = len(history) - 1
        reached = "reached" if n_updates < model.n_iter else "not reached"
        most = f"of {model.n_iter:,} at most"
        return reached, f"iterations of EM from the best start: {n_updates:,}, {most}"
    if found := model.diagnose():
        worst = max(own.rhat for own in found.values())
        reached = "reached" if worst <= CONVERGED else "not reached"
        return reached, f"R-hat {worst:.4f}, at most {CONVERGED} for one mode"
    return None


def _line(state: MarkovState) -> dict[str, Any]:
    """Row of the table of states."""
    return {
        "number": state.number,
        "name": state.name,
        "share": state.share,
        "stay": None if math.isinf(state.stay) else state.stay,
        "symbols": "; ".join(cell.text for cell in state.emits),
        "cells": [
            (cell.text, min(abs(cell.far) / FARTHEST, 1.0), cell.far > 0)
            for cell in state.emits[:MOST_COLUMNS]
        ],
        "transitions": [
            f"{j} ({share_text(p)})" for j, p in state.transitions[:MOST_MOVES]
        ],
    }


def _scores(
    model: HiddenMarkovModel, X: Any, lengths: Any, states: list[MarkovState]
) -> dict[str, Any]:
    """Log-likelihood per step: of the model, and with states in random order."""
    share = np.array([state.share for state in states])
    own, any_order = step_surprisal(model, X, lengths, share)
    possible = np.isfinite(own) & np.isfinite(any_order)
    along = surprisal_chart("Surprisal along the steps", (own, any_order), "step")
    return {
        "n_steps": len(own),
        "n_sequences": len(sequence_bounds(lengths, len(own))) - 1,
        "n_impossible": int((~possible).sum()),
        "own": -float(own[possible].mean()) if possible.any() else None,
        "any_order": -float(any_order[possible].mean()) if possible.any() else None,
        "surprisal": None if along is None else svg(along, "surprisal"),
    }


# Charts


def _sizes(model: HiddenMarkovModel) -> str | None:
    """Held-out log-likelihood by number of states; None if it was not selected."""
    if not hasattr(model, "held_out_scores_"):
        return None
    return svg(StateNumbersDisplay.of_result(model).chart(), "sizes")


def _over_time(
    model: HiddenMarkovModel,
    X: Any,
    proba: np.ndarray,
    lengths: Any,
    states: list[MarkovState],
) -> dict[str, Any]:
    """Coloured text; for series, lines before strips of their states."""
    n = len(proba)
    if model.emission == "categorical":
        cells = written(symbol_cells(X)[:MOST_SHOWN])
        shown = proba[: len(cells)].argmax(axis=1)
        pieces = text_pieces(cells, sequence_bounds(lengths, n))
        return {
            "text": coloured_text(pieces, shown),
            "n_shown": len(cells),
            "n": n,
            "missing": MISSING if MISSING in cells else None,
        }
    part = slice(0, min(MOST_STEPS, n))
    display = StatesDisplay.of_states(model, X, lengths, proba, states, part)
    return {
        "text": None,
        "missing": None,
        "n_shown": part.stop,
        "n": n,
        "svg": svg(display.chart(), "series", look="cw-series"),
    }


def _graph(states: list[MarkovState], hues: Any) -> dict[str, Any] | None:
    """Graph of the most frequent states, with arrows for transitions."""
    if len(states) < 2:
        return None
    display = AutomatonDisplay.of_states(
        states, hues, most=MOST_NODES, cutoff=LEAST_MOVE
    )
    return {
        "svg": svg(display.chart(), "graph", look="cw-graph"),
        "least": LEAST_MOVE,
    }
