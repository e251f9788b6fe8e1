"""Which model becomes which reference, and what is said where it cannot."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from tests.references.kinds import species, values, with_labels
from tests.references.test_noise import check_noise_of
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.exceptions import InputError, ModelError, OwnPredictionsWarning
from clearwood.references import (
    BayesianBootstrapForest,
    ForestReference,
    GaussianProcessReference,
    LinearReference,
    PipelineReference,
    PredictorReference,
)


class MyRidge(BayesianRidge):
    """A subclass counts as its base."""


class Plain:
    """Not of scikit-learn: it only predicts."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (None, BayesianBootstrapForest),
        (MyRidge(), LinearReference),
        (GaussianProcessRegressor(alpha=1.0, optimizer=None), GaussianProcessReference),
        (make_pipeline(StandardScaler(), BayesianRidge()), PipelineReference),
        (make_pipeline(BayesianRidge()), PipelineReference),
        (RandomForestRegressor(3), ForestReference),
        (LinearRegression(), PredictorReference),
        (make_pipeline(StandardScaler(), LinearRegression()), PredictorReference),
        (Plain(), PredictorReference),
    ],
)
def test_the_kind_is_that_of_the_model(model, kind):
    X, y = values()
    assert type(cw.reference(model, X, y, random_state=0)) is kind


class Tenfold(BayesianRidge):
    """Predicts otherwise than its coefficients say."""

    def predict(self, X, return_std=False):
        return 10 * super().predict(X)


class Negative(Pipeline):
    def predict(self, X, **how):
        return -super().predict(X, **how)


@pytest.mark.parametrize(
    "model",
    [
        Tenfold(),
        make_pipeline(StandardScaler(), Tenfold()),
        Negative([("r", BayesianRidge())]),
        GridSearchCV(Tenfold(), {}, cv=2),
    ],
)
def test_what_does_not_predict_as_its_class_is_taken_for_what_it_predicts(model):
    X, y = values()
    for rows in (X, None):
        with warns(OwnPredictionsWarning):
            found = cw.reference(model.fit(X, y), rows)
        assert type(found) is PredictorReference
        np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_decisions_that_are_not_for_the_most_probable_class_are_told():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(5, max_depth=2, random_state=0)
    model = FixedThresholdClassifier(forest, threshold=0.9).fit(X, y)
    with warns(OwnPredictionsWarning):
        cw.reference(model, X, y)


def test_a_fitted_model_is_used_as_it_is_and_an_unfitted_one_cloned():
    X, y = values()
    fitted, unfitted = BayesianRidge().fit(X, y), BayesianRidge()
    assert cw.reference(fitted).model is fitted
    assert cw.reference(unfitted, X, y).model is not unfitted
    assert not hasattr(unfitted, "coef_")
    assert cw.reference(FrozenEstimator(fitted)).model is fitted
    search = GridSearchCV(BayesianRidge(), {"lambda_1": [1e-6, 1e-3]}).fit(X, y)
    found = cw.reference(search)
    assert type(found) is LinearReference
    assert found.refit(X, y).model.lambda_1 == search.best_params_["lambda_1"]
    inside = make_pipeline(StandardScaler(), BayesianRidge()).fit(X, y)
    assert type(cw.reference(FrozenEstimator(inside))) is PipelineReference


@pytest.mark.parametrize(
    "model", [None, BayesianRidge(), make_pipeline(StandardScaler(), BayesianRidge())]
)
def test_a_seed_that_was_drawn_is_kept(model):
    X, y = values()
    one, other = (cw.reference(model, X, y, n_draws=3) for _ in range(2))
    assert (one.draws(X) != other.draws(X)).any()
    assert (one.refit(X, y).draws(X) == one.draws(X)).all()


def test_noise_of_a_predictor_is_its_error_on_rows_left_out():
    X, y = values()
    reference = cw.reference(LinearRegression(), X, y)
    errors = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = LinearRegression().fit(X.iloc[train], y[train])
        errors.append((y[test] - model.predict(X.iloc[test])) ** 2)
    assert reference.n_draws == 1
    np.testing.assert_allclose(
        reference.noise_variance(X), np.mean(np.concatenate(errors))
    )
    # Not of training rows, which an overfitted model leaves no error in.
    forest = HistGradientBoostingRegressor(min_samples_leaf=1, random_state=0)
    assert cw.reference(forest, X, y).noise_variance(X)[0, 0] > y.var() / 4


@pytest.mark.parametrize(
    "model", [LinearRegression(), ExtraTreesRegressor(5, random_state=0), None]
)
def test_noise_of_refits_is_what_the_others_leave(model):
    X, y = values()
    settings = {"n_draws": 5, "random_state": 0} if model is None else {}
    reference = cw.reference(model, X, y, **settings)
    told = cw.reference(model, X, y, noise_variance=0.5, **settings)
    fold = np.arange(len(y)) % 3
    errors = np.empty((2, len(y)))
    for part in range(3):
        test = fold == part
        fit = told.refit(X[~test], y[~test])
        mean, variance, _ = fit.mean_and_variance(X[test])
        errors[:, test] = y[test] - mean, variance
    assert errors.any()
    for part, fit in enumerate(reference.refits(X, y, fold)):
        check_noise_of(*errors[:, fold != part], fit.noise)
        alone = told.refit(X[fold != part], y[fold != part])
        assert (fit.draws(X) == alone.draws(X)).all()
    assert [fit.noise for fit in told.refits(X, y, fold)] == [0.5] * 3
    assert len(list(reference.refits(X, y, fold))) == 3


