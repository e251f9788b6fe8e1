"""Rules that a person pins: the method finds the others below them."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return RandomForestClassifier(10, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def mine(flowers):
    model, X, _ = flowers
    rules = cw.simplify(model, X, max_rules=2, random_state=0)
    rules = rules[:0].add("petal length (cm) > 5.5 and petal width (cm) > 2 then 2")
    return rules.add("sepal length (cm) <= 4.5 then 1", at=2)


def test_pinned_rules_come_first_and_the_others_see_only_what_they_leave(flowers, mine):
    model, X, y = flowers
    settings = {"random_state": 0}
    rules = cw.simplify(model, X, y, pinned=mine, max_rules=5, **settings)
    for kept, told in zip(mine.rules, rules.rules):
        assert (told.conditions, told.prediction) == (kept.conditions, kept.prediction)
        assert told.probabilities == kept.probabilities
    free = ~mine.matches(X).any(axis=1)
    below = cw.simplify(model, X[free], y[free], max_rules=3, **settings)
    assert [(r.conditions, r.prediction) for r in rules][2:] == [
        (r.conditions, r.prediction) for r in below
    ]
    # What is promised is that of the search; what is counted is of all rows.
    assert [r.expected for r in rules][2:] == [r.expected for r in below]
    assert np.isnan(rules[0].expected) and rules[0].precision_assigned > 0
    assert sum(r.rows_assigned for r in rules) == rules.n_rows == len(X)
    same_text(rules.about["pinned"])


def test_rows_without_weight_stay_without_it(flowers, mine):
    model, X, y = flowers
    weight = (y != 0).astype(float)
    rules = cw.simplify(
        model, X, y, pinned=mine, max_rules=4, sample_weight=weight, random_state=0,
    )  # fmt: skip
    assert rules.n_rows == weight.sum()
    assert not any(rule.prediction == 0 for rule in rules)


@pytest.mark.parametrize("method", ["list", "in-trees"])
def test_rules_found_before_stay_as_they_are(method):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    first = cw.simplify(model, X, y, method="list", max_rules=3, random_state=0)
    again = cw.simplify(
        model, X, y, pinned=first, method=method, max_rules=6, random_state=1
    )
    assert again.n_rules > 3
    for old, new in zip(first.rules, again.rules):
        assert (old.conditions, old.prediction) == (new.conditions, new.prediction)
        assert (old.expected, old.low, old.high) == (new.expected, new.low, new.high)
        assert old.rows_assigned == new.rows_assigned


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"method": "tree"}, "'tree'"),
        ({"method": "auto"}, ""),
        ({"max_rules": 2}, "max_rules"),
        ({"n_rules": 1}, "n_rules"),
    ],
)
def test_what_cannot_be_is_refused(flowers, mine, settings, message):
    model, X, y = flowers
    with refuses(InputError, match=message):
        cw.simplify(model, X, y, pinned=mine, **settings)


def test_rules_of_another_model_are_refused(flowers, mine):
    model, X, y = flowers
    other = RandomForestClassifier(2, random_state=0).fit(X, y.map(str))
    with refuses(InputError):
        cw.simplify(other, X, y.map(str), pinned=mine)
    narrow = RandomForestClassifier(2, random_state=0).fit(X.iloc[:, :2], y)
    with refuses(InputError):
        cw.simplify(narrow, X.iloc[:, :2], y, pinned=mine)
    everything = mine.add("petal width (cm) <= 9 then 0")
    with refuses(InputError):
        cw.simplify(model, X, y, pinned=everything)
    with refuses(InputError):
        cw.simplify(model, X, y, pinned=[mine[0]])
