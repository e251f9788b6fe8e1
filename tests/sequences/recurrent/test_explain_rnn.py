import sys
import warnings

import numpy as np
import pytest
from tests.conftest import find_shared_data
from tests.wording import refuses, same_text, warns

from clearwood.exceptions import InputError, ModelError, PoorFidelityWarning
from clearwood.sequences import explain_rnn
from clearwood.sequences.recurrent.explain_rnn import SIZES


def cyclic(codes):
    """Counts the ones modulo four, in one number, and says where it stands."""
    count = np.cumsum(codes) % 4
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.1, 0.9]])[count]
    return count[:, None].astype(float), np.log(p)


CODES = np.random.default_rng(0).integers(2, size=600)


def test_a_machine_of_four_states_is_found_again():
    found = explain_rnn(cyclic, CODES, n_states=4)
    for name in ("states read", "automaton alone"):
        assert found.fidelity_[name].kl == pytest.approx(0, abs=1e-12)
        assert found.fidelity_[name].agreement == 1
        assert found.fidelity_[name].log_likelihood_loss == pytest.approx(0, abs=1e-12)
    automaton = found.automaton_
    assert (automaton.transition[:, 0] == np.arange(4)).all()
    state, way = 0, []
    for _ in range(4):
        state = int(automaton.transition[state, 1])
        way.append(state)
    assert sorted(way) == [0, 1, 2, 3]
    assert found.fidelity_["last 3 symbols"].kl > 0.05
    assert found.warning_ == ""


def test_a_network_of_torch_that_counts_parity_has_two_states():
    from tests.sequences.recurrent.modules import parity

    found = explain_rnn(parity(), CODES, n_states=2, symbols="ab")
    assert found.fidelity_["states read"].kl < 1e-6
    assert found.fidelity_["automaton alone"].kl < 1e-6
    assert found.automaton_.transition[:, 1].tolist() == [1, 0]
    same_text(found.network)
    assert found.symbols == ("a", "b")
    # Three vectors differ; two of them are equivalent.
    assert explain_rnn(parity(), CODES).n_states == 2


def graded(codes):
    """Predicts by the last symbol, and a little by the one before."""
    last = 2 * codes + np.append(0, codes[:-1])
    p = np.array([0.1, 0.25, 0.75, 0.9])[last]
    return np.eye(4)[last], np.log(np.column_stack([1 - p, p]))


@pytest.mark.parametrize(("tolerance", "n_states"), [(0.0, 4), (0.01, 4), (0.2, 2)])
def test_the_smallest_within_the_tolerance_is_chosen(tolerance, n_states):
    found = explain_rnn(graded, CODES, n_states=[4, 2, 1, 9], tolerance=tolerance)
    assert [own.n_states for own in found.curve_][:2] == [1, 2]
    assert found.n_states == n_states == len(found.automaton_.output)
    explained = found.fidelity_.explained("automaton alone")
    assert explained == pytest.approx(1 - (n_states == 2) * 0.084, abs=0.02)


def test_auto_tries_all_sizes_and_takes_the_largest_where_none_is_near():
    with warns(PoorFidelityWarning):
        # The next symbol is predicted by a number that is spread evenly.
        found = explain_rnn(smooth, CODES, n_states=[2, 3], tolerance=0.0)
    assert found.n_states == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFidelityWarning)
        assert len(explain_rnn(smooth, CODES, n_states="auto").curve_) == len(SIZES)


@pytest.mark.parametrize("n_states", [20, 100, 400])
@pytest.mark.parametrize("seed", [0, 1])
def test_states_that_noise_tells_apart_are_merged(n_states, seed):
    """A counter modulo four, whose vectors are noisy, is found at every size."""

    def noisy(codes):
        states, log_proba = cyclic(codes)
        rng = np.random.default_rng(seed)
        return states + rng.normal(0, 0.1, states.shape), log_proba

    found = explain_rnn(noisy, CODES, n_states=n_states, random_state=seed)
    assert found.n_states == 4
    assert (found.automaton_.transition[:, 0] == np.arange(4)).all()
    assert found.fidelity_["automaton alone"].agreement == 1
    assert found.counterexample_.n_different == 0


def test_a_word_on_which_both_differ_is_found():
    """The network is another after 110 at the beginning, which training has not."""

    def network(codes):
        states, log_proba = cyclic(codes)
        hit = [codes[: t + 1].tolist() == [1, 1, 0] for t in range(len(codes))]
        hit = np.array(hit)
        return states, np.where(hit[:, None], log_proba[:, ::-1], log_proba)

    found = explain_rnn(network, CODES, n_states=10)
    assert found.counterexample_.word == ("1", "1", "0")
    assert found.counterexample_.network != found.counterexample_.automaton
    assert found.counterexample_.n_different >= 1
    same_text(str(found.counterexample_))


def smooth(codes):
    """A number that forgets: nearly all of it is in the last two symbols."""
    state, line = 0.0, []
    for code in codes:
        state = 0.2 * state + code
        line.append(state)
    line = np.array(line)[:, None]
    return line, np.hstack([line, -line]) * 3


def test_held_out_steps_do_not_make_the_picture():
    def changed(codes):
        states, logits = cyclic(codes)
        logits[450:] = logits[450:, ::-1] - 1.0
        return states, logits

    one = explain_rnn(cyclic, CODES, n_states=4, test_size=0.25)
    with pytest.warns(PoorFidelityWarning):
        two = explain_rnn(changed, CODES, n_states=4, test_size=0.25)
    np.testing.assert_array_equal(one.output_, two.output_)
    np.testing.assert_array_equal(one.automaton_.output, two.automaton_.output)
    assert two.fidelity_["states read"].kl > 0.1


