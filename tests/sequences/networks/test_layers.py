"""Networks and the layer of hidden states: exact values, and gradients."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sequences.networks.naive import filter_plainly, lstm_plainly
from tests.sequences.networks.with_torch import torch

from clearwood.sequences.networks.descent import descend
from clearwood.sequences.networks.forward import loss_of
from clearwood.sequences.networks.layers import (
    HMMLayer,
    HybridNetwork,
    PeepholeLSTM,
    _Filter,
)

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "golden" / "hmm.json").read_text(encoding="utf-8")
)
LSTM, COUNTS = GOLDEN["lstm"], GOLDEN["parameter_counts"]
PARTS = {
    "lookup.weight": "lookup",
    "lstm.weight_ih_l0": "weight_ih",
    "lstm.weight_hh_l0": "weight_hh",
    "lstm.bias_ih_l0": "bias_ih",
    "lstm.bias_hh_l0": "bias_hh",
    "lstm.peephole": "peephole",
    "output.weight": "output_weight",
    "output.bias": "output_bias",
    "hmm.initial": "initial_logits",
    "hmm.transition": "transition_logits",
    "hmm.emission": "emission_logits",
}
"""What the golden facts call the parameters."""


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def golden_network(kind):
    n_states = 2 if kind in {"sequential", "joint"} else 0
    network = HybridNetwork(3, 3, 2, n_states, peephole=kind == "peephole").double()
    given = {
        "peephole": LSTM["peephole_weights"],
        "output_weight": LSTM[f"output_weight_{'hybrid' if n_states else 'lstm'}"],
        **{name: LSTM[f"hmm_{name}"] for name in PARTS.values() if "logits" in name},
    }
    names = {name: PARTS[name] for name in network.state_dict()}
    network.load_state_dict(
        {name: double(given.get(own, LSTM.get(own))) for name, own in names.items()}
    )
    if kind == "sequential":
        parts = (np.array(v) for v in (LSTM["hmm"][k] for k in HMM_PARTS))
        network.hmm.set_probabilities(*parts)
    return network


HMM_PARTS = ("initial", "transition", "emission")
INPUTS, TARGETS = (torch.tensor([LSTM[name]]) for name in ("inputs", "targets"))


@pytest.mark.parametrize("kind", ["lstm", "sequential", "joint", "peephole"])
def test_values_and_gradients_are_exact(kind):
    network, facts = golden_network(kind), LSTM[kind]
    logits, _ = network(INPUTS)
    loss = loss_of(logits, TARGETS, "sum")
    loss.backward()
    assert loss.item() == pytest.approx(facts["total_loss"], abs=1e-12)
    log_probability = logits.detach().log_softmax(2)[0]
    expected = np.array(facts["log_probabilities"])
    np.testing.assert_allclose(log_probability, expected, rtol=0, atol=1e-12)
    slopes = facts["gradient_of_total_loss"]
    found = {PARTS[n]: p.grad for n, p in network.named_parameters() if p.requires_grad}
    assert found.keys() == slopes.keys()
    for name, slope in slopes.items():
        np.testing.assert_allclose(found[name], slope, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["lstm", "peephole"])
def test_states_are_exact(kind):
    facts = LSTM["states" if kind == "lstm" else kind]
    network = golden_network(kind).requires_grad_(False)
    hidden, filtered, ((_, cell), _) = network.states(INPUTS)
    assert filtered is None
    np.testing.assert_allclose(hidden[0], facts["hidden"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(cell[0, 0], facts["cell"][-1], rtol=0, atol=1e-12)


def test_gradient_of_the_likelihood_is_exact():
    layer, facts = golden_network("joint").hmm, LSTM["hmm_only"]
    filtered, log_likelihood = layer(INPUTS)
    (-log_likelihood.sum()).backward()
    np.testing.assert_allclose(
        filtered.detach()[0], LSTM["hmm"]["filtered"], rtol=0, atol=1e-12
    )
    assert -log_likelihood.sum().item() == pytest.approx(facts["total_loss"], abs=1e-12)
    for name, parameter in layer.named_parameters():
        slope = facts["gradient_of_total_loss"][f"{name}_logits"]
        np.testing.assert_allclose(parameter.grad, slope, rtol=0, atol=1e-12)


def test_clipped_step_is_exact():
    network, facts = golden_network("joint"), LSTM["clipped_step"]
    optimiser = torch.optim.SGD(network.parameters(), lr=facts["learning_rate"])
    descend(optimiser, loss_of(network(INPUTS)[0], TARGETS, "sum"), facts["max_norm"])
    # Torch divides by the norm plus a millionth.
    for name, parameter in network.named_parameters():
        wanted = facts["new_parameters"][PARTS[name]]
        np.testing.assert_allclose(parameter.detach(), wanted, rtol=0, atol=1e-6)
    loss = loss_of(network(INPUTS)[0], TARGETS, "sum").item()
    assert loss == pytest.approx(facts["new_total_loss"], abs=1e-6)


@pytest.mark.parametrize("case", COUNTS["combinations"][::5], ids=str)
def test_parameters_are_counted_as_in_the_thesis(case):
    """It counts neither biases nor the hidden Markov model's own parameters."""
    sizes = case["n_c"], case["n_c"], case["n_s"], case["n_h"]
    ours = dict(HybridNetwork(*sizes).named_parameters())
    size = {name: p.numel() for name, p in ours.items()}
    of_hmm = sum(n for name, n in size.items() if name.startswith("hmm"))
    assert of_hmm == case["joint_hmm_logits"]
    assert sum(size.values()) - of_hmm == case["torch_module_total"]
    network = HybridNetwork(*sizes, peephole=True)
    weights = (p for n, p in network.named_parameters() if "bias" not in n)
    assert sum(p.numel() for p in weights) - of_hmm == case["thesis"]


