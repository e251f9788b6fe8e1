"""Tables that are read block by block: files, memory maps, streams, Dask."""

from clearwood._tables.opening import is_read_in_blocks, open_rows
from clearwood._tables.rows import RowBlocks, RowsOfTable

__all__ = ["RowBlocks", "RowsOfTable", "is_read_in_blocks", "open_rows"]
