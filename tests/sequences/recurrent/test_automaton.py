import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sequences.recurrent.traces import (
    TRACES,
    golden,
    made_trace,
    naive_automaton,
)

from clearwood.sequences.recurrent.automaton import (
    StateAutomaton,
    count_automaton,
    distilled,
    unseen_share,
)
from clearwood.sequences.recurrent.trace import NetworkTrace

FACTS = golden("fidelity")


def golden_trace():
    n = len(FACTS["symbols"])
    with np.errstate(divide="ignore"):
        log_proba = np.log(np.array(FACTS["teacher"]))
    return NetworkTrace(
        np.array(FACTS["symbols"]), np.array([0]), np.zeros((n, 1)), log_proba,
        np.zeros(n, dtype=bool),
    )  # fmt: skip


def golden_automaton():
    transition = np.array(FACTS["transition"])
    first = transition[FACTS["initial_state"]]
    return StateAutomaton(first, transition, transition, np.array(FACTS["output"]))


def test_the_golden_automaton_runs_alone():
    states = golden_automaton().run(np.array(FACTS["symbols"]))
    assert states.tolist() == FACTS["automaton_alone"]["states"]


def test_golden_tables_are_distilled():
    trace = golden_trace()
    for name in ("distilled", "distilled_read", "constant_baseline"):
        facts = FACTS[name]
        wanted = np.atleast_2d(facts["output"])
        found = distilled(trace, np.array(facts["states"]), len(wanted))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@given(TRACES, st.integers(1, 4), st.integers(0, 1000))
def test_moves_are_counted_as_one_would_by_hand(trace, n_states, seed):
    states = np.random.default_rng(seed).integers(n_states, size=len(trace.codes))
    found = count_automaton(trace, states, n_states, trace.states)
    first, table, counts = naive_automaton(trace, states, n_states)
    assert found.counts.tolist() == counts
    assert found.transition.tolist() == table
    assert found.first.tolist() == first
    alone = found.run(trace.codes, trace.starts)
    np.testing.assert_allclose(found.output, distilled(trace, alone, n_states))
    np.testing.assert_allclose(found.output.sum(axis=1), 1.0)


def test_pairs_that_training_had_not_are_told():
    trace = made_trace([4, 4], n_symbols=2, n_held_out=4)
    trace.codes[:] = [0, 0, 1, 1, 1, 0, 0, 1]
    automaton = StateAutomaton(
        np.array([0, 1]), np.array([[0, 1], [0, 1]]),
        np.array([[3, 0], [1, 2]]), np.full((2, 2), 0.5),
    )  # fmt: skip
    # Alone 1, 0, 0, 1: of the three moves the last is one from 0 with 1.
    assert unseen_share(automaton, trace) == pytest.approx(1 / 3)


def test_every_sequence_begins_anew():
    automaton = golden_automaton()
    one, two = np.array([0, 0, 1]), np.array([2, 0])
    both = automaton.run(np.concatenate([one, two]), np.array([0, 3]))
    apart = np.concatenate([automaton.run(one), automaton.run(two)])
    np.testing.assert_array_equal(both, apart)
    assert not np.array_equal(both, automaton.run(np.concatenate([one, two])))


def test_a_group_without_training_steps_says_what_is_said_on_average():
    trace = made_trace([6, 4], n_held_out=3)
    groups = np.where(trace.is_held_out, 1, 0)
    found = distilled(trace, groups, 2)
    mean = np.exp(trace.log_proba[~trace.is_held_out]).mean(axis=0)
    np.testing.assert_allclose(found, [mean, mean])
