"""Tables larger than memory: rules are searched for on a sample, and counted on all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clearwood._tables import RowBlocks, RowsOfTable, open_rows
from clearwood._words.labels import target_name
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.rules.evaluation.tables import columns_of, counted


def simplify_table(
    find: Callable[[RowsOfTable, RowBlocks | None], tuple[RuleSet, Any]],
    model: Any,
    X: Any,
    y: Any,
    weight: Any,
    sample_rows: int,
) -> RuleSet:
    """Search on a sample, then count all that is printed on all rows in one pass.

    Parameters
    ----------
    find : callable
        Gives for some rows, and the table that they are a sample of, the rules and the
        model that they speak for. Some methods learn from all of the table.
    model : model
        Whose columns are read.
    X, y, weight
        As :func:`open_rows` takes them.
    sample_rows : int

    Returns
    -------
    RuleSet
        What it says of each row was found on the sample; ``about["sample"]`` says how
        large that was, and how well the rules follow the model there and on all rows.
    """
    table = read_by(model, open_rows(X, y, weight))
    sample = table.sample(sample_rows)
    is_whole = sample.n_rows == table.n_rows
    try:
        rules, teacher = find(sample, None if is_whole else table)
    except InputError as error:
        if error.row is not None:
            table.refuse_sampled(error, sample_rows)
        raise
    rules = rules.with_target(target_name(y))
    if is_whole:
        return rules  # Counted on all rows already.
    told = counted(rules, teacher, sample, (X, y, weight), table.n_rows)
    return told.rules


def read_by(model: Any, table: RowBlocks) -> RowBlocks:
    """A table with the columns that a model reads, in its order."""
    columns = columns_of(model, table)
    return table.only(columns) if columns else table
