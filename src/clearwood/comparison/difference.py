"""Where the predictions of two models differ, such as a model and its successor."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._html.disclosure import group_line
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import probability_text
from clearwood._words.sentences import rows_in_words
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.validation import check_target
from clearwood.ensembles.black_box import predict_with, predicts, task_of
from clearwood.ensembles.read import as_predictor
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ClearwoodError, InputError, PoorFidelityWarning
from clearwood.outcomes.classes import check_known_labels
from clearwood.outcomes.effect import EffectScores
from clearwood.outcomes.intervals import UNKNOWN, Rate, mean_of, rate_of
from clearwood.references.tabular import count_rows
from clearwood.results import Result
from clearwood.rules import RuleSet
from clearwood.rules.decisions.in_words import aligned
from clearwood.rules.exports.html_table import summarize_rules
from clearwood.rules.monitoring.groups import labels_of
from clearwood.simplifiers import RuleListClassifier, RuleListRegressor

if TYPE_CHECKING:
    import pandas as pd

DIFFERENT, EQUAL = "different", "equal"


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Result):
    """Result of :func:`clearwood.difference`.

    Attributes
    ----------
    n_rows : int
    changed : Rate
        For classes, the share of rows with another prediction; for values, the mean
        absolute difference.
    shift : Rate or None
        For values, the mean of new minus old predictions.
    table : DataFrame or None
        For classes, numbers of rows by old (index) and new prediction (columns).
    rules : RuleSet or None
        Rules for the rows whose classes differ, or for the difference of values; None
        where no row differs, or all do.
    errors : dict of str to Rate
        With ``y``: for the ``old`` and the ``new`` model the share of errors, or the
        mean absolute error.
    p : float
        With ``y``: p value of the hypothesis that both are equally often closer to the
        truth, by the sign test (McNemar's exact test for classes).
    groups : dict of label to Rate
        By group: the share of rows with another class, or the mean difference.
    by : str
        Name of the groups.
    """

    n_rows: int
    changed: Rate
    shift: Rate | None
    table: pd.DataFrame | None
    rules: RuleSet | None
    errors: dict[str, Rate]
    p: float
    groups: dict[Any, Rate]
    by: str

    def to_frame(self) -> pd.DataFrame:
        """Differences and errors, of all rows and by group, one per row."""
        import pandas as pd

        rates = {("all", "difference"): self.changed}
        if self.shift is not None:
            rates["all", "new minus old"] = self.shift
        rates |= {("all", f"error, {who}"): rate for who, rate in self.errors.items()}
        name = "difference" if self.shift is None else "new minus old"
        rates |= {(label, name): rate for label, rate in self.groups.items()}
        table = [(*key, *rate) for key, rate in rates.items()]
        columns = [self.by or "group", "what", "value", "low", "high", "rows"]
        return pd.DataFrame(table, columns=columns)

    def __str__(self) -> str:
        lines = list(self._heading())
        if self.table is not None:
            lines += ["", *aligned(self._counts())]
        if self.rules is not None:
            lines += ["", "Where they differ:", str(self.rules)]
        if self.errors:
            lines += ["", self._errors()]
        if self.groups:
            rows = [
                [printable(str(label)), f"{rate.rows:,}", self._text(rate)]
                for label, rate in self.groups.items()
            ]
            lines += ["", *aligned([self._group_head(), *rows])]
        return "\n".join(lines)

    def _heading(self) -> tuple[str, str]:
        if self.shift is None:
            size = f"{self.changed} of rows have another class"
        else:
            size = (
                f"mean absolute difference {self.changed.as_number()}, "
                f"new minus old {self.shift.as_number()}"
            )
        return f"Predictions of two models on {rows_in_words(self.n_rows)}", size

    def _counts(self) -> list[list[str]]:
        """Numbers of rows as a table of texts, its head first."""
        assert self.table is not None
        rows = [
            [prediction_text(label), *(f"{n:,}" for n in counts)]
            for label, counts in zip(self.table.index, self.table.to_numpy())
        ]
        return [
            ["old", *(f"new {prediction_text(c)}" for c in self.table.columns)],
            *rows,
        ]

    def _errors(self) -> str:
        texts = [f"{who} {self._text(rate)}" for who, rate in self.errors.items()]
        kind = "error" if self.shift is None else "mean absolute error"
        p = "" if np.isnan(self.p) else f", p {probability_text(self.p)}"
        return f"{kind}: {', '.join(texts)}{p}"

    def _group_head(self) -> list[str]:
        name = "another class" if self.shift is None else "new minus old"
        return [printable(self.by), "rows", name]

    def _text(self, rate: Rate) -> str:
        return rate.as_share() if self.shift is None else rate.as_number()


@suggests_parameters
def difference(
    old: Any,
    new: Any,
    X: Any,
    y: Any = None,
    *,
    by: Any = None,
    max_rules: int = 5,
    random_state: Any = None,
) -> Difference:
    """Describe where two models differ: rules, numbers of rows, errors, groups.

    Parameters
    ----------
    old, new : model, RuleSet, callable or path
        Fitted models for the same target, or files of ensembles. A callable returns a
        label or value per row; its numbers are labels if the other model predicts
        classes.
    X : array-like or frame of shape (n_samples, n_features)
        Rows to compare the models on, best not those of their fit.
    y : array-like of shape (n_samples,), optional
        True labels or values; not for quantiles or effects of treatments.
    by : column label, or array-like of shape (n_samples,), optional
        Groups of the rows.
    max_rules : int, default=5
        Maximum number of rules for the rows that differ.
    random_state : int, Generator, RandomState or None, default=None
        Seed of these rules.

    Returns
    -------
    Difference
        Prints as a table; ``to_frame()`` returns a frame.

    Raises
    ------
    InputError
        If one model predicts classes and the other values, they have no class in
        common, or ``X`` or ``y`` is not valid.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X[y > 0], y[y > 0].map({1: "versicolor", 2: "virginica"})
    >>> old = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y)
    >>> new = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> found = cw.difference(old, new, X, y, random_state=0)
    >>> found.table
    new         versicolor  virginica
    old
    versicolor          48          6
    virginica            0         46
    >>> found.errors["old"].value, found.errors["new"].value
    (0.06, 0.04)
    """
    if not isinstance(max_rules, Integral) or max_rules < 1:
        raise InputError(f"max_rules is {max_rules!r}; expected an integer from 1.")
    models = [_predictor(old, "old"), _predictor(new, "new")]
    n = count_rows(X)
    if n == 0:
        raise InputError("X is empty: it has no rows to compare.")
    before, now = _predictions(models, X)
    if not before.shape == now.shape == (n,):
        raise InputError(
            f"The models return predictions of shapes {before.shape} and {now.shape}; "
            f"expected a label or value for each of the {n} rows. Of several targets "
            "compare one at a time: rules['y1'], or lambda X: model.predict(X)[:, 0]."
        )
    kinds = {_has_classes(*pair) for pair in zip(models, (before, now))} - {None}
    if len(kinds) > 1:
        raise InputError("One model predicts classes and the other values.")
    weight, truth = np.ones(n), None
    if y is not None:
        truth = check_target(y, n, numeric=kinds != {True})
        for model in models:
            if isinstance(model, RuleSet) and model.outcome.estimates_truth:
                raise InputError(
                    "Errors of single rows do not describe the task "
                    f"{model.task}; leave y out, and use rules.evaluate(X, y) for each."
                )
        if isinstance(y, EffectScores):
            raise InputError(
                "y holds effect scores, whose errors in single rows are mostly their "
                "own; leave y out."
            )
    labels, name = (None, "") if by is None else labels_of(X, n, by)
    if kinds == {True}:
        if not set(before.tolist()) & set(now.tolist()):
            raise InputError(
                f"The models have no class in common: {sorted(set(before.tolist()))} "
                f"and {sorted(set(now.tolist()))}."
            )
        if truth is not None:
            check_known_labels(truth, _classes(models, before, now), "y", "models")
        apart = before != now
        changed, shift, table = rate_of(apart, weight), None, _table(before, now)
    else:
        apart = now - before
        changed, shift = mean_of(np.abs(apart), weight), mean_of(apart, weight)
        table = None
    rules = _rules(models, X, apart, max_rules, random_state)
    of = rate_of if shift is None else mean_of
    errors, p = {}, UNKNOWN
    if truth is not None:
        losses = [
            one != truth if shift is None else np.abs(one - truth)
            for one in (before, now)
        ]
        errors = {w: of(loss, weight) for w, loss in zip(("old", "new"), losses)}
        p = _sign_test(*losses)
    groups = {}
    if labels is not None:
        for label in sorted(set(labels.tolist()), key=str):
            own = labels == label
            groups[label] = of(apart[own], weight[own])
    return Difference(n, changed, shift, table, rules, errors, p, groups, name)


def section(result: Difference, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Page of a difference, as plain data."""
    if X is not None:
        raise InputError("A difference has its own rows; leave X and y out.")
    rules = result.rules
    return {
        "title": "Difference between two models",
        "heading": result._heading(),
        "counts": [] if result.table is None else result._counts(),
        "rules": None if rules is None else summarize_rules(rules, "Rows compared"),
        "errors": result._errors() if result.errors else "",
        "group_head": result._group_head(),
        "groups": [
            group_line(printable(str(label)), rate.rows, [result._text(rate)])
            for label, rate in result.groups.items()
        ],
    }


