"""What all sets of rules have in common: small, immutable, and all that predicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from clearwood._tables import is_read_in_blocks
from clearwood._words.labels import check_text, prediction_text, printable
from clearwood.columns.feature_space import EncodedTable, FeatureSpace
from clearwood.columns.some_rows import said_of_rows
from clearwood.columns.sparse_tables import columns_of, is_sparse
from clearwood.columns.warned_once import warned_once
from clearwood.exceptions import InputError
from clearwood.outcomes import Outcome, outcome_of
from clearwood.rules.building.editing import Editable
from clearwood.rules.exports.exportable import Exportable
from clearwood.rules.rule import MOST_CATEGORIES, Rule, check_rule
from clearwood.rules.scores import RuleScores
from clearwood.rules.serialise import Storable


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Editable, Exportable, Storable, ABC):
    """Rules that together say something of every row.

    There are three kinds, which differ in what becomes of all the rules that a row
    satisfies: in a :class:`RuleList` the first of them decides, in a :class:`RuleSum`
    they add up, and of a :class:`RuleAverage` the weighted average is said. What is
    described here all three have.

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
    outcome : Outcome
        What is predicted; by default what ``classes`` tell.
    combine : {"first", "sum", "average"}
        The kind, as files name it.

    Examples
    --------
    >>> from clearwood import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace(("temperature",), (None,)))
    >>> isinstance(rules, RuleSet), rules.n_rules
    (True, 2)
    """

    combine: ClassVar[str]
    lines_predict: ClassVar[bool] = True
    """Whether a line by itself predicts, so that it is right or wrong."""
    one_decides: ClassVar[bool] = False
    """Whether of every row one line alone decides."""
    has_weights: ClassVar[bool] = False
    """Whether some lines count for more than others."""

    rules: tuple[Rule, ...]
    otherwise: Rule
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    target: str = "y"
    about: dict[str, str] = field(default_factory=dict)
    outcome: Outcome = None  # type: ignore[assignment]

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Make one of a kind, or say which kinds there are."""
        if cls is RuleSet:
            raise InputError(
                "A RuleSet is of one of three kinds; make a RuleList (the first rule "
                "that a row satisfies decides), a RuleSum (all of them add up) or a "
                "RuleAverage (their weighted average is said)."
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        outcome = outcome_of(self.classes, self.outcome)
        object.__setattr__(self, "outcome", outcome)
        if self.otherwise.conditions:
            raise InputError("The rule `otherwise` must have no conditions.")
        check_text((self.target,), "The target")
        check_text(self.classes, "The class")
        check_text((*self.about, *self.about.values()), "What the rules are about,")
        for number, rule in enumerate(self, start=1):
            check_rule(rule, number, self)

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return self.outcome.task

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
        return type(self) is type(other) and all(
            getattr(self, f.name) == getattr(other, f.name) for f in fields(self)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.rules, self.otherwise, self.features))

    def __iter__(self) -> Iterator[Rule]:
        return iter((*self.rules, self.otherwise))

    def encode(self, X: Any) -> np.ndarray:
        """A table as the rules read it, see :meth:`FeatureSpace.encode`.

        Warns of unknown categories in columns that the rules ask.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self.features.encode(X, self.asked)

    def read(self, X: Any) -> tuple[Self, np.ndarray]:
        """Itself, and a table as it reads it: of a sparse one what it asks alone.

        It then knows no other features either.
        """
        if not is_sparse(X):
            return self, self.encode(X)
        asked = sorted(self.asked) or [0]
        features = self.features.taken(asked)
        rules = self.in_columns(features, {d: i for i, d in enumerate(asked)})
        return rules, features.encode(columns_of(self.features, X, asked))

    def in_columns(self, features: FeatureSpace, place: Mapping[int, int]) -> Self:
        """The same rules where features stand in other places."""
        rules = (rule.in_columns(place) for rule in self.rules)
        return replace(self, rules=tuple(rules), features=features)

    @property
    def asked(self) -> set[int]:
        """Features that the rules ask: a frame needs no other columns."""
        return {c.feature for rule in self.rules for c in rule.conditions}

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
        rules, encoded = self.read(X)
        return rules.matches_encoded(encoded)

    def matches_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`matches`, for a table that ``features.encode`` made."""
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
        rules, encoded = self.read(X)
        return rules.apply_encoded(encoded)

    @abstractmethod
    def apply_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`apply`, for a table that ``features.encode`` made."""

    def totals(self, X: Any) -> np.ndarray:
        """What the rules of a :class:`RuleSum` add up to; an error of other kinds."""
        raise InputError(
            f"Nothing adds up in a {type(self).__name__}, only in a RuleSum."
        )

    def predict(self, X: Any) -> np.ndarray:
        """What the printed rules say of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a sparse matrix, or what is read in blocks, see :meth:`evaluate`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values; of Dask a collection, which is not computed yet.
        """
        if is_read_in_blocks(X):
            from clearwood.rules.evaluation.tables import said_of

            return said_of(self, X)
        return self._said(X, type(self).predict_encoded)

    def _said(self, X: Any, says: Callable[[Self, np.ndarray], np.ndarray]) -> Any:
        """What is said of each row, some rows at a time."""
        if is_sparse(X):
            rules, encoded = self.read(X)
            return says(rules, encoded)
        return said_of_rows(self.features, X, partial(says, self), self.asked)

    @abstractmethod
    def predict_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`predict`, for a table that ``features.encode`` made."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the rule that decides each row.

        In a sum, those that the total stands for; in an average, their mean over the
        rules that hold.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or what is read in blocks, as in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        if not self.classes:
            raise InputError("These rules predict a number; they have no classes.")
        if is_read_in_blocks(X):
            from clearwood.rules.evaluation.tables import said_of

            return said_of(self, X, shares=True)
        return self._said(X, type(self).answers_encoded)

    @abstractmethod
    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """All that is said of each row of an encoded table.

        What :meth:`predict_proba` gives, or of values :meth:`predict`.
        """

    def decides(self, encoded: np.ndarray) -> np.ndarray | None:
        """The line that decides each row alone, as a position; None where none does."""
        return None

    def comes_to(self, encoded: np.ndarray) -> np.ndarray:
        """What the lines that hold come to together, one number per row or class.

        Totals or averages; of a list, where one line decides alone, there are none.
        """
        return np.empty((len(encoded), 0))

    @abstractmethod
    def takes_part(self, encoded: np.ndarray) -> np.ndarray:
        """Which lines have a say in each row: bool, (n_samples, n_rules)."""

    @property
    @abstractmethod
    def n_rows(self) -> float:
        """Rows that the statistics are of; NaN where unknown."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """The weight of these rows: their number, where no weights were given."""

    @property
    def statistic(self) -> str:
        """A sentence on what they predict, where it is neither a mean nor a class."""
        if "predicts" not in self.about:
            return ""
        told, target = printable(self.about["predicts"]), printable(self.target)
        return f"They predict {told} of {target}, as the model does; not the mean."

    @property
    @abstractmethod
    def heading(self) -> str:
        """What stands above the lines in text; may be empty."""

    @property
    @abstractmethod
    def asks_nothing(self) -> str:
        """The word in place of conditions in the line that has none."""

    def lines(self) -> list[tuple[int | None, Rule]]:
        """The lines as they are shown, with their numbers."""
        return list(enumerate(self, start=1))

    @abstractmethod
    def text_lines(self, most: int | None = MOST_CATEGORIES) -> list[str]:
        """What stands below the heading in text, in lines of any length.

        Sets of categories are told one by one up to ``most``; None for all of them.
        """

    def says(self, rule: Rule) -> str:
        """What a line predicts, or adds, in words."""
        return prediction_text(rule.prediction)

    def says_in_full(self, rule: Rule) -> str:
        """As :meth:`says`, with how much that counts."""
        return self.says(rule)

    def says_briefly(self, rule: Rule) -> str:
        """As :meth:`says`, with as much of it as a picture has room for."""
        return self.says(rule)

    @warned_once()
    def evaluate(self, X: Any, y: Any = None, *, teacher: Any = None) -> RuleScores:
        """Score the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row. Or a sparse matrix; or what is read in blocks: a Parquet
            file or a folder of them, a function that gives pandas frames one after the
            other, a frame or an array of Dask.
        y : array-like of shape (n_samples,), or str, optional
            True labels or values, for ``error``; of what is read in blocks the name of
            a column.
        teacher : model, callable, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or its file, or its predictions, for
            ``fidelity``.

        Returns
        -------
        RuleScores
        """
        from clearwood.rules.evaluation.tables import scored

        return scored(self, X, y, teacher)

    @warned_once()
    def described_on(
        self,
        X: Any,
        y: Any = None,
        *,
        teacher: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """The same rules with all their statistics recomputed on other rows.

        On the rows on which rules were searched for they look better than they are; on
        rows that took no part the figures hold. Nothing that is predicted changes,
        class probabilities included; what was expected of new rows (``expected``) gives
        way to what was on these.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row. Or what is read in blocks, see :meth:`evaluate`.
        y : array-like of shape (n_samples,), or str, optional
            True labels or values, for precision, spread and the intervals.
        teacher : model, callable, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or its file, or its predictions, for
            agreement and disagreement.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from clearwood.rules import Interval, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
        ...     Rule((), "well", (0.8, 0.2)),
        ...     FeatureSpace(("temperature",), (None,)), ("well", "ill"))
        >>> X, y = [[36.9], [38.1], [39.0], [38.2]], ["well", "ill", "ill", "well"]
        >>> print(rules.described_on(X, y))
        1. if temperature > 37.5
           then ill, probability 90 %  (3 rows, precision 67 % [21, 94])
        2. otherwise well, probability 80 %  (1 row, precision 100 % [21, 100])
        """
        from clearwood.rules.evaluation.tables import survey

        return survey(self, X, y, teacher, sample_weight).rules

    def explain(self, x: Any, *, fixed: Any = (), scale: Any = None) -> Any:
        """Why the rules say of a row what they say: see :func:`clearwood.explain`."""
        from clearwood.rules.row_explanation import explain_rows

        return explain_rows(self, x, fixed, scale)

    def taught_by(self, teacher: Any, X: Any, n_rows: int) -> np.ndarray | None:
        """What a teacher (a model, its file, or predictions) says of each row."""
        if teacher is None:
            return None
        from clearwood.ensembles.any_model import said_by
        from clearwood.ensembles.read import as_predictor

        taught = said_by(as_predictor(teacher), X, self.classes)
        return self.check_truth(taught, n_rows, "the teacher")

    def check_truth(self, values: Any, n_rows: int, name: str) -> np.ndarray:
        """Labels or values to compare with what the rules say, one per row."""
        array = self.outcome.check(values, n_rows, name)
        if self.classes and not set(array.tolist()) & set(self.classes):
            raise InputError(
                f"No label of {name} is one that the rules know: found "
                f"{sorted(set(map(str, array.tolist())))[:5]} of type {array.dtype}, "
                f"the rules say {list(self.classes)}."
            )
        return array

    def __str__(self) -> str:
        return self.to_text(MOST_CATEGORIES)

    def __repr__(self) -> str:
        lines = f"{self.n_rules} line{'s' * (self.n_rules > 1)}"
        return f"<{type(self).__name__} of {lines} for {self.target!r}>"


def rows_for(
    rules: RuleSet, model: Any, X: Any, path: Iterable[RuleSet] = ()
) -> tuple[EncodedTable, Any]:
    """A table as rules read it, encoded, and as their model does.

    That is the same where the model is of trees that read the same columns alike.

    Parameters
    ----------
    rules : RuleSet
    model : model, or None
    X : array-like or frame of shape (n_samples, n_features)
    path : iterable of RuleSet
        Others that read the table, too.
    """
    from clearwood.ensembles import TreeEnsemble

    features = rules.features
    asked = rules.asked.union(*(other.asked for other in path))
    both = isinstance(model, TreeEnsemble) and features.reads_as(model.features)
    if both:
        asked |= set(model.asked.tolist())
    rows = features.as_encoded(features.encode(X, asked, whole=both))
    return rows, rows if both else X


def rules_of(result: Any, name: str = "estimator") -> RuleSet:
    """The rules of a fitted estimator, or an error that says what was expected.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, or RuleSet
    name : str
        What the caller calls it.
    """
    rules = getattr(result, "rules_", result)
    if isinstance(rules, RuleSet):
        return rules
    from clearwood.ensembles.read import needs_fit

    unfitted = result is not None and needs_fit(result)
    state = "that is not fitted" if unfitted else "without rules"
    raise InputError(
        f"{name} is a {type(result).__name__} {state}; expected a RuleSet or a fitted "
        "estimator with rules_, such as RuleListClassifier or FABRulesRegressor."
    )
