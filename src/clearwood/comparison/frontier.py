"""Result of a comparison: points of size and error, and their Pareto frontier."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.comparison.point import (
    MEASURES,
    OF_MODEL,
    SCORES,
    TITLES,
    FrontierPoint,
    frame_of,
    measure_text,
    with_spread,
)
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES, Outcome
from clearwood.results import Result
from clearwood.rules import RuleSet
from clearwood.rules.rule import wrapped
from clearwood.rules.serialise import rules_to_dict

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Frontier(Result):
    """Result of :func:`~clearwood.compare`: error by number of rules and method.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    model : str
        Short name of the model.
    n_rows : int
        Number of rows of positive weight.
    n_folds, n_refits : int
        Number of folds, and of bootstrap refits.
    model_error, model_error_se : float
        Error of the model itself on the rows of the rules, and its standard error.
    model_refitted : bool
        Whether the model was refitted without the held-out rows. If not, it may have
        seen them; then its error, and that of the rules, is lower than on new rows, and
        so is their fidelity.
    points : tuple of FrontierPoint
        By method, then by number of rules.
    failures : tuple of (str, str)
        Methods that failed, wholly or in part, and the reasons.
    seconds : float
        Total time.
    feature_names : tuple of str
    classes : tuple
        Class labels; empty in regression.
    n_described : int
        Number of separate rows that the statistics of the rules are from (see
        :meth:`described_on`); 0 where they are from the rows that the rules come from.
    scoring : {"log_loss", "error", "fidelity"}
        Criterion that decides which rules are enough. If it is "fidelity", for ranking
        models, all errors are mean squared differences from the model's scores, and
        ``model_error`` and ``constant_error`` are NaN.
    constant_error : float
        Error of predicting the most frequent class, or the mean, for all rows.
    """

    _display = "clearwood.comparison.display:FrontierDisplay"

    task: str
    model: str
    n_rows: int
    n_folds: int
    n_refits: int
    model_error: float
    model_error_se: float
    model_refitted: bool
    points: tuple[FrontierPoint, ...]
    failures: tuple[tuple[str, str], ...]
    seconds: float
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]
    n_described: int = 0
    scoring: str = "error"
    constant_error: float = math.nan

    def described_on(self, X: Any, y: Any = None, *, model: Any = None) -> Frontier:
        """The same comparison, with the statistics of its rules from given rows.

        The scores on held-out folds do not change.

        Parameters
        ----------
        X, y, model
            As in :meth:`~clearwood.RuleSet.described_on`.

        Returns
        -------
        Frontier
        """
        points = tuple(point.described_on(X, y, model) for point in self.points)
        return replace(self, points=points, n_described=len(X))

    def with_columns(self, column_info: Any) -> Frontier:
        """The same comparison, with display names of the columns in its rules.

        Parameters
        ----------
        column_info : mapping of str to mapping
            As in :meth:`~clearwood.RuleSet.with_columns`.

        Returns
        -------
        Frontier
        """
        points = tuple(point.with_columns(column_info) for point in self.points)
        return replace(self, points=points)

    def best(self, max_rules: int | None = None, by: str = "error") -> RuleSet:
        """Best rules of at most a given size.

        Parameters
        ----------
        max_rules : int, optional
            Maximum number of rules, the default included; by default unlimited.
        by : {"error", "log_loss", "fidelity"}, default="error"
            Criterion. Ties go to the fewest rules.

        Returns
        -------
        RuleSet
        """
        return _rules_of(self.best_point(max_rules, by))

    def best_point(
        self, max_rules: int | None = None, by: str = "error"
    ) -> FrontierPoint:
        """Point whose rules :meth:`best` returns."""
        if by not in ("error", "log_loss", "fidelity"):
            raise InputError(
                f"by must be 'error', 'log_loss' or 'fidelity', found {by!r}."
            )
        if max_rules is not None and not isinstance(max_rules, Integral):
            raise InputError(
                f"max_rules is {max_rules!r}; expected a whole number, or None."
            )
        some = [
            point
            for point in self.points
            if point.rules is not None
            and (max_rules is None or point.n_rules <= max_rules)
        ]
        if not some:
            sizes = [p.n_rules for p in self.points if p.rules is not None]
            found = f"the shortest have {min(sizes)}" if sizes else "only peers' texts"
            most = "" if max_rules is None else f" with at most {max_rules} rules"
            raise InputError(f"There is no point{most}; {found}.")
        sign = -1.0 if by == "fidelity" else 1.0
        return min(some, key=lambda p: (sign * getattr(p, by), p.n_rules))

    def enough(self) -> FrontierPoint:
        """Fewest rules within one standard error of the best ``scoring``.

        A single rule only where no method found more: it distinguishes no rows, unlike
        the model.

        Returns
        -------
        FrontierPoint
            Its ``rules`` answer "how many rules do I need?".
        """
        some = self._with_rules()
        return some[_fewest(some, *self._scores(some))]

    def enough_error(self) -> float:
        """Held-out error of the rules that are enough, corrected for their choice.

        The lowest of many errors on the same rows is lower than on new rows. Here each
        fold is evaluated by the point that the other folds choose.

        Returns
        -------
        float
            NaN where the scores of the folds are unknown.
        """
        some = self._with_rules()
        folds = np.array([point.by_fold for point in some])
        if folds.ndim < 3 or folds.shape[1] < 3:
            return math.nan
        weight = folds[0, :, 0]
        error, score = folds[..., 1], folds[..., 2 if self.scoring == "log_loss" else 1]
        spread = self._scores(some)[1]
        found = []
        for k in range(len(weight)):
            rest = np.arange(len(weight)) != k
            mean = np.average(score[:, rest], axis=1, weights=weight[rest])
            # Of fewer rows.
            wider = spread * np.sqrt(weight.sum() / weight[rest].sum())
            found.append(error[_fewest(some, mean, wider), k])
        return float(np.average(found, weights=weight))

    def _with_rules(self) -> list[FrontierPoint]:
        """Points to choose from: more than one rule, if any method found more."""
        self.best_point()  # Raises if there are peers only.
        known = [p for p in self.points if p.rules is not None]
        return [p for p in known if p.n_rules > 1] or known

    def _scores(self, points: list[FrontierPoint]) -> tuple[np.ndarray, np.ndarray]:
        """Criterion of each point, and its standard error."""
        name = "log_loss" if self.scoring == "log_loss" else "error"
        names = name, f"{name}_se"
        score, spread = (
            np.array([getattr(point, name) for point in points]) for name in names
        )
        return score, spread

    def equivalent_methods(self, point: FrontierPoint) -> tuple[str, ...]:
        """Other methods within one standard error with no more rules."""
        most = point.error + point.error_se
        near = {
            other.method
            for other in self.points
            if other.n_rules <= point.n_rules and other.error <= most
        }
        return tuple(sorted(near - {point.method}))

    def to_frame(self) -> pd.DataFrame:
        """All points as a frame, without the printed rules."""
        return frame_of(self.points)

    @property
    def outcome(self) -> Outcome:
        """Type of outcome."""
        return replace(OUTCOMES[self.task], classes=self.classes)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with None for unknown values."""
        values = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        values["points"] = [
            {f.name: _plain(getattr(point, f.name)) for f in fields(point)}
            for point in self.points
        ]
        return values

    def heading(self) -> list[str]:
        """Summary of the comparison: data, model and the short answer."""
        is_order = self.scoring == OF_MODEL
        kind = "mean squared difference" if is_order else self.outcome.error
        own = with_spread(self.model_error, self.model_error_se)
        lines = [
            f"{self.model}: {self.task}, {self.n_rows:,} rows, {self.n_folds} "
            f"cross-validation folds, {self.n_refits} bootstrap refits, "
            f"{self.seconds:.0f} seconds",
            ORDERED
            if is_order
            else f"{kind} of the model {own}"
            + ("" if self.model_refitted else f"; {SEEN}"),
        ]
        if self.constant_error == self.constant_error:
            lines.append(self._of_a_constant(kind))
        if any(point.rules is not None for point in self.points):
            lines.append(
                f"enough: {self._enough_in_short(kind)}: the fewest rules within one "
                f"standard error of the lowest {SCORES.get(self.scoring, 'error')}"
                f"{self._corrected(kind)}"
            )
        least = min(self.points, key=lambda p: (p.error, p.n_rules), default=None)
        if least is not None and least.rules is None:
            lines.append(f"lowest error of peers: {_in_short(least, kind)}")
        return lines

    def _of_a_constant(self, kind: str) -> str:
        """Improvement of the model over a constant prediction."""
        what = self.outcome.constant
        text = f"{kind} of the {what} alone {short_text(self.constant_error)}"
        gain = self.constant_error - self.model_error
        if gain > self.model_error_se:
            return text
        text += f": the model is {'hardly' if gain > 0 else 'not'} better"
        if self.scoring == "log_loss":
            text += "; its probabilities are evaluated by log loss"
        return text

    def _enough_in_short(self, kind: str) -> str:
        point = self.enough()
        text = _in_short(point, kind)
        if self.scoring == "log_loss":
            text += f", log loss {measure_text(point, 'log_loss')} beyond the model's"
        return text

    def _corrected(self, kind: str) -> str:
        error = self.enough_error()
        if math.isnan(error):
            return ""
        return (
            f". Chosen among {len(self._with_rules())} by these folds; {kind} "
            f"{short_text(error)} where each fold is left out of the choice"
        )

    def frontier(self) -> list[FrontierPoint]:
        """Pareto-optimal points, by number of rules."""
        some = [point for point in self.points if point.on_frontier]
        return sorted(some, key=lambda p: (p.n_rules, p.error))

    def __str__(self) -> str:
        lines = [wrapped(line) for line in self.heading()]
        header = ["rules", "method", *(TITLES.get(m, m) for m in MEASURES), "as good"]
        body = [
            [
                str(point.n_rules),
                point.method,
                *(measure_text(point, name) for name in MEASURES),
                ", ".join(self.equivalent_methods(point)),
            ]
            for point in self._shown()
        ]
        lines += ["", *_columns([header, *body])]
        if body:
            lines += ["", wrapped(NOTE)]
        lines += [wrapped(f"{method}: {why}") for method, why in self.failures]
        return "\n".join(lines)

    def _shown(self) -> list[FrontierPoint]:
        """The Pareto frontier, and the point that is enough."""
        shown = _without_ties(self.frontier())
        if any(point.rules is not None for point in self.points):
            enough = self.enough()
            shown += [enough] * all(point is not enough for point in shown)
        return sorted(shown, key=lambda p: (p.n_rules, p.error))

    def _page(self) -> tuple[str, dict[str, Any]]:
        points = [
            {
                "lines": point.n_rules,
                "method": point.method,
                "on_frontier": point.on_frontier,
                "measures": [measure_text(point, name) for name in MEASURES],
            }
            for point in self.points
        ]
        return "comparison/frontier.html", {
            "facts": self.heading(),
            "titles": [TITLES.get(name, name) for name in MEASURES],
            "points": points,
            "failures": self.failures,
        }


