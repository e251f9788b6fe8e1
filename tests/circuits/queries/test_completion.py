import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits import made, naive
from tests.circuits.queries.test_shares import evidence_of
from tests.wording import refuses

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.queries.bounds import Bounds, choices
from clearwood.circuits.queries.completion import most_probable
from clearwood.circuits.queries.modes import likeliest_kinds
from clearwood.distributions import Gaussian, Histogram, MultivariateGaussian
from clearwood.exceptions import InputError


def test_golden_completions_of_levels_are_proved():
    facts, circuit = made.golden_inference("discrete")
    facts = facts["most_probable_explanation"]
    found = most_probable(circuit, np.array([evidence_of(fact) for fact in facts]))
    np.testing.assert_array_equal(found.values, [fact["exact_state"] for fact in facts])
    np.testing.assert_allclose(
        found.log_density, [fact["exact_log_joint"] for fact in facts], rtol=1e-13
    )
    assert found.proved.all()


def test_golden_completions_of_values_are_the_highest_known():
    facts, circuit = made.golden_inference("mixed")
    facts = facts["most_probable_explanation"]["cases"]
    found = most_probable(circuit, np.array([evidence_of(fact) for fact in facts]))
    np.testing.assert_allclose(
        found.values, [fact["exact_state"] for fact in facts], atol=1e-7
    )
    best = np.array([fact["exact_log_joint"] for fact in facts])
    np.testing.assert_allclose(found.log_density, best, rtol=1e-13)
    assert (found.bound >= best).all() and (found.bound < best + 1).all()


def test_kinds_that_agree_outweigh_the_single_tallest():
    kinds = (Gaussian(0, 0.0, 1.0), Gaussian(0, 5.0, 1.0), Gaussian(0, 5.1, 1.0))
    circuit = Circuit(Sum(np.array([0.4, 0.3, 0.3]), kinds), made.space([None]))
    found = most_probable(circuit, np.array([[np.nan]]))
    assert found.values[0, 0] == pytest.approx(5.05, abs=1e-5)
    # Kinds of one point: what they add up to is what the bound says.
    kinds = (Gaussian(0, 0.0, 1.0), Gaussian(0, 5.0, 1.0), Gaussian(0, 5.0, 0.5))
    circuit = Circuit(Sum(np.array([0.0, 0.5, 0.5]), kinds), made.space([None]))
    assert most_probable(circuit, np.array([[np.nan]])).proved[0]


@settings(max_examples=40)
@given(made.circuits(kinds=("discrete",), zeros=True, most_columns=6))
def test_the_best_of_all_completions_is_found(circuit):
    sizes = [len(labels) for labels in circuit.features.categories]
    rows = made.random_rows(np.random.default_rng(5), circuit, 3, missing=0.8)
    possible = [row for row in rows if naive.density(circuit.root, row) > 0]
    if not possible:
        return
    found = most_probable(circuit, np.array(possible))
    assert found.proved.all()
    for row, best, value in zip(possible, found.values, found.log_density):
        every = naive.completions(row, sizes)
        most = max(naive.density(circuit.root, own) for own in every)
        assert naive.density(circuit.root, best) == pytest.approx(most, rel=1e-9)
        assert value == pytest.approx(np.log(most), abs=1e-9)


@settings(max_examples=15)
@given(made.circuits(zeros=True, most_columns=4))
def test_no_point_is_above_the_bound(circuit):
    rng = np.random.default_rng(6)
    row = made.random_rows(rng, circuit, 1, missing=0.8)
    if naive.density(circuit.root, row[0]) == 0:
        return
    found = most_probable(circuit, row)
    filled = naive.density(circuit.root, found.values[0])
    assert np.exp(found.log_density[0]) == pytest.approx(filled, rel=1e-9)
    others = made.random_rows(rng, circuit, 40, missing=0.0)
    others = np.where(np.isnan(row), others, row)
    others[:20] += np.where(
        np.isnan(row) & continuous(circuit), found.values - others[:20], 0
    )
    density = max(naive.density(circuit.root, own) for own in others)
    assert density <= np.exp(found.bound[0]) * (1 + 1e-9)
    # Of normal columns the bound says nothing of which point it is; of levels it does.
    assert density <= filled * (1 + 1e-9) or not found.proved[0]


def continuous(circuit):
    return np.array([labels is None for labels in circuit.features.categories])


@settings(max_examples=25)
@given(made.circuits(kinds=("discrete",), zeros=True, most_columns=4))
def test_bounds_hold_for_every_set_of_levels(circuit):
    choice = choices(circuit.root)
    rng = np.random.default_rng(7)
    allowed = rng.random((4, choice.n_slots)) < 0.6
    for slots in choice.slots:
        allowed[~allowed[:, slots].any(axis=1), slots.start] = True
    bound, table = Bounds(circuit.root, choice)(allowed)
    states = naive.states(circuit)
    density = np.array([naive.density(circuit.root, state) for state in states])
    taken = np.array([choice.single(dict(enumerate(state))) for state in states])
    for own, most, worth in zip(allowed, bound, table):
        inside = ~(taken & ~own).any(axis=1)
        assert density[inside].max() <= np.exp(most) * (1 + 1e-12)
        for slot in np.flatnonzero(own):
            there = density[inside & taken[:, slot]].max()
            assert there <= np.exp(most + worth[slot]) * (1 + 1e-12)
    exact, _ = Bounds(circuit.root, choice)(taken)
    np.testing.assert_allclose(np.exp(exact), density, rtol=1e-10)


def test_a_search_that_is_cut_short_says_so():
    circuit = made.random_circuit(np.random.default_rng(3), [4] * 8, depth=5)
    row = np.full((1, 8), np.nan)
    short, full = most_probable(circuit, row, most=1), most_probable(circuit, row)
    assert full.proved[0] and not short.proved[0]
    assert short.log_density[0] <= full.log_density[0] <= short.bound[0]
    assert not np.isnan(short.values).any()


def test_complete_rows_stay_and_impossible_ones_are_named():
    _, circuit = made.golden_inference("zeros")
    found = most_probable(circuit, np.array([[1.0, 0.0, 2.0]]))
    assert found.values.tolist() == [[1, 0, 2]] and found.proved.all()
    with refuses(InputError):
        most_probable(circuit, np.array([[1, 0, 2], [0, np.nan, 2]]))


def test_a_histogram_beside_a_normal_is_bounded_by_its_highest_bin():
    high = Histogram(0, np.array([0.0, 1.0, 4.0]), np.array([0.9, 0.1]))
    root = Sum(np.array([0.5, 0.5]), (high, Gaussian(0, 9.0, 1.0)))
    bound, _ = Bounds(root, choices(root))(np.ones((1, 0), dtype=bool))
    assert np.log(0.45) <= bound[0] <= np.log(0.45 + 0.2)


def test_the_first_start_is_what_max_product_gives():
    def top(node):
        if isinstance(node, Sum):
            return max(
                np.log(w) + top(child) for w, child in zip(node.weights, node.children)
            )
        if isinstance(node, Product):
            return sum(top(child) for child in node.children)
        return node.modes()[0][0]

    gaussian = MultivariateGaussian((0, 1), np.zeros(2), np.eye(2))
    apart = Product((Gaussian(0, 3.0, 1.0), Gaussian(1, 3.0, 1.0)))
    root = Sum(np.array([0.6, 0.4]), (gaussian, apart))
    height, point = likeliest_kinds(root, 1)[0]
    assert height == pytest.approx(top(root)) and point == {0: 0.0, 1: 0.0}
