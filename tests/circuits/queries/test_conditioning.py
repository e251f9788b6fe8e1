import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive

from clearwood.circuits.circuit import Circuit, Sum
from clearwood.circuits.distributions import Bernoulli, Categorical, ChowLiuTree
from clearwood.circuits.queries import condition, marginal
from clearwood.exceptions import InputError


@settings(max_examples=30)
@given(made.circuits(zeros=True))
def test_a_conditioned_circuit_is_what_is_left(circuit):
    rng = np.random.default_rng(0)
    for row in made.random_rows(rng, circuit, 3, missing=0.6):
        evidence = naive.density(circuit.root, row)
        missing = np.isnan(row)
        if evidence == 0 or not missing.any():
            with pytest.raises(InputError, match=r"probability of 0|No entry"):
                condition(circuit, row)
            continue
        left = condition(circuit, row)
        assert left.features.names == tuple(np.array(circuit.features.names)[missing])
        for x in made.random_rows(rng, circuit, 3, missing=0.3):
            expected = naive.density(circuit.root, np.where(missing, x, row)) / evidence
            found = naive.density(left.root, x[missing])
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)


@settings(max_examples=40)
@given(made.circuits(zeros=True, most_columns=6))
def test_a_marginal_circuit_sums_the_others_out(circuit):
    rng = np.random.default_rng(0)
    kept = np.flatnonzero(rng.random(circuit.features.n_features) < 0.5)
    kept = kept if len(kept) else np.array([0])
    left = marginal(circuit, kept)
    for row in made.random_rows(rng, circuit, 4, missing=0.3):
        some = np.full(len(row), np.nan)
        some[kept] = row[kept]
        expected = naive.density(circuit.root, some)
        found = naive.density(left.root, row[kept])
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)


def test_what_is_left_is_as_simple_as_it_can_be():
    kinds = (Bernoulli(0, 0.25), Sum(np.array([0.5, 0.5]), (Bernoulli(0, 0.0),) * 2))
    circuit = Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([2]))
    assert condition(circuit, np.array([np.nan])).root.probabilities.tolist() == [
        0.875,
        0.125,
    ]
    # A chain without its middle is still a chain, without its end the rest.
    half = np.array([[0.5, 0.5], [0.25, 0.75]])
    chain = ChowLiuTree((0, 1, 2), (-1, 0, 1), (half[:1], half, half))
    circuit = Circuit(chain, made.space([2, 2, 2]))
    assert marginal(circuit, [0, 2]).root.parents == (-1, 0)
    assert marginal(circuit, [0, 1]).root.tables[1] is half
    assert isinstance(marginal(circuit, [1]).root, Categorical)


@pytest.mark.parametrize("variables", [[], [7]])
def test_columns_that_are_none_are_named(variables):
    circuit = Circuit(Bernoulli(0, 0.5), made.space([2]))
    with pytest.raises(InputError, match=r"variables is"):
        marginal(circuit, variables)