def test_models_are_refitted_once_for_each_part():
    X, y = values()

    class Counted(LinearRegression):
        fits = 0

        def fit(self, *given):
            Counted.fits += 1
            return super().fit(*given)

    reference = cw.reference(Counted(), X, y)
    Counted.fits = 0
    cw.ProjectedTreeRegressor(reference, random_state=0).fit(X, y)
    assert Counted.fits == 5


def test_noise_may_be_told():
    X, y = values()
    fitted = LinearRegression().fit(X, y)
    assert not cw.reference(fitted).noise_variance(X).any()
    assert (cw.reference(fitted, X, y, noise_variance=4.0).noise_variance(X) == 4).all()
    assert cw.reference(fitted, noise_variance=4.0).refit(X, y).noise == 4


def test_a_classifier_has_to_say_how_sure_it_is():
    X, y = species()
    with pytest.raises(InputError, match="CalibratedClassifierCV"):
        cw.reference(LinearSVC(), X, y)
    reference = cw.reference(CalibratedClassifierCV(LinearSVC()), X, y)
    assert reference.classes.tolist() == ["setosa", "versicolor", "virginica"]


def test_a_model_of_another_library_cannot_be_fitted_again():
    X, y = values()
    with refuses(InputError):
        cw.reference(Plain(), X).refit(X, y)
    assert not cw.reference(Plain(), X).can_refit


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda X, y: cw.reference(None, X), ""),
        (lambda X, y: cw.reference("bart"), ""),
        (lambda X, y: cw.reference(BayesianRidge(), X), "BayesianRidge"),
        (
            lambda X, y: cw.reference(GaussianProcessRegressor()),
            "GaussianProcessRegressor",
        ),
        (lambda X, y: cw.reference(None, X, y, n_draws=0), "n_draws"),
        (lambda X, y: cw.reference(None, X, y, depth=3), "'depth'"),
        (lambda X, y: cw.reference(LinearRegression(), X, y, n_draws=9), "'n_draws'"),
        (lambda X, y: cw.reference(None, X, y, task="counts"), ""),
        (lambda X, y: cw.reference("brat", X, y), ""),
        (lambda X, y: cw.reference(np.sin, X), "n_draws"),
        (lambda X, y: cw.reference(Plain(), X, task="ordinal"), ""),
        (
            lambda X, y: cw.reference(RandomForestRegressor(2), X, y, task="ordinal"),
            "'ordinal'",
        ),
        (
            lambda X, y: cw.reference(BayesianRidge(), X, y, task="counts"),
            "'counts'",
        ),
    ],
)
def test_what_is_missing_is_asked_for(call, match):
    with refuses(InputError, match=match):
        call(*values())


@pytest.mark.parametrize(
    "model",
    [None, BayesianRidge(), LinearRegression(), lambda X, draw: np.asarray(X)[:, 0]],
)
def test_columns_without_names_go_by_position(model):
    X, y = values()
    numbered = X.set_axis(range(3), axis=1)
    settings = {} if hasattr(model, "fit") else {"n_draws": 2}
    reference = cw.reference(model, numbered, y, random_state=0, **settings)
    np.testing.assert_allclose(reference.draws(numbered), reference.draws(X.to_numpy()))


def test_steps_may_make_sparse_rows():
    X, y = with_labels()
    X = X.drop(columns="bmi")
    model = make_pipeline(OneHotEncoder(), RandomForestRegressor(3)).fit(X, y)
    reference = cw.reference(model, X, y)
    np.testing.assert_allclose(reference.draws(X).mean(axis=0), model.predict(X))


def test_lists_of_text_and_numbers_are_read():
    reference = cw.reference([[1.0, 2.0]], [["a", 0.5], ["b", 0.25]])
    assert reference.draws([["b", 0.25]]).tolist() == [[2.0]]

    def function(X, draw):
        return X["size"].to_numpy() + draw

    X = pd.DataFrame({"hue": ["a", "b"], "size": [0.5, 0.25]})
    reference = cw.reference(function, X, n_draws=1)
    assert reference.draws([["b", 0.25]]).tolist() == [[0.25]]


def test_what_is_no_model_is_refused():
    with refuses(ModelError):
        cw.reference(3)


def test_a_word_that_is_no_path_gets_what_is_known():
    with refuses(InputError, match="'brat'.*\"bart\""):
        cw.reference("brat")
    for path in ("brat.json", "folder/brat"):
        with refuses(InputError):
            cw.reference(path)


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(3), make_pipeline(BayesianRidge())]
)
def test_columns_of_texts_that_a_model_cannot_read_are_named(model):
    X, y = values()
    table = pd.DataFrame(X).rename(columns=str).assign(hue="red")
    for door in (cw.reference, lambda m, X, y: cw.ProjectedTreeRegressor(m).fit(X, y)):
        with refuses(InputError, match="'hue'"):
            door(model, table, y)
