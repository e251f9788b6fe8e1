"""What users of additive rules count on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    return X, y, forest


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, y)
    return X, y, forest


def additive(estimator, **settings):
    quick = {"tune": None, "n_rules": 4, "max_rules": 4, "n_synthetic": 300}
    settings = {**quick, "random_state": 0, **settings}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.AdditiveRulesRegressor if regressor else cw.AdditiveRulesClassifier
    return make(estimator, **settings)


def planted(n=600, seed=0):
    """Three effects that add up, one of them of two features."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 10, (n, 4)), columns=list("abcd")).astype(float)
    y = (
        10
        + 8.0 * (X["a"] > 4)
        - 3.0 * ((X["b"] <= 5) & (X["c"] > 2))
        + 2.0 * (X["d"] <= 2)
    )
    return X, y


def test_a_planted_sum_is_printed():
    X, y = planted()
    tree = DecisionTreeRegressor().fit(X, y)
    found = additive(tree, n_rules=6, max_rules=6).fit(X, y)
    assert found.rules_.n_rules == 4
    assert found.rules_.is_sum
    assert found.rules_.about["method"] == "additive"
    # Printed to a thousandth of the standard deviation.
    np.testing.assert_allclose(found.predict(X), y, atol=0.005 * y.std())
    asked = {frozenset(c.feature for c in r.conditions) for r in found.rules_.rules}
    assert asked == {frozenset({0}), frozenset({1, 2}), frozenset({3})}
    # The rule that moves most comes first.
    assert found.rules_.rules[0].conditions[0].feature == 0


def by_hand(rules, X):
    """Add up what is printed, row by row."""
    rows = X.to_numpy(float)
    totals = []
    for row in rows:
        total = np.array(rules.otherwise.scores or rules.otherwise.prediction)
        for rule in rules.rules:
            if all(c.low < row[c.feature] <= c.high for c in rule.conditions):
                total = total + np.array(rule.scores or rule.prediction)
        totals.append(total)
    return np.array(totals)


def test_values_are_the_printed_sum(diabetes):
    X, y, forest = diabetes
    found = additive(forest).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), by_hand(found.rules_, X))
    fidelity = found.rules_.evaluate(X, y, teacher=forest).fidelity
    assert fidelity > 0.6
    again = cw.RuleSet.from_json(found.rules_.to_json())
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    for rule in found.rules_.rules:
        assert rule.support >= 5
        assert len(f"{abs(rule.prediction):g}") <= 6


def test_values_are_those_of_least_squares(diabetes):
    X, y, forest = diabetes
    found = additive(forest, n_synthetic=0).fit(X, y)
    taught = forest.predict(X)
    design = np.column_stack([found.rules_.matches(X), np.ones(len(X))])
    best = np.linalg.lstsq(design, taught, rcond=None)[0]
    printed = [rule.prediction for rule in found.rules_]
    # What they are rounded by, and the slight ridge.
    np.testing.assert_allclose(printed, best, atol=0.02 * taught.std())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_the_printed_sum(cancer, n_classes):
    X, y, forest = cancer
    if n_classes == 3:
        X, y = load_iris(return_X_y=True, as_frame=True)
        y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
        forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    found = additive(forest, n_rules=5, max_rules=5).fit(X, y)
    assert found.rules_.evaluate(X, y, teacher=forest).fidelity > 0.93
    totals = by_hand(found.rules_, X)
    odds = np.exp(totals)
    np.testing.assert_allclose(
        found.predict_proba(X), odds / odds.sum(axis=1, keepdims=True)
    )
    np.testing.assert_array_equal(
        found.predict(X), found.classes_[totals.argmax(axis=1)]
    )
    for rule in found.rules_.rules:
        # Each rule is about one class; of two, about the second.
        assert sum(score != 0 for score in rule.scores) == 1
        if n_classes == 2:
            assert rule.scores[0] == 0
    told = forest.predict_proba(X)
    assert np.abs(found.predict_proba(X) - told).mean() < 0.1


def test_the_path_has_all_sizes_and_n_rules_takes_one(diabetes):
    X, y, forest = diabetes
    longest = additive(forest).fit(X, y)
    assert [found.n_rules for found in longest.path_] == [1, 2, 3, 4]
    fidelity = [r.evaluate(X, teacher=forest).fidelity for r in longest.path_]
    assert fidelity == sorted(fidelity)
    assert fidelity[0] == pytest.approx(0, abs=0.05)
    shorter = additive(forest, n_rules=2).fit(X, y)
    assert [r.to_json() for r in shorter.path_] == [r.to_json() for r in longest.path_]
    assert shorter.rules_.rules == longest.path_[1].rules


