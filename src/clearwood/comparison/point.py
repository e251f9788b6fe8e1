"""A point of a comparison: rules of one method and size, and their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from clearwood._words.numbers import short_text
from clearwood.results import Result
from clearwood.rules import RuleSet
from clearwood.rules.rule import wrapped

if TYPE_CHECKING:
    import pandas as pd

MEASURES = (
    "error", "log_loss", "fidelity", "coverage", "overlap", "n_literals", "stability",
    "seconds",
)  # fmt: skip
"""Columns of the printed table and of the table in a notebook."""

TITLES = {"n_literals": "literals", "log_loss": "log loss"}
SCORES = {"error": "error", "log_loss": "log loss against the model's probabilities"}
OF_MODEL = "fidelity"
"""Scoring where errors are differences from the scores of a ranking model."""


@dataclass(frozen=True, repr=False)
class FrontierPoint(Result):
    """Rules that one method finds in one size, and their scores.

    Attributes
    ----------
    method : str
        ``"list"`` and so on, or a peer such as ``"imodels:FIGS"``.
    requested : int
        Maximum size requested. Points with the same rules are merged: the smallest size
        that gives them.
    n_rules : int
        Number of rules of the fit on all rows, the default rule included.
    n_literals : int
        Total number of bounds and category sets.
    error : float
        Held-out error: share of wrong classes, or mean squared error.
    error_se : float
        Standard error of that mean over the rows.
    fidelity : float
        Held-out agreement with the model: share of equal classes, or R2.
    coverage, overlap : float
        Share of held-out rows that satisfy a rule other than the default, and mean
        number of such rules per row; NaN for peers.
    stability : float
        Agreement of predictions between bootstrap refits; NaN without refits.
    seconds : float
        Time of the fit on all rows. Methods that give all sizes in one fit have the
        same for all of them.
    on_frontier : bool
        Whether the point is Pareto-optimal: no other has fewer rules and no more error,
        or less error and no more rules.
    rules : RuleSet or None
        Fitted on all rows; None for peers.
    text : str
        Printed form of the rules.
    log_loss, log_loss_se : float
        For classes: held-out log loss of the probabilities against those of the model,
        less the model's own (0 where both are the same), and its standard error; NaN in
        regression and for peers.
    by_fold : tuple of (float, float, float)
        Weight of the held-out rows of each fold, and on these the error and log loss.
    """

    method: str
    requested: int
    n_rules: int
    n_literals: int
    error: float
    error_se: float
    fidelity: float
    coverage: float
    overlap: float
    stability: float
    seconds: float
    on_frontier: bool
    rules: RuleSet | None = field(repr=False)
    text: str = field(repr=False)
    log_loss: float = math.nan
    log_loss_se: float = math.nan
    by_fold: tuple[tuple[float, float, float], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        measures = (f"{TITLES.get(m, m)} {measure_text(self, m)}" for m in MEASURES)
        lines = f"{self.method}, {self.n_rules} rules: {', '.join(measures)}"
        return f"{wrapped(lines)}\n{self.text}"

    def to_frame(self) -> pd.DataFrame:
        """The measures in one row, without the printed rules."""
        return frame_of((self,))

    def described_on(self, X: Any, y: Any = None, model: Any = None) -> FrontierPoint:
        """Point whose rules have their statistics from other rows."""
        if self.rules is None:
            return self
        rules = self.rules.described_on(X, y, model=model)
        return replace(self, rules=rules, text=str(rules))

    def with_columns(self, column_info: Any) -> FrontierPoint:
        """Point with display names of the columns; those of peers are unchanged."""
        if self.rules is None:
            return self
        rules = self.rules.with_columns(column_info)
        return replace(self, rules=rules, text=str(rules))


def frame_of(points: Sequence[FrontierPoint]) -> pd.DataFrame:
    """Measures of points, one per row."""
    import pandas as pd

    names = [f.name for f in fields(FrontierPoint) if f.repr]
    rows = [[getattr(point, name) for name in names] for point in points]
    return pd.DataFrame(rows, columns=names)


def measure_text(point: FrontierPoint, name: str) -> str:
    """Formatted measure of a point; empty where it is unknown."""
    value = getattr(point, name)
    if isinstance(value, float) and math.isnan(value):
        return ""
    if name in SCORES:
        return with_spread(value, getattr(point, f"{name}_se"))
    if name == "seconds":
        return short_text(value, 2)
    # No 1e-15 where it means 0, and no -0.
    return short_text(round(value, 4) + 0.0)


def with_spread(error: float, spread: float) -> str:
    """An error and its standard error."""
    return f"{short_text(error)} ± {short_text(spread, 1)}"
