"""The tree that a circuit is."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive
from tests.wording import refuses

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.nodes import Product, Sum, walk
from clearwood.circuits.validity import check_circuit
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.exceptions import InputError


@pytest.mark.parametrize("seed", range(5))
def test_random_circuits_are_distributions(seed):
    rng = np.random.default_rng(seed)
    circuit = made.random_circuit(rng, [2, 3, 2, 4], zeros=True)
    total = sum(naive.density(circuit.root, row) for row in naive.states(circuit))
    assert total == pytest.approx(1.0, rel=1e-12)
    assert circuit.root.variables == (0, 1, 2, 3)


def golden_tree(name):
    part, *path = name.split(".")
    facts = made.GOLDEN[part]
    for key in path:
        facts = facts[key]
    return made.golden_node(facts.get("spn") or facts["tree"])


def counted(name, facts):
    """Kinds of nodes as the golden facts count them: leaf blocks are no products."""
    nodes = list(walk(golden_tree(name)))
    sums = sum(isinstance(node, Sum) for node in nodes)
    leaves = sum(not isinstance(node, Sum | Product) for node in nodes)
    assert sums == facts["sum"]
    if "leaf_blocks" not in facts:
        assert leaves + sums + facts["product"] == sum(facts.values())


@pytest.mark.parametrize("case", made.GOLDEN["pareto"]["degrees_of_freedom"]["counts"])
def test_golden_degrees_of_freedom(case):
    if case["spn"] not in ("mini_spn.cases.missing", "mini_spn.cases.root_product"):
        root = golden_tree(case["spn"])
        circuit = Circuit(root, made.space([2] * (1 + max(root.variables))))
        assert circuit.degrees_of_freedom == case["df"]
        counted(case["spn"], case["nodes"])


def test_degrees_of_freedom_of_other_leaves():
    tree = ChowLiuTree(
        (2, 0, 1), (-1, 0, 0), (np.zeros((1, 3)), np.zeros((3, 2)), np.zeros((3, 4)))
    )
    histogram = Histogram(3, np.arange(5.0), np.full(4, 0.25))
    circuit = Circuit(Product((tree, histogram)), made.space([2, 4, 3, None]))
    assert circuit.degrees_of_freedom == (3 - 1) + 3 * (2 - 1) + 3 * (4 - 1) + 3
    assert circuit.n_nodes == 3


def test_depth_beyond_recursion():
    node = Bernoulli(0, 0.5)
    for _ in range(5_000):
        node = Sum(np.array([1.0]), (node,))
    assert node.variables == (0,)
    circuit = Circuit(node, made.space([2]))
    assert circuit.n_nodes == 5_001
    check_circuit(circuit)
    compiled = compile_circuit(circuit)
    values = np.array([[1.0], [np.nan]])
    assert np.exp(compiled.log_likelihood(values)).tolist() == [0.5, 1.0]
    assert compiled.as_circuit().n_nodes == 5_001
    assert pickle.loads(pickle.dumps(circuit)).n_nodes == 5_001


@settings(max_examples=20)
@given(made.circuits(zeros=True))
def test_copies_are_the_same_distribution(circuit):
    values = made.random_rows(np.random.default_rng(0), circuit, 5)
    found = copy.deepcopy(circuit)
    assert found.root is not circuit.root and found.features == circuit.features
    np.testing.assert_array_equal(
        compile_circuit(found).log_likelihood(values),
        compile_circuit(circuit).log_likelihood(values),
    )


@given(made.circuits(zeros=True))
def test_random_circuits_are_valid(circuit):
    check_circuit(circuit)


def test_rounding_makes_no_covariance_invalid():
    covariance = np.array([[1e6, 1e-12], [-1e-12, 1e-4]])
    leaf = MultivariateGaussian((0, 1), np.zeros(2), covariance)
    check_circuit(Circuit(leaf, made.space([None, None])))


COLUMNS = made.space([2, 3, None, None])
EYE, RISING = np.eye(2), np.array([0.0, 1.0, 2.0])
TABLES = (np.array([[0.3, 0.7]]), np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]))
HALF = np.full(2, 0.5)


@pytest.mark.parametrize(
    "node",
    [
        Sum(HALF, (Bernoulli(0, 0.5),)),
        Sum(HALF, ()),
        Sum(np.array([0.5, 0.6]), (Bernoulli(0, 0.5),) * 2),
        Sum(np.array([1.5, -0.5]), (Bernoulli(0, 0.5),) * 2),
        Sum(np.array([np.nan, 1.0]), (Bernoulli(0, 0.5),) * 2),
        Sum(HALF, (Bernoulli(0, 0.5), Gaussian(2, 0.0, 1.0))),
        Product(()),
        Product((Bernoulli(0, 0.5),) * 2),
        Bernoulli(0, 0.5),
        Bernoulli(0, 1.2),
        Bernoulli(0, float("nan")),
        Bernoulli(1, 0.5),
        Bernoulli(2, 0.5),
        Bernoulli(4, 0.5),
        Bernoulli(-1, 0.5),
        Categorical(1, HALF),
        Categorical(1, np.array([0.5, 0.5, 0.5])),
        Gaussian(0, 0.0, 1.0),
        Gaussian(2, 0.0, 0.0),
        Gaussian(2, float("inf"), 1.0),
        Histogram(2, RISING[::-1], HALF),
        Histogram(2, RISING, np.full(3, 1 / 3)),
        Histogram(2, RISING, np.ones(2)),
        Histogram(0, RISING, HALF),
        MultivariateGaussian((2, 2), np.zeros(2), EYE),
        MultivariateGaussian((), np.zeros(0), np.zeros((0, 0))),
        MultivariateGaussian((2, 3), np.zeros(3), EYE),
        MultivariateGaussian((2, 3), np.zeros(2), -EYE),
        MultivariateGaussian((2, 3), np.zeros(2), np.triu(EYE + 0.1)),
        MultivariateGaussian((2, 3), np.zeros(2), EYE + np.inf),
        MultivariateGaussian((2, 3), np.full(2, np.nan), EYE),
        MultivariateGaussian((1, 3), np.zeros(2), EYE),
        ChowLiuTree((0, 1), (-1,), TABLES),
        ChowLiuTree((0, 1), (-1, 1), TABLES),
        ChowLiuTree((0, 1), (-1, -1), TABLES),
        ChowLiuTree((0, 1), (0, 0), TABLES),
        ChowLiuTree((1, 0), (-1, 0), TABLES),
        ChowLiuTree((0, 1), (-1, 0), (TABLES[0], 1 - TABLES[1])),
        "leaf",
    ],
)
def test_what_is_no_circuit_is_refused(node):
    if isinstance(node, Bernoulli | Gaussian):  # below other nodes too
        node = Sum(np.ones(1), (node,))
    with refuses(InputError):
        check_circuit(Circuit(node, COLUMNS))


def test_a_circuit_is_laid_out_once_and_kept_without():
    circuit = Circuit(Bernoulli(0, 0.25), made.space([2]))
    size = len(pickle.dumps(circuit))
    assert circuit.compiled is circuit.compiled
    assert len(pickle.dumps(circuit)) == size
