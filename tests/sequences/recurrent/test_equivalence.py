import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.equivalence import equivalent, quotient, similar


def naive_equivalent(transition, classes, longest):
    """States are equivalent if no word leads to different classes."""
    n, a = transition.shape
    same = classes[:, None] == classes[None]
    for _ in range(longest):
        same = same & np.all(
            [same[np.ix_(transition[:, c], transition[:, c])] for c in range(a)], axis=0
        )
    return same


AUTOMATA = st.integers(0, 10**6).map(
    lambda seed: (
        np.random.default_rng(seed).integers(8, size=(8, 2)),
        np.random.default_rng(seed + 1).integers(2, size=8),
    )
)


@given(AUTOMATA)
def test_equivalent_states_are_those_that_no_word_tells_apart(automaton):
    transition, classes = automaton
    found = equivalent(transition, classes)
    same = naive_equivalent(transition, classes, len(transition))
    np.testing.assert_array_equal(found[:, None] == found[None], same)


@given(AUTOMATA, st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_a_quotient_reads_words_as_the_whole_does(automaton, word):
    transition, labels = automaton
    classes = equivalent(transition, labels)
    whole = StateAutomaton(
        transition[0], transition, np.ones_like(transition), np.empty(0)
    )
    small = quotient(whole, classes)
    word = np.array(word)
    np.testing.assert_array_equal(classes[whole.run(word)], small.run(word))


def test_a_class_takes_its_most_frequent_transition():
    whole = StateAutomaton(
        np.array([0]), np.array([[0], [2], [2]]), np.array([[1], [5], [0]]), np.empty(0)
    )
    small = quotient(whole, np.array([0, 0, 1]))
    assert small.transition.tolist() == [[1], [1]]
    assert small.counts.tolist() == [[6], [0]]


@pytest.mark.parametrize(("width", "wanted"), [(0.0, [0, 1, 2]), (0.05, [0, 1, 0])])
def test_predictions_within_a_width_are_similar(width, wanted):
    output = np.array([[0.9, 0.1], [0.1, 0.9], [0.8, 0.2]])
    assert similar(output, width).tolist() == wanted
