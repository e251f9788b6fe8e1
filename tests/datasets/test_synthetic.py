"""The generators: shapes, seeds, the papers' formulas, the noise, bad arguments."""

import math

import numpy as np
import pytest
from tests.wording import refuses

from clearwood.datasets import make_synthetic1, make_synthetic2, make_xor_regression
from clearwood.exceptions import InputError

CLASSIFICATION = [make_synthetic1, make_synthetic2]
ALL = [*CLASSIFICATION, make_xor_regression]


def naive_synthetic1(x1, x2):
    return int((x1 > 0.5) != (x2 > 0.5))


def naive_synthetic2(x1, x2):
    r = (
        0.25
        + 0.5 / (1 + math.exp(-20 * (x1 - 0.5)))
        + 0.05 * math.cos(2 * math.pi * x1)
    )
    return int(x2 > r)


def naive_xor(x1, x2):
    return float((x1 < 0.5) != (x2 < 0.5))


@pytest.mark.parametrize("make", ALL)
def test_shape_range_and_type(make):
    X, y = make(37, random_state=1)
    assert X.shape == (37, 2)
    assert y.shape == (37,)
    assert X.dtype == np.float64
    assert X.min() >= 0 and X.max() < 1
    assert y.dtype == (np.float64 if make is make_xor_regression else np.int64)


@pytest.mark.parametrize("make", ALL)
def test_default_is_the_size_of_the_paper(make):
    X, y = make(random_state=0)
    assert len(X) == len(y) == 1000


@pytest.mark.parametrize(
    ("make", "naive"),
    [
        (make_synthetic1, naive_synthetic1),
        (make_synthetic2, naive_synthetic2),
        (make_xor_regression, naive_xor),
    ],
)
def test_without_noise_the_target_is_the_formula(make, naive):
    X, y = make(2000, noise=0.0, random_state=2)
    np.testing.assert_array_equal(y, [naive(x1, x2) for x1, x2 in X])
    assert len(np.unique(y)) == 2


@pytest.mark.parametrize("make", CLASSIFICATION)
def test_certain_flip_gives_the_opposite_labels(make):
    _, clean = make(100, noise=0.0, random_state=3)
    _, flipped = make(100, noise=1.0, random_state=3)
    np.testing.assert_array_equal(flipped, 1 - clean)


@pytest.mark.parametrize("make", CLASSIFICATION)
def test_share_of_flipped_labels(make):
    n_samples, noise = 20_000, 0.1
    X, clean = make(n_samples, noise=0.0, random_state=4)
    X_noisy, y = make(n_samples, noise=noise, random_state=4)
    np.testing.assert_array_equal(X, X_noisy)
    # Five standard deviations of a binomial share: a correct generator fails
    # for fewer than one seed in a million.
    tolerance = 5 * math.sqrt(noise * (1 - noise) / n_samples)
    assert abs(np.mean(y != clean) - noise) < tolerance


def test_spread_of_the_regression_noise():
    n_samples, noise = 20_000, 0.3
    _, clean = make_xor_regression(n_samples, noise=0.0, random_state=5)
    _, y = make_xor_regression(n_samples, noise=noise, random_state=5)
    residual = y - clean
    # The standard error of a mean is sd / sqrt(n), that of a normal sample's
    # standard deviation sd / sqrt(2 n); five of each.
    assert abs(residual.mean()) < 5 * noise / math.sqrt(n_samples)
    assert abs(residual.std() - noise) < 5 * noise / math.sqrt(2 * n_samples)


@pytest.mark.parametrize("make", ALL)
def test_an_integer_seed_repeats_the_data(make):
    first, again, other = (make(50, random_state=seed) for seed in (6, 6, 7))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("source", [np.random.RandomState, np.random.default_rng])
def test_a_generator_is_used_and_moves_on(make, source):
    rng = source(8)
    first = make(50, random_state=rng)
    second = make(50, random_state=rng)
    again = make(50, random_state=source(8))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], second[0])


@pytest.mark.parametrize("make", ALL)
def test_no_seed_gives_new_data_and_leaves_the_global_state_alone(make):
    before = np.random.get_state()[1].copy()
    first, second = make(50), make(50)
    assert not np.array_equal(first[0], second[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("n_samples", [0, -1, 2.5, "10", True, None])
def test_bad_n_samples(make, n_samples):
    with refuses(InputError, match="n_samples"):
        make(n_samples)


@pytest.mark.parametrize("make", CLASSIFICATION)
@pytest.mark.parametrize("noise", [-0.1, 1.1, math.nan, math.inf, "0.1", None, True])
def test_bad_flip_probability(make, noise):
    with refuses(InputError):
        make(10, noise=noise)


@pytest.mark.parametrize("noise", [-0.1, math.nan, math.inf, "0.1", None])
def test_bad_standard_deviation(noise):
    with refuses(InputError):
        make_xor_regression(10, noise=noise)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("seed", [-1, 1.5, "seed", True])
def test_bad_random_state(make, seed):
    with refuses(InputError, match="random_state"):
        make(10, random_state=seed)
