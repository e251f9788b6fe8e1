"""Do statements in a table's own columns agree with the pipeline on every row?

python -m benchmarks.black_boxes.pipelines [--quick] [--fresh]

Random pipelines over random tables of numbers, integers, text and missing values. They
are compared on training rows, on new ones, and on rows that lie on the cuts or on the
adjacent float64 numbers; some have categories that were not in training.
"""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from xgboost import XGBClassifier, XGBRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table
from clearwood.exceptions import ModelError

N_PIPELINES, N_ROWS, N_NEW = 200, 400, 2000
SCALERS = (StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler, None)
MODELS = {
    "forest": (RandomForestClassifier, RandomForestRegressor),
    "extra trees": (ExtraTreesClassifier, ExtraTreesRegressor),
    "gradient boosting": (GradientBoostingClassifier, GradientBoostingRegressor),
    "histogram boosting": (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
    ),
    "XGBoost": (XGBClassifier, XGBRegressor),
    "LightGBM": (LGBMClassifier, LGBMRegressor),
}
FOUND = ("rows", "differ", "differ_new", "differ_beside_cuts", "largest_difference")
FEW = {"n_estimators": 20, "n_jobs": 1, "verbose": -1, "max_iter": 20}


def table(n_rows, generator, strange=False):
    """A table, and a target."""
    X = pd.DataFrame(
        {
            "age": generator.normal(45, 15, n_rows).round(1),
            "income": np.exp(generator.normal(8, 1, n_rows)),
            "rooms": generator.integers(1, 7, n_rows),
            "ward": generator.choice(["n", "s", "w", "e"], n_rows),
            "status": generator.choice(["A11", "A12", "A14"], n_rows),
        }
    )
    y = (X.age > 50) * 2.0 + (X.ward == "n") * (X.rooms > 3) - (X.status == "A14")
    y += 0.3 * np.log(X.income) + generator.normal(0, 0.5, n_rows)
    for name in ("age", "income", "ward"):
        X[name] = X[name].where(generator.random(n_rows) > 0.1)
    if strange:
        X.loc[generator.random(n_rows) < 0.05, "ward"] = "never seen"
    return X, y.to_numpy()


def random_pipeline(generator):
    """A pipeline, and its description."""
    pick = generator.integers
    scaler = SCALERS[pick(len(SCALERS))]
    strategy = ("mean", "median", "most_frequent", "constant")[pick(4)]
    flags = bool(pick(2))
    numbers = [("fill", SimpleImputer(strategy=strategy, add_indicator=flags))]
    if scaler is not None:
        numbers.insert(pick(2), ("scale", scaler()))
    is_one_hot = bool(pick(2))
    if is_one_hot:
        encoder = OneHotEncoder(
            handle_unknown="ignore",
            drop=(None, "if_binary", "first")[pick(3)],
            min_frequency=(None, 0.27)[pick(2)],
            sparse_output=bool(pick(2)),
        )
    else:
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    texts = [("fill", SimpleImputer(strategy="most_frequent")), ("encode", encoder)]
    coded = ["ward", "status"] + ["rooms"] * bool(pick(2))
    columns = ColumnTransformer(
        [
            ("numbers", Pipeline(numbers), ["age", "income"]),
            ("texts", Pipeline(texts), coded),
        ],
        remainder="passthrough",
        sparse_threshold=(0.0, 0.9)[pick(2)],
    )
    name = list(MODELS)[pick(len(MODELS))]
    is_class = bool(pick(2))
    make = MODELS[name][0 if is_class else 1]
    accepted = make().get_params()
    settings = {key: value for key, value in FEW.items() if key in accepted}
    if name not in ("XGBoost", "LightGBM"):
        settings.pop("verbose", None)
    if name == "histogram boosting":
        columns.set_params(sparse_threshold=0.0)
    steps = [("columns", columns), ("model", make(random_state=0, **settings))]
    if pick(3) == 0:
        steps.insert(1, ("select", VarianceThreshold()))
    words = ", ".join(
        [
            "-" if scaler is None else scaler.__name__,
            f"{strategy} fill" + " with flags" * flags,
            "one-hot" if is_one_hot else "ordinal",
        ]
    )
    return Pipeline(steps), name, is_class, words


