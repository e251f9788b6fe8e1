"""What users of distilled trees count on."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tests.estimators import people
from tests.simplifiers.common import check_disjoint_and_true
from tests.wording import same_lines

import clearwood as cw
from clearwood.datasets import make_xor_regression


def tree_of(estimator, **settings):
    quick = {"n_rules": 4, "max_rules": 4, "n_synthetic": 500, "random_state": 0}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.DistilledTreeRegressor if regressor else cw.DistilledTreeClassifier
    return make(estimator, **{**quick, **settings})


def test_a_forest_in_four_leaves(cancer, diabetes):
    for (X, y, forest), least in ((cancer, 0.93), (diabetes, 0.6)):
        found = tree_of(forest).fit(X, y)
        assert found.rules_.n_rules == found.tree_.n_leaves <= 4
        assert found.rules_.evaluate(X, y, model=forest).fidelity > least
        assert found.rules_.target == "target"
        assert found.rules_.about["method"] == "tree"
        check_disjoint_and_true(found, X)
        text = str(found.tree_)
        for number in range(1, found.tree_.n_leaves + 1):
            assert text.count(f" {number}. then ") == 1


def test_leaves_say_the_mean_of_their_rows(diabetes):
    X, y, forest = diabetes
    found = tree_of(forest, n_synthetic=0).fit(X, y)
    caught, said = found.rules_.apply(X), forest.predict(X)
    for i, rule in enumerate(found.rules_):
        near = pytest.approx(said[caught == i].mean(), abs=0.005 * said.std())
        assert rule.prediction == near


def test_xor_is_four_leaves_where_cart_sees_nothing():
    X, y = make_xor_regression(1000, noise=0.1, random_state=0)
    noise = np.random.default_rng(0).random((1000, 3))
    X = np.column_stack([X, noise])
    forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0).fit(X, y)
    found = tree_of(forest, n_synthetic="auto").fit(X, y)
    fidelity = found.rules_.evaluate(X, model=forest).fidelity
    said = forest.predict(X)
    cart = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(X, said)
    assert fidelity > 0.9
    assert fidelity > cart.score(X, said) + 0.3


def test_simplify_by_trees(cancer, diabetes):
    for X, y, forest in (cancer, diabetes):
        rules = cw.simplify(
            forest, X, y, method="tree", n_rules=3, max_rules=3, random_state=0
        )
        assert rules.n_rules == 3
        assert rules.about["method"] == "tree"
        assert rules.matches(X).sum(axis=1).max() == 1


@pytest.mark.parametrize(
    "make", [cw.DistilledTreeClassifier, cw.BornAgainTreeClassifier]
)
@pytest.mark.filterwarnings(
    "ignore:No row:clearwood.exceptions.UnknownCategoriesWarning"
)
def test_trees_ask_of_categories_and_missing_values_as_their_rules_do(make):
    X, y = people()
    model = HistGradientBoostingClassifier(random_state=0).fit(X, y)
    found = make(model, n_rules=4, max_rules=4, random_state=0).fit(X, y)
    assert found.rules_.evaluate(X, y, model=model).fidelity == 1.0
    same_lines(str(found.tree_))
    check_disjoint_and_true(found, X)
    # Where training had no missing ward, nor any other one.
    odd = pd.DataFrame(
        {"age": [np.nan, 30.0, 70.0], "ward": pd.Categorical([None, "west", "west"])}
    )
    np.testing.assert_array_equal(found.tree_.predict(odd), found.rules_.predict(odd))


def test_minus_infinity_is_a_value_like_any_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[:40, 0] = -np.inf
    y = np.where(X[:, 0] == -np.inf, 5.0, X[:, 1])
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
    rule_list = cw.RuleListRegressor(model, n_rules=4, random_state=0)
    for found in (tree_of(model, n_rules=4), rule_list):
        rules = found.fit(X, y).rules_
        again = cw.RuleSet.from_json(rules.to_json())
        np.testing.assert_array_equal(again.predict(X), found.predict(X))
        assert rules.evaluate(X, model=model).fidelity > 0.75