def test_outputs_of_series_are_counted_as_in_the_thesis():
    """Table 18: 265 of the network with 5 dimensions, 275 of the hybrid."""
    for n_states, printed in ((0, 265), (5, 275)):
        network = HybridNetwork(7, 2, 5, n_states, binary=True, peephole=True)
        parts = network.named_parameters()
        weights = (p for n, p in parts if "bias" not in n and "hmm" not in n)
        assert sum(p.numel() for p in weights) == printed


# The forward recursion


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 6))
def test_smoothing_is_the_gradient(seed, n_states, n_steps):
    rng = np.random.default_rng(seed)
    predicted = double(rng.dirichlet(np.ones(n_states), 2))
    transition = double(rng.dirichlet(np.ones(n_states), n_states))
    log_emission = double(rng.normal(0, 3, (2, n_steps, n_states)))
    shapes = (2, n_steps, n_states), (2, n_steps)
    slopes = [double(rng.normal(size=shape)) for shape in shapes]
    answers = []
    for recursion in (_Filter.apply, filter_plainly):
        given = [
            x.clone().requires_grad_() for x in (predicted, transition, log_emission)
        ]
        found = recursion(*given)
        torch.autograd.backward(found, slopes)
        answers.append([*(x.detach() for x in found), *(x.grad for x in given)])
    for own, plain in zip(*answers):
        np.testing.assert_allclose(own, plain, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", GOLDEN["discrete"]["cases"])
def test_discrete_models_are_filtered_and_smoothed(name):
    case = GOLDEN["discrete"]["cases"][name]
    model = GOLDEN["discrete"]["models"][case["model"]]
    parts = [np.array(model[part]) for part in HMM_PARTS]
    layer = HMMLayer(*parts[2].shape)
    layer.set_probabilities(*parts)
    for sequence, facts in zip(case["sequences"], case["per_sequence"]):
        codes = torch.tensor([[-1 if code is None else code for code in sequence]])
        log_emission = layer.log_emission(codes).requires_grad_()
        start, transition = double(parts[0])[None], double(parts[1])
        filtered, by_step = _Filter.apply(start, transition, log_emission)
        assert by_step.sum().item() == pytest.approx(
            float(facts["log_likelihood"]), abs=1e-12
        )
        if not by_step.isfinite().all():
            continue  # What the states of an impossible sequence are, is left open.
        by_step.sum().backward()
        close = {"rtol": 0, "atol": 1e-12}
        np.testing.assert_allclose(layer(codes)[0][0], facts["filtered"], **close)
        np.testing.assert_allclose(filtered.detach()[0], facts["filtered"], **close)
        steps = facts["log_likelihood_per_step"]
        np.testing.assert_allclose(by_step.detach()[0], steps, **close)
        np.testing.assert_allclose(log_emission.grad[0], facts["smoothed"], **close)


def test_series_with_gaps_are_filtered():
    facts = GOLDEN["multivariate_binary"]
    parts = [
        np.array(facts[name])
        for name in ("initial_stationary", "transition", "emission")
    ]
    layer = HMMLayer(5, 7, binary=True)
    layer.set_probabilities(*parts)
    for case, x in (("stationary", facts["x"]), ("missing", facts["missing"]["x"])):
        rows = [[None] * 7 if row is None else row for row in x]
        filtered, steps = layer(torch.tensor(np.array([rows], dtype=np.float32)))
        close = {"rtol": 0, "atol": 1e-12}
        np.testing.assert_allclose(filtered[0], facts[case]["filtered"], **close)
        wanted = facts[case]["log_likelihood_x_per_step"]
        np.testing.assert_allclose(steps[0], wanted, **close)


@pytest.mark.parametrize("least", [0.0, 1e-310])
def test_what_no_state_explains_counts_as_missing(least):
    sure, impossible = double([[1.0, least]]), double([[[-1e5, 0.0], [0.0, -1e5]]])
    log_emission = impossible.requires_grad_()
    filtered, steps = _Filter.apply(sure, torch.eye(2).double(), log_emission)
    assert filtered.tolist() == [[[1, least], [1, 0]]]
    assert steps.tolist() == [[-np.inf, 0]]
    filtered.square().sum().backward()
    assert log_emission.grad.isfinite().all()


def test_unlikely_symbols_do_not_underflow():
    layer = HMMLayer(2, 3)
    with torch.no_grad():
        layer.emission[:] = torch.tensor([[0.0, 0.0, -900.0], [0.0, 0.0, -901.0]])
        layer.transition[:] = 0.0
    filtered, steps = layer(torch.tensor([[2, 2]]))
    wanted = torch.sigmoid(double(1.0)).item()
    np.testing.assert_allclose(filtered.detach()[0, :, 0], wanted, rtol=1e-12)
    assert steps.isfinite().all()


# Networks


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("peephole", [False, True])
def test_sequences_may_come_in_pieces(binary, peephole):
    torch.manual_seed(0)
    network = HybridNetwork(3, 3, 4, 2, binary=binary, peephole=peephole)
    inputs = torch.randint(3, (2, 7))
    if binary:
        inputs = torch.randint(2, (2, 7, 3)).float()
    with torch.no_grad():
        whole, _ = network(inputs)
        first, state = network(inputs[:, :3])
        then, _ = network(inputs[:, 3:], state)
    np.testing.assert_allclose(torch.cat([first, then], 1), whole, atol=1e-6)


def test_missing_symbols_are_zeros_to_the_network():
    network = HybridNetwork(3, 3, 4)
    with torch.no_grad():
        _, state = network(torch.tensor([[-1]]))
        hidden, _ = network.lstm(torch.zeros(1, 1, 4))
    np.testing.assert_array_equal(state[0][0][0], hidden[:, 0])


@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99))
def test_steps_with_peepholes_and_their_gradients_are_exact(streams, steps, n, seed):
    torch.manual_seed(seed)
    lstm = PeepholeLSTM(3, n).double()
    sizes = (streams, steps, 3), (streams, n), (streams, n)
    given = [torch.randn(size, dtype=torch.float64) for size in sizes]
    learning = [*(x.requires_grad_() for x in given), *lstm.parameters()]
    inputs, hidden, cell = given
    states, (_, last) = lstm(inputs, (hidden[None], cell[None]))
    expected, last_plainly = lstm_plainly(lstm, inputs, hidden, cell)
    weight = torch.randn_like(states)
    slopes = [
        torch.autograd.grad((weight * a).sum() + (b**2).sum(), learning)
        for a, b in ((states, last[0]), (expected, last_plainly))
    ]
    pairs = zip([states, last[0], *slopes[0]], [expected, last_plainly, *slopes[1]])
    for found, plain in pairs:
        np.testing.assert_allclose(
            found.detach(), plain.detach(), rtol=1e-10, atol=1e-12
        )


def test_gates_of_zero_peepholes_are_those_of_torch():
    torch.manual_seed(1)
    ours = HybridNetwork(3, 3, 4, peephole=True)
    with torch.no_grad():
        ours.lstm.peephole[:] = 0.0
    theirs = HybridNetwork(3, 3, 4)
    theirs.load_state_dict(ours.state_dict(), strict=False)
    inputs = torch.randint(3, (2, 5))
    with torch.no_grad():
        np.testing.assert_allclose(ours(inputs)[0], theirs(inputs)[0], atol=1e-6)
