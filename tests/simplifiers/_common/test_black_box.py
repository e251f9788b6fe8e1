"""Models without trees as teachers: what is asked, where cuts come from, refusals."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from tests.wording import refuses, same_lines, same_text, warns

import clearwood as cw
from clearwood.comparison.models import fit_afresh, short_name
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.black_box import task_of, wrap_model
from clearwood.exceptions import InputError, ModelError, OwnPredictionsWarning
from clearwood.simplifiers._common.explained_model import read_model
from clearwood.simplifiers._common.own_cuts import MOST_CUTS, with_own_cuts

QUICK = {"n_synthetic": 200, "n_rules": 3, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 300),
            "dose": np.where(rng.random(300) < 0.1, np.nan, rng.random(300).round(2)),
            "ward": rng.choice(["n", "s", "w"], 300),
        }
    )
    return X, np.where((X.age > 50) & (X.ward != "n"), "ill", "well")


def says(X):
    """Probabilities by a rule that is known."""
    ill = (np.asarray(X["age"]) > 50) & (np.asarray(X["ward"]) != "n")
    return np.column_stack([np.where(ill, 0.9, 0.2), np.where(ill, 0.1, 0.8)])


def test_a_function_teaches_by_its_own_steps(rows):
    X, y = rows
    found = cw.RuleListClassifier(says, **QUICK).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), y)
    same_lines(found.rules_.about["cuts"])
    assert "3 categories" in found.rules_.about["cuts"]
    assert found.rules_.about["model"] == "says"
    assert 50.5 in found.bins_.cuts[0]
    assert ("Thresholds", found.rules_.about["cuts"]) in cw_facts(found, X, y)


def cw_facts(found, X, y):
    from clearwood.reporting.summary import summarize

    return summarize(found, X=X, y=y)["facts"]


@pytest.mark.parametrize("method", ["tree", "additive", "fab", "born-again"])
def test_methods_without_trees_ask_any_model(rows, method):
    X, y = rows
    rules = cw.simplify(says, X, y, method=method, max_rules=3, random_state=0)
    assert (rules.predict(X) == y).mean() > 0.75


@pytest.mark.parametrize("method", ["in-trees", "node-harvest"])
def test_methods_that_need_trees_say_what_to_take(rows, method):
    X, y = rows
    with refuses(ModelError, match="RuleListClassifier"):
        cw.simplify(says, X, y, method=method)


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame, None])
def test_rows_go_there_and_back(rows, made):
    X, _ = rows
    if made is None:
        X = X[["age", "dose"]].to_numpy()
    elif made is pl.DataFrame:
        X = pl.DataFrame(X.to_dict("list"))
        X = X.with_columns(maybe=pl.when(pl.col("age") < 60).then(pl.col("age") > 50))
    else:
        maybe = pd.Series(np.where(X.age < 60, X.age > 50, None), dtype=object)
        noon = pd.Timestamp("2020-01-01 12:00", tz="UTC").to_pydatetime()
        X = X.assign(
            ward=X.ward.astype("category").cat.add_categories("x"), flag=X.age > 50,
            maybe=maybe, nullable=maybe.astype("boolean"),
            at=pd.Series([noon, None] * (len(X) // 2), dtype=object),
        )  # fmt: skip
    asked = wrap_model(lambda table: np.zeros(len(table)), X, None, "regression")
    back = asked.like.decode(asked.encode(X))
    assert type(back) is type(X)
    if made is None:
        np.testing.assert_array_equal(back, X)
    elif made is pl.DataFrame:
        assert back.equals(X) and back.schema == X.schema
    else:
        pd.testing.assert_frame_equal(back, X)


def test_a_threshold_of_its_own_decides(rows):
    X, y = rows
    numbers = X[["age"]]
    inner = LogisticRegression().fit(numbers, y)
    model = FixedThresholdClassifier(inner, threshold=0.1, pos_label="ill")
    model.fit(numbers, y)
    asked = read_model(model, numbers, y)
    assert (asked.by, read_model(inner, numbers, y).by) == (
        "predict",
        "predict_proba",
    )
    np.testing.assert_array_equal(asked.predict(numbers), model.predict(numbers))


def test_unfitted_models_of_any_kind_are_fitted(rows):
    X, y = rows
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["ward"])
    )
    model = make_pipeline(columns, SVC())
    found = cw.RuleListClassifier(model, **QUICK)
    found.fit(X, y, sample_weight=np.ones(len(y)))
    same_text(found.ensemble_.source)
    assert (found.predict(X) == found.estimator_.predict(X)).mean() > 0.9
    again = cw.RuleListClassifier(found.estimator_, **QUICK).fit(X, y)
    assert str(again.rules_) == str(found.rules_)
    assert isinstance(pickle.loads(pickle.dumps(found)).predict(X), np.ndarray)


def test_pictures_ask_it_too(rows):
    X, y = rows
    numbers = X[["age", "dose"]].fillna(0.5)
    model = make_pipeline(StandardScaler(), SVC()).fit(numbers, y)
    found = cw.RuleListClassifier(model, **QUICK).fit(numbers, y)
    cw.rules.RegionsDisplay.from_estimator(found, numbers, y, features=("age", "dose"))
    numbers = numbers.assign(other=X.age)
    found = cw.RuleListClassifier(model, **QUICK)
    with refuses(ModelError):
        found.fit(numbers, y)


def test_one_of_ours_teaches(rows):
    X, y = rows
    first = cw.RuleListClassifier(says, **QUICK).fit(X, y)
    second = cw.RuleListClassifier(first, **QUICK).fit(X, y)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


def test_pipelines_are_read_not_asked_and_calibrations_keep_their_trees(rows):
    X, y = rows
    columns = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["ward"])
    )
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = make_pipeline(columns, forest).fit(X, y)
    ensemble = read_model(model, X)
    assert isinstance(ensemble, TreeEnsemble) and ensemble.features.names[0] == "age"
    found = cw.RuleListClassifier(model, **QUICK).fit(X, y)
    assert "cuts" not in found.rules_.about
    calibrated = CalibratedClassifierCV(make_pipeline(columns, forest), cv=2)
    found = cw.RuleListClassifier(calibrated, **QUICK).fit(X, y)
    same_text(found.rules_.about["cuts"])


def test_one_row_that_differs_is_enough_to_ask(rows):
    X, y = rows

    class Odd(RandomForestClassifier):
        def predict_proba(self, X):
            said = super().predict_proba(X)
            said[7] = said[7, ::-1] + [0.01, -0.01]
            return said

    forest = Odd(5, random_state=0)
    model = make_pipeline(StandardScaler(), forest).fit(X[["age"]], y)
    with warns(OwnPredictionsWarning, match="300"):
        try:
            read_model(model, X[["age"]], y)
        except ModelError:  # asked again of fewer rows, it says something else
            pass


def test_cuts_are_few_and_where_answers_change():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 4))
    asked = wrap_model(lambda rows: 1.0 * (rows[:, 2] > 0.3), X, None, "regression")
    found = with_own_cuts(asked, X).splits().numeric
    assert np.bincount(found.feature).max() <= MOST_CUTS
    assert np.abs(found.cut[found.feature == 2] - 0.3).min() < 0.002
    again = with_own_cuts(asked, X).splits().numeric
    np.testing.assert_array_equal(found.cut, again.cut)


def test_tasks_and_refusals(rows):
    X, y = rows
    numbers = X[["age"]]
    assert task_of(RidgeClassifier()) == "classification"
    line = LinearRegression().fit(numbers, X.age)
    with refuses(InputError):
        cw.RuleListClassifier(line).fit(numbers, y)
    for broken in (lambda table: 1 / 0, lambda table: np.zeros((len(table), 3, 2))):
        with refuses(ModelError):
            cw.RuleListClassifier(broken).fit(numbers, y)
    rng = np.random.default_rng(0)
    with refuses(ModelError):
        cw.RuleListRegressor(lambda t: rng.random(len(t))).fit(
            numbers, X.age.to_numpy()
        )


def test_references_are_models_of_values_or_of_their_classes(rows):
    X, y = rows[0][["age", "ward"]], rows[0].age + 0.5
    values = cw.reference(lambda table, draw: table.age + 0.5 + draw / 10, X, n_draws=3)
    shares = cw.reference(
        RandomForestClassifier(5, random_state=0).fit(X[["age"]], rows[1])
    )
    for target in (None, y):
        found = cw.simplify(values, X, target, **QUICK)
        assert np.corrcoef(found.predict(X), values.predict(X))[0, 1] > 0.9
    for target in (None, np.full(len(X), "ill")):
        found = cw.simplify(shares, X[["age"]], target, **QUICK)
        assert set(found.predict(X)) == set(shares.classes) == {"ill", "well"}
    numbers = rows[0][["age"]].assign(half=y / 2 + np.arange(len(y)))
    with refuses(InputError):
        cw.simplify(cw.reference(values.draws(X), numbers), numbers, y, **QUICK)


def test_models_fitted_without_a_fold_are_asked_and_sent_to_workers(rows):
    X, y = rows
    numbers, held = X[["age", "dose"]].fillna(0), np.arange(50)
    models = fit_afresh(
        LogisticRegression(), numbers, y, None, [(np.arange(50, len(y)), held)], 0
    )
    for asked, model in zip(models.ensembles, models.originals):
        sent = pickle.loads(pickle.dumps(asked))
        np.testing.assert_array_equal(sent.predict(numbers), model.predict(numbers))
        assert short_name(sent) == "LogisticRegression"


def times_of(hours, kind):
    """The same points in time as columns of several types."""
    at = pd.Series(pd.Timestamp("2019-01-01") + pd.to_timedelta(hours, "h"))
    return {
        "naive": at,
        "nanoseconds": at.astype("datetime64[ns]"),
        "zoned": at.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        "duration": at - at.min(),
        "objects": at.dt.date.astype(object),
    }[kind]


@pytest.mark.parametrize("made", ["pandas", "polars"])
@pytest.mark.parametrize(
    "kind", ["naive", "nanoseconds", "zoned", "duration", "objects"]
)
def test_a_function_is_asked_about_dates_as_they_stand_in_the_table(kind, made):
    rng = np.random.default_rng(0)
    start = times_of(rng.integers(0, 20_000, 300), kind).where(rng.random(300) > 0.1)
    gone = start.isna()
    X = pd.DataFrame({"age": rng.normal(50, 9, 300), "start": start})
    if made == "polars":
        X = pl.from_pandas(X)
    bound = list(X["start"].drop_nulls() if made == "polars" else start[~gone])[0]
    kinds_asked = set()

    def model(frame):
        column = frame["start"]
        kinds_asked.add(str(column.dtype))
        cells = list(column) if made == "polars" else column.astype(object)
        late = [not pd.isna(cell) and cell >= bound for cell in cells]
        return np.array(late, dtype=float)

    rules = cw.simplify(model, X, max_rules=3, n_synthetic=200, random_state=0)
    assert kinds_asked == {str(X["start"].dtype)}
    assert np.mean((rules.predict(X) - model(X)) ** 2) < 0.01
    assert "start" in str(rules)


def state(X):
    return np.where(says(X)[:, 0] > 0.5, "ill", "well")


def well(X):
    return says(X)[:, 1]


def test_a_function_may_return_labels(rows):
    X, y = rows
    for first, second in (("ill", "well"), (1, 2)):

        def label(X, first=first, second=second):
            return np.where(state(X) == "ill", first, second)

        found = cw.RuleListClassifier(label, **QUICK).fit(X, label(X))
        np.testing.assert_array_equal(found.predict(X), label(X))
        assert found.ensemble_.classes.tolist() == [first, second]
    for function, target in ((state, y), (state, None), (well, y)):
        rules = cw.simplify(function, X, target, max_rules=3, random_state=0)
        np.testing.assert_array_equal(rules.predict(X), y)


@pytest.mark.parametrize(
    "row", [[1.4, -0.4], [1.4, 0.9], [0.5, np.nan], [0.3, 0.3, 0.4], 1.5, "other"]
)
def test_other_predictions_of_a_function_are_rejected(rows, row):
    X, y = rows
    with refuses(ModelError):
        cw.simplify(lambda X: np.array([row] * len(X)), X, y)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_values_of_a_function_must_be_finite(rows, value):
    with refuses(ModelError, match="^lambda cannot .* NaN or infinite"):
        cw.simplify(lambda X: np.full(len(X), value), rows[0])


def test_no_model_is_rejected(rows):
    with refuses(ModelError, match="RuleListClassifier"):
        cw.simplify(None, *rows)
