"""Time of reading 1,000 trees of depth 8 and predicting, and of the native library.

Every file is measured in a separate process, for its memory. Models are fitted once
and kept in the folder for temporary files.
"""

import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks._data import gaussian_rows
from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
)

FOLDER = Path(tempfile.gettempdir()) / "clearwood-readers"
SUFFIX = {
    "XGBoost JSON": "xgboost.json",
    "XGBoost UBJSON": "xgboost.ubj",
    "LightGBM text": "lightgbm.txt",
    "CatBoost JSON": "catboost.json",
}
N_FEATURES = 30


def rows_of(n_rows, seed):
    """Rows with a tenth of the values missing, and labels."""
    X, y = gaussian_rows(n_rows, N_FEATURES, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    return X.astype(np.float32).astype(np.float64), y


def fitted(kind, n_trees):
    """Path of a model file, fitted if it does not exist."""
    path = FOLDER / str(n_trees) / SUFFIX[kind]
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    X, y = rows_of(20_000, 0)
    # Weak shrinkage of small leaves: full trees until the last round.
    if kind.startswith("XGBoost"):
        import xgboost

        settings = {"min_child_weight": 0, "reg_lambda": 0, "n_jobs": 1}
        model = xgboost.XGBClassifier(
            n_estimators=n_trees, max_depth=8, learning_rate=0.01, **settings
        ).fit(X, y)
        model.get_booster().save_model(path.with_suffix(".json"))
        model.get_booster().save_model(path.with_suffix(".ubj"))
    elif kind.startswith("LightGBM"):
        import lightgbm

        model = lightgbm.LGBMClassifier(
            n_estimators=n_trees, max_depth=8, num_leaves=256, learning_rate=0.01,
            min_child_samples=2, n_jobs=1, verbose=-1,
        ).fit(X, y)  # fmt: skip
        model.booster_.save_model(path)
    else:
        import catboost

        model = catboost.CatBoostClassifier(
            iterations=n_trees, depth=8, thread_count=2, verbose=False,
            allow_writing_files=False,
        ).fit(X, y)  # fmt: skip
        model.save_model(str(path), format="json")
    return path


def loaded_natively(kind, path):
    """The model as read by the library, and its function for raw scores."""
    if kind.startswith("XGBoost"):
        import xgboost

        booster = xgboost.Booster(model_file=path, params={"nthread": 1})
        return lambda X: booster.inplace_predict(X, predict_type="margin")
    if kind.startswith("LightGBM"):
        import lightgbm

        booster = lightgbm.Booster(model_file=path)
        return lambda X: booster.predict(X, raw_score=True, num_threads=1)
    import catboost

    model = catboost.CatBoostClassifier().load_model(str(path), format="json")
    return lambda X: model.predict(X, prediction_type="RawFormulaVal", thread_count=1)


def loaded_here(_, path):
    """Our own reader."""
    import clearwood as cw

    return cw.read_ensemble(path).raw_scores


LOADERS = {"native": loaded_natively, "clearwood": loaded_here}


def measure(who, kind, path, n_rows):
    """CPU seconds and memory of reading and predicting; runs in a child process."""
    load = LOADERS[who]
    # A small model first, so that imports are not timed.
    X, _ = rows_of(n_rows, 1)
    load(kind, fitted(kind, 5))(X[:10])
    before = memory("VmRSS")
    begin = time.process_time()
    predict = load(kind, Path(path))
    reading = time.process_time() - begin
    rise = memory("VmHWM") - before
    kept = memory("VmRSS") - before
    predicting = []
    for _ in range(3):
        begin = time.process_time()
        predict(X)
        predicting.append(time.process_time() - begin)
    return reading, rise, kept, min(predicting)


def case(who, kind, n_trees, n_rows):
    """One row of the table."""
    path = fitted(kind, n_trees)
    fitted(kind, 5)
    reading, rise, kept, predicting = in_fresh_process(
        measure, who, kind, str(path), n_rows
    )
    size = path.stat().st_size
    return [
        {
            "file_mb": size / 1e6,
            "read_s": reading,
            "peak_mb": rise,
            "kept_mb": kept,
            "predict_s": predicting,
        }
    ]


def main():
    """Measure missing cases and write the page."""
    options = arguments(__doc__)
    n_trees, n_rows = (100, 10_000) if options.quick else (1000, 100_000)
    study = Study("readers_speed", ["kind", "who"], options)
    study.run(
        {
            (kind, who): lambda who=who, kind=kind: case(who, kind, n_trees, n_rows)
            for kind in SUFFIX
            for who in LOADERS
        }
    )
    frame = study.frame().set_index(["kind", "who"])
    table = []
    for kind in SUFFIX:
        ours, native = frame.loc[(kind, "clearwood")], frame.loc[(kind, "native")]
        table.append(
            [
                kind, f"{ours.file_mb:.1f}",
                ours.read_s, native.read_s, ours.read_s / native.read_s,
                f"{ours.peak_mb:.0f} ({ours.peak_mb / ours.file_mb:.1f})",
                f"{native.peak_mb:.0f} ({native.peak_mb / native.file_mb:.1f})",
                f"{ours.kept_mb:.0f}",
                ours.predict_s, native.predict_s, ours.predict_s / native.predict_s,
            ]
        )  # fmt: skip
    header = [
        "file", "MB", "read, s", "native", "ratio", "peak memory, MB (x file)",
        "native", "kept, MB", "predict, s", "native", "ratio",
    ]  # fmt: skip
    study.write_markdown(
        f"Reading {n_trees:,} trees of depth 8; raw scores of {n_rows:,} rows",
        "CPU seconds; of predictions the best of three. Ratios are ours over "
        "native; below 1 we are faster. Peak memory is the increase "
        "while reading, *kept* the increase afterwards. Both predict from a matrix "
        "in memory on one thread. " + ", ".join(f"{n} {version(n)}" for n in NATIVE),
        markdown_table(header, table),
    )


NATIVE = ("lightgbm", "catboost", "xgboost-cpu")

if __name__ == "__main__":
    main()
