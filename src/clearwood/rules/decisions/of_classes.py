"""Classification metrics: confusion matrix, rates, calibration, ROC curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood.exceptions import InputError
from clearwood.outcomes.classes import positions_of
from clearwood.outcomes.intervals import NOT_KNOWN, Rate, rate_of
from clearwood.results import Result
from clearwood.rules.decisions.groups import SideBySide, groups_of
from clearwood.rules.decisions.in_words import decisions_text
from clearwood.rules.decisions.roc import Roc, roc_of

if TYPE_CHECKING:
    import pandas as pd


MOST_GROUPS = 10
"""Groups of a calibration plot if there is none per rule."""


class ClassAnswers(NamedTuple):
    """Predictions of rules, or of a model, for some rows.

    Attributes
    ----------
    predicted : ndarray of int of shape (n_rows,)
        Positions in the rules' classes, -1 for a class that is not among them.
    probabilities : ndarray of shape (n_rows, n_classes), or None
        In the order of the rules' classes.
    """

    predicted: np.ndarray
    probabilities: np.ndarray | None


@dataclass(frozen=True)
class ClassRates:
    """Rates of one class against the others, each with its 95 % interval.

    Attributes
    ----------
    label : a class label
        The class; all others are pooled.
    base_rate : Rate
        Share of rows that belong to the class.
    sensitivity : Rate
        Share of the rows of the class that are predicted as such.
    specificity : Rate
        Share of the other rows that are not predicted as the class.
    positive_value : Rate
        Positive predictive value: share of rows predicted as the class that belong to
        it.
    negative_value : Rate
        Negative predictive value: share of the other predictions that are correct.
    area : Rate
        Area under the ROC curve; unknown without probabilities.
    """

    label: Any
    base_rate: Rate
    sensitivity: Rate
    specificity: Rate
    positive_value: Rate
    negative_value: Rate
    area: Rate

    def items(self) -> list[tuple[str, Rate]]:
        """The rates by name."""
        return [(f.name, getattr(self, f.name)) for f in fields(self)[1:]]


class CalibrationPoint(NamedTuple):
    """Rows of similar predicted probability, and the observed share of the class.

    Attributes
    ----------
    line : int or None
        Number of the rule; None in sums and averages.
    predicted : float
        Mean predicted probability.
    found : Rate
        Share of these rows that belong to the class.
    """

    line: int | None
    predicted: float
    found: Rate


@dataclass(frozen=True, eq=False)
class ClassMetrics:
    """Classification metrics of the rules, or of their model.

    Attributes
    ----------
    error : Rate
        Share of wrong predictions.
    confusion, rows : ndarray of shape (n_labels, n_calls)
        Weight and number of rows by true label and by prediction.
    rates : tuple of ClassRates
        For the positive class; or, where none is given, for every class.
    roc : Roc or None
        For the positive class.
    """

    error: Rate
    confusion: np.ndarray
    rows: np.ndarray
    rates: tuple[ClassRates, ...]
    roc: Roc | None


@dataclass(frozen=True, eq=False, repr=False)
class Decisions(SideBySide[ClassMetrics], Result):
    """Classification metrics; see :func:`clearwood.decisions`.

    Attributes
    ----------
    target : str
        Name of the target.
    pos_label : a class label, or None
        The positive class; None where there are several.
    threshold : float or None
        Probability from which a row is predicted positive; None for the predictions of
        the rules.
    labels : tuple of str
        True labels in words: the rows of the confusion matrix. The positive one first.
    calls : tuple of str
        Predicted labels: its columns.
    n_rows : int
        Number of rows with a weight.
    is_weighted : bool
        Whether some weights differ from one.
    rules : ClassMetrics or None
        None for a classifier without rules.
    model : ClassMetrics or None
        The same metrics of the model, or of such a classifier.
    calibration : tuple of CalibrationPoint
        Of the rules, per rule in a list, or of such a classifier; empty without a
        positive class.

    Examples
    --------
    >>> import clearwood as cw
    >>> rules = cw.RuleList((cw.Rule((cw.Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     cw.Rule((), "well", (0.8, 0.2)),
    ...     cw.FeatureSpace(("temperature",), (None,)), ("well", "ill"), "state")
    >>> found = cw.decisions(rules, [[36.9], [38.1], [39.0]], ["well", "ill", "well"])
    >>> found.rules.confusion
    array([[1., 0.],
           [1., 1.]])
    >>> found.rules.rates[0].specificity.value
    0.5
    """

    _display = "clearwood.rules.decisions.display:DecisionsDisplay"

    target: str
    pos_label: Any
    threshold: float | None
    labels: tuple[str, ...]
    calls: tuple[str, ...]
    n_rows: int
    is_weighted: bool
    rules: ClassMetrics | None
    model: ClassMetrics | None
    calibration: tuple[CalibrationPoint, ...]

    def to_frame(self) -> pd.DataFrame:
        """All rates with their intervals, one per row of the frame."""
        import pandas as pd

        table = [
            (who, None, "error", *metrics.error)
            for who, metrics in self.metrics.items()
        ] + [
            (who, rates.label, name, *rate)
            for who, metrics in self.metrics.items()
            for rates in metrics.rates
            for name, rate in rates.items()
        ]
        columns = ["of", "class", "rate", "value", "low", "high", "rows"]
        return pd.DataFrame(table, columns=columns)

    def __str__(self) -> str:
        return decisions_text(self)


def evaluate_classes(
    target: str,
    classes: Sequence[Any],
    answers: Mapping[str, ClassAnswers],
    truth: np.ndarray,
    weight: np.ndarray,
    line: np.ndarray | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
) -> Decisions:
    """Compare predictions of rules and model with true labels.

    Parameters
    ----------
    target : str
    classes : sequence
    answers : mapping of str to ClassAnswers
        Of ``"rules"``, of the ``"model"``, or of both; the first has probabilities.
    truth : ndarray of shape (n_rows,)
        True labels; some may not be among the classes.
    weight : ndarray of shape (n_rows,)
    line : ndarray of int of shape (n_rows,), optional
        From ``RuleSet.predicting_rule``.
    pos_label, threshold
        As in :func:`clearwood.decisions`.

    Returns
    -------
    Decisions
    """
    positive = positive_position(classes, pos_label, threshold)
    true = positions_of(classes, truth)
    # Labels that are not among the classes follow these.
    others = sorted(set(truth[true < 0].tolist()), key=str)
    true = np.where(true < 0, len(classes) + positions_of(others, truth), true)
    calls = [prediction_text(label) for label in classes]
    labels = [*calls, *map(prediction_text, others)]
    if positive is not None:
        true, labels = (true != positive).astype(int), _one_or_not(classes, positive)
        calls = labels
    metrics = {
        who: _metrics_of(own, true, weight, classes, positive, threshold, len(labels))
        for who, own in answers.items()
    }
    points: tuple[CalibrationPoint, ...] = ()
    p = next(iter(answers.values())).probabilities
    if positive is not None and p is not None:
        points = calibration_of(p[:, positive], true == 0, weight, line)
    return Decisions(
        target,
        None if positive is None else classes[positive],
        threshold,
        tuple(labels),
        tuple(calls),
        int((weight > 0).sum()),
        bool((weight[weight > 0] != 1).any()),
        metrics.get("rules"),
        metrics.get("model"),
        points,
    )


def positive_position(
    classes: Sequence[Any], pos_label: Any, threshold: float | None
) -> int | None:
    """Position of the positive class; None for several classes without one.

    Parameters
    ----------
    classes : sequence
        Empty for values.
    pos_label, threshold
        As in :func:`clearwood.decisions`.
    """
    if not classes and not (pos_label is None and threshold is None):
        raise InputError(
            "The rules predict a number; pos_label and threshold are for classes."
        )
    if threshold is not None and not 0 < threshold < 1:
        raise InputError(
            f"threshold is {threshold!r}; expected a probability between 0 and 1."
        )
    if pos_label is None:
        if len(classes) == 2:
            return 1
        if threshold is not None:
            raise InputError(
                f"threshold needs a positive class; name one of {len(classes)} classes "
                "(pos_label, --pos-label)."
            )
        return None
    # The command line passes all labels as text.
    found = [k for k, label in enumerate(classes) if pos_label in (label, str(label))]
    if not found:
        raise InputError(
            f"pos_label is {pos_label!r}, but the rules predict "
            f"{', '.join(map(prediction_text, classes))}."
        )
    return found[0]


def _one_or_not(classes: Sequence[Any], positive: int) -> list[str]:
    one = prediction_text(classes[positive])
    if len(classes) == 2:
        return [one, prediction_text(classes[1 - positive])]
    return [one, f"not {one}"]


def _metrics_of(
    answers: ClassAnswers,
    true: np.ndarray,
    weight: np.ndarray,
    classes: Sequence[Any],
    positive: int | None,
    threshold: float | None,
    n_labels: int,
) -> ClassMetrics:
    """Metrics of predictions; of one class, if ``positive`` is given."""
    predicted, p = answers
    if positive is None:
        kinds = [(k, label) for k, label in enumerate(classes)]
    else:
        if threshold is not None and p is not None:
            predicted = np.where(p[:, positive] >= threshold, positive, -1)
        predicted, p = (
            (predicted != positive).astype(int),
            None if p is None else p[:, [positive]],
        )
        kinds = [(0, classes[positive])]
    n_calls = 2 if positive is not None else len(classes)
    known = predicted >= 0
    cell = (true * n_calls + predicted)[known]
    confusion, rows = (
        np.bincount(cell, w[known], n_labels * n_calls).reshape(n_labels, n_calls)
        for w in (weight, (weight > 0).astype(float))
    )
    rocs = [None if p is None else roc_of(p[:, k], true == k, weight) for k, _ in kinds]
    rates = tuple(
        _rates(label, true == k, predicted == k, roc, weight)
        for (k, label), roc in zip(kinds, rocs)
    )
    error = rate_of(predicted != true, weight)
    return ClassMetrics(
        error, confusion, rows, rates, None if positive is None else rocs[0]
    )


def _rates(
    label: Any,
    is_one: np.ndarray,
    called: np.ndarray,
    roc: Roc | None,
    weight: np.ndarray,
) -> ClassRates:
    """Rates of one class against all others."""

    def share(hits: np.ndarray, among: np.ndarray) -> Rate:
        return rate_of(hits[among], weight[among])

    return ClassRates(
        label,
        base_rate=rate_of(is_one, weight),
        sensitivity=share(called, is_one),
        specificity=share(~called, ~is_one),
        positive_value=share(is_one, called),
        negative_value=share(~is_one, ~called),
        area=NOT_KNOWN if roc is None else roc.area,
    )


def calibration_of(
    p: np.ndarray,
    is_positive: np.ndarray,
    weight: np.ndarray,
    line: np.ndarray | None = None,
) -> tuple[CalibrationPoint, ...]:
    """Predicted and observed shares, by rule or by predicted probability."""
    return tuple(
        CalibrationPoint(
            rule,
            # The mean of equal numbers may differ by rounding.
            float(p[rows][0] if rule else np.average(p[rows], weights=weight[rows])),
            rate_of(is_positive[rows], weight[rows]),
        )
        for rule, rows in groups_of(line, p, MOST_GROUPS)
        if weight[rows].sum() > 0
    )
