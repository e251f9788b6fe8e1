"""What a comparison found: points of size and error, and the best of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from clearwood._words.numbers import short_text
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES, Outcome
from clearwood.rules import RuleSet
from clearwood.rules.rule import wrapped
from clearwood.rules.serialise import rules_to_dict

if TYPE_CHECKING:
    import pandas as pd

MEASURES = (
    "error", "log_loss", "fidelity", "coverage", "overlap", "n_literals", "stability",
    "seconds",
)  # fmt: skip
"""What the text and the table of a notebook tell of a point."""


@dataclass(frozen=True)
class FrontierPoint:
    """The rules that one method finds in one size, and how good they are.

    Attributes
    ----------
    method : str
        ``"list"`` and so on, or a peer such as ``"imodels:FIGS"``.
    asked : int
        Most lines asked for. Points with the same rules are one: the smallest size
        that gives them.
    n_rules : int
        Lines of the rules fitted on all rows, ``otherwise`` included.
    n_literals : int
        Bounds and category sets in all of them.
    error : float
        On held-out rows: share of wrong classes, or mean squared error.
    error_spread : float
        Standard error of that mean over the rows.
    fidelity : float
        Agreement with the model on held-out rows: share of equal classes, or R2.
    coverage, overlap : float
        Share of held-out rows that a rule other than ``otherwise`` reaches, and mean
        number of such rules per row; NaN for peers.
    stability : float
        Agreement of predictions between bootstrap refits; NaN where not done.
    seconds : float
        Of the fit on all rows. Methods that give all sizes in one fit have the same
        for all of them.
    on_frontier : bool
        Whether no other point has fewer lines and no more error, or less error and no
        more lines.
    rules : RuleSet or None
        Fitted on all rows; None for peers.
    text : str
        What one reads.
    log_loss, log_loss_spread : float
        Of classes: mean log loss of the probabilities against those of the model on
        held-out rows, beyond the model's own (0 where both are the same), and its
        standard error; NaN in regression and for peers.
    """

    method: str
    asked: int
    n_rules: int
    n_literals: int
    error: float
    error_spread: float
    fidelity: float
    coverage: float
    overlap: float
    stability: float
    seconds: float
    on_frontier: bool
    rules: RuleSet | None = field(repr=False)
    text: str = field(repr=False)
    log_loss: float = math.nan
    log_loss_spread: float = math.nan

    def described_on(self, X: Any, y: Any = None, teacher: Any = None) -> FrontierPoint:
        """The same point, the numbers behind its rules those of other rows."""
        if self.rules is None:
            return self
        rules = self.rules.described_on(X, y, teacher=teacher)
        return replace(self, rules=rules, text=str(rules))

    def with_columns(self, column_info: Any) -> FrontierPoint:
        """The same point, its columns in the words of people; peers' as they are."""
        if self.rules is None:
            return self
        rules = self.rules.with_columns(column_info)
        return replace(self, rules=rules, text=str(rules))


