"""Fidelity and error against the number of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.charts.style import COLOURS, QUIET
from clearwood.columns.warned_once import warned_once
from clearwood.exceptions import InputError
from clearwood.rules import RuleScores
from clearwood.rules.displays.held_out import HeldOutPath, held_out_of
from clearwood.rules.scores import prediction_error

# On white, so that no line runs through the words.
LEGEND = {"fontsize": 9, "facecolor": "white", "edgecolor": "none", "framealpha": 0.9}


class PathDisplay:
    """Fidelity, error and literals against the number of lines.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    scores : sequence of RuleScores
        One per rule set of the path, shortest first.
    task : {"classification", "regression"}
    chosen : int
        Lines of the rule set that was chosen.
    held_out : HeldOutPath or None, default=None
        Drawn as a band of one standard error to both sides.
    model_error : float, default=NaN
        Error of the model itself.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Shows the fidelity.
    error_ax_ : matplotlib Axes or None
        Shows the error, where the truth was given.
    literals_ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> few = RuleScores(float("nan"), 0.6, 0, 0, n_rules=1, n_literals=0)
    >>> more = RuleScores(float("nan"), 0.9, 1, 1, n_rules=2, n_literals=1)
    >>> PathDisplay([few, more], task="regression", chosen=2).plot().ax_.get_ylabel()
    'fidelity (R²)'
    """

    def __init__(
        self,
        scores: Sequence[RuleScores],
        *,
        task: str,
        chosen: int,
        held_out: HeldOutPath | None = None,
        model_error: float = float("nan"),
    ) -> None:
        self.scores = scores
        self.task = task
        self.chosen = chosen
        self.held_out = held_out
        self.model_error = model_error

    @classmethod
    @warned_once()
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, teacher: Any = None
    ) -> PathDisplay:
        """Score every rule set on the path of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``path_``
            Such as RuleListClassifier or RuleListRegressor.
        X : array-like or frame of shape (n_samples, n_features)
            Rows on which to score.
        y : array-like of shape (n_samples,), optional
            True labels or values of these rows, for the error.
        teacher : model, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or what it says of these rows; by
            default the estimator's ensemble.

        Returns
        -------
        PathDisplay
        """
        path = getattr(estimator, "path_", None)
        if path is None:
            raise InputError(
                f"estimator is a {type(estimator).__name__} without path_; hand in a "
                "fitted RuleListClassifier or RuleListRegressor, or another that "
                "keeps its rules of every size."
            )
        rules = estimator.rules_
        n_rows = len(rules.encode(X))
        teacher = estimator.ensemble_ if teacher is None else teacher
        taught = rules.taught_by(teacher, X, n_rows)
        scores = [rules.evaluate(X, y, teacher=taught) for rules in path]
        of_model = float("nan")
        if y is not None:
            truth = rules.check_truth(y, n_rows, "y")
            of_model = prediction_error(truth, taught, rules.task)
        return cls(
            scores,
            task=rules.task,
            chosen=rules.n_rules,
            held_out=held_out_of(estimator),
            model_error=of_model,
        )

    def plot(self, ax: Any = None) -> PathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Is divided; a new figure by default.

        Returns
        -------
        PathDisplay
            Itself, with ``ax_``, ``error_ax_``, ``literals_ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        has_error = not np.isnan(self.scores[0].error)
        if ax is None:
            size = (6.4, 6.4 if has_error else 4.8)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        ax.axis("off")
        heights = [1.0, *([0.8] if has_error else []), 0.5]
        parts = _divided(ax, heights)
        self.ax_, self.literals_ax_ = parts[0], parts[-1]
        self.error_ax_ = parts[1] if has_error else None
        self._draw_fidelity(parts[0])
        if has_error:
            self._draw_error(parts[1])
        self._draw_line(parts[-1], "n_literals", QUIET, "")
        parts[-1].set(xlabel="lines, otherwise included", ylabel="literals")
        parts[-1].set_ylim(bottom=0)
        parts[-1].yaxis.set_major_locator(MaxNLocator(3, integer=True))
        parts[-1].xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        for part in parts:
            part.axvline(self.chosen, color="black", linewidth=1, linestyle=":")
            part.spines[["top", "right"]].set_visible(False)
            part.grid(axis="y", color="#00000018")
        longest = max(score.n_rules for score in self.scores)
        if self.held_out is not None:
            longest = max(longest, len(self.held_out.fidelity))
        parts[-1].set_xlim(0.7, longest + 0.3)
        self.figure_ = ax.figure
        return self

    def _draw_line(self, ax: Any, name: str, ink: str, label: str) -> None:
        lines = [score.n_rules for score in self.scores]
        values = [getattr(score, name) for score in self.scores]
        ax.plot(
            lines, values, "o-", color=ink, linewidth=1.8, markersize=4.5, label=label
        )
        chosen = [(k, v) for k, v in zip(lines, values) if k == self.chosen][-1:]
        ax.plot(*zip(*chosen), "o", color=ink, markersize=9, zorder=4)

    def _draw_fidelity(self, ax: Any) -> None:
        self._draw_line(ax, "fidelity", COLOURS[0], "on the rows shown")
        if self.held_out is not None:
            sizes = np.arange(1, len(self.held_out.fidelity) + 1)
            middle, error = self.held_out.fidelity, self.held_out.standard_error
            ax.fill_between(
                sizes, middle - error, middle + error, color=COLOURS[4], alpha=0.35,
                linewidth=0, label=f"{self.held_out.rows}, ± one standard error",
            )  # fmt: skip
            ax.plot(sizes, middle, color=COLOURS[4], linewidth=1.2)
        classes = self.task == "classification"
        ax.set_ylabel(
            "fidelity\n(share of equal classes)" if classes else "fidelity (R²)"
        )
        ax.plot([], [], ":", color="black", linewidth=1, label=f"chosen: {self.chosen}")
        ax.legend(loc="lower right", **LEGEND)

    def _draw_error(self, ax: Any) -> None:
        self._draw_line(ax, "error", COLOURS[1], "rules")
        ax.axhline(
            self.model_error, color=QUIET, linewidth=1.2, linestyle="--",
            label="the model",
        )  # fmt: skip
        classes = self.task == "classification"
        ax.set_ylabel(
            "error\n(share of wrong classes)" if classes else "error\n(mean squared)"
        )
        ax.legend(loc="upper right", **LEGEND)


def _divided(ax: Any, heights: Sequence[float]) -> list[Any]:
    """Panels below one another on one axis."""
    gap = 0.07
    scale = (1 - gap * (len(heights) - 1)) / sum(heights)
    parts: list[Any] = []
    top = 1.0
    for height in heights:
        bottom = top - height * scale
        share = parts[0] if parts else None
        parts.append(ax.inset_axes((0, bottom, 1, height * scale), sharex=share))
        top = bottom - gap
    for part in parts[:-1]:
        part.tick_params(labelbottom=False)
    return parts
