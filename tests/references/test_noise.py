"""The noise variance with which held-out errors have their predictive variance."""

import numpy as np
import pytest

from clearwood.references.base import calibrated_noise


def check_noise_of(errors, variance, found):
    """Squared errors are one on average, relative to the predictive variance."""
    with np.errstate(divide="ignore"):
        without = np.mean(errors**2 / variance)
    if without <= 1:
        assert found == 0
    else:
        assert np.mean(errors**2 / (variance + found)) == pytest.approx(1, rel=1e-6)


def test_it_is_the_mean_square_where_draws_agree():
    errors = np.array([1.0, -3.0, 2.0])
    assert calibrated_noise(errors**2, np.zeros(3)) == pytest.approx(14 / 3, rel=1e-12)
    assert calibrated_noise(np.zeros(3), np.ones(3)) == 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("noise", [0.0, 0.3, 4.0])
def test_it_is_that_of_the_errors(seed, noise):
    rng = np.random.default_rng(seed)
    variance = rng.exponential(size=2000)
    errors = np.sqrt(variance + noise) * rng.normal(size=2000)
    found = calibrated_noise(errors**2, variance)
    check_noise_of(errors, variance, found)
    # The mean of 2,000 squares has a standard error of 0.03; the noise, relative to the
    # harmonic mean of the variances, about as much.
    assert abs(found - noise) < 0.2 * (0.5 + noise)
    assert calibrated_noise(4 * errors**2, 4 * variance) == pytest.approx(4 * found)


def test_rows_on_which_all_draws_agree_are_not_certain():
    """Though draws differ, on average, by more than the errors."""
    variance = np.append(np.zeros(50), np.full(50, 30.0))
    errors = np.append(np.full(50, 1.0), np.full(50, 2.0))
    assert np.mean(errors**2) < variance.mean()
    assert 0.4 < calibrated_noise(errors**2, variance) < 1.1
