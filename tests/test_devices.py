"""Networks and tensors of torch on the CPU and on a GPU, in every precision.

Answers are those of the same network on the CPU in double precision, up to rounding.
"""

import numpy as np
import pytest
from tests.sequences.networks.with_torch import torch
from tests.sequences.recurrent.modules import parity, random_codes, speaker

import clearwood as cw
from clearwood.ensembles.black_box import predict_with, task_of, wrap_model
from clearwood.sequences import explain_rnn

# cuDNN keeps no weights of bfloat16 together; torch mentions it at every layer.
pytestmark = pytest.mark.filterwarnings("ignore:RNN module weights are not part")

NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
DEVICES = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=NO_GPU)])

# Relative to outputs of about 1. In float32 a GPU's recurrent layers multiply in TF32,
# of ten bits; half precision has ten, bfloat16 seven.
ROUNDING = {
    torch.float64: 1e-9,
    torch.float32: 5e-3,
    torch.float16: 0.02,
    torch.bfloat16: 0.1,
}
PRECISIONS = pytest.mark.parametrize("dtype", ROUNDING, ids=str)

CODES = random_codes(240).reshape(60, 4)
# Quarters are exact in every precision.
ROWS = np.round(4 * np.random.default_rng(0).normal(size=(20, 4, 2))) / 4
X = np.random.default_rng(1).normal(size=(60, 3))
TEXT = ["now here", "now there"] * 20


def dropout_network(n_out, dtype, device):
    torch.manual_seed(0)
    nn = torch.nn
    layers = nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, n_out)
    return nn.Sequential(*layers).to(device, dtype)


def close(found, wanted, dtype):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ROUNDING[dtype])


def same_explanation(found, wanted, dtype):
    close(found.trace.states, wanted.trace.states, dtype)
    # Of log probabilities, which lie between -1 and -2 here.
    close(found.trace.log_proba, wanted.trace.log_proba, dtype)


# Tables


@DEVICES
@PRECISIONS
@pytest.mark.parametrize("classes", [None, ["a", "b", "c"]])
def test_networks_with_dropout_are_references(classes, dtype, device):
    n_out = 3 if classes else 1
    settings = {"n_draws": 6, "classes": classes, "random_state": 0}
    module = dropout_network(n_out, dtype, device)
    exact = dropout_network(n_out, torch.float64, "cpu")
    exact.load_state_dict(module.state_dict())
    wanted = cw.reference(exact, X, **settings).draws(X)
    reference = cw.reference(module, X, **settings)
    draws = reference.draws(X)
    # Half precision is that of the weights, not of the sums.
    np.testing.assert_allclose(draws, wanted, atol=1e-5)
    tensor = torch.as_tensor(X, device=device, dtype=torch.float32).requires_grad_()
    close(reference.draws(tensor), wanted, torch.float32)
    again = cw.reference(module, tensor, **settings).draws(tensor)
    close(again, wanted, torch.float32)
    assert module.training and next(module.parameters()).dtype == dtype
    assert next(module.parameters()).device.type == device


@DEVICES
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_functions_and_draws_may_be_tensors(dtype, device):
    def function(rows, draw):
        values = torch.as_tensor(rows, device=device, dtype=dtype)
        return values[:, 0].requires_grad_() + draw

    def noise(rows, draw):
        return function(rows, draw) ** 2

    found = cw.reference(function, X, n_draws=3, noise_variance=noise)
    close(found.draws(X), X[:, 0] + np.arange(3)[:, None], dtype)
    draws = torch.as_tensor(X.T, device=device, dtype=dtype)
    close(cw.reference(draws, X).draws(X), X.T, dtype)