@dataclass(frozen=True)
class Frontier:
    """How many lines buy how little error, by method; see :func:`compare`.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    model : str
        Short name of the model.
    n_rows : int
        Rows that count.
    n_folds, n_refits : int
        Parts of the rows, each held out once, and bootstrap refits.
    model_error, model_error_spread : float
        Of the model itself, on the same rows as the rules, and its standard error.
    model_refitted : bool
        Whether the model was fitted afresh without the held-out rows. If not, it may
        have seen them; then its error, and that of the rules, is lower than on new
        rows, and so is their fidelity.
    points : tuple of FrontierPoint
        By method, then by number of lines.
    failures : tuple of (str, str)
        Methods that could not do it, or not all of it, and why.
    seconds : float
        In all.
    feature_names : tuple of str
    classes : tuple
        Class labels; empty in regression.
    n_described : int
        Rows that took no part, of which the numbers behind the rules are (see
        :meth:`described_on`); 0 where they are of the rows that the rules come from.
    scoring : {"log_loss", "error"}
        What decides which rules are enough.
    constant_error : float
        Error of predicting the commonest class, or the mean, for all rows.
    """

    task: str
    model: str
    n_rows: int
    n_folds: int
    n_refits: int
    model_error: float
    model_error_spread: float
    model_refitted: bool
    # Dozens of rule sets: ``print`` tells of them, ``repr`` fits a screen.
    points: tuple[FrontierPoint, ...] = field(repr=False)
    failures: tuple[tuple[str, str], ...]
    seconds: float
    feature_names: tuple[str, ...] = field(repr=False)
    classes: tuple[Any, ...]
    n_described: int = 0
    scoring: str = "error"
    constant_error: float = math.nan

    def described_on(self, X: Any, y: Any = None, *, teacher: Any = None) -> Frontier:
        """The same comparison, the numbers behind its rules those of other rows.

        Nothing else changes: what was measured on held-out parts stays.

        Parameters
        ----------
        X, y, teacher
            As in :meth:`RuleSet.described_on`.

        Returns
        -------
        Frontier
        """
        points = tuple(point.described_on(X, y, teacher) for point in self.points)
        return replace(self, points=points, n_described=len(X))

    def with_columns(self, column_info: Any) -> Frontier:
        """The same comparison, the columns of its rules in the words of people.

        Parameters
        ----------
        column_info : mapping of str to mapping
            As in :meth:`RuleSet.with_columns`.

        Returns
        -------
        Frontier
        """
        points = tuple(point.with_columns(column_info) for point in self.points)
        return replace(self, points=points)

    def best(self, max_rules: int | None = None, by: str = "error") -> RuleSet:
        """The best rules with so many lines at most.

        Parameters
        ----------
        max_rules : int, optional
            Most lines, ``otherwise`` included; by default any number.
        by : {"error", "log_loss", "fidelity"}, default="error"
            What is best. Of equals, those with fewest lines.

        Returns
        -------
        RuleSet
        """
        return _rules_of(self.best_point(max_rules, by))

    def best_point(
        self, max_rules: int | None = None, by: str = "error"
    ) -> FrontierPoint:
        """The point whose rules :meth:`best` gives."""
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
            most = "" if max_rules is None else f" with at most {max_rules} lines"
            raise InputError(f"There are no rules{most}; {found}.")
        sign = -1.0 if by == "fidelity" else 1.0
        return min(some, key=lambda p: (sign * getattr(p, by), p.n_rules))

    def enough(self) -> FrontierPoint:
        """The fewest lines that are within one standard error of the best ``scoring``.

        One line only where no method found more: it tells no row from another, which
        the model does.

        Returns
        -------
        FrontierPoint
            Its ``rules`` are an answer to "how many rules do I need?".
        """
        self.best_point()  # Refuses peers alone.
        name, known = self.scoring, [p for p in self.points if p.rules is not None]
        some = [p for p in known if p.n_rules > 1] or known
        best = min(some, key=lambda p: (getattr(p, name), p.n_rules))
        most = getattr(best, name) + getattr(best, f"{name}_spread")
        near = [p for p in some if getattr(p, name) <= most]
        return min(near, key=lambda p: (p.n_rules, getattr(p, name)))

    def as_good(self, point: FrontierPoint) -> tuple[str, ...]:
        """Other methods that are within one standard error with no more lines."""
        most = point.error + point.error_spread
        near = {
            other.method
            for other in self.points
            if other.n_rules <= point.n_rules and other.error <= most
        }
        return tuple(sorted(near - {point.method}))

    @property
    def table(self) -> pd.DataFrame:
        """All points as a frame, without what one reads."""
        import pandas as pd

        names = [f.name for f in fields(FrontierPoint) if f.repr]
        rows = [[getattr(p, name) for name in names] for p in self.points]
        return pd.DataFrame(rows, columns=names)

    @property
    def outcome(self) -> Outcome:
        """What is predicted."""
        return replace(OUTCOMES[self.task], classes=self.classes)

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data for JSON: what is not known is None."""
        told = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        told["points"] = [
            {f.name: _plain(getattr(point, f.name)) for f in fields(point)}
            for point in self.points
        ]
        return told

    def heading(self) -> list[str]:
        """What was compared, on what, and the short answer."""
        kind = self.outcome.error
        own = _with_spread(self.model_error, self.model_error_spread)
        lines = [
            f"{self.model}: {self.task}, {self.n_rows:,} rows, held out in "
            f"{self.n_folds} parts, {self.n_refits} bootstrap refits, "
            f"{self.seconds:.0f} seconds",
            f"{kind} of the model {own}" + ("" if self.model_refitted else f"; {SEEN}"),
        ]
        if self.constant_error == self.constant_error:
            lines.append(self._of_a_constant(kind))
        if any(point.rules is not None for point in self.points):
            lines.append(
                f"enough: {self._enough_in_short(kind)}: the fewest lines within one "
                f"standard error of the least {SCORES[self.scoring]}"
            )
        least = min(self.points, key=lambda p: (p.error, p.n_rules), default=None)
        if least is not None and least.rules is None:
            lines.append(f"least error of peers: {_in_short(least, kind)}")
        return lines

    def _of_a_constant(self, kind: str) -> str:
        """How far the model itself is better than saying the same of all rows."""
        what = self.outcome.constant
        text = f"{kind} of the {what} alone {short_text(self.constant_error)}"
        if self.constant_error - self.model_error > self.model_error_spread:
            return text
        text += ": the model is hardly better"
        if self.scoring == "log_loss":
            text += "; what its probabilities tell is judged by log loss"
        return text

    def _enough_in_short(self, kind: str) -> str:
        point = self.enough()
        text = _in_short(point, kind)
        if self.scoring == "log_loss":
            text += f", log loss {measure_text(point, 'log_loss')} beyond the model's"
        return text

    def frontier(self) -> list[FrontierPoint]:
        """The points that no other beats, by number of lines."""
        some = [point for point in self.points if point.on_frontier]
        return sorted(some, key=lambda p: (p.n_rules, p.error))

    def __str__(self) -> str:
        lines = [wrapped(line) for line in self.heading()]
        header = ["lines", "method", *(TITLES.get(m, m) for m in MEASURES), "as good"]
        body = [
            [
                str(point.n_rules),
                point.method,
                *(measure_text(point, name) for name in MEASURES),
                ", ".join(self.as_good(point)),
            ]
            for point in self._shown()
        ]
        lines += ["", *_columns([header, *body])]
        if body:
            lines += ["", wrapped(NOTE)]
        lines += [wrapped(f"{method}: {why}") for method, why in self.failures]
        return "\n".join(lines)

    def _shown(self) -> list[FrontierPoint]:
        """The frontier, and what is enough."""
        shown = _without_ties(self.frontier())
        if any(point.rules is not None for point in self.points):
            enough = self.enough()
            shown += [enough] * all(point is not enough for point in shown)
        return sorted(shown, key=lambda p: (p.n_rules, p.error))

    def plot(self, ax: Any = None) -> Any:
        """Draw all points by number of lines and error.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        FrontierDisplay
            It draws other measures too; see there.
        """
        from clearwood.comparison.display import FrontierDisplay

        return FrontierDisplay.from_frontier(self).plot(ax)

    def _repr_html_(self) -> str:
        from clearwood._html import render

        points = [
            {
                "lines": point.n_rules,
                "method": point.method,
                "on_frontier": point.on_frontier,
                "measures": [measure_text(point, name) for name in MEASURES],
            }
            for point in self.points
        ]
        return render(
            "comparison/frontier.html",
            facts=self.heading(),
            titles=[TITLES.get(name, name) for name in MEASURES],
            points=points,
            failures=self.failures,
        )


SEEN = (
    "it may have seen these rows: then its error, and that of the rules, is lower than "
    "on new rows, and so is the fidelity, as rules do not say what it knows by heart"
)
NOTE = (
    "Shown are what is enough and the points that no other beats in error with as few "
    "lines. As good: other methods that are within one standard error of that error "
    "with no more lines."
)
TITLES = {"n_literals": "literals", "log_loss": "log loss"}
SCORES = {"error": "error", "log_loss": "log loss against the model's probabilities"}


def measure_text(point: FrontierPoint, name: str) -> str:
    """One measure of a point for people; empty where it is not known."""
    value = getattr(point, name)
    if isinstance(value, float) and math.isnan(value):
        return ""
    if name in SCORES:
        return _with_spread(value, getattr(point, f"{name}_spread"))
    if name == "seconds":
        return short_text(value, 2)
    # No 1e-15 where it means 0, and no -0.
    return short_text(round(value, 4) + 0.0)


def _with_spread(error: float, spread: float) -> str:
    return f"{short_text(error)} ± {short_text(spread, 1)}"


def _rules_of(point: FrontierPoint) -> RuleSet:
    assert point.rules is not None
    return point.rules


def _without_ties(points: list[FrontierPoint]) -> list[FrontierPoint]:
    """The first of points with the same size and error."""
    first: dict[tuple[int, float], FrontierPoint] = {}
    for point in points:
        first.setdefault((point.n_rules, point.error), point)
    return list(first.values())


def _in_short(point: FrontierPoint, kind: str) -> str:
    lines = f"{point.n_rules} line{'s' * (point.n_rules != 1)}"
    error = _with_spread(point.error, point.error_spread)
    return f"{point.method} with {lines}, {kind} {error}"


def _columns(rows: list[list[str]]) -> list[str]:
    """Rows as aligned text, the method to the left and numbers to the right."""
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
