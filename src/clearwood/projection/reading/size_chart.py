"""How good trees of all sizes are, as a chart: numbers here, drawing in SVG."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clearwood._html.chart import LEFT, RIGHT, WIDTH, round_ticks, whole_ticks
from clearwood._words.numbers import percent_text, short_text
from clearwood.projection.sizes import SizePath, Words
from clearwood.rules.scores import prediction_error

TOP, HEIGHT, BETWEEN = 34.0, 150.0, 62.0
LOSS = 0.1
"""In nats, of which is told what it means where none is tolerated."""


class Panel(NamedTuple):
    """One measure of all sizes.

    Attributes
    ----------
    name, style : str
        What is measured, and how the line is drawn.
    values : ndarray of shape (n_sizes,)
    error : ndarray of shape (n_sizes,) or None
        Half of the band's height.
    marks : tuple of (float, str)
        Lines across, and their names.
    percent : bool
        Whether values are shares.
    """

    name: str
    style: str
    values: np.ndarray
    error: np.ndarray | None
    marks: tuple[tuple[float, str], ...]
    percent: bool


def size_chart(
    path: SizePath, chosen: int, words: Words, on_rows: Panel | None, n_rows: int | None
) -> dict[str, Any] | None:
    """What was lost at each size in the fit, and how good each is on rows handed in.

    Parameters
    ----------
    path : SizePath
    chosen : int
        Leaves of the tree, or lines of the list, that is printed.
    words : Words
        What these are called.
    on_rows : Panel or None
        What :func:`panel_of_rows` measured.
    n_rows : int or None
        Rows handed in; with them, nothing is shown that was measured on those of the
        fit alone.

    Returns
    -------
    dict or None
        None where there is nothing to show, or one size only.
    """
    panels = []
    if path.held_out is not None:
        marks: tuple[tuple[float, str], ...] = ((0.0, "as good as the reference"),)
        if path.tolerance is not None:
            marks += ((path.tolerance, "tolerated"),)
        name = "Held out in the fit: lost against the reference, nats per row"
        panels.append(
            Panel(name, "second", path.held_out, path.standard_error, marks, False)
        )
    elif n_rows is None:
        name = "Training rows: divergence from the reference, nats per row"
        mark = (0.0, "as the reference says")
        panels.append(Panel(name, "second", path.divergence, None, (mark,), False))
    if on_rows is not None:
        panels.append(on_rows)
    if not panels or len(path.size) < 2:
        return None
    sizes, most, loss = path.size, int(path.size[-1]), path.tolerance or LOSS
    tops = [TOP + i * (HEIGHT + BETWEEN) for i in range(len(panels))]
    x = LEFT + (WIDTH - LEFT - RIGHT) * (sizes - 1) / max(most - 1, 1)
    return {
        "width": WIDTH,
        "height": tops[-1] + HEIGHT + 48.0,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": tops[-1] + HEIGHT,
        "mark": float(x[sizes.tolist().index(chosen)]),
        "chosen": chosen,
        "sizes": whole_ticks(most),
        "unit": words.lines,
        "example": loss,
        "less_probable": percent_text(-math.expm1(-loss)),
        "panels": [_drawn(panel, top, x) for panel, top in zip(panels, tops)],
        "words": " ".join(_in_words(panel, sizes, chosen, words) for panel in panels),
        "lines": _lines(panels, sizes, chosen),
    }


def panel_of_rows(
    result: Any, X: Any, y: np.ndarray | None, taught: np.ndarray | None
) -> Panel | None:
    """How far proxies of all sizes are from what was observed, or from the reference.

    Parameters
    ----------
    result : fitted ProjectedTree... or ProjectedRuleList...
    X : array-like or frame
    y : ndarray of shape (n_rows,) or None
    taught : ndarray of shape (n_rows,) or None
        What the reference predicts.
    """
    truth = taught if y is None else y
    if truth is None:
        return None
    task = result.rules_.task
    is_class = task == "classification"

    def error(predicted: np.ndarray) -> float:
        wrong = prediction_error(truth, predicted, task)
        return wrong if is_class else math.sqrt(wrong)

    marks: tuple[tuple[float, str], ...] = ()
    if taught is not None:
        marks = ((error(taught), "the reference"),)
    what = {
        (True, True): "share of wrong classes",
        (True, False): "share of classes other than the reference’s",
        (False, True): f"root mean squared error, in units of {result.rules_.target}",
        (False, False): "root mean squared difference from the reference",
    }[is_class, y is not None]
    values = np.array([error(proxy.predict(X)) for proxy in result._of_all_sizes])
    return Panel(f"Rows handed in: {what}", "first", values, None, marks, is_class)


def _drawn(panel: Panel, top: float, x: np.ndarray) -> dict[str, Any]:
    """A panel as texts for SVG."""
    ends = [panel.values]
    if panel.error is not None:
        ends = [panel.values - panel.error, panel.values + panel.error]
    every = np.concatenate([*ends, [value for value, _ in panel.marks]])
    low, high = float(every.min()), float(every.max())
    room = 0.12 * (high - low) or 0.5
    low, high = low - room, high + 0.3 * room

    def y_at(value: float) -> float:
        return top + HEIGHT * (high - value) / (high - low)

    def points(values: np.ndarray) -> list[str]:
        return [f"{a:.1f},{y_at(b):.1f}" for a, b in zip(x, values.tolist())]

    shown = percent_text if panel.percent else "{:,.10g}".format
    ticks = [t for t in round_ticks(low, high) if t >= 0 or every.min() < 0]
    band = [*points(ends[0]), *points(ends[-1])[::-1]] if len(ends) == 2 else []
    return {
        "name": panel.name,
        "style": panel.style,
        "top": top,
        "bottom": top + HEIGHT,
        "ticks": [(shown(t), y_at(t)) for t in ticks],
        "marks": [(y_at(value), name) for value, name in panel.marks],
        "points": " ".join(points(panel.values)),
        "dots": [(a, y_at(b)) for a, b in zip(x.tolist(), panel.values.tolist())],
        "band": " ".join(band),
    }


def _in_words(panel: Panel, sizes: np.ndarray, chosen: int, words: Words) -> str:
    """A panel for those who do not see it."""
    shown = percent_text if panel.percent else short_text
    ends = {int(sizes[0]): panel.values[0], int(sizes[-1]): panel.values[-1]}
    named = ends | {chosen: panel.values[sizes.tolist().index(chosen)]}
    parts = [
        f"{shown(float(named[n]))} with {words.so_many(n)}{' (chosen)' * (n == chosen)}"
        for n in sorted(named)
    ]
    return f"{panel.name}: {', '.join(parts)}."


def _lines(panels: list[Panel], sizes: np.ndarray, chosen: int) -> dict[str, Any]:
    """The same as a table."""
    rows = []
    for i, size in enumerate(sizes.tolist()):
        cells = []
        for panel in panels:
            shown = percent_text if panel.percent else short_text
            text = shown(float(panel.values[i]))
            if panel.error is not None:
                text += f" ± {shown(float(panel.error[i]))}"
            cells.append(text)
        rows.append({"size": size, "is_chosen": size == chosen, "cells": cells})
    return {"names": [panel.name for panel in panels], "rows": rows}
