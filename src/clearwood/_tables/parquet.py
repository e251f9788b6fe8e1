"""Parquet: one file, or a folder of them, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clearwood._tables.rows import RowsOfTable, RowStream
from clearwood._words.labels import check_names
from clearwood.exceptions import InputError

SUFFIXES = (".parquet", ".pq")


def is_parquet_path(path: Any) -> bool:
    """Whether a path names a Parquet file or a folder, by how it ends."""
    return Path(path).suffix.lower() in SUFFIXES or Path(path).is_dir()


def open_parquet(path: Path, y: str | None, weight: str | None) -> RowStream:
    """A file or a folder of files, in the order of their names, as blocks of rows.

    Only the columns that are asked for are read.
    """
    files = _files(path)
    columns, n_rows = _schema(files)
    named = [name for name in (y, weight) if name is not None]
    for file, held in columns.items():
        absent = [name for name in named if name not in held]
        if absent:
            raise InputError(f"{file} has no column {absent[0]!r}; it has {held}.")
    first = next(iter(columns.values()))

    def parts(chosen: Sequence[str] | None) -> Iterator[tuple[str, RowsOfTable]]:
        wanted = [n for n in first if n not in named] if chosen is None else chosen
        for file in files:
            yield from _row_groups(file, list(wanted), y, weight)

    return RowStream([n for n in first if n not in named], parts, n_rows)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.suffix.lower() not in SUFFIXES:
            raise InputError(
                f"{path} is no Parquet file by its name (.parquet or .pq), nor a "
                "folder of them. Read CSV as frames: "
                "lambda: pd.read_csv(path, chunksize=100_000)."
            )
        return [path]
    hidden = ("_", ".")
    found = sorted(
        file
        for file in path.rglob("*")
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(hidden)
    )
    if not found:
        raise InputError(f"{path} holds no file that ends in .parquet or .pq.")
    return found


def _schema(files: list[Path]) -> tuple[dict[Path, list[str]], int]:
    """The columns of each file, all of which must have those of the first."""
    columns, n_rows = {}, 0
    for file in files:
        with _opened(file) as opened:
            columns[file] = [str(name) for name in opened.schema_arrow.names]
            check_names(columns[file], f"The header of {str(file)!r}")
            n_rows += opened.metadata.num_rows
    first, *others = columns
    for file in others:
        absent = [name for name in columns[first] if name not in columns[file]]
        if absent:
            raise InputError(
                f"{file} has no column {absent[0]!r}, which {first} has; give all "
                "files the same columns."
            )
    return columns, n_rows


def _opened(file: Path) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"Cannot read {str(file)!r}: Parquet files need pyarrow. Install it "
            "(pip install 'clearwood[parquet]')."
        ) from None
    from clearwood._files import open_plain

    # Of its kind and size; pyarrow maps it itself.
    open_plain(file, most=2**63).close()
    try:
        return pq.ParquetFile(file, memory_map=False)
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot read {file}: {_reason(error)}") from None


def _row_groups(
    file: Path, wanted: list[str], y: str | None, weight: str | None
) -> Iterator[tuple[str, RowsOfTable]]:
    from clearwood._tables.opening import take_columns

    named = [name for name in (y, weight) if name is not None]
    asked = list(dict.fromkeys([*wanted, *named]))
    n_parts = 0
    with _opened(file) as opened:
        for number in range(opened.num_row_groups):
            place = f"{file}, row group {number}"
            batches = opened.iter_batches(row_groups=[number], columns=asked)
            while True:
                try:
                    batch = next(batches, None)
                    frame = None if batch is None else batch.to_pandas()
                except (OSError, ValueError) as error:
                    raise InputError(f"Cannot read {place}: {_reason(error)}") from None
                if frame is None:
                    break
                n_parts += 1
                yield place, take_columns(frame, y, weight, wanted)
        if not n_parts:
            # Without rows it has its columns all the same.
            frame = opened.schema_arrow.empty_table().to_pandas()
            yield str(file), take_columns(frame, y, weight, wanted)


def _reason(error: Exception) -> str:
    return f"it is damaged or no Parquet ({' '.join(str(error).split())})."
