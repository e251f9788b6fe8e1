import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive
from tests.wording import refuses

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.queries.completion import most_probable
from clearwood.circuits.queries.conditioning import condition
from clearwood.circuits.queries.draws import draw_missing
from clearwood.circuits.queries.shares import conditionals
from clearwood.circuits.queries.surprisal import surprisals
from clearwood.distributions import Bernoulli, Gaussian, Histogram
from clearwood.exceptions import InputError


def evidence_of(fact):
    return np.array([np.nan if v is None else v for v in fact["evidence"]], dtype=float)


@pytest.mark.parametrize("name", ["discrete", "mixed"])
def test_golden_conditionals(name):
    facts, circuit = made.golden_inference(name)
    # All rows of evidence at once: a batch of many patterns.
    rows = np.array([evidence_of(fact) for fact in facts["conditionals"]])
    found = conditionals(circuit, rows)
    for i, fact in enumerate(facts["conditionals"]):
        assert sorted(map(int, fact["conditionals"])) == [
            j for j, own in found.items() if i in own.rows
        ]
        for j, expected in fact["conditionals"].items():
            own, at = found[int(j)], np.flatnonzero(found[int(j)].rows == i)[0]
            if "probs" in expected:
                np.testing.assert_allclose(
                    own.probabilities[at], expected["probs"], atol=1e-13
                )
                continue
            assert own.mean[at] == pytest.approx(expected["mean"], abs=1e-12)
            assert own.sd[at] ** 2 == pytest.approx(expected["variance"], rel=1e-12)
            for point in expected["at"]:
                x = np.full(len(own.rows), point["x"])
                assert own.cdf(x)[at] == pytest.approx(point["cdf"], abs=1e-13)
                assert own.log_density(x)[at] == pytest.approx(
                    point["log_density"], rel=1e-12
                )
                q = own.quantile(point["cdf"])[at]
                assert q == pytest.approx(point["x"], abs=1e-9)


@pytest.mark.parametrize("name", ["discrete", "mixed"])
def test_golden_moments(name):
    facts, circuit = made.golden_inference(name)
    found = made.moments(circuit, np.array([evidence_of(f) for f in facts["moments"]]))
    for fact, mean, covariance in zip(facts["moments"], *found):
        np.testing.assert_allclose(mean, fact["mean"], atol=1e-12)
        np.testing.assert_allclose(covariance, fact["covariance"], atol=1e-12)


def test_golden_zeros():
    facts, circuit = made.golden_inference("zeros")
    fact = facts["conditional"]
    found = conditionals(circuit, evidence_of(fact)[None])
    np.testing.assert_allclose(found[1].probabilities, [[0.75, 0.25]], atol=1e-15)
    np.testing.assert_allclose(found[2].probabilities, [[0, 1 / 3, 2 / 3]], atol=1e-15)
    impossible = np.array([[1, np.nan, np.nan], [0, np.nan, 2]])
    for ask in (conditionals, made.moments):
        with refuses(InputError):
            ask(circuit, impossible)


@settings(max_examples=30)
@given(made.circuits(zeros=True))
def test_conditionals_are_ratios_of_densities(circuit):
    rng = np.random.default_rng(1)
    rows = made.random_rows(rng, circuit, 5, missing=0.5)
    density = np.array([naive.density(circuit.root, row) for row in rows])
    rows, density = rows[density > 0], density[density > 0]
    for j, own in conditionals(circuit, rows).items():
        np.testing.assert_array_equal(own.rows, np.flatnonzero(np.isnan(rows[:, j])))
        labels = circuit.features.categories[j]
        points = range(len(labels)) if labels else rng.normal(0, 2, 3)
        for x in points:
            filled = rows[own.rows].copy()
            filled[:, j] = x
            expected = [naive.density(circuit.root, row) for row in filled]
            with np.errstate(divide="ignore"):
                found = (
                    own.probabilities[:, x]
                    if labels
                    else np.exp(own.log_density(np.full(len(own.rows), x)))
                )
            np.testing.assert_allclose(
                found, expected / density[own.rows], rtol=1e-8, atol=1e-13
            )


