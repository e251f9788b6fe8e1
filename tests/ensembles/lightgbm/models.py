"""Random small LightGBM models of every kind, with rows on and beside their cuts."""

import re
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
from tests.ensembles.models import Case

ZERO = float(np.float32(1e-35))
SPECIAL = [0.0, -0.0, 1e-36, -1e-36, 1e-35, -1e-35, ZERO, -ZERO, 1e300, -1e300]
SPECIAL += [np.nextafter(ZERO, 1), np.nextafter(-ZERO, -1), np.nan, np.inf, -np.inf]
# Codes never seen: negative, in a later word of the bits, beyond 32 bits; and numbers
# that are none. (Between -1 and 0 lies what LightGBM alone takes for code 0.)
CODES = [-1.0, -2.0, 0.5, 1.99, 31.0, 32.0, 70.0, 1000.0, 2.0**31, 2.0**32 + 2]
CODES += [0.0, -0.0, 1e-36, np.nan, np.inf, -np.inf, -1e300]

OBJECTIVES = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape", "poisson"),
    *("gamma", "tweedie", "cross_entropy", "cross_entropy_lambda", "custom"),
)
POSITIVE = ("poisson", "gamma", "tweedie")
KINDS: tuple[str, ...] = (
    *OBJECTIVES,
    *("sqrt", "binary", "binary_unbalanced", "multiclass_3", "multiclass_5"),
    *("multiclassova_2", "multiclassova_3", "no_missing_type", "use_missing_false"),
    *("zero_as_missing", "codes", "codes_zero_as_missing", "codes_use_missing_false"),
    *("codes_multiclass_3", "pandas_text", "pandas_numbers", "pandas_binary"),
    *("early_stopping", "dart", "rf", "rf_binary", "rf_multiclass_3", "goss"),
    *("one_leaf", "one_leaf_multiclass_3", "small_bins", "extra_trees", "weights"),
    *("regressor", "classifier_binary", "classifier_multiclass_3"),
    *("classifier_multiclassova_5", "classifier_cross_entropy"),
    *("lambdarank", "rank_xendcg"),
)
RANKERS = KINDS[-2:]