def next_to_cuts(X, ensemble, generator):
    """Rows that lie on the cuts, and on the adjacent numbers."""
    X, splits = X.copy(), ensemble.splits().numeric
    for d in np.unique(splits.feature):
        cuts = splits.cut[(splits.feature == d) & np.isfinite(splits.cut)]
        name = ensemble.features.names[d]
        if not len(cuts) or X[name].dtype.kind != "f":
            continue
        chosen = generator.choice(cuts, len(X))
        towards = generator.choice([-np.inf, np.inf], len(X))
        X[name] = np.where(
            generator.random(len(X)) < 0.3, chosen, np.nextafter(chosen, towards)
        )
    return X


def evaluate(seed):
    generator = np.random.default_rng(seed)
    X, y = table(N_ROWS, generator)
    pipeline, name, is_class, words = random_pipeline(generator)
    if is_class:
        y = np.digitize(y, np.quantile(y, [0.5, 0.8][: 1 + generator.integers(2)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(X, y)
        about = {
            "model": name,
            "task": "classes" if is_class else "values",
            "steps": words,
        }
        try:
            ensemble = cw.read_ensemble(pipeline)
        except ModelError as error:
            why = str(error).rpartition(": ")[2]
            return [about | dict.fromkeys(FOUND, 0) | {"asked_instead": why}]
        new = table(N_NEW, generator, strange=True)[0]
        parts = X, new, next_to_cuts(new, ensemble, generator)
        differ, off = [], 0.0
        for rows in parts:
            predicted, carried = pipeline.predict(rows), ensemble.predict(rows)
            if is_class:
                p, q = pipeline.predict_proba(rows), ensemble.predict_proba(rows)
                wrong = (predicted != carried) | (np.abs(p - q).max(axis=1) > 1e-6)
                off = max(off, float(np.abs(p - q).max()))
            else:
                wrong = ~np.isclose(predicted, carried, rtol=1e-6, atol=1e-9)
                off = max(
                    off, float((np.abs(predicted - carried) / np.ptp(predicted)).max())
                )
            differ.append(int(wrong.sum()))
    numbers = sum(map(len, parts)), *differ, off
    return [about | dict(zip(FOUND, numbers)) | {"asked_instead": ""}]


def main():
    options = arguments(__doc__)
    study = Study("black_boxes_pipelines", ("seed",), options)
    n_pipelines = 40 if options.quick else N_PIPELINES
    study.run({(seed,): partial(evaluate, seed) for seed in range(n_pipelines)})
    frame = study.frame()
    rows = [
        [
            name,
            f"{here.asked_instead.isna().sum()} of {len(here)}",
            f"{here.rows.sum():,}",
            *(int(here[c].sum()) for c in here if c.startswith("differ")),
            f"{here.largest_difference.max():.1e}",
        ]
        for name, here in frame.groupby("model")
    ]
    header = [
        "model", "in own columns", "rows", "differ: training", "new", "next to cuts",
        "largest difference",
    ]  # fmt: skip
    study.write_markdown(
        "Pipelines in the data's own columns",
        f"{len(frame)} random pipelines (imputation, scaling, one-hot and ordinal "
        "encoding, indicators of missing values, pass-through, selection) over tree "
        "ensembles. Each is read in the table's own columns and evaluated on its "
        "training rows, new rows with categories that were not in training, and rows "
        "on the cuts or on the adjacent float64 numbers. A row differs where the class "
        "does, or a number by more than a millionth. The largest difference is of "
        "probabilities, or of values relative to their range. Pipelines that cannot be "
        "expressed in the table's columns are read as black boxes.",
        markdown_table(header, rows),
        "Reasons where they cannot: "
        + "; ".join(
            f"{why} ({n})" for why, n in frame.asked_instead.value_counts().items()
        ),
    )


if __name__ == "__main__":
    main()
