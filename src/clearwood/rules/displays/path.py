"""Fidelity and error against the number of rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._warned_once import warned_once
from clearwood._words.labels import type_text
from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.display import Display
from clearwood.charts.marks import Area, Level, Mark, Points
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES
from clearwood.rules import RuleScores
from clearwood.rules.displays.held_out import HeldOutPath, held_out_of


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Fidelity, error and literals against the number of rules.

    Construct with :meth:`from_estimator`.

    Parameters
    ----------
    scores : sequence of RuleScores
        One per rule set of the path, shortest first.
    task : {"classification", "regression"}
    chosen : int
        Number of rules of the rule set that was chosen.
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

    scores: Sequence[RuleScores]
    task: str
    chosen: int
    held_out: HeldOutPath | None = None
    model_error: float = float("nan")

    @classmethod
    @warned_once()
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, model: Any = None, ax: Any = None
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
        model : model, path or array-like of shape (n_samples,), optional
            The model that the rules approximate, or its predictions for these rows; by
            default the estimator's ensemble.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        PathDisplay
        """
        path = getattr(estimator, "path_", None)
        if path is None:
            raise InputError(
                f"estimator is {type_text(estimator)} without path_; pass a "
                "fitted RuleListClassifier or RuleListRegressor, or another that "
                "keeps its rules of every size."
            )
        rules = estimator.rules_
        n_rows = len(rules.encode(X))
        model = estimator.ensemble_ if model is None else model
        target = rules.model_predictions(model, X, n_rows)
        scores = [rules.evaluate(X, y, model=target) for rules in path]
        of_model = float("nan")
        if y is not None:
            truth = rules.check_target(y, n_rows, "y")
            of_model = rules.outcome.mean_loss(truth, target)
        return cls(
            scores,
            task=rules.task,
            chosen=rules.n_rules,
            held_out=held_out_of(estimator),
            model_error=of_model,
        ).plot(ax)

    def chart(self) -> Chart:
        """Fidelity, error if known, and literals."""
        outcome = OUTCOMES[self.task]
        shown = outcome.figure if outcome.is_share else None
        fidelity = [
            *self._line("fidelity", "first", "on the rows shown"),
            *self._held_out(),
            self._chosen(f"selected: {self.chosen}"),
        ]
        longest = max(score.n_rules for score in self.scores)
        if self.held_out is not None:
            longest = max(longest, len(self.held_out.fidelity))
        x = Axis("rules, default rule included", 0.7, longest + 0.3, is_whole=True)
        space = "\n" if shown else " "
        up = f"fidelity{space}({outcome.agreement_unit})"
        panels = [Panel(fidelity, x, Axis(up, shown=shown), 190.0, "lower right")]
        if self._has_error:
            error = [*self._line("error", "second", "rules"), self._chosen()]
            if not math.isnan(self.model_error):
                error.append(Level(self.model_error, "y", "the model", "quiet", "--"))
            up = f"error\n({outcome.error_unit})"
            panels.append(Panel(error, x, Axis(up, shown=shown), 152.0, "upper right"))
        literals = [*self._line("n_literals", "quiet"), self._chosen()]
        most = max(1.0, 1.05 * max(score.n_literals for score in self.scores))
        panels.append(
            Panel(literals, x, Axis("literals", 0.0, most, is_whole=True), 95.0)
        )
        size = (6.4, 6.4 if self._has_error else 4.8)
        return Chart("Fidelity against the number of rules", panels, size=size)

    @property
    def _has_error(self) -> bool:
        return not math.isnan(self.scores[0].error)

    def _line(self, name: str, style: str, label: str = "") -> list[Points]:
        """One measure for all sizes, with a large dot at the chosen one."""
        x = [score.n_rules for score in self.scores]
        y = [getattr(score, name) for score in self.scores]
        if math.isnan(y[0]):
            return []
        chosen = [point for point in zip(x, y) if point[0] == self.chosen][-1:]
        return [
            Points(x, y, style, label, dots=4.5),
            *(Points([a], [b], style, look="", dots=9.0) for a, b in chosen),
        ]

    def _held_out(self) -> list[Mark]:
        """Held-out fidelity, with one standard error to both sides."""
        if self.held_out is None:
            return []
        middle, error = self.held_out.fidelity, self.held_out.standard_error
        sizes = np.arange(1, len(middle) + 1)
        label = f"{self.held_out.rows}, ± one standard error"
        return [
            Area(sizes, middle - error, middle + error, label=label),
            Points(sizes, middle, "second", look="--", width=1.2),
        ]

    def _chosen(self, label: str = "") -> Level:
        return Level(self.chosen, "x", label)

    @property
    def error_ax_(self) -> Any:
        """Axes of the error, if the truth was given."""
        return self.parts_[1] if self._has_error else None

    @property
    def literals_ax_(self) -> Any:
        """Axes of the literals."""
        return self.parts_[-1]
