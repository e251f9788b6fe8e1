"""Structures send rows where the trees they are made from send them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.metatree import naive
from tests.records import changeable
from tests.wording import refuses

from clearwood import read_ensemble
from clearwood.exceptions import InputError
from clearwood.metatree import (
    BernoulliBeta,
    MetaTree,
    from_ensemble_tree,
    from_sklearn_tree,
    given,
)
from clearwood.rules import FeatureBins, FeatureSpace


def table(n=300, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) > 0).astype(int)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def assert_sound(structure):
    """Parents first, children side by side, depths that follow."""
    s = structure
    for node in range(s.n_nodes):
        first, n = s.first_child[node], s.n_children[node]
        assert (first < 0) == (n == 0) == (s.feature[node] < 0) == s.is_leaf[node]
        if first >= 0:
            assert first > node
            assert (s.parent[first : first + n] == node).all()
            assert (s.depth[first : first + n] == s.depth[node] + 1).all()
    assert np.bincount(s.parent[1:], minlength=s.n_nodes).tolist() == list(s.n_children)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_sklearn_trees(tree, missing):
    X, y = table(missing=missing)
    model = tree(max_leaf_nodes=40, random_state=0).fit(X, y)
    structure = from_sklearn_tree(model)
    assert_sound(structure)
    # Values at the cuts and beside them, in float32 and float64.
    cuts = model.tree_.threshold[model.tree_.feature >= 0]
    cuts = cuts[np.isfinite(cuts)]  # infinite ones ask for missing values
    near = [np.nextafter(cuts, -9), cuts, np.nextafter(cuts, 9), cuts.astype("f4")]
    values = np.concatenate([*near, np.unique(X[~np.isnan(X)])])
    queries = np.random.default_rng(1).choice(values, (2000, 4))
    for rows in (X, queries):
        ends = structure.route(structure.encode(rows))
        assert np.array_equal(structure.original[ends], model.apply(rows))
        assert structure.is_leaf[ends].all()


def test_every_tree_of_a_forest_and_bins_that_they_share():
    X, y = table()
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    ensemble = read_ensemble(forest)
    bins = FeatureBins.from_ensemble(ensemble)
    codes = bins.transform(X)
    for t, leaves in enumerate(forest.apply(X).T):
        shared = from_ensemble_tree(ensemble, t, bins=bins)
        own = from_ensemble_tree(ensemble, t)
        ends = own.route(own.encode(X))
        assert np.array_equal(own.original[ends], leaves)
        assert np.array_equal(shared.route(codes), ends)
        assert np.array_equal(
            ends[:9], [naive.end_of(shared, row) for row in codes[:9]]
        )
    other = FeatureBins.from_ensemble(read_ensemble(DecisionTreeClassifier().fit(X, y)))
    with refuses(InputError):
        from_ensemble_tree(ensemble, 0, bins=other)
    with refuses(InputError):
        from_ensemble_tree(ensemble, 5)
    with refuses(InputError):
        from_sklearn_tree(forest)


def test_categories_missing_and_unseen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "hue": pd.Categorical(rng.choice(list("abcdef"), 600)),
        "size": rng.normal(size=600).round(1),
    })  # fmt: skip
    y = (frame["hue"].isin(["a", "d"]) ^ (frame["size"] > 0.3)).astype(int)
    frame.loc[::7, "hue"] = None
    frame.loc[::11, "size"] = np.nan
    model = HistGradientBoostingClassifier(
        max_iter=3, categorical_features="from_dtype", min_samples_leaf=5
    ).fit(frame, y)
    ensemble = read_ensemble(model)
    queries = frame.astype({"hue": object})
    queries.loc[::5, "hue"] = "never seen"
    for t in range(3):
        structure = from_ensemble_tree(ensemble, t)
        assert_sound(structure)
        assert (structure.table_start >= 0).any()
        codes = structure.encode(queries)
        ends = structure.route(codes)
        leaves = ensemble.leaves(queries)[:, t] - ensemble.roots[t]
        assert np.array_equal(structure.original[ends], leaves)
        assert np.array_equal(ends, [naive.end_of(structure, row) for row in codes])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("missing", ["stop", "branch"])
def test_given_trees(dtype, missing):
    rng = np.random.default_rng(0)
    feature = [0, 1, 2, -1, 0, 2, -1, 1]
    structure = given(feature, n_values=[3, 2, 2], missing=missing)
    assert_sound(structure)
    codes = rng.integers(0, 5, (50_000, 3))
    codes[:3] = 200, 100, 127
    codes = codes.astype(dtype)
    ends = structure.route(codes)
    expected = [naive.end_of(structure, row) for row in codes[:300]]
    assert np.array_equal(ends[:300], expected)
    # Blocks have no borders that one could see.
    order = rng.permutation(len(codes))
    assert np.array_equal(structure.route(codes[order]), ends[order])


@pytest.mark.parametrize("code", [-1, -256, 256, 257, 2**40, -(2**63)])
def test_codes_out_of_range_stop(code):
    structure = given([0], n_values=2, n_features=1)
    assert structure.route([[code], [1]]).tolist() == [0, 2]


def test_codes_out_of_range_stop_at_cuts_too():
    X, y = table()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    structure = from_sklearn_tree(tree)
    assert (structure.table_start < 0).any()
    codes = structure.encode(X)[:50].astype(np.int64)
    codes[:, structure.feature[0]] = -1
    assert structure.route(codes).tolist() == [0] * 50


def test_features_with_many_values():
    """More codes than 16 bits hold go down as they are."""
    structure = given([0], n_values=70_000, n_features=1)
    ends = structure.route(np.array([[0], [69_999], [70_000], [-1], [2**33]]))
    assert ends.tolist() == [1, 70_000, 0, 0, 0]


def test_given_values_categories_and_missing():
    features = FeatureSpace(("hue", "n"), (("red", "blue"), None))
    structure = given([0, 1], [2, 3], features=features, missing="branch")
    rows = [["red", 2], ["blue", 0], [None, 0], ["green", 0], ["red", None], ["red", 7]]
    # red: 1 (asks n: 4 to 7), blue: 2, missing: 3
    assert structure.route(structure.encode(rows)).tolist() == [6, 2, 3, 0, 7, 1]
    with refuses(InputError, match="'n'.*0.5"):
        structure.encode([["red", 0.5]])


def test_given_in_another_order():
    structure = given(
        [0, -1, 1, -1, -1], 2, n_features=2, first_child=[1, -1, 3, -1, -1]
    )
    assert structure.route([[0, 0], [1, 0], [1, 1]]).tolist() == [1, 3, 4]


@pytest.mark.parametrize(
    "arguments",
    [
        {"feature": [0, 2], "n_features": 2},
        {"feature": [0, -2]},
        {"feature": [-1, 0]},
        {"feature": [-1, -1]},
        {"feature": [0, 0], "first_child": [1, -1]},
        {"feature": [0, 0, -1], "first_child": [1, 1, -1]},
        {"feature": [0], "first_child": [1, -1]},
        {"feature": [0, -1, -1, -1], "first_child": [1, -1, -1, -1]},
        {"feature": [0], "n_values": 0},
        {"feature": [0], "n_values": [2, 2], "n_features": 3},
        {"feature": [0], "missing": "guess"},
    ],
)
def test_wrong_trees(arguments):
    with refuses(InputError):
        given(**{"n_values": 2, **arguments})


def test_two_parents():
    with refuses(InputError):
        given([0, 0, -1, -1, -1], 2, first_child=[1, 2, -1, -1, -1], n_features=1)


def test_what_is_asked_is_what_inner_nodes_ask():
    structure = given(
        [2, 0, -1, -1, -1], 2, n_features=4, first_child=[1, 3, -1, -1, -1]
    )
    assert structure.used_features == {0, 2}


def test_records_cannot_be_changed():
    assert changeable("metatree") == []


def test_shards_need_the_same_questions():
    X, y = table()
    a, b = (from_sklearn_tree(DecisionTreeClassifier(max_depth=2).fit(X, y))
            for _ in range(2))  # fmt: skip
    assert a is not b and a.same_as(b)
    other = from_sklearn_tree(DecisionTreeClassifier(max_depth=2).fit(X + 1e-3, y))
    assert not a.same_as(other)
    trees = [MetaTree(s, BernoulliBeta()) for s in (a, b, other)]
    trees[0].merge(trees[1])
    with refuses(InputError):
        trees[0].merge(trees[2])


@pytest.mark.parametrize("dtype", [np.int64, np.int16, np.uint8])
def test_many_rows_of_few_forms_are_looked_up_as_single_rows_go_down(dtype):
    rng = np.random.default_rng(0)
    structure = given([0, 1, 2, 2, 1, 0, -1], [2, 3, 2], missing="branch")
    codes = rng.integers(0, 9, (2_000, 3)).astype(dtype)
    if dtype is np.int64:
        codes[:50] = rng.choice([-1, -7, 2**40, np.iinfo(np.int64).min], (50, 3))
    one_by_one = [structure.route(row[None])[0] for row in codes]
    np.testing.assert_array_equal(structure.route(codes), one_by_one)
    np.testing.assert_array_equal(structure.route(codes.T.copy().T), one_by_one)
    assert not structure.is_leaf[one_by_one].all()
