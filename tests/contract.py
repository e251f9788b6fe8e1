"""What every estimator promises: each promise once, for every row of the table.

A new estimator gets a row in ``estimators.py`` and is held to all of this. What only
one method promises is tested beside that method. One estimator alone::

    pytest tests/contract.py -k InTreesClassifier

`SIMPLIFIERS` turn an ensemble into rules; `LEARNERS` are models themselves.
"""

import inspect
import json
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.estimators import ESTIMATORS, SIMPLIFIERS
from tests.rules.naive import read_aloud

import clearwood as cw
from clearwood.exceptions import ClearwoodError, InputError

CORE = {
    "n_rules": "auto",
    "max_rules": 10,
    "min_rows": 5,
    "target": "ensemble",
    "forbidden": (),
    "round_cuts": True,
}
LAST = {"n_jobs": None, "verbose": False, "random_state": None}
MOST_OF_ITS_OWN = 10


def each(cases, *, keeps=None):
    """The cases that make a promise, as parameters of a test."""
    chosen = [case for case in cases if keeps is None or keeps in case.keeps]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.make.__name__)


def says(estimator, X):
    """All that it says: probabilities where there are any."""
    return getattr(estimator, "predict_proba", estimator.predict)(X)


def same(one, other, X, rtol=1e-7):
    """They say the same of all rows, and print the same rules."""
    np.testing.assert_allclose(says(one, X), says(other, X), rtol=rtol)
    if hasattr(one, "rules_"):
        assert questions(one.rules_) == questions(other.rules_)


def questions(rules):
    """What the lines ask, without their numbers."""
    return [rule.conditions for rule in rules]


def asked(rules):
    """Names of the features that some line asks."""
    names = rules.features.names
    return {names[c.feature] for rule in rules for c in rule.conditions}


def sizes(found):
    """All rules that a fit leaves behind, by the number of lines."""
    return {rules.n_rules: rules for rules in getattr(found, "path_", [found.rules_])}


def stump(case, **settings):
    """Another ensemble, for those who read one."""
    make = RandomForestClassifier if case.classifies else RandomForestRegressor
    return make(3, max_depth=2, random_state=0, **settings)


def test_every_public_estimator_has_a_row():
    public = {getattr(cw, name) for name in cw.__all__}
    estimators = {kind for kind in public if hasattr(kind, "fit")}
    rows = [case.make for case in ESTIMATORS]
    assert len(set(rows)) == len(rows)
    assert set(rows) == estimators


# Rows and their weights


@each(ESTIMATORS)
def test_rows_without_weight_do_not_count(case):
    X, y = case.data()
    counts = np.arange(len(y)) % 3 > 0
    weighted = case.made(case.forest()).fit(X, y, sample_weight=1.0 * counts)
    fewer = case.made(case.forest()).fit(X[counts], y[counts])
    same(weighted, fewer, X)


@each(ESTIMATORS, keeps="repeats")
def test_a_weight_is_so_many_rows(case):
    X, y = case.data()
    weight = np.arange(len(y)) % 4
    rows = np.repeat(np.arange(len(y)), weight)
    weighted, repeated = (
        case.made(case.forest(), **case.no_synthetic) for _ in range(2)
    )
    weighted.fit(X, y, sample_weight=weight)
    repeated.fit(X.iloc[rows], y.iloc[rows])
    same(weighted, repeated, X)


@each(ESTIMATORS)
@pytest.mark.parametrize("form", [np.asarray, pl.from_pandas], ids=["array", "polars"])
def test_arrays_and_frames_say_the_same(case, form):
    X, y = case.data()
    pandas = case.fitted()
    other = case.made(case.forest()).fit(form(X), np.asarray(y))
    np.testing.assert_array_equal(says(other, form(X)), says(pandas, X))
    assert pandas.feature_names_in_.tolist() == list(X)
    assert hasattr(other, "feature_names_in_") == (form is not np.asarray)
    if hasattr(pandas, "rules_"):
        assert pandas.rules_.features.names == tuple(X)


# Missing values, categories, and nothing to be told apart


def reader(case):
    """An ensemble for a table with gaps and categories, or one that is to be fitted."""
    return case.boosting() if case in SIMPLIFIERS else stump(case)


