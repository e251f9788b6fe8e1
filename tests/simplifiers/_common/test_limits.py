"""Rules that may not ask some features, and rise or fall with others."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from tests.rules.naive import ways
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError

QUICK = {"n_rules": 5, "max_rules": 5, "n_synthetic": 200}


def table(rng, n=120):
    """Numbers with gaps and ties, a flag and a category."""
    return pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 6, n)),
            "b": rng.normal(size=n).round(1),
            "c": rng.integers(0, 2, n).astype(float),
            "kind": pd.Categorical(rng.choice(["u", "v", "w"], n)),
        }
    )


def asked(rules):
    """Names of the features that some rule asks."""
    names = rules.features.names
    return {names[c.feature] for rule in rules for c in rule.conditions}


def check_ways(rules, monotonic_cst):
    """Every printed number, everywhere."""
    for name, sign in monotonic_cst.items():
        assert ways(rules, rules.features.names.index(name)) <= {sign}


def saying_classes(rules):
    """The same list, as sure as can be of the classes that it says."""
    *lines, otherwise = [
        replace(
            rule,
            probabilities=tuple(float(rule.prediction == c) for c in rules.classes),
        )
        for rule in rules
    ]
    return replace(rules, rules=tuple(lines), otherwise=otherwise)


@settings(max_examples=6)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([{"a": 1}, {"a": -1, "b": 1}, {"a": 1, "b": 1, "c": -1}]),
    st.sampled_from(["class", "values"]),
)
def test_what_is_printed_rises_and_falls_as_asked(seed, monotonic_cst, task):
    rng = np.random.default_rng(seed)
    X = table(rng)
    y = np.sin(X["a"].fillna(4)) + X["b"] * X["c"] + (X["kind"] == "u")
    kinds = HistGradientBoostingRegressor, cw.RuleListRegressor
    if task == "class":
        y = np.where(y > np.median(y), "yes", "no")
        kinds = HistGradientBoostingClassifier, cw.RuleListClassifier
    ensemble, make = kinds
    model = ensemble(min_samples_leaf=3, max_iter=10, random_state=0).fit(X, y)
    found = make(model, **QUICK, monotonic_cst=monotonic_cst, random_state=seed)
    weight = rng.uniform(0.2, 3.0, len(y))
    for rules in found.fit(X, y, sample_weight=weight).path_:
        check_ways(rules, monotonic_cst)
        rules = cw.RuleSet.from_json(rules.to_json())
        check_ways(rules, monotonic_cst)
        if task == "class":
            check_ways(saying_classes(rules), monotonic_cst)


def hat(n=600):
    """High in the middle of x, which a rising list cannot say, and a step in z."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(n), "z": rng.random(n)})
    return X, 1.0 * ((X["x"] > 0.3) & (X["x"] < 0.8)) + 2.0 * (X["z"] > 0.5)


def test_a_list_that_would_fall_rises():
    X, y = hat()
    tree = DecisionTreeRegressor().fit(X, y)
    free = cw.RuleListRegressor(tree, **QUICK, random_state=0).fit(X, y)
    assert ways(free.rules_, 0) == {-1, 1}
    limited = cw.RuleListRegressor(
        tree, **QUICK, monotonic_cst={"x": 1}, random_state=0
    ).fit(X, y)
    assert ways(limited.rules_, 0) == {1}
    assert asked(limited.rules_) == {"x", "z"}
    # The best that rises: low below .3, and the mean of the rest above.
    above = (X["x"] > 0.3).to_numpy()
    step = np.where(above, y[above].mean() - 2 * (X["z"][above] > 0.5).mean(), 0.0)
    best = np.mean((step + 2 * (X["z"] > 0.5) - y) ** 2)
    assert limited.rules_.evaluate(X, y).error == pytest.approx(best, rel=0.02)
    falling = cw.RuleListRegressor(
        tree, **QUICK, monotonic_cst=[-1, 0], random_state=0
    ).fit(X, y)
    assert ways(falling.rules_, 0) <= {-1}


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    forest = RandomForestRegressor(20, max_depth=6, random_state=0).fit(X, y)
    return X, y, forest


def test_rising_lists_follow_a_forest_nearly_as_well(diabetes):
    X, y, forest = diabetes
    signs = {"bmi": 1, "s5": 1, "bp": 1}
    quick = {**QUICK, "n_rules": 8, "max_rules": 8, "random_state": 0}
    free = cw.RuleListRegressor(forest, **quick).fit(X, y)
    found = cw.RuleListRegressor(forest, **quick, monotonic_cst=signs).fit(X, y)
    check_ways(found.rules_, signs)
    assert asked(found.rules_) >= {"bmi", "s5"}
    free, limited = (r.rules_.evaluate(X, model=forest).fidelity for r in (free, found))
    assert limited > free - 0.05
    assert found.rules_.about["increasing"] == "bmi, bp, s5"


