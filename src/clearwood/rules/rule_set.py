"""Base class of rule sets: immutable models that predict by printed rules."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from clearwood._tables import is_read_in_blocks
from clearwood._warned_once import warned_once
from clearwood._words.labels import check_text, prediction_text, printable, type_text
from clearwood.columns.feature_space import EncodedTable, FeatureSpace, is_frame
from clearwood.columns.some_rows import map_rows
from clearwood.columns.sparse_tables import columns_of, is_sparse
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.outcomes import Outcome, outcome_of
from clearwood.outcomes.classes import check_known_labels
from clearwood.results import Result
from clearwood.rules.building.editing import Editable
from clearwood.rules.exports.exportable import Exportable
from clearwood.rules.rule import MOST_CATEGORIES, Rule, check_rule
from clearwood.rules.scores import RuleScores, orders_only
from clearwood.rules.serialise import Storable


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(Editable, Exportable, Storable, Result):
    """Set of rules that predicts every row; base class of three kinds.

    They differ in how the rules that a row satisfies are combined: in a `RuleList` the
    first one predicts, in a `rules.RuleSum` they are added, in a `rules.RuleAverage`
    they are averaged by weight. What follows holds for all three.

    Attributes
    ----------
    rules : tuple of Rule
        In the order in which they are evaluated and printed.
    otherwise : Rule
        Default rule, without conditions; predicts where no other rule holds. In a sum
        it is the constant that the others are added to; in an average it always takes
        part, with its weight, and is the prediction where no weight is above zero.
    features : FeatureSpace
        Columns of the data.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of the target.
    about : dict of str to str
        Origin of the rules (model, method, settings), as text.
    outcome : Outcome
        Type of the target; by default derived from ``classes``.
    combine : {"first", "sum", "average"}
        The kind, as named in files.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace(("temperature",), (None,)))
    >>> isinstance(rules, RuleSet), rules.n_rules
    (True, 2)
    """

    combine: ClassVar[str]
    rules_predict: ClassVar[bool] = True
    """Whether a single rule is a prediction of its own, right or wrong."""
    one_rule_predicts: ClassVar[bool] = False
    """Whether exactly one rule predicts each row."""
    has_weights: ClassVar[bool] = False
    """Whether the rules have weights."""

    rules: tuple[Rule, ...]
    otherwise: Rule
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    target: str = "y"
    about: dict[str, str] = field(default_factory=dict)
    outcome: Outcome = None  # type: ignore[assignment]

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Reject ``RuleSet`` itself: only its subclasses can be constructed."""
        if cls is RuleSet:
            raise InputError(
                "A RuleSet is of one of three kinds; make a RuleList (the first rule "
                "that a row satisfies predicts), a RuleSum (they are added) or a "
                "RuleAverage (they are averaged by weight)."
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        outcome = outcome_of(self.classes, self.outcome)
        object.__setattr__(self, "outcome", outcome)
        if self.otherwise.conditions:
            raise InputError("The rule `otherwise` must have no conditions.")
        check_text((self.target,), "The target")
        check_text(self.classes, "The class")
        check_text((*self.about, *self.about.values()), "The metadata")
        for number, rule in enumerate(self, start=1):
            check_rule(rule, number, self)

    def found_for(self, ensemble: Any) -> Self:
        """Keep the ensemble, with which reports and metrics compare by default.

        Neither other rules that are made of these, nor files and pickles, hold it.
        """
        object.__setattr__(self, "ensemble_", ensemble)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {name: own for name, own in vars(self).items() if name != "ensemble_"}

    @property
    def task(self) -> str:
        """``"classification"``, ``"regression"`` or ``"survival"``."""
        return self.outcome.task

    @property
    def n_rules(self) -> int:
        """Number of rules printed, the default rule included."""
        return len(self.rules) + 1

    @property
    def predictions(self) -> np.ndarray:
        """Prediction of each rule, in printed order."""
        return np.array([rule.prediction for rule in self])

    @property
    def n_literals(self) -> int:
        """Number of bounds and category sets in all rules."""
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
        """Encode a table for the rules, see :meth:`~clearwood.FeatureSpace.encode`.

        Warns of unknown categories in columns that the rules use.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return self.features.encode(X, self.used_features)

    def read(self, X: Any) -> tuple[Self, np.ndarray]:
        """Restrict rules and table to the columns used, if the table is sparse.

        Returns the rules, with these features only, and the encoded table.
        """
        if not is_sparse(X):
            return self, self.encode(X)
        used = sorted(self.used_features) or [0]
        features = self.features.taken(used)
        rules = self.in_columns(features, {d: i for i, d in enumerate(used)})
        return rules, features.encode(columns_of(self.features, X, used))

    def in_columns(self, features: FeatureSpace, place: Mapping[int, int]) -> Self:
        """Copy of the rules with features at other positions."""
        rules = (rule.in_columns(place) for rule in self.rules)
        return replace(self, rules=tuple(rules), features=features)

    @property
    def used_features(self) -> set[int]:
        """Features that the rules use; a frame needs no other columns."""
        return {c.feature for rule in self.rules for c in rule.conditions}

    def matches(self, X: Any) -> np.ndarray:
        """Evaluate which rules each row satisfies.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of bool of shape (n_samples, n_rules - 1)
            One column per rule, without the default rule.
        """
        rules, encoded = self.read(X)
        return rules.matches_encoded(encoded)

    def matches_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`matches`, for a table encoded by ``features.encode``."""
        columns = [rule.matches(encoded) for rule in self.rules]
        return np.array(columns, dtype=bool).reshape(len(columns), len(encoded)).T

    def apply(self, X: Any) -> np.ndarray:
        """Find the rule that predicts each row, as a position in printed order.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int of shape (n_samples,)
            0 for the first rule; ``n_rules - 1`` for the default rule.
        """
        rules, encoded = self.read(X)
        return rules.apply_encoded(encoded)

    def apply_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`apply`, for a table encoded by ``features.encode``."""
        found = self.predicting_rule(self.matches_encoded(encoded))
        if found is None:
            raise InputError(
                f"In {type_text(self)} no single rule predicts; `matches` "
                "returns the rules that hold for a row."
            )
        return found

    def totals(self, X: Any) -> np.ndarray:
        """Totals of a ``RuleSum``; an error for the other kinds."""
        raise InputError(f"A {type(self).__name__} has no totals, only a RuleSum has.")

    def predict(self, X: Any) -> np.ndarray:
        """Predict with the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a sparse matrix, or a table read in blocks, see :meth:`evaluate`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values; for Dask a collection that is not computed yet; for
            Spark the frame with a column ``prediction``.
        """
        if is_read_in_blocks(X):
            from clearwood.rules.evaluation.tables import predicted_on

            return predicted_on(self, X)
        return self._map_rows(X, type(self).predict_encoded)

    def _map_rows(
        self, X: Any, function: Callable[[Self, np.ndarray], np.ndarray]
    ) -> Any:
        """Predictions of all rows, computed in blocks."""
        if is_sparse(X):
            rules, encoded = self.read(X)
            return function(rules, encoded)
        return map_rows(self.features, X, partial(function, self), self.used_features)

    def predict_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`predict`, for a table encoded by ``features.encode``."""
        return self.predictions_by(self.matches_encoded(encoded))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the rule that predicts each row.

        In a sum they follow from the total log-odds; in an average they are the
        weighted mean over the rules that hold.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Spark the frame with a column ``probabilities``, a list per row.
        """
        if not self.classes:
            raise InputError("These rules predict a number; they have no classes.")
        if is_read_in_blocks(X):
            from clearwood.rules.evaluation.tables import predicted_on

            return predicted_on(self, X, shares=True)
        return self._map_rows(X, type(self).answers_encoded)

    def predict_survival_function(self, X: Any, times: Any) -> np.ndarray:
        """Survival probabilities of each row at some times.

        Where events have several causes, the probability of none of them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        times : array-like of shape (n_times,)
            A Kaplan-Meier curve is constant beyond the last time of the rows of the
            rule; a curve of draws is NaN after the last horizon.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
        """
        where = self._times(times)
        curves = np.array([rule.curve.event_free(where) for rule in self])  # type: ignore
        return curves[self.apply(X)]

    def predict_cumulative_incidence(self, X: Any, times: Any) -> np.ndarray:
        """Cumulative incidence of each cause of events at some times, for each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        times : array-like of shape (n_times,)

        Returns
        -------
        ndarray of shape (n_samples, n_causes, n_times)
        """
        where = self._times(times)
        curves = [[one.at(where) for one in rule.curve.causes] for rule in self]  # type: ignore
        return 1.0 - np.array(curves)[self.apply(X)]

    def _times(self, times: Any) -> np.ndarray:
        """Validated times for survival curves, which every rule must have."""
        if not self.outcome.horizons:
            raise InputError("These rules are not for survival; use predict.")
        try:
            where = np.atleast_1d(np.asarray(times, dtype=np.float64))
        except (TypeError, ValueError):
            where = np.full(1, np.nan)
        if where.ndim > 1 or not (where >= 0).all():
            raise InputError(f"times is {times!r}; expected numbers, at least 0.")
        if any(rule.curve is None for rule in self):
            raise InputError(
                "A rule has no survival curve, as it was added by hand; fit the rules "
                "again."
            )
        return where

    def evaluate_survival(self, X: Any, y: Any, *, y_train: Any = None) -> Any:
        """Score the survival curves of the rules on new rows, by scikit-survival.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : structured array, or frame with two columns
            Survival times, as in the fit of :class:`~clearwood.RuleListSurvival`.
        y_train : structured array, or frame with two columns, optional
            Survival times that the distribution of censoring is estimated from; by
            default ``y``.

        Returns
        -------
        SurvivalScores
            With ``integrated_brier``, ``brier`` at each horizon, and the concordance,
            ``harrell`` and ``uno``.
        """
        from clearwood.rules.evaluation.survival_scores import scores_of

        return scores_of(self, X, y, y_train)

    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`answers_by`, for a table encoded by ``features.encode``."""
        return self.answers_by(self.matches_encoded(encoded))

    # Of rows of which it is known which rules they satisfy (``matches``)

    @abstractmethod
    def predictions_by(self, matches: np.ndarray) -> np.ndarray:
        """Class label, or value, of each row."""

    @abstractmethod
    def answers_by(self, matches: np.ndarray) -> np.ndarray:
        """Class probabilities, or value, of each row."""

    def predicting_rule(self, matches: np.ndarray) -> np.ndarray | None:
        """Position of the rule that predicts each row; None in sums and averages."""
        return None

    def aggregate(self, matches: np.ndarray) -> np.ndarray:
        """Combined output of the rules that hold, one number per row or class.

        Totals or averages; empty for a list, where one rule alone predicts.
        """
        return np.empty((len(matches), 0))

    @abstractmethod
    def contributing(self, matches: np.ndarray) -> np.ndarray:
        """Which rules contribute to each row: bool, (n_samples, n_rules)."""

    @property
    @abstractmethod
    def n_rows(self) -> float:
        """Number of rows that the statistics are based on; NaN where unknown."""

    @property
    @abstractmethod
    def total_weight(self) -> float:
        """Total weight of these rows: their number if no weights were given."""

    @property
    def statistic(self) -> str:
        """Sentence on the target's statistic, if it is neither a mean nor a class."""
        if "predicts" not in self.about:
            return ""
        statistic, target = printable(self.about["predicts"]), printable(self.target)
        return f"They predict {statistic} of {target}, as the model does; not the mean."

    @property
    @abstractmethod
    def heading(self) -> str:
        """First line of the printed text; may be empty."""

    @property
    @abstractmethod
    def default_text(self) -> str:
        """Word printed in place of the default rule's conditions."""

    def lines(self) -> list[tuple[int | None, Rule]]:
        """The rules in printed order, with their numbers."""
        return list(enumerate(self, start=1))

    @abstractmethod
    def text_lines(self, most: int | None = MOST_CATEGORIES) -> list[str]:
        """Printed lines below the heading, of any length.

        Sets of more than ``most`` categories are abbreviated; None lists all.
        """

    def text_of(self, rule: Rule) -> str:
        """Prediction, or contribution, of a rule in words."""
        return prediction_text(rule.prediction)

    def full_text_of(self, rule: Rule) -> str:
        """As :meth:`text_of`, with the rule's weight."""
        return self.text_of(rule)

    def brief_text_of(self, rule: Rule) -> str:
        """As :meth:`text_of`, shortened for charts."""
        return self.text_of(rule)

    @warned_once()
    def evaluate(
        self, X: Any, y: Any = None, *, model: Any = None, groups: Any = None
    ) -> RuleScores:
        """Score the rules on a table: error, fidelity, coverage and overlap.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row. Or a sparse matrix; or a table read in blocks: a Parquet
            file or a folder of them, a function that returns an iterator of pandas
            frames, a frame or array of Dask, or a frame of Spark.
        y : array-like of shape (n_samples,), or str, optional
            True labels or values, for ``error``; for a table read in blocks the name of
            a column.
        model : model, callable, path or array-like of shape (n_samples,), optional
            The model that the rules approximate, its file, or its predictions, for
            ``fidelity``.
        groups : array-like of shape (n_samples,), optional
            Group of each row, such as the query of a ranking model, for
            ``rank_correlation`` with the model's scores; of rules for a ranking model,
            without ``model``, with ``y``.

        Returns
        -------
        RuleScores
        """
        from clearwood.rules.evaluation.tables import ranked, scored

        is_alone = groups is None or model is not None
        if orders_only(self) and y is not None and is_alone:
            raise InputError(
                "These rules predict a ranking score, which has no error against true "
                "values; for the rank correlation with y pass groups, such as the "
                "query of each row, and leave model out."
            )
        scores = scored(self, X, y, model)
        return scores if groups is None else ranked(scores, self, X, y, model, groups)

    @warned_once()
    def described_on(
        self,
        X: Any,
        y: Any = None,
        *,
        model: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Recompute the statistics of all rules on other rows.

        Statistics on the rows used in the search are optimistic, those on held-out rows
        are not. Predictions and class probabilities do not change; ``expected``, the
        estimate for new rows, is replaced by what these rows show.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            At least one row. Or a table read in blocks, see :meth:`evaluate`.
        y : array-like of shape (n_samples,), or str, optional
            True labels or values, for precision, standard deviation and intervals.
        model : model, callable, path or array-like of shape (n_samples,), optional
            The model that the rules approximate, its file, or its predictions, for
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

        return survey(self, X, y, model, sample_weight).rules

    def explain(self, x: Any, *, fixed: Any = (), scale: Any = None) -> Any:
        """Explain the prediction of a row: see :func:`clearwood.explain`."""
        from clearwood.rules.row_explanation import explain_rows

        return explain_rows(self, x, fixed, scale)

    def model_predictions(self, model: Any, X: Any, n_rows: int) -> np.ndarray | None:
        """Predictions of the model (or its file, or given predictions) for each row."""
        if model is None:
            return None
        from clearwood.ensembles.black_box import predict_with
        from clearwood.ensembles.read import as_predictor

        predicted = predict_with(as_predictor(model), X, self.classes)
        with warnings.catch_warnings():
            # A model may know classes that no rule predicts.
            warnings.simplefilter("ignore", UnknownCategoriesWarning)
            found = self.outcome.check(predicted, n_rows, "the model")
            return self._known(found, "the model")

    def check_target(self, values: Any, n_rows: int, name: str) -> np.ndarray:
        """Validate true labels or values, one per row."""
        return self._known(self.outcome.check_truth(values, n_rows, name), name)

    def _known(self, values: np.ndarray, name: str) -> np.ndarray:
        if self.classes:
            check_known_labels(values, self.classes, name, "rules")
        return values

    def __str__(self) -> str:
        return self.to_text(MOST_CATEGORIES)


def rows_for(
    rules: RuleSet, model: Any, X: Any, path: Iterable[RuleSet] = ()
) -> tuple[EncodedTable, Any]:
    """Encode a table for the rules and, if it reads it differently, for their model.

    Both are the same for an ensemble of trees on the same columns.

    Parameters
    ----------
    rules : RuleSet
    model : model, or None
    X : array-like or frame of shape (n_samples, n_features)
    path : iterable of RuleSet
        Further rule sets that read the table.
    """
    from clearwood.ensembles import TreeEnsemble

    features = rules.features
    used = rules.used_features.union(*(other.used_features for other in path))
    both = isinstance(model, TreeEnsemble) and features.reads_as(model.features)
    if both:
        used |= set(model.used_features.tolist())
    rows = features.as_encoded(features.encode(X, used, whole=both))
    return rows, rows if both else X


def ensemble_of(result: Any, X: Any) -> Any | None:
    """Ensemble of a result's rules, by default compared with them on rows.

    None if there is none, or if it reads columns that the rows of a rule set lack.
    """
    ensemble = getattr(result, "ensemble_", None)
    if ensemble is None or not (isinstance(result, RuleSet) and is_frame(X)):
        return ensemble
    names, known = ensemble.features.names, set(map(str, X.columns))
    needed = {names[d] for d in ensemble.used_features}
    return ensemble if needed <= known else None


def rules_of(result: Any, name: str = "estimator") -> RuleSet:
    """Rules of a fitted estimator, or an error that explains what was expected.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, or RuleSet
    name : str
        Name of the argument, for the error.
    """
    rules = getattr(result, "rules_", result)
    if isinstance(rules, RuleSet):
        return rules
    from clearwood.ensembles.read import needs_fit

    unfitted = result is not None and needs_fit(result)
    state = "that is not fitted" if unfitted else "without rules"
    raise InputError(
        f"{name} is {type_text(result)} {state}; expected a RuleSet or a fitted "
        "estimator with rules_, such as RuleListClassifier or FABRulesRegressor."
    )