@each(ESTIMATORS)
def test_missing_values_and_categories_are_read(case):
    X, y = case.gaps()
    found = case.made(reader(case)).fit(X, y)
    assert found.score(X, y) > 0.9
    text = X.astype({"ward": str})
    for table in (text, pl.from_pandas(X), pl.from_pandas(text)):
        np.testing.assert_array_equal(says(found, table), says(found, X))
    # A ward that nobody has seen, and none at all.
    strange = pd.DataFrame({"age": [np.nan, 30.0, 70.0], "ward": ["west", None, None]})
    assert np.isin(found.predict(strange), y).all() or not case.classifies
    if case in SIMPLIFIERS:
        text = str(found.rules_)
        assert "age <= 60" in text or "age > 60 or missing" in text
        assert "ward is 'north'" in text or "ward in {'east', 'south'}" in text
        again = cw.RuleSet.from_json(found.rules_.to_json())
        for table in (X, strange):
            np.testing.assert_array_equal(again.predict(table), found.predict(table))


@each(SIMPLIFIERS)
def test_an_ensemble_that_says_one_thing_is_one_line(case):
    X, y = case.data()
    flat = stump(case, min_samples_leaf=len(y)).fit(X, y)
    for n_rules in ("auto", 3):
        found = case.made(flat, n_rules=n_rules).fit(X, y)
        assert found.rules_.n_rules == 1
        np.testing.assert_allclose(says(found, X), says(flat, X), rtol=2e-2)


@each(SIMPLIFIERS)
def test_two_rows_are_one_line(case):
    X, y = case.data()
    tree = (DecisionTreeClassifier if case.classifies else DecisionTreeRegressor)()
    two = case.made(tree, n_rules="auto", min_rows=5).fit(X[:2], y[:2])
    assert two.rules_.n_rules == 1


@each(ESTIMATORS)
def test_constant_columns_are_not_asked(case):
    X, y = case.data()
    with_constant = X.assign(constant=1.0)
    found = case.made(stump(case)).fit(with_constant, y)
    if hasattr(found, "rules_"):
        assert "constant" not in asked(found.rules_)
    np.testing.assert_array_equal(
        says(found, with_constant), says(found, with_constant.assign(constant=2.0))
    )


# The same again


@each(ESTIMATORS)
def test_the_seed_decides_and_not_the_jobs(case):
    X, y = case.data()
    settings = {"n_rules": "auto"} if case in SIMPLIFIERS else {}
    jobs = (1, 1, 2) if "n_jobs" in case.parameters else (None, None)
    first, *others = (
        case.made(case.forest(), **settings, **({"n_jobs": n} if n else {})).fit(X, y)
        for n in jobs
    )
    for other in others:
        np.testing.assert_array_equal(says(other, X), says(first, X))
        if case in SIMPLIFIERS:
            assert other.rules_.to_json() == first.rules_.to_json()
        if "choice" in case.keeps:
            assert other.cv_results_ == first.cv_results_


@each(ESTIMATORS)
def test_pickles_and_clones(case):
    X, y = case.data()
    found = case.fitted()
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(says(again, X), says(found, X))
    fresh = clone(case.made(FrozenEstimator(case.forest())))
    same(fresh.fit(X, y), found, X)
    assert not [name for name in vars(clone(fresh)) if name.endswith("_")]


@each([case for case in ESTIMATORS if case.reads_ensembles])
def test_a_fitted_ensemble_is_used_and_another_is_cloned(case):
    X, y = case.data()
    forest, trees = case.forest(), case.forest().estimators_
    found = case.made(forest).fit(X[:300], y[:300])
    assert found.estimator_ is forest
    assert forest.estimators_ is trees
    fresh = stump(case)
    found = case.made(fresh).fit(X, y)
    assert not hasattr(fresh, "estimators_")
    assert found.ensemble_.n_trees == 3
    same(case.made(cw.read_ensemble(forest)).fit(X, y), case.fitted(), X)


@each(SIMPLIFIERS)
def test_the_default_is_histogram_boosting(case):
    X, y = case.data()
    inner = case.made(None).fit(X[:80], y[:80]).estimator_
    assert type(inner).__name__.startswith("HistGradientBoosting")


