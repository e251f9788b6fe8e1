"""Tables larger than memory: search on a sample, statistics on all rows."""

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
    max_samples: int,
) -> RuleSet:
    """Search for rules on a sample, then compute all their statistics in one pass.

    Parameters
    ----------
    find : callable
        Returns the rules and the model that they explain, for some rows and the table
        that they are a sample of. Some methods learn from the whole table.
    model : model
        Model whose columns are read.
    X, y, weight
        As in :func:`open_rows`.
    max_samples : int

    Returns
    -------
    RuleSet
        Predictions were found on the sample; ``about["sample"]`` has its size, and the
        fidelity to the model on the sample and on all rows.
    """
    table = read_by(model, open_rows(X, y, weight))
    sample = table.sample(max_samples)
    is_whole = sample.n_rows == table.n_rows
    try:
        rules, explained = find(sample, None if is_whole else table)
    except InputError as error:
        if error.row is not None:
            table.raise_in_sample(error, max_samples)
        raise
    rules = rules.with_target(target_name(y))
    if is_whole:
        return rules  # Computed on all rows already.
    found = counted(rules, explained, sample, (X, y, weight), table.n_rows)
    return found.rules


def read_by(model: Any, table: RowBlocks) -> RowBlocks:
    """A table with the columns that a model reads, in its order."""
    columns = columns_of(model, table)
    return table.only(columns) if columns else table
