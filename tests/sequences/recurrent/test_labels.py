"""Networks that give labels, per step or per sequence, and that read numbers."""

import numpy as np
import pytest
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood._words.numbers import short_text
from clearwood.exceptions import InputError, ModelError
from clearwood.reporting import summarize
from clearwood.sequences import explain_rnn
from clearwood.sequences.recurrent.vectors import input_classes, number_sequences

RNG = np.random.default_rng(0)
LINES = [RNG.integers(2, size=12) for _ in range(40)]
PARITY = np.log(np.array([[0.9, 0.1], [0.2, 0.8]]))


def parity(codes):
    odd = np.cumsum(codes) % 2
    return odd[:, None].astype(float), PARITY[odd]


def parity_of_all(codes):
    states, logits = parity(codes)
    return states, logits[-1:]


def test_a_label_per_step_is_explained():
    e = explain_rnn(parity, LINES, n_states=5, symbols="ab", labels=["even", "odd"])
    assert e.n_states == 2
    assert e.fidelity_["automaton alone"].agreement == 1
    assert np.isnan(e.fidelity_["constant"].log_likelihood_loss)
    assert (e.symbols, e.outputs) == (("a", "b"), ("even", "odd"))
    same_text(str(e))
    words = {line["output"]: line["words"] for line in summarize(e)["states"]["words"]}
    assert words["odd"][:3] == ["b", "ab", "ba"]


def test_there_may_be_more_labels_than_symbols():
    def thirds(codes):
        count = np.cumsum(codes) % 3
        return np.eye(3)[count], 5 * np.eye(3)[count]

    e = explain_rnn(thirds, LINES, n_states=6, labels="xyz")
    assert e.automaton_.transition.shape == (3, 2)
    assert e.output_.shape == (3, 3)
    assert e.fidelity_["automaton alone"].agreement == 1


def test_a_label_per_sequence_is_explained_at_every_beginning():
    settings = {"n_states": 5, "labels": ["even", "odd"]}
    one = explain_rnn(parity_of_all, LINES, **settings)
    two = explain_rnn(parity, LINES, **settings)
    np.testing.assert_array_equal(one.trace.log_proba, two.trace.log_proba)
    assert one.fidelity_ == two.fidelity_ or one.n_states == two.n_states == 2


def levels(codes):
    """Numbers: 0, 2 or 6, by the number of ones so far, and a little noise."""
    count = np.cumsum(codes) % 3
    noise = 0.01 * np.sin(np.arange(len(codes)))
    return np.eye(3)[count], np.array([0.0, 2.0, 6.0])[count, None] + noise[:, None]


def test_numbers_are_explained_by_their_classes():
    e = explain_rnn(levels, LINES, n_states=6, labels=5)
    assert e.n_states == len(e.outputs) == 3, "noise makes no classes of its own"
    np.testing.assert_allclose(np.sort(e.values_[:, 0]), [0, 2, 6], atol=0.01)
    assert min(e.r2_.values()) > 0.999
    assert e.fidelity_["automaton alone"].agreement == 1
    same_text(str(e))
    tiles = [tile[:2] for tile in summarize(e)["states"]["tiles"]]
    assert tiles.count(("Variance explained", "100 %")) == 2


def test_variance_is_explained_by_the_mean_of_each_state():
    def both(codes):
        states, values = levels(codes)
        return states, np.hstack([values, -(values**2)])

    e = explain_rnn(both, LINES, n_states=2, labels=3, tolerance=0.9)
    held_out, states = e.trace.is_held_out, e.states_
    outputs = np.concatenate([both(line)[1] for line in LINES])
    means = [outputs[~held_out & (states == k)].mean(axis=0) for k in range(e.n_states)]
    gap = outputs[held_out] - np.array(means)[states[held_out]]
    share = (gap**2).mean(axis=0) / outputs[held_out].var(axis=0)
    assert e.r2_["states read"] == pytest.approx(1 - share.mean())
    np.testing.assert_allclose(e.values_, means)
    for seed in range(5):
        e = explain_rnn(both, LINES, n_states=6, labels=3, random_state=seed)
        for value, output in zip(e.values_, e.output_):
            name = e.outputs[output.argmax()]
            assert ("x0↑" in name) == (value[0] > 3)
            assert ("x1↑" in name) == (value[0] < 1)


def test_the_page_shows_the_mean_output_of_states(tmp_path):
    def page_of(e):
        cw.report(e, tmp_path / "page.html", overwrite=True)
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    e = explain_rnn(levels, LINES, n_states=6, labels=5)
    states = summarize(e)["states"]
    assert [line["value"] for line in states["states"]] == [
        short_text(value) for value in e.values_[:, 0]
    ]
    page = page_of(e)
    assert "Mean output" in page and "Loss of log-likelihood" not in page
    e = explain_rnn(parity, LINES, n_states=5, labels=["even", "odd"])
    assert "Mean output" not in page_of(e)


def test_a_number_per_sequence_is_explained_at_every_beginning():
    def last(codes):
        states, values = levels(codes)
        return states, values[-1:]

    one = explain_rnn(last, LINES, n_states=5, labels=3)
    two = explain_rnn(levels, LINES, n_states=5, labels=3)
    np.testing.assert_array_equal(one.trace.log_proba, two.trace.log_proba)
    assert one.r2_ == two.r2_


