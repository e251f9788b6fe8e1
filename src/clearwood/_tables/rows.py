"""Tables of any storage as blocks of a fixed number of rows."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks
from clearwood._tables.joining import check_kinds, joined, kinds_of
from clearwood._tables.kept import stored_in_file
from clearwood.columns.validation import check_weight
from clearwood.exceptions import ClearwoodError, InputError

SAMPLE_ROWS = 200_000
"""Sample size for computations that are not sums over rows."""


class RowsOfTable(NamedTuple):
    """A batch of rows of a table.

    Attributes
    ----------
    X : ndarray or pandas.DataFrame
        Columns that a model uses, and possibly others.
    y, weight : ndarray of shape (n_rows,) or None
    """

    X: Any
    y: Any = None
    weight: Any = None

    def at(self, rows: slice | np.ndarray) -> RowsOfTable:
        """Select rows by position: a slice or an array of int."""
        X = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        rest = (None if part is None else part[rows] for part in (self.y, self.weight))
        return RowsOfTable(X, *rest)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def checked_weight(self) -> np.ndarray:
        """Validated row weights, ones by default.

        All may be zero, as these are only some rows of a table.
        """
        if self.weight is None or self.n_rows == 0:
            return np.ones(self.n_rows)
        return check_weight(np.append(self.weight, 1.0), self.n_rows + 1)[:-1]


class RowBlocks(Blocks[RowsOfTable]):
    """A table that is read anew, block by block, on every pass.

    Attributes
    ----------
    columns : list of str or None
        Column names; None if columns are identified by position.
    known_rows : int or None
        Number of rows, if known without counting.
    """

    columns: list[str] | None
    known_rows: int | None = None

    def __init__(self, columns: list[str] | None) -> None:
        self.columns = columns

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def only(self, columns: Sequence[str]) -> RowBlocks:
        """Select columns by name."""

    def __len__(self) -> int:
        return -(-self.n_rows // BLOCK_ROWS)

    def sample(self, n_rows: int, seed: int = 0) -> RowsOfTable:
        """Random sample of rows, without replacement, in table order.

        It depends on the number of rows and the seed only, and is the same for every
        storage.
        """
        places = self._by_block(self._drawn(n_rows, seed))
        return join_rows(list(self.results(_RowSelector(places))))

    def raise_in_sample(self, error: InputError, n_rows: int) -> None:
        """Re-raise an error in a row of :meth:`sample`, with its row in the table."""
        assert error.row is not None
        row = self._drawn(n_rows)[error.row]
        text = _with_row(error, row % BLOCK_ROWS)
        for _ in self.results(_ErrorAtRow(self._by_block(np.array([row])), text)):
            pass

    def _drawn(self, n_rows: int, seed: int = 0) -> np.ndarray:
        if n_rows >= self.n_rows:
            return np.arange(self.n_rows)
        rng = np.random.default_rng(seed)
        return np.sort(rng.choice(self.n_rows, n_rows, replace=False, shuffle=False))

    def _by_block(self, rows: np.ndarray) -> list[np.ndarray]:
        """Positions within each block of the given rows."""
        return [
            rows[slice(*np.searchsorted(rows, (i, i + BLOCK_ROWS)))] - i
            for i in range(0, max(self.n_rows, 1), BLOCK_ROWS)
        ]

    def map(self, function: Callable[..., Any], *parameters: Any) -> Blocks[Any]:
        """Apply ``function`` to every block, and keep the results in memory."""
        return Blocks(self.results(function, *parameters))

    def kept(
        self, function: Callable[..., Any], *parameters: Any, n_jobs: int | None = None
    ) -> AbstractContextManager[Blocks[Any]]:
        """Apply ``function`` to every block, and keep the results, tuples of arrays.

        They are stored outside of memory until the context ends, to be read repeatedly
        by ``n_jobs`` threads.
        """
        return stored_in_file(self.results(function, *parameters), n_jobs)

    def take(self, rows: np.ndarray) -> Any:
        """Not supported for tables, see :meth:`sample`."""
        raise NotImplementedError

    def gather(self) -> Any:
        """Not supported for tables, which may be larger than memory."""
        raise NotImplementedError


class _RowSelector:
    """Select given rows of each block; blocks are passed in order."""

    def __init__(self, places: list[np.ndarray]) -> None:
        self._places = places

    def for_block(self, number: int) -> _RowSelector:
        """Selector for one block, when blocks are not processed in order."""
        return _RowSelector(self._places[number : number + 1])

    def __call__(self, block: RowsOfTable) -> RowsOfTable:
        return block.at(self._places.pop(0))


class _ErrorAtRow(_RowSelector):
    """Raise an error in the block that contains a given row."""

    def __init__(self, places: list[np.ndarray], text: str) -> None:
        super().__init__(places)
        self._text = text

    def for_block(self, number: int) -> _ErrorAtRow:
        return _ErrorAtRow(self._places[number : number + 1], self._text)

    def __call__(self, block: RowsOfTable) -> RowsOfTable:
        rows = self._places.pop(0)
        if len(rows):
            raise InputError(self._text, row=int(rows[0]))
        return block.at(rows)


class RowStream(RowBlocks):
    """A stream of parts of a table, cut into blocks.

    Parameters
    ----------
    columns : list of str or None
    parts : callable
        Returns an iterator of pairs: the name of a part, for messages, and its
        ``RowsOfTable``.
    n_rows : int, optional
        Number of rows, if known; counted once otherwise.
    """

    def __init__(
        self,
        columns: list[str] | None,
        parts: Callable[[Sequence[str] | None], Iterable[tuple[str, RowsOfTable]]],
        n_rows: int | None = None,
    ) -> None:
        super().__init__(columns)
        self._parts, self.known_rows = parts, n_rows

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        if self.known_rows is not None:
            return self.known_rows
        return sum(part.n_rows for _, part in self._parts(self.columns))

    def only(self, columns: Sequence[str]) -> RowStream:
        """Select columns."""
        return RowStream(list(columns), self._parts, self.known_rows)

    def __iter__(self) -> Iterator[RowsOfTable]:
        return (block for _, block in self._placed())

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Results of ``function(block, *parameters)``, in block order."""
        for pieces, block in self._placed():
            with errors_located(*pieces):
                found = function(block, *parameters)
            yield found

    def _placed(self) -> Iterator[tuple[list[PartRows], RowsOfTable]]:
        """Blocks of equally many rows, the last one shorter, with their origins."""
        waiting: list[Placed] = []
        seen: dict[str, tuple[str, str]] = {}
        n_waiting, any_yet = 0, False
        piece = PartRows("", 0, 0)
        for place, part in self._parts(self.columns):
            # One file or frame may yield several parts.
            start = piece.start + piece.n_rows if place == piece.place else 0
            piece = PartRows(place, start, part.n_rows)
            with errors_located(piece):
                kinds = kinds_of(part.X, part.y)
            seen = check_kinds(kinds, place, seen)
            if part.n_rows == 0:
                empty = (piece, part)
                continue
            waiting.append((piece, part))
            n_waiting += part.n_rows
            while n_waiting >= BLOCK_ROWS:
                block, waiting = _first_rows(waiting, BLOCK_ROWS)
                n_waiting -= BLOCK_ROWS
                any_yet = True
                yield block
        if n_waiting or not any_yet:
            yield _first_rows(waiting or [empty], n_waiting)[0]


