"""Out-of-core tables, read in blocks: files, streams, Dask, Spark."""

from clearwood._tables.opening import is_read_in_blocks, open_rows
from clearwood._tables.rows import SAMPLE_ROWS, RowBlocks, RowsOfTable

__all__ = ["SAMPLE_ROWS", "RowBlocks", "RowsOfTable", "is_read_in_blocks", "open_rows"]
