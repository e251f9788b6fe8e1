import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tests.ensembles import models, naive
from tests.waiting import SECONDS
from tests.wording import refuses, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles import TreeEnsemble, read_ensemble, tree_ensemble
from clearwood.ensembles.links import response
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.exceptions import InputError

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, n_trees=st.integers(0, 4), width=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_kernel_against_its_slow_twin(seed, n_trees, width):
    rng = np.random.default_rng(seed)
    ensemble = models.random_ensemble(rng, max(n_trees, 1), width)
    rows = models.random_rows(rng, 30)
    expected = naive.leaves(ensemble, rows)
    assert_array_equal(ensemble.find_leaves(rows).T, expected)
    assert (ensemble.feature[expected] == -1).all()


def test_the_kernel_is_shown_full_trees_and_others():
    ensemble = models.random_ensemble(np.random.default_rng(0), n_trees=40)
    _, levels = ensemble._ways_down
    assert 5 < np.count_nonzero(levels) < 35


def test_a_long_thin_tree():
    """A chain: every question sends one value away."""
    n = 3000
    inner = np.arange(n)
    nodes = TreeNodes(
        feature=np.r_[np.zeros(n), -np.ones(n + 1)],
        cut=np.r_[inner, np.zeros(n + 1)],
        left=np.r_[n + inner, np.zeros(n + 1)].astype(int),
        right=np.r_[inner[1:], 2 * n, np.zeros(n + 1)].astype(int),
        missing_left=np.zeros(2 * n + 1, bool),
        value=np.r_[np.zeros(n), np.arange(n + 1.0)][:, None],
    )
    chain = TreeEnsemble(
        features=FeatureSpace.numeric(1),
        task="regression",
        **join_trees([nodes]),
        base_score=[0.0],
        link="identity",
        allows_missing=True,
        allows_infinite=True,
        input_dtype="float64",
        source="tests",
    )
    assert chain.max_depth == n
    X = np.r_[np.arange(n + 5.0), np.nan][:, None]
    assert_array_equal(chain.predict(X), np.r_[np.arange(n), [n] * 6])


@given(
    seed=seeds, width=st.integers(1, 3), dtype=st.sampled_from(["float32", "float64"])
)
@settings(max_examples=30, deadline=None)
def test_sums_bit_for_bit_and_depth(seed, width, dtype):
    rng = np.random.default_rng(seed)
    ensemble = replace(
        models.random_ensemble(rng, width=width),
        sum_dtype=dtype,
        divisor=3.0,
        scale=0.7,
        offset=rng.normal(size=width),
    )
    rows = rng.normal(size=(10, 3))
    rows[:, 1] = np.nan
    assert_array_equal(ensemble.raw_scores(rows), naive.raw_sum(ensemble, rows))
    depths = [naive.depth(ensemble, root) for root in ensemble.roots]
    assert ensemble.max_depth == max(depths)
    assert ensemble.n_leaves == ensemble.n_splits + ensemble.n_trees


