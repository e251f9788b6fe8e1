"""Plot of a circuit: components from left to right, columns from top to bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._words.labels import printable, type_text
from clearwood._words.numbers import share_text
from clearwood.charts.display import Display
from clearwood.charts.style import COLOURS, wrapped
from clearwood.charts.table import (
    LEADING,
    SMALL,
    Text,
    closed,
    draw_texts,
    legend_of,
    measures,
    opened,
)
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.reading.outline import CircuitPart, outline
from clearwood.circuits.reading.profiles import Facts, label_words
from clearwood.circuits.reading.strengths import strengths
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError

DEEPEST, MOST_CELLS, MOST_SHOWN = 3, 800, 100
"""Maximum depth of components, number of cells, and number of columns in a plot."""

FARTHEST, DARKEST = 1.5, 0.7
"""Deviation in standard deviations of the darkest colour, and its opacity: black text
stays readable on it."""

ABOVE, BELOW = COLOURS[1], COLOURS[0]

LEGEND = tuple(
    (text, {"deviation": far})
    for text, far in (
        (f"{FARTHEST:g} or more below", -FARTHEST),
        (f"{FARTHEST / 2:g} below", -FARTHEST / 2),
        ("as in all rows", 0.0),
        (f"{FARTHEST / 2:g} above", FARTHEST / 2),
        (f"{FARTHEST:g} or more above", FARTHEST),
    )
)  # fmt: skip

NAMES, STRIP = 0.36, 1.55
"""Maximum share of the width for names; height of a strip relative to the font size."""


class Cell(NamedTuple):
    """A column within a component, from one cumulative share of all rows to another.

    Attributes
    ----------
    column : int
    left, right : float
    kind : int
        Of the rows, at the first level of components.
    facts : Shares or Moments
    """

    column: int
    left: float
    right: float
    kind: int
    facts: Facts


class CircuitDisplay(Display):
    """Plot of a circuit: components from left to right, columns from top to bottom.

    The width of a component is its share of all rows; within it, every column's strip
    is divided where nested components differ in this column. Colours show the deviation
    of the mean of a column, or of the share of a level, from that among all rows.
    Dependent columns are neighbours.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    circuit : Circuit
    depth : int, optional
        Depth to which nested components are shown. By default up to three levels, as
        long as the cells stay few enough to see.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Its units are points.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> features = FeatureSpace(("a", "b"), ((0, 1), (0, 1)))
    >>> circuit = Circuit(Sum(np.array([0.4, 0.6]), tuple(kinds)), features)
    >>> display = CircuitDisplay(circuit).plot()
    >>> [(cell.column, round(cell.left, 1)) for cell in display.cells]
    [(0, 0.0), (1, 0.0), (0, 0.6), (1, 0.6)]
    """

    def __init__(self, circuit: Circuit, depth: int | None = None) -> None:
        self.circuit = circuit
        for deep in range(DEEPEST, 0, -1) if depth is None else (depth,):
            self.part = outline(circuit.root, deep, circuit.table.numbers)
            self.cells = list(cells_of(self.part))
            if len(self.cells) <= MOST_CELLS:
                break
        farthest = np.zeros(circuit.features.n_features)
        for cell in self.cells:
            gap = abs(self._deviation(cell)) * (cell.right - cell.left) ** 0.5
            farthest[cell.column] = max(farthest[cell.column], gap)
        shown = np.sort(np.argsort(-farthest, kind="stable")[:MOST_SHOWN])
        near = dependence_order(strengths(circuit)[np.ix_(shown, shown)])
        self.columns = [int(shown[i]) for i in near]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, depth: int | None = None, ax: Any = None
    ) -> CircuitDisplay:
        """Create the display from a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With ``circuit_``, such as a MiniSPN.
        depth : int, optional
            Depth to which nested components are shown. By default up to three levels,
            as long as the cells stay few enough to see.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        CircuitDisplay
        """
        return cls(circuit_from(estimator), depth).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        from matplotlib.patches import Rectangle

        ax, place = opened(ax, self._lay_out)
        for left, top, width, height, colour in place.boxes:
            ax.add_patch(
                Rectangle(
                    (left, top), width, height, facecolor=colour, edgecolor="white",
                    linewidth=0.6, clip_on=False,
                )
            )  # fmt: skip
        draw_texts(ax, place.texts, place.size)
        closed(ax)
        return [ax]

    def _deviation(self, cell: Cell) -> float:
        of_all = self.part.profile[cell.column]
        return cell.facts.deviation(of_all)  # type: ignore[arg-type]

    def _lay_out(self, width: float, size: float) -> _Places:
        measure, bold, small = measures(size)
        features = self.circuit.features
        names = {
            j: shortened(strip_name(features, j), NAMES * width, measure)
            for j in self.columns
        }
        start = max(map(measure, names.values())) + 0.6 * size
        gap = 0.35 * size
        n_gaps = max(len(self.part.clusters) - 1, 0)
        scale = width - start - n_gaps * gap
        top = 2.0 * size if self.part.clusters else 0.2 * size
        high = STRIP * size
        y_of = {j: top + high * i for i, j in enumerate(self.columns)}
        texts = [
            Text(start - 0.6 * size, y_of[j] + high / 2, name, "right")
            for j, name in names.items()
        ]
        boxes = []
        for cell in (cell for cell in self.cells if cell.column in y_of):
            left = start + scale * cell.left + gap * cell.kind
            wide, y = scale * (cell.right - cell.left), y_of[cell.column]
            boxes.append((left, y, wide, high, colour_of(self._deviation(cell))))
            labels = features.categories[cell.column] or ()
            of_all = self.part.profile[cell.column]
            numbers = features.info[cell.column].kind
            text = cell.facts.brief(of_all, labels, numbers)  # type: ignore[arg-type]
            if small(text) < wide - 0.5 * size:
                texts.append(Text(left + wide / 2, y + high / 2, text, "center",
                                  small=True))  # fmt: skip
        for i, kind, left, right in spans(self.part, 0.0, 1.0):
            middle = start + scale * (left + right) / 2 + gap * i
            for head in (f"{i + 1}: {share_text(kind.share)}", f"{i + 1}"):
                if self.part.clusters and bold(head) < scale * (right - left) + gap:
                    texts.append(Text(middle, size, head, "center", bold=True))
                    break
        end = top + high * len(self.columns)
        marks = legend_of(LEGEND, end + 1.1 * size, width, size)
        boxes += [
            (x, y - 0.45 * size, 1.5 * size, 0.9 * size, colour_of(look["deviation"]))
            for x, y, look in marks.marks
        ]
        below = marks.end + 1.0 * size
        for line in wrapped(self._note().split(), width, small):
            texts.append(Text(0.0, below, line, quiet=True, small=True))
            below += LEADING * SMALL * size
        return _Places(size, width, below, boxes, [*texts, *marks.texts])

    def _note(self) -> str:
        hidden = self.circuit.features.n_features - len(self.columns)
        more = f" Not shown: {hidden:,} columns that differ less." if hidden else ""
        return (
            "From left to right: clusters of rows, each as wide as its share. Numbers: "
            "the mean, the median of a skewed column, or the share of a value that "
            "nearly all rows have, or of a level (of several, the one that "
            "distinguishes the cluster most). Colours: the deviation of the mean or "
            "share from all rows, in standard deviations."
            f"{more}"
        )


class _Places(NamedTuple):
    """Layout in points from the upper left corner."""

    size: float
    width: float
    height: float
    boxes: list[tuple[float, float, float, float, str]]
    texts: list[Text]


def circuit_from(estimator: Any) -> Circuit:
    """Circuit of a fitted estimator."""
    circuit = getattr(estimator, "circuit_", None)
    if isinstance(circuit, Circuit):
        return circuit
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    raise InputError(
        f"estimator is {type_text(estimator)}, which has no circuit_; pass a "
        "fitted MiniSPN or another density estimator of circuits."
    )


def cells_of(part: CircuitPart) -> Iterator[Cell]:
    """Strips of all columns, divided by nested components of the column."""
    for i, kind, left, right in spans(part, 0.0, 1.0):
        yield from _within(kind, left, right, i)


def spans(
    part: CircuitPart, left: float, right: float
) -> Iterator[tuple[int, CircuitPart, float, float]]:
    """Components of a part, with their numbers and horizontal extents."""
    if not part.clusters:
        yield 0, part, left, right
        return
    ends = left + (right - left) * np.cumsum([0.0, *(k.share for k in part.clusters)])
    yield from zip(
        range(len(part.clusters)), part.clusters, ends.tolist(), ends[1:].tolist()
    )


def _within(part: CircuitPart, left: float, right: float, kind: int) -> Iterator[Cell]:
    for group in part.groups:
        yield from _within(group, left, right, kind)
    if part.clusters:
        for _, inner, start, stop in spans(part, left, right):
            yield from _within(inner, start, stop, kind)
    elif not part.groups:
        for j, facts in part.profile.items():
            yield Cell(j, left, right, kind, facts)


def dependence_order(strength: np.ndarray) -> list[int]:
    """Order of columns in which dependent ones are neighbours.

    Examples
    --------
    >>> dependence_order(np.array([[1, 0, 0.9], [0, 1, 0], [0.9, 0, 1]]))
    [1, 2, 0]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(strength) < 2:
        return list(range(len(strength)))
    j, k = np.triu_indices(len(strength), 1)
    tree = linkage(1.0 - strength[j, k], "average", optimal_ordering=True)
    return [int(j) for j in leaves_list(tree)]


def strip_name(features: FeatureSpace, j: int) -> str:
    """Name of a column; if binary, also the level whose share is shown."""
    labels = features.categories[j] or ()
    level = f" = {label_words(labels[1])}" if len(labels) == 2 else ""
    return printable(features.title(j)) + level


def colour_of(deviation: float) -> str:
    """Blue below, orange above, white where nothing differs."""
    from matplotlib.colors import to_hex, to_rgb

    far = DARKEST * min(abs(deviation) / FARTHEST, 1.0)
    full = to_rgb(ABOVE if deviation > 0 else BELOW)
    # What differs in nothing is seen on white paper, too.
    red, green, blue = (min(far * part + 1 - far, 0.95) for part in full)
    return str(to_hex((red, green, blue)))


def shortened(text: str, width: float, measure: Callable[[str], float] = len) -> str:
    """Truncate a text to a width."""
    if measure(text) <= width:
        return text
    while text and measure(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"