def test_synthetic_rows_hold_real_values_of_forbidden_features():
    # Only where "hidden" varies in synthetic rows too, does the ensemble say its mean.
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 300).astype(float)
    X = pd.DataFrame({"hidden": hidden, "x": rng.random(300)})
    y = 10 * hidden
    tree = DecisionTreeRegressor().fit(X, y)
    quick = {**QUICK, "n_synthetic": 3000, "random_state": 0}
    found = cw.RuleListRegressor(tree, **quick, exclude_features=["hidden"]).fit(X, y)
    assert found.predict(X) == pytest.approx(y.mean(), abs=0.5)


def test_limits_hold_while_a_size_is_chosen(diabetes, monkeypatch):
    import clearwood.simplifiers.rule_list as module

    problems, seen = [], module.make_problem

    def spy(grid, *others, **settings):
        problems.append((len(grid.n_bins), *others))
        return seen(grid, *others, **settings)

    monkeypatch.setattr(module, "make_problem", spy)
    X, y, forest = diabetes
    quick = {**QUICK, "n_rules": "auto", "max_rules": 2}
    limits = {
        "monotonic_cst": {"bmi": 1},
        "exclude_features": ["s5"],
        "random_state": 0,
    }
    one, two = (
        cw.RuleListRegressor(forest, **quick, **limits, n_jobs=n).fit(X[:120], y[:120])
        for n in (1, 2)
    )
    assert one.rules_.to_json() == two.rules_.to_json()
    assert one.cv_results_ == two.cv_results_
    check_ways(one.rules_, {"bmi": 1})
    # Three folds, all rows, and five folds for the statistics on new rows.
    assert len(problems) == 2 * (3 + 1 + 5)
    bmi = X.columns.get_loc("bmi")
    for n_features, *_, signs in problems:
        assert n_features == X.shape[1] - 1
        assert np.flatnonzero(signs).tolist() == [bmi]


def test_no_limits_are_none(diabetes):
    X, y, forest = diabetes
    quick = {**QUICK, "random_state": 0}
    plain = cw.RuleListRegressor(forest, **quick).fit(X, y).rules_
    zeros = {"exclude_features": [], "monotonic_cst": np.zeros(X.shape[1], dtype=int)}
    none = cw.RuleListRegressor(forest, **quick, **zeros).fit(X, y).rules_
    assert none.to_json() == plain.to_json()


def test_columns_go_by_name_where_the_ensemble_has_its_own_order(diabetes):
    X, y, forest = diabetes
    turned = X[X.columns[::-1]].assign(extra=1.0)
    quick = {**QUICK, "random_state": 0}
    signs = [1 if name == "bmi" else 0 for name in turned]
    place = list(turned).index("s5")
    found = cw.RuleListRegressor(
        cw.read_ensemble(forest), **quick, exclude_features=[place], monotonic_cst=signs
    ).fit(turned, y)
    assert found.rules_.about["exclude_features"] == "s5"
    assert found.rules_.about["increasing"] == "bmi"
    # A column that the ensemble does not read is not asked anyway.
    also = {"exclude_features": ["extra"], "monotonic_cst": {"extra": -1}}
    free = cw.RuleListRegressor(cw.read_ensemble(forest), **quick).fit(turned, y)
    same = cw.RuleListRegressor(cw.read_ensemble(forest), **quick, **also)
    assert same.fit(turned, y).rules_ == free.rules_


@pytest.mark.parametrize(
    "limits",
    [
        {"exclude_features": ["size"]},
        {"exclude_features": "a"},
        {"exclude_features": None},
        {"exclude_features": [4]},
        {"exclude_features": [-1]},
        {"exclude_features": [True]},
        {"monotonic_cst": {"size": 1}},
        {"monotonic_cst": {"a": 2}},
        {"monotonic_cst": {"a": "up"}},
        {"monotonic_cst": [1, 0]},
        {"monotonic_cst": [0.5, 0, 0, 0]},
        {"monotonic_cst": 1},
        {"monotonic_cst": {"kind": 1}},
        {"monotonic_cst": [0, 0, 0, -1]},
    ],
)
def test_wrong_limits_are_refused(limits):
    X = table(np.random.default_rng(0), 60)
    y = X["b"] > 0
    model = HistGradientBoostingClassifier(random_state=0)
    with refuses(InputError):
        cw.RuleListClassifier(model, **QUICK, **limits).fit(X, y)


def test_three_classes_have_no_order():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    with refuses(InputError):
        cw.RuleListClassifier(forest, monotonic_cst=[1, 0, 0, 0]).fit(X, y)
    quick = {**QUICK, "random_state": 0}
    rules = cw.RuleListClassifier(forest, **quick, monotonic_cst=[0] * 4).fit(X, y)
    assert rules.rules_.n_rules > 1
    by_place = cw.RuleListClassifier(forest, **quick, exclude_features=[2]).fit(X, y)
    assert "x2" not in asked(by_place.rules_)
    assert (
        cw.simplify(
            forest, X, y, method="list", random_state=0, exclude_features=["x2"],
            n_rules=5, n_synthetic=200, max_rules=5,
        )
        == by_place.rules_
    )  # fmt: skip
