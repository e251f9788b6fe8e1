"""How the files of old XGBoost versions beside this script were made.

Run once per version, in an environment that has that version and scikit-learn:
``python make_xgboost_files.py``. It writes the models, and what that version predicts
for the rows of ``rows()``.
"""

import json
from pathlib import Path

import numpy as np
import xgboost as xgb

FOLDER = Path(__file__).parent
SETTINGS = {
    "regression": {"max_depth": 3},
    "binary": {"objective": "binary:logistic", "max_depth": 3, "base_score": 0.3},
    "multi": {"objective": "multi:softprob", "num_class": 3, "max_depth": 2},
    "poisson": {"objective": "count:poisson", "max_depth": 2},
    "categorical": {"max_depth": 3, "max_cat_to_onehot": 4},
    "dart": {"booster": "dart", "rate_drop": 0.5, "max_depth": 2, "seed": 3},
    "exact": {"tree_method": "exact", "gamma": 0.5, "max_depth": 4},
}


def rows():
    """Numbers in eighths, category codes below 8 and below 3, some missing."""
    i = np.arange(48)
    X = np.column_stack([(i * 7 % 16 - 8) / 8, i * 5 % 8, i * i % 3]).astype(float)
    X[i % 11 == 3, 0] = np.nan
    X[i % 13 == 5, 1] = np.nan
    return X


def target(kind):
    """A target for the rows that suits the objective."""
    X = np.nan_to_num(rows(), nan=-1)
    y = X[:, 0] + np.sin(X[:, 1]) + X[:, 2] / 2
    if kind in ("binary", "multi"):
        return np.digitize(y, [0.8] if kind == "binary" else [0, 1]).astype(float)
    return np.round(np.exp(y)) if kind == "poisson" else y


def data(kind):
    """The rows as XGBoost takes them."""
    types = ["float", "c", "c"] if kind == "categorical" else None
    return xgb.DMatrix(
        rows(), target(kind), feature_types=types, enable_categorical=True
    )


def main():
    expected = {}
    for kind, settings in SETTINGS.items():
        settings = {"tree_method": "hist", "nthread": 1, "eta": 0.5, **settings}
        model = xgb.train(settings, data(kind), 4)
        ending = "ubj" if kind in ("multi", "categorical") else "json"
        model.save_model(FOLDER / f"xgboost-{xgb.__version__}-{kind}.{ending}")
        raw = model.predict(data(kind), output_margin=True)
        expected[kind] = raw.reshape(len(raw), -1).tolist()
    model = xgb.XGBClassifier(
        n_estimators=9, learning_rate=2.0, n_jobs=1, early_stopping_rounds=2
    )
    X, y = rows(), target("binary").astype(int)
    model.fit(X[:30], y[:30], eval_set=[(X[30:], y[30:])], verbose=False)
    model.save_model(FOLDER / f"xgboost-{xgb.__version__}-stopped.json")
    expected["stopped"] = model.predict(X, output_margin=True)[:, None].tolist()
    path = FOLDER / f"xgboost-{xgb.__version__}-expected.json"
    path.write_text(json.dumps(expected))


if __name__ == "__main__":
    main()
