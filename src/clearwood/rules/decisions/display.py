"""Charts of calibration, ROC curves and residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import percent_text
from clearwood.charts.chart import Axis, Chart, Panel, draw
from clearwood.charts.display import Display
from clearwood.charts.marks import INK, Level, Mark, Note, Points
from clearwood.charts.style import plain
from clearwood.exceptions import InputError
from clearwood.outcomes.intervals import Rate
from clearwood.rules.decisions import decisions
from clearwood.rules.decisions.in_words import MEANING
from clearwood.rules.decisions.of_classes import (
    CalibrationPoint,
    ClassMetrics,
    Decisions,
)
from clearwood.rules.decisions.of_values import Residuals

STYLES = {"rules": "first", "model": "second"}
LOOK = {"rules": "-", "model": "--"}
SHARES = ("sensitivity", "positive_value")
"""Maximum number of classes in a chart."""
SHARE_TICKS = [(t, percent_text(t)) for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
MOST_LETTERS = 20
"""Letters of a label beside an axis; the chart's text has all of it."""


@dataclass(eq=False, repr=False)
class DecisionsDisplay(Display):
    """Calibration and ROC curve; for several classes, confusion matrix and rates.

    Construct with :meth:`from_estimator`. For one positive class:

    - Calibration: predicted probability against observed share, with its 95 %
      interval; a point for each rule, by its number, where one rule predicts.
    - ROC curves of rules and model, with a dot at the threshold of their predictions.

    Both are drawn side by side, or on two axes passed to ``plot``. For several classes,
    the confusion matrix, and for each class sensitivity and positive predictive value
    (PPV).

    Parameters
    ----------
    found : Decisions

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import clearwood as cw
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     cw.Rule((), "well", (0.8, 0.2)),
    ...     cw.FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> display = cw.rules.DecisionsDisplay.from_estimator(
    ...     rules, [[36.9], [38.1], [39.0]], ["well", "ill", "well"])
    >>> display.plot().axes_[0].get_xlabel()
    'predicted probability of ill'
    """

    found: Decisions

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **settings: Any
    ) -> DecisionsDisplay:
        """Evaluate the rules of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
            A classifier.
        X, y, **settings
            As in :func:`~clearwood.decisions`.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        DecisionsDisplay
        """
        found = decisions(estimator, X, y, **settings)
        if isinstance(found, Residuals):
            raise InputError("These rules predict a number; use ResidualsDisplay.")
        return cls(found).plot(ax)

    @property
    def axes_(self) -> tuple[Any, ...]:
        """Both axes."""
        return tuple(self.parts_)

    def _draw(self, ax: Any) -> list[Any]:
        left, right = _two_axes(ax)
        if not self.found.calibration:
            _draw_confusion(left, self.found)
            _draw_classes(right, self.found)
        else:
            label = prediction_text(self.found.pos_label)
            draw(calibration_chart(self.found.calibration, label), left)
            draw(roc_chart(self.found), right)
        return [left, right]


def _two_axes(ax: Any) -> Any:
    """The given axes, one divided in two, or two of a new figure."""
    import matplotlib.pyplot as plt

    if ax is None:
        return plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")[1]
    if not hasattr(ax, "inset_axes"):
        return ax
    ax.axis("off")
    return [ax.inset_axes((left, 0.0, 0.44, 1.0)) for left in (0.0, 0.56)]


def calibration_chart(points: Sequence[CalibrationPoint], label: str) -> Chart:
    """Predicted probability against observed share, a point for each rule."""
    most = max((point.found.rows for point in points), default=1.0)
    marks: list[Mark] = []
    before: Note | None = None
    for point in sorted(points, key=lambda p: (p.predicted, p.found.value)):
        x, y = point.predicted, point.found.value
        size = 4.5 + 8 * math.sqrt(point.found.rows / most)
        marks += [
            Points([x, x], [point.found.low, point.found.high], width=1.2),
            Points([x], [y], look="", dots=size),
        ]
        if point.line is not None:
            near = before is not None and x - before.x < 0.06 and y - before.y < 0.04
            left = x > 0.93 or (near and before is not None and before.away[0] > 0)
            away = -size / 2 - 3 if left else size / 2 + 3
            anchor = "end" if left else "start"
            before = Note(x, y, str(point.line), (away, 3.0), anchor)
            marks.append(before)
    what = _beside_axis(label)
    title = f"Calibration: {label}"
    across, up = f"predicted probability of {what}", f"observed share of {what}"
    return _square(title, marks, across, up)


def roc_chart(found: Decisions) -> Chart:
    """ROC curves of rules and model, with dots at their predictions."""
    label = prediction_text(found.pos_label)
    marks = [
        mark
        for who, metrics in reversed(found.metrics.items())
        for mark in _curve(who, metrics)
    ]
    what = _beside_axis(label)
    title = f"ROC curve: {label}"
    across, up = "1 - specificity", f"sensitivity for {what}"
    return _square(title, marks, across, up)


