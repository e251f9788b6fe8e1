"""Probabilities of classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax, xlogy

from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import number_text, percent_text, share_text
from clearwood.outcomes.outcome import Outcome, Shorten, Write

DECIMALS = 3
"""Of class probabilities that are made short."""

LEAST = 1e-3
"""Smallest probability that the log loss looks at."""


@dataclass(frozen=True)
class ClassProbabilities(Outcome):
    """Which class, with what probabilities: the loss is a wrong class.

    Examples
    --------
    >>> classes = ClassProbabilities(("well", "ill"))
    >>> classes.point(np.array([[0.9, 0.1], [0.2, 0.8]]))
    array([0, 1])
    >>> classes.says(np.array([0.25, 0.75]), float)
    {'prediction': 'ill', 'probabilities': (0.25, 0.75)}
    """

    task: ClassVar[str] = "classification"
    model_task: ClassVar[str] = "classification"
    is_share: ClassVar[bool] = True
    added: ClassVar[str] = "log-odds of "
    averaged: ClassVar[str] = "probabilities of "
    tells_share: ClassVar[bool] = True
    scoring: ClassVar[str] = "log_loss"
    constant: ClassVar[str] = "commonest class"
    error: ClassVar[str] = "error"
    error_unit: ClassVar[str] = "share of wrong classes"
    agreement_unit: ClassVar[str] = "share of equal classes"
    agreement_words: ClassVar[str] = "Same class as the model"
    concordance_name: ClassVar[str] = "agreement"
    lost: ClassVar[str] = "share of predictions that change"

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Labels as positions in ``classes``, -1 for others."""
        return positions_of(self.classes, values)

    def named(self, points: np.ndarray) -> np.ndarray:
        """Labels of positions."""
        return np.array(self.classes)[points.astype(np.int64)]

    def answers(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers, one per class."""
        return numbers

    def linked(self, totals: np.ndarray) -> np.ndarray:
        """Probabilities of log-odds."""
        return softmax(totals, axis=1)

    def point(self, answers: np.ndarray) -> Any:
        """Position of the most probable class."""
        return answers.argmax(axis=-1)

    def certain(self, points: np.ndarray) -> np.ndarray:
        """Probabilities of 0 and 1."""
        return np.eye(len(self.classes))[points]

    def scale(self, answers: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """None: probabilities are as they are."""
        return 0.0, 1.0

    def says(self, answer: Any, shorten: Shorten, counts: Any = 1.0) -> dict[str, Any]:
        """The class that counts most, and the probabilities as they are."""
        said = self.classes[int(np.argmax(answer * counts))]
        return {"prediction": said, "probabilities": tuple(answer.tolist())}

    def shortening(
        self, step: float, answers: np.ndarray, weight: np.ndarray
    ) -> Shorten:
        """To three digits of log-odds."""
        return (lambda number: float(f"{number:.3g}")) if step else float

    def rounded(self, answer: Any) -> Any:
        """Few decimals that still add up to 1: the largest share takes what is left.

        Examples
        --------
        >>> ClassProbabilities().rounded(np.array([2, 2, 2]) / 6)
        array([0.334, 0.333, 0.333])
        """
        short, largest = np.round(answer, DECIMALS), answer.argmax()
        left = 1.0 - np.delete(short, largest).sum()
        short[largest] = np.round(left, DECIMALS)
        # With very many classes nothing may be left.
        return short if short.argmax() == largest else answer

    def adds(self, numbers: Any, shorten: Shorten) -> dict[str, Any]:
        """Log-odds of each class, and the class that gains most."""
        scores = tuple(shorten(float(number)) for number in numbers)
        return {"prediction": self.classes[int(np.argmax(scores))], "scores": scores}

    def losses(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """Whether another class is said."""
        return truth != said

    def apart(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """1 where another class is said."""
        return (truth != said).astype(np.float64)

    def terms(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """Whether the class is said."""
        return truth == said

    def proper_losses(self, answers: np.ndarray, said: np.ndarray) -> np.ndarray:
        """Log loss per row beyond that of saying the answers (Kullback-Leibler).

        Means differ as those of the log loss do, with smaller standard errors: how sure
        the model is of a row is no matter of the rules.

        Parameters
        ----------
        answers, said : ndarray of shape (n_rows, n_classes)
            Probabilities, or what they count, that are right and that are said.

        Examples
        --------
        >>> taught = np.array([[0.9, 0.1], [0.5, 0.5]])
        >>> excess = ClassProbabilities().proper_losses(taught, np.full((2, 2), 0.5))
        >>> excess.round(3) + 0.0
        array([0.368, 0.   ])
        """
        total = answers.sum(axis=1)
        taught, said = (p / p.sum(axis=1, keepdims=True) for p in (answers, said))
        p = np.maximum(said, LEAST)
        p /= p.sum(axis=1, keepdims=True)
        return total * (xlogy(taught, taught) - taught * np.log(p)).sum(axis=1)

    def spread(self, points: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Nought: the share of equal classes is measured by nothing else."""
        return 0.0

    def agreement(self, mean: float, spread: float) -> float:
        """The share of equal classes."""
        return mean

    def concordance(self, one: np.ndarray, two: np.ndarray) -> float:
        """The share of equal classes."""
        return float(np.mean(one == two))

    def constant_of(self, points: np.ndarray) -> Any:
        """The commonest class."""
        return np.bincount(points).argmax()

    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """The share of all classes but the commonest."""
        total = len(truth) if weight is None else weight.sum()
        return 1.0 - float(np.bincount(truth, weight).max() / total)

    def tree_class(self) -> Any:
        """scikit-learn's classification trees."""
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier

    def shown(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """Whether a row is of the class."""
        return truth == said

    def interval_text(self, known: Any) -> str:
        """Nothing: it stands behind a share."""
        return ""

    def told(self, known: Any) -> list[str]:
        """Agreement, and precision unless it is known what to expect of new rows."""
        labels_known = not math.isnan(known.precision_caught)
        named = {"agreement": known.agreement_caught}
        if not known.is_expected:
            named["precision"] = known.precision_caught
        parts = []
        for name, value in named.items():
            has_ends = not known.is_expected and labels_known == (name == "precision")
            ends = (known.low, known.high) if has_ends else ()
            if not math.isnan(value):
                parts.append(f"{name} {share_text(value, *ends)}")
        return parts

    def in_words(self) -> str:
        """The task with all classes."""
        labels = ", ".join(printable(str(label)) for label in self.classes)
        return f"classification into {len(self.classes)} classes: {labels}"

    def figure(self, value: float, digits: int = 3) -> str:
        """In percent."""
        return percent_text(value)

    def added_text(self, numbers: Sequence[float], write: Write) -> str:
        """Log-odds and the classes that they are for."""
        # Log-odds of two classes are told of one of them: the first is always 0.
        pairs = [(write(s), c) for s, c in zip(numbers, self.classes) if s != 0]
        return for_classes(pairs) or "0"

    def averaged_text(self, numbers: Sequence[float]) -> str:
        """Probabilities and their classes."""
        pairs = list(zip(map(number_text, numbers), self.classes))
        if len(pairs) == 2:
            # The other class has what is left of 1.
            return for_classes(pairs[1:])
        return for_classes(pair for pair, p in zip(pairs, numbers) if p > 0)


def for_classes(pairs: Iterable[tuple[str, Any]]) -> str:
    """Numbers, each with the class that it is for.

    Examples
    --------
    >>> for_classes([("0.25", "ill"), ("0.75", "well")])
    '0.25 for ill, 0.75 for well'
    """
    return ", ".join(f"{text} for {prediction_text(label)}" for text, label in pairs)


def positions_of(classes: Sequence[Any], labels: np.ndarray) -> np.ndarray:
    """Labels as positions in ``classes``, -1 for others.

    Examples
    --------
    >>> positions_of(["well", "ill"], np.array(["ill", "odd"])).tolist()
    [1, -1]
    """
    # An array may hold them in another form: as text, or without a NUL at the end.
    held = np.array(classes).tolist()
    known = {label: k for form in (held, classes) for k, label in enumerate(form)}
    return np.array([known.get(label, -1) for label in labels.tolist()], dtype=int)
