"""The search for circuits of all sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.circuits.made import GOLDEN, random_circuit, random_rows, space
from tests.interrupts import Broken, points, stopped_at
from tests.wording import warns

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.learning.clusters import ALPHA
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.pareto import (
    FrontPoint,
    inserted,
    likeliest,
    pareto_spn,
)
from clearwood.circuits.learning.productions import SearchSpace
from clearwood.circuits.nodes import Sum, walk
from clearwood.circuits.validity import check_circuit
from clearwood.distributions import ChowLiuTree, MultivariateGaussian
from clearwood.exceptions import InterruptedFitWarning

FACTS = GOLDEN["pareto"]
MODELS = [
    FrontPoint(one["degrees_of_freedom"], one["validation_log_likelihood"], i)
    for i, one in enumerate(FACTS["models"])
]


# The population


@pytest.mark.parametrize(
    ("rule", "strict"), [("strict", True), ("weak_no_duplicates", False)]
)
def test_who_stays(rule, strict):
    front = []
    for i, model in enumerate(MODELS):
        front = inserted(front, model, strict)
        if strict:
            kept = [one.root for one in front]
            assert kept == FACTS["incremental"][rule][i]
    assert sorted(one.root for one in front) == FACTS[rule]
    assert likeliest(front).root == FACTS["best"]


@given(st.permutations(MODELS), st.booleans())
def test_the_order_of_arrival_decides_nothing_but_who_of_equals_stays(order, strict):
    front, given_order = [], []
    for one, other in zip(order, MODELS):
        front = inserted(front, one, strict)
        given_order = inserted(given_order, other, strict)
    assert sorted(one[:2] for one in front) == sorted(one[:2] for one in given_order)


# The search


@pytest.fixture(scope="module")
def table():
    """Kinds of rows, columns that go together in one, a fifth of the cells missing."""
    rng = np.random.default_rng(3)
    kind = rng.integers(3, size=900)
    coin = rng.integers(2, size=900)
    noisy = [np.where(rng.random(900) < 0.1, 1 - coin, coin) for _ in range(2)]
    codes = [
        np.where(kind == 0, coin, rng.random(900) < 0.8),
        np.where(rng.random(900) < 0.8, kind, rng.integers(3, size=900)),
        *noisy,
    ]
    size = rng.normal(2.0 * (kind > 0), 1.0)
    values = np.column_stack([*codes, size, size + rng.normal(0, 1 + kind)])
    values[:, 4:] = (values[:, 4:] - values[:, 4:].mean(axis=0)) / values[:, 4:].std(0)
    values[rng.random(values.shape) < 0.2] = np.nan
    return LearningTable(values[:500], values[500:], space([2, 3, 2, 2, None, None]))


@pytest.fixture(scope="module")
def front(table):
    return pareto_spn(table, 80, np.random.default_rng(0))


def density(root, table, rows=None):
    rows = table.valid if rows is None else rows
    return compile_circuit(Circuit(root, table.features)).log_likelihood(rows)


def test_what_is_judged_is_the_circuit(table, front):
    assert len(front) > 3
    for one in front:
        circuit = Circuit(one.root.node, table.features)
        check_circuit(circuit)
        assert circuit.degrees_of_freedom == one.degrees_of_freedom
        again = density(circuit.root, table)
        np.testing.assert_allclose(one.root.log_density, again, rtol=1e-12, atol=1e-12)
        assert one.log_likelihood == pytest.approx(again.mean())


def test_larger_circuits_of_the_front_are_likelier(table, front):
    numbers = np.array([one[:2] for one in front])
    assert (np.diff(numbers, axis=0) > 0).all()
    bare = SearchSpace.from_table(table, trees=True).single_block()
    assert front[0].log_likelihood >= bare.log_density.mean()
    assert front[-1].log_likelihood > bare.log_density.mean() + 0.05
    # What was learned from has been fitted, and not what was judged by.
    gain = density(front[-1].root.node, table, table.train) - density(
        bare.node, table, table.train
    )
    assert gain.mean() > front[-1].log_likelihood - bare.log_density.mean() - 0.05


def test_what_the_rules_make(table):
    space, rng = SearchSpace.from_table(table, trees=True), np.random.default_rng(0)
    everything = np.arange(500), np.ones(6, dtype=bool)
    two = space.mixture(*everything, rng)
    assert isinstance(two.node, Sum) and len(two.children) == 2
    assert all(child.columns.all() for child in two.children)
    sizes = np.array([len(child.rows) for child in two.children])
    np.testing.assert_allclose(two.node.weights, (sizes + ALPHA) / (500 + 2 * ALPHA))
    later = space.mixture(np.arange(300, 500), everything[1], rng)
    rows = np.concatenate([child.rows for child in later.children])
    assert sorted(rows.tolist()) == list(range(300, 500))
    found = (space.partition(*everything, rng) for _ in range(10))
    rest, kinds = next(filter(None, found)).children
    assert isinstance(kinds.node, Sum) and rest.rows is everything[0]
    assert {*rest.node.variables, *kinds.node.variables} == set(range(6))
    assert 0 < len(rest.node.variables) < 6
    # Columns 2 and 3 hang together, and so do 4 and 5; each group is one leaf.
    leaves = {type(leaf): leaf for leaf in space.union(*everything, rng).node.children}
    assert {2, 3} <= set(leaves[ChowLiuTree].variables)
    assert leaves[MultivariateGaussian].variables == (4, 5)


def test_blocks_hold_the_rows_of_their_branch(table, front):
    """Children of a mixture share its rows, those of a product have all of them."""

    def rows_of(branch):
        if branch.rows is not None:
            return branch.rows
        parts = [rows_of(child) for child in branch.children]
        if isinstance(branch.node, Sum):
            joined = np.sort(np.concatenate(parts))
            assert len(np.unique(joined)) == len(joined)
            shares = np.array([len(part) for part in parts]) / len(joined)
            np.testing.assert_allclose(branch.node.weights, shares, atol=0.01)
            return joined
        for part in parts[1:]:
            np.testing.assert_array_equal(np.sort(part), np.sort(parts[0]))
        return parts[0]

    for one in front:
        np.testing.assert_array_equal(np.sort(rows_of(one.root)), np.arange(500))


def test_the_same_seed_finds_the_same(table, front):
    again = pareto_spn(table, 80, np.random.default_rng(0))
    assert [one[:2] for one in again] == [one[:2] for one in front]
    other = pareto_spn(table, 80, np.random.default_rng(1))
    assert [one[:2] for one in other] != [one[:2] for one in front]


def test_as_in_the_thesis(table):
    front = pareto_spn(table, 60, np.random.default_rng(0), thesis=True)
    kinds = {type(node) for one in front for node in walk(one.root.node)}
    assert ChowLiuTree not in kinds and Sum in kinds
    weakly = []
    for one in front:
        weakly = inserted(weakly, one)
    assert 1 < len(weakly) < len(front)


def test_without_rows_to_judge_by_nothing_grows(table):
    (only,) = pareto_spn(table._replace(valid=table.valid[:0]), 20, *rngs(1))
    assert not any(isinstance(node, Sum) for node in walk(only.root.node))


def rngs(n):
    return [np.random.default_rng(i) for i in range(n)]


# Circuits from elsewhere


@pytest.mark.parametrize("seed", range(6))
def test_planted_circuits_stay_what_they_are(seed):
    rng = np.random.default_rng(seed)
    circuit = random_circuit(rng, [2, 3, 2, None, None], depth=3)
    rows = random_rows(rng, circuit, 1200)
    table = LearningTable(rows[:1100], rows[1100:], circuit.features)
    branch = SearchSpace.from_table(table, trees=True).from_circuit(circuit.root)
    assert branch.degrees_of_freedom == circuit.degrees_of_freedom
    again = density(circuit.root, table)
    np.testing.assert_allclose(branch.log_density, again, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(density(branch.node, table), again, atol=1e-12)
    # Every row goes to the likeliest kind of each sum that it comes to.
    follow(branch, np.arange(1100), table)


def follow(branch, rows, table):
    if branch.rows is not None:
        np.testing.assert_array_equal(branch.rows, rows)
        order = np.flatnonzero(branch.columns)  # all discrete columns come first here
        assert order.tolist() == sorted(branch.node.variables)
    elif isinstance(branch.node, Sum):
        logs = [density(c.node, table, table.train[rows]) for c in branch.children]
        with np.errstate(divide="ignore"):
            best = (np.array(logs).T + np.log(branch.node.weights)).argmax(axis=1)
        for k, child in enumerate(branch.children):
            follow(child, rows[best == k], table)
    else:
        for child in branch.children:
            follow(child, rows, table)


def test_the_search_goes_on_from_a_seed(table, front):
    middle = front[len(front) // 2]
    later = pareto_spn(table, 40, np.random.default_rng(5), seed=middle.root.node)
    (first,) = pareto_spn(table, 0, np.random.default_rng(5), seed=middle.root.node)
    assert first.degrees_of_freedom == middle.degrees_of_freedom
    assert first.log_likelihood == pytest.approx(middle.log_likelihood)
    assert later[0].degrees_of_freedom >= first.degrees_of_freedom
    assert later[0].log_likelihood >= first.log_likelihood
    assert later[-1].log_likelihood > middle.log_likelihood


# Ctrl-C


def test_an_interrupted_search_keeps_its_population(table, front):
    def run():
        return pareto_spn(table, 8, np.random.default_rng(0))

    whole = [one[:2] for one in run()]
    for at in points(run, 6)[2:-1]:
        with stopped_at(at, KeyboardInterrupt):
            with warns(InterruptedFitWarning):
                found = run()
        for one in found:
            assert (
                one.degrees_of_freedom
                == Circuit(one.root.node, table.features).degrees_of_freedom
            )
        assert found[-1].log_likelihood <= whole[-1][1]
        with pytest.raises(Broken), stopped_at(at, Broken):
            run()
