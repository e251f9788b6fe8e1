"""Leaves of circuits: all kinds keep one contract, and say what is obviously right."""

from itertools import product

import numpy as np
import pytest
from tests.distributions import naive

from clearwood.distributions import (
    LEAVES,
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.distributions.categorical import OfLevels

COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.0, 0.2], [-0.3, 0.2, 0.5]])
TABLES = (
    np.array([[0.3, 0.7]]),
    np.array([[0.1, 0.5, 0.4], [0.6, 0.2, 0.2]]),
    np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]),
)
HIDDEN_TABLES = (
    np.array([[0.3, 0.7]]),
    np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]]),
    np.array([[0.1, 0.9], [0.8, 0.2]]),
    np.array([[0.1, 0.5, 0.4], [0.6, 0.2, 0.2], [0.3, 0.3, 0.4]]),
    np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]),
)
"""Of two hidden variables, and three columns."""

CASES = [
    Bernoulli(1, 0.3),
    Categorical(2, np.array([0.2, 0.5, 0.3])),
    Gaussian(0, 1.5, 2.0),
    Histogram(1, np.array([-1.0, 0.0, 3.0]), np.array([0.25, 0.75])),
    MultivariateGaussian((2, 0, 1), np.array([1.0, -1.0, 0.5]), COVARIANCE),
    ChowLiuTree((1, 0, 2), (-1, 0, 1), TABLES),
    ChowLiuTree((1, 0, 2), (-1, 0, 0, 1, 1), HIDDEN_TABLES),
]
LEVELS = {"Bernoulli": (2,), "Categorical": (3,), "ChowLiuTree": (2, 3, 2)}
N_ROWS = 4_000


@pytest.fixture(params=CASES, ids=lambda leaf: type(leaf).__name__)
def leaf(request):
    return request.param


@pytest.fixture
def rows(leaf):
    """Drawn rows of a table of three columns, of which a leaf may be over some."""
    values = np.full((N_ROWS, 3), np.nan)
    at = list(leaf.variables)
    rng = np.random.default_rng(0)
    values[:, at] = leaf.drawn(values[:, at], rng)
    return values


def levels_of(leaf):
    return LEVELS.get(type(leaf).__name__, (0,) * len(leaf.variables))


def test_every_kind_has_a_case(leaf):
    assert {type(leaf) for leaf in CASES} == set(LEAVES)
    assert leaf.fault(levels_of(leaf)) is None
    assert leaf.fault([n + 1 for n in levels_of(leaf)]) is not None
    whole, numbers = map(np.array, leaf.to_plain())
    assert leaf.from_plain(whole, numbers).to_plain() == leaf.to_plain()


