"""What a comparison found, as points: how much one reads against how wrong it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clearwood._words.labels import printable
from clearwood._words.numbers import short_text
from clearwood.charts.scale import (
    LOG_RATIO,
    Scale,
    linear_scale,
    log_ticks,
    scale_of,
)
from clearwood.charts.style import (
    MARKERS,
    QUIET,
    colour,
    plain,
    text_width,
)
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES

if TYPE_CHECKING:
    from clearwood.comparison.frontier import Frontier, FrontierPoint

ACROSS = {
    "n_rules": "lines, otherwise included",
    "n_literals": "literals in all lines",
    "seconds": "seconds of the fit",
}
UP = {
    "error": "held-out error ({0.error_unit})",
    "fidelity": "held-out fidelity ({0.agreement_unit})",
    "stability": "agreement between refits",
}
"""Names of what goes up, for an outcome."""
SPREAD = 0.6
"""Room for points of the same number of lines, in lines."""
LEGEND_SIZE = 9.0


class FrontierDisplay:
    """Every rule set of a comparison as a point: what one reads, what one gets.

    Make one with :meth:`from_frontier`. Colour and marker tell the method. Points of
    the same number of lines stand side by side. Filled are those that no other one
    beats in both directions; a line joins them. Bars are one standard error of the
    mean over the folds, to both sides.

    Parameters
    ----------
    points : sequence of FrontierPoint
        Those whose value is not known are left out.
    task : {"classification", "regression"}
    x : {"n_rules", "n_literals", "seconds"}, default="n_rules"
        What goes across.
    y : {"error", "fidelity", "stability"}, default="error"
        What goes up.
    model_error : float, default=NaN
        Error of the model itself, on rows that it was not fitted to.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.comparison import FrontierPoint
    >>> nan = float("nan")
    >>> few = FrontierPoint("list", 1, 1, 0, 0.4, 0.02, 0.5, 0, 0, nan, 1.0, True,
    ...                     None, "otherwise a")
    >>> FrontierDisplay([few], task="classification").plot().ax_.get_xlabel()
    'lines, otherwise included'
    """

    def __init__(
        self,
        points: Sequence[FrontierPoint],
        *,
        task: str,
        x: str = "n_rules",
        y: str = "error",
        model_error: float = float("nan"),
    ) -> None:
        for name, value, known in (("x", x, ACROSS), ("y", y, UP)):
            if value not in known:
                raise InputError(
                    f"{name} must be one of {tuple(known)}, found {value!r}."
                )
        self.points = [p for p in points if math.isfinite(getattr(p, y))]
        if not self.points:
            raise InputError(
                f"There is no point whose {y} is known; the failures of the frontier "
                "say why."
            )
        self.task = task
        self.x = x
        self.y = y
        self.model_error = model_error if y == "error" else float("nan")

    @classmethod
    def from_frontier(
        cls, frontier: Frontier, x: str = "n_rules", y: str = "error"
    ) -> FrontierDisplay:
        """The points of a comparison.

        Parameters
        ----------
        frontier : Frontier
            What ``compare`` found.
        x : {"n_rules", "n_literals", "seconds"}, default="n_rules"
            What goes across: lines, literals, or the seconds of the fit.
        y : {"error", "fidelity", "stability"}, default="error"
            What goes up.

        Returns
        -------
        FrontierDisplay
        """
        return cls(
            frontier.points,
            task=frontier.task,
            x=x,
            y=y,
            # On rows that it may have learnt by heart it is no measure.
            model_error=frontier.model_error if frontier.model_refitted else math.nan,
        )

    @property
    def methods(self) -> list[str]:
        """The methods that have points, in their order."""
        return list(dict.fromkeys(point.method for point in self.points))

    @property
    def places(self) -> list[tuple[float, float]]:
        """Where each point stands; those of as many lines stand side by side."""
        methods = self.methods
        step = SPREAD / len(methods) if self.x == "n_rules" else 0.0
        middle = (len(methods) - 1) / 2
        return [
            (
                getattr(p, self.x) + step * (methods.index(p.method) - middle),
                getattr(p, self.y),
            )
            for p in self.points
        ]

    @property
    def unbeaten(self) -> list[bool]:
        """Whether no other point is at least as good in both and better in one."""
        sign = 1.0 if self.y == "error" else -1.0
        pairs = [(getattr(p, self.x), sign * getattr(p, self.y)) for p in self.points]
        best = set(_falling(pairs))
        return [pair in best for pair in pairs]

    @property
    def stairs(self) -> list[tuple[float, float]]:
        """The places of the unbeaten points, from left to right, one per step."""
        across: dict[float, tuple[float, float]] = {}
        for point, place, best in zip(self.points, self.places, self.unbeaten):
            if best:
                # Points that tie: the step begins at the first of them.
                across.setdefault(getattr(point, self.x), place)
        return [across[key] for key in sorted(across)]

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """The axes: across and up."""
        values = [y for _, y in self.places]
        if self.y == "error":
            values += [p.error + p.error_spread for p in self.points if has_bar(p)]
        across, up = scale_of([x for x, _ in self.places]), scale_of(values)
        if math.isnan(self.model_error) or (up.is_log and self.model_is_far_below):
            return across, up
        # A logarithm has no nought, and a very small error would take all the room.
        scale = linear_scale if self.model_is_far_below else scale_of
        return across, scale([*values, self.model_error])

    @property
    def model_is_far_below(self) -> bool:
        """Whether the model's error is so small that it may be off the picture."""
        return self.model_error * LOG_RATIO < min(y for _, y in self.places)

    @property
    def labels(self) -> tuple[str, str]:
        """What the axes are of."""
        return ACROSS[self.x], UP[self.y].format(OUTCOMES[self.task])

    def plot(self, ax: Any = None) -> FrontierDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        FrontierDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7.2, 5.0), layout="constrained")
        self._draw_axes(ax)
        stairs = self.stairs
        # To the right end: more lines do not make it worse.
        stairs = [*stairs, (self.scales[0].high, stairs[-1][1])]
        ax.plot(*zip(*stairs), drawstyle="steps-post", color=QUIET, linewidth=1.2)
        for position, method in enumerate(self.methods):
            self._draw_method(ax, position, method)
        if not math.isnan(self.model_error):
            self._draw_model(ax)
        self._draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_axes(self, ax: Any) -> None:
        from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

        for axis, scale, name in zip((ax.xaxis, ax.yaxis), self.scales, "xy"):
            if scale.is_log:
                ax.set(**{f"{name}scale": "log"})
                axis.set_major_locator(FixedLocator(log_ticks(scale)))
                axis.set_minor_locator(NullLocator())
                axis.set_major_formatter("{x:g}")
            elif name == "x" and self.x != "seconds":
                axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            ax.set(**{f"{name}lim": (scale.low, scale.high)})
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#00000018")

    def _draw_method(self, ax: Any, position: int, method: str) -> None:
        ink, shape = colour(position), marker(position)
        for point, (x, y), best in zip(self.points, self.places, self.unbeaten):
            if point.method != method:
                continue
            if self.y == "error" and has_bar(point):
                ends = (y - point.error_spread, y + point.error_spread)
                low, high = (max(end, self.scales[1].low) for end in ends)
                ax.plot([x, x], [low, high], color=ink, linewidth=0.8, alpha=0.5)
            ax.plot(
                [x], [y], shape, markersize=8 if best else 5.5, color=ink,
                markerfacecolor=ink if best else "white", zorder=4 if best else 3,
            )  # fmt: skip

    def _draw_model(self, ax: Any) -> None:
        low = self.scales[1].low
        height = self.model_error
        words = f"the model\nitself\n{short_text(height)}"
        if height < low:
            words, height = f"{words},\nbelow", low
        else:
            ax.axhline(height, color="black", linewidth=1.2, linestyle="--")
        # Beside the axes, where no point can be.
        ax.annotate(
            words, (1.0, height),
            xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=LEGEND_SIZE,
            annotation_clip=False,
        )  # fmt: skip

    def _draw_legend(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        names = [printable(method) for method in self.methods]
        handles = [
            Line2D(
                [], [], linestyle="", marker=marker(i), color=colour(i),
                label=plain(name),
            )
            for i, name in enumerate(names)
        ]  # fmt: skip
        names.append("the frontier")
        handles.append(Line2D([], [], color=QUIET, linewidth=1.2, label=names[-1]))
        # As many columns as fit below the axes.
        width = max(map(text_width(LEGEND_SIZE), names)) + 4.5 * LEGEND_SIZE
        room = 72 * ax.figure.get_figwidth() * ax.get_position().width
        ax.legend(
            handles=handles, ncols=max(1, int(room / width)), fontsize=LEGEND_SIZE,
            loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False,
        )  # fmt: skip


def marker(position: int) -> str:
    """The marker of a method; with its colour none is like another of 49."""
    return MARKERS[(position + position // len(MARKERS)) % len(MARKERS)]


def has_bar(point: FrontierPoint) -> bool:
    """Whether the standard error of a point is known and not nought."""
    return 0 < point.error_spread < math.inf


def _falling(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Pairs whose second number is below those of all pairs before them."""
    found: list[tuple[float, float]] = []
    for pair in sorted(pairs):
        if not found or pair[1] < found[-1][1]:
            found.append(pair)
    return found
