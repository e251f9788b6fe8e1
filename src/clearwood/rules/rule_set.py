"""Rules and ordered lists of them: small, immutable, and all that predicts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from clearwood._features import FeatureSpace
from clearwood._files import write_text
from clearwood._validation import check_target
from clearwood.exceptions import InputError
from clearwood.rules.conditions import Condition, matches_all
from clearwood.rules.scores import RuleScores, fidelity, prediction_error

COMBINE = ("first", "sum")
LARGEST_ADDEND = 1e300


@dataclass(frozen=True, eq=False)
class Rule:
    """A region of the data and what is predicted there.

    Attributes
    ----------
    conditions : tuple of Interval or CategorySet
        All must hold; at most one per feature. Empty for ``otherwise``.
    prediction : float, or a class label
        What the rule says.
    probabilities : tuple of float
        Class probabilities in the order of the rule set's ``classes``; empty in
        regression.
    support : float
        Training rows (or their weight) that satisfy the conditions.
    caught : float
        Those of them that no earlier rule catches.
    agreement : float
        How far the teacher agrees on the rule's support. Classification: share
        of rows to which the teacher gives the same class. Regression: one minus
        the mean squared difference from the teacher over the teacher's variance
        in all training rows (1 is perfect).
    precision : float
        Classification: share of the support whose label is the prediction.
        Regression: NaN. NaN too where no labels were given.
    spread : float
        Regression: standard deviation of the target on the support.
        Classification: NaN.
    agreement_caught : float
        The agreement on the rows that the rule catches.
    scores : tuple of float
        Only in a sum that classifies: what the rule adds to the log-odds of each
        class. ``prediction`` is the class that gains most.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    probabilities: tuple[float, ...] = ()
    support: float = float("nan")
    caught: float = float("nan")
    agreement: float = float("nan")
    precision: float = float("nan")
    spread: float = float("nan")
    agreement_caught: float = float("nan")
    scores: tuple[float, ...] = ()

    def _key(self) -> tuple[Any, ...]:
        # An unknown statistic equals itself, which NaN does not.
        values = (getattr(self, f.name) for f in fields(self))
        known = (None if v != v else v for v in values)
        return (type(self.prediction), *known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def matches(self, encoded: np.ndarray) -> np.ndarray:
        """Which rows of an encoded table satisfy all conditions."""
        return matches_all(self.conditions, encoded)

    @property
    def n_literals(self) -> int:
        """Number of bounds and category sets."""
        return sum(len(condition.literals()) for condition in self.conditions)

    def text(self, features: FeatureSpace) -> str:
        """The conditions in words."""
        return " and ".join(c.text(features) for c in self.conditions) or "otherwise"


@dataclass(frozen=True, eq=False)
class RuleSet:
    """An ordered list of rules, the first of which decides, or a sum of rules.

    Attributes
    ----------
    rules : tuple of Rule
        In the order in which they are tried and printed.
    otherwise : Rule
        Decides where no rule does; it has no conditions. In a sum it is the constant
        from which the total starts.
    features : FeatureSpace
        The columns the rules read.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of what is predicted.
    about : dict of str to str
        Where the rules come from (model, method, settings), for people to read.
    combine : {"first", "sum"}
        Whether the first rule that a row satisfies decides, or all of them add up:
        values in regression, log-odds of the classes in classification.

    Examples
    --------
    >>> from clearwood.rules import Interval
    >>> rules = RuleSet(
    ...     rules=(Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     otherwise=Rule((), "well", (0.8, 0.2)),
    ...     features=FeatureSpace(("temperature",), (None,)),
    ...     classes=("well", "ill"))
    >>> print(rules)
    1. if temperature > 37.5
       then ill
    2. otherwise well
    >>> rules.predict([[36.9], [39.0]])
    array(['well', 'ill'], dtype='<U4')
    """

    rules: tuple[Rule, ...]
    otherwise: Rule
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    target: str = "y"
    about: dict[str, str] = field(default_factory=dict)
    combine: str = "first"

    def __post_init__(self) -> None:
        if self.otherwise.conditions:
            raise InputError("The rule `otherwise` must have no conditions.")
        if self.combine not in COMBINE:
            raise InputError(
                f"combine must be one of {COMBINE}, found {self.combine!r}."
            )
        n_scores = len(self.classes) if self.is_sum else 0
        n_shares = len(self.classes) - n_scores
        for rule in (*self.rules, self.otherwise):
            if len(rule.probabilities) != n_shares:
                raise InputError(
                    f"A rule has {len(rule.probabilities)} class probabilities; "
                    f"here it must have {n_shares}, one per class that is told of by "
                    "shares."
                )
            if len(rule.scores) != n_scores:
                raise InputError(
                    f"A rule has {len(rule.scores)} scores; here it must have "
                    f"{n_scores}, one per class of a sum."
                )
            for condition in rule.conditions:
                if not 0 <= condition.feature < self.features.n_features:
                    raise InputError(
                        f"A rule asks feature {condition.feature}, but there are "
                        f"{self.features.n_features} features."
                    )
        if self.is_sum and np.abs(self._added()).max() > LARGEST_ADDEND:
            raise InputError(
                f"A rule of a sum must add at most {LARGEST_ADDEND} in size, so "
                "that totals stay finite."
            )

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "classification" if self.classes else "regression"

    @property
    def is_sum(self) -> bool:
        """Whether the rules add up; otherwise the first that fits decides."""
        return self.combine == "sum"

    @property
    def n_rules(self) -> int:
        """Lines printed, ``otherwise`` included."""
        return len(self.rules) + 1

    @property
    def predictions(self) -> np.ndarray:
        """What each line says, in printed order."""
        return np.array([rule.prediction for rule in self])

    @property
    def n_literals(self) -> int:
        """Bounds and category sets in all rules."""
        return sum(rule.n_literals for rule in self.rules)

    def __len__(self) -> int:
        return self.n_rules

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleSet) and all(
            getattr(self, f.name) == getattr(other, f.name) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash(
            (self.rules, self.otherwise, self.features, self.classes, self.combine)
        )

    def __iter__(self):
        return iter((*self.rules, self.otherwise))

    def matches(self, X: Any) -> np.ndarray:
        """Which rules each row satisfies.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool of shape (n_samples, n_rules - 1)
            One column per rule, without ``otherwise``.
        """
        return self._matches_encoded(self.features.encode(X))

    def _matches_encoded(self, encoded: np.ndarray) -> np.ndarray:
        columns = [rule.matches(encoded) for rule in self.rules]
        return np.array(columns, dtype=bool).reshape(len(columns), len(encoded)).T

    def apply(self, X: Any) -> np.ndarray:
        """The rule that decides each row, as a position in printed order.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int of shape (n_samples,)
            0 for the first rule; ``n_rules - 1`` for ``otherwise``.
        """
        return self.apply_encoded(self.features.encode(X))

    def apply_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`apply`, for a table that ``features.encode`` made."""
        if self.is_sum:
            raise InputError(
                "In a sum no rule decides alone; `matches` says which rules add to a "
                "row, `totals` what they add up to."
            )
        return first_match(self._matches_encoded(encoded))

    def totals(self, X: Any) -> np.ndarray:
        """What the rules of a sum add up to.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values, or log-odds of the classes before they are made probabilities.
        """
        if not self.is_sum:
            raise InputError("The first rule that fits decides here; nothing adds up.")
        return self._totals_encoded(self.features.encode(X))

    def _added(self) -> np.ndarray:
        """What each line of a sum adds, in printed order."""
        return np.array([r.scores if self.classes else r.prediction for r in self])

    def _totals_encoded(self, encoded: np.ndarray) -> np.ndarray:
        added = self._added()
        total = np.repeat(added[-1:], len(encoded), axis=0).astype(np.float64)
        # One rule after the other, in printed order, as a reader would add them.
        for rule, value in zip(self.rules, added):
            total[rule.matches(encoded)] += value
        return total

    def predict(self, X: Any) -> np.ndarray:
        """What the printed rules say of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values.
        """
        return self.predict_encoded(self.features.encode(X))

    def predict_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`predict`, for a table that ``features.encode`` made."""
        if not self.is_sum:
            return self.predictions[self.apply_encoded(encoded)]
        total = self._totals_encoded(encoded)
        return np.array(self.classes)[total.argmax(axis=1)] if self.classes else total

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the rule that decides each row.

        In a sum, those that the total stands for.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        if not self.classes:
            raise InputError("These rules predict a number; they have no classes.")
        if self.is_sum:
            return softmax(self.totals(X), axis=1)
        return np.array([rule.probabilities for rule in self])[self.apply(X)]

    def evaluate(self, X: Any, y: Any = None, *, teacher: Any = None) -> RuleScores:
        """Score the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row.
        y : array-like of shape (n_samples,), optional
            True labels or values, for ``error``.
        teacher : model, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or its file, or its predictions, for
            ``fidelity``.

        Returns
        -------
        RuleScores
        """
        encoded = self.features.encode(X)
        if len(encoded) == 0:
            raise InputError("Cannot score rules on an empty table; give some rows.")
        matches = self._matches_encoded(encoded)
        predicted = self.predict_encoded(encoded)
        error = faithful = float("nan")
        if y is not None:
            y = self.check_truth(y, len(matches), "y")
            error = prediction_error(y, predicted, self.task)
        if teacher is not None:
            from clearwood.ensembles.read import as_predictor

            teacher = as_predictor(teacher)
            taught = teacher.predict(X) if hasattr(teacher, "predict") else teacher
            taught = self.check_truth(taught, len(matches), "the teacher")
            faithful = fidelity(taught, predicted, self.task)
        return RuleScores(
            error,
            faithful,
            coverage=float(matches.any(axis=1).mean()),
            overlap=float(matches.sum(axis=1).mean()),
            n_rules=self.n_rules,
            n_literals=self.n_literals,
        )

    def check_truth(self, values: Any, n_rows: int, name: str) -> np.ndarray:
        """Labels or values to compare with what the rules say, one per row."""
        array = check_target(values, n_rows, numeric=not self.classes, name=name)
        if self.classes and not set(array.tolist()) & set(self.classes):
            raise InputError(
                f"No label of {name} is one that the rules know: found "
                f"{sorted(set(map(str, array.tolist())))[:5]} of type {array.dtype}, "
                f"the rules say {list(self.classes)}."
            )
        return array

    def with_about(self, **about: str) -> RuleSet:
        """The same rules with further lines on where they come from."""
        return replace(self, about={**self.about, **about})

    def with_target(self, target: str) -> RuleSet:
        """The same rules under the name of what they predict."""
        return replace(self, target=target)

    def __str__(self) -> str:
        from clearwood.rules.render import rules_text

        return rules_text(self)

    def _repr_html_(self) -> str:
        from clearwood.rules.render import rules_html

        return rules_html(self)

    def to_json(self) -> str:
        """The rules as JSON text (schema: ``clearwood/rules/rule_set.schema.json``)."""
        from clearwood.rules.serialise import rules_to_json

        return rules_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> RuleSet:
        """Read what :meth:`to_json` wrote; anything else is a ModelFormatError."""
        from clearwood.rules.serialise import rules_from_json

        return rules_from_json(text)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the rules to a JSON file, whole or not at all."""
        write_text(path, self.to_json(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> RuleSet:
        """Read rules from a file that :meth:`save` wrote."""
        from clearwood.rules.serialise import read_rules

        return read_rules(path)


def first_match(matches: np.ndarray) -> np.ndarray:
    """Position of the first True in each row; the number of columns where none is.

    Examples
    --------
    >>> import numpy as np
    >>> first_match(np.array([[False, True], [False, False]]))
    array([1, 2])
    """
    last = np.ones((len(matches), 1), dtype=bool)
    return np.hstack([matches, last]).argmax(axis=1)
