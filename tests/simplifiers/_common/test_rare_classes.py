"""Where the model seldom predicts a class, rules tell rows apart all the same."""

import re
import warnings
from ast import literal_eval

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood.exceptions import PoorFidelityWarning

CLASSIFIERS = (
    cw.RuleListClassifier,
    cw.DistilledTreeClassifier,
    cw.AdditiveRulesClassifier,
)
REGRESSORS = (
    cw.RuleListRegressor,
    cw.DistilledTreeRegressor,
    cw.AdditiveRulesRegressor,
)
QUICK = {"max_rules": 5, "n_synthetic": 0, "random_state": 0}


def table(high, low, n_rows=600):
    """Of a twelfth of the rows "ill" is likelier than of the others."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 3))
    p = np.where((X[:, 0] > 0.6) & (X[:, 1] > 0.4), high, low)
    return X, np.where(rng.random(n_rows) < p, "ill", "well")


@pytest.fixture(scope="module")
def never():
    """The forest never predicts "ill"."""
    X, y = table(0.35, 0.05)
    forest = RandomForestClassifier(20, min_samples_leaf=30, random_state=0).fit(X, y)
    assert set(forest.predict(X)) == {"well"}
    return X, y, forest


@pytest.fixture(scope="module")
def seldom():
    """The forest predicts "ill" for few rows, by trees that a list cannot follow."""
    X, y = table(0.6, 0.05)
    forest = RandomForestClassifier(20, min_samples_leaf=4, random_state=0).fit(X, y)
    assert 0.02 < np.mean(forest.predict(X) == "ill") < 0.1
    return X, y, forest


def told_by(made, *rows):
    """A fitted estimator, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = made.fit(*rows)
    return found, [str(w.message) for w in told if w.category is PoorFidelityWarning]


def order(found, X, forest):
    """How well rules order the tenth of the rows that the forest finds likeliest."""
    sure = forest.predict_proba(X)[:, 0]
    return roc_auc_score(sure > np.quantile(sure, 0.9), found.predict_proba(X)[:, 0])


@pytest.mark.parametrize("scoring", ["auto", "log_loss", "agreement", "balanced"])
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_no_constant_is_chosen(make, scoring, never):
    X, y, forest = never
    found, told = told_by(make(forest, scoring=scoring, **QUICK), X, y)
    assert found.rules_.n_rules > 1
    assert len(np.unique(found.predict_proba(X)[:, 0])) > 1
    assert order(found, X, forest) > 0.75
    assert told == []


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_nor_where_the_class_is_very_rare(make):
    X, y = table(0.06, 0.003, n_rows=2000)
    forest = RandomForestClassifier(10, min_samples_leaf=50, random_state=0).fit(X, y)
    found = make(forest, **QUICK).fit(X)
    # The constant itself loses 0.0005 only.
    assert found.rules_.n_rules > 1 and order(found, X, forest) > 0.75


@pytest.mark.parametrize("make", REGRESSORS)
def test_nor_where_values_vary_for_no_reason(make):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    forest = RandomForestRegressor(10, min_samples_leaf=3, random_state=0).fit(X, y)
    found, _ = told_by(make(forest, **QUICK), X)
    assert found.rules_.n_rules > 1 and np.ptp(found.predict(X)) > 0


def test_lists_that_must_rise_grow_by_probabilities(never):
    X, y, forest = never
    # The second class is "well".
    falling = {"monotonic_cst": [-1, -1, 0], "scoring": "log_loss"}
    found = cw.RuleListClassifier(forest, **falling, **QUICK).fit(X)
    assert found.rules_.n_rules > 1 and order(found, X, forest) > 0.75
    rows = np.zeros((50, 3))
    rows[:, 0] = np.linspace(-3, 3, 50)
    for other in (-1.0, 1.0):
        rows[:, 1] = other
        assert (np.diff(found.predict_proba(rows)[:, 1]) <= 0).all()


def test_auto_takes_no_constant(never):
    X, y, forest = never
    rules = cw.simplify(forest, X, y, method="auto", **QUICK)
    assert rules.n_rules > 1
    same_lines(rules.about["kinds"])
    figures = [
        float(text) for text in re.findall(r"[a-z] ([0-9.e-]+)", rules.about["kinds"])
    ]
    assert len(figures) == 3 and 0 < min(figures) < 0.05


def test_compare_calls_no_constant_enough(never, in_this_process):
    X, y, forest = never
    quick = {"cv": 3, "n_refits": 0, "max_rules": 4, "random_state": 0}
    found = cw.compare(forest, X, y, methods=["list", "tree"], **quick)
    one = next(point for point in found.points if point.n_rules == 1)
    enough = found.enough()
    # By error the constant would do, and the forest is no better than it.
    assert enough.error >= one.error - one.error_se
    assert enough.n_rules > 1 and enough.log_loss < one.log_loss / 2
    assert found.best_point(by="log_loss").log_loss <= enough.log_loss
    p, truth = forest.predict_proba(X)[:, 0], np.mean(y == "ill")
    alone = np.mean(
        p * np.log(p / p.mean()) + (1 - p) * np.log((1 - p) / (1 - p.mean()))
    )
    assert one.log_loss == pytest.approx(alone, rel=0.05)
    assert found.constant_error == pytest.approx(truth)
    text = " ".join(str(found).split())
    assert f"enough: {enough.method} with {enough.n_rules} rules" in text
    same_lines(text.partition("enough:")[0])
    by_error = cw.compare(forest, X, y, methods=["list"], scoring="error", **quick)
    assert by_error.enough().n_rules > 1
    with refuses(cw.exceptions.InputError, match="'log_loss'.*'error'"):
        cw.compare(forest, X, y, scoring="auc", **quick)


# What a warning recommends


def followed(text):
    """The setting that a warning recommends."""
    name, value = re.search(r"\((\w+)=([^,)]+)", text).groups()
    return {name: literal_eval(value)}


@pytest.mark.parametrize(
    "make, asked",
    [(make, {"max_rules": 2}) for make in CLASSIFIERS]
    + [
        (cw.AdditiveRulesClassifier, {"n_rules": 2}),
        (cw.RuleListClassifier, {"n_rules": 2}),
    ],
)
def test_the_remedy_removes_the_warning(make, asked, seldom):
    X, y, forest = seldom
    quick = {**QUICK, **asked}
    found, told = told_by(make(forest, **quick), X, y)
    for text in told:
        _, again = told_by(make(forest, **{**quick, **followed(text)}), X, y)
        assert again == []
    # The sum of two lines names no row "ill".
    assert told or make is not cw.AdditiveRulesClassifier


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_constant_names_what_keeps_rules_away(make, never):
    X, y, forest = never
    found, (text,) = told_by(make(forest, **{**QUICK, "min_samples_leaf": 400}), X, y)
    assert found.rules_.n_rules == 1
    same_text(text)
    assert "(min_samples_leaf=400, --min-samples-leaf)" in text
    found, (text,) = told_by(make(forest, exclude_features=[0, 1, 2], **QUICK), X, y)
    assert "(exclude_features, --exclude-features)" in text
