"""EM on all parameters: the golden sweeps, and what no sweep may do."""

import warnings
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.circuits import made
from tests.interrupts import stopped_at

from clearwood._numeric.logspace import overrelaxed
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.expectation import em_sweeps, long_sweeps, refine
from clearwood.circuits.nodes import Product, Sum, walk
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.exceptions import InterruptedFitWarning

FACTS = made.GOLDEN["em_weights"]["discrete"]


def parameters(circuit):
    """All numbers of a circuit, leaves and sums in their order."""
    found = []
    for node in walk(circuit.root):
        if isinstance(node, Sum):
            found.append(node.weights)
        elif isinstance(node, Gaussian):
            found.append([node.mean, node.variance])
        elif isinstance(node, MultivariateGaussian):
            found += [node.mean, np.ravel(node.covariance)]
        elif isinstance(node, ChowLiuTree):
            found += [np.ravel(table) for table in node.tables]
        elif not isinstance(node, Product):
            found.append(node.probabilities)
    return np.concatenate(found)


def in_memory(values, weight=None):
    weight = np.ones(len(values)) if weight is None else weight
    return lambda compiled: compiled.expected(values, weight)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_golden_sweeps(alpha):
    values = np.array(FACTS["rows"], dtype=float)
    circuit = made.golden_circuit(FACTS["spn"], [2, 2, 2, 3])
    expected = FACTS["smoothed"]["sweeps"] if alpha else FACTS["ml"]
    steps = em_sweeps(compile_circuit(circuit), in_memory(values), alpha, np.ones(4))
    for (compiled, likelihood), facts in zip(steps, expected):
        assert likelihood == pytest.approx(facts["log_likelihood"], rel=1e-12)
        golden = made.golden_circuit(facts["parameters"], [2, 2, 2, 3])
        found = parameters(compiled.as_circuit())
        np.testing.assert_allclose(found, parameters(golden), rtol=1e-10)
        prior = alpha * np.log(found).sum()
        assert likelihood + prior == pytest.approx(facts["penalised"], rel=1e-12)


def penalised(compiled, likelihood, alpha, spread):
    """What may not fall, with smoothing."""
    if not alpha:
        return likelihood
    leaves = list(walk(compiled.as_circuit().root))
    normals = 0.0
    for leaf in leaves:
        if isinstance(leaf, Gaussian | MultivariateGaussian):
            covariance = getattr(leaf, "covariance", None)
            covariance = [[leaf.variance]] if covariance is None else covariance
            wide = np.diag(spread[list(leaf.variables)])
            trace = np.trace(np.linalg.solve(covariance, wide))
            normals -= (np.linalg.slogdet(covariance)[1] + trace) / 2
    levels = [
        parameters(Circuit(node, made.space([None])))
        for node in leaves
        if isinstance(node, Bernoulli | Categorical | Histogram | ChowLiuTree)
    ]
    sums = compiled.log_weight.sum()
    shares = np.log(np.concatenate([[1.0], *levels])).sum()
    return likelihood + alpha * (sums + shares + normals)


@given(made.circuits(), st.integers(0, 99), st.sampled_from([0.0, 0.3]))
def test_no_sweep_makes_rows_less_likely(circuit, seed, alpha):
    rng = np.random.default_rng(seed)
    values = made.random_rows(rng, circuit, 30)
    compiled = compile_circuit(circuit)
    # A histogram may exclude rows for good.
    values = values[compiled.log_likelihood(values) > -np.inf]
    weight = rng.gamma(1.0, size=len(values))
    spread = np.full(values.shape[1], 1e3)
    steps = em_sweeps(compiled, in_memory(values, weight), alpha, spread)
    found = [penalised(*next(steps), alpha, spread) for _ in range(6)]
    assert (np.diff(found) >= -1e-9 * (1 + np.abs(found[1:]))).all()


def mixture(shift=0.0, unit=1.0):
    """Of two kinds of rows, all leaves with numbers, about as far as the data are."""
    both = MultivariateGaussian((1, 2), shift + unit * np.zeros(2), unit**2 * np.eye(2))
    other = MultivariateGaussian((1, 2), shift + unit * np.ones(2), unit**2 * np.eye(2))
    kinds = (
        Product((Gaussian(0, shift + unit * 0.0, unit**2), both)),
        Product((Gaussian(0, shift + unit * 2.0, unit**2), other)),
    )
    return Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([None] * 3))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(120, 3)) + 3 * (rng.random((120, 1)) < 0.4)
    values[rng.random(values.shape) < 0.2] = np.nan
    return values


