import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.sequences.recurrent.traces import made_trace

from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.counterexamples import (
    MOST_WORDS,
    all_words,
    example_words,
    find_counterexample,
    whole_length,
)

PARITY = StateAutomaton(
    np.array([0, 1]),
    np.array([[0, 1], [1, 0]]),
    np.ones((2, 2), dtype=int),
    np.array([[0.9, 0.1], [0.1, 0.9]]),
)


@given(st.integers(1, 600))
def test_all_words_of_a_length_are_few(n_symbols):
    length = whole_length(n_symbols)
    words = all_words(n_symbols, length)
    assert len(words) == len(np.unique(words, axis=0)) == n_symbols**length
    assert len(words) <= MOST_WORDS


def test_example_words_are_the_shortest():
    found = example_words(PARITY, 5)
    assert [w.tolist() for w in found[1]][:3] == [[1], [0, 1], [1, 0]]
    for label, words in found.items():
        assert len(words) == 5
        assert all(word.sum() % 2 == label for word in words)


def read(wrong):
    def network(codes):
        odd = np.cumsum(codes) % 2
        odd = np.where(wrong(codes), 1 - odd, odd)
        return odd[:, None], np.log(PARITY.output[odd])

    return network


def test_all_short_words_are_searched_once():
    trace = made_trace([20, 20], n_symbols=2)

    def long_runs(codes):  # wrong from the sixth of a run of ones on, once
        ones = np.cumsum(codes)
        return (ones == 6) & (np.arange(1, len(codes) + 1) == 6)

    searched = set()

    def kept(wrong):
        network = read(wrong)

        def reader(codes):
            searched.update(codes[:n].tobytes() for n in range(1, len(codes) + 1))
            # Longer words are parts of one sequence.
            assert len(codes) <= 9 or codes.tobytes() in sequences
            return network(codes)

        return reader

    sequences = b"|".join(own.tobytes() for own in trace.sequences)
    for wrong, n_least in ((lambda codes: codes > 1, 0), (long_runs, 1)):
        found = find_counterexample(
            kept(wrong), PARITY, trace, (("a", "b"),) * 2, np.random.default_rng(0)
        )
        assert found.longest == 9
        assert 2**10 - 2 + 20 < found.n_words == len(searched)
        assert found.word == ("b",) * 6 * n_least
        assert found.n_different >= n_least


def test_random_words_are_no_longer_than_those_given():
    trace = made_trace([3, 3], n_symbols=2)
    lengths = []

    def network(codes):
        lengths.append(len(codes))
        return read(lambda codes: codes > 1)(codes)

    found = find_counterexample(
        network, PARITY, trace, (("a", "b"),) * 2, np.random.default_rng(0)
    )
    assert max(lengths) == found.longest == 3
