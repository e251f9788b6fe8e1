"""Symbols as users hand them in: read alike by all that reads them."""

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses

from clearwood import HMMLSTM, HiddenMarkovModel, explain_rnn, state_trees
from clearwood.exceptions import InputError
from clearwood.sequences.symbols import end_to_end, symbols_in

TEXT = {
    "texts": (["ab", "a"], None),
    "texts of one letter, too": (("ab", "a"), None),
    "lists": ([["a", "b"], ["a"]], None),
    "a text and a list": (["ab", ["a"]], None),
    "arrays": ((np.array(["a", "b"]), np.array(["a"])), None),
    "Series": ([pd.Series(["a", "b"]), pd.Series(["a"])], None),
    "iterator": (iter(["ab", "a"]), None),
    "text and lengths": ("aba", [2, 1]),
    "list and lengths": (["a", "b", "a"], [2, 1]),
    "array and lengths": (np.array(["a", "b", "a"]), [2, 1]),
    "column": (np.array([["a"], ["b"], ["a"]]), [2, 1]),
}


@pytest.mark.parametrize("name", TEXT)
def test_spellings_of_several_sequences_hold_the_same(name):
    symbols, lengths = end_to_end(*TEXT[name])
    assert symbols.tolist() == ["a", "b", "a"] and lengths == [2, 1]


@pytest.mark.parametrize(
    ("X", "wanted"),
    [
        ([3, 1, 3], [3, 1, 3]),
        (list("aba"), ["a", "b", "a"]),
        ([["to", "be"]], ["to", "be"]),
        (np.array(["to", "be"]), ["to", "be"]),
        (pd.Series(["to", "be"]), ["to", "be"]),
        (pd.DataFrame({"word": ["to", "be"]}), ["to", "be"]),
        (["a", None, "b"], ["a", None, "b"]),
        (["to", 1], ["to", 1]),
        ([["a", 1], [None, "b"]], ["a", 1, None, "b"]),
    ],
)
def test_symbols_of_all_types_stay_what_they_are(X, wanted):
    symbols, lengths = end_to_end(X)
    assert symbols.tolist() == wanted
    assert lengths is None or sum(lengths) == len(wanted)


def test_with_lengths_texts_are_symbols():
    symbols, lengths = end_to_end(["to", None, "be"], [1, 2])
    assert symbols.tolist() == ["to", None, "be"] and lengths == [1, 2]


@pytest.mark.parametrize(
    "X",
    [
        "",
        [],
        ["ab", ""],
        ["ab", None],
        ["ab", [["a", "b"]]],
        np.zeros((3, 2)),
    ],
)
def test_bad_input_is_named(X):
    with refuses(InputError):
        end_to_end(X)


def of_hmm(X, lengths=None):
    model = HiddenMarkovModel(2, algorithm="em", n_init=1, n_iter=2, random_state=0)
    model.fit(X, lengths)
    assert model.predict_proba(X, lengths).shape == (len(model.predict(X, lengths)), 2)
    return model.symbols_, model._read(X, lengths).lengths


def of_network(X, lengths=None):
    pytest.importorskip("torch").set_num_threads(1)
    model = HMMLSTM(2, hybrid=None, n_epochs=1, random_state=0).fit(X, lengths=lengths)
    return model.classes_, np.diff(model._series(X, lengths=lengths).spans)[:, 0]


def of_explanation(X):
    symbols = symbols_in(end_to_end(X)[0]).tolist()
    told = np.zeros((100, len(symbols)))
    trace = explain_rnn(
        lambda codes: (codes[:, None] * 1.0, told[: len(codes)]),
        X, n_states=2, symbols=symbols,
    ).trace  # fmt: skip
    return symbols, [len(line) for line in trace.sequences]


def of_trees(X):
    cells, lengths = end_to_end(X)
    symbols = symbols_in(cells).tolist()
    assert state_trees(np.zeros((len(cells), 1)), X, symbols=symbols)
    return symbols, [len(cells)] if lengths is None else lengths


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("X", "symbols", "lengths"),
    [
        ("abba", ["a", "b"], [4]),
        (list("abba"), ["a", "b"], [4]),
        (["abb", "ba"], ["a", "b"], [3, 2]),
        ([["to", "be", "to"], ["be", "to"]], ["be", "to"], [3, 2]),
        (np.array(["to", "be", "to"]), ["be", "to"], [3]),
    ],
)
@pytest.mark.parametrize("read", [of_hmm, of_network, of_explanation, of_trees])
def test_all_that_reads_symbols_reads_them_alike(read, X, symbols, lengths):
    found, sizes = read(X)
    assert list(found) == symbols and list(sizes) == lengths


def test_iterators_are_read_once():
    pytest.importorskip("torch").set_num_threads(1)
    parts = ["abba", "ba"]
    kind = {"algorithm": "em", "n_init": 1, "n_iter": 2, "random_state": 0}
    hmm = HiddenMarkovModel(2, **kind).fit(iter(parts))
    assert hmm.log_likelihood_ == HiddenMarkovModel(2, **kind).fit(parts).score(parts)
    settings = {"hmm": HiddenMarkovModel(2, **kind), "n_epochs": 1, "random_state": 0}
    model = HMMLSTM(2, **settings).fit(iter(parts))
    assert model.score(iter(parts)) == HMMLSTM(2, **settings).fit(parts).score(parts)