@each(SIMPLIFIERS)
def test_labels_are_not_needed_to_explain_a_fitted_ensemble(case):
    X, _ = case.data()
    found = case.made(case.forest()).fit(X)
    assert np.isnan(found.rules_.rules[0].precision)
    same(found, case.fitted(), X)


# What is printed


@each(SIMPLIFIERS)
@pytest.mark.parametrize("data", ["numbers", "gaps"])
def test_the_printed_rules_are_what_predicts(case, data):
    numbers = data == "numbers"
    X, y = case.data() if numbers else case.gaps()
    found = case.made(case.forest() if numbers else reader(case)).fit(X, y)
    for rules in (found.rules_, *sizes(found).values()):
        document = json.loads(rules.to_json())
        aloud = [read_aloud(document, row) for row in X.to_dict("records")]
        if case.classifies:
            np.testing.assert_allclose(rules.predict_proba(X), aloud, rtol=1e-12)
            most = [rules.classes[i] for i in np.argmax(aloud, axis=1)]
            np.testing.assert_array_equal(rules.predict(X), most)
        else:
            np.testing.assert_allclose(rules.predict(X), aloud, rtol=1e-12)
    np.testing.assert_array_equal(found.predict(X), found.rules_.predict(X))


@each(SIMPLIFIERS)
def test_rules_count_the_rows_that_they_catch(case):
    X, y = case.data()
    rules = case.fitted().rules_
    caught = rules.matches(X)
    for i, rule in enumerate(rules.rules):
        assert rule.support == caught[:, i].sum()
    if rules.combine == "first":
        first = rules.apply(X)
        assert [line.caught for line in rules] == [
            (first == i).sum() for i in range(rules.n_rules)
        ]


@each(
    [case for case in ESTIMATORS if hasattr(case.make, "rules_") or case in SIMPLIFIERS]
)
def test_rules_are_explained(case):
    X, _ = case.data()
    found = case.fitted()
    told = cw.explain(found, X[:20])
    assert [one.prediction for one in told] == found.rules_.predict(X[:20]).tolist()
    assert all(str(one) and one._repr_html_() for one in told)


