import numpy as np
import pytest
from tests.wording import same_text

from clearwood.sequences.reading.state_words import describe_states


def words_of(text, states, n_states=2):
    symbols = sorted(set(text))
    codes = np.array([symbols.index(letter) for letter in text])
    states = np.array(states)
    output = np.full((n_states, len(symbols)), 1 / len(symbols))
    return describe_states(codes, np.arange(len(codes)), states, output, symbols)


def test_a_state_is_named_by_its_longest_typical_context():
    text = "the cat of the sea in the end " * 20
    after_the = [text[max(i - 2, 0) : i + 1] == "the" for i in range(len(text))]
    other, the = words_of(text, np.array(after_the, dtype=int))
    same_text(the.name)
    assert the.contexts == (("the", 1.0),)
    assert the.share == pytest.approx(np.mean(after_the))
    assert other.name.startswith("after ") and other.name.endswith(" ...")


def test_several_symbols_make_a_name_in_their_order():
    text = "abcabdabcabdabc\n" * 30
    states = [int(letter in "c\n") for letter in text]
    same_text(words_of(text, states)[1].name)


def test_states_that_never_are_say_so():
    # Beyond the first symbols of sequences there is no context of three.
    same_text(words_of("abab", [0, 0, 0, 0])[1].name)
    assert words_of("ab", [0, 1])[0].name == "after a"


def test_what_follows_is_said_with_its_probability():
    output = np.array([[0.1, 0.7, 0.2]])
    (words,) = describe_states(
        np.zeros(4, int), np.arange(4), np.zeros(4, int), output, ["to", "be", "or"]
    )
    assert words.predictions == (("be", 0.7), ("or", 0.2), ("to", 0.1))
    same_text(words.name)
