"""What a table of rules shows of each of them, as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import Rule, RuleSet
from clearwood.rules.render import prediction_text, value_text
from clearwood.rules.rule import first_match


@dataclass(frozen=True)
class RuleLine:
    """One line of the table; NaN stands for what is not known.

    Attributes
    ----------
    number : int or None
        As printed; the constant of a sum has none.
    conditions : tuple of str
        Empty for the last line of a list and for the constant of a sum.
    says : str
        What the rule predicts, or adds.
    prediction : float, or a class label
    caught, matching : float
        Shares of the rows that no earlier rule catches, and of all that satisfy the
        rule.
    agreement, agreement_caught, precision, spread : float
        As in ``Rule``.
    scores : tuple of float
        As in ``Rule``.
    weight : float or None
        Only in an average.
    """

    number: int | None
    conditions: tuple[str, ...]
    says: str
    prediction: Any
    caught: float
    matching: float
    agreement: float = math.nan
    agreement_caught: float = math.nan
    precision: float = math.nan
    spread: float = math.nan
    scores: tuple[float, ...] = ()
    weight: float | None = None


def lines_of(rules: RuleSet) -> list[RuleLine]:
    """The lines with the statistics of the training rows, in printed order.

    The constant of a sum comes first.

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval
    >>> rules = RuleSet(
    ...     (Rule((Interval(0, low=0.5),), 1.0, (), support=3.0, caught=3.0),),
    ...     Rule((), 0.0, (), support=1.0, caught=1.0),
    ...     FeatureSpace.numeric(1))
    >>> [(line.says, line.caught) for line in lines_of(rules)]
    [('1', 0.75), ('0', 0.25)]
    """
    # Every row of a sum gets the constant.
    total = rules.otherwise.support
    if rules.is_list:
        total = sum(rule.caught for rule in rules)
    lines = [
        RuleLine(
            number,
            tuple(c.text(rules.features) for c in rule.conditions),
            says_text(rules, rule),
            rule.prediction,
            rule.caught / total if total else math.nan,
            rule.support / total if total else math.nan,
            rule.agreement,
            rule.agreement_caught,
            rule.precision,
            rule.spread,
            rule.scores,
            rule.weight if rules.is_average else None,
        )
        for number, rule in enumerate(rules, start=1)
    ]
    if rules.is_sum:
        lines = [replace(lines[-1], number=None), *lines[:-1]]
    return lines


def lines_on(
    rules: RuleSet, X: Any, y: np.ndarray | None, taught: np.ndarray | None
) -> list[RuleLine]:
    """The lines with the statistics of rows that are handed in.

    Parameters
    ----------
    rules : RuleSet
    X : array-like or frame of shape (n_samples, n_features)
        At least one row.
    y : ndarray of shape (n_samples,) or None
        True labels or values.
    taught : ndarray of shape (n_samples,) or None
        What the model says.

    Returns
    -------
    list of RuleLine
    """
    matches = rules.matches(X)
    n_rows = len(matches)
    if n_rows == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    always = np.ones((n_rows, 1), dtype=bool)
    if rules.is_sum:
        matches = caught = np.hstack([always, matches])
    elif rules.is_average:
        matches = caught = np.hstack([matches, always])
    else:
        matches = np.hstack([matches, always])
        caught = np.arange(rules.n_rules) == first_match(matches)[:, None]
        # `otherwise` has no conditions of its own.
        matches[:, -1] = caught[:, -1]
    shown = taught if y is None else y
    lines = []
    for line, all_rows, first in zip(lines_of(rules), matches.T, caught.T):
        line = replace(
            line,
            caught=float(first.mean()),
            matching=float(all_rows.mean()),
            agreement=math.nan,
            agreement_caught=math.nan,
            precision=math.nan,
            spread=math.nan,
        )
        if not rules.is_sum:
            line = replace(
                line,
                agreement=_agreement(line.prediction, taught, all_rows, rules.task),
                agreement_caught=_agreement(line.prediction, taught, first, rules.task),
            )
            if rules.classes:
                precision = _agreement(line.prediction, y, all_rows, rules.task)
                line = replace(line, precision=precision)
            elif shown is not None and all_rows.any():
                line = replace(line, spread=float(shown[all_rows].std()))
        lines.append(line)
    return lines


def _agreement(
    said: Any, values: np.ndarray | None, rows: np.ndarray, task: str
) -> float:
    """Share of equal classes, or one minus squared difference over variance."""
    if values is None or not rows.any():
        return math.nan
    if task == "classification":
        return float((values[rows] == said).mean())
    mse, total = float(((values[rows] - said) ** 2).mean()), float(values.var())
    return 1.0 - mse / total if total > 0 else float(mse == 0.0)


def says_text(rules: RuleSet, rule: Rule) -> str:
    """What a rule predicts, or adds; of more than two classes, which it raises most."""
    if rules.is_average:
        return value_text(rules, rule)
    if not rules.is_sum or len(rules.classes) > 2:
        return prediction_text(rule.prediction)
    value = float(rule.scores[1] if rules.classes else rule.prediction)
    if not rule.conditions:
        return prediction_text(value)
    return f"{'-' if value < 0 else '+'} {prediction_text(abs(value))}"


def share_text(share: float) -> str:
    """A share in percent, two digits.

    Examples
    --------
    >>> share_text(0.314), share_text(0.0042), share_text(1.0), share_text(math.nan)
    ('31%', '0.42%', '100%', '')
    """
    if math.isnan(share):
        return ""
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def score_text(score: float) -> str:
    """A score with two decimals; nothing where it is not known.

    Examples
    --------
    >>> score_text(0.987), score_text(-12.3), score_text(math.nan)
    ('0.99', '-12.30', '')
    """
    return "" if math.isnan(score) else f"{score:.2f}"
