import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import chi2, kstest
from tests.circuits import made, naive
from tests.wording import refuses

from clearwood.circuits.queries.draws import draw_missing, sample
from clearwood.circuits.queries.shares import conditionals
from clearwood.exceptions import InputError


@pytest.mark.parametrize("row", [[None] * 5, [None, 1, None, None, 2]])
def test_golden_draws_pass_a_chi_square_test(row):
    facts, circuit = made.golden_inference("discrete")
    check_levels(circuit, np.array(row, dtype=float), facts["cardinalities"])


@settings(max_examples=15)
@given(made.circuits(kinds=("discrete",), zeros=True, most_columns=4))
def test_draws_pass_a_chi_square_test(circuit):
    sizes = [len(labels) for labels in circuit.features.categories]
    for row in made.random_rows(np.random.default_rng(3), circuit, 2, missing=0.7):
        if naive.density(circuit.root, row) > 0:
            check_levels(circuit, row, sizes)


def check_levels(circuit, row, sizes, n=4000):
    """Counts of completions; cells of fewer than 5 expected draws together."""
    rows = np.array(list(naive.completions(row, sizes)), dtype=float)
    p = np.array([naive.density(circuit.root, own) for own in rows])
    p /= p.sum()
    drawn = sample(circuit, n, np.random.default_rng(0), row)
    counts = (drawn[:, None] == rows).all(axis=2).sum(axis=0)
    assert counts.sum() == n and not counts[p == 0].any()
    few = n * p < 5
    found = np.append(counts[~few], counts[few].sum())
    expected = n * np.append(p[~few], p[few].sum())
    found, expected = found[expected > 0], expected[expected > 0]
    statistic = ((found - expected) ** 2 / expected).sum()
    # Of a hundred tests with fixed seeds none fails by chance.
    assert chi2.sf(statistic, max(len(found) - 1, 1)) > 1e-5


@settings(max_examples=10)
@given(made.circuits(kinds=("continuous",)))
def test_values_are_drawn_from_their_conditionals(circuit):
    row = made.random_rows(np.random.default_rng(4), circuit, 1, missing=0.7)[0]
    if naive.density(circuit.root, row) == 0 or not np.isnan(row).any():
        return
    drawn = sample(circuit, 1000, np.random.default_rng(0), row)
    (mean,), (covariance,) = made.moments(circuit, row[None])
    error = np.sqrt(np.diag(covariance) / 1000)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 5 * error + 1e-12).all()
    for j, own in conditionals(circuit, np.tile(row, (1000, 1))).items():
        assert kstest(own.cdf(drawn[:, j]), "uniform").pvalue > 1e-5


def test_columns_depend_on_each_other_in_draws_as_in_the_circuit():
    _, circuit = made.golden_inference("mixed")
    row = np.array([np.nan, 1, np.nan, np.nan, 0.5])
    drawn = sample(circuit, 20_000, np.random.default_rng(0), row)
    _, (covariance,) = made.moments(circuit, row[None])
    spread = np.sqrt(np.diag(covariance))
    error = np.abs(np.cov(drawn.T, ddof=0) - covariance)
    assert (error <= 5 * np.outer(spread, spread) / np.sqrt(20_000) * 2).all()


def test_each_row_is_completed_from_its_own_entries():
    _, circuit = made.golden_inference("mixed")
    rng = np.random.default_rng(0)
    complete = sample(circuit, 1500, rng)
    assert not np.isnan(complete).any()
    holes = np.where(rng.random(complete.shape) < 0.4, np.nan, complete)
    drawn = draw_missing(circuit, holes, np.random.default_rng(1))
    np.testing.assert_array_equal(drawn[~np.isnan(holes)], holes[~np.isnan(holes)])
    same = draw_missing(circuit, holes, np.random.default_rng(1))
    np.testing.assert_array_equal(drawn, same)
    # Holes of draws, drawn again: each value is as likely as its conditional says.
    for j in (2, 3, 4):
        own = conditionals(circuit, holes)[j]
        assert kstest(own.cdf(drawn[own.rows, j]), "uniform").pvalue > 1e-4


def test_nothing_follows_from_what_cannot_be():
    _, circuit = made.golden_inference("zeros")
    with refuses(InputError):
        sample(circuit, 3, np.random.default_rng(0), np.array([0, np.nan, 2.0]))
    assert sample(circuit, 0, np.random.default_rng(0)).shape == (0, 3)
    assert draw_missing(circuit, np.empty((0, 3)), np.random.default_rng(0)).size == 0
