"""What cannot be read is refused by name, with what to do instead."""

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoost, CatBoostRegressor, Pool
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from tests.ensembles import models
from tests.wording import refuses
from xgboost import XGBClassifier, XGBRegressor

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import ModelError, ModelFormatError
from clearwood.reporting.summary import summarize
from clearwood.rules import FeatureSpace, Rule, RuleList
from clearwood.simplifiers import FABRulesRegressor

X = np.arange(24.0).reshape(12, 2)
y = np.arange(12) % 3


def test_an_ensemble_passes_through():
    ensemble = read_ensemble(RandomForestRegressor(2).fit(X, y))
    assert read_ensemble(ensemble) is ensemble


@pytest.mark.parametrize("kind", models.REGRESSORS + models.CLASSIFIERS)
def test_models_that_are_not_fitted(kind):
    with refuses(ModelError, match=kind):
        read_ensemble(models.random_model(kind, 0))
    with refuses(ModelError, match=kind):
        read_ensemble(FrozenEstimator(models.random_model(kind, 0)))


@pytest.mark.parametrize(
    "model",
    [
        XGBRegressor(n_estimators=3, n_jobs=1),
        LGBMRegressor(n_estimators=3, n_jobs=1, min_child_samples=1, verbose=-1),
        CatBoostRegressor(
            iterations=3, thread_count=1, verbose=False, allow_writing_files=False
        ),
    ],
)
def test_models_of_other_libraries_may_be_frozen(model):
    frozen = FrozenEstimator(model)
    with refuses(ModelError):
        read_ensemble(frozen)
    model.fit(X, y)
    np.testing.assert_allclose(read_ensemble(frozen).predict(X), model.predict(X))
    rules = FABRulesRegressor(frozen, n_init=1, random_state=0)
    assert np.isfinite(cross_val_score(rules, X, y, cv=2)).all()


@pytest.mark.parametrize("kind", ["xgb.json", "xgb.ubj", "lgb.txt", "cb.json", "skops"])
def test_names_are_read_as_they_are_from_memory_but_not_from_files(kind, tmp_path):
    """Control characters in them, which a frame may have, are refused in a file."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a\x1bc", "b"])
    y, path = X["b"] > 0, str(tmp_path / f"model.{kind}")
    if kind.startswith("xgb"):
        model = XGBClassifier(n_estimators=1, max_depth=1).fit(X, y)
        model.save_model(path)
    elif kind == "lgb.txt":
        model = LGBMClassifier(n_estimators=1, min_child_samples=5, verbose=-1)
        model.fit(X, y).booster_.save_model(path)
    elif kind == "cb.json":
        model = CatBoost({"iterations": 1, "verbose": False, "loss_function": "RMSE"})
        model.fit(X, 1.0 * y)
        model.save_model(path, format="json", pool=Pool(X))
    else:
        io = pytest.importorskip("skops.io")
        model = RandomForestClassifier(1, max_depth=1).fit(X, y)
        io.dump(model, path)
    assert read_ensemble(model).features.names == tuple(X)
    with refuses(ModelFormatError):
        read_ensemble(path)


def test_boosters_and_files_may_teach(tmp_path):
    """Their own predict takes no table, or gives neither classes nor values."""
    label, path = (y == 1).astype(int), tmp_path / "model.json"
    xgb = XGBClassifier(n_estimators=3, n_jobs=1).fit(X, label)
    lgb = LGBMClassifier(n_estimators=3, n_jobs=1, min_child_samples=1, verbose=-1)
    cat = CatBoost(
        {"iterations": 3, "loss_function": "Logloss", "thread_count": 1,
         "verbose": False, "allow_writing_files": False}
    ).fit(X, label)  # fmt: skip
    xgb.save_model(path)
    rules = RuleList((), Rule((), 0, (1.0, 0.0)), FeatureSpace.numeric(2), (0, 1))
    for teacher in (
        xgb.get_booster(), lgb.fit(X, label).booster_, cat, path, str(path)
    ):  # fmt: skip
        ensemble = read_ensemble(teacher)
        said = rules.evaluate(X, model=teacher).fidelity
        assert said == (ensemble.predict(X) == 0).mean()
        page = summarize(rules, X=X, model=teacher)
        assert page["scores"]["lines"][0]["rules"] == said


@pytest.mark.parametrize(
    "model",
    [
        IsolationForest(n_estimators=2),
        RandomTreesEmbedding(n_estimators=2),
        LinearRegression(),
        KMeans(2, n_init=1),
        VotingRegressor([("a", DecisionTreeRegressor())]),
        make_pipeline(StandardScaler(), LinearRegression()),
    ],
)
def test_other_kinds_of_models(model):
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    name = rf"sklearn\.[a-z_]+\.{type(last).__name__}"
    with refuses(ModelError, match=f"{name}.*RandomForestRegressor"):
        read_ensemble(model.fit(X, y))


@pytest.mark.parametrize("thing", [None, 3, RandomForestRegressor, dict])
def test_things_that_are_no_models(thing):
    with refuses(ModelError, match="RandomForestRegressor"):
        read_ensemble(thing)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        RandomForestRegressor(2),
        RandomForestClassifier(2),
        BaggingRegressor(DecisionTreeRegressor(), n_estimators=2),
    ],
)
def test_several_outputs(model):
    model.fit(X, np.column_stack([y, y]))
    with refuses(ModelError):
        read_ensemble(model)


@pytest.mark.parametrize(
    "model, base",
    [
        (BaggingClassifier(LogisticRegression(), n_estimators=2), "LogisticRegression"),
        (BaggingClassifier(DecisionTreeRegressor()), "DecisionTreeRegressor"),
        (BaggingRegressor(RandomForestRegressor(2)), "RandomForestRegressor"),
        (AdaBoostRegressor(LinearRegression()), "LinearRegression"),
        (AdaBoostClassifier(RandomForestClassifier(2)), "RandomForestClassifier"),
    ],
)
def test_other_base_estimators(model, base):
    with refuses(ModelError, match=f"{base}.*DecisionTree"):
        read_ensemble(model.fit(X, y))


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingRegressor(n_estimators=2, init=LinearRegression()),
        GradientBoostingClassifier(
            n_estimators=2, init=DummyClassifier(strategy="stratified")
        ),
    ],
)
def test_gradient_boosting_that_starts_from_another_model(model):
    with refuses(ModelError, match="'zero'"):
        read_ensemble(model.fit(X, y))