def test_a_constant_number_has_one_state():
    e = explain_rnn(lambda c: (levels(c)[0], np.ones((len(c), 1))), LINES, labels=3)
    assert (e.n_states, e.outputs, e.values_.tolist()) == (1, ("1",), [[1.0]])


def test_numbers_of_one_step_are_a_row():
    with refuses(ModelError):
        explain_rnn(lambda c: (levels(c)[0], levels(c)[1] * np.nan), LINES, labels=3)
    with refuses(ModelError):
        explain_rnn(lambda c: (levels(c)[0], levels(c)[1][:, 0]), LINES, labels=3)
    with refuses(InputError):
        explain_rnn(levels, LINES, labels=1)
    with refuses(InputError):
        explain_rnn(levels, LINES)
    with refuses(InputError):
        explain_rnn(lambda r: (r, r[:, :1]), [RNG.normal(size=(9, 3))] * 3)


def test_functions_that_look_ahead_are_found_out():
    def ahead(codes):
        states, logits = parity(codes)
        return states[::-1], logits[::-1]

    with refuses(ModelError):
        explain_rnn(ahead, LINES, labels=["even", "odd"])


@pytest.mark.parametrize(
    "change",
    [
        {"labels": ["only one"]},
        {"symbols": 4},
        {"symbols": "a"},
        {"sequences": [np.ones((4, 2)), np.full((3, 2), np.nan)]},
        {"sequences": np.ones((9, 2)), "symbols": "ab"},
    ],
)
def test_labels_and_numbers_that_do_not_fit_are_refused(change):
    given = {"sequences": LINES, "labels": ["even", "odd"]} | change
    with refuses(InputError):
        explain_rnn(parity, **given)


def thermostat(rows):
    """On below -1, off above 1, otherwise as before."""
    on, states = 0, []
    for value in rows[:, 0]:
        on = 1 if value < -1 else 0 if value > 1 else on
        states.append(on)
    return np.array(states, dtype=float)[:, None], PARITY[states]


def test_numbers_are_read_in_classes():
    rows = [RNG.choice([-2.0, 0.0, 2.0], size=(60, 1)) for _ in range(10)]
    rows = [own + RNG.normal(0, 0.05, own.shape) for own in rows]
    e = explain_rnn(thermostat, rows, n_states=6, symbols=3, labels=["off", "on"])
    assert e.n_states == 2 and len(e.symbols) == 3
    assert e.fidelity_["automaton alone"].agreement == 1
    assert e.counterexample_.n_different == 0
    cold = next(i for i, name in enumerate(e.symbols) if "x0↓" in name)
    on = int(e.output_[:, 1].argmax())
    assert (e.automaton_.transition[:, cold] == on).all()


def test_arrays_of_numbers_are_told_from_codes():
    assert number_sequences(np.ones((5, 2), dtype=int)) is None
    assert number_sequences("text") is None
    assert number_sequences(LINES) is None
    assert [own.shape for own in number_sequences(np.ones((3, 5, 2)))] == [(5, 2)] * 3
    assert len(number_sequences([np.ones((5, 2)), np.ones((3, 2))])) == 2


def test_held_out_rows_do_not_make_the_classes():
    rows = RNG.normal(size=(100, 2))
    changed = np.vstack([rows[:80], rows[80:] + 100.0])
    one, two = (input_classes([own], 5, 0.2, 0) for own in (rows, changed))
    np.testing.assert_array_equal(one[2], two[2])
    assert one[1] == two[1]


def test_modules_of_every_kind_are_explained():
    from tests.sequences.recurrent.modules import nn, torch

    class Network(nn.Module):
        def __init__(self, inner, size, is_sequence):
            super().__init__()
            self.inner, self.linear = inner, nn.Linear(size, 2)
            self.is_sequence = is_sequence

        def forward(self, rows):
            if isinstance(self.inner, nn.GRUCell):
                hidden, state = [], None
                for step in rows.unbind(1):
                    state = self.inner(step, state)
                    hidden.append(state)
                return self.linear(torch.stack(hidden, 1))
            hidden, _ = self.inner(rows)
            return self.linear(hidden.mean(1) if self.is_sequence else hidden)

    rows = [RNG.normal(size=(9, 3)).astype("f4") for _ in range(8)]
    torch.manual_seed(0)
    both = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
    stacked = nn.LSTM(3, 4, 2, batch_first=True)
    for inner, size, is_sequence in (
        (nn.GRUCell(3, 4), 4, False), (both, 8, True), (stacked, 4, False),
    ):  # fmt: skip
        network = Network(inner, size, is_sequence)
        e = explain_rnn(network, rows, n_states=4, labels=["no", "yes"])
        assert e.trace.states.shape == (72, size)
        with torch.no_grad():
            whole = network(torch.as_tensor(rows[0])[None])[0]
        found = e.trace.log_proba[:9]
        wanted = whole.log_softmax(-1).numpy()
        np.testing.assert_allclose(
            found[-1:] if is_sequence else found, wanted.reshape(-1, 2), atol=1e-5
        )
    # The end of a layer that reads backwards is at the first step.
    with torch.no_grad():
        _, (last, _) = both(torch.as_tensor(rows[0])[None])
    e = explain_rnn(Network(both, 8, True), rows, n_states=4, labels=["no", "yes"])
    np.testing.assert_allclose(e.trace.states[8], last.flatten().numpy(), atol=1e-5)
    with refuses(ModelError):
        explain_rnn(Network(both, 8, False), rows, labels=["no", "yes"])
