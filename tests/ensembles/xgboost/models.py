"""Random small XGBoost models, rows on their cuts, and what XGBoost predicts there."""

import json

import numpy as np
import pandas as pd
import xgboost as xgb
from tests.ensembles.models import Case

OBJECTIVES = {
    "squarederror": "reg:squarederror",
    "squaredlogerror": "reg:squaredlogerror",
    "pseudohubererror": "reg:pseudohubererror",
    "absoluteerror": "reg:absoluteerror",
    "quantileerror": "reg:quantileerror",
    "reg_logistic": "reg:logistic",
    "poisson": "count:poisson",
    "gamma": "reg:gamma",
    "tweedie": "reg:tweedie",
    "logistic": "binary:logistic",
    "logitraw": "binary:logitraw",
    "softmax": "multi:softmax",
    "softprob": "multi:softprob",
}
BOOSTERS = (
    *OBJECTIVES,
    "base_score",
    "base_scores",
    "dart",
    "dart_softprob",
    "early_booster",
    "exact",
    "huge",
    "lossguide",
    "onehot",
    "parallel",
    "partition",
    "stump",
    "tiny",
)
ESTIMATORS = (
    "XGBClassifier",
    "XGBClassifier_classes",
    "XGBClassifier_softmax",
    "XGBClassifier_dart",
    "XGBClassifier_early",
    "XGBRegressor",
    "XGBRegressor_dart",
    "XGBRegressor_logistic",
    "XGBRegressor_missing",
    "XGBRegressor_labels",
    "XGBRegressor_numbers",
    "XGBRFClassifier",
    "XGBRFRegressor",
)
RANKERS = ("rank:pairwise", "rank:ndcg", "rank:map")
KINDS = BOOSTERS + ESTIMATORS + RANKERS
LABELS = ["ash", "beech", "cedar", "elm", "fir", "oak", "yew"]


