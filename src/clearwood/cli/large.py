"""Large Parquet files: rules are searched on a sample, and evaluated on all rows."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import click

from clearwood.cli.errors import plain_warnings
from clearwood.exceptions import InputError

WAIT = 10
"""Seconds in which a scheduler must respond, and have a worker."""


class LargeFile(NamedTuple):
    """File of which only a sample is held in memory.

    ``table`` is its path, or a Dask frame if workers of a cluster process its rows.
    """

    table: Any
    target: str
    n_rows: int
    sample: Any

    def counted(self, fitted: Any, X: Any) -> Any:
        """Rules with the statistics of all rows, and their scores there.

        ``X`` are the rows on which the rules were searched.
        """
        from clearwood._tables import RowsOfTable
        from clearwood.rules.evaluation.tables import counted

        rows = (self.table, self.target, None)
        rules, model = fitted.rules_, fitted.ensemble_
        return counted(rules, model, RowsOfTable(X), rows, self.n_rows)


def open_large(args: Any) -> LargeFile | None:
    """Parquet file with more rows than are searched; None for a smaller one."""
    from clearwood._tables.csv_file import is_parquet

    path, scheduler = args.data, getattr(args, "scheduler", None)
    # Options that do not apply to Parquet raise where it is read at once.
    if not is_parquet(path) or args.na:
        if scheduler is not None:
            raise InputError("--scheduler requires a Parquet file, and no --na.")
        return None
    from clearwood._tables import SAMPLE_ROWS, open_rows
    from clearwood.simplifiers.large_tables import read_by

    table = open_rows(path)
    if scheduler is not None:
        # Requested, so it must be reachable, also for a file that does not need it.
        connect(scheduler, args.log)
    if table.n_rows <= SAMPLE_ROWS:
        return None
    args.log(f"reading a sample, {SAMPLE_ROWS:,} of {table.n_rows:,} rows")
    sample = read_by(None, table).sample(SAMPLE_ROWS)
    rows = path if scheduler is None else _read_by_workers(path)
    return LargeFile(rows, args.target, table.n_rows, sample)


def _read_by_workers(path: str) -> Any:
    """Dask frame, whose partitions workers read by the same path."""
    from pathlib import Path

    import dask.dataframe as dd

    return dd.read_parquet(str(Path(path).resolve()))


def connect(address: str, log: Any) -> None:
    """Connect Dask to a cluster until the command ends; raise if it is unreachable."""
    try:
        import dask.dataframe  # noqa: F401, the part of Dask that reads tables
        from distributed import Client
    except ImportError:
        raise InputError(
            "--scheduler needs Dask. Install it (pip install 'clearwood[dask]')."
        ) from None
    client, reason = None, ""
    try:
        with plain_warnings(log):
            client = Client(address, timeout=WAIT)
    except (OSError, ValueError) as error:
        reason = str(error)
    if client is None:
        # A partial connection takes a lock on deletion: not while another one begins.
        gc.collect()
        raise InputError(
            f"No Dask scheduler responds at {address} ({reason}). "
            "Start one (dask scheduler), and pass the address that it prints."
        )
    click.get_current_context().with_resource(client)
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError:
        raise InputError(
            f"The Dask scheduler at {address} has no worker. Start workers that can "
            f"read the file (dask worker {address})."
        ) from None