def test_several_sequences_are_several():
    parts = [CODES[:200], CODES[200:350], CODES[350:]]
    found = explain_rnn(cyclic, parts, n_states=4, test_size=0.3)
    assert found.fidelity_["automaton alone"].kl == pytest.approx(0, abs=1e-12)
    assert found.fidelity_.n_steps == 250
    assert (found.trace.following == -1).sum() == 3


def test_the_same_seed_gives_the_same():
    one, two = (explain_rnn(cyclic, CODES, n_states=3) for _ in range(2))
    np.testing.assert_array_equal(one.states_, two.states_)
    assert one.fidelity_ == two.fidelity_


@pytest.mark.parametrize(
    "change",
    [
        {"n_states": 0},
        {"n_states": "few"},
        {"n_states": []},
        {"n_states": 2.5},
        {"lstm_state": "cells"},
        {"quantizer": "grid"},
        {"test_size": 1.0},
        {"tolerance": 1.0},
        {"symbols": "abc"},
        {"layer": 0},
    ],
)
def test_settings_that_mean_nothing_are_refused(change):
    with refuses(InputError):
        explain_rnn(cyclic, CODES, **change)


def test_what_is_no_network_is_refused():
    with refuses(ModelError):
        explain_rnn("model.pt", CODES)
    with refuses(InputError):
        explain_rnn(cyclic, [0, 1, 2, 0])


def test_functions_are_read_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert explain_rnn(cyclic, CODES, n_states=4).network == "cyclic"


@pytest.mark.parametrize("codes", [[0, 1], [1, 1, 1, 1], [[0], [1]]])
def test_tiny_sequences_are_read(codes):
    found = explain_rnn(cyclic, codes, n_states=5)
    assert np.isfinite(found.fidelity_["automaton alone"].kl)


def test_a_hidden_markov_model_sorts_vectors_too():
    found = explain_rnn(cyclic, CODES, n_states=4, quantizer="hmm")
    assert found.fidelity_["automaton alone"].kl == pytest.approx(0, abs=1e-9)
    parts = [CODES[:250], CODES[250:300], CODES[300:]]
    found = explain_rnn(cyclic, parts, n_states=4, quantizer="hmm")
    assert found.fidelity_["states read"].kl == pytest.approx(0, abs=1e-9)


def test_what_reads_backwards_below_the_layer_is_found_out():
    from tests.sequences.recurrent.modules import nn, speaker, torch

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.lower = nn.RNN(2, 1, batch_first=True, bidirectional=True)
            self.upper = speaker(n_symbols=2)
            self.lower.to(self.upper.linear.weight.dtype)
            seed = torch.Generator().manual_seed(0)
            for weight in self.parameters():
                nn.init.normal_(weight, generator=seed)

        def forward(self, codes):
            seen, _ = self.lower(self.upper.lookup(codes))
            return self.upper.linear(self.upper.inner(seen)[0])

    with refuses(ModelError):
        explain_rnn(Both(), CODES, layer="upper.inner")


def test_a_cell_is_a_state_too(few_words):
    from tests.sequences.recurrent.modules import speaker

    codes = CODES[:60]
    h, c, both = (
        explain_rnn(speaker(n_symbols=2), codes, n_states=5, lstm_state=lstm_state)
        for lstm_state in ("h", "c", "both")
    )
    stacked = np.hstack([h.trace.states, c.trace.states])
    np.testing.assert_array_equal(both.trace.states, stacked)


def test_networks_of_half_precision_are_read(few_words):
    from tests.sequences.recurrent.modules import speaker, torch

    for dtype in (torch.bfloat16, torch.float16):
        network = speaker(n_symbols=2, dtype=dtype)
        found = explain_rnn(network, CODES[:60], n_states=2, lstm_state="both")
        assert np.isfinite(found.trace.states).all()


def test_a_network_on_shakespeare_is_explained_better_by_more_states():
    """Of random weights but for the last layer, which is fitted to 6,000 letters."""
    from tests.sequences.recurrent.modules import nn, speaker, torch

    path = find_shared_data("data/text/tinyshakespeare.txt.xz")
    import lzma

    text = lzma.open(path, "rt").read()[:6_000]
    symbols = sorted(set(text))
    codes = np.array([symbols.index(letter) for letter in text])
    network = speaker("GRU", n_symbols=len(symbols))
    network.inner = nn.GRU(2, 24, batch_first=True, dtype=torch.float64)
    for i, p in enumerate(network.inner.parameters()):
        p.data = torch.as_tensor(np.random.default_rng(i).normal(size=p.shape))
    hidden, _ = network.inner(network.lookup(torch.as_tensor(codes)[None]))
    hidden = hidden[0].detach().numpy()
    fit = np.linalg.lstsq(hidden[:-1], np.eye(len(symbols))[codes[1:]], rcond=None)[0]
    network.linear = nn.Linear(24, len(symbols), dtype=torch.float64)
    network.linear.weight.data = torch.as_tensor(10 * fit.T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFidelityWarning)
        found = explain_rnn(network, text, n_states=[5, 20, 80], symbols=symbols)
    few, some, many = (point.read.kl for point in found.curve_)
    assert many < some < few < found.fidelity_["constant"].kl
    assert many < found.fidelity_["last symbol"].kl
    for point in found.curve_:
        assert point.read.kl < point.alone.kl < found.fidelity_["constant"].kl
