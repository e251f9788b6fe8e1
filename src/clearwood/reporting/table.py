"""Rows of the report."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from clearwood.columns.some_rows import one_row
from clearwood.columns.sparse_tables import columns_of
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.decisions import answers_of
from clearwood.rules.rule_set import rows_for, rules_of


class Table(NamedTuple):
    """Given rows: raw, as read by rules and by the model; with predictions."""

    X: Any
    rows: np.ndarray
    for_model: Any
    y: np.ndarray | None
    of_model: np.ndarray | None
    probabilities: np.ndarray | None


def table_of(
    rules: RuleSet,
    X: Any,
    given: Any,
    y: Any,
    model: Any,
    path: Iterable[RuleSet] = (),
) -> Table:
    """Validate the given rows, and encode them once for rules of all sizes.

    For a sparse matrix ``X`` holds the columns that rules use; ``given`` is all of it.
    """
    rows, for_model = rows_for(rules, model, X, path)
    if X is not given:
        for_model = given
    if len(rows) == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    of_model, probabilities = answers_of(rules, model, for_model, len(rows))
    y = None if y is None else rules.check_target(y, len(rows), "y")
    return Table(X, rows, for_model, y, of_model, probabilities)


def path_of(result: Any) -> tuple[RuleSet, ...]:
    """Rule sets of all sizes from which that of a result was selected."""
    return tuple(getattr(result, "path_", None) or ())


def in_used_columns(result: Any, X: Any, row: Any) -> tuple[Any, Any, Any]:
    """Restrict a result to the columns that its rules use, and X and row likewise."""
    rules = rules_of(result)
    every = rules.used_features.union(*(one.used_features for one in path_of(result)))
    used = sorted(every) or [0]
    features, place = rules.features.taken(used), {d: i for i, d in enumerate(used)}
    moved = rules.in_columns(features, place)
    if result is not rules:
        moved = copy(result)
        moved._move(features, place)  # see BaseRuleExtractor
    if row is not None:
        row = rules.features.encode(one_row(row), used)[:, used]
        row = features.as_encoded(row)
    return moved, columns_of(rules.features, X, used), row