@settings(max_examples=30)
@given(made.circuits(kinds=("discrete",), zeros=True))
def test_moments_are_those_of_all_completions(circuit):
    sizes = [len(labels) for labels in circuit.features.categories]
    for row in made.random_rows(np.random.default_rng(2), circuit, 3, missing=0.7):
        rows = np.array(list(naive.completions(row, sizes)), dtype=float)
        p = np.array([naive.density(circuit.root, own) for own in rows])
        if p.sum() == 0:
            continue
        mean, covariance = (own[0] for own in made.moments(circuit, row[None]))
        np.testing.assert_allclose(mean, p @ rows / p.sum(), atol=1e-12)
        expected = np.cov(rows.T, aweights=p, ddof=0) if len(rows) > 1 else 0.0
        np.testing.assert_allclose(covariance, np.atleast_2d(expected), atol=1e-12)


def test_moments_and_conditionals_agree_on_values():
    kinds = tuple(
        Product((Histogram(0, np.array([m, m + 1, m + 3]), p), Gaussian(1, m, 2.0)))
        for m, p in ((0.0, np.array([0.25, 0.75])), (5.0, np.array([1.0, 0.0])))
    )
    circuit = Circuit(Sum(np.array([0.3, 0.7]), kinds), made.space([None, None]))
    rows = np.array([[np.nan, 1.0], [np.nan, np.nan]])
    own = conditionals(circuit, rows)[0]
    mean, covariance = made.moments(circuit, rows)
    np.testing.assert_allclose(own.mean, mean[:, 0], rtol=1e-13)
    np.testing.assert_allclose(own.sd**2, covariance[:, 0, 0], rtol=1e-13)
    # The density is constant between edges: what lies there is it times the width.
    for low, high in ((0.5, 0.7), (1.0, 3.0), (5.2, 5.9)):
        at = np.full(2, 0.5 * (low + high))
        with np.errstate(divide="ignore"):
            inside = np.exp(own.log_density(at)) * (high - low)
        np.testing.assert_allclose(
            own.cdf(np.full(2, high)) - own.cdf(np.full(2, low)), inside, atol=1e-13
        )
    for share in (0.01, 0.4, 0.99):
        np.testing.assert_allclose(own.cdf(own.quantile(share)), share, rtol=1e-12)
    with refuses(InputError):
        own.quantile(1)


def test_levels_that_are_not_known_are_missing():
    both = Product((Bernoulli(0, 0.25), Bernoulli(1, 0.75)))
    circuit, rows = Circuit(both, made.space([2, 2])), np.array([[-1.0, 1.0]])
    found = conditionals(circuit, rows)[0]
    assert found.rows.tolist() == [0] and found.mode.tolist() == [0]
    assert condition(circuit, rows[0]).features.names == ("x0",)
    assert most_probable(circuit, rows).values.tolist() == [[0, 1]]
    assert (draw_missing(circuit, rows, np.random.default_rng(0)) >= 0).all()
    assert np.isnan(surprisals(circuit, rows)[0, 0])
    assert made.moments(circuit, rows)[0].tolist() == [[0.25, 1.0]]


def test_rows_of_all_blocks_are_counted_from_the_first():
    kinds = tuple(Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.0, 0.75))
    circuit = Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([2, 2]))
    rows = np.tile([[np.nan, 1.0], [0.0, np.nan], [1.0, 1.0]], (500, 1))
    found = conditionals(circuit, rows)
    np.testing.assert_array_equal(found[0].rows, np.arange(0, 1500, 3))
    np.testing.assert_array_equal(found[1].rows, np.arange(1, 1500, 3))
    np.testing.assert_allclose(found[0].probabilities[:, 1], 0.75)
    whole, first = made.moments(circuit, rows), made.moments(circuit, rows[:3])
    for own, few in zip(whole, first):
        np.testing.assert_allclose(own[-3:], few, rtol=1e-12)
    never = Circuit(kinds[0], circuit.features)
    with refuses(InputError, match="1200"):
        conditionals(never, np.where(np.arange(1500)[:, None] < 1200, np.nan, rows))
