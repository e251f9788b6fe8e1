"""How the files pmml-*.pmml beside this script were made, by JPMML.

Run once, in an environment with sklearn2pmml and the libraries that it supports:
``python make_pmml_files.py``. It writes the models, and what they predict for the rows
of ``rows()``: values, or probabilities of the classes in their order. Other random rows
and another folder by ``python make_pmml_files.py SEED FOLDER``.
"""

import json
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

FOLDER = Path(__file__).parent
MISSING = ("hist", "xgboost", "lightgbm")
"""Beginnings of the names of models that accept missing values."""


def rows(with_missing=False, seed=0):
    """Numbers in sixteenths, so that float32 holds them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        np.round(rng.normal(size=(120, 3)) * 16) / 16, columns=["age", "dose x", "w"]
    )
    return X.mask(rng.random(X.shape) < 0.15) if with_missing else X


def models():
    few = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    native = {"n_estimators": 3, "max_depth": 3, "n_jobs": 1}
    light = {**native, "min_child_samples": 5, "verbose": -1}
    yield "forest_regressor", RandomForestRegressor(**few), "number"
    yield "forest_classifier", RandomForestClassifier(**few), "three"
    yield "tree_classifier", DecisionTreeClassifier(max_depth=3), "three"
    yield "boosting_regressor", GradientBoostingRegressor(**few), "number"
    yield "boosting_classifier", GradientBoostingClassifier(**few), "two"
    yield "boosting_of_three", GradientBoostingClassifier(**few), "three"
    hist = {"max_iter": 3, "max_depth": 3, "min_samples_leaf": 5}
    yield "hist_regressor", HistGradientBoostingRegressor(**hist), "number"
    yield "xgboost_regressor", xgboost.XGBRegressor(**native), "number"
    yield "xgboost_classifier", xgboost.XGBClassifier(**native), "two"
    yield "xgboost_of_three", xgboost.XGBClassifier(**native), "three_codes"
    poisson = xgboost.XGBRegressor(objective="count:poisson", **native)
    yield "xgboost_poisson", poisson, "positive"
    yield "lightgbm_regressor", lightgbm.LGBMRegressor(**light), "number"
    yield "lightgbm_classifier", lightgbm.LGBMClassifier(**light), "two"


def targets(seed):
    X = rows(seed=seed)
    noise = np.random.default_rng(seed + 1).normal(size=len(X)) / 4
    number = X["age"] + X["dose x"] * X["w"] + noise
    codes = np.digitize(number, [-0.5, 0.5])
    return {
        "number": number,
        "two": (number > 0).astype(int),
        "three_codes": codes,
        "three": np.array(["ash", "beech", "cedar"])[codes],
        "positive": np.exp(number),
    }


def main(seed=0, folder=FOLDER):
    from sklearn2pmml import make_pmml_pipeline, sklearn2pmml

    answers = {}
    for name, model, target in models():
        X = rows(name.startswith(MISSING), int(seed))
        model.fit(X, targets(int(seed))[target])
        pipeline = make_pmml_pipeline(
            model, active_fields=list(X.columns), target_fields=["y"]
        )
        sklearn2pmml(pipeline, str(Path(folder, f"pmml-{name}.pmml")))
        is_class = hasattr(model, "predict_proba")
        found = model.predict_proba(X) if is_class else model.predict(X)
        answers[name] = np.asarray(found, dtype=np.float64).tolist()
    Path(folder, "pmml-answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
