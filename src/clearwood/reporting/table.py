"""The rows that a page is about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.decisions import answers_of


class Table(NamedTuple):
    """The rows handed in, and what the teacher says of them."""

    X: Any
    y: np.ndarray | None
    taught: np.ndarray | None
    probabilities: np.ndarray | None


def table_of(rules: RuleSet, X: Any, y: Any, teacher: Any) -> Table:
    """Rows that are handed in, checked, and what a teacher says of them."""
    n_rows = len(rules.encode(X))
    if n_rows == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    taught, probabilities = answers_of(rules, teacher, X, n_rows)
    y = None if y is None else rules.check_truth(y, n_rows, "y")
    return Table(X, y, taught, probabilities)
