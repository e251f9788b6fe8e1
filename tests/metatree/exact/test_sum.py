"""The exact sum over all trees, beside lists of all trees and the golden values."""

import json
from itertools import product

import numpy as np
import pytest
from tests.metatree.exact import naive
from tests.metatree.naive import path
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.metatree import (
    BernoulliBeta,
    CategoricalDirichlet,
    LinearRegressionNormalGamma,
    NormalNormalGamma,
    PoissonGamma,
)
from clearwood.metatree.exact.states import count_states
from clearwood.metatree.exact.sum import exact_sum
from clearwood.metatree.exact.trees import (
    breadth_first,
    map_tree,
    question_shares,
    sample_trees,
    structure_of,
)

# Sums of a few thousand terms, each right to a few units in the last place.
EXACT = 1e-12


def rows(n, n_values, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.integers(m, size=n) for m in n_values])


def targets(leaf_model, codes, seed=1):
    rng = np.random.default_rng(seed)
    signal = codes[:, 0] + 2.0 * (codes[:, -1] == 1)
    if isinstance(leaf_model, BernoulliBeta):
        return (signal + rng.random(len(codes)) > 1.5).astype(float)
    if isinstance(leaf_model, CategoricalDirichlet):
        return np.minimum(signal + rng.integers(2, size=len(codes)), 2).astype(float)
    if isinstance(leaf_model, PoissonGamma):
        return rng.poisson(1.0 + signal).astype(float)
    return signal + rng.normal(size=len(codes))


CASES = {
    "no repeats": (BernoulliBeta(0.5, 1.5), (2, 2, 2), (0.4, 0.3, 0.6), False),
    "repeats": (BernoulliBeta(), (2, 2), (0.4, 0.3, 0.6), True),
    "deeper than features": (BernoulliBeta(), (2, 2), (0.5,) * 3, False),
    "three values": (CategoricalDirichlet.symmetric(3), (3, 2), (0.6, 0.5), False),
    "three values, repeats": (PoissonGamma(), (3, 2), (0.6, 0.5), True),
    "normal": (NormalNormalGamma(), (2, 2, 2), (0.7, 0.5), True),
    "nothing new to ask": (BernoulliBeta(), (2,), (0.95,) * 3, True),
    "asks eagerly": (NormalNormalGamma(), (2, 2), (0.95, 0.95), True),
    "asks eagerly of three": (BernoulliBeta(), (3,), (0.95, 0.5), True),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    """An exact sum, and the same by listing all trees."""
    leaf_model, n_values, g, repeats = CASES[request.param]
    codes = rows(14, n_values)
    y = targets(leaf_model, codes)
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(y))
    result = exact_sum(
        codes, y, leaf_model, max_depth=len(g), g=lambda depth: g[depth],
        n_values=n_values, repeats=repeats, sample_weight=weight,
    )  # fmt: skip
    listed = naive.Enumeration(codes, y, leaf_model, n_values, g, repeats, weight)
    assert listed.prior_total == pytest.approx(1.0, abs=1e-13)
    return result, listed


def test_evidence(case):
    result, listed = case
    assert result.log_evidence == pytest.approx(listed.log_evidence, rel=EXACT)


def test_predictions(case):
    result, listed = case
    points = np.array(list(product(*(range(m) for m in result.levels.n_values))))
    leaf_model = result.leaf_model
    expected = [listed.average(leaf_model.mean, row) for row in points]
    np.testing.assert_allclose(result.predict(points), expected, rtol=EXACT)
    np.testing.assert_allclose(result.predictive(points).mean(), expected, rtol=EXACT)
    density = [
        listed.average(lambda s: np.exp(leaf_model.log_density(s, 1.0)), row)
        for row in points
    ]
    found = np.exp(result.predictive(points).log_density(1.0))
    np.testing.assert_allclose(found, density, rtol=EXACT)


def test_averages_may_have_many_outputs(case):
    result, _ = case
    points, mean = rows(5, result.levels.n_values), result.leaf_model.mean

    def both(stats):
        return np.column_stack([mean(stats), 2 * mean(stats)])

    once, twice = result.average(both, points).T
    np.testing.assert_allclose(once, result.average(mean, points), rtol=EXACT)
    np.testing.assert_allclose(twice, 2 * once, rtol=EXACT)


def test_weights_of_leaves_sum_to_one(case):
    result, _ = case
    for _, _, weights in result.mixture(rows(20, result.levels.n_values)):
        np.testing.assert_allclose(weights.sum(axis=0), 1.0, rtol=EXACT)


def test_features_used(case):
    result, listed = case
    expected = listed.feature_used(len(result.levels.n_values))
    np.testing.assert_allclose(result.feature_used(), expected, rtol=1e-11)


def test_map_tree(case):
    result, listed = case
    best = map_tree(result)
    top = listed.log_posterior.max()
    assert best.log_probability == pytest.approx(top, rel=EXACT)
    # Empty nodes make ties: the smallest tree wins, then the lowest features.
    ties = [t for t, p in zip(listed.trees, listed.log_posterior) if p > top - 1e-10]
    fewest = min(map(naive.n_nodes, ties))
    expected = min(t for t in ties if naive.n_nodes(t) == fewest)
    assert best.questions == expected


