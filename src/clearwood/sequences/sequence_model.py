"""Records of sequences, and of the parameters and prior of a hidden Markov model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._numeric.distinct import distinct
from clearwood.distributions import Emission
from clearwood.distributions.categorical import (
    draw_rows,
    log_dirichlet,
    mode_of_rows,
)
from clearwood.exceptions import InputError
from clearwood.sequences.states_over_time import ExpectedCounts, StateEvidence


class Observed(NamedTuple):
    """Concatenated sequences.

    Attributes
    ----------
    values : ndarray of shape (n_kinds, n_columns)
        Every distinct row of columns once, or every step.
    row : ndarray of int32 of shape (n_steps,) or None
        Kind of each step; None if every step has a row of its own.
    lengths : list of int
        Numbers of steps of the sequences.
    """

    values: np.ndarray
    row: np.ndarray | None
    lengths: list[int]

    @classmethod
    def from_values(
        cls, values: np.ndarray, lengths: list[int], discrete: bool
    ) -> Observed:
        """Steps as rows of values; discrete ones as kinds of distinct rows.

        Examples
        --------
        >>> rows = np.array([[0.0, 1.0], [np.nan, 1.0], [0.0, 1.0]])
        >>> Observed.from_values(rows, [3], discrete=True).row
        array([1, 0, 1], dtype=int32)
        """
        if not discrete:
            return cls(values, None, lengths)
        # NaN does not equal itself; -2 is no class.
        codes = np.where(np.isnan(values), -2.0, values)
        # Column by column, and not by axis=0, which takes many times as long.
        _, first, row = distinct(codes[:, 0])
        for column in codes.T[1:]:
            classes, _, own = distinct(column)
            _, first, row = distinct(row * len(classes) + own)
        return cls(values[first], row.astype(np.int32), lengths)

    @property
    def n_steps(self) -> int:
        """Number of steps of all sequences."""
        return sum(self.lengths)

    def steps(self) -> np.ndarray:
        """Kind of every step."""
        return np.arange(self.n_steps) if self.row is None else self.row

    def part(self, n_steps: int, rng: np.random.Generator) -> Observed:
        """Sequences in random order, the last one truncated, of this many steps."""
        if n_steps >= self.n_steps:
            return self
        ends = np.cumsum(self.lengths)
        taken, lengths, left = [], [], n_steps
        for s in rng.permutation(len(self.lengths)):
            n = min(self.lengths[s], left)
            if n == 0:
                break
            begin = ends[s] - self.lengths[s]
            taken.append(np.arange(begin, begin + n))
            lengths.append(int(n))
            left -= n
        steps = np.concatenate(taken)
        if self.row is None:
            return Observed(self.values[steps], None, lengths)
        return Observed(self.values, self.row[steps], lengths)


class StateModel(NamedTuple):
    """Start (k,), transition (k, k) with current states as rows, emission (k, n)."""

    startprob: np.ndarray
    transmat: np.ndarray
    emission: np.ndarray


def evidence_of(
    observed: Observed, model: StateModel, emission: Emission
) -> StateEvidence:
    """Input of the functions of ``states_over_time``."""
    width = observed.values.shape[1]
    if width != emission.n_columns:
        raise InputError(
            f"X has {width} columns, the parameters of the model are of "
            f"{emission.n_columns}; pass the same columns."
        )
    return StateEvidence(
        model.startprob,
        model.transmat,
        emission.log_likelihood(model.emission, observed.values),
        observed.lengths,
        observed.row,
    )


class SequencePrior(NamedTuple):
    """Prior of the parameters of a hidden Markov model.

    Attributes
    ----------
    start, transition : float, or ndarray of shape (n_states,), (n_states, n_states)
        Dirichlet pseudo-counts of every state: of starts, and of transitions. Where
        they are 0, so are the probabilities.
    emission : Emission
    """

    start: float | np.ndarray
    transition: float | np.ndarray
    emission: Emission

    def within(self, model: StateModel) -> SequencePrior:
        """Prior of models without the starts and transitions that a model excludes."""
        starts, pairs = model.startprob > 0.0, model.transmat > 0.0
        if starts.all() and pairs.all():
            return self
        return self._replace(
            start=self.start * starts, transition=self.transition * pairs
        )

    def draw(
        self,
        rng: np.random.Generator,
        start: np.ndarray,
        pairs: np.ndarray,
        statistics: np.ndarray,
    ) -> StateModel:
        """Draw parameters from their posterior, given counts of states."""
        return StateModel(
            rng.dirichlet(self.start + start),
            draw_rows(rng, self.transition + pairs),
            self.emission.draw(rng, statistics),
        )

    def mode(self, expected: ExpectedCounts, statistics: np.ndarray) -> StateModel:
        """Posterior mode of the parameters: the M-step."""
        return StateModel(
            mode_of_rows(self.start, expected.start),
            mode_of_rows(self.transition, expected.pairs),
            self.emission.mode(statistics),
        )

    def log_density(self, parameters: StateModel) -> float:
        """Log prior density, up to a constant."""
        return (
            log_dirichlet(self.start, parameters.startprob[None])
            + log_dirichlet(self.transition, parameters.transmat)
            + self.emission.log_prior(parameters.emission)
        )


def walk(rng: np.random.Generator, model: StateModel, n_steps: int) -> np.ndarray:
    """Draw states of a sequence of this many steps, without observations.

    Examples
    --------
    >>> turns = StateModel(np.array([0.0, 1.0]), 1.0 - np.eye(2), np.eye(2))
    >>> walk(np.random.default_rng(0), turns, 4)
    array([1, 0, 1, 0], dtype=int32)
    """
    rows = np.cumsum(np.vstack([model.transmat, model.startprob]), axis=1)
    goal, states, state = rng.random(n_steps), np.empty(n_steps, dtype=np.int32), -1
    for t in range(n_steps):
        below = rows[state]
        state = int(np.searchsorted(below, goal[t] * below[-1], side="right"))
        states[t] = state
    return states
