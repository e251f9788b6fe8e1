"""Rows that are told the same, or nearly so, side by side."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from clearwood.rules.rule_set import RuleSet

T = TypeVar("T")


class Group(NamedTuple):
    """Rows of which the rules say one thing.

    Attributes
    ----------
    line : int or None
        Number of the line that decides them; None where none does alone.
    rows : ndarray of bool of shape (n_rows,)
    """

    line: int | None
    rows: np.ndarray


def groups_of(
    rules: RuleSet, encoded: np.ndarray, said: np.ndarray, most: int
) -> list[Group]:
    """The rows by line; where no line decides alone, by how much is said of them.

    Parameters
    ----------
    rules : RuleSet
    encoded : ndarray of shape (n_rows, n_features)
    said : ndarray of shape (n_rows,)
        Values, or probabilities of one class.
    most : int
        Groups, at most; there may be more lines.

    Returns
    -------
    list of Group
        Those with rows; lines in their order, others from the lowest up.
    """
    line = rules.decides(encoded)
    if line is not None:
        return [Group(int(k) + 1, line == k) for k in np.unique(line)]
    values, place = np.unique(said, return_inverse=True)
    if len(values) > most:
        # Rows that are told the same stay together.
        ends = np.quantile(said, np.arange(1, most) / most, method="inverted_cdf")
        place = np.searchsorted(ends, said, side="left")
    return [Group(None, place == k) for k in np.unique(place)]


class SideBySide(Generic[T]):
    """What is found of some rules and, where it is known, of the model beside them."""

    rules: T
    model: T | None

    @property
    def judged(self) -> dict[str, T]:
        """The rules and, where it is known, the model, by name."""
        found = {"rules": self.rules, "model": self.model}
        return {who: judged for who, judged in found.items() if judged is not None}
