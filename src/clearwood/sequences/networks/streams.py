"""Sequences split into streams that a network reads in parallel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.sequences.states_over_time import sequence_bounds


@dataclass(frozen=True)
class Series:
    """Concatenated sequences, with the target of every step.

    Parameters
    ----------
    inputs : ndarray of shape (n_steps,) or (n_steps, n_columns)
        Codes of symbols, -1 where missing; or zeros and ones, NaN where missing.
    targets : ndarray of shape (n_steps,)
        Codes of the targets; -1 where there is none.
    spans : ndarray of shape (n_sequences, 2)
        First step of every sequence, and the one after its last.

    Examples
    --------
    >>> series = Series.of_symbols(np.array([0, 1, 1, 2, 0]), [3, 2])
    >>> series.targets.tolist(), series.spans.tolist()
    ([1, 1, -1, 0, -1], [[0, 3], [3, 5]])
    """

    inputs: np.ndarray
    targets: np.ndarray
    spans: np.ndarray

    @classmethod
    def of_outputs(
        cls, columns: np.ndarray, outputs: np.ndarray, lengths: Any = None
    ) -> Series:
        """Series whose target is the output of each step."""
        bounds = sequence_bounds(lengths, len(columns))
        return cls(columns, outputs, np.column_stack([bounds[:-1], bounds[1:]]))

    @classmethod
    def of_symbols(cls, codes: np.ndarray, lengths: Any = None) -> Series:
        """Series whose target is the next symbol."""
        next_codes = np.append(codes[1:], -1)
        next_codes[sequence_bounds(lengths, len(codes))[1:] - 1] = -1
        return cls.of_outputs(codes, next_codes, lengths)

    @property
    def n_targets(self) -> int:
        """Number of steps with a target."""
        return sum(int((self.targets[a:b] >= 0).sum()) for a, b in self.spans)

    def held_out(self, least: int, rng: np.random.Generator) -> tuple[Series, Series]:
        """Training and held-out steps: a twentieth, in pieces throughout the data.

        If pieces are so long that each would be more than a fifth of the data, or one
        of the two would have no target, both are the whole.
        """
        pieces = pieces_of(self.spans, 100, least)
        order = rng.permutation(len(pieces))
        sizes = np.diff(pieces)[order, 0]
        chosen = order[5 * sizes <= sizes.sum()][: max(len(pieces) // 20, 1)]
        others = np.delete(pieces, chosen, axis=0)
        if not len(chosen):
            return self, self
        # The parts between held-out pieces remain whole.
        goes_on = np.isin(others[1:, 0], np.setdiff1d(others[:-1, 1], self.spans[:, 0]))
        begin, end = np.append(True, ~goes_on), np.append(~goes_on, True)
        whole = np.column_stack([others[begin, 0], others[end, 1]])
        kept, apart = (replace(self, spans=own) for own in (whole, pieces[chosen]))
        if kept.n_targets == 0 or apart.n_targets == 0:
            return self, self
        return kept, apart


def pieces_of(spans: np.ndarray, n_pieces: int, least: int) -> np.ndarray:
    """Split sequences that are longer than an equal share, and than ``least``.

    Examples
    --------
    >>> pieces_of(np.array([[0, 5], [5, 7]]), n_pieces=3, least=2).tolist()
    [[0, 2], [2, 5], [5, 7]]
    """
    share = max(int(np.ceil(np.diff(spans).sum() / n_pieces)), least)
    pieces = []
    for first, last in spans:
        edges = np.linspace(
            first, last, -(-(last - first) // share) + 1, dtype=np.int64
        )
        pieces += list(zip(edges[:-1], edges[1:]))
    return np.array(pieces)


def cut(spans: np.ndarray, batch_size: int, least: int) -> list[np.ndarray]:
    """Batches of streams: the first step of each, and the one after its last.

    Long sequences are split into pieces; streams of a batch have similar lengths. All
    batches have about as many: a few remaining streams would cause hundreds of
    consecutive gradient steps on these alone.

    Examples
    --------
    >>> for batch in cut(np.array([[0, 5], [5, 7]]), batch_size=3, least=2):
    ...     print(batch.tolist())
    [[0, 2], [2, 5], [5, 7]]
    """
    pieces = pieces_of(spans, batch_size, least)
    order = np.argsort(pieces[:, 0] - pieces[:, 1], kind="stable")
    n_batches = -(-len(pieces) // batch_size)
    return [pieces[np.sort(some)] for some in np.array_split(order, n_batches)]


def windows(batch: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Consecutive matrices of ``width`` steps of a batch.

    After the end of a stream they hold -1.

    Examples
    --------
    >>> for steps in windows(np.array([[0, 2], [2, 5], [5, 7]]), width=2):
    ...     print(steps.tolist())
    [[0, 1], [2, 3], [5, 6]]
    [[-1], [4], [-1]]
    """
    longest = int(np.diff(batch).max())
    for first in range(0, longest, width):
        steps = batch[:, :1] + np.arange(first, min(first + width, longest))
        yield np.where(steps < batch[:, 1:], steps, -1)


def in_turns(
    batches: list[np.ndarray], width: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.ndarray]]:
    """Number of a randomly drawn batch, and its next window.

    Batches in sequence would bias the network to the last one.

    Examples
    --------
    >>> batches = [np.array([[0, 2]]), np.array([[2, 6]])]
    >>> for batch, steps in in_turns(batches, 2, np.random.default_rng(0)):
    ...     print(batch, steps.tolist())
    1 [[2, 3]]
    0 [[0, 1]]
    1 [[4, 5]]
    """
    own = [windows(batch, width) for batch in batches]
    n_windows = [-(-int(np.diff(batch).max()) // width) for batch in batches]
    turns = np.repeat(np.arange(len(batches)), n_windows)
    for batch in rng.permutation(turns).tolist():
        yield batch, next(own[batch])
