"""Moments of truncated normal distributions, and references of them."""

import numpy as np
import pytest
from scipy import integrate, stats
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references.truncated import truncated_moments

INTERVALS = [
    (0.0, np.inf),
    (-np.inf, 0.5),
    (-1.0, 2.0),
    (6.0, np.inf),
    (-np.inf, -30.0),
    (3.0, 3.01),
    (60.0, 61.0),
]
LOCATION, SD = np.array([0.0, 1.0, -2.0]), np.array([1.0, 2.0, 0.7])


@pytest.mark.parametrize("bounds", INTERVALS)
def test_moments_are_those_of_scipy(bounds):
    low, high = ((np.array(end) - LOCATION) / SD for end in bounds)
    expected = stats.truncnorm(low, high, LOCATION, SD)
    mean, variance = truncated_moments(LOCATION, SD**2, bounds)
    np.testing.assert_allclose(mean, expected.mean(), rtol=1e-10)
    # Both cancel in the far tail: 1 + a m - m^2 has an error of a^2 rounding errors.
    np.testing.assert_allclose(variance, expected.var(), rtol=1e-5)


@pytest.mark.parametrize("bounds", INTERVALS[:3])
def test_moments_are_integrals_of_the_density(bounds):
    found = truncated_moments(LOCATION, SD**2, bounds)
    for i, (location, sd) in enumerate(zip(LOCATION, SD)):
        ends = np.clip(bounds, location - 40 * sd, location + 40 * sd)

        def moment(power, location=location, sd=sd, ends=ends):
            def term(y):
                return y**power * np.exp(-0.5 * ((y - location) / sd) ** 2)

            near = [np.clip(location, *ends)]
            return integrate.quad(term, *ends, points=near, epsabs=0)[0]

        mean = moment(1) / moment(0)
        variance = moment(2) / moment(0) - mean**2
        np.testing.assert_allclose([m[i] for m in found], [mean, variance], rtol=1e-7)


def test_infinite_bounds_change_nothing():
    bounds = -np.inf, np.inf
    found = truncated_moments(LOCATION, SD**2, bounds)
    np.testing.assert_allclose(found, [LOCATION, SD**2], rtol=1e-14)


def test_given_draws_and_functions_are_truncated_alike():
    X = np.arange(6.0)[:, None]
    shift, variance = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 4.0])
    settings = {"bounds": (0.0, 4.0), "noise_variance": variance}
    given = cw.reference(shift[:, None] + X.T - 3, X, **settings)
    function = cw.reference(
        lambda X, draw: shift[draw] + X[:, 0] - 3, X, n_draws=3, **settings
    )
    expected = truncated_moments(
        shift[:, None] + X.T - 3, np.repeat(variance[:, None], 6, axis=1), (0.0, 4.0)
    )
    for reference in (given, function):
        np.testing.assert_allclose(reference.draws(X), expected[0])
        np.testing.assert_allclose(reference.noise_variance(X), expected[1])


@pytest.mark.parametrize(
    "settings",
    [
        {"bounds": (1.0, 1.0), "noise_variance": 1.0},
        {"bounds": (0.0, np.inf)},
        {"bounds": (0.0, np.inf), "task": "counts"},
        {"bounds": (0.0, np.inf), "horizons": [1.0]},
        {"horizons": [2.0, 1.0]},
        {"horizons": "soon"},
        {"horizons": [1.0], "classes": ["a", "b"]},
        {"horizons": [1.0], "task": "counts"},
        {"task": "survival"},
    ],
)
def test_settings_that_do_not_fit_are_refused(settings):
    with refuses(InputError):
        cw.reference(np.full((2, 3), 0.5), np.arange(3.0)[:, None], **settings)


@pytest.mark.parametrize("curve", [(1.2, 0.5), (0.6, -0.1), (0.6, 0.7)])
def test_survival_falls_from_1_to_0(curve):
    draws = np.tile(curve, (2, 3, 1))
    with refuses(InputError):
        cw.reference(draws, np.arange(3.0)[:, None], horizons=[1.0, 2.0])


def test_chains_and_a_single_horizon_are_read():
    X, draws = np.arange(3.0)[:, None], np.full((4, 3), 0.5)
    one = cw.reference(draws, X, horizons=2)
    assert one.draws(X).shape == (4, 3, 1)
    chains = cw.reference(np.full((2, 4, 3, 1), 0.5), X, horizons=2)
    assert chains.draws(X).shape == (8, 3, 1)
    np.testing.assert_array_equal(one.predict(X), 0.5)
