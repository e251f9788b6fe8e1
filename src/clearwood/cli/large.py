"""A Parquet file of many rows: a sample is searched, all rows are counted."""

from __future__ import annotations

from typing import Any, NamedTuple


class LargeFile(NamedTuple):
    """A file of which only a sample is kept in memory.

    Attributes
    ----------
    path, target : str
    n_rows : int
        Of the whole file.
    sample : RowsOfTable
    """

    path: str
    target: str
    n_rows: int
    sample: Any

    def counted(self, fitted: Any, X: Any) -> Any:
        """The rules with the statistics of all rows, and their scores there.

        ``X`` are the rows on which they were searched for.
        """
        from clearwood._tables import RowsOfTable
        from clearwood.simplifiers.large_tables import counted

        rows = (self.path, self.target, None)
        rules, teacher = fitted.rules_, fitted.ensemble_
        return counted(rules, teacher, RowsOfTable(X), rows, self.n_rows)


def open_large(path: str, options: dict[str, Any], say: Any) -> LargeFile | None:
    """A Parquet file of more rows than are searched; None where all of them are."""
    from clearwood.cli.tables.csv_file import is_parquet

    # Options that are not for Parquet are refused where it is read at once.
    if not is_parquet(path) or options["na"]:
        return None
    from clearwood._tables import SAMPLE_ROWS, open_rows
    from clearwood.simplifiers.large_tables import read_sample

    table = open_rows(path)
    if table.n_rows <= SAMPLE_ROWS:
        return None
    say(f"reading a sample, {SAMPLE_ROWS:,} of {table.n_rows:,} rows")
    sample = read_sample(table, SAMPLE_ROWS, None)
    return LargeFile(path, options["target"], table.n_rows, sample)
