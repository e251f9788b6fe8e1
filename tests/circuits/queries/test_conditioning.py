import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Sum
from clearwood.circuits.queries.conditioning import condition
from clearwood.distributions import Bernoulli
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


def test_what_is_left_is_as_simple_as_it_can_be():
    kinds = (Bernoulli(0, 0.25), Sum(np.array([0.5, 0.5]), (Bernoulli(0, 0.0),) * 2))
    circuit = Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([2]))
    assert condition(circuit, np.array([np.nan])).root.probabilities.tolist() == [
        0.875,
        0.125,
    ]