def test_shares_of_the_first_question(case):
    result, listed = case
    expected = np.zeros(len(result.levels.n_values) + 1)
    for tree, probability in zip(listed.trees, listed.posterior):
        expected[tree[0] if tree else -1] += probability
    np.testing.assert_allclose(question_shares(result, {}), expected, rtol=1e-11)


def test_drawn_trees_come_as_often_as_they_should(case):
    result, listed = case
    n = 2000
    drawn = sample_trees(result, n, random_state=0)
    expected = dict(zip(listed.trees, listed.posterior))
    likely = sorted(expected, key=expected.get, reverse=True)[:10]
    for tree in likely:
        p = expected[tree]
        deviation = (drawn.count(tree) / n - p) / np.sqrt(p * (1 - p) / n)
        assert abs(deviation) < 4.0
    assert set(drawn) <= set(expected)


@pytest.fixture(scope="module")
def golden(golden_folder):
    data = json.loads((golden_folder / "metatree.json").read_text())
    return data["A_bernoulli"], data["H_all_feature_assignments"]


def test_golden_sum_over_all_assignments(golden):
    data, expected = golden
    codes, y = np.array(data["X"]), np.array(data["y"])
    leaf = BernoulliBeta(**{"a": data["h0"]["beta"], "b": data["h0"]["alpha"]})
    result = exact_sum(codes, y, leaf, max_depth=3, g=0.4, repeats=True)
    assert result.log_evidence == pytest.approx(
        expected["log_marginal_likelihood"], rel=EXACT
    )
    points = np.array(list(product(range(2), repeat=3)))
    np.testing.assert_allclose(
        result.predict(points), expected["predictive_p1"], rtol=EXACT
    )


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("n_values", [(2,) * 6, (2, 3, 2, 4, 2)])
def test_more_features_beside_the_plain_recursion(n_values, repeats):
    codes = rows(40, n_values)
    y = targets(BernoulliBeta(), codes)
    g = (0.6, 0.5, 0.4)
    result = exact_sum(
        codes, y, BernoulliBeta(), max_depth=3, g=g, n_values=n_values, repeats=repeats
    )
    expected = naive.recursion(codes, y, BernoulliBeta(), n_values, g, repeats)
    assert result.log_evidence == pytest.approx(expected, rel=EXACT)
    # One more row: its density is the quotient of two sums.
    point = codes[:1]
    more = naive.recursion(
        np.vstack([codes, point]), np.append(y, 1.0), BernoulliBeta(), n_values, g,
        repeats,
    )  # fmt: skip
    assert result.predict(point)[0] == pytest.approx(np.exp(more - expected), rel=1e-11)


def test_prediction_does_not_depend_on_the_rows_around():
    codes = rows(700, (2,) * 5)
    y = targets(BernoulliBeta(), codes)
    result = exact_sum(codes, y, BernoulliBeta(), max_depth=2)
    alone = [result.predict(codes[i : i + 1])[0] for i in range(0, 700, 70)]
    np.testing.assert_allclose(result.predict(codes)[::70], alone, rtol=1e-15)


def test_large_common_offset_costs_nothing():
    codes = rows(60, (2,) * 4)
    y = np.round(targets(NormalNormalGamma(), codes) * 1024) / 1024
    near = exact_sum(codes, y, NormalNormalGamma(m=0.0), max_depth=3)
    far = exact_sum(codes, y + 2.0**20, NormalNormalGamma(m=2.0**20), max_depth=3)
    # A mean near 2**20 is kept to 1e-10; sums about zero would lose 1e-4 here.
    assert far.log_evidence == pytest.approx(near.log_evidence, abs=1e-8)
    np.testing.assert_allclose(
        far.predict(codes) - 2.0**20, near.predict(codes), atol=1e-9
    )


def test_order_of_rows_and_of_features_is_nothing():
    codes = rows(50, (2, 3, 2, 2))
    y = targets(BernoulliBeta(), codes)
    options = {"max_depth": 3, "g": 0.4}
    n_values = np.array([2, 3, 2, 2])
    first = exact_sum(codes, y, BernoulliBeta(), n_values=n_values, **options)
    order = np.random.default_rng(0).permutation(50)
    mixed = exact_sum(
        codes[order], y[order], BernoulliBeta(), n_values=n_values, **options
    )
    assert mixed.log_evidence == first.log_evidence
    turned = exact_sum(
        codes[:, ::-1], y, BernoulliBeta(), n_values=n_values[::-1], **options
    )
    assert turned.log_evidence == pytest.approx(first.log_evidence, rel=EXACT)
    np.testing.assert_allclose(
        turned.feature_used()[::-1], first.feature_used(), rtol=1e-11
    )


