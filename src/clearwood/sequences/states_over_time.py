"""Inference of hidden states: filtering, smoothing, Viterbi, sampling.

Row ``t`` of ``log_emission`` has the log probability of the observation at step ``t``
in every state, 0 if it is missing. If there are few kinds of steps (symbols), it may
have one row per kind, and ``row`` holds the kind of every step. An impossible sequence
has a log-likelihood of -inf; its states are computed as if the impossible steps were
missing. A state that is 1e-300 times less probable than another, given the observations
up to its step, counts as impossible there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from clearwood._kernels.sequences import (
    best_paths,
    count_changes,
    count_kinds,
    draw_block,
    filter_block,
    smooth_block,
)
from clearwood._numeric import product
from clearwood.exceptions import InputError

BLOCK_ENTRIES = 2**23
"""Probabilities kept at a time: longer sequences are processed in blocks, the last one
first. If the filter forgets its start, it need not run from the first step."""

MEMORY, FORGOTTEN = 1024, 1e-13
"""Number of steps for this, and the relative tolerance."""


class StateEvidence(NamedTuple):
    """A model, and the probabilities of observed steps in its states.

    Attributes
    ----------
    startprob : ndarray of shape (n_states,)
    transmat : ndarray of shape (n_states, n_states)
        Rows are the current states, columns the next ones.
    log_emission : ndarray of shape (n_steps, n_states) or (n_kinds, n_states)
    lengths : sequence of int, optional
        Numbers of steps of the concatenated sequences; by default one sequence.
    row : ndarray of int of shape (n_steps,), optional
        Kind of every step.
    """

    startprob: np.ndarray
    transmat: np.ndarray
    log_emission: np.ndarray
    lengths: Sequence[int] | None = None
    row: np.ndarray | None = None


class ExpectedCounts(NamedTuple):
    """Expected counts of states, given whole sequences.

    Attributes
    ----------
    start : ndarray of shape (n_states,)
        At the start of sequences.
    pairs : ndarray of shape (n_states, n_states)
        Expected transitions; rows are the current states.
    rows : ndarray of shape (n_rows, n_states)
        At each kind of step.
    log_likelihood : ndarray of shape (n_sequences,)
    """

    start: np.ndarray
    pairs: np.ndarray
    rows: np.ndarray
    log_likelihood: np.ndarray


def sequence_bounds(lengths: Sequence[int] | None, n_steps: int) -> np.ndarray:
    """First steps of sequences, and the number of steps, from their lengths.

    Examples
    --------
    >>> sequence_bounds([2, 3], 5)
    array([0, 2, 5])
    """
    if lengths is None:
        lengths = [n_steps]
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.size == 0 or sizes.dtype.kind not in "iu":
        raise InputError(
            f"lengths must be a list of whole numbers, found {lengths!r}; give the "
            "number of steps of each sequence."
        )
    if sizes.min() < 1:
        raise InputError(
            f"lengths holds {sizes.min()}; a sequence has at least one step. Leave "
            "empty sequences out."
        )
    if sizes.sum() != n_steps:
        raise InputError(
            f"lengths add up to {sizes.sum()}, but there are {n_steps} steps; they are "
            "the numbers of steps of the sequences, one after the other."
        )
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def filter_states(evidence: StateEvidence) -> tuple[np.ndarray, np.ndarray]:
    """Filtered probabilities P(state | steps up to its own), and log-likelihoods.

    Returns
    -------
    filtered : ndarray of shape (n_steps, n_states)
    log_likelihood : ndarray of shape (n_sequences,)

    Examples
    --------
    >>> log_emission = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> stay = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> seen = StateEvidence(np.full(2, 0.5), stay, log_emission)
    >>> filtered, log_likelihood = filter_states(seen)
    >>> filtered.round(3)
    array([[0.9  , 0.1  ],
           [0.368, 0.632]])
    >>> np.exp(log_likelihood).round(3)
    array([0.19])
    """
    chain = _Chain(evidence)
    filtered = np.empty((chain.n_steps, chain.width))
    chain.filter(0, filtered, chain.startprob.copy())
    return chain.without_padding(filtered), chain.log_likelihood


def log_likelihoods(evidence: StateEvidence) -> np.ndarray:
    """Log-likelihoods of :func:`filter_states` alone, in the memory of a block."""
    chain = _Chain(evidence)
    for _ in chain.forwards(working_space(chain.n_steps, chain.n_states)[0]):
        pass
    return chain.log_likelihood


def expected_counts(
    evidence: StateEvidence,
    *,
    space: tuple[np.ndarray, np.ndarray] | None = None,
) -> ExpectedCounts:
    """E-step of EM: the smoother, in blocks.

    ``space`` is from :func:`working_space`, for repeated calls, as allocation takes
    time.
    """
    chain = _Chain(evidence)
    k = chain.width
    start, pairs = np.zeros(k), np.zeros((k, k))
    rows = np.zeros((len(chain.log_emission), k))
    transposed, ratio = np.ascontiguousarray(chain.transmat.T), np.zeros(k)
    after = np.zeros(k)
    space = space or working_space(chain.n_steps, chain.n_states)
    for first, filtered, inverse in chain.backwards(*space):
        # Without kinds, the steps of a block have rows of their own.
        own = rows[first : first + len(filtered)] if chain.row is None else rows
        steps = chain.steps(first, len(filtered))
        smooth_block(transposed, steps, ratio, filtered, inverse, start, own)
        pairs += product(filtered[:-1].T, inverse[1:]) + np.outer(filtered[-1], after)
        after = inverse[0].copy()
    pairs *= chain.transmat
    k = chain.n_states
    return ExpectedCounts(
        start[:k], pairs[:k, :k], chain.without_padding(rows), chain.log_likelihood
    )


def working_space(n_steps: int, n_states: int) -> tuple[np.ndarray, np.ndarray]:
    """Allocate memory for a block of steps."""
    width = _padded(n_states)
    n = max(1, min(n_steps, BLOCK_ENTRIES // width))
    return np.empty((n, width)), np.empty((n, width))


def smooth_states(evidence: StateEvidence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smoothed probabilities P(state | whole sequence).

    Returns
    -------
    smoothed : ndarray of shape (n_steps, n_states)
    pairs : ndarray of shape (n_states, n_states)
        Expected number of transitions between states.
    log_likelihood : ndarray of shape (n_sequences,)

    Examples
    --------
    >>> log_emission = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> stay = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> seen = StateEvidence(np.full(2, 0.5), stay, log_emission)
    >>> smoothed, pairs, _ = smooth_states(seen)
    >>> smoothed.round(3)
    array([[0.829, 0.171],
           [0.368, 0.632]])
    >>> pairs.round(3)
    array([[0.355, 0.474],
           [0.013, 0.158]])
    """
    if evidence.row is not None:
        every = np.asarray(evidence.log_emission)[evidence.row]
        evidence = evidence._replace(log_emission=every, row=None)
    found = expected_counts(evidence)
    return found.rows, found.pairs, found.log_likelihood


