"""Bayesian t-tests of two methods: what they find, and what they refuse."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.projection import naive
from tests.wording import refuses, same_lines

from clearwood import compare_methods
from clearwood.exceptions import InputError
from clearwood.projection.evaluation.best import paired, two_groups
from clearwood.projection.evaluation.t_tests import correlated, shortest_interval

BEST = ("paired", "two_groups")
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def golden(golden_folder):
    return json.loads((golden_folder / "projection.json").read_text())["ttest"]


@pytest.mark.parametrize(
    ("test", "facts", "name"),
    [("two_groups", "best_two_groups", "diff"), ("paired", "best_paired", "mu")],
)
def test_best_is_that_of_another_quadrature(golden, test, facts, name):
    found = compare_methods(
        golden["y1"], golden["y2"], test=test, rope=0.01, greater_is_better=False
    )
    known = {k.removeprefix(f"{name}_"): v for k, v in golden[facts].items()}
    p = {k.removeprefix(f"P_{name}_"): v for k, v in golden[facts].items()}
    assert found.difference == pytest.approx(known["mean"], abs=1e-9)
    assert found.sd == pytest.approx(known["sd"], abs=1e-9)
    assert found.hdi == pytest.approx(known["hdi"], abs=1e-6)
    assert found.p_a_better == pytest.approx(p["below_-rope"], abs=1e-8)
    assert found.p_b_better == pytest.approx(p["above_rope"], abs=1e-8)
    assert found.p_rope == pytest.approx(p["in_rope"], abs=1e-8)


def test_best_is_near_what_a_sampler_says(golden):
    sampled = golden["jags_cross_check"]
    for test, facts in (
        ("two_groups", sampled["two_groups"]["diff"]),
        ("paired", sampled["paired"]["mu"]),
    ):
        found = compare_methods(golden["y1"], golden["y2"], test=test)
        mean, error, low, high = facts
        assert found.difference == pytest.approx(mean, abs=4 * error)
        assert found.hdi == pytest.approx((low, high), abs=1e-3)


@pytest.mark.parametrize(
    ("facts", "share"),
    [("correlated", 0.25), ("correlated_rho0", 0.0), ("correlated_rho_1_10", 0.1)],
)
def test_the_correlated_test_has_a_closed_form(golden, facts, share):
    known = golden[facts]
    found = compare_methods(golden["y1"], golden["y2"], rope=0.01, test_size=share)
    assert found.difference == pytest.approx(known["location"], abs=1e-12)
    assert found.sd == pytest.approx(known["scale"] * math.sqrt(19 / 17), rel=1e-12)
    assert found.hdi == pytest.approx(known["ci95"], abs=1e-8)
    p = found.p_b_better, found.p_rope, found.p_a_better
    assert p == pytest.approx([known[f"P_{k}"] for k in ("left", "rope", "right")])


@pytest.mark.parametrize("seed", range(3))
def test_best_is_what_plain_sums_say(seed):
    """Outliers, groups of other sizes, and one with twenty times the spread.

    The plain grid ends at six standard deviations, and has large steps.
    """
    rng = np.random.default_rng(seed)
    d = rng.standard_t(4, size=10) + 0.5
    found = compare_methods(d, np.zeros(10), test="paired")
    mean, sd, above = naive.paired(d)
    assert (found.difference, found.sd) == pytest.approx((mean, sd), abs=2e-4 * sd)
    assert found.p_a_better == pytest.approx(above, abs=0.01)
    a, b = rng.normal(size=14), rng.normal(0.2, 0.05, size=11)
    found = compare_methods(a, b, test="two_groups")
    mean, sd, above = naive.two_groups(a, b)
    assert (found.difference, found.sd) == pytest.approx((mean, sd), abs=2e-4 * sd)
    assert found.p_a_better == pytest.approx(above, abs=0.01)


def test_groups_of_very_different_spreads_and_sizes():
    """Each has a grid of its own; which comes first must not matter."""
    rng = np.random.default_rng(0)
    wide, narrow = rng.normal(size=4), 1e-9 * rng.normal(size=40)
    both = compare_methods(wide, narrow, test="two_groups")
    back = compare_methods(narrow, wide, test="two_groups")
    assert both.difference == pytest.approx(-back.difference, rel=1e-6)
    assert both.sd == pytest.approx(back.sd, rel=1e-6) and both.sd > 1.5 * wide.std()
    assert both.hdi == pytest.approx([-end for end in back.hdi[::-1]], rel=1e-5)


@given(SEEDS, st.sampled_from(("correlated", *BEST)), st.integers(-900, 900))
@settings(max_examples=4)
def test_units_and_order_do_not_matter(seed, test, power):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=8), rng.normal(0.5, 2.0, size=8)
    found = compare_methods(a, b, test=test, rope=0.25)
    unit = 2.0**power
    same = compare_methods(a * unit, b * unit, test=test, rope=0.25 * unit)
    for name in ("p_a_better", "p_rope", "p_b_better"):
        assert getattr(same, name) == getattr(found, name)
    assert (same.difference, same.sd) == (found.difference * unit, found.sd * unit)
    assert same.hdi == tuple(end * unit for end in found.hdi)
    back = compare_methods(b, a, test=test, rope=0.25)
    assert back.difference == pytest.approx(-found.difference, abs=1e-7)
    assert back.p_a_better == pytest.approx(found.p_b_better, abs=1e-6)
    loss = compare_methods(a, b, test=test, rope=0.25, greater_is_better=False)
    assert (loss.p_a_better, loss.p_b_better) == (found.p_b_better, found.p_a_better)
    assert (
        loss.difference
        == found.difference
        == pytest.approx((a - b).mean(), abs=3 * found.sd)
    )
    total = found.p_a_better + found.p_rope + found.p_b_better
    assert total == pytest.approx(1, abs=1e-12)
    # The picture leaves 0.2 % out at either end.
    x, density = compare_methods(40 * a, 40 * b, test=test).curve
    assert np.trapezoid(density, x) == pytest.approx(0.996, abs=1e-3)


@given(SEEDS)
@settings(max_examples=4)
def test_distributions_agree_with_themselves(seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_t(3, size=20)
    for curve in (correlated(20, 0.2), paired(z), two_groups(z[:8], z[8:])):
        x = np.linspace(*curve.quantile(np.array([1e-6, 1 - 1e-6])), 4001)
        density = curve.density(x)
        mass = (density[1:] + density[:-1]) / 2 * np.diff(x)
        np.testing.assert_allclose(mass.sum(), 1, atol=1e-4)
        np.testing.assert_allclose(
            np.cumsum(mass)[::500], curve.below(x)[1::500], atol=1e-4
        )
        np.testing.assert_allclose(curve.below(x) + curve.above(x), 1, atol=1e-12)
        low, high = shortest_interval(curve)
        assert curve.below(high) - curve.below(low) == pytest.approx(0.95, abs=1e-6)
        assert curve.density(low) == pytest.approx(curve.density(high), rel=1e-3)


def test_the_interval_covers_what_it_says():
    """Differences that correlate by 1/4, as those of splits that test a quarter."""
    rng = np.random.default_rng(0)
    n_trials, covered = 400, 0
    for _ in range(n_trials):
        shared, own = rng.normal(), rng.normal(size=12)
        d = 1.0 + math.sqrt(0.25) * shared + math.sqrt(0.75) * own
        low, high = compare_methods(d, np.zeros(12), test_size=0.25).hdi
        covered += low < 1.0 < high
    # Four standard errors; without the correlation it would be 63 %.
    assert abs(covered / n_trials - 0.95) < 4 * math.sqrt(0.95 * 0.05 / n_trials)


def test_an_outlier_counts_less_in_best():
    rng = np.random.default_rng(0)
    d = np.append(rng.normal(1.0, 0.2, size=19), -50.0)
    assert compare_methods(d, 0 * d).difference < -1
    for test in BEST:
        found = compare_methods(d, rng.normal(0.0, 0.2, size=20), test=test)
        assert 0.8 < found.difference < 1.2 and found.p_a_better > 0.99


def test_without_a_share_scores_are_of_one_cross_validation():
    a, b = [0.9, 0.8, 0.95, 0.7], [0.85, 0.8, 0.9, 0.75]
    found = compare_methods(a, b)
    assert found == compare_methods(a, b, test_size=0.25)
    same_lines(str(found))
    assert "as in" not in str(compare_methods(a, b, test_size=0.1))
    assert compare_methods(a, b, test="paired").test_size is None


@pytest.mark.parametrize("test", ["correlated", *BEST])
@pytest.mark.parametrize("unit", [1.0, 1e300, 1e-300])
def test_equal_scores_are_equal_for_certain(test, unit):
    a = np.array([3.0, 3.0, 3.0]) * unit
    found = compare_methods(a, a, test=test)
    p = found.p_a_better, found.p_rope, found.p_b_better
    assert p == (0, 1, 0) and found.hdi == (0, 0) and found.sd == 0
    same_lines(str(found))


@pytest.mark.parametrize("test", ["correlated", "paired"])
def test_constant_differences_are_held_certain(test):
    a, b = np.array([1.0, 2.0, 5.0]), np.array([0.5, 1.5, 4.5])
    found = compare_methods(a, b, test=test)
    assert (found.difference, found.sd, found.p_a_better) == (0.5, 0.0, 1.0)
    # The ends belong to the region.
    assert compare_methods(a, b, test=test, rope=0.5).p_rope == 1
    assert compare_methods(b, a, test=test, rope=0.5).p_rope == 1
    assert compare_methods(b, a, test=test, rope=0.25).p_b_better == 1


def test_the_largest_and_smallest_numbers_do_no_harm():
    most = np.finfo(float).max
    found = compare_methods([most, -most, 0.0, most], [-most, most, most, 0.0])
    assert 0.4 < found.p_a_better < 0.6 and math.isfinite(found.difference)
    tiny = compare_methods([5e-324, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0])
    assert tiny.p_a_better > 0.5
    # Differences so much smaller than scores that their squares are nought.
    apart = compare_methods([1.0, 1e-200, 3e-200], [1.0, 0.0, 0.0], rope=1e-190)
    assert apart.p_rope > 0.99


def test_a_group_without_spread_is_where_it_is():
    found = compare_methods(np.ones(9), np.zeros(9), test="two_groups", rope=0.9)
    assert found.difference == pytest.approx(1.0, abs=1e-6)
    assert found.sd < 1e-3 and found.p_a_better > 0.999


def test_three_correlated_pairs_have_no_standard_deviation():
    found = compare_methods([1.0, 2.0, 4.0], [1.0, 1.0, 1.0])
    assert math.isinf(found.sd) and "infinite" in str(found)
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["sd"] is None and "curve" not in told
    assert told["difference"] == pytest.approx(4 / 3)
    assert found.p_a_better == pytest.approx(
        stats.t.cdf(4 / 3 / (np.std([0, 1, 3], ddof=1) * math.sqrt(5 / 6)), 2)
    )


FINE = [0.1, 0.4, 0.2]


@pytest.mark.parametrize(
    ("a", "b", "settings", "told"),
    [
        (FINE, [0.1, np.nan, 0.2], {}, "scores_b"),
        ([np.inf, 1, 2], FINE, {}, "scores_a"),
        ([0.5], [0.4], {}, ""),
        ([], [], {}, ""),
        (FINE, [FINE], {}, "scores_b"),
        (FINE, ["a", "b", "c"], {}, "scores_b"),
        (FINE, [*FINE, 1], {}, "scores_b.*two_groups"),
        (FINE, FINE, {"test": "t"}, "'t'"),
        (FINE, FINE, {"rope": -0.1}, "0.1"),
        (FINE, FINE, {"rope": np.nan}, ""),
        (FINE, FINE, {"test_size": 1.0}, "test_size.*1.0"),
        (FINE, FINE, {"test": "paired", "test_size": 0.1}, "'correlated'"),
        (range(501), FINE, {"test": "two_groups"}, "500.*501"),
    ],
)
def test_what_cannot_be_used_is_refused(a, b, settings, told):
    with refuses(InputError, match=told):
        compare_methods(a, b, **settings)


def test_what_differs_in_the_last_digit_only_is_equal():
    found = compare_methods([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])
    assert found.sd == 0 and found.p_b_better == 1
    same_lines(str(found))


def test_which_way_is_better_is_yes_or_no():
    with refuses(InputError, match="greater_is_better"):
        compare_methods([0.1, 0.2, 0.4], [0.2, 0.3, 0.4], greater_is_better="lower")
