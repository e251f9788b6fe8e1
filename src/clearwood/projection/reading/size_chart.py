"""Scores of trees of all sizes, as a chart and a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.numbers import percent_text, short_text
from clearwood.charts.chart import Axis, Chart, Panel, svg
from clearwood.charts.marks import Area, Level, Mark, Points
from clearwood.outcomes import OUTCOMES
from clearwood.projection.sizes import SizePath, Words

LOSS = 0.1
"""Loss in nats whose meaning is explained where none is tolerated."""
DECIMALS = 12
"""Decimals of a loss beyond which it is rounding error."""
NEAR = 0.12
"""Distance of two levels, as a share of the height, whose names would overlap."""


class Measure(NamedTuple):
    """One measure of all sizes.

    Attributes
    ----------
    name, style : str
        Name of the measure, and style of its line.
    values : ndarray of shape (n_sizes,)
    error : ndarray of shape (n_sizes,) or None
        Half of the band's height.
    levels : tuple of (float, str)
        Horizontal lines, and their names.
    percent : bool
        Whether values are shares.
    """

    name: str
    style: str
    values: np.ndarray
    error: np.ndarray | None
    levels: tuple[tuple[float, str], ...]
    percent: bool = False

    def marks(self, complexity: np.ndarray) -> list[Mark]:
        """Line with its band, and the levels."""
        look = "--" if self.style == "second" else "-"
        found: list[Mark] = [
            Points(complexity, self.values, self.style, self.name, look, dots=5.0),
            *(Level(value, "y", name, "quiet") for value, name in self.levels),
        ]
        if self.error is not None:
            ends = self.values - self.error, self.values + self.error
            found.append(Area(complexity, *ends, self.style))
        return found


def held_out_measure(path: SizePath) -> Measure | None:
    """Held-out loss in the fit; None where nothing was held out."""
    if path.held_out is None:
        return None
    levels: tuple[tuple[float, str], ...] = ((0.0, "equal to the reference"),)
    if path.tolerance is not None:
        most = path.least_loss + path.tolerance
        name = f"least loss + {path.tolerance:g}"
        if abs(most) < NEAR * np.ptp([*path.held_out, 0.0]):
            levels, name = ((0.0, f"equal to the reference, {name}"),), ""
        levels += ((most, name),)
    name = "Cross-validation in the fit: loss relative to the reference, nats per row"
    return Measure(name, "second", path.held_out, path.standard_error, levels)


def panel_of(
    measures: Sequence[Measure], path: SizePath, chosen: int, words: Words, name: str
) -> Panel:
    """Measures on one axis, with the printed size marked."""
    marks = [mark for measure in measures for mark in measure.marks(path.complexity)]
    at = float(path.complexity[path.size == chosen][0])
    name_of_x = words.lines if path.measure == "size" else path.measure
    is_whole = bool((path.complexity % 1 == 0).all())
    return Panel(
        [*marks, Level(at, "x", f"chosen: {words.count_text(chosen)}")],
        Axis(name_of_x, is_whole=is_whole),
        Axis(name, shown=percent_text if measures[0].percent else None),
    )


def size_chart(
    path: SizePath,
    chosen: int,
    words: Words,
    on_rows: Measure | None,
    n_rows: int | None,
) -> dict[str, Any] | None:
    """Chart of the loss by size in the fit, and of the scores on given rows.

    Parameters
    ----------
    path : SizePath
    chosen : int
        Number of leaves of the printed tree, or of rules of the list.
    words : Words
        What the leaves, or rules, are called.
    on_rows : Measure or None
        Result of :func:`measure_on_rows`.
    n_rows : int or None
        Number of the given rows; with them, nothing is shown that was measured on the
        rows of the fit alone.

    Returns
    -------
    dict or None
        None where there is nothing to show, or one size only.
    """
    held_out = held_out_measure(path)
    measures = [] if held_out is None else [held_out]
    if held_out is None and n_rows is None:
        name = "Training rows: divergence from the reference, nats per row"
        levels = ((0.0, "equal to the reference"),)
        measures.append(Measure(name, "second", path.divergence, None, levels))
    if on_rows is not None:
        measures.append(on_rows)
    if not measures or len(path.size) < 2:
        return None
    sizes, loss = path.size, path.tolerance or LOSS
    text = " ".join(_description(measure, sizes, chosen, words) for measure in measures)
    panels = [panel_of([one], path, chosen, words, one.name) for one in measures]
    return {
        "svg": svg(Chart("Loss by size", panels), "sizes", text),
        "has_band": measures[0].error is not None,
        "is_loss": measures[0].style == "second",
        "example": loss,
        "less_probable": percent_text(-math.expm1(-loss)),
        "words": text,
        "lines": _lines(measures, path, chosen),
    }


def measure_on_rows(
    result: Any, X: Any, y: np.ndarray | None, predicted: np.ndarray | None
) -> Measure | None:
    """Distance of proxies of all sizes from the observations, or from the reference.

    Parameters
    ----------
    result : fitted ProjectedTree... or ProjectedRuleList...
    X : array-like or frame
    y : ndarray of shape (n_rows,) or None
    predicted : ndarray of shape (n_rows,) or None
        Predictions of the reference.
    """
    target = predicted if y is None else y
    if target is None:
        return None
    task = result.rules_.task
    is_class = task == "classification"

    def error(predicted: np.ndarray) -> float:
        loss = OUTCOMES[task].mean_loss(target, predicted)
        return loss if is_class else math.sqrt(loss)

    levels: tuple[tuple[float, str], ...] = ()
    if predicted is not None:
        levels = ((error(predicted), "the reference"),)
    score = {
        (True, True): "error rate",
        (True, False): "disagreement with the reference’s class",
        (False, True): f"root mean squared error, in units of {result.rules_.target}",
        (False, False): "root mean squared difference from the reference",
    }[is_class, y is not None]
    values = np.array([error(proxy.predict(X)) for proxy in result._proxies])
    return Measure(f"Rows passed: {score}", "first", values, None, levels, is_class)


def _description(measure: Measure, sizes: np.ndarray, chosen: int, words: Words) -> str:
    """Text alternative of a measure, for screen readers."""
    shown = percent_text if measure.percent else short_text
    value = dict(zip(sizes.tolist(), measure.values.tolist()))
    parts = []
    for n in sorted({int(sizes[0]), int(sizes[-1]), chosen}):
        mark = " (chosen)" if n == chosen else ""
        parts.append(f"{shown(value[n])} with {words.count_text(n)}{mark}")
    return f"{measure.name}: {', '.join(parts)}."


def _lines(measures: list[Measure], path: SizePath, chosen: int) -> dict[str, Any]:
    """The same as a table."""
    rows = []
    by_size = path.measure == "size"
    for i, size in enumerate(path.size.tolist()):
        cells = [] if by_size else [short_text(float(path.complexity[i]))]
        for measure in measures:
            shown = percent_text if measure.percent else short_text
            # Equal up to rounding is written as 0.
            text = shown(round(float(measure.values[i]), DECIMALS) + 0.0)
            if measure.error is not None:
                text += f" ± {shown(round(float(measure.error[i]), DECIMALS))}"
            cells.append(text)
        rows.append({"size": size, "is_chosen": size == chosen, "cells": cells})
    names = [] if by_size else [path.measure.capitalize()]
    return {"names": names + [measure.name for measure in measures], "rows": rows}
