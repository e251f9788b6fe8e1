import numpy as np
import pytest
from tests.wording import refuses

from clearwood.exceptions import InputError, ModelError
from clearwood.sequences.recurrent.trace import (
    encode_sequences,
    last_steps,
    read_sequences,
)


@pytest.mark.parametrize(
    ("sequences", "symbols", "wanted"),
    [
        ("aba", "ab", [[0, 1, 0]]),
        (["ab", "b"], ["a", "b"], [[0, 1], [1]]),
        ([["to", "be"], ["be"]], ["be", "to"], [[1, 0], [0]]),
        ([1, 0, 1], "ab", [[1, 0, 1]]),
        (np.array([[0, 1], [1, 1]]), None, [[0, 1], [1, 1]]),
        (np.array([[0], [1], [1]]), None, [[0, 1, 1]]),
        (np.array(["to", "be"]), ["be", "to"], [[1, 0]]),
        (iter([[0, 1], [1]]), None, [[0, 1], [1]]),
    ],
)
def test_sequences_of_all_spellings(sequences, symbols, wanted):
    found = encode_sequences(sequences, symbols)
    assert [line.tolist() for line in found] == wanted


@pytest.mark.parametrize(
    ("sequences", "symbols"),
    [
        ("abc", None),
        ("abc", "ab"),
        ("ab", "aba"),
        ("", "ab"),
        (["ab", ""], "ab"),
        ([[1, 2], [[3, 4]]], None),
        ("a", "ab"),
        ([], None),
        ([0.5, 1.0], None),
        ([[0, 1], [1, -1]], None),
    ],
)
def test_sequences_that_cannot_be_read_are_refused(sequences, symbols):
    with refuses(InputError):
        encode_sequences(sequences, symbols)


@pytest.mark.parametrize(
    ("lengths", "share", "n_held_out"),
    [([10], 0.2, 2), ([2], 0.01, 1), ([2], 0.99, 1), ([5, 3, 2], 0.2, 2),
     ([5, 3, 2], 0.3, 5), ([5, 3, 2], 0.99, 5), ([1, 9], 0.01, 9)],
)  # fmt: skip
def test_the_end_is_held_out_in_whole_sequences(lengths, share, n_held_out):
    held_out = last_steps(np.array(lengths), share)
    assert held_out.sum() == n_held_out and held_out[-n_held_out:].all()


def test_a_trace_knows_what_follows_and_how_old_sequences_are():
    lines = [np.array([0, 1, 2]), np.array([1]), np.array([2, 0])]
    read = lambda codes: (codes[:, None], np.zeros((len(codes), 3)))  # noqa: E731
    trace = read_sequences(read, lines, 0.2)
    assert trace.age.tolist() == [0, 1, 2, 0, 0, 1]
    assert trace.following.tolist() == [1, 2, -1, -1, 0, -1]
    assert [line.tolist() for line in trace.sequences] == [x.tolist() for x in lines]
    np.testing.assert_allclose(np.exp(trace.log_proba), 1 / 3)


@pytest.mark.parametrize(
    "logits",
    [
        np.full((4, 2), 0.5),
        np.array([[0.0, 1], [0, 1], [0, np.nan], [0, 1]]),
        np.zeros((3, 2)),
        np.zeros(4),
    ],
)
def test_predictions_that_are_none_are_refused(logits):
    with refuses(ModelError):
        read_sequences(lambda _: (np.zeros((4, 1)), logits), [np.zeros(4, int)], 0.5)


@pytest.mark.parametrize("returned", [np.zeros((2, 2)), (np.zeros((2, 1)),), None])
def test_a_function_returns_states_and_logits(returned):
    with refuses(ModelError):
        read_sequences(lambda _: returned, [np.zeros(2, int)], 0.5)


def test_masked_symbols_are_allowed():
    logits = np.array([[0.0, -np.inf], [0.0, 0.0]])
    trace = read_sequences(lambda _: (logits, logits), [np.zeros(2, int)], 0.5)
    assert trace.log_proba[0].tolist() == [0.0, -np.inf]
