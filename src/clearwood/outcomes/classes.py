"""Probabilities of classes."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax, xlogy

from clearwood._warned_once import is_new, users_level
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import number_text, percent_text, share_text
from clearwood._words.sentences import listed, rows_in_words
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.outcomes.outcome import Outcome, Shorten, Write

DECIMALS = 3
"""Decimals of rounded class probabilities."""

LEAST = 1e-3
"""Lower clip of probabilities in the log loss."""


@dataclass(frozen=True)
class ClassProbabilities(Outcome):
    """Classification: probabilities of classes, with the 0-1 loss.

    Examples
    --------
    >>> classes = ClassProbabilities(("well", "ill"))
    >>> classes.point(np.array([[0.9, 0.1], [0.2, 0.8]]))
    array([0, 1])
    >>> classes.rule_fields(np.array([0.25, 0.75]), float)
    {'prediction': 'ill', 'probabilities': (0.25, 0.75)}
    """

    task: ClassVar[str] = "classification"
    model_task: ClassVar[str] = "classification"
    is_share: ClassVar[bool] = True
    added: ClassVar[str] = "log-odds of "
    averaged: ClassVar[str] = "probabilities of "
    shows_share: ClassVar[bool] = True
    scoring: ClassVar[str] = "log_loss"
    constant: ClassVar[str] = "most frequent class"
    error: ClassVar[str] = "error"
    error_unit: ClassVar[str] = "share of wrong classes"
    agreement_unit: ClassVar[str] = "share of equal classes"
    agreement_words: ClassVar[str] = "Agreement with the model"
    concordance_name: ClassVar[str] = "agreement"
    lost: ClassVar[str] = "share of predictions that change"

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Indices of labels in ``classes``, -1 for others."""
        return positions_of(self.classes, values)

    def code(self, prediction: Any) -> int:
        """Index of one label in ``classes``, -1 for others.

        An array of labels would lose a NUL at the end of one.
        """
        return self.classes.index(prediction) if prediction in self.classes else -1

    def named(self, points: np.ndarray) -> np.ndarray:
        """Labels at some indices."""
        return np.array(self.classes)[points.astype(np.int64)]

    def answers(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers, one per class."""
        return numbers

    def linked(self, totals: np.ndarray) -> np.ndarray:
        """Softmax: probabilities from log-odds."""
        return softmax(totals, axis=1)

    def point(self, answers: np.ndarray) -> Any:
        """Index of the most probable class."""
        return answers.argmax(axis=-1)

    def certain(self, points: np.ndarray) -> np.ndarray:
        """Probabilities of 0 and 1."""
        return np.eye(len(self.classes))[points]

    def scale(self, answers: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """Probabilities need no standardization."""
        return 0.0, 1.0

    def rule_fields(
        self, answer: Any, shorten: Shorten, counts: Any = 1.0
    ) -> dict[str, Any]:
        """The class of largest weighted probability, and all probabilities."""
        predicted = self.classes[int(np.argmax(answer * counts))]
        return {"prediction": predicted, "probabilities": tuple(answer.tolist())}

    def shortening(
        self, step: float, answers: np.ndarray, weight: np.ndarray
    ) -> Shorten:
        """Round log-odds to three digits."""
        return (lambda number: float(f"{number:.3g}")) if step else float

    def rounded(self, answer: Any) -> Any:
        """Few decimals that still sum to 1: the largest share takes the remainder.

        Examples
        --------
        >>> ClassProbabilities().rounded(np.array([2, 2, 2]) / 6)
        array([0.334, 0.333, 0.333])
        """
        short, largest = np.round(answer, DECIMALS), answer.argmax()
        left = 1.0 - np.delete(short, largest).sum()
        short[largest] = np.round(left, DECIMALS)
        # With very many classes no remainder may be left.
        return short if short.argmax() == largest else answer

    def added_fields(self, numbers: Any, shorten: Shorten) -> dict[str, Any]:
        """Log-odds of each class, and the class whose log-odds rise most."""
        scores = tuple(shorten(float(number)) for number in numbers)
        return {"prediction": self.classes[int(np.argmax(scores))], "scores": scores}

    def losses(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """0-1 loss: whether the predicted class is wrong."""
        return truth != predicted

    def apart(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """1 where the predicted classes differ."""
        return (truth != predicted).astype(np.float64)

    def terms(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Whether the predicted class is right."""
        return truth == predicted

    def proper_losses(self, answers: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Log loss per row beyond that of the target probabilities (Kullback-Leibler).

        Differences of its mean are those of the log loss, with smaller standard errors:
        the entropy of the model's predictions does not depend on the rules.

        Parameters
        ----------
        answers, predicted : ndarray of shape (n_rows, n_classes)
            Target and predicted probabilities, or these weighted by class.

        Examples
        --------
        >>> target = np.array([[0.9, 0.1], [0.5, 0.5]])
        >>> excess = ClassProbabilities().proper_losses(target, np.full((2, 2), 0.5))
        >>> excess.round(3) + 0.0
        array([0.368, 0.   ])
        """
        total = answers.sum(axis=1)
        target, predicted = (
            p / p.sum(axis=1, keepdims=True) for p in (answers, predicted)
        )
        p = np.maximum(predicted, LEAST)
        p /= p.sum(axis=1, keepdims=True)
        return total * (xlogy(target, target) - target * np.log(p)).sum(axis=1)

    def spread(self, points: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Zero: agreement is the share of equal classes, without a scale."""
        return 0.0

    def agreement(self, mean: float, spread: float) -> float:
        """The share of equal classes."""
        return mean

    def concordance(self, one: np.ndarray, two: np.ndarray) -> float:
        """The share of equal classes."""
        return float(np.mean(one == two))

    def constant_of(self, points: np.ndarray) -> Any:
        """The most frequent class."""
        return np.bincount(points).argmax()

    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """The share of rows outside the most frequent class."""
        total = len(truth) if weight is None else weight.sum()
        return 1.0 - float(np.bincount(truth, weight).max() / total)

    def tree_class(self) -> Any:
        """scikit-learn's classification trees."""
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier

    def shown(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Whether a row is of the class."""
        return truth == predicted

    def interval_text(self, known: Any) -> str:
        """Empty: the interval is printed after the share."""
        return ""

    def statistics_texts(self, known: Any) -> list[str]:
        """Agreement, and precision unless an estimate for new rows is known."""
        labels_known = not math.isnan(known.precision_assigned)
        named = {"agreement": known.agreement_assigned}
        if not known.is_expected:
            named["precision"] = known.precision_assigned
        parts = []
        for name, value in named.items():
            has_ends = not known.is_expected and labels_known == (name == "precision")
            ends = (known.low, known.high) if has_ends else ()
            if not math.isnan(value):
                parts.append(f"{name} {share_text(value, *ends)}")
        return parts

    def in_words(self) -> str:
        """The task and all classes."""
        labels = ", ".join(printable(str(label)) for label in self.classes)
        return f"classification into {len(self.classes)} classes: {labels}"

    def figure(self, value: float, digits: int = 3) -> str:
        """In percent."""
        return percent_text(value)

    def added_text(self, numbers: Sequence[float], write: Write) -> str:
        """Log-odds and the classes that they are of."""
        # Log-odds of two classes are printed for one of them: the first is always 0.
        pairs = [(write(s), c) for s, c in zip(numbers, self.classes) if s != 0]
        return for_classes(pairs) or "0"

    def averaged_text(self, numbers: Sequence[float]) -> str:
        """Probabilities and their classes."""
        pairs = list(zip(map(number_text, numbers), self.classes))
        if len(pairs) == 2:
            # The other class has the remainder to 1.
            return for_classes(pairs[1:])
        return for_classes(pair for pair, p in zip(pairs, numbers) if p > 0)


def for_classes(pairs: Iterable[tuple[str, Any]]) -> str:
    """Numbers and their classes as one text.

    Examples
    --------
    >>> for_classes([("0.25", "ill"), ("0.75", "well")])
    '0.25 for ill, 0.75 for well'
    """
    return ", ".join(f"{text} for {prediction_text(label)}" for text, label in pairs)


def positions_of(classes: Sequence[Any], labels: np.ndarray) -> np.ndarray:
    """Indices of labels in ``classes``, -1 for others.

    Examples
    --------
    >>> positions_of(["well", "ill"], np.array(["ill", "odd"])).tolist()
    [1, -1]
    """
    # An array may hold them in another form: as text, or without a trailing NUL.
    held = np.array(classes).tolist()
    known = {label: k for form in (held, classes) for k, label in enumerate(form)}
    return np.array([known.get(label, -1) for label in labels.tolist()], dtype=int)


def check_known_labels(
    labels: np.ndarray, classes: Sequence[Any], name: str, who: str
) -> None:
    """Raise an error if no label is a class, and warn if some are not.

    Examples
    --------
    >>> import pytest
    >>> with pytest.warns(UnknownCategoriesWarning, match="'maybe' in 1 row"):
    ...     check_known_labels(np.array(["no", "maybe"]), ["no", "yes"], "y", "rules")
    """
    others = labels[positions_of(classes, labels) < 0].tolist()
    if not others:
        return
    rows = [
        f"{label!r} in {rows_in_words(n)}"
        for label, n in sorted(Counter(others).items(), key=str)
    ]
    found = f"found {listed(rows, 'and')}; the {who} predict " + listed(
        sorted(map(repr, classes)), "and"
    )
    if len(others) == len(labels):
        raise InputError(f"No label of {name} is a class of the {who}: {found}.")
    if is_new(f"labels of {name}"):
        warnings.warn(
            f"Some labels of {name} are no classes of the {who}, and count as errors: "
            f"{found}.",
            UnknownCategoriesWarning,
            stacklevel=users_level(),
        )