def test_choices_do_not_depend_on_n_jobs(diabetes):
    X, y, forest = diabetes
    settings = {"tune": "auto", "n_rules": "auto", "max_rules": 3}
    one, two = (additive(forest, n_jobs=n, **settings) for n in (1, 2))
    one.fit(X[:150], y[:150])
    two.fit(X[:150], y[:150])
    assert one.rules_.to_json() == two.rules_.to_json()
    assert one.cv_results_ == two.cv_results_
    fidelity = np.array(one.cv_results_["fidelity"])
    assert fidelity.shape == (4, 3)
    best = fidelity.max(axis=1).argmax()
    for name, value in one.settings_.items():
        assert one.cv_results_[name][best] == value
    least = fidelity[best].max() - max(one.cv_results_["standard_error"][best])
    assert fidelity[best, one.n_rules_ - 1] >= least
    assert one.rules_.n_rules == one.n_rules_


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    age = np.where(rng.random(600) < 0.2, np.nan, rng.integers(20, 90, 600))
    ward = pd.Categorical(rng.choice(["north", "south", "east"], 600))
    X = pd.DataFrame({"age": age, "ward": ward})
    risk = 1.0 * (X["age"].fillna(80) > 60) + 3.0 * (X["ward"] != "north")
    model = HistGradientBoostingRegressor(random_state=0).fit(X, risk)
    found = additive(model, n_rules=5, max_rules=5).fit(X, risk)
    assert found.rules_.n_rules == 3
    np.testing.assert_allclose(found.predict(X), risk, atol=0.05)
    text = str(found.rules_)
    assert "ward is 'north'" in text or "ward in {'east', 'south'}" in text
    assert "age" in text
    again = cw.RuleSet.from_json(found.rules_.to_json())
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    high = additive(HistGradientBoostingClassifier(random_state=0), n_rules=4)
    high.fit(X, np.where(risk > 2.5, "high", "low"))
    assert (high.predict(X) == np.where(risk > 2.5, "high", "low")).mean() > 0.99


def test_weights_count_and_rows_without_weight_do_not(diabetes):
    X, y, forest = diabetes
    weight = (np.arange(len(y)) % 2).astype(float)
    half = additive(forest).fit(X[1::2], y[1::2])
    weighted = additive(forest).fit(X, y, sample_weight=weight)
    assert weighted.rules_.rules == half.rules_.rules


def test_an_ensemble_that_says_one_thing_is_one_line():
    X, y = load_iris(return_X_y=True)
    same = HistGradientBoostingClassifier(min_samples_leaf=1000).fit(X, y)
    found = additive(same, n_rules="auto", tune="auto").fit(X, y)
    assert found.rules_.n_rules == 1
    np.testing.assert_allclose(found.predict_proba(X), 1 / 3, atol=1e-6)
    flat = DecisionTreeRegressor().fit(X, np.full(150, 7.5))
    found = additive(flat, n_rules="auto").fit(X, np.full(150, 7.5))
    assert found.rules_.n_rules == 1
    assert (found.predict(X) == 7.5).all()
    few = additive(DecisionTreeClassifier(), n_rules="auto").fit(X[:2], [0, 1])
    assert few.rules_.n_rules == 1


def test_a_model_that_is_sure_gives_finite_scores():
    X = np.arange(100.0)[:, None]
    y = (X[:, 0] > 40).astype(int)
    found = additive(DecisionTreeClassifier().fit(X, y), n_synthetic=0).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), y)
    assert found.rules_.n_rules == 2
    assert np.abs(found.rules_.totals(X)).max() < 20


def test_energy_is_a_sum(shared_data):
    """Effects that add up: a list of 13 lines errs by more than twice as much."""
    table = pd.read_csv(shared_data("data/uci/energy.csv.gz"))
    X, y = table.iloc[:, :8], table["heating_load"]
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    forest = RandomForestRegressor(20, random_state=0).fit(X_train, y_train)
    found = additive(forest, n_rules=13, max_rules=13, n_synthetic=0).fit(
        X_train, y_train
    )
    scores = found.rules_.evaluate(X_test, y_test, teacher=forest)
    assert scores.n_rules <= 13
    assert scores.error < 1.5  # the variance of y is about 100
    assert scores.fidelity > 0.98