def most_probable_states(evidence: StateEvidence) -> tuple[np.ndarray, np.ndarray]:
    """Most probable path of every sequence (Viterbi).

    Of equally probable paths it is the one that, traced back from its end, has the
    first states.

    Returns
    -------
    states : ndarray of int32 of shape (n_steps,)
    log_joint : ndarray of shape (n_sequences,)
        Joint log probability of the path and the observations.

    Examples
    --------
    >>> log_emission = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> stay = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> seen = StateEvidence(np.full(2, 0.5), stay, log_emission)
    >>> most_probable_states(seen)[0]
    array([0, 1], dtype=int32)
    """
    chain = _Chain(evidence)
    n, k = chain.n_steps, chain.n_states
    states, log_joint = np.empty(n, dtype=np.int32), np.zeros(len(chain.bounds) - 1)
    kind = np.arange(n, dtype=np.int32) if chain.row is None else chain.row
    with np.errstate(divide="ignore"):
        log_start, log_transmat = (
            np.log(np.asarray(p, dtype=np.float64)) for p in evidence[:2]
        )
    best_paths(
        log_start, log_transmat, chain.log_emission, kind, chain.bounds,
        np.empty((n, k), dtype=np.min_scalar_type(k - 1)), states, log_joint,
    )  # fmt: skip
    return states, log_joint


