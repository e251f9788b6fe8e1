"""The training: what it reaches, when it ends, and what is left of it."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.interrupts import stopped_at
from tests.sequences.networks.with_torch import torch
from tests.wording import warns

from clearwood.exceptions import InterruptedFitWarning
from clearwood.sequences.networks import descent
from clearwood.sequences.networks.descent import SCHEDULES, learn, next_rate
from clearwood.sequences.networks.forward import (
    AT_A_TIME,
    log_likelihoods,
    over_time,
    reproducible,
)
from clearwood.sequences.networks.layers import HybridNetwork
from clearwood.sequences.networks.streams import Series

RATES = json.loads(
    (Path(__file__).parents[2] / "golden" / "hmm.json").read_text(encoding="utf-8")
)["lstm"]["learning_rate_rule"]
QUICK = {"n_epochs": 2, "patience": 5, "batch_size": 4, "window": 8}


@pytest.mark.parametrize(
    ("margin", "name"),
    [(1.0, "rate_after_epoch_thesis"), (0.0, "rate_after_epoch_rises_at_all")],
)
def test_rates_follow_the_rule(margin, name):
    reached, rate, rates = RATES["log_likelihood_per_epoch"], 1.0, []
    for t in range(len(reached)):
        rate = next_rate(reached[: t + 1], rate, margin)
        rates.append(rate)
    assert rates == RATES[name]
    assert SCHEDULES["paper"][1:] == (1.0, 1.0)


def two_back(n=2000, seed=0):
    """Symbols that depend, nine times in ten, on the last but one and nothing else."""
    rng = np.random.default_rng(seed)
    codes, surprise = rng.integers(3, size=n), rng.random(n) < 0.1
    for t in range(2, n):
        if not surprise[t]:
            codes[t] = (codes[t - 2] + 1) % 3
    return Series.of_symbols(codes, np.array([n]))


P = 0.9 + 0.1 / 3
CEILING = P * np.log(P) + (1 - P) * np.log((1 - P) / 2)


def trained(series, n_states=0, seed=0, **settings):
    settings = {"preset": None, **QUICK, **settings}
    with reproducible(seed):
        network = HybridNetwork(3, 3, 4, n_states)
        rng = np.random.default_rng(seed)
        return network, learn(network, series, rng=rng, **settings)


@pytest.mark.parametrize(("preset", "n_states"), [(None, 3), ("paper", 0)])
def test_training_reaches_nearly_what_can_be_known(preset, n_states):
    """Who knows the last symbol alone is at -log 3 = -1.1."""
    settings = {"n_epochs": 6, "batch_size": 2, "window": 16}
    network, history = trained(two_back(), n_states, preset=preset, **settings)
    reached = np.nanmean(log_likelihoods(network, two_back(seed=1)))
    assert history[0].training < -0.85
    # The standard error of 2000 steps is .015.
    assert CEILING - 0.1 < reached < CEILING + 0.05


def test_the_best_epoch_is_kept(monkeypatch):
    reached = iter([-2.0, -1.0, -1.5, -3.0, -1.0, -0.5])  # as good is not better
    seen = []

    def judged(network, series, batches):
        seen.append({k: v.clone() for k, v in network.state_dict().items()})
        return np.array([next(reached)])

    monkeypatch.setattr(descent, "log_likelihoods", judged)
    network, history = trained(two_back(200), n_epochs=9, patience=3)
    assert [epoch.validation for epoch in history] == [-2.0, -1.0, -1.5, -3.0, -1.0]
    assert [epoch.rate for epoch in history] == [0.01, 0.01, 0.01, 0.005, 0.0025]
    for name, weight in network.state_dict().items():
        assert torch.equal(weight, seen[1][name])


def test_ctrl_c_keeps_the_best_epoch():
    module = "clearwood.sequences.networks"
    series = two_back(300)
    with stopped_at(0, KeyboardInterrupt, module) as calls:
        whole, _ = trained(series, n_epochs=1)
    after_one = calls[0] + 20
    with (
        warns(InterruptedFitWarning),
        stopped_at(after_one, KeyboardInterrupt, module),
    ):
        network, history = trained(series, n_epochs=5)
    assert len(history) == 1
    for name, weight in network.state_dict().items():
        assert torch.equal(weight, whole.state_dict()[name])
    with pytest.raises(KeyboardInterrupt), stopped_at(60, KeyboardInterrupt, module):
        trained(series)


def test_a_seed_says_all_and_leaves_others_alone():
    torch.manual_seed(5)
    first, history = trained(two_back(300), n_states=2)
    after = torch.rand(1)
    torch.manual_seed(5)
    assert torch.equal(after, torch.rand(1))
    again, same = trained(two_back(300), n_states=2)
    assert history == same
    for one, other in zip(first.parameters(), again.parameters()):
        assert torch.equal(one, other)
    assert trained(two_back(300), n_states=2, seed=1)[1] != history


def test_one_thread_whatever_was_set():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with reproducible():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_the_state_goes_on_where_nothing_is_to_be_predicted():
    codes = np.random.default_rng(0).integers(3, size=64)
    targets = np.where(np.arange(64) < 60, -1, codes)
    few = Series.of_outputs(codes, targets)
    before, _ = trained(few, n_epochs=1, batch_size=1)
    codes = np.where(np.arange(64) < 56, (codes + 1) % 3, codes)
    after, _ = trained(Series.of_outputs(codes, targets), n_epochs=1, batch_size=1)
    changed = before.output.weight - after.output.weight
    assert changed.abs().max() > 0


def test_progress_is_shown_on_request(capsys):
    trained(two_back(200), n_epochs=2, verbose=True)
    assert "epochs:" in capsys.readouterr().err
    trained(two_back(200), n_epochs=2)
    assert capsys.readouterr().err == ""


def test_a_gradient_ends_at_its_window():
    """Were the state not cut off, torch would go back twice through one graph."""
    trained(two_back(300), n_states=2, n_epochs=1, window=4)


def test_steps_go_back_to_where_they_came_from():
    lengths = np.array([3, AT_A_TIME + 5, 40])
    codes = np.random.default_rng(0).integers(3, size=lengths.sum())
    series = Series.of_symbols(codes, lengths)
    found = over_time(series, lambda inputs, state, steps: (inputs.double(), state))
    np.testing.assert_array_equal(found, codes)


def test_sequences_are_read_from_their_beginning():
    torch.manual_seed(0)
    network = HybridNetwork(3, 3, 4, 2)
    codes = np.random.default_rng(0).integers(3, size=50)
    together = log_likelihoods(network, Series.of_symbols(codes, np.array([30, 20])))
    for first, last in ((0, 30), (30, 50)):
        alone = Series.of_symbols(codes[first:last], np.array([last - first]))
        own = log_likelihoods(network, alone)
        np.testing.assert_allclose(together[first:last], own, atol=1e-6)
    assert np.isnan(together[[29, 49]]).all()
