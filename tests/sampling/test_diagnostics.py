"""R-hat and effective sample size, beside ArviZ and beside what theory says."""

import numpy as np
import pytest

from clearwood.sampling import bulk_ess, split_rhat
from clearwood.sampling.diagnostics import diagnose


def chains(phi, shift=0.0, n=301, n_chains=4, seed=0):
    """Autoregressive chains; ``shift`` moves each of them from the one before."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n_chains, n))
    draws = np.zeros((n_chains, n))
    for t in range(1, n):
        draws[:, t] = phi * draws[:, t - 1] + noise[:, t]
    return draws + shift * np.arange(n_chains)[:, None]


@pytest.mark.parametrize(
    ("draws", "rhat", "ess", "mcse"),
    [
        (chains(0.0), 1.00176010742, 1102.401611631, 0.02949949286),
        (chains(0.5), 1.00732865145, 361.336362178, 0.06006339033),
        (
            chains(-0.5, n=300),
            0.99989401453,
            3695.017495257,
            0.01847813729,
        ),
        (
            np.round(chains(0.3)),
            1.00297491347,
            606.170146232,
            0.04335472048,
        ),
    ],
)
def test_the_numbers_of_arviz(draws, rhat, ess, mcse):
    """Written down from ArviZ 1.3.0 (rhat, ess, mcse with their defaults)."""
    found = diagnose(draws)
    assert found.rhat == pytest.approx(rhat, rel=1e-9)
    assert found.ess == pytest.approx(ess, rel=1e-9)
    assert found.mcse == pytest.approx(mcse, rel=1e-9)


@pytest.mark.parametrize("phi", [0.0, 0.6, 0.9])
def test_effective_size_of_autoregressive_chains(phi):
    draws = chains(phi, n=20_000, n_chains=2)
    expected = 40_000 * (1 - phi) / (1 + phi)
    assert bulk_ess(draws) == pytest.approx(expected, rel=0.1)


def test_chains_that_differ_in_place_or_in_spread():
    draws = np.random.default_rng(0).normal(size=(4, 1000))
    assert split_rhat(draws) < 1.01
    assert split_rhat(draws + np.arange(4)[:, None]) > 1.3
    assert split_rhat(draws * np.array([1, 1, 1, 4])[:, None]) > 1.05
    # A trend shows within one chain.
    assert split_rhat(draws[:1] + np.linspace(0, 3, 1000)) > 1.2


def test_draws_that_never_change():
    constant = np.ones((4, 50))
    assert split_rhat(constant) == 1.0
    assert bulk_ess(constant) == 200.0
    stuck = constant * np.arange(4)[:, None]
    assert split_rhat(stuck) == np.inf
    assert bulk_ess(stuck) < 10.0


def test_too_few_draws_say_nothing():
    few = np.arange(6.0).reshape(2, 3)
    assert np.isnan(split_rhat(few))
    assert np.isnan(bulk_ess(few))
    assert np.isnan(diagnose(np.ones((1, 1))).ess)


def test_four_draws_of_a_chain_are_enough():
    four = np.random.default_rng(0).normal(size=(3, 4))
    assert np.isfinite(split_rhat(four)) and np.isfinite(bulk_ess(four))
    assert split_rhat(np.ones((3, 4))) == 1.0


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_indicators_as_numbers_have_the_same_diagnosis(share):
    uniform = np.random.default_rng(0).random((4, 301))
    draws = uniform < share + 0.01 * np.arange(4)[:, None]
    found, expected = diagnose(draws), diagnose(draws.astype(float))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert diagnose(draws | True) == diagnose((draws | True).astype(float))
    assert np.isnan(diagnose(draws[:, :3]).rhat)
