"""The best short lists for a model, and a bound on all of them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.outcomes import OUTCOMES

METHODS = ("RuleList", "AdditiveRules", "DistilledTree")


def mixed(n_rows=300, seed=0):
    """Missing values, and categories; three features decide, `d` is noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows),
            "c": pd.Categorical(rng.choice(list("rgbk"), n_rows)),
            "d": rng.integers(0, 4, n_rows).astype(float),
        }
    )
    X.loc[rng.random(n_rows) < 0.2, "a"] = np.nan
    first = (X.a.isna() | (X.a > 0.5)) & X.c.isin(["r", "g"])
    return X, np.where(first | (X.b > 1), "yes", "no")


@pytest.fixture(scope="module")
def boosted():
    X, y = mixed()
    make = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    return X, make.set_params(categorical_features="from_dtype").fit(X, y)


def twins(n_rows=200):
    """Values that either of two equal features explains."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(n_rows, 4)), columns=[*"abcd"])
    X["b"] = X["a"]
    return X, np.select([X.a > 0.7, X.c > 0.5], [4.0, 2.0], 0.0)


@pytest.fixture(scope="module")
def forest():
    X, y = twins()
    model = RandomForestRegressor(20, max_features=1, random_state=0).fit(X, y)
    return X, model, cw.RuleListRegressor(model, n_rules=3, random_state=0).fit(X)


@pytest.mark.parametrize("method", METHODS)
def test_a_planted_list_is_found_whatever_is_fitted(boosted, method):
    X, model = boosted
    fitted = getattr(cw, f"{method}Classifier")(model, n_rules=3, random_state=0)
    found = cw.alternatives(fitted.fit(X), X)
    assert found.is_complete
    assert (found.bound, found.best_fidelity) == pytest.approx((1, 1), abs=1e-9)
    assert [*found.lists] == [{"a", "b", "c"}]
    assert {*found.without} == {"a", "b", "c"}
    assert max(found.without.values()) < 0.9
    assert found.best.n_rules == 3


def test_what_is_stated_is_what_the_lists_do(forest):
    X, model, fitted = forest
    found = cw.alternatives(fitted, X, tolerance=0.05)
    own = fitted.rules_.evaluate(X, model=model).fidelity
    assert found.fidelity == pytest.approx(own)
    for used, rules in found.lists.items():
        assert {rules.features.names[d] for d in rules.used_features} == used
        shown = rules.evaluate(X, model=model).fidelity
        assert shown == pytest.approx(found.fidelities[used])
        assert found.best_fidelity - 0.051 <= shown <= found.bound + 1e-9
        assert max(rule.n_literals for rule in rules.rules) <= 2


def test_equal_features_replace_each_other(forest):
    X, _, fitted = forest
    found = cw.alternatives(fitted, X, tolerance=0.05)
    assert {frozenset("ac"), frozenset("bc")} <= {*found.lists}
    assert [*found.without] == ["c"]
    assert [*found.features.items()] == [("c", 2), ("a", 1), ("b", 1), ("d", 0)]
    assert found.without["c"] < found.best_fidelity - 0.05
    same_lines(str(found))


@pytest.mark.parametrize("seed", range(4))
def test_rules_within_the_class_do_not_exceed_the_bound(seed):
    X, y = mixed(150, seed)
    X["c"] = X["c"].cat.codes
    X = X.fillna(-3.0)
    model = RandomForestClassifier(5, max_depth=3, random_state=seed).fit(X, y)
    fitted = cw.RuleListClassifier(model, n_rules=3, random_state=seed).fit(X)
    longest = max(rule.n_literals for rule in fitted.rules_.rules)
    found = cw.alternatives(fitted, X, n_cuts=1)
    assert found.is_complete
    if longest <= 2:
        assert found.fidelity <= found.bound + 1e-9
    more = cw.alternatives(fitted, X, n_cuts=3)
    assert more.bound >= found.bound - 1e-9
    fewer = cw.alternatives(fitted, X, n_cuts=3, n_rules=2)
    assert fewer.bound <= more.bound + 1e-9
    single = cw.alternatives(fitted, X, n_cuts=3, max_literals=1)
    assert single.bound <= more.bound + 1e-9
    assert max(rule.n_literals for rule in single.best.rules) == 1


def test_a_search_that_ends_early_says_so(forest):
    X, _, fitted = forest
    whole, part = (cw.alternatives(fitted, X, time_limit=t) for t in (None, 0.0))
    assert part.bound > whole.bound
    assert part.best_fidelity < whole.best_fidelity
    assert not part.is_complete
    assert "The search ended early" in str(part)


def test_no_list_uses_an_excluded_feature(boosted):
    X, model = boosted
    fitted = cw.RuleListClassifier(
        model, n_rules=3, exclude_features=["b"], random_state=0
    )
    found = cw.alternatives(fitted.fit(X), X, tolerance=0.1)
    assert "b" not in frozenset().union(*found.lists)
    assert found.bound < 0.95


def test_one_rule_suffices_for_a_constant_model():
    X, _ = twins()
    fitted = cw.RuleListRegressor(lambda X: np.ones(len(X)), random_state=0)
    found = cw.alternatives(fitted.fit(X), X)
    assert [*found.lists] == [frozenset()]
    assert found.bound == found.best_fidelity == 1


def test_rows_that_no_split_separates_have_no_lists(forest):
    X, _, fitted = forest
    found = cw.alternatives(fitted, X[:1])
    assert found.n_splits == 0
    assert found.best.n_rules == 1
    same_lines(str(found))


def test_the_page_has_the_bound_the_best_list_and_all_sets(forest, tmp_path):
    X, _, fitted = forest
    found = cw.alternatives(fitted, X, tolerance=0.05)
    cw.report(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert found._bound_text() in page
    figure = OUTCOMES[found.task].figure
    for used, fidelity in found.fidelities.items():
        row = f"{', '.join(sorted(used))}</th>.*>{figure(fidelity)}</td>"
        assert re.search(row, page)
    assert re.search(f">c</th>.*>2</td>.*>{figure(found.without['c'])}</td>", page)
    assert "otherwise" in page
    with refuses(InputError, "leave X and y out"):
        cw.report(found, tmp_path / "other.html", X=X)
    early = cw.alternatives(fitted, X, time_limit=0.0)
    cw.report(early, tmp_path / "early.html")
    assert "The search ended early" in (tmp_path / "early.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"n_rules": 1}, "n_rules is 1; expected a whole number from 2."),
        ({"max_literals": 3}, "max_literals is 3; expected 1 or 2."),
        ({"n_cuts": 0}, "n_cuts is 0; expected a whole number from 1."),
        ({"tolerance": 1}, "tolerance is 1; expected a number from 0 and below 1."),
        ({"time_limit": -1.0}, "time_limit is -1.0; expected seconds from 0, or None"),
        ({"time_limit": np.nan}, "time_limit is nan; expected seconds from 0, or None"),
        ({"tolerance": "a"}, "tolerance is 'a'; expected a number from 0 and below 1."),
    ],
)
def test_settings_are_checked(forest, settings, text):
    X, _, fitted = forest
    with refuses(InputError, text):
        cw.alternatives(fitted, X, **settings)


def test_what_is_no_fitted_estimator_is_refused(forest):
    X, _, fitted = forest
    with refuses(InputError, "expected a fitted simplifier"):
        cw.alternatives(fitted.rules_, X)
    with refuses(InputError, "expected a fitted simplifier"):
        cw.alternatives(fitted.rules_.found_for(fitted.ensemble_), X)
    with refuses(InputError, "an empty table; pass some rows"):
        cw.alternatives(fitted, X[:0])