@DEVICES
@PRECISIONS
def test_functions_that_return_tensors_are_black_boxes(dtype, device):
    def function(rows):
        values = torch.as_tensor(rows, device=device, dtype=dtype)
        return values[:, :2].softmax(dim=1).requires_grad_()

    assert task_of(function, X) == "classification"
    wanted = torch.as_tensor(X)[:, :2].softmax(dim=1).numpy()
    model = wrap_model(function, X, None, "classification")
    close(model.predict_proba(X), wanted, dtype)
    assert predict_with(function, X, ["a", "b"]).shape == (len(X),)


@DEVICES
def test_tensors_are_tables_of_every_estimator(device):
    reference = cw.reference(dropout_network(1, torch.float64, device), X, n_draws=9)
    rows = torch.as_tensor(X, device=device)
    for estimator in (
        cw.ProjectedTreeRegressor(reference, random_state=0),
        cw.HiddenMarkovModel(2, emission="gaussian", algorithm="em", random_state=0),
    ):
        wanted = estimator.fit(X).predict(X)
        assert (estimator.fit(rows).predict(rows) == wanted).all()


# Recurrent networks


@DEVICES
@PRECISIONS
@pytest.mark.parametrize(
    ("kind", "options", "settings"),
    [
        ("RNN", {}, {}),
        ("GRU", {"num_layers": 2}, {"layer": 0}),
        ("GRU", {"batch_first": False}, {}),
        ("LSTM", {"num_layers": 2}, {"layer": 0, "lstm_state": "both"}),
        ("LSTM", {}, {"lstm_state": "c"}),
    ],
)
def test_recurrent_networks_are_read(kind, options, settings, dtype, device):
    def explained(network, codes):
        return explain_rnn(network, codes, n_states=3, **settings)

    network = speaker(kind, **options).to(dtype)
    exact = explained(network.double(), CODES)
    network = network.to(device, dtype).train()
    found = explained(network, CODES)
    same_explanation(found, exact, dtype)
    tensors = list(torch.as_tensor(CODES, device=device))
    apart = explained(network, tensors)
    same_explanation(apart, exact, dtype)
    assert network.training and next(network.parameters()).dtype == dtype
    assert next(network.parameters()).device.type == device


@DEVICES
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_automaton_is_the_same(dtype, device):
    codes = random_codes(1000, 2)
    wanted = explain_rnn(parity(), codes, n_states=4)
    found = explain_rnn(parity().to(device, dtype), codes, n_states=4)
    np.testing.assert_array_equal(
        found.automaton_.transition, wanted.automaton_.transition
    )
    assert found.counterexample_ == wanted.counterexample_
    same_explanation(found, wanted, dtype)


class Labelled(torch.nn.Module):
    """Rows of numbers in, logits of two labels out."""

    def __init__(self, inner, size):
        super().__init__()
        self.inner, self.linear = inner, torch.nn.Linear(size, 2)

    def forward(self, rows):
        if isinstance(self.inner, torch.nn.GRUCell):
            state, hidden = None, []
            for step in rows.unbind(1):
                state = self.inner(step, state)
                hidden.append(state)
            return self.linear(torch.stack(hidden, 1))
        hidden, _ = self.inner(rows)
        both = self.inner.bidirectional
        return self.linear(hidden.mean(1) if both else hidden)


@DEVICES
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("which", ["cell", "bidirectional", "stacked"])
def test_rows_of_numbers_are_tensors_too(which, dtype, device):
    nn, settings = torch.nn, {"n_states": 3, "symbols": 2, "labels": ["no", "yes"]}
    torch.manual_seed(0)
    inner, size = {
        "cell": lambda: (nn.GRUCell(2, 4), 4),
        "bidirectional": lambda: (
            nn.LSTM(2, 4, batch_first=True, bidirectional=True), 8
        ),
        "stacked": lambda: (nn.LSTM(2, 4, 2, batch_first=True), 4),
    }[which]()  # fmt: skip
    network = Labelled(inner, size).to(dtype).double()
    exact = explain_rnn(network, ROWS, **settings)
    network = network.to(device, dtype)
    tensor = torch.as_tensor(ROWS, device=device, dtype=torch.float32)
    for rows in (list(ROWS), tensor, list(tensor.to(dtype))):
        same_explanation(explain_rnn(network, rows, **settings), exact, dtype)


