"""The rows that a page is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.decisions import answers_of


class Table(NamedTuple):
    """The rows given: as a table and as rules read them; predictions of the model."""

    X: Any
    rows: np.ndarray
    y: np.ndarray | None
    taught: np.ndarray | None
    probabilities: np.ndarray | None


def table_of(
    rules: RuleSet, X: Any, y: Any, teacher: Any, path: Iterable[RuleSet] = ()
) -> Table:
    """Check the rows given, and read them once for rules of all sizes."""
    asked = rules.asked.union(*(shorter.asked for shorter in path))
    rows = rules.features.encoded_table(X, asked)
    if len(rows) == 0:
        raise InputError("X has no rows; give some, or leave X out.")
    taught, probabilities = answers_of(rules, teacher, X, len(rows))
    y = None if y is None else rules.check_truth(y, len(rows), "y")
    return Table(X, rows, y, taught, probabilities)
