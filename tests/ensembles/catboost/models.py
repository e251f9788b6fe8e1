"""Random small CatBoost models, and what CatBoost itself says of rows on their cuts."""

import numpy as np
import pandas as pd
from catboost import (
    CatBoost,
    CatBoostClassifier,
    CatBoostRanker,
    CatBoostRegressor,
    sum_models,
)
from tests.ensembles.models import Case

N_ROWS = 150
LABELS = np.array(["ash", "beech", "cedar", "douglas fir", "elm"], dtype=object)

REGRESSION_LOSSES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "quantile": "Quantile:alpha=0.7",
    "log_cosh": "LogCosh",
    "huber": "Huber:delta=1.5",
    "expectile": "Expectile:alpha=0.7",
    "lq": "Lq:q=3",
    "mape": "MAPE",
    "log_lin_quantile": "LogLinQuantile:alpha=0.4",
    "rmspe": "RMSPE",
    "poisson": "Poisson",
    "tweedie": "Tweedie:variance_power=1.5",
}
REGRESSION = (
    *REGRESSION_LOSSES,
    "nan_exclude_features",
    "weights",
    "early_stopping",
    "scaled",
    "constant",
    "base_class",
    "base_poisson",
    "sum",
    "categories_regression",
)
CLASSIFICATION = (
    "cross_entropy",
    "focal",
    "text_labels",
    "bool_labels",
    "float_labels",
    "class_names",
    "start_from_average",
    "multi_class",
    "multi_of_two",
    "one_vs_all",
    "multi_scaled",
    "base_classifier",
    "subclass",
    "categories",
    "categories_multi",
)
# Statistics of the target in place of categories, of several types.
CTR_CLASSIFICATION = ("categories_ctr", "categories_multi_ctr")
CLASSIFICATION += CTR_CLASSIFICATION
RANKING = ("YetiRank", "PairLogit", "QueryRMSE", "QuerySoftMax", "StochasticRank")
KINDS = (*REGRESSION, *CLASSIFICATION, "categories_regression_ctr", *RANKING)
SIMPLE_CTRS = (None, "Buckets", "BinarizedTargetMeanValue:Prior=0.3", "Borders")


class Subclass(CatBoostClassifier):
    pass


