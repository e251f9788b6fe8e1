"""Compiled circuits against the golden facts, a naive recursion, and enumeration."""

from dataclasses import replace as replace_node

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.circuits import made, naive

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import _at_root, compile_circuit
from clearwood.circuits.nodes import Product, Sum, walk
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    MultivariateGaussian,
)


def as_float(numbers):
    return [float(x) for x in numbers]  # "-inf" is a text


@pytest.mark.parametrize("name", ["discrete", "mixed"])
def test_golden_likelihoods(name):
    facts, circuit = made.golden_inference(name)
    compiled = compile_circuit(circuit)
    rows = facts["complete_rows"]
    found = compiled.log_likelihood(np.array([row["row"] for row in rows], dtype=float))
    expected = as_float(row["log_likelihood"] for row in rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    row = np.array(facts["marginal_patterns"]["row"], dtype=float)
    for pattern in facts["marginal_patterns"]["patterns"]:
        asked = row.copy()
        asked[pattern["missing"]] = np.nan
        found = compiled.log_likelihood(asked[None])[0]
        assert found == pytest.approx(pattern["log_likelihood"], rel=1e-12, abs=1e-14)


def test_a_leaf_of_two_columns_far_above_the_product_of_its_bounds():
    # exp(1600) times as dense as the leaves of one column: more than a double holds.
    joint = MultivariateGaussian((0, 1), np.full(2, 40.0), np.eye(2))
    apart = Product((Gaussian(0, 0.0, 1.0), Gaussian(1, 0.0, 1.0)))
    root = Sum(np.full(2, 0.5), (joint, apart))
    compiled = compile_circuit(Circuit(root, made.space([None, None])))
    row = np.full((1, 2), 40.0)
    expected = joint.log_density(row)[0] + np.log(0.5)
    assert compiled.log_likelihood(row)[0] == pytest.approx(expected, rel=1e-12)
    likelihood, flows, statistics = compiled.expected(row, np.ones(1))
    assert likelihood == pytest.approx(expected, rel=1e-12)
    assert all(np.isfinite(part).all() for part in [flows, *statistics])


def test_a_row_has_the_same_density_in_any_batch():
    rng = np.random.default_rng(0)
    columns, levels = range(40), 5
    kinds = [
        Product(tuple(Categorical(j, rng.dirichlet(np.ones(levels))) for j in columns))
        for _ in range(9)
    ]
    space = FeatureSpace(
        tuple(f"x{j}" for j in columns), (tuple(range(levels)),) * len(columns)
    )
    compiled = compile_circuit(Circuit(Sum(np.full(9, 1 / 9), tuple(kinds)), space))
    values = rng.integers(levels, size=(1300, len(columns))).astype(float)
    whole = compiled.log_likelihood(values)
    for batches in (np.split(values, [1, 3, 8, 60, 800]), values[:70, None]):
        found = np.concatenate([compiled.log_likelihood(batch) for batch in batches])
        np.testing.assert_array_equal(found, whole[: len(found)])


@pytest.mark.parametrize("n_columns", [10, 1500])
def test_rows_that_no_double_holds_the_probability_of(n_columns):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.3, 0.7, (3, n_columns))
    kinds = [Product(tuple(map(Bernoulli, range(n_columns), own))) for own in p]
    names = tuple(f"x{j}" for j in range(n_columns))
    space = FeatureSpace(names, ((0, 1),) * n_columns)
    weights = np.array([0.5, 0.3, 0.2])
    compiled = compile_circuit(Circuit(Sum(weights, tuple(kinds)), space))
    values = (rng.random((40, n_columns)) < 0.5).astype(float)
    values[:20, ::3] = np.nan
    log = np.log(weights) + np.nansum(
        np.where(values[:, None] == 1, np.log(p), np.log(1 - p))
        * np.where(np.isnan(values), 0, 1)[:, None],
        axis=2,
    )
    whole = np.logaddexp.reduce(log, axis=1)
    np.testing.assert_allclose(compiled.log_likelihood(values), whole, rtol=1e-12)
    weight = rng.random(40)
    share = weight[:, None] * np.exp(log - whole[:, None])
    likelihood, edges, (levels, *_) = compiled.expected(values, weight)
    assert likelihood == pytest.approx(weight @ whole)
    np.testing.assert_allclose(edges, share.sum(axis=0), rtol=1e-9)
    ones = share.T @ (values == 1)
    np.testing.assert_allclose(levels[1::2], ones.ravel(), rtol=1e-9)


@pytest.mark.parametrize("apart", [30.0, 60.0])  # in probabilities, and in logs
def test_rows_that_only_a_leaf_of_several_columns_expects(apart):
    """Its density is too large for a double, relative to those of normal leaves."""
    joint = MultivariateGaussian((0, 1), np.full(2, apart), np.eye(2))
    normals = Product((Gaussian(0, 0.0, 1.0), Gaussian(1, 0.0, 1.0)))
    circuit = Circuit(
        Sum(np.array([0.5, 0.5]), (normals, joint)), made.space([None] * 2)
    )
    found = compile_circuit(circuit).log_likelihood(np.full((1, 2), apart))
    assert found[0] == pytest.approx(-np.log(4 * np.pi), rel=1e-9)


