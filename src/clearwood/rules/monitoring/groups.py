"""Errors of rules by groups of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.columns.feature_space import is_frame
from clearwood.columns.frames import frame_of
from clearwood.exceptions import InputError
from clearwood.outcomes.intervals import Rate
from clearwood.rules.decisions import Residuals, evaluate_encoded, positive_position
from clearwood.rules.monitoring.quantities import Sample
from clearwood.rules.rule_set import RuleSet
from clearwood.rules.scores import check_errors


class GroupErrors(NamedTuple):
    """Errors of the rules on a group of rows.

    Attributes
    ----------
    group : label
    rows : int
    errors : dict of str to Rate
        Two classes, or one against the others: ``error``, ``false positives`` (share of
        rows of other classes predicted positive) and ``false negatives`` (share of
        positive rows not predicted so). More classes: ``error``. Values: ``RMSE`` and
        ``bias``, the mean of truth minus prediction.
    """

    group: Any
    rows: int
    errors: dict[str, Rate]


def errors_by_group(
    rules: RuleSet, new: Sample, by: Any, pos_label: Any
) -> tuple[tuple[GroupErrors, ...], str]:
    """Errors by the groups of a column or of given labels, and their name."""
    positive_position(rules.classes, pos_label, None)
    if by is None or new.truth is None:
        return (), ""
    check_errors(rules)
    labels, name = labels_of(new.X, new.n, by)
    found = []
    for label in sorted(set(labels.tolist()), key=str):
        rows = labels == label
        errors = _errors(rules, new.encoded[rows], new.truth[rows], pos_label)
        found.append(GroupErrors(label, int(rows.sum()), errors))
    return tuple(found), name


def labels_of(X: Any, n_rows: int, by: Any) -> tuple[np.ndarray, str]:
    """Labels of groups, from a column of a frame or as given, and their name."""
    if isinstance(by, str):
        frame = frame_of(X) if is_frame(X) else None
        if frame is None or by not in frame.names:
            raise InputError(
                f"by is {by!r}, which is no column of X; give a column of a frame, or "
                "one label per row."
            )
        labels, name = np.array(frame[by].cells, dtype=object), by
    else:
        labels, name = np.array(by, dtype=object), str(getattr(by, "name", "group"))
    if labels.shape != (n_rows,):
        raise InputError(
            f"by must hold one label for each of the {n_rows} rows, found shape "
            f"{labels.shape}."
        )
    missing = [label is None or label != label for label in labels.tolist()]
    labels[np.array(missing, dtype=bool)] = "missing"
    return labels, name


def _errors(
    rules: RuleSet, encoded: np.ndarray, truth: np.ndarray, pos_label: Any
) -> dict[str, Rate]:
    weight = np.ones(len(encoded))
    found = evaluate_encoded(rules, encoded, truth, None, None, weight, pos_label)
    if isinstance(found, Residuals):
        return {"RMSE": found.first.rmse, "bias": found.first.bias}
    errors = {"error": found.first.error}
    if found.pos_label is not None:
        (rates,) = found.first.rates
        errors["false positives"] = _other(rates.specificity)
        errors["false negatives"] = _other(rates.sensitivity)
    return errors


def _other(rate: Rate) -> Rate:
    """Share of the other rows."""
    return Rate(1 - rate.value, 1 - rate.high, 1 - rate.low, rate.rows)
