import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from clearwood.rules.monitoring import shifts


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_equal_shares_by_enumeration(a, b, c, d):
    n, n_new = a + b, c + d
    p = shifts.share_shift(a, n, c, n_new)
    if n == 0 or n_new == 0:
        assert math.isnan(p)
        return
    # Of all tables with the same margins, those at most as probable as this one.
    hits = a + c
    ways = {k: math.comb(n, k) * math.comb(n_new, hits - k) for k in range(hits + 1)}
    ways = {k: w for k, w in ways.items() if k <= n and hits - k <= n_new}
    wanted = sum(w for w in ways.values() if w <= ways[a]) / sum(ways.values())
    assert p == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("mean, width", [(0.3, 0.2), (0.9, 0.1), (0.5, 0.02)])
def test_a_rate_is_uncertain_as_its_interval(mean, width):
    """The p value against an integral over the rates of a beta distribution."""
    low, high = mean - width / 2, mean + width / 2
    size = mean * (1 - mean) / (width / 2 / 1.959964) ** 2 - 1
    rates = beta(size * mean, size * (1 - mean)).ppf((np.arange(4000) + 0.5) / 4000)
    for hits in (0, 20, 36, 40):
        below = binom(40, rates).cdf(hits).mean()
        above = binom(40, rates).sf(hits - 1).mean()
        wanted = min(1.0, 2 * min(below, above))
        found = shifts.rate_shift(mean, low, high, hits, 40)
        assert found == pytest.approx(wanted, rel=0.02, abs=1e-6)


def test_a_certain_rate_is_tested_too():
    assert shifts.rate_shift(1.0, 1.0, 1.0, 50, 50) > 0.9
    assert shifts.rate_shift(1.0, 1.0, 1.0, 45, 50) < 1e-6
    assert math.isnan(shifts.rate_shift(math.nan, 0.0, 1.0, 1, 2))
    assert math.isnan(shifts.rate_shift(0.5, 0.0, 1.0, 0, 0))


def uniform(p, level=0.1):
    """Whether a test rejects at a level as often as it says, by 4 standard errors."""
    p = np.asarray(p)
    return abs((p < level).mean() - level) < 4 * math.sqrt(level / len(p))


def test_means_are_rejected_as_often_as_stated():
    rng = np.random.default_rng(0)
    p = []
    for _ in range(2000):
        before, now = rng.exponential(size=200), rng.exponential(size=150)
        half = 1.959964 * before.std(ddof=1) / math.sqrt(200)
        mean = before.mean()
        p.append(shifts.mean_shift(mean, mean - half, mean + half, now))
    assert uniform(p)
    assert math.isnan(shifts.mean_shift(0.0, -1.0, 1.0, np.array([3.0])))
    assert shifts.mean_shift(2.0, 2.0, 2.0, np.array([2.0, 2.0])) == 1.0
    assert shifts.mean_shift(2.0, 2.0, 2.0, np.array([3.0, 3.0])) == 0.0


def test_values_outside_of_the_range_by_simulation():
    rng = np.random.default_rng(1)
    ranks = np.argsort(rng.random((20_000, 50)), axis=1)
    # The first 30 of each row are the values before.
    before, now = ranks[:, :30], ranks[:, 30:]
    low, high = before.min(axis=1)[:, None], before.max(axis=1)[:, None]
    outside = ((now < low) | (now > high)).sum(axis=1)
    for k in range(1, 6):
        wanted = (outside >= k).mean()
        assert shifts.range_shift(30, k, 20) == pytest.approx(wanted, abs=0.01)
    assert shifts.range_shift(30, 0, 20) == 1.0


def test_levels_are_rejected_as_often_as_stated():
    rng = np.random.default_rng(2)
    shares = [0.5, 0.3, 0.17, 0.02, 0.01]
    p = [
        shifts.levels_shift(rng.multinomial(300, shares), rng.multinomial(200, shares))
        for _ in range(2000)
    ]
    assert uniform([one for _, one in p])
    # No level is left, or only rare ones.
    assert math.isnan(shifts.levels_shift(np.zeros(2), np.ones(2))[1])
    assert shifts.levels_shift(np.array([2, 1]), np.array([1, 1]))[1] == 1.0
    assert shifts.levels_shift(np.array([40, 0]), np.array([0, 40]))[0] == 1.0


@settings(max_examples=100)
@given(st.lists(st.floats(0, 0.2) | st.just(math.nan), max_size=8))
def test_holm_by_its_definition(p):
    """Adjusted p values: the running maximum of (m - k) p."""
    found = shifts.holm(np.array(p), 0.1)
    tested = sorted(x for x in p if x == x)
    m, running, adjusted = len(tested), 0.0, {}
    for k, x in enumerate(tested):
        running = max(running, (m - k) * x)
        adjusted[x] = min(adjusted.get(x, math.inf), running)
    for x, rejected in zip(p, found):
        if x != x:
            assert not rejected
        elif abs(adjusted[x] - 0.1) > 1e-9:
            assert rejected == (adjusted[x] <= 0.1)


def test_the_stability_index_is_of_both_sides():
    one, two = [30, 70, 0], [60, 30, 10]
    found = shifts.stability_index(one, two)
    assert found == pytest.approx(shifts.stability_index(two, one))
    a, b = (np.array(c) + 0.5 for c in (one, two))
    a, b = a / a.sum(), b / b.sum()
    assert found == pytest.approx(sum(b * np.log(b / a)) + sum(a * np.log(a / b)))
