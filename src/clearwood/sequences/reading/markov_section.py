"""What a report says of a hidden Markov model, as plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.numbers import percent_text, share_text, short_text
from clearwood.charts.chart import RIGHT, WIDTH, svg
from clearwood.charts.scale import round_ticks
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.reading.charts import surprise_chart
from clearwood.sequences.reading.coloured_text import (
    coloured_text,
    state_hues,
    state_runs,
    state_styles,
    text_pieces,
)
from clearwood.sequences.reading.markov_states import (
    MarkovState,
    check_model,
    column_labels,
    column_names,
    markov_states,
    state_vectors,
    step_surprise,
)
from clearwood.sequences.reading.state_words import MISSING, written
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import symbol_cells

MOST_SHOWN, MOST_STEPS = 20_000, 1_000
"""Symbols that are shown, and steps of a series, from the beginning."""

MOST_COLUMNS, MOST_NODES, MOST_MOVES = 12, 12, 4
"""Columns that are drawn and listed, states in the graph, and moves of a state."""

LEAST_MOVE, FARTHEST = 0.15, 1.5
"""Share of the moves from a state that an arrow has; deviation where colours end."""

SURE = 0.9
"""A state that is so probable is certain."""

STRIP, PANEL, GAP = 18.0, 56.0, 8.0
"""Heights in the picture of a series."""

NAMES = 150.0
"""Room for the names of columns beside it."""

RADIUS, AROUND, NODE = 165.0, 70.0, 21.0
"""Of the graph, free space around it, and largest radius of a state."""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """States over time, what they emit, where they lead, and how good they are.

    Parameters
    ----------
    result : HiddenMarkovModel
        Fitted.
    X : as in ``HiddenMarkovModel.fit``, optional
        Steps to show and to judge on.
    y : sequence of int, optional
        Here the lengths of the sequences in X.

    Returns
    -------
    dict
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
        "n_hidden": max(len(names) - MOST_COLUMNS, 0),
        "farthest": FARTHEST,
        "states": [_line(s) for s in sorted(states, key=lambda s: -s.share)],
        "length": round(model.mean_length_) if hasattr(model, "mean_length_") else None,
        "graph": _graph(states),
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
    # No sequence was so long, so that nobody knows.
    lasts = (
        ("as long as a sequence", f"of {short_text(length)} steps on average")
        if steps > length
        else (f"{short_text(steps)} steps" if ends > 0 else "for ever", "on average")
    )
    tiles = [
        ("States", f"{len(states):,}", f"emission: {model.emission}"),
        ("A state lasts", *lasts),
    ]
    if proba is not None:
        sure = float((proba.max(axis=1) >= SURE).mean())
        tiles.append(
            (
                "Steps with a certain state",
                percent_text(sure),
                f"from {share_text(SURE)} on",
            )
        )
    return tiles


def _line(state: MarkovState) -> dict[str, Any]:
    """A line of the table of states."""
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
        "leads": [f"{j} ({share_text(p)})" for j, p in state.leads[:MOST_MOVES]],
    }


def _scores(
    model: HiddenMarkovModel, X: Any, lengths: Any, states: list[MarkovState]
) -> dict[str, Any]:
    """Log-likelihoods of a step: as it is, and if states came in any order."""
    share = np.array([state.share for state in states])
    own, any_order = step_surprise(model, X, lengths, share)
    possible = np.isfinite(own) & np.isfinite(any_order)
    along = surprise_chart("Surprise along the steps", (own, any_order), "step")
    return {
        "n_steps": len(own),
        "n_sequences": len(sequence_bounds(lengths, len(own))) - 1,
        "n_impossible": int((~possible).sum()),
        "own": -float(own[possible].mean()) if possible.any() else None,
        "any_order": -float(any_order[possible].mean()) if possible.any() else None,
        "surprise": None if along is None else svg(along, "surprise"),
    }


# Pictures


def _over_time(
    model: HiddenMarkovModel,
    X: Any,
    proba: np.ndarray,
    lengths: Any,
    states: list[MarkovState],
) -> dict[str, Any]:
    """Text in colours; of series, lines before strips of their states."""
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
    part = slice(0, MOST_STEPS)
    values = KINDS[model.emission].values(model, X)[part, :MOST_COLUMNS]
    names = column_names(model)[:MOST_COLUMNS]
    m = len(values)
    across = NAMES + (WIDTH - NAMES - RIGHT) * np.arange(m + 1) / m
    runs = [
        {
            "x": across[first],
            "width": across[last] - across[first],
            "state": state,
            "name": states[state].name,
            "middle": (across[first] + across[last]) / 2,
            "is_wide": across[last] - across[first] > 16,
        }
        for first, last, state in state_runs(proba[part].argmax(axis=1))
    ]
    bounds = sequence_bounds(lengths, n)[1:-1]
    ticks = [t for t in round_ticks(0, m, 6) if t < m]
    return {
        "text": None,
        "missing": None,
        "n_shown": m,
        "n": n,
        "width": WIDTH,
        "left": NAMES,
        "right": WIDTH - RIGHT,
        "strip": STRIP,
        "bottom": STRIP + (PANEL + GAP) * len(names),
        "runs": runs,
        "begins": [across[b] for b in bounds if b < m],
        "panels": [
            _panel(name, values[:, d], across, STRIP + GAP + (PANEL + GAP) * d, own)
            for d, (name, own) in enumerate(zip(names, column_labels(model)))
        ],
        "ticks": [(f"{t:,.0f}", across[int(t)]) for t in ticks],
    }


