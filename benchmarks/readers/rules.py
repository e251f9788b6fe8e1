"""FAB rules for a model of each library on real data, read from its file.

Five random splits per case: three quarters of the rows train the model and the rules,
both are evaluated on the others. crx has text columns and missing values.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import clearwood as cw
from benchmarks._data import SHARED
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd

LIBRARIES = ("XGBoost", "LightGBM", "CatBoost")
TARGETS = {"energy": "heating_load", "spambase": "target", "crx": "target"}
COUNTS = ("distinct", "all")
N_SEEDS = 5


def table(name):
    """Frame of features, text as categories, and a numeric target."""
    frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    y = frame.pop(TARGETS[name])
    frame = frame.drop(columns="cooling_load", errors="ignore")
    text = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    if name == "crx":
        y = (y == "+").astype(int)
    return frame.astype(dict.fromkeys(text, "category")), y.to_numpy()


def fitted(library, X, y, task, seed):
    """A model with default settings, but at most 200 trees and one thread."""
    kind = "Classifier" if task == "classification" else "Regressor"
    if library == "XGBoost":
        import xgboost

        make = getattr(xgboost, f"XGB{kind}")
        return make(n_estimators=100, n_jobs=1, enable_categorical=True).fit(X, y)
    if library == "LightGBM":
        import lightgbm

        make = getattr(lightgbm, f"LGBM{kind}")
        return make(n_estimators=100, n_jobs=1, verbose=-1, random_state=seed).fit(X, y)
    import catboost

    text = X.select_dtypes("category").columns.tolist()
    return getattr(catboost, f"CatBoost{kind}")(
        iterations=200, thread_count=1, verbose=False, random_seed=seed,
        allow_writing_files=False, one_hot_max_size=255, cat_features=text,
    ).fit(X, y)  # fmt: skip


def as_library_reads(library, X):
    """CatBoost refuses missing categories: they become a separate category."""
    if library != "CatBoost":
        return X
    text = X.select_dtypes("category").columns
    return X.assign(**{c: X[c].astype(object).fillna("none") for c in text}).astype(
        dict.fromkeys(text, "category")
    )


def saved(library, model, folder):
    """Path of the model's file."""
    path = Path(folder) / {"XGBoost": "m.ubj", "LightGBM": "m.txt"}.get(
        library, "m.json"
    )
    if library == "XGBoost":
        model.save_model(path)
    elif library == "LightGBM":
        model.booster_.save_model(path)
    else:
        model.save_model(str(path), format="json")
    return path


def case(library, name, counts, seed):
    """Scores of model and rules on held-out rows, and the rules themselves."""
    X, y = table(name)
    X = as_library_reads(library, X)
    task = "regression" if name == "energy" else "classification"
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=0.75, random_state=seed
    )
    model = fitted(library, X_train, y_train, task, seed)
    with tempfile.TemporaryDirectory() as folder:
        ensemble = cw.read_ensemble(saved(library, model, folder))
    predicted = np.ravel(model.predict(X_test))
    if not np.array_equal(ensemble.predict(X_test), predicted.astype(float)):
        worst = np.abs(ensemble.predict(X_test) - predicted).max()
        print(f"    native predictions differ by up to {worst:.3g}")
    rules = cw.simplify(
        ensemble,
        X_train,
        y_train,
        method="fab",
        random_state=seed,
        statement_counts=counts,
    )
    scores = rules.evaluate(X_test, y_test, model=ensemble)
    wrong = (
        (predicted != y_test) if task == "classification" else (predicted - y_test) ** 2
    )
    return [
        {
            "ensemble_error": float(np.mean(wrong)),
            "n_splits": ensemble.n_splits,
            **scores.as_dict(),
            "rules": str(rules) if seed == 0 else "",
        }
    ]


def main():
    """Run missing cases and write the page."""
    options = arguments(__doc__)
    seeds = range(1 if options.quick else N_SEEDS)
    keys = ["data", "library", "statement_counts", "seed"]
    study = Study("readers_rules", keys, options)
    study.run(
        {
            (name, lib, counts, seed): partial(case, lib, name, counts, seed)
            for name in TARGETS
            for lib in LIBRARIES
            for counts in COUNTS
            for seed in seeds
        }
    )
    frame = study.frame()
    rows = []
    for key, part in frame.groupby(keys[:3], sort=False):
        columns = ("error", "fidelity", "coverage", "overlap", "n_rules", "n_literals")
        means = [mean_and_sd(part[column]) for column in columns]
        before = [mean_and_sd(part.ensemble_error), int(part.n_splits.mean())]
        rows.append([*key, *before, *means])
    header = ["data", "library", "statement_counts", "error of the model", "splits",
              "error of the rules", "fidelity", "coverage", "overlap", "lines",
              "literals"]  # fmt: skip
    first = frame[frame.seed == "0"]
    printed = [
        f"### {r.data}, {r.library}, statement_counts={r.statement_counts!r}\n\n"
        f"```\n{r.rules}\n```"
        for r in first.itertuples()
    ]
    study.write_markdown(
        "FAB rules for models of XGBoost, LightGBM and CatBoost, from their files",
        'Default settings of `simplify(..., method="fab")`, and '
        'statement_counts="all"; mean ± standard '
        f"deviation over {len(seeds)} random splits. *Error* is the misclassification "
        "rate, for energy the mean squared error; *fidelity* is agreement with the "
        "model, for energy R2. On crx one binary feature has most of the information; "
        "if every split counts once, the many thresholds of numeric features outweigh "
        "it.",
        markdown_table(header, rows),
        "## The rules of the first split",
        *printed,
    )


if __name__ == "__main__":
    main()
