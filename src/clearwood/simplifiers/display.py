"""Pictures of printed rules and of the fit that found them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.render import prediction_text
from clearwood.simplifiers.boxes import Box, box_of, limits, said_on_grid, two_features

# Okabe and Ito's colours, which all eyes tell apart, and as many markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
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
        rules = getattr(estimator, "rules_", estimator)
        if not isinstance(rules, RuleSet):
            raise InputError(
                f"estimator is a {type(estimator).__name__} without rules; hand in a "
                "fitted FABRulesClassifier or FABRulesRegressor, or a RuleSet."
            )
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
        ax.set_xlabel(_plain(self.names[0]))
        ax.set_ylabel(_plain(self.names[1]))
        ax.spines[["top", "right"]].set_visible(False)
        handles, labels = ax.get_legend_handles_labels()
        if handles:
            ax.legend(
                handles, labels, title=_plain(self.target) if self.classes else None,
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

        colours = [_colour(k) for k in range(len(self.classes))]
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
                label=_plain(str(label)), zorder=1,
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
        bar.set_label(_plain(self.target))
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
                _colour(self.classes.index(box.prediction)) if self.classes else "black"
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
        ink = _colour(self.classes.index(box.prediction)) if self.classes else "black"
        text = f"{box.number}: {_plain(prediction_text(box.prediction))}"
        ax.plot(
            [], [], color=ink, linewidth=1.8, linestyle="--" if box.further else "-",
            label=f"{text} (asks more)" if box.further else text,
        )  # fmt: skip


class FABPathDisplay:
    """The bound and the surviving components, iteration by iteration.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    bound : ndarray of shape (n_iterations,)
        Lower bound on the log evidence.
    n_components : ndarray of shape (n_iterations + 1,)
        Components at the start, and those left after each iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Shows the bound.
    components_ax_ : matplotlib Axes
        Shows the components; it lies below ``ax_``.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = FABPathDisplay(np.array([-9.0, -4.0]), np.array([9, 5, 3]))
    >>> display.plot().ax_.get_ylabel()
    'bound'
    """

    def __init__(self, bound: np.ndarray, n_components: np.ndarray) -> None:
        self.bound = bound
        self.n_components = n_components

    @classmethod
    def from_estimator(cls, estimator: Any) -> FABPathDisplay:
        """The course of the best start of a fitted estimator.

        Parameters
        ----------
        estimator : fitted FABRulesClassifier or FABRulesRegressor

        Returns
        -------
        FABPathDisplay
        """
        history = getattr(estimator, "history_", None)
        if history is None:
            raise InputError(
                f"estimator is a {type(estimator).__name__} without history_; hand in "
                "a fitted FABRulesClassifier or FABRulesRegressor."
            )
        if not history:
            raise InputError(
                "The fit had no iterations (one rule, or an ensemble without "
                "splits); there is no path to draw."
            )
        return cls(
            np.array([step.bound for step in history], dtype=float),
            np.array(
                [estimator.n_start_components_, *(s.n_components for s in history)]
            ),
        )

    def plot(self, ax: Any = None) -> FABPathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided in two; a new figure by default.

        Returns
        -------
        FABPathDisplay
            Itself, with ``ax_``, ``components_ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
        below = ax.inset_axes((0, 0, 1, 0.42))
        above = ax.inset_axes((0, 0.54, 1, 0.46), sharex=below)
        ax.axis("off")
        iterations = np.arange(1, len(self.bound) + 1)
        above.plot(iterations, self.bound, color=COLOURS[0], linewidth=1.8)
        below.plot(
            np.arange(len(self.n_components)),
            self.n_components,
            color=COLOURS[1],
            linewidth=1.8,
            drawstyle="steps-post",
        )
        above.set_ylabel("bound")
        above.tick_params(labelbottom=False)
        below.set(xlabel="iteration", ylabel="components")
        below.set_ylim(0, 1.1 * self.n_components.max())
        for axis in (below.xaxis, below.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        for part in (above, below):
            part.spines[["top", "right"]].set_visible(False)
            part.grid(axis="y", color="#00000018")
        self.ax_, self.components_ax_, self.figure_ = above, below, ax.figure
        return self


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


def _colour(position: int) -> str:
    return COLOURS[position % len(COLOURS)]


def _plain(text: str) -> str:
    """Keep matplotlib from reading ``$`` in a name as mathematics."""
    return text.replace("$", r"\$")
