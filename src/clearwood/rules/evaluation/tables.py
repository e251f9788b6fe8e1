"""Statistics, scores and predictions of rules on tables of any kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._tables import RowBlocks, RowsOfTable, is_read_in_blocks, open_rows
from clearwood._tables.predicting import predict_rows
from clearwood._words.labels import type_text
from clearwood._words.numbers import short_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.validation import check_weight
from clearwood.exceptions import InputError
from clearwood.rules.evaluation.sums import (
    EncodedRows,
    Known,
    ScoreSums,
    line_sums,
    score_sums,
    sums_of,
    with_sums,
)
from clearwood.rules.scores import RuleScores, orders_only, rank_correlation

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet


class Survey(NamedTuple):
    """Rules with their statistics, and their scores, on the same rows."""

    rules: Any
    scores: RuleScores


def scored(rule_set: RuleSet, X: Any, y: Any, model: Any) -> RuleScores:
    """See :meth:`RuleSet.evaluate`."""
    (scores,), known = _summed((score_sums,), rule_set, X, y, model, None)
    return scores.scores(rule_set, known)


def ranked(
    scores: RuleScores, rule_set: RuleSet, X: Any, y: Any, model: Any, groups: Any
) -> RuleScores:
    """The scores with the rank correlation within groups, of rules and model or y."""
    with_truth = model is None and y is not None and orders_only(rule_set)
    no_scores = (model is None and not with_truth) or rule_set.classes
    if no_scores or is_read_in_blocks(X):
        raise InputError(
            "groups is for the rank correlation with the scores of a model, which are "
            "numbers; pass model (or, for rules of a ranking model, y), and a table in "
            "memory, or leave groups out."
        )
    import pandas as pd

    predicted, numbers = rule_set.predict(X), np.asarray(groups)
    if numbers.shape != predicted.shape:
        raise InputError(
            f"groups has shape {numbers.shape} for {len(predicted)} rows; expected one "
            "group per row."
        )
    unknown = int(pd.isna(numbers).sum())
    if unknown:
        raise InputError(
            f"groups is missing for {unknown:,} of {len(predicted):,} rows; pass the "
            "group of each row, or leave these rows, or groups, out."
        )
    target: Any = rule_set.model_predictions(model, X, len(predicted))
    if with_truth:
        target = rule_set.check_target(y, len(predicted), "y")
    found = rank_correlation(predicted, target, numbers)
    if math.isnan(found):
        raise InputError(
            "Each group has a single row, or rows of equal scores of the model, so "
            "that there is no order to compare; pass groups of several rows, or leave "
            "groups out."
        )
    return replace(scores, rank_correlation=found)


def survey(
    rule_set: RuleSet, X: Any, y: Any = None, model: Any = None, weight: Any = None
) -> Survey:
    """Statistics and scores in one pass over the rows; the scores are unweighted."""
    sums, known = _summed((score_sums, line_sums), rule_set, X, y, model, weight)
    scores, target, *lines = sums
    rules = with_sums(rule_set, lines, target, known)
    return Survey(rules, scores.scores(rule_set, known))


def counted(
    rules: RuleSet, model: Any, sample: RowsOfTable, rows: tuple[Any, ...], n: int
) -> Survey:
    """Rules fitted to a sample, with the statistics of all ``n`` rows."""
    X, y, weight = rows
    there = rules.evaluate(sample.X, model=model)
    found = survey(rules, X, y, model, weight)
    text = (
        f"searched for on {sample.n_rows:,} of {n:,} rows, drawn at random; fidelity "
        f"there {short_text(there.fidelity, 4)}, on all rows "
        f"{short_text(found.scores.fidelity, 4)}"
    )
    return found._replace(rules=found.rules.with_metadata(sample=text))


def predicted_on(rule_set: RuleSet, X: Any, shares: bool = False) -> Any:
    """Predictions for a table in blocks; optionally class probabilities."""
    columns_of = partial(_columns_used, rule_set.features, rule_set.used_features)
    if shares:
        classes = rule_set.classes
        return predict_rows(rule_set.predict_proba, X, float, classes, columns_of)
    kind = rule_set.predictions.dtype
    return predict_rows(rule_set.predict, X, kind, columns_of=columns_of)


# Rows of any kind as encoded blocks

Parts = Sequence[Callable[..., tuple[Any, ...]]]


def _summed(
    parts: Parts, rule_set: RuleSet, X: Any, y: Any, model: Any, weight: Any
) -> tuple[tuple[Any, ...], Known]:
    """Sums (see ``sums_of``) over all rows, and whether model and truth are known."""
    if not is_read_in_blocks(X):
        rules, rows = _in_memory(rule_set, X, y, model, weight)
        return rows.cut().map_sum(sums_of, rules, *parts), rows.known
    from clearwood.ensembles.read import as_predictor

    model = as_predictor(model)
    if model is not None and not hasattr(model, "predict"):
        raise InputError(
            "Of a table that is read in blocks the model must be a model, or its "
            f"file; found {type_text(model)}."
        )
    table = open_rows(X, y, weight)
    columns = _columns_used(rule_set.features, rule_set.used_features, table)
    if columns is not None and model is not None:
        # In the model's order first: it may read columns by position.
        columns = list(dict.fromkeys([*columns_of(model, table), *columns]))
    sums = _only(table, columns).map_sum(_sums_of_table, parts, rule_set, model)
    known = (model is not None, y is not None)
    _check_labels(sums[0], rule_set, known)
    return sums, known


def _sums_of_table(
    rows: RowsOfTable, parts: Parts, rule_set: RuleSet, model: Any
) -> tuple[Any, ...]:
    return sums_of(_encoded(rule_set, rows, model), rule_set, *parts)


def _in_memory(
    rule_set: RuleSet, X: Any, y: Any, model: Any, weight: Any
) -> tuple[RuleSet, EncodedRows]:
    rules, encoded = rule_set.read(X)
    n_rows = len(encoded)
    if n_rows == 0:
        raise InputError("X is empty: it has no rows to evaluate the rules on.")
    truth = None if y is None else rule_set.check_target(y, n_rows, "y")
    target = rule_set.model_predictions(model, X, n_rows)
    return rules, EncodedRows(
        encoded,
        check_weight(weight, n_rows),
        None if target is None else rule_set.outcome.codes(target),
        None if truth is None else rule_set.outcome.codes(truth),
    )


def _encoded(rule_set: RuleSet, rows: RowsOfTable, model: Any) -> EncodedRows:
    n_rows = rows.n_rows
    predicted = None
    if model is not None and n_rows:
        names: Any = getattr(model, "feature_names_in_", None)
        own = hasattr(rows.X, "columns") and names is not None
        predicted = model.predict(rows.X[list(names)] if own else rows.X)
    target, truth = (
        None
        if values is None
        # One block may lack some classes.
        else rule_set.outcome.codes(check(values, n_rows, name))
        for check, values, name in (
            (rule_set.outcome.check, predicted, "the model"),
            (rule_set.outcome.check_truth, rows.y, "y"),
        )
    )
    encoded = rule_set.encode(rows.X)
    return EncodedRows(encoded, rows.checked_weight(), target, truth)


def _check_labels(sums: ScoreSums, rule_set: RuleSet, known: Known) -> None:
    """Reject empty tables, and labels that the rules do not have."""
    if sums.rows == 0:
        raise InputError("The table is empty: it has no rows to evaluate the rules on.")
    for name, is_known, n in zip(("the model", "y"), known, sums.labelled):
        if rule_set.classes and is_known and n == 0:
            raise InputError(
                f"No label of {name} is a class of the rules; these are "
                f"{list(rule_set.classes)}."
            )


# Columns to read


def _only(table: RowBlocks, columns: Sequence[str] | None) -> RowBlocks:
    return table if columns is None else table.only(columns)


def _columns_used(
    features: FeatureSpace, used: set[int], table: RowBlocks
) -> list[str] | None:
    """Columns of a table that rules read; None for all, by position."""
    if table.columns is None or not features.named:
        return None
    import pandas as pd

    columns: Any = table.columns
    names = features.as_in(pd.DataFrame(columns=columns), used).names
    # Without any column the number of rows would be unknown.
    return [str(names[d]) for d in sorted(used)] or table.columns[:1]


def columns_of(model: Any, table: RowBlocks) -> list[str]:
    """Columns of a table that a model reads, in its order; all if it has no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    features = getattr(model, "features", None)
    if isinstance(features, FeatureSpace) and features.named:
        every = set(range(features.n_features))
        return _columns_used(features, every, table) or []
    return list(table.columns or [])
