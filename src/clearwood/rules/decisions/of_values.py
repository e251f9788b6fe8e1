"""Regression metrics: residuals per rule, and coverage of printed intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._html.disclosure import of_parts
from clearwood._words.numbers import short_text
from clearwood.outcomes.intervals import (
    NOT_KNOWN,
    Rate,
    mean_of,
    rate_of,
)
from clearwood.results import Result
from clearwood.rules.decisions.groups import Group, SideBySide, groups_of
from clearwood.rules.decisions.in_words import residuals_text
from clearwood.rules.rule_set import RuleSet

if TYPE_CHECKING:
    import pandas as pd


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels of the quantiles of residuals."""
MOST_GROUPS = 5
WIDE = 2.0
"""Standard deviations to both sides of a value that cover 95 % of a normal."""


class Errors(NamedTuple):
    """Residuals of rules, or of their model.

    Attributes
    ----------
    rmse : Rate
        Root mean squared error.
    bias : Rate
        Mean of truth minus prediction.
    quantiles : tuple of float
        Of truth minus prediction, at 5, 25, 50, 75 and 95 %.
    """

    rmse: Rate
    bias: Rate
    quantiles: tuple[float, ...]


class LineErrors(NamedTuple):
    """Rows with one predicted value, and their observed values.

    Attributes
    ----------
    line : int or None
        Number of the rule; None in sums and averages.
    predicted : float
        Mean predicted value.
    mean : Rate
        Mean of the observed values, with Student's interval.
    errors : Errors
    std : float
        Standard deviation printed with the rule; NaN where there is none.
    inside : Rate
        Share of rows within two such standard deviations of the prediction: 95 % where
        errors are normal and the standard deviation is correct.
    """

    line: int | None
    predicted: float
    mean: Rate
    errors: Errors
    std: float
    inside: Rate

    @property
    def name(self) -> str:
        """Name of the group of rows.

        Examples
        --------
        >>> errors = Errors(NOT_KNOWN, NOT_KNOWN, ())
        >>> LineErrors(3, 2.5, NOT_KNOWN, errors, 1.0, NOT_KNOWN).name
        'rule 3'
        """
        if self.line:
            return f"rule {self.line}"
        return f"predicted {short_text(self.predicted, 4)}"


@dataclass(frozen=True, eq=False, repr=False)
class Residuals(SideBySide[Errors], Result):
    """Regression metrics; see :func:`clearwood.decisions`.

    Attributes
    ----------
    target : str
        Name of the target.
    n_rows : int
        Number of rows with a weight.
    rules : Errors or None
        Over all rows; None for a regressor without rules.
    model : Errors or None
        The same metrics of the model, or of such a regressor.
    inside : Rate
        Share of all rows within two printed standard deviations of the prediction.
    means_held : tuple of int
        Number of rules whose printed interval contains the mean of these rows, and
        number of rules that have such an interval and such rows.
    lines : tuple of LineErrors
        Per rule; in sums and averages by predicted value, ascending.

    Examples
    --------
    >>> import clearwood as cw
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=5.25),), 31.0),),
    ...     cw.Rule((), 22.0), cw.FeatureSpace(("height",), (None,)), target="heating")
    >>> found = cw.decisions(rules, [[3.5], [7.0], [7.0]], [20.0, 30.0, 34.0])
    >>> [line.mean.value - line.predicted for line in found.lines]
    [1.0, -2.0]
    """

    _display = "clearwood.rules.decisions.display:ResidualsDisplay"

    target: str
    n_rows: int
    rules: Errors | None
    model: Errors | None
    inside: Rate
    means_held: tuple[int, int]
    lines: tuple[LineErrors, ...]

    def to_frame(self) -> pd.DataFrame:
        """Residuals of each rule, of all rules and of the model, one per row."""
        import pandas as pd

        def row(of: str, errors: Errors, inside: Rate) -> dict[str, object]:
            quantiles = zip(LEVELS, errors.quantiles)
            return {
                "of": of,
                "rows": errors.rmse.rows,
                "rmse": errors.rmse.value,
                "bias": errors.bias.value,
                **{f"error_{100 * level:.0f}%": value for level, value in quantiles},
                "inside": inside.value,
            }

        lines = [
            row(line.name, line.errors, line.inside)
            | {"predicted": line.predicted, "mean": line.mean.value,
               "low": line.mean.low, "high": line.mean.high, "std": line.std}
            for line in self.lines
        ]  # fmt: skip
        ends = [
            row(who, errors, self.inside if who == "rules" else NOT_KNOWN)
            for who, errors in self.metrics.items()
        ]
        return pd.DataFrame(lines + ends)

    def __str__(self) -> str:
        return residuals_text(self)

    def _page(self) -> tuple[str, dict[str, Any]]:
        text = of_parts(
            self.lines,
            lambda line: line.mean.rows,
            lambda lines: str(replace(self, lines=tuple(lines))),
        )
        return "_html/text.html", {"text": text}