def test_golden_states():
    facts, circuit = made.golden_inference("discrete")
    found = compile_circuit(circuit).log_likelihood(naive.states(circuit))
    np.testing.assert_allclose(found, facts["all_states"]["log_likelihood"], rtol=1e-12)


def test_golden_zeros():
    facts, circuit = made.golden_inference("zeros")
    cases = [*facts["states"], *facts["marginals"]]
    rows = np.array([case["row"] for case in cases], dtype=float)
    expected = as_float(case["log_likelihood"] for case in cases)
    found = compile_circuit(circuit).log_likelihood(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@given(made.circuits(zeros=True), st.integers(0, 99))
def test_upward_is_the_naive_recursion(circuit, seed):
    values = made.random_rows(np.random.default_rng(seed), circuit, 6)
    compiled = compile_circuit(circuit)
    with np.errstate(divide="ignore"):
        expected = np.log([naive.density(circuit.root, row) for row in values])
    found = compiled.log_likelihood(values)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def replaced(node, old, new):
    """The tree with another node in the place of one."""
    if node is old:
        return new
    if isinstance(node, Sum | Product):
        children = tuple(replaced(child, old, new) for child in node.children)
        return replace_node(node, children=children)
    return node


def without(array, cell):
    array = np.array(array, dtype=float)
    array[cell] = 0.0
    return array


@given(made.circuits(kinds=("discrete",), most_columns=4, zeros=True))
def test_flows_are_what_is_lost_without(circuit):
    """A part is used as often as the probability falls when it is taken away."""
    root, compiled = circuit.root, compile_circuit(circuit)
    values = made.random_rows(np.random.default_rng(0), circuit, 4)
    whole = np.array([naive.density(root, row) for row in values])
    values, whole = values[whole > 0], whole[whole > 0]
    weight = np.arange(1.0, 1.0 + len(values))

    def used(old, new):
        left = [naive.density(replaced(root, old, new), row) for row in values]
        return weight @ (1 - np.array(left) / whole)

    likelihood, edges, found = compiled.expected(values, weight)
    assert likelihood == pytest.approx(weight @ np.log(whole))
    nodes = list(walk(root))
    expected = [
        used(node, Sum(without(node.weights, k), node.children))
        for node in nodes
        if isinstance(node, Sum)
        for k in range(len(node.weights))
    ]
    of_sums = np.repeat(compiled.sums, np.diff(compiled.first))
    np.testing.assert_allclose(edges[of_sums], expected, rtol=1e-9, atol=1e-12)
    trees = [node for node in nodes if isinstance(node, ChowLiuTree)]
    for tree, counts in zip(trees, found[2:]):
        expected = []
        for v, table in enumerate(tree.tables):
            for cell in np.ndindex(table.shape):
                tables = list(tree.tables)
                tables[v] = without(table, cell)
                expected.append(used(tree, replace_node(tree, tables=tuple(tables))))
        np.testing.assert_allclose(counts, expected, rtol=1e-9, atol=1e-12)


@given(made.circuits(most_columns=4))
def test_a_compiled_circuit_is_a_circuit_again(circuit):
    values = made.random_rows(np.random.default_rng(0), circuit, 5)
    compiled = compile_circuit(circuit)
    again = compile_circuit(compiled.as_circuit())
    found, expected = (c.log_likelihood(values) for c in (again, compiled))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_blocks_of_rows_change_nothing(monkeypatch):
    circuit = made.random_circuit(np.random.default_rng(3), [2, None, 3, None, 2])
    values = made.random_rows(np.random.default_rng(0), circuit, 50)
    compiled = compile_circuit(circuit)
    whole = compiled.log_likelihood(values)
    _, edges, _ = compiled.expected(values, np.ones(50))
    monkeypatch.setattr("clearwood.circuits.compiled.ROWS", 7)
    np.testing.assert_allclose(compiled.log_likelihood(values), whole, rtol=1e-13)
    found = compiled.expected(values, np.ones(50))
    np.testing.assert_allclose(found[1], edges, rtol=1e-12)
    assert compiled.log_likelihood(values[:0]).shape == (0,)


def test_results_of_blocks_keep_nothing_else():
    circuit = made.random_circuit(np.random.default_rng(3), [2, 2, 3])
    (root,) = _at_root((np.zeros((4, 3)),), compile_circuit(circuit))
    assert not isinstance(root.base, np.ndarray)  # not a view of all places


def test_levels_that_a_circuit_does_not_know_are_summed_out():
    circuit = made.random_circuit(np.random.default_rng(5), [2, 3, 2, 4])
    values = made.random_rows(np.random.default_rng(0), circuit, 20)
    unseen = np.where(np.isnan(values), -1.0, values)
    compiled = compile_circuit(circuit)
    found = compiled.log_likelihood(unseen)
    assert (found == compiled.log_likelihood(values)).all()