def test_leaves_that_read_features():
    codes = rows(30, (2, 2))
    x = np.column_stack([np.ones(30), np.linspace(-1, 1, 30)])
    y = 3.0 * x[:, 1] * codes[:, 0] + np.random.default_rng(0).normal(size=30)
    leaf = LinearRegressionNormalGamma((0.0, 0.0), 1.0, 1.0, 1.0)
    result = exact_sum(codes, y, leaf, max_depth=1, g=0.5, x=x)
    parts = [(codes[:, j], j) for j in range(2)]

    def evidence(here):
        stats = leaf.no_rows(1)
        leaf.add_rows(
            stats,
            np.zeros(here.sum(), int),
            y[here],
            np.ones(here.sum()),
            x[here],
        )
        return leaf.log_marginal(stats)[0]

    asked = [evidence(c == 0) + evidence(c == 1) + np.log(0.25) for c, _ in parts]
    expected = np.logaddexp.reduce([np.log(0.5) + evidence(codes[:, 0] >= 0), *asked])
    assert result.log_evidence == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(
        result.predict(codes, x), result.predictive(codes, x).mean()
    )


def test_no_rows_and_no_depth():
    nothing = np.zeros((0, 3), dtype=int)
    empty = exact_sum(nothing, np.zeros(0), NormalNormalGamma(), max_depth=2)
    assert empty.log_evidence == pytest.approx(0.0, abs=1e-13)
    codes = rows(9, (2, 2))
    y = targets(BernoulliBeta(), codes)
    flat = exact_sum(codes, y, BernoulliBeta(), max_depth=0)
    assert map_tree(flat).questions == ()
    assert flat.predict(codes)[0] == pytest.approx((y.sum() + 0.5) / 10.0)
    sure = exact_sum(codes, y, BernoulliBeta(), max_depth=1, g=1.0)
    assert question_shares(sure, {})[-1] == 0.0
    one = exact_sum(codes[:, :1], y, BernoulliBeta(), max_depth=1, g=1.0)
    assert one.feature_used().tolist() == [1.0]
    again = exact_sum(codes, y, BernoulliBeta(), max_depth=2, g=1.0, repeats=True)
    assert ((again.feature_used() > 0.5) & (again.feature_used() < 1.0)).all()
    never = exact_sum(codes, y, BernoulliBeta(), max_depth=1, g=0.0)
    assert never.feature_used().tolist() == [0.0, 0.0]
    assert never.log_evidence == pytest.approx(flat.log_evidence)


def test_number_of_states():
    assert count_states(np.full(20, 2), 4, repeats=True) == 98_201
    known = exact_sum(rows(5, (2, 3, 2)), np.zeros(5), BernoulliBeta(), max_depth=2,
                      n_values=(2, 3, 2))  # fmt: skip
    assert known.n_states == sum(len(level) for level in known.log_sum) == 24


def test_too_large_a_problem_is_refused_before_work():
    codes = np.zeros((3, 200), dtype=int)
    with refuses(InputError, match="1,045,546,401.*max_states"):
        exact_sum(codes, np.zeros(3), BernoulliBeta(), max_depth=4)


@pytest.mark.parametrize(
    "change",
    [
        {"codes": np.array([[0, 2]])},
        {"codes": np.array([[0, -1]])},
        {"codes": np.array([[0.0, 1.0]])},
        {"y": np.zeros(2)},
        {"sample_weight": [-1.0]},
        {"n_values": [2, 1]},
        {"g": 1.5},
        {"g": [0.5, 0.5]},
        {"max_depth": -1},
    ],
)
def test_wrong_input(change):
    given = {"codes": np.array([[0, 1]]), "y": np.zeros(1), "max_depth": 1} | change
    with refuses(InputError):
        exact_sum(given.pop("codes"), given.pop("y"), BernoulliBeta(), **given)


def test_structure_of_the_best_tree_routes_as_it_reads():
    codes = rows(40, (2, 3, 2))
    y = targets(BernoulliBeta(), codes)
    result = exact_sum(
        codes, y, BernoulliBeta(), max_depth=2, n_values=(2, 3, 2), g=0.8
    )
    questions = map_tree(result).questions
    structure = structure_of(questions, result.levels.n_values)
    assert structure.feature.tolist() == breadth_first(questions)
    ends = structure.route(codes)
    for row, end in zip(codes, ends):
        asked = structure.feature[path(structure, int(end))[:-1]].tolist()
        assert asked == [j for j, _ in naive.leaf_of(questions, row)]


def test_lists_are_tables_too():
    codes, y = [[0, 1], [1, 0], [1, 1]], [0, 1, 1]
    found = exact_sum(codes, y, BernoulliBeta(), max_depth=2)
    expected = exact_sum(np.array(codes), y, BernoulliBeta(), max_depth=2)
    assert found.log_evidence == expected.log_evidence
    assert found.predict(codes).tolist() == expected.predict(np.array(codes)).tolist()
    with refuses(InputError):
        exact_sum([0, 1], [0, 1], BernoulliBeta(), max_depth=2)
