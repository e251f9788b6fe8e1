"""Our predictions against scikit-learn's own, on a few hundred random models.

Raw sums are compared bit for bit: both sides add the same float64 numbers in the same
order. (On processors where a compiler fuses multiply and add, scikit-learn's gradient
boosting may differ in the last bit.) After a link the tolerance is 1e-12 relative: the
exponentials are the same, but a softmax may add its terms in another order, and
AdaBoost computes a logistic function as a softmax over two scores.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensembles import models
from tests.wording import refuses

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import InputError

SEEDS = range(13)


def fitted(kind, seed):
    X, y, weight = models.random_table(kind, seed)
    return models.random_model(kind, seed).fit(X, y, sample_weight=weight), X


def query_rows(model, kind, X, seed):
    rng = np.random.default_rng(2000 + seed)
    queries = [X, models.rows_on_cuts(model, X, rng)]
    if models.accepts_missing(kind):
        # Also in columns where training saw no missing value.
        holes = queries[1].copy()
        holes[rng.random(holes.shape) < 0.3] = np.nan
        queries.append(holes)
    return np.concatenate(queries)


def assert_same_predictions(model, ensemble, X):
    assert_array_equal(ensemble.predict(X), model.predict(X))
    if hasattr(model, "decision_function"):
        assert_array_equal(ensemble.decision_function(X), model.decision_function(X))
    if hasattr(model, "predict_proba"):
        ours, native = ensemble.predict_proba(X), model.predict_proba(X)
        if ensemble.link == "probability":
            assert_array_equal(ours, native)
        assert_allclose(ours, native, rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", models.REGRESSORS + models.CLASSIFIERS)
def test_predicts_as_scikit_learn(kind, seed):
    model, X = fitted(kind, seed)
    ensemble = read_ensemble(model)
    assert_same_predictions(model, ensemble, query_rows(model, kind, X, seed))
    assert ensemble.source == f"sklearn.{model.__module__.split('.')[1]}.{kind}"
    assert ensemble.allows_missing == models.accepts_missing(kind)


@pytest.mark.parametrize("kind", models.REGRESSORS + models.CLASSIFIERS)
def test_missing_and_infinite_rows_are_refused_exactly_where_scikit_learn_does(kind):
    X, y, _ = models.random_table(kind, 0)
    model = models.random_model(kind, 2).fit(X, y)
    ensemble = read_ensemble(model)
    for bad in (np.nan, np.inf, -np.inf, 3.5e38, -1e39):
        row = X[:1].copy()
        row[0, 1] = bad
        try:
            with np.errstate(over="ignore"):
                native = model.predict(row)
        except ValueError:
            with refuses(InputError, match="'x1'"):
                ensemble.predict(row)
        else:
            assert_array_equal(ensemble.predict(row), native)


def test_missing_values_where_training_saw_none_follow_scikit_learn():
    X, y, _ = models.random_table("RandomForestRegressor", 0)
    assert not np.isnan(X).any()
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    queries = np.where(np.random.default_rng(0).random(X.shape) < 0.5, np.nan, X)
    assert_array_equal(read_ensemble(model).predict(queries), model.predict(queries))


def test_trees_that_split_missing_from_the_rest():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    model = DecisionTreeRegressor().fit(X, [0, 0, 1, 1])
    assert np.isinf(model.tree_.threshold).any()
    assert_array_equal(read_ensemble(model).predict(X), [0, 0, 1, 1])


class TreeWithoutWeights(DecisionTreeClassifier):
    """Bagging hands such a tree its sample of rows, and maybe not all classes."""

    def fit(self, X, y):
        return super().fit(X, y)


def test_bagging_trees_that_saw_some_classes_only():
    X, y, _ = models.random_table("BaggingClassifier", 3)
    model = BaggingClassifier(
        TreeWithoutWeights(), max_samples=4, n_estimators=20, random_state=0
    ).fit(X, y)
    assert min(len(tree.classes_) for tree in model.estimators_) < len(model.classes_)
    assert_same_predictions(model, read_ensemble(model), X)


def test_bagging_that_draws_columns_twice():
    X, y, _ = models.random_table("BaggingClassifier", 1)
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), bootstrap_features=True, random_state=0
    ).fit(X, y)
    assert_same_predictions(model, read_ensemble(model), X)


def test_zero_score_means_the_positive_class_in_gradient_boosting():
    # Labels that no split explains leave every score at exactly zero.
    X, y = np.zeros((4, 1)), np.array(["no", "yes", "no", "yes"])
    model = GradientBoostingClassifier(init="zero").fit(X, y)
    ensemble = read_ensemble(model)
    assert_array_equal(ensemble.decision_function(X), np.zeros(4))
    assert_array_equal(ensemble.predict(X), model.predict(X))
    assert_array_equal(ensemble.predict(X), ["yes"] * 4)


def test_tied_votes_in_adaboost():
    # Two trees of equal weight that contradict each other: a score of exactly zero.
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    model = AdaBoostClassifier(n_estimators=2, random_state=0).fit(X, y)
    first, second = model.estimators_[0], DecisionTreeClassifier(max_depth=1)
    model.estimators_ = [first, second.fit(X, 1 - first.predict(X))]
    model.estimator_weights_ = np.ones(2)
    assert_array_equal(model.decision_function(X), np.zeros(4))
    assert_same_predictions(model, read_ensemble(model), X)


def test_tied_values_and_weights_in_the_weighted_median():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(60, 2)).astype(float), rng.integers(0, 3, 60)
    model = AdaBoostRegressor(n_estimators=30, random_state=0).fit(X, y)
    model.estimator_weights_ = np.round(model.estimator_weights_, 1)
    assert_array_equal(read_ensemble(model).predict(X), model.predict(X))


def test_weighted_median_takes_the_lower_of_two_middle_values():
    X = np.array([[0.0], [1.0]])
    model = AdaBoostRegressor(n_estimators=1).fit(X, [3.0, 5.0])
    low, high = (DecisionTreeRegressor().fit(X, [v, v]) for v in (3.0, 5.0))
    model.estimators_, model.estimator_weights_ = [high, low], np.ones(2)
    assert_array_equal(model.predict(X), [3, 3])
    assert_array_equal(read_ensemble(model).predict(X), [3, 3])


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize(
    "init", [None, "zero", DummyClassifier(strategy="most_frequent")]
)
def test_starts_and_losses_of_gradient_boosting_classifiers(loss, init):
    X, y, _ = models.random_table("GradientBoostingClassifier", 0)
    model = GradientBoostingClassifier(n_estimators=5, loss=loss, init=init).fit(X, y)
    assert_same_predictions(model, read_ensemble(model), X)


def test_constant_start_of_a_gradient_boosting_regressor():
    X, y, _ = models.random_table("GradientBoostingRegressor", 0)
    start = DummyRegressor(strategy="constant", constant=7.0)
    ensemble = read_ensemble(GradientBoostingRegressor(init=start).fit(X, y))
    assert_array_equal(ensemble.base_score, [7.0])


def test_one_class():
    X = np.arange(6.0)[:, None]
    for model in (RandomForestClassifier(2), AdaBoostClassifier(n_estimators=2)):
        model.fit(X, ["only"] * 6)
        ensemble = read_ensemble(model)
        assert_array_equal(ensemble.predict(X), ["only"] * 6)
        assert_array_equal(ensemble.predict_proba(X), model.predict_proba(X))


def test_early_stopped_adaboost_uses_the_trees_it_has():
    X = np.arange(8.0)[:, None]
    model = AdaBoostClassifier(n_estimators=10).fit(X, X[:, 0] > 3)
    assert len(model.estimators_) == 1
    assert_same_predictions(model, read_ensemble(model), X)


def test_frozen_estimators_and_subclasses_are_read_as_what_they_are():
    class MyTree(DecisionTreeRegressor):
        pass

    X, y, _ = models.random_table("DecisionTreeRegressor", 0)
    tree = MyTree(max_depth=3).fit(X, y)
    ensemble = read_ensemble(FrozenEstimator(FrozenEstimator(tree)))
    assert_array_equal(ensemble.predict(X), tree.predict(X))


def test_columns_go_by_name_where_the_model_knows_names():
    pd = pytest.importorskip("pandas")
    X, y, _ = models.random_table("RandomForestRegressor", 1)
    table = pd.DataFrame(X, columns=["age", "height", "dose", "id"])
    model = RandomForestRegressor(5, random_state=0).fit(table, y)
    ensemble = read_ensemble(model)
    assert ensemble.features.names == ("age", "height", "dose", "id")
    shuffled = table[["id", "dose", "age", "height"]].assign(other="text")
    assert_array_equal(ensemble.predict(shuffled), model.predict(table))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_any_numeric_dtype(dtype):
    X, y, _ = models.random_table("RandomForestRegressor", 0)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    rows = (X % 100).astype(dtype)
    assert_array_equal(read_ensemble(model).predict(rows), model.predict(rows))


def test_reading_changes_nothing_in_the_model():
    X, y, _ = models.random_table("GradientBoostingRegressor", 0)
    model = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    before = [tree.tree_.value.copy() for tree in model.estimators_.ravel()]
    ensemble = read_ensemble(model)
    ensemble.value[:] = 0
    for tree, value in zip(model.estimators_.ravel(), before):
        assert_array_equal(tree.tree_.value, value)
