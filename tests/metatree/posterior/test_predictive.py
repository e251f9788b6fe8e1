"""The kernel that finds quantiles of mixtures of Student's t."""

import numpy as np
import pytest
from scipy import special

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.metatree import NormalNormalGamma
from clearwood.metatree.posterior.predictive import Predictive

LEVELS = np.array([1e-9, 1e-3, 0.05, 0.5, 0.77, 0.95, 1 - 1e-6])


def quantiles(weight, m, a, b, p=LEVELS):
    arrays = [np.array(v, dtype=float, ndmin=2) for v in (weight, m, a, b)]
    return _kernels.mixture_quantiles(*arrays, p, special.ndtri(p))


def test_student_against_scipy():
    rng = np.random.default_rng(0)
    a = np.exp(rng.uniform(np.log(0.3), np.log(1e5), 20_000))
    a[::3] = rng.integers(1, 60, len(a[::3])) / 2
    t = rng.normal(scale=5, size=len(a))
    t[::7] = rng.standard_cauchy(len(t[::7])) * 100
    expected = special.stdtr(2 * a, t)
    found = _kernels.student_cdf(t, a)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize(
    ("t", "a", "expected"),
    [
        # By integrals of the density with 30 digits (mpmath).
        (2.85e-5, 0.5, 0.50000907183175378),
        (-2.5, 1e4, 0.0062136370659971128),
        (-1.75, 1e6, 0.040059233536044648),
        (-5.0, 1e7, 2.8665398780660788e-7),
        (0.3, 1e5, 0.61791126629678748),
    ],
)
def test_student_where_digits_cancel(t, a, expected):
    found = _kernels.student_cdf(np.array([t]), np.array([a]))[0]
    assert found == pytest.approx(expected, rel=2e-14)


def test_student_far_out():
    t = np.array([-np.inf, -1e200, 0.0, 1e200, np.inf])
    found = _kernels.student_cdf(t, np.full(5, 2.0))
    assert found.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("width", [1e-6, 0.1, 10.0])
def test_quantiles_are_where_the_levels_are_reached(width):
    rng = np.random.default_rng(1)
    shape = (20, 60)
    weight = rng.dirichlet(np.full(60, 0.1), 20)
    m, a = rng.normal(size=shape), np.exp(rng.uniform(0, 9, shape))
    scale = width * np.exp(rng.normal(size=shape))
    for level, q in zip(LEVELS, quantiles(weight, m, a, a * scale**2).T):
        # Where parts are narrow, the next numbers are some way off.
        step = 8 * np.spacing(np.abs(q))
        slack = 1e-11 * min(level, 1 - level) + 1e-15
        for y, sign in ((q - step, 1), (q + step, -1)):
            part = special.stdtr(2 * a, (y[:, None] - m) / scale)
            gap = (weight * part).sum(axis=1) - level
            assert (sign * gap <= slack).all()


def test_one_part_is_its_own_mixture():
    q = quantiles([1.0], [3.0], [2.0], [8.0])[0]
    np.testing.assert_allclose(q, 3.0 + 2.0 * special.stdtrit(4.0, LEVELS), rtol=1e-9)


def test_parts_without_weight_do_not_matter():
    alone = quantiles([1.0], [3.0], [2.0], [8.0])
    beside = quantiles([1.0, 0.0], [3.0, -1e9], [2.0, 0.1], [8.0, 1e30])
    np.testing.assert_allclose(beside, alone, rtol=1e-12)


def test_many_light_parts_between_heavy_ones_count():
    # Without the light ones, half the way would be nowhere near.
    weight = np.r_[0.25, 0.25, np.full(50_000, 1e-5)][None]
    m = np.r_[-5.0, 5.0, np.full(50_000, 4.0)][None]
    ones = np.full(m.shape, 50.0)
    q = quantiles(weight, m, ones, ones * 0.01, np.array([0.3]))[0, 0]
    part = special.stdtr(100.0, (q - m) / 0.1)
    assert (weight * part).sum() == pytest.approx(0.3, rel=1e-9)


def test_spikes_narrower_than_the_numbers_are():
    q = quantiles([0.3, 0.7], [1e9, 2e9], [50.0, 50.0], [1e-20, 1e-20])[0]
    np.testing.assert_allclose(q[LEVELS < 0.3], 1e9, rtol=1e-15)
    np.testing.assert_allclose(q[LEVELS > 0.3], 2e9, rtol=1e-15)


def test_as_by_halving():
    rng = np.random.default_rng(2)
    n = rng.integers(0, 40, (5, 8)).astype(float)
    stats = np.stack([n, rng.normal(size=n.shape), n * rng.random(n.shape)], axis=-1)
    weight = rng.dirichlet(np.ones(8), 5)
    p = Predictive(NormalNormalGamma(), stats, weight, np.arange(5))
    for level in (0.01, 0.6):
        np.testing.assert_allclose(p.quantile(level), p._quantile(level), rtol=1e-11)
