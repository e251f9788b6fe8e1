"""What users of rule lists count on."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.simplifiers._common.base import check_range
from clearwood.simplifiers._common.size_path import fewest_rules
from clearwood.simplifiers._common.synthetic_rows import (
    MOST_LEVELS,
    _places,
    mixed_rows,
)


def rule_list(estimator, **settings):
    quick = {"n_rules": 4, "max_rules": 4, "n_synthetic": 500}
    settings = {**quick, "random_state": 0, **settings}
    regressor = type(estimator).__name__.endswith("Regressor")
    make = cw.RuleListRegressor if regressor else cw.RuleListClassifier
    return make(estimator, **settings)


def test_a_forest_in_four_lines(cancer):
    X, y, forest = cancer
    found = rule_list(forest).fit(X, y)
    scores = found.rules_.evaluate(X, y, model=forest)
    assert scores.fidelity > 0.94
    assert found.rules_.n_rules <= 4
    assert found.rules_.target == "target"
    assert found.rules_.about["method"] == "list"
    np.testing.assert_array_equal(found.predict(X), found.rules_.predict(X))
    labels = found.classes_[found.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(labels, found.predict(X))
    caught = found.rules_.apply(X)
    for i, rule in enumerate(found.rules_):
        assert rule.assigned == (caught == i).sum() >= 5


def test_rules_say_the_mean_of_the_rows_that_they_catch(cancer, diabetes):
    X, y, forest = cancer
    # Without labels nothing is known of new rows.
    found = rule_list(forest, n_synthetic=0).fit(X)
    caught, target = found.rules_.apply(X), forest.predict_proba(X)
    for i, rule in enumerate(found.rules_):
        assert rule.probabilities == pytest.approx(target[caught == i].mean(axis=0))
    X, y, forest = diabetes
    found = rule_list(forest, n_synthetic=0).fit(X, y)
    caught, said = found.rules_.apply(X), forest.predict(X)
    assert found.rules_.evaluate(X, model=forest).fidelity > 0.6
    for i, rule in enumerate(found.rules_):
        # Printed to half a percent of the standard deviation.
        near = pytest.approx(said[caught == i].mean(), abs=0.005 * said.std())
        assert rule.prediction == near


def test_choice_of_a_size():
    error = [0.03, 0.03, 0.03]
    # Half an error is close enough, a whole one is not.
    steep = {"fidelity": [0.4, 0.84, 0.86], "standard_error": error}
    assert fewest_rules(steep) == 3
    assert fewest_rules(steep | {"fidelity": [0.5, 0.8, 0.81]}) == 2
    # What was asked for decides, where it is not agreement.
    assert fewest_rules(steep | {"score": [0.9, 0.4, 0.9], "score_error": error}) == 1


def test_who_weighs_most_is_followed_most(cancer):
    X, y, forest = cancer
    said = forest.predict(X)
    weight = np.where(X["mean texture"] > 25, 50.0, 1.0)
    heavy = rule_list(forest, n_rules=3).fit(X, y, sample_weight=weight).predict(X)
    plain = rule_list(forest, n_rules=3).fit(X, y).predict(X)
    followed = np.average(heavy == said, weights=weight)
    assert followed >= np.average(plain == said, weights=weight)


@pytest.mark.parametrize(
    ("weight", "rows", "enough"),
    # Two rows are too few for a rule, whatever they weigh; ten are not.
    [(1.0, 2, False), (3.0, 2, False), (1.0, 10, True), (1e-3, 10, True)],
)
def test_a_row_supports_a_rule_whatever_it_weighs(weight, rows, enough):
    x = np.repeat([[0.0], [1.0], [2.0]], [20, rows, 20], axis=0)
    tree = DecisionTreeRegressor().fit(x, 100 * (x == 1))
    weights = np.where(x[:, 0] == 1, weight, min(weight, 1.0))
    quick = {"n_synthetic": 0, "n_rules": 2, "max_rules": 2}
    found = rule_list(tree, **quick).fit(x, sample_weight=weights)
    assert (found.predict([[1.0]])[0] == 100) == enough


def test_small_weights_leave_rules_their_support(cancer):
    X, y, forest = cancer
    plain = rule_list(forest).fit(X, y).rules_
    small = rule_list(forest).fit(X, y, sample_weight=np.full(len(y), 2.0**-10)).rules_
    assert [r.conditions for r in small] == [r.conditions for r in plain]


def test_simplify_by_lists(cancer):
    X, y, forest = cancer
    rules = cw.simplify(
        forest, X, y, method="list", max_rules=3, n_rules=3, random_state=0
    )
    assert 1 < rules.n_rules <= 3
    with refuses(InputError):
        cw.simplify(forest, X, y, method="lists")
    with refuses(InputError, match="'list'.*'n_init'"):
        cw.simplify(forest, X, y, n_init=3)


def test_mixed_rows_come_from_neighbours():
    rng = np.random.default_rng(0)
    centre = np.repeat([0.0, 1000.0], 50)
    X = np.stack([centre + rng.normal(size=100), centre + rng.normal(size=100)], 1)
    kind = np.repeat([0.0, 1.0], 50)
    table = np.column_stack([X, kind, np.where(kind == 1, np.nan, 3.0)])
    is_category = np.array([False, False, True, False])
    made, _ = mixed_rows(table, is_category, np.ones(100), 400, rng)
    assert made.shape == (400, 4)
    for d in range(4):
        known = np.unique(table[:, d])
        assert np.isin(made[:, d], known).sum() + np.isnan(made[:, d]).sum() == 400
    # Nothing is mixed across the groups, and within them rows are new.
    np.testing.assert_array_equal(made[:, 0] > 500, made[:, 2] == 1)
    np.testing.assert_array_equal(made[:, 2] == 1, np.isnan(made[:, 3]))
    assert len(np.unique(made[:, :2], axis=0)) > 200
    assert len(mixed_rows(table[:1], is_category, np.ones(1), 5, rng)[0]) == 0
    only_first, _ = mixed_rows(table, is_category, 1.0 * (kind == 0), 50, rng)
    assert (only_first[:, 2] == 0).all()


def test_mixed_rows_bear_infinite_and_huge_values():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 3))
    table[0] = [np.inf, -np.inf, 1.7e308]
    table[1, 2] = -1.7e308
    made, _ = mixed_rows(table, np.zeros(3, bool), np.ones(30), 60, rng)
    assert made.shape == (60, 3)


def test_progress_is_shown_where_it_is_asked_for(diabetes, capsys):
    X, y, forest = diabetes
    settings = {"n_rules": "auto", "max_rules": 3}
    quiet = rule_list(forest, **settings).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = rule_list(forest, verbose=True, **settings).fit(X, y)
    err = capsys.readouterr().err
    assert "100%" in err and "3/3 [" in err.splitlines()[-1]
    same_text(err.partition(":")[0])
    assert shown.rules_ == quiet.rules_


def test_an_ensemble_that_says_one_thing_is_agreed_with():
    X = np.random.default_rng(0).normal(size=(140, 2))
    model = RandomForestRegressor(5, random_state=0).fit(X, np.full(140, 0.1))
    rules = rule_list(model).fit(X).rules_
    assert rules.n_rules == 1
    assert rules.otherwise.prediction == pytest.approx(0.1, abs=1e-15)
    assert rules.otherwise.agreement == 1.0


def test_values_that_cannot_be_squared_are_refused():
    X = np.arange(60.0)[:, None]
    tree = DecisionTreeRegressor().fit(X, np.where(X[:, 0] > 30, 1e160, -1e160))
    with refuses(InputError):
        rule_list(tree).fit(X)
    with refuses(InputError, match="170"):
        check_range(np.array([0.0, 1e-170]), "What it says")
    check_range(np.array([1e-170, 1e-170]), "What it says")


def test_categories_without_number_take_few_columns_while_neighbours_are_sought():
    codes = np.r_[np.arange(500.0), np.nan, 7.0]
    places = _places(codes[:, None], np.array([True]))
    # One column more for what is missing.
    assert places.shape == (502, MOST_LEVELS + 1)
    np.testing.assert_array_equal(places[7], places[501])
    assert (places[7] != places[8]).any() and places[500].tolist() == [
        1.0,
        *[0.0] * MOST_LEVELS,
    ]
    few = _places(np.array([[0.0], [1.0], [0.0]]), np.array([True]))
    np.testing.assert_array_equal(few, [[1, 0], [0, 1], [1, 0]])
