"""Parquet files, or folders of them, read by row groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clearwood._memory import check_memory_of_table
from clearwood._tables.rows import RowsOfTable, RowStream, take_columns
from clearwood._words.labels import check_names
from clearwood.codec.files import open_plain
from clearwood.exceptions import ClearwoodError, InputError

SUFFIXES = (".parquet", ".pq")


def open_parquet(path: Path, y: str | None, weight: str | None) -> RowStream:
    """Open a file, or a folder of files in the order of their names, as blocks of rows.

    Only the requested columns are read.
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
                f"{path} is neither a Parquet file (.parquet or .pq) nor a folder of "
                "Parquet files. Read CSV as frames: "
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
        raise InputError(f"{path} contains no .parquet or .pq file.")
    return found


def _schema(files: list[Path]) -> tuple[dict[Path, list[str]], int]:
    """Columns of each file, all of which must have those of the first."""
    columns, n_rows = {}, 0
    for file in files:
        with _open(file) as opened:
            _check_row_groups(opened, file)
            columns[file] = [str(name) for name in opened.schema_arrow.names]
            check_names(columns[file], f"The header of {str(file)!r}")
            n_rows += opened.metadata.num_rows
    first, *others = columns
    for file in others:
        absent = [name for name in columns[first] if name not in columns[file]]
        if absent:
            raise InputError(
                f"{file} has no column {absent[0]!r}, which {first} has; all files "
                "must have the same columns."
            )
    return columns, n_rows


def _open(file: Path, as_codes: Sequence[str] = ()) -> Any:
    """Open a file in pyarrow; text columns ``as_codes`` are read dictionary-encoded."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise InputError(
            f"Cannot read {str(file)!r}: Parquet files require pyarrow. Install it "
            "(pip install 'clearwood[parquet]')."
        ) from None
    # Checks type and size; pyarrow maps the file itself.
    open_plain(file, most=2**63).close()
    try:
        return pq.ParquetFile(file, memory_map=False, read_dictionary=list(as_codes))
    except (OSError, ValueError) as error:
        raise InputError(f"Cannot read {file}: {_reason(error)}") from None


def _row_groups(
    file: Path, wanted: list[str], y: str | None, weight: str | None
) -> Iterator[tuple[str, RowsOfTable]]:
    named = [name for name in (y, weight) if name is not None]
    read = list(dict.fromkeys([*wanted, *named]))
    n_parts = 0
    with _open(file) as plain:
        schema, codes = plain.schema_arrow, _encoded_texts(plain)
    with _open(file, codes) as opened:
        for number in range(opened.num_row_groups):
            place = f"{file}, row group {number}"
            batches = opened.iter_batches(row_groups=[number], columns=read)
            while True:
                try:
                    batch = next(batches, None)
                    if batch is None:
                        break
                    _check(_bytes_of_texts(batch, codes), file)
                    frame = _decode_texts(batch, schema, codes).to_pandas()
                except ClearwoodError:
                    raise
                except (OSError, ValueError) as error:
                    raise InputError(f"Cannot read {place}: {_reason(error)}") from None
                n_parts += 1
                yield place, take_columns(frame, y, weight, wanted)
        if not n_parts:
            # A file without rows still has columns.
            frame = schema.empty_table().to_pandas()
            yield str(file), take_columns(frame, y, weight, wanted)


# Memory limits


def columns_of_file(file: Path) -> list[str]:
    """Names of the columns of a file."""
    with _open(file) as opened:
        return list(map(str, opened.schema_arrow.names))


def check_parquet(file: Path) -> None:
    """Raise an error if a file, read at once, takes far more memory than its size."""
    with _open(file) as opened:
        found, codes = opened.metadata, _encoded_texts(opened)
    needed = 0
    for i in range(found.num_row_groups):
        group = found.row_group(i)
        # A run of equal cells takes almost no space in the file, but 8 bytes each here.
        needed += max(group.total_byte_size, 8 * group.num_rows * found.num_columns)
    _check(needed, file)
    with _open(file, codes) as opened:
        for batch in opened.iter_batches(columns=codes) if codes else ():
            needed += _bytes_of_texts(batch, codes)
            _check(needed, file)


def _check_row_groups(opened: Any, file: Path) -> None:
    """Raise an error if a row group takes too much memory, by the file's footer."""
    found = opened.metadata
    sizes = [found.row_group(i).total_byte_size for i in range(found.num_row_groups)]
    _check(max(sizes, default=0), file)


def _check(needed: int, file: Path) -> None:
    check_memory_of_table(needed, file.stat().st_size, str(file))


def _encoded_texts(opened: Any) -> list[str]:
    """Dictionary-encoded text columns, in which all rows may repeat a long text."""
    import pyarrow as pa

    found, schema = opened.metadata, opened.schema_arrow
    codes = set()
    for i in range(found.num_row_groups):
        for j in range(found.num_columns):
            column = found.row_group(i).column(j)
            name = column.path_in_schema
            if any("DICTIONARY" in how for how in column.encodings) and (
                column.physical_type == "BYTE_ARRAY" and name in schema.names
            ):
                codes.add(name)
    # Categories stay codes in memory, too.
    return sorted(
        name for name in codes if not pa.types.is_dictionary(schema.field(name).type)
    )


def _bytes_of_texts(batch: Any, codes: Sequence[str]) -> int:
    import pyarrow.compute as pc

    columns = [batch.column(name) for name in codes if name in batch.schema.names]
    lengths = [pc.binary_length(c.dictionary).take(c.indices) for c in columns]
    return sum(pc.sum(length).as_py() or 0 for length in lengths)


def _decode_texts(batch: Any, schema: Any, codes: Sequence[str]) -> Any:
    """Decode the texts of some rows."""
    import pyarrow as pa

    columns = {
        name: column.cast(schema.field(name).type) if name in codes else column
        for name, column in zip(batch.schema.names, batch.columns)
    }
    return pa.RecordBatch.from_pydict(columns).replace_schema_metadata(schema.metadata)


def _reason(error: Exception) -> str:
    return f"it is damaged or not Parquet ({' '.join(str(error).split())})."
