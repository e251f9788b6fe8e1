"""The tree that a circuit is."""

import numpy as np
import pytest
from tests.circuits import made, naive

from clearwood.circuits.circuit import Sum, walk
from clearwood.circuits.distributions import Bernoulli


@pytest.mark.parametrize("seed", range(5))
def test_random_circuits_are_distributions(seed):
    rng = np.random.default_rng(seed)
    circuit = made.random_circuit(rng, [2, 3, 2, 4], zeros=True)
    total = sum(naive.density(circuit.root, row) for row in naive.states(circuit))
    assert total == pytest.approx(1.0, rel=1e-12)
    assert circuit.root.variables == (0, 1, 2, 3)


def test_depth_beyond_recursion():
    node = Bernoulli(0, 0.5)
    for _ in range(20_000):
        node = Sum(np.array([1.0]), (node,))
    assert node.variables == (0,)
    assert len(list(walk(node))) == 20_001