def _predictor(model: Any, name: str) -> Any:
    found = as_predictor(model)
    if not isinstance(found, type) and not predicts(found):
        raise InputError(
            f"{name} is {found!r}; expected a fitted model, rules, a function or the "
            "path of a model file."
        )
    return found


def _has_classes(model: Any, predicted: np.ndarray) -> bool | None:
    """Whether a model predicts classes; None for a function that returns numbers."""
    if isinstance(model, RuleSet):
        return bool(model.classes)
    if isinstance(model, TreeEnsemble) or hasattr(model, "predict"):
        return task_of(model) == "classification"
    return None if predicted.dtype.kind in "iuf" else True


def _classes(models: list[Any], *predicted: np.ndarray) -> list[Any]:
    """Classes of the models: those that they name or predict."""
    named = [np.ravel(getattr(model, "classes_", ())) for model in models]
    return list({label for array in (*named, *predicted) for label in array.tolist()})


def _predictions(models: list[Any], X: Any) -> list[np.ndarray]:
    found = []
    for name, model in zip(("old", "new"), models):
        try:
            found.append(np.asarray(predict_with(model, X, ())))
        except Exception as error:
            # Of any library; which of the two models failed is known only here.
            text = f"The {name} model does not predict X"
            if isinstance(error, ClearwoodError):
                raise type(error)(f"{text}: {error}") from error
            kind = type(error).__name__
            raise InputError(f"{text} ({kind}: {error}).") from error
    return found


