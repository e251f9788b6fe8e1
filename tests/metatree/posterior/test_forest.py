"""Forests of meta-trees."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from tests.metatree import naive
from tests.wording import refuses, warns

from clearwood import (
    MetaForestClassifier,
    MetaForestRegressor,
    MetaTreeClassifier,
    exceptions,
    read_ensemble,
)
from clearwood.metatree import LinearRegressionNormalGamma


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    names = np.array(["low", "middle", "high"])[y]
    return train_test_split(X, names, random_state=0)


@pytest.fixture(scope="module")
def forest(wine):
    model = RandomForestClassifier(n_estimators=8, random_state=0)
    return model.fit(wine[0], wine[2])


@pytest.fixture(scope="module")
def diabetes():
    return train_test_split(*load_diabetes(return_X_y=True), random_state=0)


@pytest.fixture(scope="module", params=["uniform", "evidence"])
def averaged(request, diabetes):
    X, _, y, _ = diabetes
    forest = RandomForestRegressor(n_estimators=6, min_samples_leaf=5, random_state=0)
    forest = FrozenEstimator(forest.fit(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.CollapsedWeightsWarning)
        return MetaForestRegressor(forest, weights=request.param).fit(X, y)


def holes(X):
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    return X


@pytest.mark.parametrize("weights", ["uniform", "evidence"])
@pytest.mark.filterwarnings("ignore::clearwood.exceptions.CollapsedWeightsWarning")
def test_prediction_is_the_mean_over_the_meta_trees(wine, forest, weights):
    X, X_test, y, y_test = wine
    model = MetaForestClassifier(forest, weights=weights).fit(X, y)
    queries = holes(X_test)
    each = [
        tree.predictive(tree.structure.encode(queries)).probabilities()
        for tree in model.meta_trees_
    ]
    expected = np.tensordot(model.tree_weights_, each, 1)
    p = model.predict_proba(queries)
    np.testing.assert_allclose(p, expected, atol=1e-12)
    np.testing.assert_allclose(
        model.to_ensemble().predict_proba(queries), p, atol=1e-12
    )
    plain = model.to_sklearn()
    assert type(plain) is RandomForestClassifier
    np.testing.assert_allclose(plain.predict_proba(queries), p, atol=1e-12)
    np.testing.assert_array_equal(plain.predict(X_test), model.predict(X_test))
    assert model.score(X_test, y_test) > 0.85
    log_p = model.log_density(X_test, y_test)
    own = np.searchsorted(model.classes_, y_test)
    p_own = model.predict_proba(X_test)[np.arange(len(own)), own]
    np.testing.assert_allclose(log_p, np.log(p_own), atol=1e-12)


@pytest.mark.parametrize("split_prior", [0.5, lambda depth: 0.9 / (1 + depth)])
@pytest.mark.parametrize("prior", ["auto", "constant", "search-corrected"])
def test_each_tree_is_one_meta_tree_on_all_rows(wine, forest, prior, split_prior):
    X, _, y, _ = wine
    model = MetaForestClassifier(forest, prior=prior, split_prior=split_prior)
    model.fit(X, y)
    # The features tried per question are those of the forest: 3 of 13.
    assert forest.estimators_[0].max_features_ == 3
    for t in (0, 7):
        inner = model.meta_trees_[t]
        depth = inner.structure.depth
        g = 0.9 / (1 + depth) if callable(split_prior) else np.full(len(depth), 0.5)
        g[inner.structure.is_leaf] = 0.0
        if prior == "search-corrected":
            g = naive.search_corrected(inner.structure, g, 3)
        np.testing.assert_allclose(inner.g, g, rtol=1e-12)
        one = MetaTreeClassifier(inner.structure, split_prior=inner.g).fit(X, y)
        assert model.log_evidence_[t] == pytest.approx(one.log_evidence_, rel=1e-12)
        np.testing.assert_array_equal(inner.own, one.meta_tree_.own)


def test_weights_by_evidence_warn_where_they_collapse(wine, forest):
    X, _, y, _ = wine
    with warns(exceptions.CollapsedWeightsWarning):
        model = MetaForestClassifier(forest, weights="evidence").fit(X, y)
    weight = np.exp(model.log_evidence_ - model.log_evidence_.max())
    np.testing.assert_allclose(model.tree_weights_, weight / weight.sum(), rtol=1e-9)


def test_equal_trees_do_not_collapse():
    X, y = np.array([[0.0], [1.0]] * 20), [0, 1] * 20
    stumps = RandomForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    model = MetaForestClassifier(stumps, weights="evidence").fit(X, y)
    np.testing.assert_allclose(model.tree_weights_, 0.25)


def test_the_result_does_not_depend_on_the_number_of_threads(wine):
    X, X_test, y, _ = wine
    one, two = (
        MetaForestClassifier(n_jobs=n, random_state=0).fit(X, y) for n in (1, 2)
    )
    assert len(one.meta_trees_) == 100
    np.testing.assert_array_equal(one.predict_proba(X_test), two.predict_proba(X_test))
    np.testing.assert_array_equal(one.log_evidence_, two.log_evidence_)
    np.testing.assert_array_equal(
        one.inclusion_probability_, two.inclusion_probability_
    )


def test_batches_shards_and_forgetting(wine, forest):
    X, X_test, y, _ = wine
    at_once = MetaForestClassifier(FrozenEstimator(forest)).fit(X, y)
    p = at_once.predict_proba(X_test)
    parts = clone(at_once).partial_fit(X[:50], y[:50])
    shard = pickle.loads(pickle.dumps(parts)).unlearn(X[:50], y[:50])
    shard.partial_fit(X[50:], y[50:])
    assert parts.predict_proba(X_test).max() != p.max()
    parts.partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(parts.predict_proba(X_test), p)
    parts.unlearn(X[50:], y[50:]).merge(shard)
    np.testing.assert_array_equal(parts.predict_proba(X_test), p)
    with refuses(exceptions.InputError):
        parts.unlearn(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    np.testing.assert_array_equal(parts.predict_proba(X_test), p)


def test_a_refused_merge_changes_no_tree(wine):
    X, _, y, _ = wine
    one, other = (
        MetaForestClassifier(RandomForestClassifier(3, random_state=0)).fit(X, y)
        for _ in range(2)
    )
    other._forest.bare[2].g[0] = 0.9
    before = one.log_evidence_
    with refuses(exceptions.InputError):
        one.merge(other)
    assert one.meta_trees_[0].weight == len(y)
    after = [posterior.log_evidence for posterior in one._forest.posteriors()]
    np.testing.assert_array_equal(after, before)


def test_intervals_are_those_of_the_mixture_over_all_trees(diabetes, averaged):
    _, X, _, y = diabetes
    interval = averaged.predict_interval(X, coverage=0.8)
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    assert 0.7 < inside.mean() < 0.9

    def cdf(values):
        each = [
            tree.predictive(tree.structure.encode(X)).cdf(values)
            for tree in averaged.meta_trees_
        ]
        return averaged.tree_weights_ @ each

    np.testing.assert_allclose(cdf(interval[:, 0]), 0.1, rtol=1e-9)
    np.testing.assert_allclose(cdf(interval[:, 1]), 0.9, rtol=1e-9)
    each = [
        tree.predictive(tree.structure.encode(X)).log_density(y)
        for tree in averaged.meta_trees_
    ]
    density = np.log(averaged.tree_weights_ @ np.exp(each))
    np.testing.assert_allclose(averaged.log_density(X, y), density, rtol=1e-9)


def test_values_come_back_as_a_plain_forest(diabetes, averaged):
    _, X, _, y = diabetes
    plain = averaged.to_sklearn()
    assert type(plain) is RandomForestRegressor
    np.testing.assert_allclose(plain.predict(X), averaged.predict(X), rtol=1e-12)
    assert averaged.score(X, y) > 0.1


def test_ensembles_of_other_kinds_lend_their_trees(wine):
    X, X_test, y, y_test = wine
    boosted = GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X, y)
    model = MetaForestClassifier(read_ensemble(boosted)).fit(X, y)
    assert len(model.meta_trees_) == 12
    assert model.score(X_test, y_test) > 0.85
    with refuses(exceptions.InputError):
        model.predict(holes(X_test))


def test_frames_with_labels():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"hue": rng.choice(list("abcd"), 200), "size": range(200)})
    y = frame.hue.isin(["a", "c"]) + frame["size"] / 1000
    model = MetaForestRegressor(ExtraTreesRegressor(5, random_state=0)).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.ensemble_.features.categories[0] == ("a", "b", "c", "d")
    with refuses(exceptions.InputError, match="'hue'"):
        model.to_sklearn()


def test_leaves_that_read_features_are_refused(diabetes):
    X, _, y, _ = diabetes
    leaf = LinearRegressionNormalGamma((0.0,) * 10)
    with refuses(exceptions.InputError):
        MetaForestRegressor(leaf_model=leaf).fit(X, y)


def test_only_shards_of_one_forest_merge(wine, forest):
    X, _, y, _ = wine
    model = MetaForestClassifier(forest).fit(X, y)
    p = model.predict_proba(X)
    grown = {"max_features": 5, "random_state": 0}
    for other in (
        MetaForestClassifier(RandomForestClassifier(3, random_state=0)),
        MetaForestClassifier(RandomForestClassifier(8, **grown)),
        MetaForestClassifier(forest, split_prior=0.3),
    ):
        with refuses(exceptions.InputError):
            model.merge(other.fit(X, y))
    np.testing.assert_array_equal(model.predict_proba(X), p)
    twice = model.merge(MetaForestClassifier(forest).fit(X, y))
    at_once = MetaForestClassifier(forest).fit(X, y, np.full(len(y), 2))
    np.testing.assert_array_equal(twice.predict_proba(X), at_once.predict_proba(X))


def test_meta_trees_are_those_of_now(wine, forest):
    X, _, y, _ = wine
    model = MetaForestClassifier(forest).fit(X[:60], y[:60])
    before = model.meta_trees_
    assert model.meta_trees_ is before
    assert before[0].weight == 60
    before[1].update_stream(before[1].structure.encode(X[:1]), [0])
    model.partial_fit(X[60:], y[60:])
    assert before[0].weight == 60
    assert [tree.weight for tree in model.meta_trees_] == [len(y)] * 8
    for t, tree in enumerate(model.meta_trees_):
        assert tree.log_evidence == model.log_evidence_[t]
    used = [tree.posterior().feature_used for tree in model.meta_trees_]
    np.testing.assert_allclose(
        model.inclusion_probability_, np.mean(used, axis=0), rtol=1e-12
    )