def make(kind, seed):
    """Fit a model of a kind, with settings that vary with the seed."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    model, X = _fitted(kind, seed, rng)
    X = _rows_on_borders(model, X, rng)
    if kind in RANKING:
        return Case(model, X, model.predict(X)[:, None], model.predict(X), None)
    raw = model.predict(X, prediction_type="RawFormulaVal").reshape(len(X), -1)
    classes = len(model.classes_) if kind in CLASSIFICATION else 0
    how = {}
    if type(model) is CatBoost:
        # Asked for nothing special, the base class answers with raw scores.
        exponent = kind == "base_poisson"
        regression = "Exponent" if exponent else "RawFormulaVal"
        how["prediction_type"] = "Class" if classes else regression
    predicted = model.predict(X, **how).ravel()
    probabilities = None
    if classes:
        probabilities = model.predict(X, prediction_type="Probability")
    return Case(model, X, raw, predicted, probabilities)


def _fitted(kind, seed, rng):
    X, signal = _table(kind, seed, rng)
    settings = _settings(kind, seed)
    fit = {"sample_weight": rng.integers(1, 4, N_ROWS)} if kind == "weights" else {}
    if kind in CLASSIFICATION:
        y = _target(kind, seed, signal)
        model = _classifier(kind, seed, settings).fit(X, y)
        if kind == "multi_scaled":
            model.set_scale_and_bias(
                0.6, np.linspace(-1, 1, len(model.classes_)).tolist()
            )
        return model, X
    if kind in RANKING:
        # The scores of a query have a common level of their own, and a metric.
        y, query = (signal > np.median(signal)) * 1.0, np.arange(N_ROWS) // 10
        loss = f"{kind}:metric=NDCG" if kind == "StochasticRank" else kind
        settings |= {"loss_function": loss, "boosting_type": "Plain"}
        if kind != "QueryRMSE":
            settings |= {"grow_policy": "SymmetricTree", "max_leaves": None}
        return CatBoostRanker(**settings).fit(X, y, group_id=query), X
    y = np.exp(signal / signal.std())
    if kind == "constant":
        settings |= {"min_data_in_leaf": N_ROWS, "grow_policy": "Depthwise"}
        settings |= {"boosting_type": "Plain", "max_leaves": None}
    if kind == "early_stopping":
        settings |= {"iterations": 60, "learning_rate": 0.9, "od_wait": 2}
        noise = rng.normal(size=N_ROWS)
        model = CatBoostRegressor(**settings)
        return model.fit(X[:100], noise[:100], eval_set=(X[100:], noise[100:])), X
    if kind.startswith("base"):
        loss = "Poisson" if kind == "base_poisson" else "RMSE"
        return CatBoost({**settings, "loss_function": loss}).fit(X, y), X
    if kind == "sum":
        settings |= {"grow_policy": "SymmetricTree", "max_leaves": None}
        parts = [CatBoostRegressor(**settings).fit(X, z) for z in (y, y**2)]
        return sum_models(parts, weights=[0.3, 0.7]), X
    if kind in REGRESSION_LOSSES:
        settings["loss_function"] = REGRESSION_LOSSES[kind]
    model = CatBoostRegressor(**settings).fit(X, y, **fit)
    if kind == "scaled":
        model.set_scale_and_bias(1.7, -0.3)
    return model, X


def _settings(kind, seed):
    policy = ["SymmetricTree", "Depthwise", "SymmetricTree", "Lossguide"][seed % 4]
    settings = {
        "iterations": 10 + seed % 9,
        "depth": 1 + seed % 8,
        "grow_policy": policy,
        "nan_mode": ["Min", "Max"][seed % 2],
        "random_seed": seed,
        "bootstrap_type": ["No", "Bernoulli"][seed % 2],
        "thread_count": 1,
        "verbose": False,
        "allow_writing_files": False,
    }
    if policy == "Lossguide":
        settings["max_leaves"] = 7
    if policy == "SymmetricTree" and seed % 3 == 0 and not kind.startswith("multi"):
        settings["boosting_type"] = "Ordered"
    if kind == "nan_exclude_features":
        settings["nan_mode"] = "Forbidden"
    if kind.startswith("categories"):
        settings |= {"one_hot_max_size": 40, "cat_features": ["tree", "code", "yes"]}
    if kind.endswith("ctr"):
        settings |= {"one_hot_max_size": 2, "max_ctr_complexity": 1}
        ctr = SIMPLE_CTRS[seed // 2 % 4]
        settings |= {"simple_ctr": [ctr, "Counter:Prior=0.5"]} if ctr else {}
    return settings


def _classifier(kind, seed, settings):
    losses = {
        "cross_entropy": "CrossEntropy",
        "focal": "Focal:focal_alpha=0.4;focal_gamma=1.5",
        "multi_of_two": "MultiClass",
        "one_vs_all": "MultiClassOneVsAll",
    }
    if kind in losses:
        settings["loss_function"] = losses[kind]
    if kind == "class_names":
        settings["class_names"] = ["yes", "no"]
    if kind == "start_from_average":
        settings["boost_from_average"] = True
    if kind == "base_classifier":
        loss = ["Logloss", "MultiClass"][seed % 2]
        return CatBoost({**settings, "loss_function": loss})
    return {"subclass": Subclass}.get(kind, CatBoostClassifier)(**settings)


def _target(kind, seed, signal):
    n_classes = 2
    if kind in ("multi_class", "one_vs_all", "multi_scaled") or (
        kind.startswith("categories_multi")
    ):
        n_classes = [3, 5][seed % 2]
    if kind == "base_classifier" and seed % 2:
        n_classes = 3
    edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    codes = np.digitize(signal, edges)
    if kind == "class_names":
        return np.array(["no", "yes"])[codes]
    if kind == "bool_labels":
        return codes == 1
    if kind == "float_labels":
        return codes * 0.1 - 1 / 3
    if kind == "text_labels" or (n_classes > 2 and seed // 2 % 2):
        return LABELS[codes]
    return codes if kind == "cross_entropy" else codes * 10 - 10


def _table(kind, seed, rng):
    """Rows with ties, holes and perhaps categories; and what the target follows."""
    X = rng.normal(size=(N_ROWS, 4)) * [1, 10, 1e-3, 1e6]
    X[:, 1] = np.round(X[:, 1])
    X[:, 3] = np.round(X[:, 3], -6)
    signal = X[:, 0] + X[:, 1] / 10 + rng.normal(size=N_ROWS) / 3
    if kind != "nan_exclude_features" and seed % 3:
        X[rng.random(X.shape) < 0.15] = np.nan
    if not kind.startswith("categories"):
        return X, signal
    tree, code = rng.integers(5, size=N_ROWS), rng.integers(6, size=N_ROWS)
    yes = rng.random(N_ROWS) < 0.5
    signal += (tree == 1) - 2.0 * (code == 3) + yes
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.insert(1, "tree", LABELS[tree])
    frame["code"] = code * 10**17 - 10**17
    frame["yes"] = yes
    if seed % 2:
        frame["tree"] = frame["tree"].astype("category")
    return frame, signal


def _rows_on_borders(model, X, rng):
    """Rows exactly on borders and on their float32 and float64 neighbours."""
    borders = model.get_borders()
    columns = list(borders)
    spots = [(c, b) for c in columns for b in borders[c] if np.isfinite(b)]
    rows, places = [], []
    picked = rng.permutation(len(spots))[:25]
    for column, border in (spots[i] for i in picked):
        single = np.float32(border)
        with np.errstate(over="ignore"):
            up = np.nextafter(single, np.float32(np.inf))
            down = np.nextafter(single, np.float32(-np.inf))
        values = [float(single), float(up), float(down)]
        values += [(float(single) + float(x)) / 2 for x in (up, down)]
        values += [np.nextafter(v, side) for v in values for side in (-np.inf, np.inf)]
        for value in values:
            rows.append(rng.integers(N_ROWS))
            places.append((column, value))
    if isinstance(X, pd.DataFrame):
        return _frame_on_borders(X, rows, places, rng)
    extreme = np.array([np.inf, -np.inf, 1e300, -1e300, 3.4028235e38, np.nan, 0, -0.0])
    queries = X[rows].copy()
    for i, (column, value) in enumerate(places):
        queries[i, int(column)] = value
    holes = rng.choice(extreme, size=(40, X.shape[1]))
    return np.concatenate([X, queries, holes])


def _frame_on_borders(X, rows, places, rng):
    X = X.astype({"tree": object})
    queries = X.iloc[rows].reset_index(drop=True)
    for i, (column, value) in enumerate(places):
        # Borders go by column, categorical ones counted.
        queries.iloc[i, int(column)] = value
    strange = X.iloc[:60].copy()
    strange["tree"] = rng.choice(
        np.array(["", "Ash", "ash ", "yew", "ash", "elm"], dtype=object), 60
    )
    strange["code"] = rng.choice([7, -(10**17), 0, 3 * 10**17 + 1, 3 * 10**17], 60)
    strange["a"] = np.nan
    return pd.concat([X, queries, strange], ignore_index=True)
