"""Groups of rows with equal or similar predictions."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")


class Group(NamedTuple):
    """Rows with one prediction.

    Attributes
    ----------
    line : int or None
        Number of the rule that predicts them; None in sums and averages.
    rows : ndarray of bool of shape (n_rows,)
    """

    line: int | None
    rows: np.ndarray


def groups_of(line: np.ndarray | None, predicted: np.ndarray, most: int) -> list[Group]:
    """Group rows by rule; where no single rule predicts, by quantiles of predictions.

    Parameters
    ----------
    line : ndarray of int of shape (n_rows,) or None
        From ``RuleSet.predicting_rule``.
    predicted : ndarray of shape (n_rows,)
        Predicted values, or probabilities of one class.
    most : int
        Maximum number of quantile groups; there may be more rules.

    Returns
    -------
    list of Group
        Non-empty groups; rules in printed order, quantiles ascending.
    """
    if line is not None:
        return [Group(int(k) + 1, line == k) for k in np.unique(line)]
    values, place = np.unique(predicted, return_inverse=True)
    if len(values) > most:
        # Rows of equal prediction stay together.
        ends = np.quantile(predicted, np.arange(1, most) / most, method="inverted_cdf")
        place = np.searchsorted(ends, predicted, side="left")
    return [Group(None, place == k) for k in np.unique(place)]


class SideBySide(Generic[T]):
    """Metrics of rules and, if it is known, of the model."""

    rules: T | None
    model: T | None

    @property
    def metrics(self) -> dict[str, T]:
        """The metrics by name, of the rules and, if it is known, of the model."""
        found = {"rules": self.rules, "model": self.model}
        return {who: metrics for who, metrics in found.items() if metrics is not None}

    @property
    def first(self) -> T:
        """The metrics of the rules, or of a model without rules."""
        return next(iter(self.metrics.values()))
