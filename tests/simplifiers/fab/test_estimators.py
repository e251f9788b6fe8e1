"""What users of the estimators count on."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from catboost import CatBoostClassifier
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from tests.rules.naive import truth as truth_of
from tests.simplifiers.fab import naive
from tests.wording import refuses, same_lines, warns

import clearwood as cw
from clearwood.exceptions import (
    ClearwoodError,
    InputError,
    InterruptedFitWarning,
    PoorFidelityWarning,
    UnknownCategoriesWarning,
)
from clearwood.simplifiers.fab import restarts


def quick(estimator, **settings):
    settings = {"n_init": 4, "random_state": 0, **settings}
    kind = type(estimator).__name__
    regressor = kind.endswith("Regressor")
    return (cw.FABRulesRegressor if regressor else cw.FABRulesClassifier)(
        estimator, **settings
    )


def test_rules_explain_a_real_forest(cancer):
    X, y, forest = cancer
    fab = quick(forest, rules="regions", n_init=10).fit(X, y)
    scores = fab.rules_.evaluate(X, y, model=forest)
    assert scores.fidelity > 0.9
    assert scores.n_rules <= 10
    assert scores.coverage > 0.9
    assert set(fab.rules_.features.names) == set(X.columns)
    # Printed by agreement, best first.
    agreement = [rule.agreement for rule in fab.rules_.rules]
    assert agreement == sorted(agreement, reverse=True)
    np.testing.assert_array_equal(fab.predict(X), fab.rules_.predict(X))
    assert fab.rules_.target == "target"
    assert fab.rules_.about["model"].endswith("RandomForestClassifier")


def test_regions_of_few_rows_are_not_printed(cancer):
    X, y, forest = cancer
    every = quick(forest, rules="regions", min_samples_leaf=1).fit(X, y).rules_
    least = int(min(rule.assigned for rule in every.rules)) + 1
    found = quick(forest, rules="regions", min_samples_leaf=least).fit(X, y).rules_
    assert 1 < found.n_rules < every.n_rules
    assert all(rule.assigned >= least for rule in found.rules)


def test_predict_is_the_printed_rules_and_not_the_soft_posterior(cancer):
    X, y, forest = cancer
    fab = quick(forest).fit(X, y)
    best = fab.restarts_[fab.selected_]
    target = forest.predict(X)
    assert best["fidelity"] == pytest.approx(np.mean(fab.predict(X) == target))
    assert best["soft_fidelity"] == pytest.approx(
        np.mean(fab.predict_soft(X) == target)
    )


def test_the_mean_of_the_mixture_is_that_of_its_formula(cancer, diabetes):
    """In units of the target, where the first features are not used."""
    for X, y, forest in (cancer, diabetes):
        fab = quick(forest, exclude_features=list(X)[:2]).fit(X, y)
        fit, bins = fab._best.fit.parameters, fab._mixture.bins
        values = fit.output[0]
        if forest is diabetes[2]:
            target = forest.predict(X)
            values = target.mean() + target.std() * values
        expected = naive.mixture_mean(truth_of(bins, bins.transform(X)), fit, values)
        found = fab.predict_mixture(X)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert len(np.unique(found.round(9), axis=0)) > len(values)


@pytest.mark.parametrize(
    ("preset", "key"), [(None, "fidelity"), ("paper", "soft_fidelity")]
)
def test_the_best_restart_is_that_of_most_merit(cancer, preset, key):
    X, y, forest = cancer
    fab = quick(forest, preset=preset).fit(X, y)
    values = [restart[key] for restart in fab.restarts_]
    assert values[fab.selected_] == max(values)
    assert len(set(values)) > 1


@pytest.mark.parametrize("method", ["fab", "em"])
@pytest.mark.parametrize("rules", ["refined", "regions"])
def test_all_ways_work_and_keep_to_the_lines_asked_for(diabetes, method, rules):
    X, y, forest = diabetes
    fab = quick(forest, method=method, rules=rules, max_rules=5).fit(X, y)
    assert 1 < fab.rules_.n_rules <= 5
    assert fab.rules_.evaluate(X, model=forest).fidelity > 0.3
    assert fab.n_start_components_ == 4
    same = quick(forest, method=method, rules=rules, n_rules=5).fit(X, y)
    assert same.rules_.to_json() == fab.rules_.to_json()


@pytest.mark.parametrize("rules", ["refined", "regions"])
def test_forbidden_features_are_not_asked(diabetes, rules):
    X, y, forest = diabetes
    free = quick(forest, rules=rules).fit(X, y)
    asked = {X.columns[c.feature] for rule in free.rules_ for c in rule.conditions}
    assert {"bmi", "s5"} <= asked
    fab = quick(forest, rules=rules, exclude_features=["bmi", 8]).fit(X, y)
    asked = {X.columns[c.feature] for rule in fab.rules_ for c in rule.conditions}
    assert asked and not {"bmi", "s5"} & asked
    assert fab.rules_.about["exclude_features"] == "bmi, s5"
    # The mixture does not see them, either, nor does the split to compare with.
    other = X.assign(bmi=X["bmi"] + 1.0, s5=-X["s5"])
    np.testing.assert_array_equal(fab.predict_soft(other), fab.predict_soft(X))
    assert fab.single_split_fidelity_ < free.single_split_fidelity_
    nothing = quick(forest, rules=rules, exclude_features=list(X)).fit(X, y)
    assert nothing.rules_.n_rules == 1


def test_forbidding_is_fitting_to_the_other_statements(diabetes):
    """The same mixture as that of bins which have only these statements."""
    X, y, forest = diabetes
    fab = quick(forest, exclude_features=["bmi", "s5"]).fit(X, y)
    bins, exclude_features = fab.bins_, np.isin(X.columns, ["bmi", "s5"])
    kept = ~exclude_features[bins.statements.feature]
    part = bins.without(exclude_features)
    assert part.n_statements == kept.sum()
    np.testing.assert_array_equal(part.used_features, np.flatnonzero(~exclude_features))
    np.testing.assert_array_equal(part.transform(X), bins.transform(X))
    rng = np.random.default_rng(0)
    when = rng.random((2, len(kept), 3))
    some = [bins.sum_over_statements(*(when * kept[:, None])),
            part.sum_over_statements(*when[:, kept])]  # fmt: skip
    np.testing.assert_array_equal(*some)


def test_rules_catch_as_many_rows_as_asked_for(diabetes):
    X, y, forest = diabetes
    few, many = (quick(forest, min_samples_leaf=n).fit(X, y).rules_ for n in (1, 100))
    assert min(rule.assigned for rule in many) >= 100
    assert min(rule.assigned for rule in few) < 100


def test_one_line_is_the_mean(diabetes):
    X, y, forest = diabetes
    fab = quick(forest, max_rules=1, round_thresholds=False).fit(X, y)
    assert fab.rules_.n_rules == 1
    np.testing.assert_allclose(fab.predict(X), forest.predict(X).mean())
    np.testing.assert_array_equal(fab.predict_soft(X), fab.predict(X))


def test_more_restarts_begin_with_the_same(cancer):
    X, y, forest = cancer
    few, many = (quick(forest, n_init=n).fit(X, y) for n in (2, 4))
    assert many.restarts_[:2] == few.restarts_


@pytest.mark.parametrize(("shift", "factor"), [(1e6, 1e3), (-5.0, 1e-4)])
def test_units_of_y_do_not_matter(diabetes, shift, factor):
    X, y, _ = diabetes
    forest = GradientBoostingRegressor(n_estimators=30, max_depth=2, random_state=0)
    model = forest.fit(X, y)
    ensemble = cw.read_ensemble(model)
    from dataclasses import replace

    moved = replace(
        ensemble,
        value=ensemble.value * factor,
        base_score=ensemble.base_score * factor + shift,
    )
    settings = {"method": "fab", "n_init": 3, "round_thresholds": False}
    plain = cw.simplify(ensemble, X, random_state=0, **settings)
    other = cw.simplify(moved, X, random_state=0, **settings)
    assert [r.conditions for r in plain] == [r.conditions for r in other]
    for a, b in zip(plain, other):
        assert b.prediction == pytest.approx(a.prediction * factor + shift, rel=1e-9)


def test_an_unfitted_model_of_catboost_with_categories():
    X = pd.DataFrame({"hue": ["red", "blue", "tan"] * 20, "dose": 1.0})
    model = CatBoostClassifier(
        iterations=20, one_hot_max_size=9, cat_features=["hue"], thread_count=1,
        verbose=False, allow_writing_files=False,
    )  # fmt: skip
    fab = cw.FABRulesClassifier(model, n_init=2, random_state=0)
    fab.fit(X, np.where(X["hue"] == "tan", "yes", "no"))
    same_lines(str(fab.rules_))
    assert not model.is_fitted() and fab.estimator_.is_fitted()


def test_names_come_from_the_table_where_the_model_has_none():
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X.to_numpy(), y)
    assert quick(forest).fit(X, y).rules_.features.names == tuple(X.columns)


def test_nothing_is_said_of_missing_values_where_there_were_none(cancer):
    X, y, forest = cancer
    fab = quick(forest, n_init=10).fit(X, y)
    assert any(c.high < np.inf for rule in fab.rules_ for c in rule.conditions)
    assert not any(c.missing for rule in fab.rules_ for c in rule.conditions)
    empty = X.head(1) * np.nan
    assert fab.rules_.apply(empty).tolist() == [fab.rules_.n_rules - 1]


def test_not_one_category_says_nothing_of_missing_values():
    # No split names 'east': to the model it is any other category.
    X = pd.DataFrame({"ward": ["west", "east", "south"] * 20, "dose": 1.0})
    model = CatBoostClassifier(
        iterations=5, depth=1, one_hot_max_size=9, cat_features=["ward"],
        thread_count=1, verbose=False, allow_writing_files=False,
    )  # fmt: skip
    fab = quick(model).fit(X, np.where(X["ward"] == "west", "yes", "no"))
    same_lines(str(fab.rules_))


def test_an_interrupt_keeps_what_is_done(cancer, monkeypatch):
    X, y, forest = cancer
    calls, plain = [], restarts.run_restart

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return plain(*arguments)

    monkeypatch.setattr(restarts, "run_restart", interrupted)
    with warns(InterruptedFitWarning):
        fab = quick(forest, n_jobs=1).fit(X, y)
    assert len(fab.restarts_) == 2
    assert len(fab.predict(X)) == len(y)


def test_progress_goes_to_stderr(cancer, capsys):
    X, y, forest = cancer
    quick(forest, verbose=True).fit(X, y)
    shown = capsys.readouterr()
    assert "4/4" in shown.err
    assert shown.out == ""


def test_too_few_iterations_are_said(diabetes):
    X, y, forest = diabetes
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        quick(forest, max_iter=1).fit(X, y)


def test_fewer_rows_than_rules():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.0, 5.0])
    model = RandomForestRegressor(10, bootstrap=False, random_state=0).fit(X, y)
    assert quick(model).fit(X, y).rules_.n_rules <= 4


IRIS = load_iris(return_X_y=True)


def fitted(X, y):
    return RandomForestClassifier(3, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X, y: quick(None, method="best").fit(X, y), "method"),
        (lambda X, y: quick(fitted(X, y)).fit(X[:, :3], y), "3 features"),
        (lambda X, y: quick(fitted(X, y)).fit(X, y + 1), r"\[3\]"),
        (
            lambda X, y: quick(GradientBoostingRegressor(n_estimators=3).fit(X, y)).fit(
                np.where(X > 5, np.nan, X), y
            ),
            "NaN",
        ),
        (lambda X, y: cw.simplify(RandomForestClassifier(3), X), "not fitted"),
        (lambda X, y: cw.simplify(fitted(X, y), X, method="x"), "method"),
    ],
)
def test_bad_input_gets_a_clear_error(call, match):
    # ValueError: what scikit-learn's own checks of tables and parameters raise.
    with pytest.raises((ClearwoodError, ValueError), match=match):
        call(*IRIS)


def test_unseen_feature_values_never_break_prediction():
    X, y = IRIS
    fab = quick(RandomForestClassifier(5, random_state=0)).fit(X, y)
    strange = np.array([[1e30, -1e30, 0.0, 1e300]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(fab.predict(strange)) == 1


def labels_with_na(kind):
    y = pd.Series(np.where(IRIS[1] > 0, "a", "b"), dtype=kind)
    y[3] = pd.NA
    return y


@pytest.mark.parametrize("kind", ["string", "object"])
def test_missing_labels_are_counted(kind):
    with refuses(InputError):
        quick(None).fit(IRIS[0], labels_with_na(kind))


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        (RandomForestClassifier, [np.nan, *["a", "b"] * 74, "a"]),
        (RandomForestRegressor, np.array([np.inf, *range(149)], dtype=object)),
        (RandomForestRegressor, ["inf", *map(str, range(149))]),
        (RandomForestRegressor, np.arange(150).astype("datetime64[D]")),
    ],
)
def test_what_is_no_target_is_refused(kind, y):
    with refuses(InputError):
        quick(kind(2, random_state=0)).fit(IRIS[0], y)


@pytest.mark.parametrize("period", [1, 2])
def test_one_split_is_judged_fairly(period):
    """Interleaved rows, sets of categories, and values beyond float32."""
    n = 30_000
    X = pd.DataFrame(
        {
            "time": 1.7e9 + np.arange(n) // period,
            "month": pd.Categorical(np.arange(n) // 2 % 12),
        }
    )
    late = X["time"] > X["time"].median()
    winter = X["month"].isin([0, 3, 6, 9])
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    for y in (late, winter):
        fab = quick(model, n_init=1, max_rules=1).fit(X, y.astype(int))
        assert fab.single_split_fidelity_ == pytest.approx(1.0, abs=0.01)
    # Rows that alternate: the order of the rows must not matter.
    model.fit(X, np.arange(n) % 2)
    shuffled = X.sample(frac=1.0, random_state=0)
    one, other = (
        quick(model, max_rules=1).fit(table).single_split_fidelity_
        for table in (X, shuffled)
    )
    assert one == pytest.approx(other, abs=0.02)


def test_rules_that_are_the_best_split_are_not_called_poor():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = np.where(X[:, 0] > 0, 1.2345678, 7.654321)
    model = RandomForestRegressor(1, bootstrap=False, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PoorFidelityWarning)
        quick(model).fit(X, y)


def test_the_target_s_name_is_taken_where_there_is_one():
    X, y = IRIS
    forest = fitted(X, y)
    assert quick(forest).fit(X, pd.Series(y, name="kind")).rules_.target == "kind"
    assert quick(forest).fit(X, pl.Series(y)).rules_.target == "y"


def test_agreement_under_labels_is_with_the_model(cancer):
    X, y, forest = cancer
    stump = RandomForestClassifier(1, max_depth=1, random_state=0).fit(X, y)
    fab = quick(stump, learn_from="labels").fit(X, y)
    target = stump.predict(X)
    for rule in fab.rules_.rules:
        rows = rule.matches(X.to_numpy())
        assert rule.agreement == pytest.approx((target[rows] == rule.prediction).mean())
        precision = (y.to_numpy()[rows] == rule.prediction).mean()
        assert rule.precision == pytest.approx(precision)


def test_two_lines_are_a_rule_and_otherwise(cancer):
    X, y, forest = cancer
    rules = quick(forest, max_rules=2, n_init=10).fit(X, y).rules_
    assert rules.n_rules == 2
    assert rules.evaluate(X, model=forest).fidelity > 0.8


def test_rules_worse_than_one_split_are_called_so():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"flag": rng.integers(0, 2, 400), "z": np.arange(400.0)})
    flag = X["flag"].to_numpy()
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0)
    fab = quick(model.fit(X, flag), rules="regions", n_init=1)
    with warns(PoorFidelityWarning):
        fab.fit(X, flag)
    assert fab.single_split_fidelity_ == 1.0
    # What the regions miss is found by moving them.
    fab.set_params(rules="refined").fit(X, flag)
    assert fab.rules_.evaluate(X, flag).error == 0.0


def test_a_column_of_other_categories_is_called_so():
    """Codes where the model knows labels: every row would go one way."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": rng.choice(["a", "b", "c"], 200), "x": rng.normal(size=200)})
    X["g"] = X["g"].astype("category")
    y = (X["g"] == "b").astype(int)
    model = HistGradientBoostingClassifier(max_iter=3).fit(X, y)
    fab = cw.FABRulesClassifier(model, n_init=1, random_state=0)
    with warns(UnknownCategoriesWarning, match="'g'.*'a'.*'b'.*'c'"):
        fab.fit(X.assign(g=X["g"].cat.codes), y)
    fab.fit(X, y)  # a warning would fail the test
