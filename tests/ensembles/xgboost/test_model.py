"""What is read from XGBoost predicts what XGBoost predicts, bit for bit."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from tests.wording import refuses, same_lines, same_text

from clearwood._kernels.ensembles import log_float32
from clearwood.ensembles import check, read_ensemble
from clearwood.ensembles.read import read_document
from clearwood.exceptions import InputError

xgb = pytest.importorskip("xgboost")

from tests.ensembles.files import make_xgboost_files  # noqa: E402
from tests.ensembles.xgboost import models as xgboost_models  # noqa: E402

FILES = Path(__file__).parents[1] / "files"
N_SEEDS = 7
LINK_STEPS = 4
"""Exponentials in float32: the C library's against NumPy's."""
QUIET = {"nthread": 1, "max_depth": 2}


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    return X, X[:, 0] + np.sin(4 * X[:, 1]) + rng.normal(size=n) / 9


def assert_raw(ensemble, X, native):
    raw = ensemble.raw_scores(X)
    assert_array_equal(raw.astype(np.float32), np.reshape(native, raw.shape))


def assert_near(found, native):
    """Within a few float32 steps at the size of the native value."""
    step = np.spacing(np.abs(native).astype(np.float32))
    if native.shape[1:] == (2,):
        # One of two probabilities is 1 minus the other, with the other's step.
        step = step.max(axis=1, keepdims=True)
    assert np.all(np.abs(found - native) <= LINK_STEPS * step)


def assert_same(one, other):
    for field in dataclasses.fields(one):
        if field.name not in ("source", "features", "details"):
            left, right = getattr(one, field.name), getattr(other, field.name)
            np.testing.assert_array_equal(left, right, field.name)
    # A file does not know which number an estimator takes for missing.
    known = [
        {k: v for k, v in e.details.items() if k != "missing="} for e in (one, other)
    ]
    assert known[0] == known[1]
    features = dataclasses.replace(other.features, missing_at=one.features.missing_at)
    assert one.features == features


# Predictions


@pytest.mark.parametrize("kind", xgboost_models.KINDS)
def test_predicts_what_xgboost_predicts(kind, tmp_path):
    for seed in range(N_SEEDS):
        case = xgboost_models.make(kind, seed)
        ensemble = read_ensemble(case.model)
        assert_raw(ensemble, case.X, case.raw)
        predicted = ensemble.predict(case.X)
        if ensemble.task == "classification":
            assert_array_equal(predicted, case.predicted)
        else:
            assert_near(predicted, case.predicted)
        if case.probabilities is not None:
            assert_near(ensemble.predict_proba(case.X), case.probabilities)
        for ending in ("json", "ubj"):
            path = tmp_path / f"model.{ending}"
            case.model.save_model(path)
            assert_same(read_ensemble(path), ensemble)


@pytest.mark.parametrize("version", ["1.7.6", "2.1.4"])
def test_files_of_old_versions(version):
    X = make_xgboost_files.rows()
    expected = json.loads((FILES / f"xgboost-{version}-expected.json").read_text())
    for kind, raw in expected.items():
        (path,) = FILES.glob(f"xgboost-{version}-{kind}.*")
        ensemble = read_ensemble(path)
        assert_raw(ensemble, X, raw)
        assert ensemble.details["version"] == version
        stopped = [note for note in ensemble.notes if "Early stopping" in note]
        assert len(stopped) == (kind == "stopped")


def test_start_is_the_logarithm_of_the_c_library():
    X, _ = table()
    # Where the C library does not round as the logarithm in float64 does.
    singles = np.linspace(0.01, 0.99, 5000, dtype=np.float32)
    odds = np.float32(1) / singles - np.float32(1)
    for objective, numbers in {
        "binary:logistic": odds,
        "count:poisson": singles,
    }.items():
        exact = np.log(numbers.astype(float)).astype(np.float32)
        found = np.array([log_float32(x) for x in numbers], np.float32)
        other = singles[exact != found]
        for base_score in [*other[:10].tolist(), 0.25, 0.3, 0.9]:
            settings = {"objective": objective, "base_score": base_score, **QUIET}
            model = xgb.train(settings, xgb.DMatrix(X, X[:, 0] > 0), 1)
            native = model.predict(xgb.DMatrix(X), output_margin=True)
            assert_raw(read_ensemble(model), X, native)


@pytest.mark.parametrize("base_score", [0.0, 1e-9, 1.0])
def test_a_start_near_0_or_1_is_kept_away_from_it(base_score):
    X, _ = table()
    settings = {"objective": "binary:logistic", "base_score": base_score, **QUIET}
    model = xgb.train(settings, xgb.DMatrix(X, X[:, 0] > 0), 2)
    native = model.predict(xgb.DMatrix(X), output_margin=True)
    assert_raw(read_ensemble(model), X, native)


@pytest.mark.parametrize("n_classes, start", [(2, 0.5), (3, 0.0)])
def test_scores_too_small_to_tell_probabilities_apart(n_classes, start):
    X, _ = table()
    y = np.digitize(X[:, 0], [0, 0.5][: n_classes - 1])
    settings = {"n_estimators": 1, "n_jobs": 1, "learning_rate": 1e-9}
    model = xgb.XGBClassifier(base_score=start, **settings).fit(X, y)
    ensemble = read_ensemble(model)
    assert len(np.unique(ensemble.raw_scores(X)[:, 0])) > 1
    assert_array_equal(ensemble.predict(X), model.predict(X))


# Missing and infinite values


def test_a_booster_refuses_infinite_values_and_an_estimator_takes_them():
    X, y = table()
    model = xgb.XGBRegressor(n_estimators=3, n_jobs=1).fit(X, y)
    X[0, 0], X[1, 1], X[2, 2] = np.inf, -np.inf, 1e300
    assert_raw(read_ensemble(model), X, model.predict(X))
    with pytest.raises(xgb.core.XGBoostError, match="Input data contains `inf`"):
        xgb.DMatrix(X)
    with refuses(InputError, match="'x0'"):
        read_ensemble(model.get_booster()).predict(X)


@pytest.mark.parametrize("missing", [0.0, 0.1, -999, np.inf])
def test_the_missing_number_is_compared_in_float32(missing):
    X, y = table()
    X[::7, 0] = missing
    X[1::7, 1] = np.nan
    model = xgb.XGBRegressor(n_estimators=5, n_jobs=1, missing=missing).fit(X, y)
    X[2::7, 0] = np.float32(missing)
    X[3::7, 0] = missing * (1 + 1e-9)
    X[4::7, 0] = 1e-36
    assert_raw(read_ensemble(model), X, model.predict(X))


# Categories


def frame(labels, n=80, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(labels), n)
    X = pd.DataFrame(
        {"kind": pd.Categorical.from_codes(codes, labels), "x": rng.normal(size=n)}
    )
    return X, np.sin(codes * 3) + X["x"] / 9


def categorical_model(X, y):
    settings = {"n_estimators": 4, "n_jobs": 1, "enable_categorical": True}
    return xgb.XGBRegressor(**settings, max_cat_to_onehot=1).fit(X, y)


@pytest.mark.parametrize("labels", [["oak", "ash", "", "fir"], [7, -3, 1000, 4]])
def test_labels_are_found_by_name(labels):
    X, y = frame(labels)
    model = categorical_model(X, y)
    ensemble = read_ensemble(model)
    assert ensemble.features.categories == (tuple(labels), None)
    same_text(ensemble.notes[0])
    native = model.predict(X)
    assert_raw(ensemble, X, native)
    shuffled = X.assign(kind=X["kind"].cat.reorder_categories(sorted(labels)))
    assert_raw(ensemble, shuffled, native)
    assert_raw(ensemble, X.astype({"kind": object}), native)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
def test_an_unknown_label_goes_left_as_an_unnamed_category_does():
    X, y = frame(["oak", "ash", "fir"])
    ensemble = read_ensemble(categorical_model(X, y))
    assert ensemble.unseen_left[ensemble.category_set >= 0].all()
    unknown = X.assign(kind="no tree at all")
    assert np.isfinite(ensemble.predict(unknown)).all()


def test_labels_beyond_ascii_are_not_relied_on():
    # XGBoost 3.2 cuts them off: it takes characters for bytes.
    X, y = frame(["oak", "frêne", "fir"])
    ensemble = read_ensemble(categorical_model(X, y))
    assert ensemble.features.lookup[0] == "integer"
    same_text(ensemble.notes[0])
    with refuses(InputError):
        ensemble.predict(X)


def test_types_alone_say_what_is_categorical():
    X, y = table()
    X[:, 2] = np.arange(len(X)) % 5
    train = xgb.DMatrix(X, y, feature_types=["q", "q", "c"], enable_categorical=True)
    model = xgb.train({"gamma": 1e9, **QUIET}, train, 1)
    ensemble = read_ensemble(model)
    assert ensemble.features.categories == (None, None, ())
    # A column that no split asks about, and files without types.
    assert_raw(ensemble, X, model.predict(train))
    same_text(ensemble.notes[0])


# What it says of itself


def test_names_classes_and_details():
    X, _ = table()
    columns = pd.DataFrame(X, columns=["a", "b", "c"])
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1, random_state=0)
    ensemble = read_ensemble(model.fit(columns, X[:, 0] > 0))
    assert ensemble.source == "xgboost.XGBClassifier"
    assert ensemble.features.names == ("a", "b", "c") and ensemble.features.named
    assert_array_equal(ensemble.classes, model.classes_)
    assert ensemble.details == {
        "library": "XGBoost",
        "version": xgb.__version__,
        "objective": "binary:logistic",
        "booster": "gbtree",
        "rounds": 3,
    }
    unnamed = read_document(bytes(xgb_booster(X).save_raw("json")), "file")
    assert unnamed.source == f"XGBoost {xgb.__version__} (reg:squarederror)"
    assert unnamed.features.names == ("x0", "x1", "x2") and not unnamed.features.named


def xgb_booster(X, **settings):
    return xgb.train({**QUIET, **settings}, xgb.DMatrix(X, X[:, 0]), 2)


def test_subclasses_are_read():
    class Mine(xgb.XGBRegressor):
        pass

    X, y = table()
    model = Mine(n_estimators=3, n_jobs=1).fit(X, y)
    assert_raw(read_ensemble(model), X, model.predict(X))


def test_an_estimator_leaves_out_what_early_stopping_does(tmp_path):
    X, y = table(200)
    settings = {"n_estimators": 40, "n_jobs": 1, "early_stopping_rounds": 4}
    model = xgb.XGBRegressor(**settings, learning_rate=1.0)
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    used, made = model.best_iteration + 1, model.get_booster().num_boosted_rounds()
    assert used < made
    ensemble = read_ensemble(model)
    assert ensemble.n_trees == used
    (note,) = ensemble.notes
    assert f" {made} " in note and f" {used} " in note
    same_lines(note)
    booster = model.get_booster()
    whole = read_ensemble(booster)
    assert whole.n_trees == made
    assert f" {used} of {made}" in whole.notes[0]
    same_lines(whole.notes[0])
    model.save_model(tmp_path / "estimator.json")
    booster.save_model(tmp_path / "booster.json")
    assert read_ensemble(tmp_path / "estimator.json").n_trees == used
    assert read_ensemble(tmp_path / "booster.json").n_trees == made
    # All rounds predict, and nothing needs to be said, where the best is the last.
    assert read_ensemble(booster[:used]).notes == ()


def test_an_estimator_may_read_scores_differently_from_its_booster():
    X, _ = table()
    y = (X[:, 0] > 0).astype(int)
    settings = {"n_estimators": 3, "n_jobs": 1}
    classifier = xgb.XGBClassifier(objective="reg:logistic", **settings).fit(X, y)
    assert_array_equal(read_ensemble(classifier).predict(X), classifier.predict(X))
    booster = read_ensemble(classifier.get_booster())
    assert (booster.task, booster.link) == ("regression", "sigmoid")
    regressor = xgb.XGBRegressor(objective="binary:logitraw", **settings).fit(X, y)
    assert_raw(read_ensemble(regressor), X, regressor.predict(X))
    assert read_ensemble(regressor).link == "identity"
    ensemble = read_ensemble(regressor.get_booster())
    assert ensemble.task == "classification" and "logitraw" in ensemble.notes[0]


def test_two_classes_of_softprob():
    X, _ = table()
    model = xgb.XGBClassifier(
        objective="multi:softprob", num_class=2, n_estimators=3, n_jobs=1
    ).fit(X, (X[:, 0] > 0).astype(int))
    ensemble = read_ensemble(model)
    assert_near(ensemble.predict_proba(X), model.predict_proba(X))
    assert_array_equal(ensemble.predict(X), model.predict_proba(X).argmax(axis=1))
    same_text(ensemble.notes[0])


def test_a_classifier_of_one_class():
    X, _ = table()
    model = xgb.XGBClassifier(n_estimators=2, n_jobs=1).fit(X, np.zeros(len(X), int))
    ensemble = read_ensemble(model)
    assert_array_equal(ensemble.predict(X), model.predict(X))
    assert_near(ensemble.predict_proba(X), model.predict_proba(X))


def test_check_tells_that_a_file_does_not_hold_what_counts_as_missing(tmp_path):
    X, y = table()
    model = xgb.XGBRegressor(n_estimators=3, n_jobs=1, missing=-999.0).fit(X, y)
    model.save_model(tmp_path / "model.json")
    same_lines(str(check(tmp_path / "model.json")))
    assert "not stored" not in str(check(model))