def test_densities(leaf, rows):
    rows = rows[:50].copy()
    rows[:20][np.random.default_rng(0).random((20, 3)) < 0.4] = np.nan
    own = rows[:, list(leaf.variables)]
    expected = [np.log(naive.leaf_density(leaf, row)) for row in own]
    found = leaf.log_density(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    for row, log_density in zip(rows, found):
        log_known, parts = leaf.given(row)
        assert log_known == pytest.approx(log_density, rel=1e-9, abs=1e-12)
        # Bayes: of an entry more, given those before.
        full = np.where(np.isnan(row), 0.0, row)
        of_parts = sum(part.log_density(full[None])[0] for part in parts)
        whole = leaf.log_density(full[None])[0]
        assert whole - log_known == pytest.approx(of_parts, rel=1e-9, abs=1e-9)


def test_draws_have_the_moments(leaf, rows):
    at = list(leaf.variables)
    tables = [np.arange(float(n))[:, None] if n else None for n in levels_of(leaf)]
    missing = np.full((1, len(at)), np.nan)
    mean, covariance = leaf.moments(missing, tables)
    covariance = covariance.reshape(len(at), len(at))
    error = 5 * np.sqrt(np.diag(covariance) / N_ROWS)
    assert (np.abs(rows[:, at].mean(axis=0) - mean[0]) < error).all()
    found = np.cov(rows[:, at].T).reshape(covariance.shape)
    np.testing.assert_allclose(found, covariance, atol=0.1 * covariance.max())
    # What is present stays.
    again = leaf.drawn(rows[:5, at], np.random.default_rng(0))
    np.testing.assert_array_equal(again, rows[:5, at])


def test_columns_alone(leaf, rows):
    for one, j in zip(leaf.apart(), leaf.variables):
        only = np.full(rows.shape, np.nan)
        only[:, j] = rows[:, j]
        assert one.variables == (j,)
        np.testing.assert_allclose(one.log_density(only), leaf.log_density(only))


def test_no_row_is_likelier_than_the_best_mode(leaf, rows):
    height, point = max(leaf.modes(), key=lambda mode: mode[0])
    row = np.full((1, 3), np.nan)
    row[0, list(point)] = list(point.values())
    if getattr(leaf, "n_hidden", 0):  # with the likeliest states, one of many
        states = [range(table.shape[1]) for table in leaf.tables]
        together = max(naive.state_probability(leaf, x) for x in product(*states))
        assert height == pytest.approx(np.log(together))
        return
    assert leaf.log_density(row)[0] == pytest.approx(height)
    assert (leaf.log_density(rows) <= height + 1e-12).all()


def test_other_columns_and_other_units(leaf, rows):
    places = [(j + 1) % 3 for j in leaf.variables]
    moved = leaf.over(places)
    assert list(moved.variables) == places
    log_density = leaf.log_density(rows)
    np.testing.assert_array_equal(
        moved.log_density(np.roll(rows, 1, axis=1)), log_density
    )
    d = len(leaf.variables)
    if isinstance(leaf, OfLevels | ChowLiuTree):
        assert leaf.scaled(np.zeros(d), np.ones(d)) is leaf
        return
    zero, one = np.array([3.0, -1.0, 8.0]), np.array([2.0, 0.5, 4.0])
    at = list(leaf.variables)
    found = leaf.scaled(zero[at], one[at]).log_density(rows * one + zero)
    expected = log_density - np.log(one[at]).sum()
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("leaf", CASES[3:], indirect=True)
def test_estimates_find_the_leaf_again(leaf, rows):
    """Of leaves that are evaluated one at a time; EM that starts there stays near."""
    statistics = leaf.statistics(rows, np.ones(N_ROWS))
    found = leaf.estimated(statistics, 0.0, np.ones(3))
    near = found.log_density(rows).mean() - leaf.log_density(rows).mean()
    assert 0.0 <= near < 20 / N_ROWS  # half of chi squared, for each parameter
    assert (leaf.estimated(0.0 * statistics, 0.0, np.ones(3)).to_plain()
            == leaf.to_plain())  # fmt: skip


def test_histograms_hold_their_edges():
    leaf = Histogram(0, np.array([-1.0, 0.0, 2.0]), np.array([0.25, 0.75]))
    values = np.array([[-1.5], [-1.0], [-0.5], [0.0], [2.0], [2.5], [np.nan]])
    expected = [0.0, 0.25, 0.25, 0.375, 0.375, 0.0, 1.0]
    np.testing.assert_allclose(np.exp(leaf.log_density(values)), expected)
    assert expected == [naive.leaf_density(leaf, row) for row in values]
    statistics = leaf.statistics(values, np.arange(7.0))
    assert statistics.tolist() == [3.0, 7.0]
    found = leaf.estimated(statistics, 2.0, np.ones(1))
    np.testing.assert_allclose(found.probabilities, [5 / 14, 9 / 14])
    assert leaf.fault([0]) is None
    for edges in ([-1.0, 0.0, np.inf], [0.0, -1.0, 2.0], [-1.0, 2.0]):
        assert Histogram(0, np.array(edges), leaf.probabilities).fault([0])


def test_wide_trees_do_not_underflow():
    """Of 3,000 columns around one that is missing."""
    n = 3_000
    tables = (np.array([[0.3, 0.7]]), *[np.array([[0.1, 0.9], [0.4, 0.6]])] * n)
    tree = ChowLiuTree(tuple(range(n + 1)), (-1, *[0] * n), tables)
    row = np.zeros((1, n + 1))
    row[0, 0] = np.nan
    expected = np.logaddexp(
        np.log(0.3) + n * np.log(0.1), np.log(0.7) + n * np.log(0.4)
    )
    assert tree.log_density(row)[0] == pytest.approx(expected, rel=1e-12)
    counts = tree.statistics(row, np.ones(1))
    assert counts.sum() == pytest.approx(n + 1)
    assert counts[1] == pytest.approx(1.0)


def test_levels_that_a_tree_does_not_have_count_as_missing():
    tables = np.array([[0.3, 0.7]]), np.array([[0.9, 0.1], [0.2, 0.8]])
    tree = ChowLiuTree((0, 1), (-1, 0), tables)
    odd = np.array([[0.0, 2.0], [1.0, -1.0], [9.0, 1.0], [40000.0, 0.0]])
    missing = np.where((odd < 0) | (odd > 1), np.nan, odd)
    np.testing.assert_array_equal(tree.log_density(odd), tree.log_density(missing))
    each = np.ones(len(odd))
    np.testing.assert_array_equal(
        tree.statistics(odd, each), tree.statistics(missing, each)
    )
