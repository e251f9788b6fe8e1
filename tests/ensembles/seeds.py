"""Small model files of the native libraries, to be damaged by ``mutants``.

Few trees of two or three levels: then a change hits something that matters.
"""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd


def table(n_rows=160):
    """A number with gaps, a rounded number, categories as text and as integers."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            "alpha": rng.normal(size=n_rows),
            "beta": rng.normal(size=n_rows).round(1),
            "colour": rng.choice(["ash", "beech", "cedar", "elm"], size=n_rows),
            "code": rng.choice([0, 1, 2, 5, 40], size=n_rows),
        }
    )
    effect = X["colour"].map({"ash": 2.0, "beech": -1.0, "cedar": 0.5, "elm": -2.0})
    effect += X["code"].map({0: 0.0, 1: 1.0, 2: -1.0, 5: 3.0, 40: -3.0})
    score = effect + X["alpha"] + X["beta"] + rng.normal(size=n_rows) / 3
    X.loc[rng.random(n_rows) < 0.2, "alpha"] = np.nan
    X.loc[rng.random(n_rows) < 0.2, "beta"] = 0.0
    return X, score.to_numpy()


def targets(score):
    classes = np.digitize(score, [-1.5, 1.5])
    positive = np.exp(score / 2)
    return {"number": score, "two": score > 0, "three": classes, "positive": positive}


@cache
def seeds(format):
    """Name and bytes of some files of a format; needs the native library."""
    return {
        "xgboost json": lambda: xgboost_files("json"),
        "xgboost ubjson": lambda: xgboost_files("ubj"),
        "lightgbm text": lightgbm_files,
        "catboost json": catboost_files,
        "pmml": lambda: stored_files("pmml-*.pmml"),
        "r csv": lambda: stored_files("r-[!a]*.csv"),
    }[format]()


def stored_files(pattern):
    paths = sorted((Path(__file__).parent / "files").glob(pattern))
    return {path.stem: path.read_bytes() for path in paths}


def large(format):
    """One sound file of about 1 MB, for the limits of memory."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 5))
    y = X[:, 0] * X[:, 1] + rng.normal(size=4000)
    if format.startswith("xgboost"):
        import xgboost

        model = xgboost.XGBRegressor(n_estimators=100, max_depth=7, n_jobs=1).fit(X, y)
        kind = "json" if format.endswith(" json") else "ubj"
        return bytes(model.get_booster().save_raw(kind))
    if format == "lightgbm text":
        import lightgbm

        model = lightgbm.LGBMRegressor(
            n_estimators=100, num_leaves=100, n_jobs=1, verbose=-1
        )
        return model.fit(X, y).booster_.model_to_string().encode()
    return catboost_file(
        X, y, [], loss_function="RMSE", iterations=30, depth=7, grow_policy="Depthwise"
    )


def xgboost_files(kind):
    import xgboost

    X, score = table()
    y = targets(score)
    mixed = X.astype({"colour": "category"})[["alpha", "beta", "colour"]]
    integers = X.astype({"code": "category"})[["beta", "code"]]
    numbers = X[["alpha", "beta", "code"]].astype(float)
    sets = {"enable_categorical": True, "max_cat_to_onehot": 1, "max_depth": 2}
    dart = {**sets, "booster": "dart", "rate_drop": 0.5, "base_score": 0.3}
    tried = {
        "two classes": (numbers, "two", {"max_depth": 3}),
        "dart, category sets": (mixed, "number", dart),
        "one-hot": (mixed, "positive", {**sets, "max_cat_to_onehot": 9}),
        "three classes": (mixed, "three", {**sets, "num_parallel_tree": 2}),
        "integers as labels": (integers, "positive", sets),
        "no names": (numbers.to_numpy(), "number", {"max_depth": 2}),
        "early stopping": (numbers, "two", {"max_depth": 2, "learning_rate": 5.0}),
        "single leaves": (numbers, "number", {"gamma": 1e9}),
    }
    files = {}
    for name, (data, target, options) in tried.items():
        options = {"n_estimators": 3, "n_jobs": 1, **options}
        if target == "positive":
            options["objective"] = "count:poisson"
        watch = {}
        if name == "early stopping":
            options |= {"early_stopping_rounds": 1, "n_estimators": 9}
            watch = {"eval_set": [(data, ~y[target])], "verbose": False}
        classify = target in ("two", "three")
        model = (xgboost.XGBClassifier if classify else xgboost.XGBRegressor)(**options)
        model.fit(data, y[target].astype(int) if classify else y[target], **watch)
        files[name] = saved(model, kind)
    codes = xgboost.DMatrix(X[["code"]], score, feature_types=["c"], nthread=1)
    for name, booster in {"codes": "gbtree", "codes, dart": "dart"}.items():
        options = {"max_cat_to_onehot": 1, "max_depth": 2, "booster": booster}
        options |= {"rate_drop": 0.5} if booster == "dart" else {}
        model = xgboost.train({**options, "nthread": 1}, codes, 3)
        files[name] = saved(model, kind)
    return files


