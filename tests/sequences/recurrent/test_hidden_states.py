import numpy as np
import pytest
from tests.sequences.recurrent.modules import (
    Speaker,
    nn,
    random_codes,
    speaker,
    torch,
)
from tests.wording import refuses, same_text

from clearwood.exceptions import InputError, ModelError
from clearwood.sequences.recurrent.hidden_states import find_layer, read_network

CODES = random_codes(30)


def naive_states(network, codes, depth, lstm_state):
    """The last state of every beginning of the sequence, as torch gives it."""
    lines = []
    with torch.no_grad():
        for end in range(1, len(codes) + 1):
            codes_so_far = torch.as_tensor(codes[:end])
            _, last = network.inner(network.lookup(codes_so_far))
            h, c = last if isinstance(last, tuple) else (last, last)
            chosen = {"h": [h], "c": [c], "both": [h, c]}[lstm_state]
            lines.append(torch.cat([each[depth] for each in chosen]).numpy())
    return np.array(lines)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize(
    ("kind", "options", "layer", "lstm_state"),
    [
        ("RNN", {}, None, "h"),
        ("RNN", {"num_layers": 3, "nonlinearity": "relu"}, 1, "h"),
        ("GRU", {"num_layers": 2}, 0, "h"),
        ("GRU", {"num_layers": 2, "bias": False}, -1, "h"),
        ("LSTM", {}, None, "c"),
        ("LSTM", {"num_layers": 2, "bias": False}, 0, "both"),
        ("LSTM", {"num_layers": 2, "proj_size": 3}, 1, "c"),
        ("LSTM", {"num_layers": 2, "proj_size": 3}, ("inner", 0), "both"),
    ],
)
def test_states_are_those_of_torch_at_every_step(
    kind, options, layer, lstm_state, batch_first
):
    network = speaker(kind, batch_first=batch_first, **options)
    chosen = find_layer(network, layer, lstm_state)
    states, logits = read_network(network, chosen, CODES, lstm_state=lstm_state)
    wanted = naive_states(network, CODES, chosen.depth, lstm_state)
    np.testing.assert_allclose(states, wanted, rtol=0, atol=1e-12)
    axis = 0 if batch_first else 1
    said, _ = network(torch.as_tensor(CODES).unsqueeze(axis))
    said = said.squeeze(axis).detach().numpy()
    np.testing.assert_allclose(logits, said, rtol=0, atol=1e-12)


def test_first_states_that_a_network_hands_in_count():
    class Learnt(Speaker):
        def forward(self, codes):
            first = torch.full((2, 1, 4), 0.5, dtype=torch.float64)
            return super().forward(codes, (first, -first))

    network = Learnt(nn.LSTM(2, 4, 2, batch_first=True, dtype=torch.float64))
    states, _ = read_network(
        network, find_layer(network, 1, "c"), CODES, lstm_state="c"
    )
    with torch.no_grad():
        first = torch.full((2, 4), 0.5, dtype=torch.float64)
        line = network.lookup(torch.as_tensor(CODES))
        _, (_, cells) = network.inner(line, (first, -first))
    np.testing.assert_allclose(states[-1], cells[1], rtol=0, atol=1e-12)


def test_a_network_that_steps_through_time_itself_is_read():
    class Stepping(Speaker):
        def forward(self, codes):
            after, said = None, []
            for code in codes[0]:
                line, after = super().forward(code[None, None], after)
                said.append(line[0])
            return torch.cat(said)

    inner = nn.GRU(2, 4, batch_first=True, dtype=torch.float64)
    network = Stepping(inner).eval()
    states, logits = read_network(network, find_layer(network), CODES)
    assert logits.shape == (30, 3)
    np.testing.assert_allclose(
        states, naive_states(network, CODES, 0, "h"), rtol=0, atol=1e-12
    )


def test_the_network_is_afterwards_what_it_was():
    network = speaker(num_layers=2, dropout=0.5)
    network.train()
    network.inner.eval()
    before = torch.get_rng_state()
    chosen = find_layer(network, 0, "both")
    one, _ = read_network(network, chosen, CODES, lstm_state="both")
    two, said = read_network(network, chosen, CODES, lstm_state="both")
    np.testing.assert_array_equal(one, two)
    assert torch.equal(before, torch.get_rng_state())
    assert network.training and network.dropout.training
    assert not network.inner.training
    assert not network.inner._forward_hooks
    assert all(p.grad is None and p.requires_grad for p in network.parameters())

    def broken(module, codes):
        module(codes[None])
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        read_network(network, chosen, CODES, predict=broken)
    assert network.training and not network.inner._forward_hooks


