"""Quantiles and effects: what the rules of a model of values estimate."""

from __future__ import annotations

import math
from typing import Any

from clearwood._numeric import as_generator
from clearwood._tables import RowsOfTable
from clearwood.ensembles.statistics import quantile_level, statistic_of_model
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES, Outcome, Quantile
from clearwood.simplifiers.effects import effect_scores

METHODS = ("list", "tree")
"""Methods whose rules predict estimates from true values."""

ROWS_BEYOND = 3
"""Rows of a rule that should lie beyond its quantile."""

ROWS_OF_EFFECT = 30
"""Rows of a rule for the effect of a treatment."""


def estimated(
    model: Any,
    rows: RowsOfTable,
    groups: Any,
    seed: Any,
    *,
    task: str | None,
    quantile: float | None,
    treatment: Any,
    propensity: Any,
    is_free: bool,
) -> tuple[Outcome | None, RowsOfTable]:
    """Type of what rules estimate, and rows with its true values.

    Parameters
    ----------
    model : model, callable or TreeEnsemble
    rows : RowsOfTable
    groups, seed, task, quantile, treatment, propensity
        As in :func:`simplify`.
    is_free : bool
        Whether the method may be one for quantiles if the model is of one.

    Returns
    -------
    outcome : Outcome or None
        None for classes and aggregates of the model's predictions.
    rows : RowsOfTable
    """
    if task not in (None, "regression", "quantile", "effect"):
        raise InputError(
            f"task is {task!r}; expected 'regression', 'quantile', 'effect', or None "
            "for the task of the model."
        )
    if task != "effect" and (treatment is not None or propensity is not None):
        raise InputError("treatment and propensity are for task='effect'; set it.")
    if task in ("effect", "regression") and quantile is not None:
        raise InputError(f"quantile is not for task={task!r}; set one of them only.")
    if task == "effect":
        found = _with_scores(rows, groups, seed, treatment, propensity)
        return OUTCOMES["effect"], found
    if task is None and quantile is None and not is_free:
        return None, rows
    return quantile_outcome(model, rows.y, task, quantile), rows


def _with_scores(
    rows: RowsOfTable, groups: Any, seed: Any, treatment: Any, propensity: Any
) -> RowsOfTable:
    if (treatment is None) != (rows.y is None):
        raise InputError(
            "Effects are estimated from outcomes, y, and treatments; pass both, or "
            "neither to approximate the model's effects only."
        )
    if treatment is None:
        if propensity is not None:
            raise InputError("propensity needs y and treatment; pass both.")
        return rows
    number = int(as_generator(seed).integers(2**31))
    scores = effect_scores(
        rows.X, rows.y, treatment, propensity=propensity, sample_weight=rows.weight,
        groups=groups, random_state=number,
    )  # fmt: skip
    return rows._replace(y=scores)


def quantile_outcome(
    model: Any, y: Any, task: str | None, quantile: float | None
) -> Quantile | None:
    """Quantile that is given, or that of the model; None if rules are of others.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> model = GradientBoostingRegressor(loss="quantile", alpha=0.9)
    >>> quantile_outcome(model, [1.0, 2.0], None, None).level
    0.9
    """
    if task == "regression":
        return None
    known = statistic_of_model(model)
    own = quantile_level(known)
    if task is None and quantile is None and (own is None or y is None):
        return None
    if y is None:
        raise InputError(
            "Rules for a quantile require y to be passed, but the target y is None: "
            "only true values show how many of them lie below."
        )
    level = own if quantile is None else quantile
    if level is None:
        raise InputError(
            "The model states no quantile level; pass it, such as quantile=0.9."
        )
    if not (isinstance(level, float) and 0 < level < 1):
        raise InputError(
            f"quantile is {level!r}; expected a share between 0 and 1, such as 0.9."
        )
    if own is not None and not math.isclose(own, level):
        raise InputError(
            f"quantile={level:g}, but the model predicts {known}; leave quantile out, "
            "or pass a model of that quantile."
        )
    return Quantile(level=level)


def least_rows(outcome: Outcome) -> int:
    """Default minimum number of training rows of a rule.

    Examples
    --------
    >>> least_rows(Quantile(level=0.9)), least_rows(OUTCOMES["effect"])
    (30, 30)
    """
    if not isinstance(outcome, Quantile):
        return ROWS_OF_EFFECT
    beyond = min(outcome.level, 1 - outcome.level)
    return max(20, math.ceil(ROWS_BEYOND / beyond - 1e-9))
