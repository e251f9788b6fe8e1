import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.surprisal import surprisals
from clearwood.distributions import Gaussian


@settings(max_examples=30)
@given(made.circuits(zeros=True))
def test_surprises_are_ratios_of_densities(circuit):
    rows = made.random_rows(np.random.default_rng(2), circuit, 5, missing=0.3)
    found = surprisals(circuit, rows)
    for row, own in zip(rows, found):
        p = naive.density(circuit.root, row)
        for j, surprise in enumerate(own):
            rest = np.where(np.arange(len(row)) == j, np.nan, row)
            q = naive.density(circuit.root, rest)
            if np.isnan(row[j]) or q == 0:
                assert np.isnan(surprise)
            else:
                assert np.exp(-surprise) == pytest.approx(p / q, rel=1e-8, abs=1e-300)


def test_an_outlier_in_a_kind_that_fits_the_rest_is_surprising():
    # All but one entry say the first kind so clearly that a float cannot hold it.
    def kind(mean):
        return Product(tuple(Gaussian(j, mean, 1.0) for j in range(30)))

    root = Sum(np.array([0.5, 0.5]), (kind(0.0), kind(9.0)))
    circuit = Circuit(root, made.space([None] * 30))
    row = np.zeros((1, 30))
    row[0, 7] = 45.0
    found = surprisals(circuit, row)[0]
    assert found[7] == pytest.approx(0.5 * (45.0**2 + np.log(2 * np.pi)))
    others = np.delete(found, 7)
    np.testing.assert_allclose(others, 0.5 * np.log(2 * np.pi), rtol=1e-12)


def test_what_is_usual_is_the_conditional_entropy():
    facts, circuit = made.golden_inference("discrete")
    rows = naive.states(circuit)
    p = np.array([naive.density(circuit.root, row) for row in rows])
    entropy = p @ surprisals(circuit, rows)
    drawn = sample(circuit, 4000, np.random.default_rng(0))
    usual = surprisals(circuit, drawn).mean(axis=0)
    np.testing.assert_allclose(usual, entropy, atol=0.05)