def make(kind: str, seed: int) -> Case:
    """A fitted model, rows for it, and what LightGBM says of them."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    table, target, n_classes = _data(kind, seed, rng)
    model = _fit(kind, seed, rng, table, target, n_classes)
    booster = getattr(model, "booster_", model)
    X = rows_on_cuts(booster, table, rng)
    raw = booster.predict(X, raw_score=True).reshape(len(X), -1)
    if kind.startswith("rf"):
        # Raw scores of a forest are sums to LightGBM; its links get the mean.
        raw = raw / booster.current_iteration()
    if n_classes == 0:
        return Case(model, X, raw, model.predict(X), None)
    if isinstance(model, lgb.LGBMClassifier):
        return Case(model, X, raw, model.predict(X), model.predict_proba(X))
    probabilities = model.predict(X)
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1 - probabilities, probabilities])
    return Case(model, X, raw, probabilities.argmax(axis=1), probabilities)


def _n_classes(kind: str) -> int:
    if "multiclass" in kind:
        return int(kind[-1])
    return 2 if "binary" in kind or kind == "classifier_cross_entropy" else 0


def _data(kind: str, seed: int, rng: np.random.Generator) -> tuple[Any, Any, int]:
    n = 120
    X = rng.normal(size=(n, 4)) * [1, 10, 1e-3, 1e6]
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n) < 0.5, 2] = 0.0
    if seed % 3 and kind != "no_missing_type":
        X[rng.random(X.shape) < 0.15] = np.nan
    codes = rng.choice([0, 1, 2, 5, 31, 32, 40], n)
    signal = np.nan_to_num(X[:, 0] + (X[:, 1] > 2) + 300 * X[:, 2])
    table: Any = X
    if kind.startswith("codes"):
        table = np.column_stack([X, codes.astype(float), rng.integers(3, size=n)])
        table[rng.random(n) < 0.1 * (seed % 2), 4] = np.nan
        signal = signal + codes % 3
    if kind.startswith("pandas"):
        numbers = kind == "pandas_numbers"
        labels = [10, 20, 35, 40] if numbers else ["oak", "yew", "ash", "elm é"]
        which = rng.integers(-1 if seed % 2 else 0, 4, n)
        table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
        table.insert(1, "tree", pd.Categorical.from_codes(which, labels))
        table["const"] = pd.Categorical(["same"] * n)
        table["size"] = pd.Categorical.from_codes(rng.integers(3, size=n), [7, 3, 5])
        signal = signal + which % 3
    n_classes = _n_classes(kind)
    if n_classes:
        edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
        return table, np.digitize(signal, edges), n_classes
    if kind in RANKERS:
        return table, np.digitize(signal, np.quantile(signal, [0.4, 0.7, 0.9])), 0
    if kind.startswith("cross_entropy"):
        return table, 1 / (1 + np.exp(-signal)), 0
    return table, np.exp(signal / 3) if kind in POSITIVE else signal, 0


def _settings(kind: str, seed: int, rng: np.random.Generator) -> dict[str, Any]:
    settings = {
        "verbose": -1,
        "num_threads": 1,
        "seed": seed,
        "num_leaves": [2, 4, 7, 31][seed % 4],
        "max_depth": [-1, -1, 2, 4][rng.integers(4)],
        "learning_rate": [0.1, 0.3, 1.0][rng.integers(3)],
        "min_data_in_leaf": [1, 3, 10][rng.integers(3)],
        "boost_from_average": bool(seed % 2),
        "min_data_per_group": 1,
        "cat_smooth": 1,
        "cat_l2": 1,
        "max_cat_to_onehot": [1, 4][rng.integers(2)],
    }
    if kind in (*OBJECTIVES, *RANKERS) and kind != "custom":
        settings["objective"] = kind
    if kind == "tweedie":
        settings["tweedie_variance_power"] = 1.3
    if kind == "sqrt":
        names = ["regression", "regression_l1", "fair", "quantile", "mape"]
        settings |= {"objective": names[seed % 5], "reg_sqrt": True}
    if _n_classes(kind) == 2 and "multiclass" not in kind:
        settings |= {"objective": "binary", "sigmoid": [1.0, 0.7, 2.5][seed % 3]}
    if kind == "classifier_cross_entropy":
        settings |= {"objective": "cross_entropy"}
    if kind == "binary_unbalanced":
        settings |= [{"is_unbalance": True}, {"scale_pos_weight": 3.0}][seed % 2]
    if "multiclass" in kind:
        name = "multiclassova" if "ova" in kind else "multiclass"
        settings |= {"objective": name, "num_class": int(kind[-1]), "sigmoid": 1.5}
    for name in ("zero_as_missing", "extra_trees"):
        settings[name] = kind.endswith(name)
    settings["use_missing"] = not kind.endswith("use_missing_false")
    if kind == "dart":
        settings |= {"boosting": "dart", "drop_rate": 0.5}
    if kind.startswith("rf"):
        settings |= {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}
    if kind == "goss":
        settings |= {"data_sample_strategy": "goss", "learning_rate": 0.5}
    if kind.startswith("one_leaf"):
        settings["min_data_in_leaf"] = 100
    if kind == "small_bins":
        settings["max_bin"] = 4
    return settings


def _fit(
    kind: str,
    seed: int,
    rng: np.random.Generator,
    table: Any,
    target: np.ndarray,
    n_classes: int,
) -> Any:
    settings = _settings(kind, seed, rng)
    rounds = 5 + seed % 4
    if kind == "custom":
        settings["objective"] = _half_squares
    weight = rng.integers(1, 4, len(target)) / 2 if kind == "weights" else None
    if kind == "regressor":
        return lgb.LGBMRegressor(n_estimators=rounds, **settings).fit(table, target)
    if kind.startswith("classifier"):
        labels = np.array(["yew", "ash", "oak", "elm", "fir"])[:n_classes]
        model = lgb.LGBMClassifier(n_estimators=rounds, **settings)
        return model.fit(table, labels[target] if seed % 2 else 10 * target - 10)
    if kind in RANKERS and seed % 2:
        ranker = lgb.LGBMRanker(n_estimators=rounds, **settings)
        return ranker.fit(table, target, group=[10] * 12)
    codes = [4, 5] if kind.startswith("codes") else "auto"
    data = lgb.Dataset(
        table, target, weight=weight, categorical_feature=codes, free_raw_data=False,
        group=[10] * 12 if kind in RANKERS else None,
    )  # fmt: skip
    if kind == "early_stopping":
        valid = lgb.Dataset(table, rng.permutation(target), reference=data)
        stop = lgb.early_stopping(2, verbose=False)
        # Otherwise only the best trees are kept, in memory too.
        keep = {"keep_training_booster": seed % 2 == 1}
        return lgb.train(
            settings, data, 30, valid_sets=[valid], callbacks=[stop], **keep
        )
    return lgb.train(settings, data, rounds)


def _half_squares(predicted: np.ndarray, data: lgb.Dataset) -> tuple[Any, Any]:
    return predicted - data.get_label(), np.ones(len(predicted))


# Rows


def native_splits(booster: lgb.Booster) -> list[tuple[int, float, bool]]:
    """(column, threshold, is categorical) of every node, from the text."""
    lines = re.findall(
        r"^(split_feature|threshold|decision_type)=(.+)$",
        booster.model_to_string(),
        re.MULTILINE,
    )
    found: dict[str, list[float]] = {}
    for key, values in lines:
        found.setdefault(key, []).extend(map(float, values.split()))
    return [
        (int(column), threshold, int(kind) % 2 == 1)
        for column, threshold, kind in zip(
            *(found.get(k, []) for k in ("split_feature", "threshold", "decision_type"))
        )
    ]


def rows_on_cuts(booster: lgb.Booster, table: Any, rng: np.random.Generator) -> Any:
    """Rows of the table with cells moved onto cuts, beside them, and to odd places."""
    splits = native_splits(booster)
    X = table.to_numpy(dtype=object) if isinstance(table, pd.DataFrame) else table
    n_columns = X.shape[1]
    cells: list[tuple[int, Any]] = []
    for i in rng.permutation(len(splits))[:40]:
        column, cut, categorical = splits[i]
        if not categorical:
            values = [cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)]
            cells += [(column, value) for value in values]
    for column in range(n_columns):
        if isinstance(table, pd.DataFrame) and table.dtypes.iloc[column] == "category":
            cells += [(column, None), (column, "never seen"), (column, -7)]
        elif column >= 4:
            cells += [(column, code) for code in CODES]
        else:
            cells += [(column, value) for value in SPECIAL]
    rows = X[rng.integers(len(X), size=len(cells))].copy()
    for i, (column, value) in enumerate(cells):
        rows[i, column] = value
    # Some cells more, so that odd values meet in one row.
    for i in rng.integers(len(cells), size=len(cells)):
        column, value = cells[i]
        rows[rng.integers(len(rows)), column] = value
    if not isinstance(table, pd.DataFrame):
        return rows
    frame = pd.DataFrame(rows, columns=table.columns)
    kinds = {c: t if t != "category" else "category" for c, t in table.dtypes.items()}
    return frame.astype(kinds)