def test_units_and_offsets_change_only_the_unit(rows):
    found = refine(mixture(), rows, sweeps=8, tolerance=0.0)
    moved = refine(mixture(1e6, 1e-2), 1e6 + 1e-2 * rows, sweeps=8, tolerance=0.0)
    np.testing.assert_allclose(moved.root.weights, found.root.weights, rtol=1e-5)
    for one, two in zip(found.root.children, moved.root.children):
        mean = (np.array(two.children[1].mean) - 1e6) / 1e-2
        np.testing.assert_allclose(mean, one.children[1].mean, atol=1e-5)
        variance = two.children[0].variance / 1e-4
        assert variance == pytest.approx(one.children[0].variance, rel=1e-5)


def test_variances_stay_above_their_floor():
    """Rows that are all alike, and a column that is another's double."""
    x = np.linspace(0, 1, 30)
    values = np.column_stack([np.full(30, 7.0), x, 2 * x])
    found = refine(mixture(), values, sweeps=30)
    compiled = compile_circuit(found)
    assert np.isfinite(parameters(found)).all()
    assert np.isfinite(compiled.log_likelihood(values)).all()
    least = min(kind.children[0].variance for kind in found.root.children)
    assert least == pytest.approx(1e-6)


def test_floors_are_those_of_the_columns():
    leaves = (
        MultivariateGaussian((3, 1), np.zeros(2), np.eye(2)),
        Gaussian(2, 0.0, 1.0),
        Gaussian(0, 0.0, 1.0),
    )
    circuit = Circuit(Product(leaves), made.space([None] * 4))
    spread = 1e6 * np.array([1.0, 2.0, 3.0, 4.0])
    both, *one = refine(circuit, np.ones((9, 4)), spread=spread).root.children
    np.testing.assert_allclose(both.covariance, np.diag([4.0, 2.0]))
    assert [leaf.variance for leaf in one] == [3.0, 1.0]


def test_a_leaf_of_one_row_is_not_narrow():
    """Of a column that is nearly all missing, a kind may hold a single cell."""
    values = np.column_stack([np.full((40, 3), np.nan), np.arange(40.0)])[:, [0, 3, 1]]
    values[20:, 1] += 500.0
    values[[0, 19, 30], 0] = 1.0, 2.0, 7.0
    kinds = tuple(
        Product((Gaussian(0, 0.0, 1.0), Gaussian(1, at, 900.0), Gaussian(2, 0.0, 1.0)))
        for at in (0.0, 500.0)
    )
    circuit = Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([None] * 3))
    found = refine(circuit, values, alpha=0.5, spread=np.full(3, 9.0))
    own, other, unseen = found.root.children[1].children
    assert (own.mean, own.variance) == pytest.approx((7.0, 0.5 * 9.0 / 1.5))
    assert unseen.variance == 1.0
    of_twenty = (20**2 - 1) / 12
    assert other.variance == pytest.approx((20 * of_twenty + 4.5) / 20.5)


def test_validation_rows_stop_the_fit(rows):
    train, valid = rows[:6], rows[6:]
    found = refine(mixture(), train, valid=valid)
    far = refine(mixture(), train)
    steps = em_sweeps(
        compile_circuit(mixture()), in_memory(train), 0.0, np.full(3, 1e-6)
    )
    scores = [next(steps)[0].log_likelihood(valid).mean() for _ in range(30)]
    best = int(np.argmax(np.array(scores[1:]) < np.array(scores[:-1])))
    reached = compile_circuit(found).log_likelihood(valid).mean()
    assert reached == pytest.approx(scores[best], rel=1e-6)
    assert reached > compile_circuit(far).log_likelihood(valid).mean()


def two_close_kinds():
    """Kinds of rows that overlap: EM takes a hundred sweeps to tell them apart."""
    kinds = tuple(
        Product((Gaussian(0, mean, 1.0), Categorical(1, np.array([0.5, p, 0.5 - p]))))
        for mean, p in [(-0.2, 0.2), (0.2, 0.3)]
    )
    circuit = Circuit(Sum(np.array([0.3, 0.7]), kinds), made.space([None, 3]))
    rng = np.random.default_rng(0)
    kind = rng.random(2000) < 0.5
    level = np.where(rng.random(2000) < 0.6, kind, 2)
    return circuit, np.column_stack([rng.normal(1.6 * kind), level])