@each(ESTIMATORS)
def test_what_is_saved_is_loaded(case, tmp_path):
    X, _ = case.data()
    found = case.fitted()
    kept = found.rules_ if case in SIMPLIFIERS else found
    cw.save(kept, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert type(again) is type(kept)
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    with pytest.raises(ClearwoodError, match="exists already"):
        cw.save(kept, tmp_path / "kept")


@each(SIMPLIFIERS)
def test_progress_is_shown_where_it_is_asked_for(case, capsys):
    quiet = case.fitted(n_rules="auto")
    assert capsys.readouterr() == ("", "")
    shown = case.fitted(n_rules="auto", verbose=True)
    assert capsys.readouterr().out == ""
    assert shown.rules_ == quiet.rules_


# The core parameters of all that turn an ensemble into rules


@each(SIMPLIFIERS)
def test_the_core_parameters_are_the_same(case):
    found = {
        name: parameter.default
        for name, parameter in inspect.signature(case.make).parameters.items()
    }
    names = list(found)
    own = names[1 + len(CORE) : -len(LAST)]
    assert names == ["estimator", *CORE, *own, *LAST]
    assert len(own) <= MOST_OF_ITS_OWN
    core = {name: found[name] for name in (*CORE, *LAST)}
    # The article of Node Harvest asks for ten rows.
    core["min_rows"] = {10: 5}.get(core["min_rows"], core["min_rows"])
    assert core == {**CORE, **LAST}


@each(SIMPLIFIERS)
def test_n_rules_and_max_rules_are_caps(case):
    X, y = case.data()
    for n_rules, most in ((1, 1), (3, 6), ("auto", 2), ("auto", 1)):
        found = case.made(case.forest(), n_rules=n_rules, max_rules=most).fit(X, y)
        cap = most if n_rules == "auto" else n_rules
        assert found.rules_.n_rules <= cap
        if n_rules == 3:
            assert found.rules_.n_rules > 1
    wish = case.made(case.forest(), n_rules=5, max_rules=4)
    with pytest.raises(InputError, match="n_rules.*5.*max_rules.*4"):
        wish.fit(X, y)


@each(SIMPLIFIERS, keeps="path")
def test_the_path_has_all_sizes(case):
    X, y = case.data()
    longest = case.made(case.forest(), n_rules=6, max_rules=6).fit(X, y)
    lines = [rules.n_rules for rules in longest.path_]
    assert lines[0] == 1
    assert lines == sorted(set(lines))
    assert len(lines) > 3
    assert longest.path_[-1].rules == longest.rules_.rules
    fidelity = [r.evaluate(X, teacher=case.forest()).fidelity for r in longest.path_]
    assert fidelity[-1] > fidelity[0]


@each(SIMPLIFIERS, keeps="choice")
def test_as_many_lines_as_pay_within_one_standard_error(case):
    X, y = case.data()
    path = case.made(case.forest(), n_rules=6, max_rules=6).fit(X, y).path_
    found = case.made(case.forest(), n_rules="auto", max_rules=6).fit(X, y)
    assert [r.to_json() for r in found.path_] == [r.to_json() for r in path]
    fidelity, error = (
        np.array(found.cv_results_[name]) for name in ("fidelity", "standard_error")
    )
    best = np.unravel_index(fidelity.argmax(), fidelity.shape)
    enough = fidelity[best[0]] >= fidelity[best] - error[best]
    assert found.n_rules_ == enough.argmax() + 1
    assert found.rules_.n_rules == max(n for n in sizes(found) if n <= found.n_rules_)


@each(SIMPLIFIERS)
def test_no_rule_catches_fewer_than_min_rows(case):
    least = int(min(rule.caught for rule in case.fitted().rules_.rules))
    for rules in sizes(case.fitted(min_rows=least + 1)).values():
        assert all(rule.caught > least for rule in rules.rules)
    assert case.fitted(min_rows=1000).rules_.n_rules == 1


@each(SIMPLIFIERS)
def test_labels_are_followed_where_they_are_the_target(case):
    """A forest that is wrong about half of the rows, which its cuts tell apart."""
    X, y = case.data()
    sick = X["bmi"] > 26
    y, wrong = (
        (np.where(side, "high", "low") if case.classifies else 100.0 * side)
        for side in (sick, ~sick)
    )
    forest = stump(case).fit(X, wrong)
    by_model, by_labels = (
        case.made(forest, target=target, **case.no_synthetic).fit(X, y)
        for target in ("ensemble", "labels")
    )
    assert by_model.score(X, wrong) > 0.8 > 0.2 > by_model.score(X, y)
    assert by_labels.score(X, y) > 0.8 > 0.2 > by_labels.score(X, wrong)
    with pytest.raises(ValueError, match="requires y"):
        case.made(forest, target="labels", **case.no_synthetic).fit(X)


@each(SIMPLIFIERS)
def test_forbidden_features_are_never_asked(case):
    X, y = case.data()
    assert "s5" in asked(case.fitted().rules_)
    found = case.fitted(forbidden=["s5", list(X).index("bp")])
    for rules in sizes(found).values():
        assert asked(rules) <= {"age", "bmi"}
    assert found.rules_.n_rules > 1
    assert found.rules_.about["forbidden"] == "bp, s5"
    assert case.fitted(forbidden=list(X)).rules_.n_rules == 1
    with pytest.raises(InputError, match="'size', which is no feature; there are 'age"):
        case.fitted(forbidden=["size"])


@each(SIMPLIFIERS)
def test_rounded_cuts_change_no_training_prediction(case):
    X, _ = case.data()
    rounded, exact = (case.fitted(round_cuts=choice) for choice in (True, False))
    digits = {}
    for found in (rounded, exact):
        bounds = {
            (c.feature, bound)
            for rule in found.rules_
            for c in rule.conditions
            for bound in (c.low, c.high)
            if np.isfinite(bound)
        }
        digits[found] = sum(len(repr(bound)) for _, bound in bounds) / len(bounds)
        if found is exact:
            assert all(b in found.bins_.cuts[d] for d, b in bounds)
    assert digits[rounded] < digits[exact]
    np.testing.assert_array_equal(rounded.rules_.matches(X), exact.rules_.matches(X))


# Bad input is named, and what to do about it


def gap(y):
    y = y.astype(object)
    y[3] = None
    return y


WRONG_FITS = {
    "no target": (lambda X, y: (X, None, None), "requires y"),
    "missing target": (lambda X, y: (X, gap(y), None), "NaN or None.*row 3; drop"),
    "short target": (lambda X, y: (X, y[:-1], None), "442 samples but y has 441.*give"),
    "no rows": (lambda X, y: (X[:0], y[:0], None), "0 sample.* at least one"),
    "negative weights": (lambda X, y: (X, y, -np.ones(len(y))), "weight.*not neg.*dro"),
    "no weights": (lambda X, y: (X, y, np.zeros(len(y))), "not all zero; drop"),
    "few weights": (lambda X, y: (X, y, [1.0, 2.0]), r"weight.*\(2,\), expected \(442"),
    "names twice": (lambda X, y: (pd.concat([X, X], axis=1), y, None), "'age'"),
    "sparse": (lambda X, y: (csr_array(X.to_numpy()), y, None), "[Ss]parse.*dense"),
    "text": (lambda X, y: (np.full((len(y), 4), "a"), y, None), "numeric.*Convert"),
}


@each(ESTIMATORS)
@pytest.mark.parametrize("wrong", WRONG_FITS)
def test_wrong_rows_are_refused(case, wrong):
    change, message = WRONG_FITS[wrong]
    X, y, weight = change(*case.data())
    with pytest.raises((ClearwoodError, ValueError, TypeError), match=message):
        case.made(stump(case)).fit(X, y, sample_weight=weight)


@each(ESTIMATORS)
def test_wrong_queries_are_refused(case):
    X, _ = case.data()
    with pytest.raises(ValueError, match="not fitted"):
        case.made(stump(case)).predict(X)
    found = case.fitted()
    for query, message in (
        (X.rename(columns={"bmi": "weight"}), "feature names.*weight"),
        (X.drop(columns="s5"), "feature names.*s5"),
        (X[:0], "0 sample"),
    ):
        with pytest.raises(ValueError, match=f"(?s){message}"):
            found.predict(query)


@each(SIMPLIFIERS)
def test_wrong_settings_are_refused(case):
    X, y = case.data()
    other = next(c for c in SIMPLIFIERS if c.classifies != case.classifies)
    for settings, message in (
        ({"n_rules": 0}, "n_rules"),
        ({"n_rules": "all"}, "n_rules"),
        ({"max_rules": 0}, "max_rules"),
        ({"min_rows": -1}, "min_rows"),
        ({"target": "model"}, "target"),
        ({"round_cuts": "yes"}, "round_cuts"),
        ({"forbidden": "age"}, "forbidden must be a list"),
        ({"estimator": LinearRegression().fit(X, y == y[0])}, "Cannot read.*Linear"),
        ({"estimator": other.forest()}, "is for (classification|regression)"),
        ({"estimator": case.boosting()}, r"\['ward'\], which the data lacks"),
    ):
        with pytest.raises((ClearwoodError, ValueError, TypeError), match=message):
            case.made(**{"estimator": case.forest(), **settings}).fit(X, y)


@each([case for case in ESTIMATORS if case.classifies])
def test_labels_that_are_numbers_stay_numbers(case):
    X, y = case.data()
    numbers = np.where(y == "high", 7, 3)
    found = case.made(stump(case)).fit(X, numbers)
    assert found.classes_.tolist() == [3, 7]
    assert found.predict(X).dtype.kind == "i"
    most = found.classes_[found.predict_proba(X).argmax(axis=1)]
    np.testing.assert_array_equal(found.predict(X), most)


@each([case for case in SIMPLIFIERS if case.classifies])
def test_one_class_is_refused(case):
    X, y = case.data()
    with pytest.raises(InputError, match="one class only.*at least two"):
        case.made(stump(case)).fit(X, np.full(len(y), "high"))


@each([case for case in ESTIMATORS if not case.classifies])
def test_labels_are_no_values(case):
    X, y = case.data()
    words = np.where(y > 100, "high", "low")
    with pytest.raises(InputError, match=re.escape("for labels use the classifier")):
        case.made(stump(case)).fit(X, words)
