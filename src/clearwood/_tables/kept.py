"""What is made of a table's blocks once, and read again for every sum over its rows."""

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


class Later(Blocks[Any]):
    """What a function makes of blocks, made anew whenever it is asked for.

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
        """Add what ``function`` makes of them, where they are."""
        first = (self._function, self._parameters)
        return self._of.map_sum(_both, *first, function, parameters)


def _both(
    block: Any,
    first: Callable[..., Any],
    its: tuple[Any, ...],
    second: Callable[..., Any],
    others: tuple[Any, ...],
) -> Any:
    return second(first(block, *its), *others)


class KeptBlocks(Blocks[Block]):
    """Blocks that are read again for every sum, so that nothing is kept beside them."""

    def map(self, function: Callable[..., Any], *parameters: Any) -> Blocks[Any]:
        """What ``function`` makes of every block, later."""
        return Later(self, function, parameters)


class FileBlocks(KeptBlocks[Block]):
    """Blocks in a file, read one by one, by several threads on request.

    Parameters
    ----------
    path : Path
    places : list of tuple
        Of each block, where its arrays are, in a tuple of the block's own kind.
    n_jobs : int or None
        Threads; nothing else depends on it.
    """

    def __init__(self, path: Path, places: list[Any], n_jobs: int | None) -> None:
        self._path, self._places, self._n_jobs = path, places, n_jobs

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Block]:
        return map(self._read, self._places)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """What ``function(block, *parameters)`` is of each block, in their order."""
        from joblib import Parallel, delayed

        # Kernels release the lock, and so does reading.
        threads = Parallel(self._n_jobs, prefer="threads", return_as="generator")
        of_place = delayed(lambda place: function(self._read(place), *parameters))
        found = threads(of_place(place) for place in self._places)
        try:
            # "yield from" would end them by itself, with a warning.
            for one in found:  # noqa: UP028
                yield one
        finally:
            # Who is interrupted does not ask for the rest, and need not be warned.
            with warnings.catch_warnings(action="ignore"):
                found.close()

    def _read(self, places: Any) -> Any:
        return _like(places, [place.read(self._path) for place in places])


class _Place(NamedTuple):
    """Where an array is in a file."""

    start: int
    kind: Any
    shape: tuple[int, ...]

    def read(self, path: Path) -> np.ndarray:
        count = int(np.prod(self.shape))
        return np.fromfile(path, self.kind, count, offset=self.start).reshape(
            self.shape
        )


@contextmanager
def kept_in_file(
    blocks: Iterable[Block], n_jobs: int | None = None
) -> Iterator[FileBlocks[Block]]:
    """Blocks of arrays in a file, which goes when the context ends.

    It is written where temporary files are; the environment variable ``TMPDIR`` names
    another place.

    Examples
    --------
    >>> import numpy as np
    >>> with kept_in_file(Blocks.from_arrays(np.arange(5), block_rows=2)) as blocks:
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
                f"Cannot keep rows in {path.parent.parent} ({error.strerror}). Make "
                "room there, or name another folder in the environment variable TMPDIR."
            ) from None
        yield FileBlocks(path, places, n_jobs)


def _written(block: Any, file: Any) -> Any:
    places = []
    for array in block:
        places.append(_Place(file.tell(), array.dtype, array.shape))
        file.write(np.ascontiguousarray(array).data)
    return _like(block, places)


def _like(pattern: Any, parts: list[Any]) -> Any:
    """A tuple, or a named one of the pattern's kind."""
    make = getattr(type(pattern), "_make", tuple)
    return make(parts)
