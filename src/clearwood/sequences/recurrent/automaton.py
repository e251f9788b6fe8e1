"""Finite automaton that approximates the transitions of a network's states."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances_argmin

from clearwood.sequences.recurrent.trace import NetworkTrace, probabilities


@dataclass(frozen=True, eq=False)
class StateAutomaton:
    """Finite automaton that reads symbols, with a prediction in each state.

    Attributes
    ----------
    first : ndarray of int of shape (n_symbols,)
        State after the first symbol of a sequence.
    transition : ndarray of int of shape (n_states, n_symbols)
        State that follows a state and a symbol.
    counts : ndarray of int of shape (n_states, n_symbols)
        Number of observations of each pair. For an unseen pair, ``transition`` is that
        of the nearest state for which the symbol was seen; for an unseen symbol, the
        state does not change.
    output : ndarray of shape (n_states, n_outputs)
        Probabilities of the next symbol, or of the labels, in each state.

    Examples
    --------
    >>> parity = StateAutomaton(
    ...     first=np.array([0, 1]),
    ...     transition=np.array([[0, 1], [1, 0]]),
    ...     counts=np.ones((2, 2), dtype=int),
    ...     output=np.array([[0.9, 0.1], [0.1, 0.9]]),
    ... )
    >>> parity.run(np.array([1, 0, 1, 1]))
    array([1, 1, 0, 1])
    """

    first: np.ndarray
    transition: np.ndarray
    counts: np.ndarray
    output: np.ndarray

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.transition)

    def run(self, codes: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
        """States after each symbol, of the automaton alone.

        Parameters
        ----------
        codes : ndarray of int of shape (n_steps,)
        starts : ndarray of int, optional
            First steps of sequences; one sequence by default.

        Returns
        -------
        ndarray of int of shape (n_steps,)
        """
        table, first = self.transition.tolist(), self.first.tolist()
        begins = {0} if starts is None else set(starts.tolist())
        found, state = [], 0
        for step, code in enumerate(codes.tolist()):
            state = first[code] if step in begins else table[state][code]
            found.append(state)
        return np.array(found, dtype=np.int64)


def unseen_share(automaton: StateAutomaton, trace: NetworkTrace) -> float:
    """Share of held-out steps at which the automaton, alone, meets an unseen pair."""
    alone = automaton.run(trace.codes, trace.starts)
    held_out = np.flatnonzero(trace.is_held_out & (trace.age > 0))
    times = automaton.counts[alone[held_out - 1], trace.codes[held_out]]
    return float(np.mean(times == 0)) if len(held_out) else 0.0


def count_automaton(
    trace: NetworkTrace, states: np.ndarray, n_states: int, places: np.ndarray
) -> StateAutomaton:
    """Automaton of the most frequent transitions of the states.

    Parameters
    ----------
    trace : NetworkTrace
    states : ndarray of int of shape (n_steps,)
        Read from the network.
    n_states : int
    places : ndarray of shape (n_steps, n_coordinates)
        Of the network's vectors, with meaningful distances.
    """
    counts, most = _moves(trace, states, n_states)
    pairs = most.reshape(n_states + 1, trace.n_symbols)
    training = np.flatnonzero(~trace.is_held_out)
    n_steps = np.bincount(states[training], minlength=n_states)
    cells = np.ones(len(training)), (states[training], np.arange(len(training)))
    total = csr_array(cells, shape=(n_states, len(training))) @ places[training]
    centres = total / np.maximum(n_steps, 1)[:, None]
    table = np.repeat(np.arange(n_states)[:, None], trace.n_symbols, axis=1)
    for code in range(trace.n_symbols):
        known = np.flatnonzero(counts[:-1, code])
        if len(known):
            nearest = pairwise_distances_argmin(centres, centres[known])
            table[:, code] = pairs[known, code][nearest]
            table[known, code] = pairs[known, code]
    automaton = StateAutomaton(
        np.maximum(pairs[-1], 0), table, counts[:-1], np.empty(0)
    )
    return distil(with_start(automaton, trace), trace)


def with_start(automaton: StateAutomaton, trace: NetworkTrace) -> StateAutomaton:
    """Automaton whose start is completed for symbols that began no sequence.

    They lead where they do from the state that is most like the start: with the same
    transitions for the symbols that began one.
    """
    begins = trace.starts[~trace.is_held_out[trace.starts]]
    began = np.bincount(trace.codes[begins], minlength=trace.n_symbols) > 0
    table, first = automaton.transition, automaton.first
    like_start = (table[:, began] == first[began]).sum(axis=1).argmax()
    return replace(automaton, first=np.where(began, first, table[like_start]))


def distil(automaton: StateAutomaton, trace: NetworkTrace) -> StateAutomaton:
    """Automaton with the network's mean prediction in each state as output.

    The mean is over the steps at which the automaton, alone, is in that state: of all
    tables the one of least divergence from the network.
    """
    alone = automaton.run(trace.codes, trace.starts)
    return replace(automaton, output=distilled(trace, alone, automaton.n_states))


def _moves(
    trace: NetworkTrace, states: np.ndarray, n_states: int
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of each pair, and its most frequent next state.

    The start counts as a separate state, the last one.
    """
    shape = n_states + 1, trace.n_symbols
    before = np.where(trace.age == 0, n_states, np.roll(states, 1))
    training = ~trace.is_held_out
    pair = before[training] * trace.n_symbols + trace.codes[training]
    move, times = np.unique(pair * n_states + states[training], return_counts=True)
    counts = np.bincount(pair, minlength=shape[0] * shape[1])
    most = np.full(len(counts), -1)
    # The most frequent transition of each pair is written last; of ties the first.
    order = np.lexsort((-move, times))
    most[move[order] // n_states] = move[order] % n_states
    return counts.reshape(shape), most


def distilled(trace: NetworkTrace, groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Mean prediction of the network in each group of training steps.

    For an empty group, its overall mean prediction.

    Parameters
    ----------
    trace : NetworkTrace
    groups : ndarray of int of shape (n_steps,)
    n_groups : int

    Returns
    -------
    ndarray of shape (n_groups, n_outputs)
    """
    total = np.zeros((n_groups, trace.log_proba.shape[1]))
    for block, p in probabilities(trace.log_proba):
        steps = np.flatnonzero(~trace.is_held_out[block])
        cells = np.ones(len(steps)), (groups[block][steps], np.arange(len(steps)))
        total += csr_array(cells, shape=(n_groups, len(steps))) @ p[steps]
    n_steps = np.bincount(groups[~trace.is_held_out], minlength=n_groups)[:, None]
    overall = total.sum(axis=0) / n_steps.sum()
    return np.where(n_steps > 0, total / np.maximum(n_steps, 1), overall)
