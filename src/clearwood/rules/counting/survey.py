"""Rules asked of tables: their statistics, their scores, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from clearwood._numeric import Blocks
from clearwood._tables import RowBlocks, RowsOfTable, is_read_in_blocks, open_rows
from clearwood._tables.predicting import predicted
from clearwood._words.numbers import short_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.validation import check_weight
from clearwood.exceptions import InputError
from clearwood.rules.counting.line_sums import EncodedRows, sums_of_lines
from clearwood.rules.counting.score_sums import ScoreSums, sums_of_scores
from clearwood.rules.scores import RuleScores
from clearwood.rules.statistics import told

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

Kind = TypeVar("Kind", bound="RuleSet")


class Survey(NamedTuple):
    """Rules with their statistics, and their scores, of the same rows."""

    rules: Any
    scores: RuleScores


def scored(rule_set: RuleSet, X: Any, y: Any, teacher: Any) -> RuleScores:
    """See :meth:`RuleSet.evaluate`."""
    blocks, prepare = _blocks(rule_set, X, y, teacher, None)
    (sums,) = blocks.map_sum(_scores_of, prepare)
    return _checked(sums, rule_set, prepare).scores(rule_set, prepare.known)


def described_by_rows(
    rule_set: Kind, X: Any, y: Any, teacher: Any, sample_weight: Any
) -> Kind:
    """See :meth:`RuleSet.described_on`."""
    return survey(rule_set, X, y, teacher, sample_weight).rules


def survey(
    rule_set: RuleSet, X: Any, y: Any = None, teacher: Any = None, weight: Any = None
) -> Survey:
    """Statistics and scores in one pass over the rows; the scores without weights."""
    blocks, prepare = _blocks(rule_set, X, y, teacher, weight)
    lines, taught, sums = blocks.map_sum(_everything_of, prepare)
    _checked(sums, rule_set, prepare)
    rules = told(rule_set, lines, taught, prepare.known)
    return Survey(rules, sums.scores(rule_set, prepare.known))


def counted(
    rules: RuleSet, teacher: Any, sample: RowsOfTable, rows: tuple[Any, ...], n: int
) -> Survey:
    """Rules with the statistics of all ``n`` rows, which say what the sample did."""
    X, y, weight = rows
    there = rules.evaluate(sample.X, teacher=teacher)
    told = survey(rules, X, y, teacher, weight)
    text = (
        f"searched for on {sample.n_rows:,} of {n:,} rows, drawn at random; fidelity "
        f"there {short_text(there.fidelity, 4)}, on all rows "
        f"{short_text(told.scores.fidelity, 4)}"
    )
    return told._replace(rules=told.rules.with_about(sample=text))


def said_of(rule_set: RuleSet, X: Any, shares: bool = False) -> Any:
    """What rules say of a table in blocks; the probabilities of classes on request."""
    columns_of = partial(_asked_columns, rule_set.features, rule_set.asked)
    if shares:
        classes = rule_set.classes
        return predicted(rule_set.predict_proba, X, float, classes, columns_of)
    kind = rule_set.predictions.dtype
    return predicted(rule_set.predict, X, kind, columns_of=columns_of)


# Rows of any kind as blocks that rules read


class _Prepare(NamedTuple):
    """Makes of the rows of a table what rules read; without rules, they are that."""

    rule_set: Any
    teacher: Any
    known: tuple[bool, bool]
    is_encoded: bool

    def __call__(self, rows: Any) -> EncodedRows:
        if self.is_encoded:
            return rows
        return _encoded(self.rule_set, rows, self.teacher)


def _scores_of(rows: Any, prepare: _Prepare) -> tuple[Any, ...]:
    return sums_of_scores(prepare(rows), prepare.rule_set)


def _everything_of(rows: Any, prepare: _Prepare) -> tuple[Any, ...]:
    encoded = prepare(rows)
    rule_set = prepare.rule_set
    return *sums_of_lines(encoded, rule_set), *sums_of_scores(encoded, rule_set)


def _blocks(
    rule_set: RuleSet, X: Any, y: Any, teacher: Any, weight: Any
) -> tuple[Blocks[Any], _Prepare]:
    """Rows in blocks of one size, and how a block becomes what rules read."""
    from clearwood.ensembles.read import as_predictor

    if not is_read_in_blocks(X):
        rules, rows = _in_memory(rule_set, X, y, teacher, weight)
        return rows.cut(), _Prepare(rules, None, rows.known, True)
    teacher = as_predictor(teacher)
    if teacher is not None and not hasattr(teacher, "predict"):
        raise InputError(
            "Of a table that is read in blocks the teacher must be a model, or its "
            f"file; found a {type(teacher).__name__}."
        )
    table = open_rows(X, y, weight)
    known = (teacher is not None, y is not None)
    columns = _asked_columns(rule_set.features, rule_set.asked, table)
    if columns is not None and teacher is not None:
        # In the model's order first: it may read columns by position.
        columns = list(dict.fromkeys([*columns_of(teacher, table), *columns]))
    return _only(table, columns), _Prepare(rule_set, teacher, known, False)


def _in_memory(
    rule_set: RuleSet, X: Any, y: Any, teacher: Any, weight: Any
) -> tuple[RuleSet, EncodedRows]:
    rules, encoded = rule_set.read(X)
    n_rows = len(encoded)
    if n_rows == 0:
        raise InputError("X is empty: it has no rows to judge rules on; give some.")
    truth = None if y is None else rule_set.check_truth(y, n_rows, "y")
    taught = rule_set.taught_by(teacher, X, n_rows)
    return rules, EncodedRows(
        encoded,
        check_weight(weight, n_rows),
        None if taught is None else rule_set.codes_of(taught),
        None if truth is None else rule_set.codes_of(truth),
    )


def _encoded(rule_set: RuleSet, rows: RowsOfTable, teacher: Any) -> EncodedRows:
    n_rows = rows.n_rows
    said = None
    if teacher is not None and n_rows:
        names: Any = getattr(teacher, "feature_names_in_", None)
        own = hasattr(rows.X, "columns") and names is not None
        said = teacher.predict(rows.X[list(names)] if own else rows.X)
    taught, truth = (
        None
        if values is None
        # One block may lack the classes that others have.
        else rule_set.codes_of(rule_set.check_cells(values, n_rows, name))
        for values, name in ((said, "the teacher"), (rows.y, "y"))
    )
    encoded = rule_set.encode(rows.X)
    return EncodedRows(encoded, rows.checked_weight(), taught, truth)


def _checked(sums: ScoreSums, rule_set: RuleSet, prepare: _Prepare) -> ScoreSums:
    """Refuse tables without rows, and those of other labels than the rules'."""
    if sums.rows == 0:
        raise InputError("The table is empty: it has no rows to judge rules on.")
    if rule_set.classes and not prepare.is_encoded:
        for name, known, n in zip(("the teacher", "y"), prepare.known, sums.labelled):
            if known and n == 0:
                raise InputError(
                    f"No label of {name} is one that the rules know; they say "
                    f"{list(rule_set.classes)}."
                )
    return sums


# Which columns are read


def _only(table: RowBlocks, columns: Sequence[str] | None) -> RowBlocks:
    return table if columns is None else table.only(columns)


def _asked_columns(
    features: FeatureSpace, asked: set[int], table: RowBlocks
) -> list[str] | None:
    """Columns of a table that rules read; None where all are, by position."""
    if table.columns is None or not features.named:
        return None
    import pandas as pd

    columns: Any = table.columns
    names = features.as_in(pd.DataFrame(columns=columns), asked).names
    # Without any, nobody would know how many rows there are.
    return [str(names[d]) for d in sorted(asked)] or table.columns[:1]


def columns_of(teacher: Any, table: RowBlocks) -> list[str]:
    """Columns of a table that a model reads, in its order; all where it names none."""
    names = getattr(teacher, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    features = getattr(teacher, "features", None)
    if isinstance(features, FeatureSpace) and features.named:
        every = set(range(features.n_features))
        return _asked_columns(features, every, table) or []
    return list(table.columns or [])