class PartRows(NamedTuple):
    """Origin of some rows, for errors: part, first row and number of rows."""

    place: str
    start: int
    n_rows: int


Placed = tuple[PartRows, RowsOfTable]


def _first_rows(
    parts: list[Placed], n_rows: int
) -> tuple[tuple[list[PartRows], RowsOfTable], list[Placed]]:
    """Split parts after a number of rows: a block of these, and the remaining parts."""
    taken: list[Placed] = []
    left = n_rows
    for used, (piece, part) in enumerate(parts):
        if part.n_rows > left:
            place, start, n = piece
            if left or not taken:
                taken.append((PartRows(place, start, left), part.at(slice(left))))
            others = PartRows(place, start + left, n - left), part.at(slice(left, None))
            rest = [others, *parts[used + 1 :]]
            break
        taken.append((piece, part))
        left -= part.n_rows
        rest = parts[used + 1 :]
    block = join_rows([part for _, part in taken])
    return ([piece for piece, _ in taken], block), rest


def join_rows(parts: list[RowsOfTable]) -> RowsOfTable:
    """Concatenate parts of a table, at least one."""
    if len(parts) == 1:
        return parts[0]
    parts = [part for part in parts if part.n_rows] or parts[:1]
    return RowsOfTable(*(joined(list(column)) for column in zip(*parts)))


def take_columns(
    frame: Any, y: str | None, weight: str | None, chosen: Sequence[str] | None
) -> RowsOfTable:
    """Separate a frame into features, target and weights."""
    named = [name for name in (y, weight) if name is not None]
    check_columns([*named, *(chosen or ())], list(frame.columns))
    X = frame.drop(columns=named) if chosen is None else frame[list(chosen)]
    rest = [None if name is None else frame[name].to_numpy() for name in (y, weight)]
    return RowsOfTable(X, *rest)


def check_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise an error for columns that a table does not have."""
    absent = [name for name in names if name not in columns]
    if absent:
        raise InputError(
            f"The table has no column {absent[0]!r}; it has {list(columns)}. Use one "
            "of these; all parts of the table must have the same columns."
        )


@contextmanager
def errors_located(*pieces: PartRows) -> Iterator[None]:
    """Context in which errors name the part that rows come from, and the row in it."""
    try:
        yield
    except ClearwoodError as error:
        raise _located(error, pieces) from error


def _with_row(error: Any, row: int) -> str:
    """Message of an error, with the number of its row replaced."""
    return re.sub(rf"\brow {error.row}\b", f"row {row}", str(error))


def _located(error: ClearwoodError, pieces: Sequence[PartRows]) -> InputError:
    row: Any = getattr(error, "row", None)
    before = 0
    for place, start, n_rows in pieces if row is not None else ():
        local_row = start + row - before
        if local_row < start + n_rows:
            return InputError(f"{place}: {_with_row(error, local_row)}")
        before += n_rows
    first, last = pieces[0].place, pieces[-1].place
    where = first if first == last else f"{first} to {last}"
    return InputError(f"{where}: {error}")
