"""Normals with missing entries against SciPy's marginals and exact EM."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.wording import refuses

from clearwood.distributions import partial_normal
from clearwood.exceptions import InputError

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "spn.json").read_text(encoding="utf-8")
)["gaussian_leaf"]["cases"]


@pytest.fixture(scope="module")
def rows():
    """Rows of four columns far from 0, of many patterns, and their distribution."""
    rng = np.random.default_rng(0)
    half = rng.normal(size=(4, 4))
    mean, covariance = np.array([1e6, -3.0, 0.0, 1e3]), half @ half.T
    values = rng.multivariate_normal(mean, covariance, 200)
    values[rng.random(values.shape) < 0.4] = np.nan
    values[:3] = np.nan
    return values, mean, covariance


@pytest.mark.parametrize("case", GOLDEN)
@pytest.mark.parametrize("kind", ["ml", "shrunk"])
def test_golden_em(case, kind):
    case, golden = GOLDEN[case], GOLDEN[case][kind]
    values = np.array(case["rows"], dtype=float)
    weight, least = np.ones(len(values)), np.full(case["d"], 1e-9)
    prior = np.array(golden["start"]["variances"])
    steps = golden["first_iterations"]
    for before, after in zip(steps, steps[1:]):
        mean, covariance = np.array(before["mean"]), np.array(before["cov"])
        found = partial_normal.log_density(values, mean, covariance).sum()
        assert found == pytest.approx(before["log_likelihood"], rel=1e-12)
        moments = partial_normal.expected_moments(values, weight, mean, covariance)
        assert moments[0] == golden["n_rows_used"]
        mean, covariance = partial_normal.maximise(
            moments, mean, least, golden["kappa"], prior
        )
        np.testing.assert_allclose(mean, after["mean"], rtol=1e-11)
        np.testing.assert_allclose(covariance, after["cov"], rtol=1e-11, atol=1e-14)
    found = partial_normal.fit(values, weight, least, golden["kappa"], 1e-13)
    np.testing.assert_allclose(found[0], golden["mean"], rtol=1e-8)
    np.testing.assert_allclose(found[1], golden["cov"], rtol=1e-8)
    asked = np.array([one["row"] for one in golden["log_density"]], dtype=float)
    expected = [one["log_density"] for one in golden["log_density"]]
    np.testing.assert_allclose(
        partial_normal.log_density(asked, *found), expected, rtol=1e-8, atol=1e-12
    )


def test_log_density_is_that_of_the_marginal(rows):
    values, mean, covariance = rows
    found = partial_normal.log_density(values, mean, covariance)
    assert (found[:3] == 0.0).all()
    for row, one in zip(values[3:30], found[3:]):
        at = np.flatnonzero(~np.isnan(row))
        outside = stats.multivariate_normal(mean[at], covariance[np.ix_(at, at)])
        expected = outside.logpdf(row[at]) if len(at) else 0.0
        assert one == pytest.approx(expected, rel=1e-9)


def test_moments_are_those_of_draws(rows):
    """The E-step is the mean over completed tables."""
    values, mean, covariance = rows
    weight = np.linspace(0.5, 1.5, len(values))
    total, sums, products = partial_normal.expected_moments(
        values, weight, mean, covariance
    )
    assert total == pytest.approx(weight[~np.isnan(values).all(axis=1)].sum())
    rng = np.random.default_rng(1)
    used = ~np.isnan(values).all(axis=1)
    gaps = np.array([
        partial_normal.draw_missing(rng, values, mean, covariance)[used] - mean
        for _ in range(400)
    ])  # fmt: skip
    present = ~np.isnan(values[used])
    assert (gaps[0][present] == (values[used] - mean)[present]).all()
    each = np.einsum("sni,n->si", gaps, weight[used])
    error = 5 * each.std(axis=0) / 20 + 1e-9
    assert (np.abs(each.mean(axis=0) - sums) < error).all()
    each = np.einsum("sni,snj,n->sij", gaps, gaps, weight[used])
    error = 5 * each.std(axis=0) / 20 + 1e-9
    assert (np.abs(each.mean(axis=0) - products) < error).all()


def test_offsets_and_units_change_nothing_else(rows):
    values, *_ = rows
    values, least = values[:, 1:] / 10, np.full(3, 1e-6)
    weight = np.ones(len(values))
    mean, covariance = partial_normal.fit(values, weight, least, 2.0)
    unit, offset = np.array([1e-5, 1.0, 1e4]), np.array([1.0, 1e7, -1e8])
    found = partial_normal.fit(values * unit + offset, weight, least * unit**2, 2.0)
    np.testing.assert_allclose((found[0] - offset) / unit, mean, atol=1e-6)
    np.testing.assert_allclose(found[1] / np.outer(unit, unit), covariance, atol=1e-5)


def test_no_direction_falls_below_the_floor():
    """Of columns that agree, the floor is the whole of what is left of one."""
    x = np.linspace(0, 1, 20)
    values, least = np.column_stack([x, 1e3 * x]), np.array([1e-4, 1e2])
    mean, covariance = partial_normal.fit(values, np.ones(20), least)
    scaled = covariance / np.sqrt(np.outer(least, least))
    low, high = np.linalg.eigvalsh(scaled)
    assert low == pytest.approx(1.0)
    # Twice the variance in the same units; what is above the floor stays.
    assert high == pytest.approx(2 * x.var() / 1e-4)
    assert np.isfinite(partial_normal.log_density(values, mean, covariance)).all()


def test_rows_without_weight_do_not_count(rows):
    values, *_ = rows
    weight = (np.arange(len(values)) % 2).astype(float)
    least = np.full(4, 1e-6)
    np.testing.assert_allclose(
        partial_normal.fit(values, weight, least)[1],
        partial_normal.fit(values[1::2], np.ones(len(values) // 2), least)[1],
        rtol=1e-6,
    )


def test_no_rows_and_no_covariance():
    none = np.zeros((0, 2))
    assert partial_normal.log_density(none, np.zeros(2), np.eye(2)).shape == (0,)
    with refuses(InputError):
        partial_normal.log_density(np.zeros((1, 2)), np.zeros(2), np.ones((2, 2)))
