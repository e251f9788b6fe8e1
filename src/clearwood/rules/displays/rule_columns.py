"""The columns of bars and dots in a table of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import number_text, share_text
from clearwood.charts.style import COLOURS, colour
from clearwood.charts.table import FONT
from clearwood.rules import RuleAverage, RuleList, RuleSet
from clearwood.rules.displays.rule_lines import RuleLine, score_text

INK = "#1c2430"
GRID = "#0000001c"
LABEL = 18
"""Letters of a class label that stand over a field, at most."""

BAR: dict[str, Any] = {"marker": "s", "markersize": 6, "color": INK}
ROWS: dict[type[RuleSet], tuple[tuple[str, dict[str, Any]], ...]] = {
    RuleList: (
        ("rows that the rule decides", {**BAR, "markeredgewidth": 0, "alpha": 0.6}),
        ("all rows that satisfy it", {**BAR, "markerfacecolor": "none"}),
    )
}
"""What bars and outlines mean, where they differ."""

AGREEMENT: dict[type[RuleSet], tuple[str, ...]] = {
    RuleList: (
        "agreement with the model where it decides",
        "agreement on all rows that satisfy it",
    ),
    RuleAverage: ("agreement with the model where it holds",),
}
"""What dots and rings mean."""


class Column(NamedTuple):
    """What stands beside the texts of all rules.

    Attributes
    ----------
    name, title : str
        For programs and for readers.
    numbers : list of str
        Beside the bars, one per line.
    draw : callable
        Takes axes, lines, the middles of these and the size of letters.
    least : float
        Width of the bars in letters.
    has_axis : bool
        Whether numbers stand below.
    labels : tuple of str
        Above the fields of a column that has several.
    handles : list
        Entries of the legend.
    """

    name: str
    title: str
    numbers: list[str]
    draw: Callable[[Any, Sequence[RuleLine], Sequence[float], float], None]
    least: float
    has_axis: bool = False
    labels: tuple[str, ...] = ()
    handles: tuple[tuple[str, dict[str, Any]], ...] = ()


def columns_of(
    lines: Sequence[RuleLine], classes: tuple[Any, ...], kind: type[RuleSet]
) -> list[Column]:
    """The columns for which there is something to show."""
    columns = []
    if kind.has_weights:
        columns.append(_weight_column(lines))
    if not all(math.isnan(line.matching) for line in lines):
        columns.append(_rows_column(lines, classes, kind))
    if not kind.lines_predict:
        columns.append(_adds_column(lines, classes))
        return columns
    if not classes:
        columns.append(_value_column(lines))
    if not all(math.isnan(line.agreement_caught) for line in lines):
        columns.append(_agreement_column(lines, bool(classes), kind))
    return columns


def _weight_column(lines: Sequence[RuleLine]) -> Column:
    weights = [line.weight or 0.0 for line in lines]

    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        ax.barh(middles, weights, height=size, color=INK, alpha=0.6)
        ax.set(xlim=(0, 1.02 * (max(weights) or 1.0)), xticks=[])

    numbers = [number_text(weight) for weight in weights]
    return Column("weight", "weight", numbers, draw, 5.0)


def _rows_column(
    lines: Sequence[RuleLine],
    classes: tuple[Any, ...],
    kind: type[RuleSet],
) -> Column:
    inks = [COLOURS[0]] * len(lines)
    # With more classes than colours, one would stand for two.
    if kind.lines_predict and 0 < len(classes) <= len(COLOURS):
        inks = [colour(classes.index(line.prediction)) for line in lines]
    most = max((line.matching for line in lines if line.matching > 0), default=1.0)

    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        matching = np.nan_to_num([line.matching for line in lines])
        caught = np.nan_to_num([line.caught for line in lines])
        ax.barh(middles, caught, height=size, color=inks, alpha=0.85)
        ax.barh(
            middles, matching, height=size, fill=False, edgecolor=INK, linewidth=0.8
        )
        ax.set(xlim=(0, 1.02 * most), xticks=[])

    shares = [
        "" if math.isnan(line.caught) else share_text(line.caught) for line in lines
    ]
    return Column(
        "rows", "rows", shares, draw, 8.0,
        handles=ROWS.get(kind, ()),
    )  # fmt: skip


def _agreement_column(
    lines: Sequence[RuleLine], is_class: bool, kind: type[RuleSet]
) -> Column:
    # What is expected on new rows takes the place of what was on these.
    is_expected = not all(math.isnan(line.expected) for line in lines)
    shown = np.array(
        [
            [
                line.agreement_caught,
                line.agreement,
                line.expected if is_expected else line.precision,
            ]
            for line in lines
        ]
    )
    # One scale for all; bars would have to start at zero, dots need not.
    low = 0.5 if np.nanmin(shown) >= 0.5 else 0.0
    # Of values R2 and means are no match.
    has_precision = is_class and not np.isnan(shown[:, 2]).all()

    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        ax.vlines([low, (low + 1) / 2, 1], *ax.get_ylim(), color=GRID, linewidth=0.8)
        apart = 0.42 * size * has_precision
        for column, look, offset in zip(shown.T, looks, (-apart, -apart, apart)):
            look = {**look, "markersize": look["markersize"] * size / FONT}
            heights = np.array(middles) + offset
            known = ~np.isnan(column)
            within = known & (column >= low)
            ax.plot(
                column[within], heights[within], linestyle="", clip_on=False, **look
            )
            # A worse one than the scale holds points to where it would be.
            ax.plot(
                np.full((known & ~within).sum(), low), heights[known & ~within],
                linestyle="", clip_on=False, **{**look, "marker": "<"},
            )  # fmt: skip
        ax.set(xlim=(low - 0.03 * (1 - low), 1 + 0.03 * (1 - low)))
        ax.set_xticks([low, 1], [f"{low:g}", "1"])

    looks: list[dict[str, Any]] = [
        {"marker": "o", "color": COLOURS[0], "markersize": 6, "zorder": 4},
        {"marker": "o", "color": COLOURS[0], "markersize": 8, "zorder": 3,
         "markerfacecolor": "none"},
        {"marker": "D", "color": COLOURS[1], "markersize": 5, "zorder": 5,
         "markerfacecolor": "none"},
    ]  # fmt: skip
    handles = list(zip(AGREEMENT[kind], looks))
    if has_precision:
        words = (
            "its class, expected on new rows" if is_expected else "precision on these"
        )
        handles.append((words, looks[2]))
    numbers = [score_text(line.agreement_caught) for line in lines]
    return Column(
        "agreement", "agreement", numbers, draw, 8.0, True, handles=tuple(handles)
    )


def _value_column(lines: Sequence[RuleLine]) -> Column:
    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        from matplotlib.ticker import MaxNLocator

        value = np.array([line.prediction for line in lines], dtype=float)
        spread = np.nan_to_num([line.spread for line in lines])
        ax.hlines(middles, value - spread, value + spread, color=COLOURS[0], alpha=0.5)
        ax.plot(value, middles, "o", color=COLOURS[0], markersize=6 * size / FONT)
        ax.margins(x=0.08)
        ax.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        ax.grid(axis="x", color=GRID)
        ax.set_axisbelow(True)

    handles = [("what it says", {"marker": "o", "color": COLOURS[0], "markersize": 6})]
    if not all(math.isnan(line.spread) for line in lines):
        look = {"marker": "_", "color": COLOURS[0], "markersize": 14, "alpha": 0.5}
        handles.append(("one standard deviation of the target", look))
    return Column(
        "value", "value", [""] * len(lines), draw, 10.0, True, handles=tuple(handles)
    )


def _adds_column(lines: Sequence[RuleLine], classes: tuple[Any, ...]) -> Column:
    if len(classes) > 2:
        return _fields_column(lines, classes)
    added = [line.scores[1] if classes else float(line.prediction) for line in lines]
    if not classes:
        # The constant is no change, and may be far larger than all of them.
        added[0] = 0.0
    most = max(map(abs, added)) or 1.0

    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        from matplotlib.ticker import MaxNLocator

        inks = [COLOURS[0] if value > 0 else COLOURS[1] for value in added]
        ax.barh(middles, added, height=size, color=inks, alpha=0.85)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_xlim(-1.1 * most, 1.1 * most)
        ax.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10], symmetric=True))

    title = f"to the log-odds of {printable(str(classes[1]))}" if classes else ""
    return Column("adds", title, [""] * len(lines), draw, 14.0, True)


def _fields_column(lines: Sequence[RuleLine], classes: tuple[Any, ...]) -> Column:
    """A field per rule and class: blue where the class gains, orange where it loses."""
    added = np.array([line.scores for line in lines])
    most = np.abs(added).max() or 1.0

    def draw(ax: Any, lines: Any, middles: Any, size: float) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        scale = LinearSegmentedColormap.from_list(
            "adds", [COLOURS[1], "#f4f4f4", COLOURS[0]]
        )
        for middle, scores in zip(middles, added):
            ax.imshow(
                [scores], extent=(0, len(classes), middle + size, middle - size),
                cmap=scale, vmin=-most, vmax=most, aspect="auto",
            )  # fmt: skip
            ax.vlines(
                range(1, len(classes)), middle - size, middle + size, color="white"
            )
        ax.set(xlim=(0, len(classes)), xticks=[])

    names = [printable(str(label)) for label in classes]
    labels = tuple(n if len(n) <= LABEL else f"{n[: LABEL - 1]}…" for n in names)
    look = {"marker": "s", "markersize": 7}
    handles = (
        (f"adds to the log-odds of the class (at most {most:.3g})",
         {**look, "color": COLOURS[0]}),
        ("takes from them", {**look, "color": COLOURS[1]}),
    )  # fmt: skip
    numbers = [""] * len(lines)
    return Column("adds", "", numbers, draw, 1.7 * len(classes), False, labels, handles)