def sample_states(
    rng: np.random.Generator,
    evidence: StateEvidence,
    *,
    space: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw states given whole sequences (forward filtering, backward sampling).

    ``space`` as in :func:`expected_counts`.

    Returns
    -------
    states : ndarray of int32 of shape (n_steps,)
    log_likelihood : ndarray of shape (n_sequences,)

    Examples
    --------
    >>> log_emission = np.log([[0.9, 0.1], [0.2, 0.8]])
    >>> stay = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> seen = StateEvidence(np.full(2, 0.5), stay, log_emission)
    >>> rng = np.random.default_rng(0)
    >>> sample_states(rng, seen)[0]
    array([0, 0], dtype=int32)
    """
    chain = _Chain(evidence)
    states = np.empty(chain.n_steps, dtype=np.int32)
    transposed = np.ascontiguousarray(chain.transmat.T)
    end = chain.n_steps
    space = space or working_space(chain.n_steps, chain.n_states)
    for first, filtered, _ in chain.backwards(space[0]):
        after = states[end] if end < chain.n_steps else -1
        uniform, own = rng.random(len(filtered)), states[first:end]
        draw_block(transposed, chain.bounds, first, after, filtered, uniform, own)
        end = first
    return states, chain.log_likelihood


def state_counts(
    states: np.ndarray, n_states: int, lengths: Sequence[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of first states of sequences, and of transitions.

    Examples
    --------
    >>> start, pairs = state_counts(np.array([0, 1, 1, 0]), 2, [3, 1])
    >>> start.tolist(), pairs.tolist()
    ([2.0, 0.0], [[0.0, 1.0], [0.0, 1.0]])
    """
    start, pairs = np.zeros(n_states), np.zeros((n_states, n_states))
    count_changes(states, sequence_bounds(lengths, len(states)), start, pairs)
    return start, pairs


def kind_counts(
    states: np.ndarray, row: np.ndarray, n_kinds: int, n_states: int
) -> np.ndarray:
    """Counts of each kind of step in each state, of shape (n_kinds, n_states)."""
    counts = np.zeros((n_kinds, n_states))
    count_kinds(states, row, counts)
    return counts


class Steps(NamedTuple):
    """Block of steps.

    Attributes
    ----------
    kind : ndarray of int32 of shape (n_steps,)
        Of each step.
    bounds : ndarray of int of shape (n_sequences + 1,)
        From :func:`sequence_bounds`.
    first : int
        First step of the block.
    """

    kind: np.ndarray
    bounds: np.ndarray
    first: int


class Seen(NamedTuple):
    """Emission probabilities of every kind of step.

    Attributes
    ----------
    log : ndarray of shape (n_kinds, n_states)
        Log probabilities in every state.
    weight : ndarray of shape (n_kinds, n_states up to a multiple of four)
        Probabilities relative to the largest.
    offset : ndarray of shape (n_kinds,)
        Log of the largest.
    """

    log: np.ndarray
    weight: np.ndarray
    offset: np.ndarray


class _Chain:
    """Block-wise recursions over sequences with a model."""

    def __init__(self, evidence: StateEvidence) -> None:
        startprob, transmat, log_emission, lengths, row = evidence
        self.n_states = k = len(startprob)
        self.width = _padded(k)
        self.nothing = np.empty((0, self.width))
        self.startprob = np.zeros(self.width)
        self.transmat = np.zeros((self.width, self.width))
        self.startprob[:k], self.transmat[:k, :k] = startprob, transmat
        self.log_emission = np.ascontiguousarray(log_emission, dtype=np.float64)
        self.row = None if row is None else np.ascontiguousarray(row, dtype=np.int32)
        self.n_steps = len(self.log_emission if self.row is None else self.row)
        self.bounds = sequence_bounds(lengths, self.n_steps)
        self.log_likelihood = np.zeros(len(self.bounds) - 1)
        self._table = None if row is None else self._scaled(self.log_emission)

    def steps(self, first: int, n: int) -> Steps:
        """A block of steps."""
        every = np.arange(n, dtype=np.int32)
        kind = every if self.row is None else self.row[first : first + n]
        return Steps(kind, self.bounds, first)

    def seen(self, first: int, n: int) -> Seen:
        """Emission probabilities of a block of steps, by kind."""
        return self._table or self._scaled(self.log_emission[first : first + n])

    def _scaled(self, log_rows: np.ndarray) -> Seen:
        offset = log_rows.max(axis=1)
        offset[np.isneginf(offset)] = 0.0
        weight = np.zeros((len(log_rows), self.width))
        weight[:, : self.n_states] = np.exp(log_rows - offset[:, None])
        return Seen(log_rows, weight, offset)

    def without_padding(self, values: np.ndarray) -> np.ndarray:
        """Columns of the states, without padding."""
        return np.ascontiguousarray(values[:, : self.n_states])

    def filter(
        self,
        first: int,
        filtered: np.ndarray,
        predicted: np.ndarray,
        inverse: np.ndarray | None = None,
    ) -> None:
        """Filter a block, and advance ``predicted`` to its end."""
        here = first, len(filtered)
        inverse = self.nothing if inverse is None else inverse
        filter_block(
            (self.startprob, self.transmat), self.seen(*here), self.steps(*here),
            predicted, filtered, inverse, self.log_likelihood,
        )  # fmt: skip

    def forwards(
        self, filtered: np.ndarray, inverse: np.ndarray | None = None
    ) -> Iterator[np.ndarray]:
        """Filter block after block in the same memory; yields the start of each."""
        predicted = self.startprob.copy()
        for first in range(0, self.n_steps, len(filtered)):
            start, n = predicted.copy(), min(len(filtered), self.n_steps - first)
            own = inverse if inverse is None else inverse[:n]
            self.filter(first, filtered[:n], predicted, own)
            yield start

    def backwards(
        self, filtered: np.ndarray, inverse: np.ndarray | None = None
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Filter blocks from the last to the first, in the given memory.

        Yields the first step of the block, and the results of ``filter_block``.
        """
        inverse = self.nothing if inverse is None else inverse
        firsts = range(0, self.n_steps, len(filtered))
        forgets, found = self._forgotten(firsts), self.log_likelihood
        starts = forgets or list(self.forwards(filtered, inverse))
        if not forgets:
            self.log_likelihood = np.zeros_like(found)  # of what is filtered again
        for first, start in zip(firsts[::-1], starts[::-1]):
            n = min(firsts.step, self.n_steps - first)
            if forgets or first != firsts[-1]:
                self.filter(first, filtered[:n], start, inverse[:n])
            yield first, filtered[:n], inverse[:n]
        self.log_likelihood = found

    def _forgotten(self, firsts: range) -> list[np.ndarray]:
        """Predictions at the starts of blocks, if the filter forgets its start.

        It does if it reaches the same probabilities from every state ``MEMORY`` steps
        before, and so from every mixture of them. Otherwise, and for short blocks,
        there is no start.
        """
        k, starts = self.n_states, [self.startprob.copy()]
        if len(firsts) > 1 and firsts.step < MEMORY * k:
            return []
        for first in firsts[1:]:
            here = max(first - MEMORY, 0), min(first, MEMORY)
            seen, steps = self.seen(*here), self.steps(*here)
            space, arrived = np.empty((here[1], self.width)), np.eye(k, self.width)
            for predicted in arrived:
                filter_block(
                    (self.startprob, self.transmat), seen, steps, predicted, space,
                    self.nothing, np.zeros_like(self.log_likelihood),
                )  # fmt: skip
            if (np.ptp(arrived, axis=0) > FORGOTTEN * arrived.min(axis=0)).any():
                return []
            starts.append(arrived[0])
        return starts


def _padded(n_states: int) -> int:
    """The next multiple of four."""
    return -(-n_states // 4) * 4
