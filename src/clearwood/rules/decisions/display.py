"""Decisions and errors as pictures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood.charts.style import COLOURS, QUIET, plain
from clearwood.exceptions import InputError
from clearwood.rules.decisions import decisions
from clearwood.rules.decisions.in_words import MEANING
from clearwood.rules.decisions.of_classes import Decisions, Judgement
from clearwood.rules.decisions.of_values import Residuals, line_name
from clearwood.rules.decisions.rates import Rate
from clearwood.rules.rule import prediction_text

INK = dict(zip(("rules", "model"), COLOURS))
LOOK = {"rules": "-", "model": "--"}
SHARES = ("sensitivity", "positive_value")
"""Of several classes, those that are drawn."""


class DecisionsDisplay:
    """Whether probabilities hold, and how many are found for how many false alarms.

    Make one with :meth:`from_estimator`. Of one class that is looked for:

    - Calibration: the probability that is said against the share that is found, with
      its 95 % interval; a point for each line, by its number, where one line decides.
    - The curve of rules and model over all thresholds (ROC), with a dot where they
      decide.

    Of several classes the confusion table, and for each class which share of it is
    found (sensitivity) and which share of those called so is right (PPV).

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
    >>> display = cw.DecisionsDisplay.from_estimator(
    ...     rules, [[36.9], [38.1], [39.0]], ["well", "ill", "well"])
    >>> display.plot().axes_[0].get_xlabel()
    'said: probability of ill'
    """

    def __init__(self, found: Decisions) -> None:
        self.found = found

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, **settings: Any
    ) -> DecisionsDisplay:
        """Decisions of the rules of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
            Of classes.
        X, y, **settings
            As in :func:`decisions`.

        Returns
        -------
        DecisionsDisplay
        """
        found = decisions(estimator, X, y, **settings)
        if isinstance(found, Residuals):
            raise InputError("These rules predict a number; use ResidualsDisplay.")
        return cls(found)

    def plot(self, axes: Any = None) -> DecisionsDisplay:
        """Draw.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        DecisionsDisplay
            Itself, with ``axes_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        if axes is None:
            _, axes = plt.subplots(1, 2, figsize=(9.6, 4.6), layout="constrained")
        left, right = axes
        if self.found.positive is None:
            _draw_confusion(left, self.found)
            _draw_classes(right, self.found)
        else:
            _draw_calibration(left, self.found)
            _draw_roc(right, self.found)
        self.axes_, self.figure_ = (left, right), left.figure
        return self


def _square(ax: Any, across: str, up: str) -> None:
    """Two shares from 0 to 1, and where they are the same."""
    ax.plot([0, 1], [0, 1], ":", color=QUIET, linewidth=1, zorder=1)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.04), aspect="equal")
    ax.set(xlabel=plain(across), ylabel=plain(up))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#00000018")


def _draw_calibration(ax: Any, found: Decisions) -> None:
    label = prediction_text(found.positive)
    most = max(point.found.rows for point in found.calibration)
    for point in found.calibration:
        rate = point.found
        ax.plot([point.said] * 2, [rate.low, rate.high], color=COLOURS[0], alpha=0.6)
        size = 3 + 6 * math.sqrt(rate.rows / most)
        ax.plot(point.said, rate.value, "o", color=COLOURS[0], markersize=size)
        if point.line is not None:
            ax.annotate(
                str(point.line), (point.said, rate.value), xytext=(6, 4),
                textcoords="offset points", fontsize=9,
            )  # fmt: skip
    _square(ax, f"said: probability of {label}", f"found: share of {label}")


def _draw_roc(ax: Any, found: Decisions) -> None:
    label = prediction_text(found.positive)
    for who, judged in reversed(found.judged.items()):
        _draw_curve(ax, who, judged)
    _square(ax, f"false alarms: share of the others called {label}", f"found: {label}")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="lower right", fontsize=9, frameon=False)