def _curve(who: str, metrics: ClassMetrics) -> list[Mark]:
    rates, found, style = metrics.rates[0], list[Mark](), STYLES[who]
    if metrics.roc is not None:
        x, y = metrics.roc.false_positives, metrics.roc.sensitivity
        name = f"{who}, area {rates.area.as_number()}"
        found.append(Points(x, y, style, name, LOOK[who]))
    at = (1 - rates.specificity.value, rates.sensitivity.value)
    return [*found, Points([at[0]], [at[1]], style, look="", dots=8.0)]


def _square(title: str, marks: Sequence[Mark], across: str, up: str) -> Chart:
    """Unit square with its diagonal."""
    same = Points([0, 1], [0, 1], "quiet", look=":", width=1.0)
    x, y = (Axis(name, -0.02, 1.04, ticks=SHARE_TICKS) for name in (across, up))
    panel = Panel([same, *marks], x, y, 300.0, "lower right", "both", True)
    return Chart(title, [panel], width=372.0)


def _beside_axis(label: str) -> str:
    """Label shortened to the room of a small chart.

    Examples
    --------
    >>> _beside_axis("ill"), _beside_axis("a class with a very long name")
    ('ill', 'a class with a very…')
    """
    return label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"


def _draw_confusion(ax: Any, found: Decisions) -> None:
    table = found.first.confusion
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, k), weight in np.ndenumerate(table):
        ink = "white" if share[i, k] > 0.6 else "black"
        ax.text(k, i, f"{weight:,.6g}", ha="center", va="center", color=ink)
    ax.set_xticks(range(len(found.calls)), map(plain, found.calls))
    ax.set_yticks(range(len(found.labels)), map(plain, found.labels))
    ax.set(xlabel="predicted", ylabel="true")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _draw_classes(ax: Any, found: Decisions) -> None:
    """A rate of each class with its interval, for rules and model."""
    step = 0.7 / (len(SHARES) * len(found.metrics))
    for k, (who, name) in enumerate(
        (who, name) for name in SHARES for who in found.metrics
    ):
        ink = INK[STYLES[who]]
        for i, rates in enumerate(found.metrics[who].rates):
            rate: Rate = getattr(rates, name)
            y = i - 0.3 + k * step
            ax.plot([rate.low, rate.high], [y, y], color=ink, alpha=0.6)
            ax.plot(
                rate.value, y, "o" if name == SHARES[0] else "D", color=ink,
                label=f"{MEANING[name][0]}, {who}" if i == 0 else None,
            )  # fmt: skip
    labels = [plain(prediction_text(rates.label)) for rates in found.first.rates]
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of rows")
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color="#00000018")
    ax.legend(fontsize=9, frameon=False, loc="lower left", bbox_to_anchor=(0, 1),
              ncols=2)  # fmt: skip


@dataclass(eq=False, repr=False)
class ResidualsDisplay(Display):
    """Residuals per rule, and of all rules beside the model.

    Construct with :meth:`from_estimator`. The thin line spans 90 % of the residuals
    (truth minus prediction), the thick one half of them; the dot is the median.

    Parameters
    ----------
    found : Residuals

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import clearwood as cw
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=5.25),), 31.0),),
    ...     cw.Rule((), 22.0), cw.FeatureSpace(("height",), (None,)), target="heating")
    >>> display = cw.rules.ResidualsDisplay.from_estimator(
    ...     rules, [[3.5], [7.0], [7.0]], [20.0, 30.0, 34.0])
    >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
    ['rule 1', 'rule 2', 'all rows, rules']
    """

    found: Residuals

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **settings: Any
    ) -> ResidualsDisplay:
        """Residuals of the rules of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
            A regressor.
        X, y, **settings
            As in :func:`~clearwood.decisions`.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        ResidualsDisplay
        """
        found = decisions(estimator, X, y, **settings)
        if isinstance(found, Decisions):
            raise InputError("These rules predict classes; use DecisionsDisplay.")
        return cls(found).plot(ax)

    def chart(self) -> Chart:
        """Chart of 90 % of the residuals (thin), half of them (thick) and median."""
        rows = [(line.name, "rules", line.errors) for line in self.found.lines]
        for who, errors in self.found.metrics.items():
            rows.append((f"all rows, {who}", who, errors))
        marks: list[Mark] = [Level(0.0, "x")]
        for y, (_, who, errors) in enumerate(rows):
            low, first, middle, last, high = errors.quantiles
            marks += [
                Points([low, high], [y, y], STYLES[who], width=1.5),
                Points([first, last], [y, y], STYLES[who], width=6.0),
                Points([middle], [y], "ink", look="", dots=6.0, hollow=True),
            ]
        n = len(rows)
        names = [(float(y), name) for y, (name, _, _) in enumerate(rows)]
        panel = Panel(
            marks,
            Axis("true value minus prediction"),
            Axis("", n - 0.5, -0.5, ticks=names),
            34.0 * n,
            grid="x",
        )
        by_rule = any(one.line is not None for one in self.found.lines)
        who = "rule" if by_rule else "prediction"
        return Chart(f"Errors by {who}", [panel], 480.0, (7.2, 1.2 + 0.35 * n))
