"""The normal-inverse-Wishart model, beside golden posteriors and its own draws."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.wording import refuses

from clearwood.distributions.normal_wishart import NormalInverseWishart
from clearwood.exceptions import InputError

CASES = json.loads(
    (Path(__file__).parents[1] / "golden" / "hmm.json").read_text()
)["ffbs"]["niw_conditionals"]["cases"]  # fmt: skip


def known(case):
    prior = case["prior"]
    mu = np.array(prior["mu_0"], dtype=float)
    rows = np.array(case["data"], dtype=float).reshape(-1, len(mu))
    gap = rows - mu
    psi = np.array(prior["Psi_0"], dtype=float)
    before = NormalInverseWishart(mu, prior["kappa_0"], prior["nu_0"], psi)
    return before, (float(len(rows)), gap.sum(axis=0), gap.T @ gap)


@pytest.mark.parametrize("name", CASES)
def test_golden_posteriors(name):
    case = CASES[name]
    before, rows = known(case)
    after = before.posterior(*rows)
    found = [after.mu, after.kappa, after.nu, after.psi]
    for value, key in zip(found, ("mu_n", "kappa_n", "nu_n", "Psi_n")):
        np.testing.assert_allclose(value, case[key], rtol=1e-12, atol=1e-14)
    # Likelihood times prior is evidence times posterior.
    mean, covariance = before.draw(np.random.default_rng(3))
    law = stats.multivariate_normal(mean, covariance)
    likelihood = sum(law.logpdf(row) for row in case["data"])
    # Both densities leave out the same power of 2 pi.
    prior = before.log_density(mean, covariance)
    evidence = likelihood + prior - after.log_density(mean, covariance)
    assert evidence == pytest.approx(case["log_marginal_likelihood"], abs=1e-10)


def test_the_mode_is_highest():
    after = known(CASES["six_points"])[0].posterior(*known(CASES["six_points"])[1])
    mean, covariance = after.mode()
    top = after.log_density(mean, covariance)
    rng = np.random.default_rng(0)
    for _ in range(20):
        root = np.eye(2) + 0.05 * rng.normal(size=(2, 2))
        near = root @ covariance @ root.T
        assert after.log_density(mean + 0.05 * rng.normal(size=2), near) < top
    rows = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    flat = NormalInverseWishart.flat(np.zeros(2))
    mean, covariance = flat.posterior(3.0, rows.sum(axis=0), rows.T @ rows).mode()
    np.testing.assert_allclose(mean, rows.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True))


def test_draws_have_the_moments_of_the_posterior():
    after = known(CASES["six_points"])[0].posterior(*known(CASES["six_points"])[1])
    rng, n = np.random.default_rng(0), 4000
    means, covariances = map(np.array, zip(*(after.draw(rng) for _ in range(n))))
    expected = after.psi / (after.nu - 3)
    error = covariances.std(axis=0) / np.sqrt(n)
    assert (np.abs(covariances.mean(axis=0) - expected) < 4 * error).all()
    error = means.std(axis=0) / np.sqrt(n)
    assert (np.abs(means.mean(axis=0) - after.mu) < 4 * error).all()
    spread, wanted = np.cov(means.T), expected / after.kappa
    np.testing.assert_allclose(spread, wanted, atol=0.1 * wanted.max())
    # The precision is Wishart: its mean is nu times the inverse scale.
    precision = np.linalg.inv(covariances).mean(axis=0)
    np.testing.assert_allclose(
        precision, after.nu * np.linalg.inv(after.psi), rtol=0.05
    )


def test_shapes_are_checked():
    with refuses(InputError):
        NormalInverseWishart(np.zeros(2), 1.0, 3.0, np.eye(3))