def make(kind, seed):
    """A model of a kind whose settings vary with the seed."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    if kind in RANKERS:
        return _ranker_case(kind, seed, rng)
    make_case = _estimator_case if kind in ESTIMATORS else _booster_case
    return make_case(kind, seed, rng)


def _ranker_case(kind, seed, rng):
    """Rows of queries of ten; half of the models as boosters."""
    X = _table(kind, seed, rng)
    relevance = _target("multi:", X, 2 if kind == "rank:map" else 4, rng)
    model = xgb.XGBRanker(
        objective=kind, n_estimators=int(rng.integers(3, 12)), max_depth=1 + seed % 8,
        tree_method=["hist", "exact", "approx"][seed % 3], n_jobs=1, random_state=seed,
    )  # fmt: skip
    model.fit(X, relevance, qid=np.arange(len(X)) // 10)
    X = _rows_on_cuts(model, X, None, rng)
    raw, predicted = model.predict(X, output_margin=True), model.predict(X)
    return Case(model if seed % 2 else model.get_booster(), X, raw, predicted, None)


# Boosters


def _booster_case(kind, seed, rng):
    X = _table(kind, seed, rng)
    settings = _settings(kind, seed, rng)
    objective = settings["objective"]
    y = _target(objective, X, settings.get("num_class", 0), rng)
    weight = rng.integers(1, 4, len(y)) if seed % 3 == 1 else None
    types = ["c", "float", "c"] if kind in ("onehot", "partition") else None

    def data(X, y=None, weight=None):
        return xgb.DMatrix(
            X, y, weight=weight, feature_types=types, enable_categorical=True, nthread=1
        )

    train = data(X[:200], y[:200], None if weight is None else weight[:200])
    n_rounds = int(rng.integers(3, 12))
    if kind == "early_booster":
        model = xgb.train(
            settings | {"eta": 1.5},
            train,
            20,
            evals=[(data(X[200:], y[200:]), "held_out")],
            early_stopping_rounds=2,
            verbose_eval=False,
        )
    else:
        model = xgb.train(settings, train, n_rounds)
    X = _rows_on_cuts(model, X, types, rng)
    raw = model.predict(data(X), output_margin=True)
    return Case(model, X, raw, *_booster_answers(model.predict(data(X)), objective))


def _settings(kind, seed, rng):
    settings = {
        "objective": OBJECTIVES.get(kind, "reg:squarederror"),
        "max_depth": 1 + seed % 10,
        "tree_method": ["hist", "exact", "approx"][seed % 3],
        "eta": float(rng.choice([0.1, 0.3, 1.0])),
        "lambda": 0.1,
        "nthread": 1,
        "seed": seed,
    }
    settings |= {
        "quantileerror": {"quantile_alpha": 0.7},
        "base_score": {"objective": "count:poisson", "base_score": 0.1 + seed / 7},
        "base_scores": {"objective": "multi:softprob", "base_score": [0.3, -0.2, 0.1]},
        "dart": {"booster": "dart", "rate_drop": 0.3, "one_drop": seed % 2},
        "dart_softprob": {
            "booster": "dart",
            "rate_drop": 0.5,
            "objective": "multi:softprob",
            "normalize_type": "forest",
        },
        "early_booster": {"objective": "binary:logistic"},
        "exact": {"tree_method": "exact", "gamma": 0.3, "max_depth": 6},
        "lossguide": {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": 3 + seed,
            "max_depth": 0,
        },
        "onehot": {"tree_method": "hist", "max_cat_to_onehot": 30},
        "parallel": {
            "objective": "multi:softmax",
            "num_parallel_tree": 3,
            "subsample": 0.6,
        },
        "partition": {"tree_method": ["hist", "approx"][seed % 2]},
        "stump": {"gamma": 1e9 if seed % 2 else 0.0, "max_depth": 1},
    }.get(kind, {})
    if kind == "partition":
        settings["max_cat_to_onehot"] = 1
    if settings["objective"].startswith("multi:"):
        settings["num_class"] = 3 if kind == "base_scores" else [2, 3, 5][seed % 3]
    return settings


def _booster_answers(response, objective):
    """Classes and their probabilities, made from what a Booster returns."""
    if objective == "binary:logistic":
        both = np.column_stack([1 - response, response])
        return (response > 0.5).astype(int), both
    if objective == "binary:logitraw":
        return (response > 0).astype(int), None
    if objective == "multi:softprob":
        return response.argmax(axis=1), response
    if objective == "multi:softmax":
        return response.astype(int), None
    return response, None


# Estimators


def _estimator_case(kind, seed, rng):
    name, _, extra = kind.partition("_")
    X = _table(kind, seed, rng)
    n_classes = [3, 5][seed % 2] if extra in ("classes", "softmax", "dart") else 2
    if name.endswith("Classifier"):
        objective = "binary:logistic" if n_classes == 2 else "multi:softprob"
    else:
        objective = "binary:logistic" if extra == "logistic" else "reg:squarederror"
    y = _target(objective, X, n_classes, rng)
    settings = {
        "n_estimators": int(rng.integers(3, 12)),
        "max_depth": 1 + seed % 10,
        "n_jobs": 1,
        "random_state": seed,
        **_estimator_settings(extra),
    }
    model = getattr(xgb, name)(**settings)
    if extra in ("labels", "numbers"):
        X = _frame(X, extra)
    held_out = {"eval_set": [(X[200:], y[200:])], "verbose": False}
    model.fit(X[:200], y[:200], **(held_out if extra == "early" else {}))
    if extra in ("labels", "numbers"):
        numbers = _rows_on_cuts(model, X["b"].to_numpy()[:, None], None, rng, column=1)
        X = pd.concat([X] * 3, ignore_index=True).head(len(numbers))
        X["b"] = numbers[: len(X), 0]
    else:
        X = _rows_on_cuts(model, X, None, rng)
        # Predicting in place takes infinite and too large values.
        X[:3, 0] = [np.inf, -np.inf, 1e300]
    raw = model.predict(X, output_margin=True)
    is_classifier = name.endswith("Classifier")
    probabilities = model.predict_proba(X) if is_classifier else None
    return Case(model, X, raw, model.predict(X), probabilities)


def _estimator_settings(extra):
    return {
        "softmax": {"objective": "multi:softmax"},
        "dart": {"booster": "dart", "rate_drop": 0.4},
        "early": {
            "early_stopping_rounds": 2,
            "n_estimators": 30,
            "learning_rate": 1.5,
        },
        "logistic": {"objective": "binary:logistic"},
        "missing": {"missing": -999.0},
        "labels": {"enable_categorical": True, "max_cat_to_onehot": 1},
        "numbers": {"enable_categorical": True, "max_cat_to_onehot": 30},
    }.get(extra, {})


def _frame(X, extra):
    """Columns with labels, of which not all occur and which are out of order."""
    labels = LABELS[::-1] if extra == "labels" else [30, 7, -2, 11, 5, 800, 9]
    codes = np.where(np.isnan(X[:, 0]), -1, X[:, 0] % 6).astype(int)
    return pd.DataFrame(
        {
            "a": pd.Categorical.from_codes(codes, categories=labels),
            "b": X[:, 1],
            "c": pd.Categorical(np.array(LABELS[:3])[X[:, 2].astype(int) % 3]),
        }
    )


# Data


def _table(kind, seed, rng):
    """Three columns: few values, many values, small whole numbers; some missing."""
    n = 300
    scale = {"huge": 1e30, "tiny": 1e-30}.get(kind, 1.0)
    X = np.column_stack(
        [
            np.round(rng.normal(size=n) * 2) * scale,
            rng.normal(size=n) * scale,
            rng.integers(0, 12, n),
        ]
    )
    if kind in ("onehot", "partition") or kind.endswith(("labels", "numbers")):
        X[:, 0] = rng.integers(0, [3, 9, 70][seed % 3], n)
    if seed % 4:
        X[:, :2][rng.random((n, 2)) < 0.15] = np.nan
    if kind == "XGBRegressor_missing":
        X[rng.random(X.shape) < 0.2] = -999.0
    return X


def _target(objective, X, n_classes, rng):
    """What the columns say, with noise, in the range that the objective takes."""
    known = np.nan_to_num(X)
    y = np.sin(known[:, 0] * 2 / max(1, np.abs(known[:, 0]).max() / 6))
    y += known[:, 1] / max(1e-37, np.abs(known[:, 1]).max()) * 2
    y += np.cos(known[:, 2] * 5) + rng.normal(size=len(y)) / 4
    if objective.startswith("multi:"):
        return np.digitize(y, np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]))
    if objective.startswith("binary:") or objective == "reg:logistic":
        return (y > np.median(y)).astype(int)
    if objective in (
        "count:poisson",
        "reg:gamma",
        "reg:tweedie",
        "reg:squaredlogerror",
    ):
        return np.round(np.exp(y)) + (objective == "reg:gamma")
    return y


def _rows_on_cuts(model, X, types, rng, column=None, n=200):
    """The rows, and copies with values on cuts, beside them and between floats."""
    X = X.astype(float)
    booster = model if isinstance(model, xgb.Booster) else model.get_booster()
    pairs = native_cuts(booster)
    if column is not None:
        pairs = [(0, cut) for d, cut in pairs if d == column]
    rows = [*X]
    for i in rng.permutation(len(pairs))[: n // 5]:
        d, cut = pairs[i]
        up, down = (np.nextafter(cut, np.float32(x)) for x in (np.inf, -np.inf))
        for value in (cut, up, down, _middle(cut, up), _middle(cut, down)):
            row = X[rng.integers(len(X))].copy()
            row[d] = value
            rows.append(row)
    rows = np.array(rows)
    if types is not None:
        # Codes that training did not see, or that are none.
        odd = [-1, -0.5, 0.5, 71, 4.999999999, 5e7, 2**24, 3e30]
        rows[: len(odd), 0] = odd
        rows[: len(odd), 2] = odd[::-1]
    return rows


def _middle(one, other):
    return (float(one) + float(other)) / 2


def native_cuts(booster):
    """(column, cut) of all numeric splits, from XGBoost's own dump."""
    gradient_booster = json.loads(booster.save_raw("json"))["learner"][
        "gradient_booster"
    ]
    if "gbtree" in gradient_booster:
        gradient_booster = gradient_booster["gbtree"]
    return [
        (d, np.float32(cut))
        for tree in gradient_booster["model"]["trees"]
        for d, cut, left, kind in zip(
            tree["split_indices"],
            tree["split_conditions"],
            tree["left_children"],
            tree["split_type"],
        )
        if left != -1 and kind == 0
    ]
