"""Trees as they are grown, cut back and refined; cuts between values."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.schema import features_of
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.trees import (
    project_trees,
    projection_problem,
    scores_of,
    value_bins,
)
from clearwood.references import Reference
from clearwood.rules import Training


class Says(Reference):
    """What a function says, of one draw or several."""

    task, description = "regression", "a function"

    def __init__(self, function, n_draws=1, task="regression", noise=0.01):
        self.function, self.n_draws, self.task = function, n_draws, task
        self.noise = noise

    def draws(self, X):
        return np.atleast_2d(self.function(np.asarray(X, dtype=float)))


def problem_of(X, values, min_samples_leaf=5):
    bins = value_bins(FeatureSpace.numeric(X.shape[1]), X)
    grid = Training(X, values, None, np.ones(len(X)), values, bins).grid
    said = PredictiveDraws(values[None], np.ones((1, len(X))))
    return projection_problem(said, "mean", grid, np.ones(len(X)), min_samples_leaf)


def either(X):
    """Either, but not both: the first split alone brings nothing."""
    return np.where((X[:, 0] > 0.1) ^ (X[:, 1] > -0.2), 1.0, -1.0)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(120, 3))


def test_refinement_is_done_where_it_is_asked_for_only(rows):
    apart = {}
    for refine in (True, False):
        tree = cw.ProjectedTreeRegressor(Says(either), n_leaf_nodes=4, draws="each")
        tree.set_params(refine=refine).fit(rows)
        alone, _ = tree.draw_trees_[0]
        apart[refine] = [
            np.mean((said.predict(rows) - either(rows)) ** 2) for said in (tree, alone)
        ]
    assert max(apart[True]) < 1e-3 < 0.1 < min(apart[False])


@pytest.mark.parametrize("rank", [1, 3, 12])
def test_scores_of_draws_keep_distances_between_rows(rank):
    """In as many columns as the draws have directions."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(12, rank)) @ rng.normal(size=(rank, 40))
    draws -= draws.mean()
    said = PredictiveDraws(draws, np.ones((12, 40)))
    scores, _ = scores_of(said, "mean", np.full(40, 1 / 40))
    assert scores.shape[1] in (rank, rank + 1)
    unit = np.sqrt(np.mean(draws**2))
    found, expected = (
        ((one[:, None] - one[None]) ** 2).sum(axis=2)
        for one in (scores, draws.T / unit / np.sqrt(12))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_trees_are_no_deeper_than_they_may_be(rows, refine, most):
    def depth(node):
        return max((1 + depth(child) for child in node.children), default=0)

    # Values on one side of the range differ most, so that deep trees are grown there.
    problem = problem_of(rows, np.exp(3 * rows[:, 0]), min_samples_leaf=2)
    free = project_trees(problem, 12, refine=refine)
    path = project_trees(problem, 12, refine=refine, max_depth=most)
    assert depth(free[-1]) > 3 and max(map(depth, path)) == most
    assert [tree.n_leaves for tree in path] == list(range(1, len(path) + 1))


def table(seed, min_samples_leaf):
    """A table of random values, where steps that help at once may lead nowhere."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (60, 3)).astype(float)
    values = rng.normal(size=64)[(X @ [16, 4, 1]).astype(int)]
    return problem_of(X, values, min_samples_leaf)


@pytest.mark.parametrize("seed", [1, 6, 17])
def test_refining_never_loses(seed):
    """Of these tables growing from the smaller tree alone would."""
    problem = table(seed, min_samples_leaf=2)
    plain = [tree.cost for tree in project_trees(problem, 6, refine=False)]
    refined = [tree.cost for tree in project_trees(problem, 6, refine=True)]
    assert len(refined) >= len(plain)
    assert all(a <= b + 1e-12 for a, b in zip(refined, plain))


@pytest.mark.parametrize("seed", [3, 5, 28])
def test_trees_are_cut_back_from_larger_ones(seed):
    """There are 12 leaves at most, so the larger tree is the same for both."""
    problem = table(seed, min_samples_leaf=5)
    few, many = (project_trees(problem, most, refine=False) for most in (4, 12))
    assert [t.cost for t in few] == pytest.approx([t.cost for t in many[:4]], rel=1e-12)


def test_forbidden_features_are_not_asked(rows):
    tree = cw.ProjectedTreeRegressor(
        Says(either), exclude_features=["x0"], n_leaf_nodes=5
    )
    rules = tree.fit(rows).rules_
    asked = {c.feature for rule in rules.rules for c in rule.conditions}
    assert asked and 0 not in asked
    none = cw.ProjectedTreeRegressor(Says(either), exclude_features=[0, 1, 2]).fit(rows)
    assert none.rules_.n_rules == 1
    np.testing.assert_allclose(none.predict(rows), either(rows).mean(), atol=0.01)


def test_cuts_are_in_the_middle_or_round_and_print_as_they_predict():
    X = np.repeat([0.1, 0.375, 0.5, 2.0], 10)[:, None]
    says = Says(lambda X: (X[:, 0] > 0.4).astype(float))
    for round_thresholds, cut in ((False, 0.4375), (True, 0.4)):
        tree = cw.ProjectedTreeRegressor(
            says, n_leaf_nodes=2, round_thresholds=round_thresholds
        )
        condition = tree.fit(X).rules_.rules[0].conditions[0]
        assert cut in (condition.low, condition.high)
    flag = Says(lambda X: 3.0 * X[:, 0])
    X = np.repeat([0.0, 1.0], 10)[:, None]
    tree = cw.ProjectedTreeRegressor(flag, n_leaf_nodes=2).fit(X)
    assert tree.predict(X) == pytest.approx(3 * X[:, 0])


def test_neighbouring_floats_are_told_apart():
    """Their middle is rounded to the upper one half of the time."""
    values = 1 + np.finfo(float).eps * np.arange(5)
    codes = value_bins(FeatureSpace.numeric(1), values[:, None]).transform(
        values[:, None]
    )
    assert len(np.unique(codes)) == 5


def test_of_many_values_cuts_leave_as_many_rows_between():
    """Half of the values are nine times as frequent as the others."""
    few, frequent = np.linspace(0, 1, 1500), np.linspace(2, 3, 1500)
    X = np.r_[few, np.repeat(frequent, 9)][:, None]
    codes = value_bins(FeatureSpace.numeric(1), X).transform(X)
    held = np.unique(codes, return_counts=True)[1]
    assert 900 < len(held) <= 1001
    # A fair share is 15 rows.
    assert held.max() <= 24


def test_what_many_draws_differ_by_is_seen_in_all_directions():
    """Two that have nothing to do with each other, in the draws and in the rows."""
    first = np.tile([3.0, 3.0, -3.0, -3.0], 5)[:, None]
    second = np.tile([1.0, -1.0, 1.0, -1.0], 5)[:, None]
    rows = np.array([[-1.0, -1], [-1, 1], [1, -1], [1, 1]]).repeat(10, axis=0)
    says = Says(lambda X: first * X[:, 0] + second * X[:, 1], 20)
    tree = cw.ProjectedTreeRegressor(says, draws="shared", n_leaf_nodes=4).fit(rows)
    np.testing.assert_allclose(tree.predict_draws(rows), says.draws(rows), atol=1e-9)


@pytest.mark.parametrize("by", [1e-9, 1.0, 1e9])
def test_units_do_not_matter(rows, by):
    """Not those of rates, nor of values with variances of their own."""
    step = Says(lambda X: by * np.where(X[:, 0] > 0, 3.0, 1.0), task="counts")
    tree = cw.ProjectedTreeRegressor(step, n_leaf_nodes=2).fit(rows)
    np.testing.assert_allclose(tree.predict_draws(rows), step.draws(rows), rtol=1e-9)

    class Noisy(Says):
        def noise_variance(self, X):
            return by**2 * np.where(np.asarray(X)[:, 1] > 0, 4.0, 1.0)[None]

    noisy = Noisy(lambda X: by * 0.5 * np.sign(X[:, 0]))
    tree = cw.ProjectedTreeRegressor(noisy, family="mean_variance", n_leaf_nodes=2)
    assert tree.fit(rows).rules_.rules[0].conditions[0].feature == 1


def test_leaves_count_rows_whatever_these_weigh(rows):
    weight = np.full(len(rows), 1e-3)
    tree = cw.ProjectedTreeRegressor(Says(either), n_leaf_nodes=4)
    light = tree.fit(rows, sample_weight=weight).predict(rows)
    np.testing.assert_allclose(light, tree.fit(rows).predict(rows), atol=1e-9)


def test_categories_of_few_rows_are_not_told_apart():
    """Sets of labels of one row each could separate any rows, but not new ones."""
    label = [*"aaaaabbbbbcccc", *"defghi", np.nan]
    X = pd.DataFrame({"label": label}, dtype="category")
    features = features_of(X)
    codes = value_bins(features, features.encode(X)).transform(X)
    bins = dict(zip(label, codes[:, 0].tolist()))
    assert len({bins["a"], bins["b"], bins["c"]}) == 3
    assert all(bins[name] == bins["c"] for name in "cdefghi")
