"""Pictures of printed rules and of the fit that found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.render import prediction_text
from clearwood.simplifiers.boxes import Box, box_of, limits, said_on_grid, two_features
from clearwood.simplifiers.displays.style import MARKERS, colour, plain, rules_of

SHOWN_POINTS = 5000
LABEL = 19
"""Width of a rule's number, in points."""


class RegionsDisplay:
    """Printed rules as boxes over two features.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Values of both features.
    said : ndarray of shape (n_samples,)
        Label or value by which the points are coloured.
    boxes : sequence of Box
        Rules with conditions on these features, in printed order.
    names : tuple of str
        Names of the two features.
    target : str
        Name of what is predicted.
    classes : tuple, default=()
        Class labels; empty for regression.
    background : tuple of ndarray or None, default=None
        Values along both axes and what the teacher says on their grid, of shape
        (len(second), len(first)).

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval, Rule
    >>> rules = RuleSet(
    ...     (Rule((Interval(0, low=0.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(2))
    >>> display = RegionsDisplay.from_estimator(rules, np.eye(2), [0.0, 1.0])
    >>> display.boxes[0].low
    (0.5, -inf)
    >>> display.plot().ax_.get_xlabel()
    'x0'
    """

    def __init__(
        self,
        points: np.ndarray,
        said: np.ndarray,
        boxes: Sequence[Box],
        *,
        names: tuple[str, str],
        target: str = "y",
        classes: tuple[Any, ...] = (),
        background: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    ) -> None:
        self.points = points
        self.said = said
        self.boxes = boxes
        self.names = names
        self.target = target
        self.classes = classes
        self.background = background

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, features: Sequence[Any] = (0, 1)
    ) -> RegionsDisplay:
        """Boxes of a fitted estimator's rules over the data.

        Parameters
        ----------
        estimator : fitted FABRulesClassifier or FABRulesRegressor, or RuleSet
            Its printed rules are drawn. Where its ensemble reads no features but
            these two, what it says fills the background.
        X : array-like or frame of shape (n_samples, n_features)
            Rows to show as points.
        y : array-like of shape (n_samples,), optional
            Colours of the points; by default what the ensemble (or the rules,
            where there is no ensemble) say of them.
        features : sequence of two int or str, default=(0, 1)
            Positions or names of two numeric features.

        Returns
        -------
        RegionsDisplay
        """
        rules = rules_of(estimator)
        pair = two_features(rules, features)
        points = rules.features.encode(X)[:, pair]
        ensemble = getattr(estimator, "ensemble_", None)
        said = (ensemble or rules).predict(X)
        if y is not None:
            said = rules.check_truth(y, len(points), "y")
        boxes = [
            box
            for number, rule in enumerate(rules.rules, start=1)
            if (box := box_of(rule, number, pair)) is not None
        ]
        return cls(
            points,
            said,
            boxes,
            names=(rules.features.names[pair[0]], rules.features.names[pair[1]]),
            target=rules.target,
            classes=rules.classes,
            background=said_on_grid(ensemble, pair, points),
        )

    def plot(self, ax: Any = None) -> RegionsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        RegionsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
        draw = self._draw_classes if self.classes else self._draw_values
        draw(ax)
        bounds = [limits(column) for column in self.points.T]
        self._draw_boxes(ax, bounds)
        ax.set(xlim=bounds[0], ylim=bounds[1])
        ax.set_xlabel(plain(self.names[0]))
        ax.set_ylabel(plain(self.names[1]))
        ax.spines[["top", "right"]].set_visible(False)
        handles, labels = ax.get_legend_handles_labels()
        if handles:
            ax.legend(
                handles, labels, title=plain(self.target) if self.classes else None,
                loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False,
                alignment="left",
            )  # fmt: skip
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _shown(self) -> np.ndarray:
        # Evenly thinned: more points would hide one another, and no seed is needed.
        n = len(self.points)
        return np.unique(np.linspace(0, n - 1, min(n, SHOWN_POINTS)).astype(int))

    def _draw_classes(self, ax: Any) -> None:
        from matplotlib.colors import ListedColormap

        colours = [colour(k) for k in range(len(self.classes))]
        if self.background is not None:
            first, second, said = self.background
            codes = np.array([self.classes.index(v) for v in said.ravel().tolist()])
            ax.pcolormesh(
                first, second, codes.reshape(said.shape), cmap=ListedColormap(colours),
                vmin=-0.5, vmax=len(colours) - 0.5, alpha=0.14, linewidth=0,
                shading="nearest", rasterized=True, zorder=0,
            )  # fmt: skip
        rows = self._shown()
        for k, label in enumerate(self.classes):
            own = rows[self.said[rows] == label]
            ax.scatter(
                *self.points[own].T, s=14, color=colours[k], alpha=0.6,
                marker=MARKERS[k % len(MARKERS)], linewidths=0,
                label=plain(str(label)), zorder=1,
            )  # fmt: skip

    def _draw_values(self, ax: Any) -> None:
        values = self.said if self.background is None else self.background[2]
        scale = {
            "cmap": "cividis",
            "vmin": min(self.said.min(), values.min()),
            "vmax": max(self.said.max(), values.max()),
        }
        if self.background is not None:
            ax.pcolormesh(
                *self.background, **scale, alpha=0.35, linewidth=0, shading="nearest",
                rasterized=True, zorder=0,
            )  # fmt: skip
        rows = self._shown()
        drawn = ax.scatter(
            *self.points[rows].T, s=16, c=self.said[rows], **scale,
            edgecolors="white", linewidths=0.3, zorder=1,
        )  # fmt: skip
        # Below the picture: the legend of the boxes stands beside it.
        bar = ax.figure.colorbar(
            drawn, ax=ax, location="bottom", shrink=0.7, aspect=40, pad=0.16
        )
        bar.set_label(plain(self.target))
        bar.outline.set_visible(False)

    def _draw_boxes(self, ax: Any, bounds: list[tuple[float, float]]) -> None:
        from matplotlib.patches import Rectangle

        taken = _Corners(bounds)
        # The first rule that fits decides, so it lies on top.
        for order, box in enumerate(reversed(self.boxes)):
            low = [max(a, b[0]) for a, b in zip(box.low, bounds)]
            high = [min(a, b[1]) for a, b in zip(box.high, bounds)]
            if low[0] >= high[0] or low[1] >= high[1]:
                continue
            ink = (
                colour(self.classes.index(box.prediction)) if self.classes else "black"
            )
            ax.add_patch(
                Rectangle(
                    (low[0], low[1]), high[0] - low[0], high[1] - low[1],
                    fill=False, edgecolor=ink, linewidth=1.8,
                    linestyle="--" if box.further else "-", zorder=2 + order,
                )
            )  # fmt: skip
            corner = (low[0], high[1])
            ax.annotate(
                str(box.number), corner, xytext=(4 + LABEL * taken(corner), -4),
                textcoords="offset points", ha="left", va="top", fontsize=9,
                fontweight="bold", color="white", annotation_clip=True,
                bbox={"boxstyle": "round,pad=0.25", "facecolor": ink, "linewidth": 0},
                zorder=20 + order,
            )  # fmt: skip
        for box in self.boxes:
            self._describe(ax, box)

    def _describe(self, ax: Any, box: Box) -> None:
        """One line of the legend."""
        ink = colour(self.classes.index(box.prediction)) if self.classes else "black"
        text = f"{box.number}: {plain(prediction_text(box.prediction))}"
        ax.plot(
            [], [], color=ink, linewidth=1.8, linestyle="--" if box.further else "-",
            label=f"{text} (asks more)" if box.further else text,
        )  # fmt: skip


class _Corners:
    """Counts the labels that are already at a corner, so that none hides another."""

    def __init__(self, bounds: list[tuple[float, float]]) -> None:
        self.low = np.array([low for low, _ in bounds])
        self.width = np.array([high - low for low, high in bounds])
        self.used: list[np.ndarray] = []

    def __call__(self, corner: tuple[float, float]) -> int:
        place = (np.array(corner) - self.low) / self.width
        near = sum(bool((np.abs(place - other) < 0.05).all()) for other in self.used)
        self.used.append(place)
        return near
