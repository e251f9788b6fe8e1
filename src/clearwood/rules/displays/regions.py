"""Rules as boxes over two features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._warned_once import warned_once
from clearwood._words.labels import printable
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, MARKERS, colour, plain, wrapped
from clearwood.rules import RuleList, RuleSet, RuleSum
from clearwood.rules.displays.region_cells import (
    Box,
    box_of,
    cell_edges,
    decided_cells,
    held_cells,
    limits,
    most_used,
    predictions_on_grid,
    taken_cells,
    two_features,
)
from clearwood.rules.rule_set import rules_of

SHOWN_POINTS = 5000
LABEL = 19
"""Width of a rule's number, in points."""

VERBS: dict[type[RuleSet], tuple[str, str]] = {RuleSum: ("adds ", "raises ")}
"""Contributions of rules that do not predict: in general, and for many classes."""


@dataclass(eq=False, repr=False)
class RegionsDisplay(Display):
    """Regions of rules over two features.

    Construct with :meth:`from_estimator`. In a list the first rule that holds predicts:
    its outline is bold, and thin for later rules where it covers them. A dashed box is
    the projection of a rule that uses further features. The background shows the
    predictions of the ensemble if it uses no others, or else those of the rules where
    the two features alone determine them.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Values of both features.
    predicted : ndarray of shape (n_samples,)
        Label or value that colours the points.
    boxes : sequence of Box
        Rules with conditions on these features, in printed order.
    names : tuple of str
        Names of the two features.
    target : str
        Name of the target.
    classes : tuple, default=()
        Class labels; empty for regression.
    background : tuple of ndarray or None, default=None
        Coordinates along both axes and the model's predictions on their grid, of shape
        (len(second), len(first)).
    decided : tuple of ndarray or None, default=None
        Edges of cells along both axes and predictions of the rules in them, a masked
        array of shape (len(second) - 1, len(first) - 1).
    kind : type, default=RuleList
        RuleList, RuleSum or RuleAverage. Only in a list does a rule cover rows of
        another.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.rules import Interval, Rule
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=0.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(2))
    >>> display = RegionsDisplay.from_estimator(rules, np.eye(2), [0.0, 1.0])
    >>> display.boxes[0].low
    (0.5, -inf)
    >>> display.plot().ax_.get_xlabel()
    'x0'
    """

    points: np.ndarray
    predicted: np.ndarray
    boxes: Sequence[Box]
    names: tuple[str, str]
    target: str = "y"
    classes: tuple[Any, ...] = ()
    background: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    decided: tuple[np.ndarray, np.ndarray, np.ma.MaskedArray] | None = None
    kind: type[RuleSet] = RuleList

    @classmethod
    @warned_once()
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> RegionsDisplay:
        """Draw the rules of a fitted estimator over the data.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
            Its printed rules are drawn. If its ensemble uses no features but these two,
            its predictions fill the background.
        X : array-like or frame of shape (n_samples, n_features)
            Rows to show as points.
        y : array-like of shape (n_samples,), optional
            Colours of the points; by default predictions of the ensemble (or of the
            rules if there is no ensemble).
        features : sequence of two int or str, optional
            Positions or names of two numeric features; by default those that most rules
            use.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        RegionsDisplay
        """
        rules = rules_of(estimator)
        pair = most_used(rules) if features is None else two_features(rules, features)
        points = rules.features.encode(X, pair)[:, pair]
        ensemble = getattr(estimator, "ensemble_", None)
        predicted = (ensemble or rules).predict(X)
        if y is not None:
            predicted = rules.check_target(y, len(points), "y")
        verb = VERBS.get(type(rules), ("", ""))[len(rules.classes) > 2]
        boxes = [
            box_of(rule, number, pair, verb + rules.brief_text_of(rule))
            for number, rule in enumerate(rules.rules, start=1)
        ]
        return cls(
            points,
            predicted,
            [box for box in boxes if box is not None],
            names=(rules.features.title(pair[0]), rules.features.title(pair[1])),
            target=rules.target,
            classes=rules.classes,
            background=predictions_on_grid(ensemble, pair, points),
            decided=_rules_in_cells(rules, pair, points),
            kind=type(rules),
        ).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        ax = axes_of(ax, 7.2, 4.8)
        draw = self._draw_classes if self.classes else self._draw_values
        draw(ax)
        bounds = [limits(column) for column in self.points.T]
        self._draw_boxes(ax, bounds)
        ax.set(xlim=bounds[0], ylim=bounds[1])
        ax.set_xlabel(_short_lines(self.names[0], 60))
        ax.set_ylabel(_short_lines(self.names[1], 45))
        handles, labels = ax.get_legend_handles_labels()
        if handles:
            ax.legend(
                handles, labels, ncols=1 + (len(handles) > 22),
                title=_short_lines(self.target) if self.classes else None,
                loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False,
                alignment="left", fontsize=9,
            )  # fmt: skip
        return [ax]

    def _shown(self) -> np.ndarray:
        # Evenly thinned: more points would overlap, and no seed is needed.
        n = len(self.points)
        return np.unique(np.linspace(0, n - 1, min(n, SHOWN_POINTS)).astype(int))

    def _draw_classes(self, ax: Any) -> None:
        from matplotlib.colors import ListedColormap

        colours = [colour(k) for k in range(len(self.classes))]
        if (ground := self._ground()) is not None:
            first, second, predicted = ground
            codes = np.ma.array(
                np.zeros(predicted.shape), mask=np.ma.getmaskarray(predicted)
            )
            for k, label in enumerate(self.classes):
                codes[~codes.mask & (predicted.data == label)] = k
            ax.pcolormesh(
                first, second, codes, cmap=ListedColormap(colours), vmin=-0.5,
                vmax=len(colours) - 0.5, alpha=0.14, linewidth=0,
                rasterized=True, zorder=0,
            )  # fmt: skip
        rows = self._shown()
        for k, label in enumerate(self.classes):
            own = rows[self.predicted[rows] == label]
            # Where a colour is repeated, the marker differs.
            marker = MARKERS[(k + k // len(COLOURS)) % len(MARKERS)]
            ax.scatter(
                *self.points[own].T, s=14, color=colours[k], alpha=0.6, marker=marker,
                linewidths=0, label=_short_lines(str(label)), zorder=1,
            )  # fmt: skip

    def _draw_values(self, ax: Any) -> None:
        ground = self._ground()
        values = self.predicted if ground is None else ground[2].compressed()
        scale = {
            "cmap": "cividis",
            "vmin": min(self.predicted.min(), values.min(initial=np.inf)),
            "vmax": max(self.predicted.max(), values.max(initial=-np.inf)),
        }
        if ground is not None:
            ax.pcolormesh(
                *ground, **scale, alpha=0.35, linewidth=0, rasterized=True, zorder=0
            )
        rows = self._shown()
        drawn = ax.scatter(
            *self.points[rows].T, s=16, c=self.predicted[rows], **scale,
            edgecolors="white", linewidths=0.3, zorder=1,
        )  # fmt: skip
        # Below the chart: the legend of the boxes is beside it. A layout engine leaves
        # room for the label between them, others do not.
        pad = 0.16 if ax.figure.get_layout_engine() is None else 0.02
        bar = ax.figure.colorbar(
            drawn, ax=ax, location="bottom", shrink=0.7, aspect=40, pad=pad
        )
        bar.set_label(plain(self.target))
        bar.outline.set_visible(False)

    def _ground(self) -> tuple[np.ndarray, np.ndarray, np.ma.MaskedArray] | None:
        """Coordinates along both axes, and predictions of the ensemble or the rules."""
        if self.background is None:
            return self.decided
        first, second, predicted = self.background
        return first, second, np.ma.array(predicted)

    def _draw_boxes(self, ax: Any, bounds: list[tuple[float, float]]) -> None:
        edges = cell_edges(self.boxes, bounds)
        taken = taken_cells(self.boxes, edges)
        if self.kind is not RuleList:
            taken = [np.zeros_like(cells) for cells in taken]
        corners = _Corners(bounds)
        places = []
        for box, cells in zip(self.boxes, taken):
            low = [max(a, b[0]) for a, b in zip(box.low, bounds)]
            high = [min(a, b[1]) for a, b in zip(box.high, bounds)]
            if low[0] < high[0] and low[1] < high[1]:
                free = held_cells(box, edges) & ~cells
                corner = _label_corner((low[0], high[1]), edges, free, bounds)
                bold = _outline(low, high, edges, free)
                places.append((box, low, high, bold, corner, corners(corner)))
        # The first rule that holds predicts, so it is drawn on top.
        for order, place in enumerate(reversed(places)):
            self._draw_box(ax, *place, order=order)
        for box in self.boxes:
            self._describe(ax, box)

    def _draw_box(
        self,
        ax: Any,
        box: Box,
        low: list[float],
        high: list[float],
        bold: list[list[tuple[float, float]]],
        corner: tuple[float, float],
        shift: int,
        order: int,
    ) -> None:
        """A thin outline, a bold one where the rule predicts, and its number."""
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Rectangle

        ink, dashes = self._ink(box), "--" if box.further else "-"
        ax.add_patch(
            Rectangle(
                (low[0], low[1]), high[0] - low[0], high[1] - low[1], fill=False,
                edgecolor=ink, linewidth=0.7, alpha=0.7, linestyle=dashes,
                zorder=2 + order,
            )
        )  # fmt: skip
        ax.add_collection(
            LineCollection(
                bold, colors=ink, linewidths=2.0, linestyles=dashes, zorder=2 + order
            )
        )
        ax.annotate(
            str(box.number), corner, xytext=(4 + LABEL * shift, -4),
            textcoords="offset points", ha="left", va="top", fontsize=9,
            fontweight="bold", color="white", annotation_clip=True,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": ink, "linewidth": 0},
            zorder=20 + len(self.boxes) + order,
        )  # fmt: skip

    def _ink(self, box: Box) -> str:
        if self.classes:
            return colour(self.classes.index(box.prediction))
        if not self.kind.rules_predict:
            return COLOURS[0] if box.prediction > 0 else COLOURS[1]
        return "black"

    def _describe(self, ax: Any, box: Box) -> None:
        """Entry of the legend."""
        text = f"{box.number}: {box.says}{' (has further conditions)' * box.further}"
        ax.plot(
            [], [], color=self._ink(box), linewidth=1.8,
            linestyle="--" if box.further else "-", label=_short_lines(text),
        )  # fmt: skip


def _rules_in_cells(
    rules: RuleSet, pair: list[int], points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ma.MaskedArray] | None:
    """Predictions of a list, where the two features alone determine them."""
    if not isinstance(rules, RuleList):
        return None
    bounds = [limits(column) for column in points.T]
    first, second, number = decided_cells(rules, pair, bounds)
    return first, second, np.ma.array(rules.predictions[number - 1], mask=number == 0)


def _outline(
    low: list[float], high: list[float], edges: list[np.ndarray], free: np.ndarray
) -> list[list[tuple[float, float]]]:
    """Segments of a box's sides next to cells that it predicts."""
    first, second = edges
    i, j = np.searchsorted(first, [low[0], high[0]]).tolist()
    k, m = np.searchsorted(second, [low[1], high[1]]).tolist()
    pieces = []
    for y, row in ((low[1], k), (high[1], m - 1)):
        for c in range(i, j):
            if free[row, c]:
                pieces.append([(first[c], y), (first[c + 1], y)])
    for x, column in ((low[0], i), (high[0], j - 1)):
        for r in range(k, m):
            if free[r, column]:
                pieces.append([(x, second[r]), (x, second[r + 1])])
    return pieces


def _label_corner(
    corner: tuple[float, float],
    edges: list[np.ndarray],
    free: np.ndarray,
    bounds: list[tuple[float, float]],
) -> tuple[float, float]:
    """Upper left corner of a box; if covered, of the largest cell it predicts."""
    column = np.searchsorted(edges[0], corner[0])
    row = np.searchsorted(edges[1], corner[1]) - 1
    if free[row, column] or not free.any():
        return corner
    # As shares of the visible range: the axes need not have equal units.
    width, height = (np.diff(e) / (high - low) for e, (low, high) in zip(edges, bounds))
    area = np.where(free, height[:, None] * width, 0.0)
    row, column = np.unravel_index(area.argmax(), area.shape)
    return float(edges[0][column]), float(edges[1][row + 1])


def _short_lines(text: str, width: int = 30) -> str:
    """Text wrapped and shortened to fit beside a chart."""
    return plain(*wrapped([printable(text)], width, len))


class _Corners:
    """Counter of labels per corner, so that none hides another."""

    def __init__(self, bounds: list[tuple[float, float]]) -> None:
        self.low = np.array([low for low, _ in bounds])
        self.width = np.array([high - low for low, high in bounds])
        self.used: list[np.ndarray] = []

    def __call__(self, corner: tuple[float, float]) -> int:
        place = (np.array(corner) - self.low) / self.width
        near = sum(bool((np.abs(place - other) < 0.05).all()) for other in self.used)
        self.used.append(place)
        return near
