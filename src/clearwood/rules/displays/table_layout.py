"""Where the texts and columns of a table of rules stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clearwood._words.labels import printable
from clearwood.charts.style import wrapped
from clearwood.charts.table import LEADING, Legend, Text, block, legend_of, measures
from clearwood.rules.displays.rule_columns import Column
from clearwood.rules.displays.rule_lines import RuleLine


class Span(NamedTuple):
    """Where bars begin and end, and where the numbers beside them end."""

    left: float
    right: float
    end: float


class TableLayout(NamedTuple):
    """A table laid out; all in points, and ``y`` grows downwards.

    Attributes
    ----------
    width, height, size : float
        Of the whole, and of the letters.
    top, bottom : float
        Where the lines begin and end.
    middles : list of float
        Of each line.
    rules : list of float
        Heights of the thin lines between the rows.
    texts : list of Text
    places : list of Span
        One per column.
    legend : Legend
    """

    width: float
    height: float
    size: float
    top: float
    bottom: float
    middles: list[float]
    rules: list[float]
    texts: list[Text]
    places: list[Span]
    legend: Legend


def lay_out(
    lines: Sequence[RuleLine],
    columns: Sequence[Column],
    says: str,
    width: float,
    size: float,
) -> TableLayout:
    """Find a place for everything.

    Parameters
    ----------
    lines : sequence of RuleLine
    columns : sequence of Column
        What stands right of the texts.
    says : str
        Title over what the rules say.
    width : float
        Width of the table in points.
    size : float
        Size of the letters in points.

    Returns
    -------
    TableLayout
        As high as it must be.
    """
    measure, bold, _ = measures(size)
    gap, leading = 1.5 * size, LEADING * size
    says = printable(says)
    x_if = measure(str(len(lines))) + 0.9 * size
    says_width = min(max(map(bold, [says, *(line.says for line in lines)])), width / 5)
    pieces = [_pieces(line) for line in lines]
    natural = max(measure(" ".join(part)) for part in pieces)
    beside = [max(map(measure, ["", *c.numbers])) + size for c in columns]
    left = width - x_if - says_width - sum(beside) - (len(columns) + 1) * gap
    least = [max(c.least * size, 0.14 * left) for c in columns]
    if_width = max(min(natural, left - sum(least)), 0.3 * left)
    # What the texts do not need goes to the bars, up to twice what they must have.
    factor = min((left - if_width) / max(sum(least), 1e-9), 2.0)
    x_says = x_if + if_width + gap
    places, x = [], x_says + says_width + gap
    for needed, extra in zip(least, beside):
        right = x + factor * needed
        places.append(Span(x, right, right + extra))
        x = right + extra + gap

    titles = [wrapped(["if"], if_width, bold), wrapped([says], says_width, bold)]
    titles += [
        wrapped([c.title], p.end - p.left, bold) for c, p in zip(columns, places)
    ]
    starts = [x_if, x_says, *(p.left for p in places)]
    labels = max((measure(label) for c in columns for label in c.labels), default=0.0)
    labels += size if labels else 0.0
    top = max(leading * max(map(len, titles)), labels) + 0.6 * size
    texts = [
        text
        for x, title in zip(starts, titles)
        for text in block(
            x, top - 0.6 * size - leading * len(title) / 2, title, size, bold=True
        )
    ]
    for column, place in zip(columns, places):
        step = (place.right - place.left) / max(len(column.labels), 1)
        texts += [
            Text(place.left + (k + 0.5) * step, top - 0.4 * size, label, rotation=90)
            for k, label in enumerate(column.labels)
        ]

    y, middles, rules = top, [], [top]
    for row, (line, part) in enumerate(zip(lines, pieces)):
        asked = wrapped(part, if_width, measure)
        said = wrapped([line.says], says_width, bold)
        high = leading * max(len(asked), len(said)) + 0.75 * size
        middle = y + high / 2
        if line.number is not None:
            number = Text(x_if - 0.9 * size, middle, str(line.number), "right")
            texts.append(number._replace(quiet=True))
        texts += block(x_if, middle, asked, size, quiet=not line.conditions)
        texts += block(x_says, middle, said, size, bold=True)
        texts += [
            Text(p.end, middle, c.numbers[row], "right")
            for c, p in zip(columns, places)
            if c.numbers[row]
        ]
        middles.append(middle)
        y += high
        rules.append(y)
    below = y + (2.2 if any(c.has_axis for c in columns) else 0.9) * leading
    handles = [handle for column in columns for handle in column.handles]
    legend = legend_of(handles, below, width, size)
    high = legend.end if handles else below - 0.5 * leading
    return TableLayout(
        width, high, size, top, y, middles, rules, [*texts, *legend.texts], places,
        legend,
    )  # fmt: skip


def _pieces(line: RuleLine) -> list[str]:
    if not line.conditions:
        always = line.number is None or line.weight
        return ["always" if always else "otherwise"]
    return [*(f"{c} and" for c in line.conditions[:-1]), line.conditions[-1]]
