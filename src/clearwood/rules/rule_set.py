"""Rules and ordered lists of them: small, immutable, and all that predicts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from clearwood._features import FeatureSpace
from clearwood._files import write_text
from clearwood._validation import check_target, check_weight
from clearwood.exceptions import InputError
from clearwood.rules.average import averages, check_average
from clearwood.rules.exports.exportable import Exportable
from clearwood.rules.rule import Rule, first_match
from clearwood.rules.scores import RuleScores, fidelity, prediction_error

COMBINE = ("first", "sum", "average")
LARGEST_ADDEND = 1e300


@dataclass(frozen=True, eq=False)
class RuleSet(Exportable):
    """An ordered list of rules, the first of which decides, or a sum or average.

    Attributes
    ----------
    rules : tuple of Rule
        In the order in which they are tried and printed.
    otherwise : Rule
        Decides where no rule does; it has no conditions. In a sum it is the constant
        from which the total starts; in an average it always takes part, with its
        weight, and where no weight is above zero it is what is said.
    features : FeatureSpace
        The columns the rules read.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of what is predicted.
    about : dict of str to str
        Where the rules come from (model, method, settings), for people to read.
    combine : {"first", "sum", "average"}
        Whether the first rule that a row satisfies decides, or all of them add up:
        values in regression, log-odds of the classes in classification; or the
        average of what they say, by their weights: of values, or of class
        probabilities.

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
        check_average(tuple(self), is_average=self.is_average)
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
        """Whether the rules add up."""
        return self.combine == "sum"

    @property
    def is_average(self) -> bool:
        """Whether the weighted average of the rules that hold is said."""
        return self.combine == "average"

    @property
    def is_list(self) -> bool:
        """Whether one rule decides each row: the first that holds."""
        return self.combine == "first"

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
        if self.is_average:
            raise InputError(
                "In an average no rule decides alone; `matches` says which rules take "
                "part in a row, and `weight` how much each of them counts."
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
            raise InputError(
                f"Nothing adds up where combine={self.combine!r}, only in a sum."
            )
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

    def _averages(self, encoded: np.ndarray) -> np.ndarray:
        return averages(self, encoded)

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
        if self.is_list:
            return self.predictions[self.apply_encoded(encoded)]
        total = (self._totals_encoded if self.is_sum else self._averages)(encoded)
        return np.array(self.classes)[total.argmax(axis=1)] if self.classes else total

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the rule that decides each row.

        In a sum, those that the total stands for; in an average, their mean over the
        rules that hold.

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
        if self.is_average:
            return self._averages(self.features.encode(X))
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
        taught = self.taught_by(teacher, X, len(matches))
        if taught is not None:
            faithful = fidelity(taught, predicted, self.task)
        return RuleScores(
            error,
            faithful,
            coverage=float(matches.any(axis=1).mean()),
            overlap=float(matches.sum(axis=1).mean()),
            n_rules=self.n_rules,
            n_literals=self.n_literals,
        )

    def described_on(
        self,
        X: Any,
        y: Any = None,
        *,
        teacher: Any = None,
        sample_weight: Any = None,
    ) -> RuleSet:
        """The same rules with all their statistics recomputed on other rows.

        The statistics that rules come with are of the rows on which they were
        searched for, and look better than they are. Those of rows that took no part
        are what somebody who answers for a rule needs. Nothing that is predicted
        changes, class probabilities included.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row.
        y : array-like of shape (n_samples,), optional
            True labels or values, for precision, spread and the intervals.
        teacher : model, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or its file, or its predictions, for
            agreement and disagreement.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from clearwood.rules import Interval
        >>> rules = RuleSet((Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
        ...     Rule((), "well", (0.8, 0.2)),
        ...     FeatureSpace(("temperature",), (None,)), ("well", "ill"))
        >>> X, y = [[36.9], [38.1], [39.0], [38.2]], ["well", "ill", "ill", "well"]
        >>> print(rules.described_on(X, y))
        1. if temperature > 37.5
           then ill  (3 rows, precision 0.667 [0.208, 0.939])
        2. otherwise well  (1 row, precision 1 [0.207, 1])
        """
        from clearwood.rules.statistics import described

        encoded = self.features.encode(X)
        if len(encoded) == 0:
            raise InputError("Cannot describe rules on an empty table; give some rows.")
        taught = self.taught_by(teacher, X, len(encoded))
        truth = None if y is None else self.check_truth(y, len(encoded), "y")
        return described(
            self,
            encoded,
            check_weight(sample_weight, len(encoded)),
            None if taught is None else self._codes(taught),
            None if truth is None else self._codes(truth),
        )

    def explain(self, x: Any, *, fixed: Any = (), scale: Any = None) -> Any:
        """Why the rules say of a row what they say: see :func:`clearwood.explain`."""
        from clearwood.rules.explain import explain

        return explain(self, x, fixed=fixed, scale=scale)

    def taught_by(self, teacher: Any, X: Any, n_rows: int) -> np.ndarray | None:
        """What a teacher (a model, its file, or predictions) says of each row."""
        if teacher is None:
            return None
        from clearwood.ensembles.read import as_predictor

        teacher = as_predictor(teacher)
        taught = teacher.predict(X) if hasattr(teacher, "predict") else teacher
        return self.check_truth(taught, n_rows, "the teacher")

    def _codes(self, values: np.ndarray) -> np.ndarray:
        """Labels as positions in ``classes``, -1 for others; values as they are."""
        if not self.classes:
            return values
        position = {label: i for i, label in enumerate(self.classes)}
        return np.array([position.get(label, -1) for label in values.tolist()])

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