SEEN = (
    "if these rows were in its training data, its error and that of the rules are "
    "lower than on new rows, and so is the fidelity, as rules do not reproduce what it "
    "memorized"
)
ORDERED = (
    "A ranking score has no error against true values: errors are mean squared "
    "differences from the scores of the model"
)
NOTE = (
    "Shown are the recommended rules and the points on the frontier: no other has a "
    "lower error with as few rules. As good: other methods within one standard error "
    "of that error, with no more rules."
)


def _fewest(points: list[FrontierPoint], score: np.ndarray, spread: np.ndarray) -> int:
    """Index of the fewest rules within one standard error of the best score."""
    sizes = [point.n_rules for point in points]
    keys = range(len(points))
    best = min(keys, key=lambda i: (score[i], sizes[i]))
    near = [i for i in keys if score[i] <= score[best] + spread[best]]
    return min(near, key=lambda i: (sizes[i], score[i]))


def _rules_of(point: FrontierPoint) -> RuleSet:
    assert point.rules is not None
    return point.rules


def _without_ties(points: list[FrontierPoint]) -> list[FrontierPoint]:
    """First of the points with the same size and error."""
    first: dict[tuple[int, float], FrontierPoint] = {}
    for point in points:
        first.setdefault((point.n_rules, point.error), point)
    return list(first.values())


def _in_short(point: FrontierPoint, kind: str) -> str:
    lines = f"{point.n_rules} rule{'s' * (point.n_rules != 1)}"
    error = with_spread(point.error, point.error_se)
    return f"{point.method} with {lines}, {kind} {error}"


def _columns(rows: list[list[str]]) -> list[str]:
    """Rows as aligned text, the method left-aligned and numbers right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if i in (1, len(row) - 1) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, RuleSet):
        return rules_to_dict(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