def _table(before: np.ndarray, now: np.ndarray) -> pd.DataFrame:
    import pandas as pd

    return pd.crosstab(pd.Series(before, name="old"), pd.Series(now, name="new"))


def _rules(
    models: list[Any], X: Any, apart: np.ndarray, max_rules: int, random_state: Any
) -> RuleSet | None:
    """Rules of the rows whose classes differ, or of the difference of values."""
    is_class = apart.dtype == bool
    target = np.where(apart, DIFFERENT, EQUAL) if is_class else apart
    if len(np.unique(target)) < 2:
        return None

    def model(rows: Any) -> np.ndarray:
        before, now = _predictions(models, rows)
        # For classes the probability of the second one, which is EQUAL.
        return (before == now).astype(float) if is_class else now - before

    make = RuleListClassifier if is_class else RuleListRegressor
    fitted = make(model, max_rules=max_rules, random_state=random_state)
    with warnings.catch_warnings():
        # Rows that differ at random cannot be described; the statistics show it.
        warnings.simplefilter("ignore", PoorFidelityWarning)
        rules = fitted.fit(X, target).rules_
    return rules.with_target("predictions" if is_class else "new minus old")


def _sign_test(old: np.ndarray, new: np.ndarray) -> float:
    from scipy.stats import binomtest

    better = int((new.astype(float) < old).sum())
    n = better + int((new.astype(float) > old).sum())
    return float(binomtest(better, n).pvalue) if n else 1.0
