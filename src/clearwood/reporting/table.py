"""The rows that a page is about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet


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
    taught = probabilities = None
    if hasattr(teacher, "predict"):
        taught = rules.check_truth(teacher.predict(X), n_rows, "the teacher")
        if rules.task == "classification" and hasattr(teacher, "predict_proba"):
            probabilities = np.asarray(teacher.predict_proba(X))
    elif teacher is not None:
        taught = rules.check_truth(teacher, n_rows, "the teacher")
    y = None if y is None else rules.check_truth(y, n_rows, "y")
    return Table(X, y, taught, probabilities)