def _draw_curve(ax: Any, who: str, judged: Judgement) -> None:
    rates = judged.rates[0]
    if judged.roc is not None:
        ax.plot(
            judged.roc.false_positives, judged.roc.sensitivity, LOOK[who],
            color=INK[who], linewidth=1.8,
            label=f"{who}, area {rates.area.as_number()}",
        )  # fmt: skip
    ax.plot(
        1 - rates.specificity.value, rates.sensitivity.value, "o", color=INK[who],
        markersize=6, zorder=4,
    )  # fmt: skip


def _draw_confusion(ax: Any, found: Decisions) -> None:
    table = found.rules.confusion
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (i, k), weight in np.ndenumerate(table):
        ink = "white" if share[i, k] > 0.6 else "black"
        ax.text(k, i, f"{weight:,.6g}", ha="center", va="center", color=ink)
    ax.set_xticks(range(len(found.calls)), map(plain, found.calls))
    ax.set_yticks(range(len(found.labels)), map(plain, found.labels))
    ax.set(xlabel="said", ylabel="true")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _draw_classes(ax: Any, found: Decisions) -> None:
    """A share of each class, and its interval, by rules and by the model."""
    step = 0.7 / (len(SHARES) * len(found.judged))
    for k, (who, name) in enumerate(
        (who, name) for name in SHARES for who in found.judged
    ):
        ink = INK[who]
        for i, rates in enumerate(found.judged[who].rates):
            rate: Rate = getattr(rates, name)
            y = i - 0.3 + k * step
            ax.plot([rate.low, rate.high], [y, y], color=ink, alpha=0.6)
            ax.plot(
                rate.value, y, "o" if name == SHARES[0] else "D", color=ink,
                label=f"{MEANING[name][0]}, {who}" if i == 0 else None,
            )  # fmt: skip
    labels = [plain(prediction_text(rates.label)) for rates in found.rules.rates]
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlim=(-0.02, 1.02), xlabel="share of rows")
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="x", color="#00000018")
    ax.legend(fontsize=9, frameon=False, loc="lower left", bbox_to_anchor=(0, 1),
              ncols=2)  # fmt: skip


class ResidualsDisplay:
    """How far off values are: errors by line, and of all rules beside the model.

    Make one with :meth:`from_estimator`. Nine in ten errors (truth minus what is said)
    lie along the thin line, half of them along the thick one; the dot is the middle.

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
    >>> display = cw.ResidualsDisplay.from_estimator(
    ...     rules, [[3.5], [7.0], [7.0]], [20.0, 30.0, 34.0])
    >>> [text.get_text() for text in display.plot().ax_.get_yticklabels()]
    ['rule 1', 'rule 2', 'all rows, rules']
    """

    def __init__(self, found: Residuals) -> None:
        self.found = found

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, **settings: Any
    ) -> ResidualsDisplay:
        """Errors of the rules of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
            Of values.
        X, y, **settings
            As in :func:`decisions`.

        Returns
        -------
        ResidualsDisplay
        """
        found = decisions(estimator, X, y, **settings)
        if isinstance(found, Decisions):
            raise InputError("These rules predict classes; use DecisionsDisplay.")
        return cls(found)

    def plot(self, ax: Any = None) -> ResidualsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        ResidualsDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        rows = [(line_name(line), "rules", line.errors) for line in self.found.lines]
        for who, errors in self.found.judged.items():
            rows.append((f"all rows, {who}", who, errors))
        if ax is None:
            size = (7.2, 1.2 + 0.35 * len(rows))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        ax.axvline(0, color="black", linewidth=1, linestyle=":")
        for y, (_, who, errors) in enumerate(rows):
            low, first, middle, last, high = errors.quantiles
            ax.plot([low, high], [y, y], color=INK[who], linewidth=1.5)
            ax.plot([first, last], [y, y], color=INK[who], linewidth=6,
                    solid_capstyle="butt")  # fmt: skip
            ax.plot(middle, y, "o", color="white", markeredgecolor="black",
                    markersize=5)  # fmt: skip
        ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        ax.invert_yaxis()
        ax.set(xlabel="truth minus what is said")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="#00000018")
        self.ax_, self.figure_ = ax, ax.figure
        return self
