"""Blocks computed once from a table, and stored for repeated sums over its rows."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import Block, Blocks
from clearwood.exceptions import InputError


class LazyBlocks(Blocks[Any]):
    """A lazy map of blocks, computed anew on every use.

    Parameters
    ----------
    blocks : Blocks
    function : callable
    parameters : tuple
    """

    def __init__(
        self,
        blocks: Blocks[Any],
        function: Callable[..., Any],
        parameters: tuple[Any, ...],
    ) -> None:
        self._of, self._function, self._parameters = blocks, function, parameters

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Any]:
        return self._of.results(self._function, *self._parameters)

    def map_sum(
        self, function: Callable[..., tuple[Any, ...]], *parameters: Any
    ) -> tuple[Any, ...]:
        """Add the results of ``function`` on the mapped blocks, where they are."""
        first = (self._function, self._parameters)
        return self._of.map_sum(_composed, *first, function, parameters)


def _composed(
    block: Any,
    first: Callable[..., Any],
    first_parameters: tuple[Any, ...],
    second: Callable[..., Any],
    second_parameters: tuple[Any, ...],
) -> Any:
    return second(first(block, *first_parameters), *second_parameters)


class StoredBlocks(Blocks[Block]):
    """Blocks that are read again for every sum, with lazy ``map``."""

    def map(self, function: Callable[..., Any], *parameters: Any) -> Blocks[Any]:
        """Apply ``function`` to every block lazily."""
        return LazyBlocks(self, function, parameters)


class FileBlocks(StoredBlocks[Block]):
    """Blocks in a file, read one by one or by several threads.

    Parameters
    ----------
    path : Path
    places : list of tuple
        Positions of the arrays of each block, in a tuple of the block's type.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    """

    def __init__(self, path: Path, places: list[Any], n_jobs: int | None) -> None:
        self._path, self._places, self._n_jobs = path, places, n_jobs

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Block]:
        return map(self._read, self._places)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Results of ``function(block, *parameters)``, in block order."""
        from joblib import Parallel, delayed

        # Kernels and reading release the GIL.
        threads = Parallel(self._n_jobs, prefer="threads", return_as="generator")
        of_place = delayed(lambda place: function(self._read(place), *parameters))
        found = threads(of_place(place) for place in self._places)
        try:
            # "yield from" would close the generator itself, with a warning.
            for one in found:  # noqa: UP028
                yield one
        finally:
            # After an interrupt the other results are not needed; no warning.
            with warnings.catch_warnings(action="ignore"):
                found.close()

    def _read(self, places: Any) -> Any:
        return _like(places, [place.read(self._path) for place in places])


class _Place(NamedTuple):
    """Position, dtype and shape of an array in a file."""

    start: int
    kind: Any
    shape: tuple[int, ...]

    def read(self, path: Path) -> np.ndarray:
        count = int(np.prod(self.shape))
        return np.fromfile(path, self.kind, count, offset=self.start).reshape(
            self.shape
        )


@contextmanager
def stored_in_file(
    blocks: Iterable[Block], n_jobs: int | None = None
) -> Iterator[FileBlocks[Block]]:
    """Context in which blocks of arrays are stored in a temporary file.

    The environment variable ``TMPDIR`` sets its folder.

    Examples
    --------
    >>> import numpy as np
    >>> with stored_in_file(Blocks.from_arrays(np.arange(5), block_rows=2)) as blocks:
    ...     print(blocks.map_sum(lambda block: (block[0].sum(),)))
    (np.int64(10),)
    """
    with tempfile.TemporaryDirectory(prefix="clearwood-") as folder:
        path = Path(folder) / "blocks"
        try:
            with open(path, "wb") as file:
                places = [_written(block, file) for block in blocks]
        except OSError as error:
            raise InputError(
                f"Cannot store rows in {path.parent.parent} ({error.strerror}). Free "
                "space there, or set another folder in the environment variable TMPDIR."
            ) from None
        yield FileBlocks(path, places, n_jobs)


def _written(block: Any, file: Any) -> Any:
    places = []
    for array in block:
        places.append(_Place(file.tell(), array.dtype, array.shape))
        file.write(np.ascontiguousarray(array).data)
    return _like(block, places)


def _like(pattern: Any, parts: list[Any]) -> Any:
    """A tuple of the parts, of the pattern's type if that is a named tuple."""
    make = getattr(type(pattern), "_make", tuple)
    return make(parts)
