"""The best trees there are over some statements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import naive
from tests.search.problems import numeric_grid
from tests.search.test_trees import random_problem

from benchmarks.few_rules.optimal_trees import (
    all_cuts,
    least_of_all,
    optimal_trees,
    statements_of,
)
from clearwood.search import Loss
from clearwood.search.trees.grow import grow_trees
from clearwood.search.trees.nodes import (
    inner_nodes,
    make_tree_problem,
    objective,
    root_of,
)
from clearwood.search.trees.splits import grow, next_split

SEEDS = st.integers(0, 2**32 - 1)


def some_statements(rng, grid, most):
    """A few splits of all kinds."""
    every = [(d, m) for d in range(len(grid.start)) for m in naive.every_split(grid, d)]
    return [every[i] for i in rng.choice(len(every), most, replace=False)]


def as_asked(grid, statements):
    """The same, with missing values on either side and by themselves."""
    found = {}
    for d, goes_left in statements:
        masks = [goes_left]
        if not grid.is_category[d]:
            masks = [np.append(goes_left[:-1], side) for side in (False, True)]
            masks.append(np.arange(len(goes_left)) == len(goes_left) - 1)
        found |= {(d, mask.tobytes()): (d, mask) for mask in masks}
    return list(found.values())


def costs_by_size(trees, most):
    costs = np.full(most, np.inf)
    for tree in trees:
        costs[tree.n_leaves - 1] = objective(tree)
    return costs


@given(SEEDS, st.sampled_from(["class", "two classes", "values", "rates"]))
@settings(max_examples=10)
def test_none_of_all_trees_is_better(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=14, literal=rng.choice([0.0, 0.01]))
    problem = problem._replace(min_samples_leaf=float(rng.integers(0, 3)))
    statements = some_statements(rng, problem.grid, 4)
    most, depth = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    asked = as_asked(problem.grid, statements)
    if kind == "rates":
        # Some rows of no rate at all are as good as any: none has quite none.
        problem = problem._replace(stats=problem.stats + [1e-3, 0, 0, 0])
    expected = naive.best_trees(problem, asked, most, depth)
    found = optimal_trees(problem, statements, most, depth)
    costs = costs_by_size(found, most)
    least = expected[np.isfinite(expected)]
    assert np.isfinite(costs).tolist() == np.isfinite(expected).tolist()
    np.testing.assert_allclose(costs[np.isfinite(costs)], least, atol=1e-9)
    assert least_of_all(problem, statements) <= least.min() + 1e-9


@pytest.mark.parametrize("kind", ["class", "values"])
@pytest.mark.parametrize("seed", range(3))
def test_trees_found_otherwise_are_no_better(kind, seed):
    problem = random_problem(np.random.default_rng(seed), kind, 200, 0.001)
    grown = grow_trees(problem, 6)
    best = costs_by_size(optimal_trees(problem, statements_of(grown), 6, 5), 6)
    for tree in grown:
        # No tree of six leaves is deeper than five.
        assert best[tree.n_leaves - 1] <= objective(tree) + 1e-12


def test_depth_bounds_the_way_to_a_leaf():
    problem = random_problem(np.random.default_rng(1), "values", 200)
    statements = statements_of(grow_trees(problem, 8))
    costs = []
    for depth in (2, 3, 4):
        trees = optimal_trees(problem, statements, 8, depth)
        assert max(len(at) for t in trees for at, _ in inner_nodes(t)) == depth - 1
        costs.append(costs_by_size(trees, 8))
    assert (costs[1][:4] <= costs[0][:4] + 1e-12).all()
    assert (costs[2] <= costs[1] + 1e-12).all()
    assert costs[2][6] < costs[1][6]


def parity(n_rows=500):
    """XOR of three of five features, which no two splits see."""
    X = np.random.default_rng(0).integers(0, 4, (n_rows, 5)).astype(np.uint8)
    y = ((X[:, :3] > 1).sum(axis=1) % 2).astype(int)
    loss = Loss.probabilities(np.eye(2)[y], np.ones(n_rows), 0.1)
    return make_tree_problem(numeric_grid(X, 4), loss, np.ones(n_rows), 0.0003), y


def test_what_no_two_splits_see_is_found():
    problem, y = parity()
    tree = optimal_trees(problem, all_cuts(problem.grid), 8, 3)[-1]
    assert tree.n_leaves == 8
    assert (tree.predict(problem.grid).argmax(axis=1) == y).all()
    assert objective(tree) == pytest.approx(8 * 3 * 0.0003)
    assert objective(grow(root_of(problem), 8, next_split)) > 0.1


def test_values_that_will_be_missing_go_with_most_rows():
    X = np.repeat([0, 1], [30, 170]).astype(np.uint8)[:, None]
    loss = Loss.probabilities(np.eye(2)[X[:, 0]], np.ones(200), 0.1)
    problem = make_tree_problem(numeric_grid(X, 2), loss, np.ones(200))
    tree = optimal_trees(problem, [(0, np.array([True, False, True]))], 2, 2)[-1]
    assert tree.goes_left.tolist() == [True, False, False]


def test_without_statements_there_is_one_leaf():
    problem, _ = parity(50)
    assert [t.n_leaves for t in optimal_trees(problem, [], 4, 3)] == [1]
