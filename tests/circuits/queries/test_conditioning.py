import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.circuits.queries import made, naive

from clearwood.circuits.queries.conditioning import condition, marginal

LEVELS = (2, 3, 2, 2, 3)
MIXED = (2, None, 3, None, None)
SEEDS = st.integers(0, 10**6)


@settings(max_examples=40)
@given(SEEDS)
def test_a_conditioned_circuit_is_the_posterior(seed):
    circuit = made.circuit(seed, LEVELS)
    for row in made.rows(seed, LEVELS):
        rows, p, evidence = naive.posterior(circuit.root, row, LEVELS)
        if evidence == 0 or not np.isnan(row).any():
            with pytest.raises(Exception, match=r"together|nothing"):
                condition(circuit, row)
            continue
        left = condition(circuit, row)
        found = [naive.density(left.root, r) for r in rows[:, np.isnan(row)]]
        np.testing.assert_allclose(found, p, atol=1e-13)


@settings(max_examples=40)
@given(SEEDS)
def test_a_marginal_circuit_sums_the_others_out(seed):
    circuit = made.circuit(seed, LEVELS)
    kept = np.flatnonzero(np.random.default_rng(seed).random(5) < 0.5)
    kept = kept if len(kept) else np.array([2])
    left = marginal(circuit, kept)
    for row in naive.completions(np.full(5, np.nan), LEVELS)[::7]:
        some = np.full(5, np.nan)
        some[kept] = row[kept]
        expected = naive.posterior(circuit.root, some, LEVELS)[2]
        assert naive.density(left.root, row[kept]) == pytest.approx(expected, abs=1e-13)
