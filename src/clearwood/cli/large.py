"""A Parquet file of many rows: a sample is searched, all rows are counted."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import click

from clearwood.cli.errors import plain_warnings
from clearwood.exceptions import InputError

WAIT = 10
"""Seconds in which a scheduler must answer, and have a worker."""


class LargeFile(NamedTuple):
    """A file of which only a sample is kept in memory.

    Attributes
    ----------
    table : str or dask.dataframe.DataFrame
        Its path; or its rows, where workers of a cluster count them.
    target : str
    n_rows : int
        Of the whole file.
    sample : RowsOfTable
    """

    table: Any
    target: str
    n_rows: int
    sample: Any

    def counted(self, fitted: Any, X: Any) -> Any:
        """The rules with the statistics of all rows, and their scores there.

        ``X`` are the rows on which they were searched for.
        """
        from clearwood._tables import RowsOfTable
        from clearwood.rules.evaluation.tables import counted

        rows = (self.table, self.target, None)
        rules, teacher = fitted.rules_, fitted.ensemble_
        return counted(rules, teacher, RowsOfTable(X), rows, self.n_rows)


def open_large(asked: Any) -> LargeFile | None:
    """A Parquet file of more rows than are searched; None where all of them are."""
    from clearwood.cli.tables.csv_file import is_parquet

    path, scheduler = asked.data, getattr(asked, "scheduler", None)
    # Options that are not for Parquet are refused where it is read at once.
    if not is_parquet(path) or asked.na:
        if scheduler is not None:
            raise InputError("--scheduler is for a Parquet file, and without --na.")
        return None
    from clearwood._tables import SAMPLE_ROWS, open_rows
    from clearwood.simplifiers.large_tables import read_by

    table = open_rows(path)
    if scheduler is not None:
        # Asked for, and so it must be there, also for a file that does not need it.
        connect(scheduler, asked.say)
    if table.n_rows <= SAMPLE_ROWS:
        return None
    asked.say(f"reading a sample, {SAMPLE_ROWS:,} of {table.n_rows:,} rows")
    sample = read_by(None, table).sample(SAMPLE_ROWS)
    rows = path if scheduler is None else _read_by_workers(path)
    return LargeFile(rows, asked.target, table.n_rows, sample)


def _read_by_workers(path: str) -> Any:
    """A frame of Dask, whose partitions workers read by the same path."""
    from pathlib import Path

    import dask.dataframe as dd

    return dd.read_parquet(str(Path(path).resolve()))


def connect(address: str, say: Any) -> None:
    """Let Dask ask a cluster until the command ends; refuse one that is not there."""
    try:
        import dask.dataframe  # noqa: F401, the part of Dask that reads tables
        from distributed import Client
    except ImportError:
        raise InputError(
            "--scheduler needs Dask. Install it (pip install 'clearwood[dask]')."
        ) from None
    client, reason = None, ""
    try:
        with plain_warnings(say):
            client = Client(address, timeout=WAIT)
    except (OSError, ValueError) as error:
        reason = str(error)
    if client is None:
        # What was half made takes a lock when it goes: not while another one begins.
        gc.collect()
        raise InputError(
            f"No scheduler of Dask answers at {address} ({reason}). "
            "Start one (dask scheduler), and give the address that it prints."
        )
    click.get_current_context().with_resource(client)
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError:
        raise InputError(
            f"The scheduler of Dask at {address} has no worker. Start some where the "
            f"file can be read (dask worker {address})."
        ) from None
