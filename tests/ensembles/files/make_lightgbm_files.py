"""Makes the text files of older LightGBM versions, with what these predict.

Run it where that version is installed: ``python make_lightgbm_files.py FOLDER``.
"""

import json
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import pandas as pd

SETTINGS = {
    "verbose": -1,
    "num_threads": 1,
    "num_leaves": 5,
    "min_data_in_leaf": 3,
    "min_data_per_group": 1,
    "cat_smooth": 1,
    "learning_rate": 0.5,
}
OLD = lgb.__version__.startswith("2")


def save(name, booster, rows):
    path = Path(sys.argv[1]) / f"lightgbm-{lgb.__version__}-{name}"
    path.with_name(path.name + ".txt").write_text(booster.model_to_string())
    if isinstance(rows, pd.DataFrame):
        table = {c: [without_nan(x) for x in rows[c].tolist()] for c in rows}
    else:
        table = [[without_nan(x) for x in row] for row in rows.tolist()]
    expected = {
        "rows": table,
        "raw": booster.predict(rows, raw_score=True).tolist(),
        "predicted": booster.predict(rows).tolist(),
    }
    path.with_name(path.name + ".json").write_text(json.dumps(expected, indent=0))


def without_nan(cell):
    return None if cell != cell else cell


def main():
    rng = np.random.default_rng(3)
    n = 200
    X = np.round(rng.normal(size=(n, 3)), 2)
    X[rng.random(n) < 0.2, 0] = np.nan
    X[:, 2] = rng.choice([0, 1, 2, 5, 33], n)
    rows = X[:20].copy()
    rows[:4] = [[np.nan] * 3, [0, 0, -1], [1e-36, -1e-36, 77], [0.01, 0.02, 33.7]]

    target = np.nan_to_num(X[:, 0]) + X[:, 2] % 3 > 1
    binary = {"objective": "binary", "sigmoid": 1.5, "zero_as_missing": OLD}
    data = lgb.Dataset(X, target, categorical_feature=[2])
    save("binary", lgb.train({**SETTINGS, **binary}, data, 3), rows)

    if not OLD:
        trees = np.array(["oak", "ash", "yew", "elm"])[rng.integers(0, 4, n)]
        frame = pd.DataFrame({"age": X[:, 0], "tree": pd.Categorical(trees)})
        frame["size of"] = pd.Categorical(X[:, 2].astype(int))
        signal = frame["tree"].cat.codes + np.nan_to_num(X[:, 0])
        classes = {"objective": "multiclass", "num_class": 3}
        data = lgb.Dataset(frame, np.digitize(signal, [1, 2]))
        some = frame[:20].copy()
        some["tree"] = pd.Categorical(["fir", None, *frame["tree"][2:20]])
        some["size of"] = pd.Categorical([77, *frame["size of"][1:20]])
        save("pandas", lgb.train({**SETTINGS, **classes}, data, 2), some)

        forest = {"objective": "quantile", "alpha": 0.7, "reg_sqrt": True}
        forest |= {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
        data = lgb.Dataset(X[:, :2], X[:, 1] * 2)
        save("forest", lgb.train({**SETTINGS, **forest}, data, 2), rows[:, :2])


if __name__ == "__main__":
    main()