def evaluate_values(
    rules: RuleSet,
    matches: np.ndarray,
    truth: np.ndarray,
    model: np.ndarray | None,
    weight: np.ndarray,
) -> Residuals:
    """Compare predictions of rules and model with true values.

    Parameters
    ----------
    rules : RuleSet
        A regressor.
    matches : ndarray of bool of shape (n_rows, n_rules - 1)
    truth, model : ndarray of shape (n_rows,)
        True values, and the model's predictions, if known.
    weight : ndarray of shape (n_rows,)

    Returns
    -------
    Residuals
    """
    predicted = rules.predictions_by(matches)
    printed = np.array([rule.statistics.std for rule in rules])
    decided = rules.predicting_rule(matches)
    std = np.full(len(predicted), math.nan) if decided is None else printed[decided]
    lines = _lines(decided, predicted, truth, std, weight)
    return Residuals(
        rules.target,
        int((weight > 0).sum()),
        errors_of(truth - predicted, weight),
        None if model is None else errors_of(truth - model, weight),
        _inside(truth - predicted, std, weight),
        _means_held(rules, lines),
        lines,
    )


def errors_of_model(
    target: str, predicted: np.ndarray, truth: np.ndarray, weight: np.ndarray
) -> Residuals:
    """Compare predictions of a regressor without rules with true values."""
    std = np.full(len(predicted), math.nan)
    lines = _lines(None, predicted, truth, std, weight)
    errors, n_rows = errors_of(truth - predicted, weight), int((weight > 0).sum())
    return Residuals(target, n_rows, None, errors, NOT_KNOWN, (0, 0), lines)


def _lines(
    decided: np.ndarray | None,
    predicted: np.ndarray,
    truth: np.ndarray,
    std: np.ndarray,
    weight: np.ndarray,
) -> tuple[LineErrors, ...]:
    return tuple(
        _line(group, predicted, truth, std, weight)
        for group in groups_of(decided, predicted, MOST_GROUPS)
        if weight[group.rows].sum() > 0
    )


def _means_held(rules: RuleSet, lines: Sequence[LineErrors]) -> tuple[int, int]:
    statistics = [rule.statistics for rule in rules]
    held = [
        known.low <= line.mean.value <= known.high
        for line in lines
        if line.line is not None
        and not math.isnan((known := statistics[line.line - 1]).low)
    ]
    return int(sum(held)), len(held)


def _line(
    group: Group,
    predicted: np.ndarray,
    truth: np.ndarray,
    std: np.ndarray,
    weight: np.ndarray,
) -> LineErrors:
    rows = group.rows
    predicted, truth, std, weight = (
        predicted[rows],
        truth[rows],
        std[rows],
        weight[rows],
    )
    return LineErrors(
        group.line,
        # The mean of equal numbers may differ by rounding.
        float(predicted[0] if group.line else np.average(predicted, weights=weight)),
        mean_of(truth, weight),
        errors_of(truth - predicted, weight),
        float(std[0]),
        _inside(truth - predicted, std, weight),
    )


def _inside(errors: np.ndarray, std: np.ndarray, weight: np.ndarray) -> Rate:
    known = ~np.isnan(std)
    return rate_of(abs(errors[known]) <= WIDE * std[known], weight[known])


def errors_of(errors: np.ndarray, weight: np.ndarray) -> Errors:
    """Root mean square, mean and quantiles of residuals.

    Examples
    --------
    >>> errors_of(np.array([-1.0, 0.0, 4.0]), np.ones(3)).quantiles
    (-1.0, -1.0, 0.0, 4.0, 4.0)
    >>> errors_of(np.array([-4.4, 4.4]), np.ones(2)).quantiles[2]
    0.0
    """
    squared = mean_of(errors**2, weight)
    value, low, high = (
        math.sqrt(max(end, 0.0)) for end in (squared.value, squared.low, squared.high)
    )
    counted = weight > 0
    errors, weight = errors[counted], weight[counted]
    # The midpoint between two residuals that split the rows at the level.
    quantiles = [
        (_quantile(errors, weight, p) - _quantile(-errors, weight, 1 - p)) / 2
        for p in LEVELS
    ]
    return Errors(
        Rate(value, low, high, squared.rows),
        mean_of(errors, weight),
        tuple(quantiles),
    )


def _quantile(values: np.ndarray, weight: np.ndarray, level: float) -> float:
    return float(np.quantile(values, level, weights=weight, method="inverted_cdf"))