@DEVICES
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_functions_return_tensors(dtype, device):
    network = speaker("GRU").to(device, dtype)
    exact = explain_rnn(speaker("GRU"), CODES, n_states=3)

    def function(codes):
        line = torch.as_tensor(codes, device=device)
        hidden, _ = network.inner(network.lookup(line[None]))
        return hidden[0], network.linear(hidden[0])

    def predict(module, codes):
        assert codes.device.type == device
        return module(codes[None])[0][0]

    same_explanation(explain_rnn(function, CODES, n_states=3), exact, dtype)
    own = explain_rnn(network, CODES, n_states=3, predict=predict)
    same_explanation(own, exact, dtype)


# Hybrids


@DEVICES
@pytest.mark.parametrize("preset", [None, "paper"])
def test_a_hybrid_may_be_moved(preset, device, tmp_path):
    lm = cw.HMMLSTM(4, 3, hybrid="joint", n_epochs=2, random_state=0, preset=preset)
    lm.fit(TEXT)
    answers = [lm.predict_next(TEXT), lm.filter_proba(TEXT), lm.hidden_states(TEXT)]
    score, explained = lm.score(TEXT), explain_rnn(lm, TEXT, n_states=4)
    lm.network_.to(device)
    moved = [lm.predict_next(TEXT), lm.filter_proba(TEXT), lm.hidden_states(TEXT)]
    for found, wanted in zip(moved, answers):
        close(found, wanted, torch.float32)
    assert abs(lm.score(TEXT) - score) < ROUNDING[torch.float32]
    same_explanation(explain_rnn(lm, TEXT, n_states=4), explained, torch.float32)
    symbols = lm.classes_.tolist()
    alone = explain_rnn(lm.network_, TEXT, symbols=symbols, n_states=4)
    close(alone.trace.log_proba, explained.trace.log_proba, torch.float32)
    assert set(lm.sample(20, random_state=0)) <= set(symbols)
    cw.save(lm, tmp_path / "hybrid.zip")
    again = cw.load(tmp_path / "hybrid.zip")
    assert next(again.network_.parameters()).device.type == "cpu"
    close(again.predict_next(TEXT), answers[0], torch.float32)


@DEVICES
def test_gradients_pass_through_the_filter(device):
    lm = cw.HMMLSTM(4, 3, hybrid="joint", n_epochs=1, random_state=0).fit(TEXT)
    layer, codes = lm.network_.hmm, torch.as_tensor([[0, 1, 2, 1]])
    slopes = []
    for where in ("cpu", device):
        layer.to(where).zero_grad()
        _, log_likelihood = layer(codes.to(where))
        log_likelihood.sum().backward()
        slopes.append(layer.emission.grad.cpu().numpy())
    np.testing.assert_allclose(*slopes, rtol=1e-6, atol=1e-9)


def test_a_default_device_changes_nothing():
    """The device "meta", which holds no numbers, stands for any other."""
    lm = cw.HMMLSTM(4, 3, hybrid="joint", n_epochs=2, random_state=0)
    wanted = lm.fit(TEXT).score(TEXT)
    torch.set_default_device("meta")
    try:
        assert lm.fit(TEXT).score(TEXT) == wanted
    finally:
        torch.set_default_device(None)


@NO_GPU
def test_the_generators_of_gpus_are_left_as_they_are():
    torch.cuda.manual_seed(5)
    before = torch.cuda.get_rng_state()
    lm = cw.HMMLSTM(4, 3, n_epochs=1, random_state=0).fit(TEXT)
    explain_rnn(lm, TEXT, n_states=3)
    assert torch.equal(torch.cuda.get_rng_state(), before)