def _panel(
    name: str,
    values: np.ndarray,
    across: np.ndarray,
    top: float,
    labels: tuple[str, ...] | None,
) -> dict[str, Any]:
    """A column as lines, broken where it is missing; labels in their order."""
    known = ~np.isnan(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0, 1)
    ends = short_text(float(low)), short_text(float(high))
    if labels:
        low, high, ends = 0, len(labels) - 1, (labels[0], labels[-1])
    spread = max(high - low, 1e-300)
    x = (across[:-1] + across[1:]) / 2
    y = top + PANEL * (1 - (values - low) / spread)
    pieces = np.split(np.arange(len(values)), np.flatnonzero(np.diff(known)) + 1)
    return {
        "name": name,
        "low": ends[0],
        "high": ends[1],
        "top": top,
        "middle": top + PANEL / 2,
        "bottom": top + PANEL,
        "lines": [
            " ".join(f"{x[i]:.1f},{y[i]:.1f}" for i in piece)
            for piece in pieces if known[piece[0]] and len(piece) > 1
        ],
        "points": [
            (x[piece[0]], y[piece[0]])
            for piece in pieces if known[piece[0]] and len(piece) == 1
        ],
    }  # fmt: skip


def _graph(states: list[MarkovState]) -> dict[str, Any] | None:
    """The most frequent states on a circle, and arrows where they lead."""
    shown = sorted(states, key=lambda state: -state.share)[:MOST_NODES]
    shown.sort(key=lambda state: state.number)
    n = len(shown)
    if n < 2:
        return None
    angle = -math.pi / 2 + 2 * math.pi * np.arange(n) / n
    middle = WIDTH / 2, RADIUS + AROUND
    place = np.column_stack(
        [middle[0] + RADIUS * np.cos(angle), middle[1] + RADIUS * np.sin(angle)]
    )
    most = max(state.share for state in shown)
    size = [max(NODE * math.sqrt(s.share / max(most, 1e-300)), 11.0) for s in shown]
    at = {state.number: i for i, state in enumerate(shown)}
    arrows = [
        _arrow(place[at[state.number]], place[at[j]], size[at[j]], p)
        | {"says": f"{state.number} to {j}: {share_text(p)}"}
        for state in shown
        for j, p in state.leads
        if j in at and p >= LEAST_MOVE
    ]
    return {
        "width": WIDTH,
        "height": 2 * (RADIUS + AROUND),
        "arrows": arrows,
        "n_shown": n,
        "n_states": len(states),
        "least": LEAST_MOVE,
        "nodes": [
            {
                "x": x, "y": y, "r": r, "number": state.number, "name": state.name,
                "name_x": x + (r + 8) * math.cos(a), "side": _side(math.cos(a)),
                "name_y": y + (r + 16) * math.sin(a) + 4,
            }
            for state, (x, y), r, a in zip(shown, place, size, angle)
        ],
    }  # fmt: skip


def _side(cosine: float) -> str:
    return "middle" if abs(cosine) < 0.2 else "start" if cosine > 0 else "end"


def _arrow(
    first: np.ndarray, last: np.ndarray, radius: float, share: float
) -> dict[str, Any]:
    """A curve, bent so that those to and fro stand apart, that ends at a circle."""
    way = last - first
    across = np.array([-way[1], way[0]])
    bend = (first + last) / 2 + 0.15 * across
    toward = (last - bend) / np.linalg.norm(last - bend)
    end = last - toward * (radius + 7.0)
    # Nearer to where it begins, or labels of arrows to and fro would meet.
    label = 0.42 * first + 0.46 * bend + 0.12 * last
    return {
        "path": f"M{first[0]:.1f},{first[1]:.1f} Q{bend[0]:.1f},{bend[1]:.1f} "
        f"{end[0]:.1f},{end[1]:.1f}",
        "wide": 0.8 + 3.2 * share,
        "share": share_text(share),
        "x": label[0],
        "y": label[1] + 4,
    }