def saved(model, kind):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model.{kind}"
        model.save_model(path)
        return path.read_bytes()


def lightgbm_files():
    import lightgbm

    X, score = table()
    y = targets(score)
    mixed = X.astype({"colour": "category"})[["alpha", "beta", "colour"]]
    numbers = X[["alpha", "beta", "code"]].astype(float)
    bag = {"bagging_freq": 1, "bagging_fraction": 0.7, "boosting": "rf"}
    tried = {
        "binary": (numbers, "two", {"objective": "binary"}),
        "category sets": (mixed, "number", {"objective": "regression"}),
        "codes": (numbers, "number", {"categorical_feature": [2]}),
        "three classes": (
            mixed,
            "three",
            {"objective": "multiclass", "num_class": 3, "num_leaves": 3},
        ),
        "one against the rest": (
            numbers,
            "three",
            {"objective": "multiclassova", "num_class": 3, "sigmoid": 0.5},
        ),
        "zero as missing": (numbers, "number", {"zero_as_missing": True}),
        "forest": (numbers, "number", {**bag, "objective": "regression"}),
        "poisson, dart": (
            numbers,
            "positive",
            {"objective": "poisson", "boosting": "dart"},
        ),
        "square root": (numbers, "number", {"reg_sqrt": True}),
        "single leaves": (numbers, "number", {"min_data_in_leaf": 1000}),
    }
    files = {}
    for name, (data, target, options) in tried.items():
        options = {
            "num_leaves": 5,
            "num_threads": 1,
            "verbose": -1,
            "min_data_per_group": 5,
            "cat_smooth": 1,
            "cat_l2": 1,
            "max_cat_to_onehot": 1,
            "learning_rate": 0.3,
            **options,
        }
        categorical = options.pop("categorical_feature", "auto")
        data = lightgbm.Dataset(
            data, y[target].astype(float), categorical_feature=categorical
        )
        model = lightgbm.train(options, data, num_boost_round=2)
        files[name] = model.model_to_string().encode()
    return files


def catboost_files():
    X, score = table()
    y = targets(score)
    labels = X.astype({"code": str})[["alpha", "beta", "colour", "code"]]
    numbers = X[["alpha", "beta", "code"]].astype(float)
    codes = X[["alpha", "code"]]
    sets = {"one_hot_max_size": 10, "depth": 2}
    tried = {
        "two classes": (numbers, "two", [], {"depth": 3}),
        "one-hot": (labels, "number", ["colour", "code"], sets),
        "one-hot in free trees": (
            labels,
            "two",
            ["colour", "code"],
            {**sets, "grow_policy": "Lossguide"},
        ),
        "three classes": (numbers, "three", [], {"depth": 2}),
        "one against the rest": (
            numbers,
            "three",
            [],
            {"depth": 1, "loss_function": "MultiClassOneVsAll"},
        ),
        "missing on the right": (
            codes.astype(float),
            "positive",
            [],
            {"depth": 2, "nan_mode": "Max", "loss_function": "Poisson"},
        ),
        "free trees of three classes": (
            numbers,
            "three",
            [],
            {"depth": 2, "grow_policy": "Depthwise"},
        ),
    }
    losses = {"two": "Logloss", "three": "MultiClass"}
    return {
        name: catboost_file(
            data,
            y[target].astype(int) if target in losses else y[target],
            categorical,
            **{"loss_function": losses.get(target, "RMSE"), **options},
        )
        for name, (data, target, categorical, options) in tried.items()
    }


def catboost_file(X, y, categorical, **options):
    import catboost

    options = {"iterations": 3, "thread_count": 1, "verbose": 0, **options}
    pool = catboost.Pool(X, y, cat_features=categorical)
    model = catboost.CatBoost({**options, "allow_writing_files": False}).fit(pool)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        # Only with the data are the labels of the categories written.
        model.save_model(path, format="json", pool=pool if categorical else None)
        return path.read_bytes()