def test_beyond_goes_on_in_logs():
    circuit, values = two_close_kinds()
    start = compile_circuit(circuit)
    (_, _), (once, _) = islice(em_sweeps(start, in_memory(values), 0.1, np.ones(2)), 2)
    far = once.beyond(start, 3.0, np.ones(2))

    def moved(of):
        before, after = of(start), of(once)
        raised = after * (after / before) ** 2
        return raised / raised.sum()

    np.testing.assert_allclose(
        np.exp(far.log_weight[-2:]), moved(lambda c: np.exp(c.log_weight[-2:]))
    )
    for leaf in (slice(0, 3), slice(3, 6)):
        found = far.leaves.levels.probabilities[leaf]
        expected = moved(lambda c, leaf=leaf: c.leaves.levels.probabilities[leaf])
        np.testing.assert_allclose(found, expected)
    before, after, found = (c.leaves.normals for c in (start, once, far))
    np.testing.assert_allclose(found.mean, 3 * after.mean - 2 * before.mean)
    np.testing.assert_allclose(
        found.variance, after.variance * (after.variance / before.variance) ** 2
    )
    same = once.beyond(start, 1.0, np.ones(2)).as_circuit()
    np.testing.assert_allclose(parameters(same), parameters(once.as_circuit()))


def test_long_sweeps_arrive_earlier():
    circuit, values = two_close_kinds()
    start, expects = compile_circuit(circuit), in_memory(values)
    settings = 0.1, np.ones(2)
    plain = islice(em_sweeps(start, expects, *settings), 100)
    scores = np.array([log / len(values) for _, log in plain])
    steps = islice(long_sweeps(start, expects, values, *settings, 1e-3), 100)
    far = np.array([score for _, score in steps])
    near = scores[-1] - 1e-3
    assert (far >= near).argmax() < 0.75 * (scores >= near).argmax()
    assert far[-1] > near


def test_rows_that_are_impossible_have_no_say():
    """Until smoothing makes them possible."""
    kinds = (
        Product((Bernoulli(0, 0.0), Gaussian(1, 0.0, 1.0))),
        Product((Bernoulli(0, 0.0), Gaussian(1, 1.0, 1.0))),
    )
    circuit = Circuit(Sum(np.array([0.5, 0.5]), kinds), made.space([2, None]))
    values = np.array([[0.0, 8.0], [1.0, 30.0], [np.nan, 8.0], [0.0, 6.0]])
    found = refine(circuit, values)
    means = [kind.children[1].mean for kind in found.root.children]
    assert found.root.weights @ means == pytest.approx(22 / 3)
    assert compile_circuit(found).log_likelihood(values)[1] == -np.inf
    found = refine(circuit, values, alpha=0.1)
    assert np.isfinite(compile_circuit(found).log_likelihood(values)).all()


def test_nothing_at_all_leaves_everything():
    circuit = made.random_circuit(np.random.default_rng(5), [2, None, 3, None])
    found = refine(circuit, np.full((3, 4), np.nan), sweeps=1, tolerance=-1.0)
    leaves = [node for node in walk(found.root) if not isinstance(node, Sum | Product)]
    before = [
        node for node in walk(circuit.root) if not isinstance(node, Sum | Product)
    ]
    for one, two in zip(leaves, before):
        np.testing.assert_allclose(
            parameters(Circuit(one, circuit.features)),
            parameters(Circuit(two, circuit.features)),
        )


def test_interrupted_fits_keep_the_best_so_far(rows):
    module = "clearwood.circuits.expectation"
    with (
        pytest.warns(InterruptedFitWarning),
        stopped_at(14, KeyboardInterrupt, module),
    ):
        found = refine(mixture(), rows)
    assert np.isfinite(parameters(found)).all()
    assert (parameters(found) != parameters(mixture())).any()
    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
        warnings.simplefilter("error")
        with stopped_at(1, KeyboardInterrupt, "clearwood.circuits.compiled"):
            refine(mixture(), rows)


def test_steps_from_next_to_nothing_stay_finite():
    far = overrelaxed(np.array([0.1, 0.9]), np.array([1e-60, 0.5]), 8.0)
    assert np.isfinite(far).all() and far[0] > far[1]
