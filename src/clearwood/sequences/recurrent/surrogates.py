"""States of a network and their automaton, for one number of clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.sequences.recurrent.automaton import (
    StateAutomaton,
    count_automaton,
    distil,
    distilled,
    with_start,
)
from clearwood.sequences.recurrent.equivalence import merge_states, quotient, ranked
from clearwood.sequences.recurrent.fidelity import (
    SurrogateFidelity,
    alone_divergence,
    divergence,
    held_out_fidelity,
)
from clearwood.sequences.recurrent.quantizers import QUANTIZERS
from clearwood.sequences.recurrent.trace import NetworkTrace

MOST_STARTS, MOST_MERGED = 3, 10_000
"""Maximum numbers of clusterings, of which the one with the best automaton is taken,
and of training steps on which automata are compared while states are merged."""


class Surrogate(NamedTuple):
    """States of the network, and their automaton.

    Attributes
    ----------
    states : ndarray of int of shape (n_steps,)
    output : ndarray of shape (n_states, n_symbols)
        Mean prediction of the network in each state.
    automaton : StateAutomaton
    read, alone : SurrogateFidelity
        With states read from the network, and of the automaton alone.
    loss : float
        Share of the network's behaviour in training that the automaton, alone, does not
        explain.
    """

    states: np.ndarray
    output: np.ndarray
    automaton: StateAutomaton
    read: SurrogateFidelity
    alone: SurrogateFidelity
    loss: float


def fit_surrogate(
    trace: NetworkTrace,
    places: np.ndarray,
    n_clusters: int,
    quantizer: str,
    tolerance: float,
    rng: np.random.Generator,
) -> Surrogate:
    """Cluster the vectors, count transitions, and merge equivalent states.

    ``places`` are the vectors in coordinates with meaningful distances; ``tolerance``
    is the accepted loss of explained share.
    """
    some = trace.training(MOST_MERGED)
    no_state = np.zeros(len(some.codes), dtype=np.int64)
    constant = divergence(some, distilled(some, no_state, 1), no_state) or 1.0
    least, allowed = np.inf, tolerance * constant
    for _ in range(MOST_STARTS):
        clusters = QUANTIZERS[quantizer](trace, places, n_clusters, rng)
        found = ranked(clusters, ~trace.is_held_out)
        own = distilled(trace, found, int(found.max()) + 1)
        counted = count_automaton(trace, found, len(own), places)
        alone = alone_divergence(some, counted)
        if not np.isfinite(least) or alone < least:
            least, clustering = alone, (found, own, counted)
        # With clusters that determine the next ones, the automaton alone loses little.
        if alone - divergence(some, own, found[: len(no_state)]) <= allowed:
            break
    states, output, automaton = clustering
    visits = np.bincount(states[~trace.is_held_out], minlength=len(output))
    classes = merge_states(some, automaton, output, visits, allowed)
    automaton = distil(with_start(quotient(automaton, classes), trace), trace)
    states = classes[states]
    output = distilled(trace, states, automaton.n_states)
    alone_states = automaton.run(trace.codes, trace.starts)
    return Surrogate(
        states,
        output,
        automaton,
        held_out_fidelity(trace, output, states),
        held_out_fidelity(trace, automaton.output, alone_states),
        alone_divergence(some, automaton) / constant,
    )
