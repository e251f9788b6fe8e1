"""Recorded states and predictions of a network over sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax

from clearwood._words.labels import type_text
from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError, ModelError
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import end_to_end

BLOCK = 2**14
"""Number of steps whose probabilities are held as float64 at a time."""

BEGINNING = 100
"""Number of steps read twice."""

Reader = Callable[[np.ndarray], tuple[Any, Any]]
"""Function from the codes of a sequence to states and logits, one row per step."""


@dataclass(frozen=True, eq=False)
class NetworkTrace:
    """States and predictions of a network, with all sequences concatenated.

    Attributes
    ----------
    codes : ndarray of int of shape (n_steps,)
        Symbols read.
    starts : ndarray of int
        First steps of sequences.
    states : ndarray of shape (n_steps, n_units)
        States of the network, after each symbol.
    log_proba : ndarray of shape (n_steps, n_symbols)
        Its predicted log probabilities of the next symbol.
    is_held_out : ndarray of bool of shape (n_steps,)
        Steps on which surrogates are evaluated; the others fit them.
    n_read : int, optional
        Number of symbols that are read, if outputs are labels and not the next symbol.
    """

    codes: np.ndarray
    starts: np.ndarray
    states: np.ndarray
    log_proba: np.ndarray
    is_held_out: np.ndarray
    n_read: int | None = None

    @property
    def n_symbols(self) -> int:
        """Number of symbols that the network reads."""
        return self.log_proba.shape[1] if self.n_read is None else self.n_read

    @cached_property
    def age(self) -> np.ndarray:
        """Number of symbols of its sequence before each."""
        return step_age(self.starts, len(self.codes))

    @property
    def sequences(self) -> list[np.ndarray]:
        """Codes, sequence by sequence."""
        return np.split(self.codes, self.starts[1:])

    def training(self, most: int) -> NetworkTrace:
        """The first training steps, at most so many, as a trace."""
        n = min(int((~self.is_held_out).sum()), most)
        starts = self.starts[self.starts < n]
        return NetworkTrace(
            self.codes[:n],
            starts,
            self.states[:n],
            self.log_proba[:n],
            self.is_held_out[:n],
            self.n_read,
        )

    @cached_property
    def following(self) -> np.ndarray:
        """Next symbol of each; -1 at the end of a sequence, and for labels."""
        if self.n_read is not None:
            return np.full(len(self.codes), -1)
        following = np.append(self.codes[1:], -1)
        following[self.starts[1:] - 1] = -1
        return following


def probabilities(log_proba: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of steps, and their probabilities as float64."""
    for first in range(0, len(log_proba), BLOCK):
        block = slice(first, first + BLOCK)
        yield block, np.exp(log_proba[block].astype(np.float64))


def read_sequences(
    reader: Reader,
    sequences: Sequence[np.ndarray],
    test_size: float,
    cells: Sequence[np.ndarray] | None = None,
    n_read: int | None = None,
) -> NetworkTrace:
    """Run a network over sequences.

    ``test_size`` is the share of the steps that are held out: whole sequences at the
    end, or the end of a single one. ``cells`` are the input of the network, by default
    the codes of the sequences. ``n_read`` is the number of symbols if outputs are
    labels.
    """
    states, log_proba = [], []
    for number, own in enumerate(sequences if cells is None else cells):
        hidden, predicted = read_steps(reader, own)
        states.append(hidden)
        log_proba.append(_log_probabilities(predicted, number))
    lengths = np.array([len(codes) for codes in sequences])
    return NetworkTrace(
        np.concatenate(sequences).astype(np.int64),
        np.cumsum(lengths) - lengths,
        np.concatenate(states),
        np.concatenate(log_proba),
        last_steps(lengths, test_size),
        n_read,
    )


