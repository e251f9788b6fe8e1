"""Scatter plot of a comparison: size of rule sets against error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from clearwood._words.labels import printable
from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.display import Display
from clearwood.charts.grounds import ClickGround
from clearwood.charts.marks import Level, Linked, Mark, Note, Points
from clearwood.charts.scale import LOG_RATIO, Scale, linear_scale, scale_of
from clearwood.charts.style import COLOURS, MARKERS
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES

if TYPE_CHECKING:
    from clearwood.comparison.frontier import Frontier
    from clearwood.comparison.point import FrontierPoint

ACROSS = {
    "n_rules": "rules, otherwise included",
    "n_literals": "literals in all rules",
    "seconds": "seconds of the fit",
}
UP = {
    "error": "held-out error ({0.error_unit})",
    "fidelity": "held-out fidelity ({0.agreement_unit})",
    "stability": "agreement between refits",
}
"""Axis labels of the vertical measures, by type of outcome."""
SPREAD = 0.85
"""Width over which points with equal numbers of rules are spread, in rules."""

FAR = 2.0
"""Ranges of the other points from which the error of constants is beyond the axes."""


@dataclass(eq=False, repr=False)
class FrontierDisplay(Display):
    """Plot of the rule sets of a comparison: size against error or another measure.

    Make one with :meth:`from_frontier`. Colour and marker distinguish methods. Points
    with equal numbers of rules are drawn side by side. Filled points are
    Pareto-optimal, joined by a line. Error bars are one standard error of the mean over
    the folds in each direction. If a single rule, a constant, has a far higher error
    than all others, the chart names its error at the upper end.

    Parameters
    ----------
    points : sequence of FrontierPoint
        Points; those with unknown values are left out.
    task : {"classification", "regression"}
    x : {"n_rules", "n_literals", "seconds"}, default="n_rules"
        Horizontal measure.
    y : {"error", "fidelity", "stability"}, default="error"
        Vertical measure.
    model_error : float, default=NaN
        Error of the model itself, on held-out rows.

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
    'rules, otherwise included'
    """

    points: Sequence[FrontierPoint]
    task: str
    x: str = "n_rules"
    y: str = "error"
    model_error: float = math.nan

    def __post_init__(self) -> None:
        for name, value, known in (("x", self.x, ACROSS), ("y", self.y, UP)):
            if value not in known:
                raise InputError(
                    f"{name} must be one of {tuple(known)}, found {value!r}."
                )
        numbered = [
            (k, p)
            for k, p in enumerate(self.points)
            if math.isfinite(getattr(p, self.y))
        ]
        if not numbered:
            raise InputError(
                f"There is no point whose {self.y} is known; see the frontier's "
                "failures."
            )
        self.numbers, self.points = map(list, zip(*numbered))
        if self.y != "error":
            self.model_error = math.nan

    @classmethod
    def from_frontier(
        cls, frontier: Frontier, x: str = "n_rules", y: str = "error"
    ) -> Self:
        """Plot the points of a comparison.

        Parameters
        ----------
        frontier : Frontier
            Result of ``compare``.
        x : {"n_rules", "n_literals", "seconds"}, default="n_rules"
            Horizontal measure: rules, literals, or seconds of the fit.
        y : {"error", "fidelity", "stability"}, default="error"
            Vertical measure.

        Returns
        -------
        FrontierDisplay
        """
        return cls(
            frontier.points,
            task=frontier.task,
            x=x,
            y=y,
            # Not on rows that the model may have memorized.
            model_error=frontier.model_error if frontier.model_refitted else math.nan,
        )

    of_result = from_frontier

    @property
    def methods(self) -> list[str]:
        """Methods with points, in order."""
        return list(dict.fromkeys(point.method for point in self.points))

    @property
    def places(self) -> list[tuple[float, float]]:
        """Position of each point; those of equal numbers of rules are side by side."""
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
        """Whether each point is Pareto-optimal."""
        sign = 1.0 if self.y == "error" else -1.0
        pairs = [(getattr(p, self.x), sign * getattr(p, self.y)) for p in self.points]
        best = set(_falling(pairs))
        return [pair in best for pair in pairs]

    @property
    def stairs(self) -> list[tuple[float, float]]:
        """Positions of the Pareto-optimal points, from left to right, one per step."""
        across: dict[float, tuple[float, float]] = {}
        for point, place, best in zip(self.points, self.places, self.unbeaten):
            if best:
                # Ties: the step begins at the first of them.
                across.setdefault(getattr(point, self.x), place)
        return [across[key] for key in sorted(across)]

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """Horizontal and vertical scale."""
        across, up = scale_of([x for x, _ in self.places]), scale_of(self._ends())
        if math.isnan(self.model_error) or (up.is_log and self.model_is_far_below):
            return across, up
        # A log scale has no zero, and a very small error would take most of the space.
        scale = linear_scale if self.model_is_far_below else scale_of
        return across, scale([*self._ends(), self.model_error])

    def _ends(self) -> list[float]:
        """Heights of the points and the ends of their bars, without far constants."""
        if self.y != "error":
            return [y for _, y in self.places]
        ends = [end for p in self.points for end in bar(p)]
        of_rules = [end for p in self.points if p.n_rules > 1 for end in bar(p)]
        if not of_rules or scale_of(ends).is_log:
            return ends
        near = max(of_rules) + (FAR - 1) * (max(of_rules) - min(of_rules))
        near_constants = [p for p in self.points if p.n_rules == 1 and p.error <= near]
        return of_rules + [end for p in near_constants for end in bar(p)]

    @property
    def model_is_far_below(self) -> bool:
        """Whether the model's error is so small that it may be outside the axes."""
        return self.model_error * LOG_RATIO < min(y for _, y in self.places)

    @property
    def labels(self) -> tuple[str, str]:
        """Labels of the axes."""
        return ACROSS[self.x], UP[self.y].format(OUTCOMES[self.task])

    def chart(self) -> Chart:
        """Chart of the points, Pareto-optimal ones on top, the steps, and the model."""
        across, up = self.scales
        places, unbeaten, methods = self.places, self.unbeaten, self.methods
        stairs = self.stairs
        # To the right end: more rules do not increase the error.
        stairs.append((across.high, stairs[-1][1]))
        marks: list[Mark] = [
            Points(
                [x for x, _ in stairs], [y for _, y in stairs], "quiet",
                "the frontier", width=1.2, steps=True,
            ),
            *self._model(across, up),
            *(
                Points([], [], ink(i), printable(method), "", 8.0, marker(i))
                for i, method in enumerate(methods)
            ),
        ]  # fmt: skip
        for k in sorted(range(len(places)), key=lambda k: unbeaten[k]):
            point, (x, y), best = self.points[k], places[k], unbeaten[k]
            position = methods.index(point.method)
            to, says = f"#p{self.numbers[k]}", self._says(point)
            if y > up.high:
                continue
            if self.y == "error" and has_bar(point):
                ends = [max(end, up.low) for end in bar(point)]
                marks.append(Points([x, x], ends, ink(position), width=0.8, alpha=0.5))
            dot = Points(
                [x], [y], ink(position), look="", dots=7.0 if best else 5.0,
                shape=marker(position), hollow=not best,
            )  # fmt: skip
            marks.append(Linked([ClickGround((x, y), places), dot], says, to))
        marks += self._constant(up)
        panel = Panel(
            marks,
            Axis(self.labels[0], *across, is_whole=self.x != "seconds"),
            Axis(self.labels[1], *up, shown=self._shown if self.y == "error" else None),
            310.0,
            "below",
        )
        title = "Error against the number of rules; each point is a link to its rules"
        return Chart(title, [panel], size=(7.2, 5.0), right=82.0)

    def _constant(self, up: Scale) -> list[Mark]:
        """Error of a single rule, if it is beyond the axes, at their upper end."""
        far = [k for k, (_, y) in enumerate(self.places) if y > up.high]
        if not far:
            return []
        point, number = self.points[far[0]], self.numbers[far[0]]
        words = f"\N{UPWARDS ARROW} 1 rule: {self._shown(point.error)}"
        note = Note(self.places[far[0]][0], up.high, words, (0.0, 5.0))
        return [Linked([note], self._says(point), f"#p{number}")]

    def _model(self, across: Scale, up: Scale) -> list[Mark]:
        """Line of the model, labelled beside the axes, where no point can be."""
        if math.isnan(self.model_error):
            return []
        height, below = max(self.model_error, up.low), self.model_error < up.low
        words = f"the model\nitself\n{self._shown(self.model_error)}"
        return [
            *([] if below else [Level(height, look="--")]),
            Note(across.high, height, words + ",\nbelow" * below, (6.0, 0.0)),
        ]

    def _says(self, point: FrontierPoint) -> str:
        lines = f"{point.n_rules} rule{'s' * (point.n_rules != 1)}"
        words = f"{printable(point.method)}, {lines}, error {self._shown(point.error)}"
        return words + ", on the frontier" * point.on_frontier

    def _shown(self, error: float) -> str:
        return OUTCOMES[self.task].figure(error)


def ink(position: int) -> str:
    """The style of a method."""
    return f"c{position % len(COLOURS)}"


def marker(position: int) -> str:
    """Marker of a method; its combination with the colour is unique among 64."""
    return MARKERS[(position + position // len(MARKERS)) % len(MARKERS)]


def bar(point: FrontierPoint) -> list[float]:
    """Ends of the error bar of a point; its error if the standard error is unknown."""
    error = point.error_se if has_bar(point) else 0.0
    low = point.error - error
    return [low if low > 0 else point.error, point.error + error]


def has_bar(point: FrontierPoint) -> bool:
    """Whether the standard error of a point is known and positive."""
    return 0 < point.error_se < math.inf


def _falling(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Pairs whose second number is below that of all pairs before them."""
    found: list[tuple[float, float]] = []
    for pair in sorted(pairs):
        if not found or pair[1] < found[-1][1]:
            found.append(pair)
    return found
