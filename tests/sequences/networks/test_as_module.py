"""Fitted hybrids, read as any other network is."""

import numpy as np
import pytest
from tests.sequences.networks.with_torch import torch
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError, PoorFidelityWarning
from clearwood.sequences.networks.as_module import module_of

TEXT = "now here now there " * 15
QUICK = {"n_hidden": 4, "n_states": 3, "n_epochs": 2, "random_state": 0}

pytestmark = [
    pytest.mark.filterwarnings("ignore", category=PoorFidelityWarning),
    pytest.mark.usefixtures("few_words"),
]


@pytest.mark.parametrize("hybrid", [None, "joint"])
def test_states_are_those_of_lstm_and_hmm(hybrid):
    lm = cw.HMMLSTM(**QUICK, hybrid=hybrid).fit(TEXT)
    e = cw.explain_rnn(lm, TEXT, n_states=5)
    states = [lm.hidden_states(TEXT)]
    states += [lm.filter_proba(TEXT)] if hybrid else []
    np.testing.assert_allclose(e.trace.states, np.hstack(states), atol=1e-6)
    said = np.exp(e.trace.log_proba)
    np.testing.assert_allclose(said, lm.predict_next(TEXT), atol=1e-6)
    assert "".join(e.symbols[code] for code in e.trace.codes) == TEXT
    assert not lm.network_.lstm._forward_hooks


@pytest.mark.parametrize("lstm_state", ["h", "both"])
def test_other_states_are_those_of_the_hmm(lstm_state):
    lm = cw.HMMLSTM(**QUICK, hybrid="joint").fit(TEXT)
    e = cw.explain_rnn(lm, TEXT, n_states=5, lstm_state=lstm_state)
    wanted = lm.filter_proba(TEXT).argmax(axis=1)
    np.testing.assert_array_equal(e.other_states_, wanted)
    alone = cw.HMMLSTM(**QUICK, hybrid=None).fit(TEXT)
    assert cw.explain_rnn(alone, TEXT, n_states=5).other_states_ is None


def test_numbers_are_symbols_and_sequences_stay_apart():
    lm = cw.HMMLSTM(**QUICK, hybrid=None).fit([[7, 3, 7], [3, 7, 3, 3]])
    e = cw.explain_rnn(lm, [[7, 3, 7], [3, 3]], n_states=2)
    assert e.symbols == ("3", "7")
    assert e.trace.codes.tolist() == [1, 0, 1, 0, 0]
    assert e.trace.starts.tolist() == [0, 3]


def test_cells_of_peepholes_can_be_read():
    lm = cw.HMMLSTM(**QUICK, hybrid=None, preset="paper").fit(TEXT)
    e = cw.explain_rnn(lm, TEXT[:80], lstm_state="both", n_states=3)
    network, (codes,), _ = module_of(lm, TEXT[:80])
    with torch.no_grad():
        inside = network.lookup(torch.as_tensor(codes)[None])
        hidden, (_, cell) = network.lstm(inside)
    np.testing.assert_allclose(e.trace.states[:, :4], hidden[0], atol=1e-6)
    np.testing.assert_allclose(e.trace.states[-1, 4:], cell[0, 0], atol=1e-6)


def test_what_cannot_be_read_is_said():
    lm = cw.HMMLSTM(**QUICK, hybrid=None).fit(TEXT)
    with refuses(InputError):
        cw.explain_rnn(lm, "no!")
    with refuses(InputError):
        cw.explain_rnn(lm, TEXT, symbols="abc")
    series = np.eye(2)[[0, 1] * 20]
    lm = cw.HMMLSTM(**QUICK, hybrid=None).fit(series, [0, 1] * 20)
    with refuses(InputError):
        cw.explain_rnn(lm, TEXT)