def read_steps(reader: Reader, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States and outputs of every step of a sequence.

    A network with one output per sequence reads every beginning of it.
    """
    hidden, predicted = as_arrays(reader(cells))
    if predicted.ndim == 2 and len(predicted) == 1 < len(cells):
        n_steps = range(1, len(cells))
        ends = [*(as_arrays(reader(cells[:n])) for n in n_steps), (hidden, predicted)]
        hidden, predicted = (np.stack([part[-1] for part in own]) for own in zip(*ends))
    if hidden.ndim != 2 or predicted.ndim != 2 or not (
        len(hidden) == len(predicted) == len(cells)
    ):  # fmt: skip
        raise ModelError(
            f"Found states of shape {hidden.shape} and logits of shape "
            f"{predicted.shape} for {len(cells)} symbols; expected a row of each per "
            "symbol."
        )
    return hidden, predicted


def as_arrays(read: Any) -> tuple[np.ndarray, np.ndarray]:
    """States and outputs that a function returned, of torch or not."""
    if not isinstance(read, tuple | list) or len(read) != 2:
        raise ModelError(
            f"The function returned {type_text(read)}, expected a pair: states, "
            "from which the automaton is built, and logits, a row of each per step. "
            "The states of a transformer are its last hidden layer."
        )
    states, outputs = read
    return np.asarray(unwrapped(states)), np.asarray(unwrapped(outputs))


def check_reads_forwards(
    reader: Reader, trace: NetworkTrace, cells: Sequence[np.ndarray], alike: float
) -> None:
    """Raise an error if outputs depend on later symbols.

    The beginning of the longest sequence is read once more, without the rest;
    ``alike`` is the tolerance between both outputs, relative and absolute.
    """
    longest = int(np.argmax([len(own) for own in cells]))
    first, n = trace.starts[longest], min(len(cells[longest]) // 2, BEGINNING)
    if n == 0:
        return
    part = slice(first, first + n)
    states, outputs = read_steps(reader, cells[longest][:n])
    for found, whole in (
        (states, trace.states[part]),
        (_log_probabilities(outputs, longest), trace.log_proba[part]),
    ):
        if not np.allclose(found, whole, rtol=alike, atol=alike):
            raise ModelError(
                "State or output of the network at a step depends on later symbols, or "
                "changes from call to call, which no automaton can represent. Pass a "
                "network that reads forwards, each sequence from the same state; or "
                "explain what a network that reads in both directions predicts at the "
                "end of each beginning of a sequence: predict=lambda module, codes: "
                "module(codes[None])[0, -1:]."
            )


def _log_probabilities(logits: np.ndarray, number: int) -> np.ndarray:
    """Log probabilities from logits or log probabilities, in the same precision."""
    if np.isnan(logits).any():
        step = int(np.isnan(logits).any(axis=1).argmax())
        raise ModelError(
            f"The network returns NaN at step {step} of sequence {number}; its "
            "training may have diverged."
        )
    if (logits >= 0).all() and np.allclose(logits.sum(axis=1), 1.0, atol=1e-4):
        raise ModelError(
            "The network returns probabilities, expected logits or log-probabilities. "
            "Return np.log of them in a function; for a module, pass predict=lambda "
            "module, codes: module(codes[None]).log()."
        )
    found = np.empty_like(logits, dtype=np.result_type(logits, np.float32))
    for first in range(0, len(logits), BLOCK):
        block = slice(first, first + BLOCK)
        found[block] = log_softmax(logits[block].astype(np.float64), axis=1)
    return found


def step_age(starts: np.ndarray, n_steps: int) -> np.ndarray:
    """Number of symbols of its sequence before each step.

    Examples
    --------
    >>> step_age(np.array([0, 3]), 5)
    array([0, 1, 2, 0, 1])
    """
    begins = np.zeros(n_steps, dtype=np.int64)
    begins[starts] = starts
    return np.arange(n_steps) - np.maximum.accumulate(begins)


def last_steps(lengths: np.ndarray, share: float) -> np.ndarray:
    """Mask of the held-out steps: at least one, and not all."""
    n_steps = int(lengths.sum())
    wanted = min(max(round(share * n_steps), 1), n_steps - 1)
    if len(lengths) > 1:
        ends = np.cumsum(lengths[::-1])[:-1]
        wanted = int(ends[min(int(np.searchsorted(ends, wanted)), len(ends) - 1)])
    return np.arange(n_steps) >= n_steps - wanted


def lengths_of_first(lengths: np.ndarray, n_steps: int) -> list[int]:
    """Lengths of the sequences, the last one truncated, that hold the first steps.

    Examples
    --------
    >>> lengths_of_first(np.array([2, 3, 4]), 4)
    [2, 2]
    """
    own = np.diff(np.minimum(np.cumsum(lengths), n_steps), prepend=0)
    return [n for n in own.tolist() if n]


def encode_sequences(
    sequences: Any, symbols: Sequence[Any] | None = None
) -> list[np.ndarray]:
    """Encode sequences.

    Integers are codes already; strings and other symbols are looked up.

    Parameters
    ----------
    sequences : str, array-like of shape (n_steps,), or list of these
        As for ``end_to_end``; but each row of an array of several columns, such as
        codes of a batch for a network, is a sequence.
    symbols : sequence, optional
        Symbols of the codes 0, 1, ...

    Examples
    --------
    >>> encode_sequences("abba", symbols="ab"), encode_sequences([[0, 1], [1]])
    ([array([0, 1, 1, 0])], [array([0, 1]), array([1])])
    """
    shape: tuple[int, ...] = getattr(sequences, "shape", ())
    is_batch = len(shape) == 2 and shape[1] != 1
    cells, lengths = end_to_end(list(sequences) if is_batch else sequences)
    if len(cells) < 2:
        raise InputError("Expected two or more symbols: some to fit, some to evaluate.")
    bounds = sequence_bounds(lengths, len(cells))
    return np.split(_codes(cells, symbols), bounds[1:-1])


def _codes(cells: np.ndarray, symbols: Sequence[Any] | None) -> np.ndarray:
    if symbols is not None and len(set(symbols)) < len(symbols):
        raise InputError("symbols holds one twice; each code stands for one of them.")
    if cells.dtype.kind in "iu":
        if cells.min() < 0:
            raise InputError(
                f"Step {cells.argmin()} holds {cells.min()}; codes are 0, 1, ... Leave "
                "missing steps out."
            )
        return cells.astype(np.int64)
    listed = cells.tolist()
    if symbols is None:
        raise InputError(
            f"Sequences hold {listed[0]!r} and not codes; pass the symbols of the "
            "network's codes, in its order: symbols=sorted(set(text)), for example."
        )
    known = {symbol: code for code, symbol in enumerate(symbols)}
    strange = [s for s in listed if s not in known]
    if strange:
        raise InputError(
            f"Sequences hold {strange[0]!r}, which is none of the {len(known)} symbols "
            "that the network knows. Of a list of texts each is a sequence of its "
            "characters; an array, or a list in a list, holds words."
        )
    return np.array([known[symbol] for symbol in listed], dtype=np.int64)
