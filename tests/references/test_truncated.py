"""Moments of truncated normal distributions, and references of them."""

import re

import numpy as np
import pytest
from scipy import integrate
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.exceptions import InputError, OutsideBoundsWarning
from clearwood.references.truncated import truncated_moments

INTERVALS = [
    (0.0, np.inf),
    (-np.inf, 0.5),
    (-1.0, 2.0),
    (6.0, np.inf),
    (-np.inf, -30.0),
    (3.0, 3.01),
    (60.0, 61.0),
    (300.0, np.inf),
    (-np.inf, -1e4),
    (1e8, 1e8 + 1),
]
LOCATION, SD = np.array([0.0, 1.0, -2.0]), np.array([1.0, 2.0, 0.7])


@pytest.mark.parametrize("bounds", INTERVALS)
def test_moments_are_integrals_of_the_density(bounds):
    mean, variance = truncated_moments(LOCATION, SD**2, bounds)
    for i, (location, sd) in enumerate(zip(LOCATION, SD)):
        # Distances from the mode: differences of far numbers would lose digits.
        mode = np.clip(location, *bounds)
        slope = (mode - location) / sd**2
        far = min(40 * sd, 40 / max(abs(slope), 1e-9))
        ends = np.clip(np.array(bounds) - mode, -far, far)

        def moment(power, about=0.0, slope=slope, sd=sd, ends=ends):
            def term(t):
                return (t - about) ** power * np.exp(-slope * t - 0.5 * (t / sd) ** 2)

            points = np.append(np.linspace(*ends, 9), np.clip(0, *ends))
            least = 1e-16 * np.ptp(ends) ** (power + 1)
            options = {"epsabs": least, "epsrel": 1e-12, "limit": 200}
            return integrate.quad(term, *ends, points=points, **options)[0]

        shift = moment(1) / moment(0) if slope or ends.sum() else 0.0
        np.testing.assert_allclose(mean[i], mode + shift, rtol=1e-12, atol=1e-12)
        spread = moment(2, shift) / moment(0)
        np.testing.assert_allclose(variance[i], spread, rtol=1e-10)


def test_variance_in_the_far_tail_keeps_its_digits():
    """By the series of the Mills ratio it is near 1 / a^2 - 6 / a^4."""
    end = np.array([100.0, 300.0, 1000.0, 1e6])
    variance = truncated_moments(-end, np.ones(4), (0.0, np.inf))[1]
    np.testing.assert_allclose(variance, (1 - 6 / end**2) / end**2, rtol=1e-6)


def test_infinite_bounds_change_nothing():
    bounds = -np.inf, np.inf
    found = truncated_moments(LOCATION, SD**2, bounds)
    np.testing.assert_allclose(found, [LOCATION, SD**2], rtol=1e-12, atol=1e-12)


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
        {"bounds": (1.0,), "noise_variance": 1.0},
        {"bounds": 1.0, "noise_variance": 1.0},
        {"bounds": ("low", "high"), "noise_variance": 1.0},
        {"bounds": (0.0, 1.0, 2.0), "noise_variance": 1.0},
        {"bounds": (0.0, np.inf)},
        {"bounds": (0.0, np.inf), "task": "counts"},
        {"bounds": (0.0, np.inf), "horizons": [1.0]},
        {"horizons": [2.0, 1.0]},
        {"horizons": "soon"},
        {"horizons": [1.0], "classes": ["a", "b"]},
        {"horizons": [1.0], "task": "counts"},
        {"task": "survival"},
        {"horizons": [1.0], "noise_variance": 1.0},
        {"classes": ["a", "b"], "noise_variance": 1.0},
        {"task": "counts", "noise_variance": [0.0, 1.0]},
        {"time_unit": "years"},
        {"horizons": [1.0], "time_unit": 5},
    ],
)
def test_settings_that_do_not_fit_are_refused(settings):
    X = np.arange(3.0)[:, None]
    with refuses(InputError) as refusal:
        cw.reference(np.full((2, 3), 0.5), X, **settings)
    with pytest.raises(InputError, match=re.escape(str(refusal.value))):
        reference = cw.reference(lambda X, draw: [0.5] * 3, n_draws=2, **settings)
        reference.draws(X)


def test_bounds_in_another_unit_are_noted():
    X, settings = np.arange(3.0)[:, None], {"noise_variance": 1.0, "n_draws": 2}
    with warns(OutsideBoundsWarning):
        cw.reference(np.full((2, 3), 5.0), X, bounds=(1000, 2000), **settings)
    with pytest.warns(OutsideBoundsWarning):
        cw.reference(lambda X, draw: 5 + X[:, 0], X, bounds=(-9, -1), **settings)
    # A few rows outside are none.
    cw.reference(np.tile([-50.0, -9, 1], (2, 1)), X, bounds=(0, 1e9), **settings)


@pytest.mark.parametrize("curve", [(1.2, 0.5), (0.6, -0.1), (0.6, 0.7)])
def test_survival_falls_from_1_to_0(curve):
    draws = np.tile(curve, (2, 3, 1))
    with refuses(InputError):
        cw.reference(draws, np.arange(3.0)[:, None], horizons=[1.0, 2.0])


def test_chains_and_a_single_horizon_are_read():
    X, draws = np.arange(3.0)[:, None], np.full((4, 3), 0.5)
    one = cw.reference(draws, X, horizons=2)
    assert one.draws(X).shape == (4, 3, 1)
    # Without a dimension of horizons, and of classes, too.
    bare = np.linspace(0.1, 0.9, 24).reshape(2, 4, 3)
    for settings in ({"horizons": 2}, {"classes": ["a", "b"]}):
        found = cw.reference(bare, X, **settings).draws(X)
        assert (found[..., -1] == bare.reshape(8, 3)).all()
    # Times of events, of which draws say whether a row is alive.
    times = np.array([[1.0, 2.0, 3.0], [3.0, 5.0, 9.0]])
    alive = times[..., None] > np.array([1.5, 4.0])
    for draws in (alive, alive.astype(int)):
        found = cw.reference(draws, X, horizons=[1.5, 4])
        assert found.draws(X).tolist() == [[[0.5, 0.0], [1.0, 0.5], [1.0, 0.5]]]
        assert found.n_draws == 1 and not found.is_posterior
    with refuses(InputError):
        cw.reference(3 * alive, X, horizons=[1.5, 4])
    chains = cw.reference(np.full((2, 4, 3, 1), 0.5), X, horizons=2)
    assert chains.draws(X).shape == (8, 3, 1)
    np.testing.assert_array_equal(one.predict(X), 0.5)
