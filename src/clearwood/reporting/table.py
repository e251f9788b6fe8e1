"""The rows that a page is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.decisions import answers_of
from clearwood.rules.rule_set import rows_for


class Table(NamedTuple):
    """The rows given: as a table, as rules and as the model read it; what it says."""

    X: Any
    rows: np.ndarray
    for_model: Any
    y: np.ndarray | None
    taught: np.ndarray | None
    probabilities: np.ndarray | None


def table_of(
    rules: RuleSet,
    X: Any,
    given: Any,
    y: Any,
    teacher: Any,
    path: Iterable[RuleSet] = (),
) -> Table:
    """Check the rows given, and read them once for rules of all sizes.

    Of a sparse matrix ``X`` are the columns that rules ask; ``given`` is all of it.
    """
    rows, for_model = rows_for(rules, teacher, X, path)
    if X is not given:
        for_model = given
    if len(rows) == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    taught, probabilities = answers_of(rules, teacher, for_model, len(rows))
    y = None if y is None else rules.check_truth(y, len(rows), "y")
    return Table(X, rows, for_model, y, taught, probabilities)