@given(seed=seeds, width=st.integers(1, 2), n_cuts=st.sampled_from([5, 400]))
@settings(max_examples=10, deadline=None)
def test_trees_that_compare_ranks_add_up_to_the_same_bits(seed, width, n_cuts):
    rng = np.random.default_rng(seed)
    ensemble = models.random_ensemble(rng, 80, width, max_depth=6)
    if n_cuts > 5:
        ensemble = replace(
            ensemble, cut=ensemble.cut + rng.normal(size=ensemble.n_nodes)
        )
    ensemble = replace(ensemble, sum_dtype=str(rng.choice(["float32", "float64"])))
    asked, trees, _ = ensemble._ranked
    # Up to 255 cuts of a feature the ranks are bytes.
    assert np.unique(ensemble.cut[ensemble.feature == 0]).size == asked.offsets[1]
    assert trees.rank.dtype == ("uint8" if n_cuts == 5 else "uint16")
    # More than one block, and values on the cuts.
    rows = models.random_rows(rng, 700)
    rows[::3, 0] = rng.choice(asked.cuts, rows[::3, 0].size)
    for table in (rows, np.asfortranarray(rows)):
        assert_array_equal(ensemble.raw_scores_encoded(table), summed(ensemble, rows))
    few = rows[: ensemble.n_nodes // ensemble.n_trees - 1]
    assert_array_equal(ensemble.raw_scores_encoded(few), summed(ensemble, few))


def summed(ensemble, rows):
    """By the leaves, which have slow twins of their own."""
    raw = np.tile(ensemble.base_score.astype(ensemble.sum_dtype), (len(rows), 1))
    for leaves in ensemble.find_leaves(rows):
        raw += ensemble.value.astype(raw.dtype)[leaves]
    return raw.astype(float)


@given(seed=seeds)
@settings(max_examples=4, deadline=None)
def test_symmetric_trees_add_up_to_the_same_bits(seed):
    rng = np.random.default_rng(seed)
    ensemble = models.random_ensemble(rng, 30)
    # Of 17 levels the answers are no small number any more.
    depths = [0, 1, *rng.integers(0, 8, size=20), 16, 17]
    trees = [models.symmetric_tree(rng, ensemble.features, d) for d in depths]
    trees.insert(3, models.random_tree(rng, ensemble.features, 1, max_depth=5))
    ensemble = replace(ensemble, **join_trees(trees))
    rows = models.random_rows(rng, 600)
    found = ensemble._ranked[1].symmetric.tolist()
    assert found[:3] + found[4:] == [True] * (len(depths) - 1) + [False]
    assert_array_equal(ensemble._sum(rows, ensemble._ranked), summed(ensemble, rows))


def test_ranks_are_not_made_where_they_cost_more_than_they_save():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    tree = read_ensemble(DecisionTreeRegressor().fit(X, X.sum(axis=1)))
    rows = np.repeat(X, 3, axis=0)
    assert tree._ranked is None
    assert_array_equal(tree.predict(rows), tree.value[tree.leaves(rows)[:, 0], 0])


@given(seed=seeds)
@settings(max_examples=30, deadline=None)
def test_splits_answer_every_question_of_the_trees(seed):
    rng = np.random.default_rng(seed)
    ensemble = models.random_ensemble(rng)
    splits = ensemble.splits()
    nodes = [*splits.numeric.node, *(s.node for s in splits.categorical)]
    assert_array_equal(np.sort(nodes), np.flatnonzero(ensemble.feature >= 0))
    for row in models.random_rows(rng, 10):
        for node, feature, cut, missing_left in zip(*splits.numeric):
            x = row[feature]
            expected = missing_left if np.isnan(x) else x <= cut
            assert naive._goes_left(ensemble, node, x) == expected
        for s in splits.categorical:
            x = row[s.feature]
            if np.isnan(x):
                expected = s.missing_left
            else:
                expected = s.unseen_left if x < 0 else x in s.codes_left
            assert naive._goes_left(ensemble, s.node, x) == expected


def test_blocks_do_not_change_predictions(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(3, size=100)
    ensemble = read_ensemble(GradientBoostingClassifier(n_estimators=3).fit(X, y))
    expected = ensemble.predict_proba(X)
    monkeypatch.setattr(tree_ensemble, "BLOCK_LEAVES", 7 * ensemble.n_trees)
    assert_array_equal(ensemble.predict_proba(X), expected)


def test_no_rows():
    X, y = np.arange(8.0).reshape(4, 2), ["a", "b", "c", "a"]
    ensemble = read_ensemble(RandomForestClassifier(2).fit(X, y))
    assert ensemble.predict(X[:0]).shape == (0,)
    assert ensemble.predict_proba(X[:0]).shape == (0, 3)
    assert ensemble.leaves(X[:0]).shape == (0, 2)


def test_leaves_are_scikit_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(2, size=50)
    forest = RandomForestClassifier(4, random_state=0).fit(X, y)
    ensemble = read_ensemble(forest)
    assert_array_equal(ensemble.leaves(X) - ensemble.roots, forest.apply(X))


def test_counts_and_repr():
    X, y = np.arange(4.0)[:, None], [0.0, 1.0, 5.0, 5.0]
    ensemble = read_ensemble(DecisionTreeRegressor().fit(X, y))
    counts = ensemble.n_trees, ensemble.n_splits, ensemble.n_leaves, ensemble.max_depth
    assert counts == (1, 2, 3, 2)
    same_text(repr(ensemble))


def test_pickle_keeps_predictions():
    rng = np.random.default_rng(0)
    ensemble = models.random_ensemble(rng)
    before = pickle.dumps(ensemble)
    ensemble.raw_scores_encoded(np.zeros((200, 3)))
    assert pickle.dumps(ensemble) == before, "what was prepared is not kept"
    copy = pickle.loads(before)
    rows = np.where(np.arange(3) == 1, np.nan, rng.normal(size=(20, 3)))
    assert_array_equal(copy.predict(rows), ensemble.predict(rows))


def test_what_a_model_has_not_got_is_refused():
    X, y = np.arange(4.0)[:, None], [0, 1, 1, 1]
    regression = read_ensemble(DecisionTreeRegressor().fit(X, y))
    forest = read_ensemble(RandomForestClassifier(2).fit(X, y))
    with refuses(InputError):
        regression.predict_proba(X)
    with refuses(InputError):
        regression.decision_function(X)
    with refuses(InputError, match="predict_proba"):
        forest.decision_function(X)
    with refuses(InputError):
        forest.predict(np.zeros((3, 2)))


@given(
    st.lists(st.lists(st.floats(-800, 800), min_size=3, max_size=3), min_size=1),
    st.floats(0.1, 4),
)
def test_links_are_stable_and_sum_to_one(scores, scale):
    scores = np.array(scores)
    for p in (response(scores, "softmax", scale), response(scores[:, :1], "logistic")):
        assert np.isfinite(p).all() and (p >= 0).all()
        assert_allclose(p.sum(axis=1), 1, rtol=1e-12)


def test_importing_the_room_loads_neither_scipy_nor_scikit_learn():
    code = (
        "import sys, clearwood.ensembles; "
        "print([m for m in ('sklearn', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def stump(**how):
    """One question, ``x <= 0``; how an ensemble answers differs."""
    nodes = TreeNodes(
        [0, -1, -1],
        [0.0, 0, 0],
        [1, 0, 0],
        [2, 0, 0],
        [0, 0, 0],
        [[0], [-1e-9], [1e-9]],
    )
    settings = {
        "features": FeatureSpace.numeric(1),
        "task": "classification",
        "classes": np.array(["no", "yes"]),
        "base_score": [0.0],
        "link": "logistic",
        "allows_missing": True,
        "allows_infinite": True,
        "input_dtype": "float64",
        "source": "tests",
    }
    return TreeEnsemble(**join_trees([nodes]), **settings | how)


def test_decisions():
    X = [[-1.0], [1.0]]
    assert stump().predict(X).tolist() == ["no", "yes"]
    # In float32 1e-9 is lost beside 1: both classes are as probable.
    by_probability = stump(decision="probability", sum_dtype="float32")
    assert by_probability.predict(X).tolist() == ["no", "no"]
    assert stump(decision="probability").predict(X).tolist() == ["no", "yes"]
    zero = stump(base_score=[1e-9], decision="raw_or_zero")
    assert zero.predict(X).tolist() == ["yes", "yes"]
    assert replace(zero, decision="raw").predict(X).tolist() == ["no", "yes"]


def test_missing_values_are_refused_by_feature():
    space = FeatureSpace(("a", "b"), (None, None))
    ensemble = stump(features=space, allows_missing=np.array([True, False]))
    assert ensemble.predict([[np.nan, 1.0]]).tolist() == ["yes"]
    with refuses(InputError, match="'b'.*NaN"):
        ensemble.predict([[np.nan, 1.0], [1.0, np.nan]])


def test_classes_under_other_names():
    named = stump().with_classes(["well", "ill"])
    assert named.predict([[-1.0], [1.0]]).tolist() == ["well", "ill"]
    for labels in (["a"], ["a", "a"], ["a", "b", "c"]):
        with refuses(InputError):
            stump().with_classes(labels)


def test_encoded_rows_get_the_same_answers():
    X, y = load_iris(return_X_y=True)
    forest = read_ensemble(RandomForestClassifier(5, random_state=0).fit(X, y))
    encoded = forest.encode(X)
    assert_array_equal(forest.answers_encoded(encoded), forest.predict_proba(X))
    model = read_ensemble(RandomForestRegressor(5, random_state=0).fit(X, y))
    assert_array_equal(model.answers_encoded(encoded), model.predict(X))


def test_a_frame_may_lack_columns_that_no_split_asks():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(200), "idle": 1.0})
    model = HistGradientBoostingRegressor(max_iter=3).fit(X, X["a"] > 0.5)
    ensemble = read_ensemble(model)
    assert_array_equal(ensemble.predict(X[["a"]]), ensemble.predict(X))
    with refuses(InputError, match="'a'"):
        ensemble.predict(X[["idle"]])