def test_a_user_may_say_how_the_network_is_run():
    network = speaker()
    states, logits = read_network(
        network, find_layer(network), CODES,
        predict=lambda module, codes: module(codes[None])[0][0] * 2,
    )  # fmt: skip
    plain_states, plain = read_network(network, find_layer(network), CODES)
    np.testing.assert_array_equal(states, plain_states)
    np.testing.assert_allclose(logits, 2 * plain)


@pytest.mark.parametrize(
    ("network", "layer", "lstm_state"),
    [
        (nn.Linear(2, 2), None, "h"),
        (speaker(bidirectional=True), None, "c"),
        (speaker(bidirectional=True, num_layers=2), 0, "h"),
        (nn.GRUCell(2, 2), 1, "h"),
        (speaker("GRU"), None, "c"),
        (speaker(num_layers=2), 2, "h"),
        (speaker(), "outer", "h"),
        (nn.Sequential(nn.GRU(2, 2), nn.LSTM(2, 2)), None, "h"),
    ],
)
def test_layers_that_cannot_be_read_are_refused(network, layer, lstm_state):
    with refuses(ModelError):
        find_layer(network, layer, lstm_state)


def test_one_of_several_modules_is_chosen_by_name():
    network = nn.Sequential(nn.GRU(2, 2), nn.LSTM(2, 2, num_layers=2))
    assert str(find_layer(network, "0")) == "GRU '0'"
    same_text(str(find_layer(network, ("1", 0))))


@pytest.mark.parametrize(
    "predict",
    [
        lambda module, codes: module(codes[None])[0].mT,
        lambda module, codes: None,
        lambda module, codes: module(codes[None, :-1])[0],
        lambda module, codes: module(codes[None].repeat(2, 1)),
    ],
)
def test_networks_run_otherwise_are_refused(predict):
    network = speaker()
    with refuses(ModelError):
        read_network(network, find_layer(network), CODES, predict=predict)


def test_packed_sequences_and_unknown_codes_are_refused():
    from torch.nn.utils.rnn import pack_sequence

    network = speaker()

    def packed(module, codes):
        return module.inner(pack_sequence([module.lookup(codes)]))

    with refuses(ModelError):
        read_network(network, find_layer(network), CODES, predict=packed)
    with refuses(InputError):
        read_network(network, find_layer(network), np.array([0, 9]))
    takes_vectors = torch.nn.Sequential(torch.nn.RNN(3, 4), torch.nn.Linear(4, 3))
    with refuses(ModelError):
        read_network(takes_vectors, find_layer(takes_vectors), CODES)


@pytest.mark.parametrize("lstm_state", ["h", "c", "both"])
def test_cells_that_gates_see_are_those_of_the_module_itself(lstm_state):
    from clearwood.sequences.networks.layers import PeepholeLSTM

    inner = PeepholeLSTM(2, 4).double()
    with torch.no_grad():
        inner.peephole.copy_(torch.linspace(-3, 3, 12).reshape(3, 4))
    network = Speaker(inner).eval()
    states, _ = read_network(
        network,
        find_layer(network, lstm_state=lstm_state),
        CODES,
        lstm_state=lstm_state,
    )
    hidden, cell = torch.zeros(2, 1, 1, 4, dtype=torch.float64)
    for code, line in zip(CODES, states):
        with torch.no_grad():
            step = network.lookup(torch.as_tensor([[code]]))
            _, (hidden, cell) = inner(step, (hidden, cell))
        wanted = {"h": [hidden], "c": [cell], "both": [hidden, cell]}[lstm_state]
        wanted = torch.cat(wanted, 2).numpy().ravel()
        np.testing.assert_allclose(line, wanted, rtol=0, atol=1e-12)
    assert not inner._forward_hooks


def test_layers_of_a_stack_of_another_make_are_read_step_by_step():
    class Same(nn.LSTM):
        def forward(self, x, after=None):
            return super().forward(x, after)

    own = Same(2, 4, 2, dtype=torch.float64)
    network = Speaker(own).eval()
    for lstm_state in ("h", "c", "both"):
        found = find_layer(network, 0, lstm_state)
        states, _ = read_network(network, found, CODES, lstm_state=lstm_state)
        wanted = naive_states(network, CODES, 0, lstm_state)
        np.testing.assert_allclose(states, wanted, rtol=0, atol=1e-12)
