"""Time and memory for tables that are larger than memory.

Usage: python -m benchmarks.scale.tables [--quick] [--fresh] [--folder FOLDER]
       python -m benchmarks.scale.tables [--quick] [--fresh] --memory

With ``--memory`` no file is read: it measures the memory of `predict` in addition to a
table in memory and the predictions, and writes a separate page (`scale_memory`).

Simulated rows of 28 columns are written to a Parquet file (2.4 GB at ten million rows)
in ``--folder``. Every case runs in a fresh process, for its memory.
"""

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
    reset_peak,
)

N_COLUMNS, GROUP_ROWS = 28, 100_000
SIZES = (100_000, 1_000_000, 10_000_000)
VERBS = ("describe", "predict", "simplify", "fab", "meta-tree", "meta-tree predicts")
COUNTED = ("describe", "meta-tree")
"""Operations on every form of a table, over all rows."""
ENGINES = ("parquet", "array", "dask")
MOST_IN_MEMORY = 1_000_000
PREDICTING = ("list", "sum", "meta-tree", "labels of a meta-tree")
FORMS = ("array", "frame")


def main():
    texts = {"folder": "folder for Parquet files"}
    options = arguments(__doc__, texts, memory="measure the memory of predict only")
    if options.memory:
        return memory_of_predict(options)
    study = Study("scale_tables", ["verb", "engine", "rows"], options)
    sizes = SIZES[: 2 if options.quick else None]
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        cases = {
            (verb, engine, n): partial(case, verb, engine, n, folder)
            for n in sizes
            for verb in VERBS
            for engine in ENGINES
            if engine == "parquet" or (n <= MOST_IN_MEMORY and verb in COUNTED)
        }
        study.run(cases, warm=lambda: None)
    write_tables(study)


def case(verb, engine, n_rows, folder):
    """Seconds and peak memory of one operation on one form of the table."""
    path = rows_file(Path(folder), n_rows)
    in_fresh_process(measure, verb, engine, str(rows_file(Path(folder), 2_000)))
    return [in_fresh_process(measure, verb, engine, str(path))]


def rows_file(folder, n_rows):
    """A file of ``n_rows`` rows, written in groups if it does not exist."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"rows-{n_rows}.parquet"
    if path.exists():
        return path
    unfinished = path.with_suffix(".part")
    writer = None
    for first in range(0, n_rows, GROUP_ROWS):
        frame = some_rows(min(GROUP_ROWS, n_rows - first), seed=first)
        group = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(unfinished, group.schema)
        writer.write_table(group)
    writer.close()
    return unfinished.rename(path)


def some_rows(n_rows, seed):
    """Rows of 28 columns, and a class that depends on five of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) - X[:, 4]
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_COLUMNS)])
    return frame.assign(y=(signal + rng.normal(size=n_rows) > 0.8).astype(int))


def measure(verb, engine, path):
    """One operation, in a separate process."""
    import clearwood as cw

    model, rules, tree = models_and_rules()
    frame = None
    if engine == "array":
        frame = pd.read_parquet(path)
        X, y = frame.drop(columns="y"), frame["y"]
    elif engine == "dask":
        import dask
        import dask.dataframe as dd

        dask.config.set(scheduler="threads", num_workers=1)
        X, y = dd.read_parquet(path), "y"
    else:
        X, y = path, "y"
    before = memory("VmHWM")
    begin, cpu = time.perf_counter(), time.process_time()
    if verb in ("simplify", "fab"):
        method = "list" if verb == "simplify" else "fab"
        gave = cw.simplify(model, X, y, method=method, random_state=0).n_rows
    elif verb == "meta-tree":
        tree = cw.MetaTreeClassifier(random_state=0).fit(X, y)
        gave = int(tree.meta_tree_.rows.sum())
    elif verb == "meta-tree predicts":
        gave = len(tree.predict_proba(X))
    elif verb == "describe":
        gave = rules.described_on(X, y, model=model).n_rows
    else:
        gave = len(rules.predict(X))
    return {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak_mb": memory("VmHWM"),
        "before_mb": before,
        "counted": gave,
    }


def memory_of_predict(options):
    """Measure the memory of predictions in addition to the table and the result."""
    study = Study("scale_memory", ["model", "form", "rows"], options)
    study.command += " --memory"
    sizes = SIZES[: 2 if options.quick else None]
    keys = [(m, form, n) for m in PREDICTING for form in FORMS for n in sizes]
    study.run(
        {
            key: lambda key=key: [in_fresh_process(additional_memory, *key)]
            for key in keys
        },
        warm=lambda: None,
    )
    header = [
        "model",
        "table",
        "rows",
        "table, MB",
        "predictions, MB",
        "additional, MB",
    ]
    rows = [
        [model, form, f"{int(n):,}", *(f"{float(size):,.1f}" for size in sizes)]
        for model, form, n, *sizes in map(dict.values, study.rows())
    ]
    study.write_markdown(
        "Memory of predictions in addition to the table and the result",
        f"Rows of {N_COLUMNS} columns in memory, models of 8 rules or of a tree for "
        "5,000 rows. *Additional* is the peak memory of the process while it predicts, "
        "minus its memory before and minus the predictions.",
        markdown_table(header, rows),
    )


def additional_memory(name, form, n_rows):
    """Memory in MB: of a table, of its predictions, and in addition to both."""
    import clearwood as cw

    rows = some_rows(5_000, seed=0)
    X, y = rows.drop(columns="y"), rows["y"]
    names, X = list(X), X if form == "frame" else X.to_numpy()
    if "meta-tree" in name:
        model = cw.MetaTreeClassifier(random_state=0).fit(X, y)
    else:
        make = {"list": cw.RuleListClassifier, "sum": cw.AdditiveRulesClassifier}[name]
        model = make(max_rules=8, random_state=0).fit(X[:1000], y[:1000])
    predict = model.predict_proba if name == "meta-tree" else model.predict
    table = np.tile(np.asarray(X), (n_rows // len(X), 1))
    if form == "frame":
        table = pd.DataFrame(table, columns=names, copy=False)
    predict(table[:5_000])
    before = memory("VmRSS")
    reset_peak()
    predictions = predict(table)
    return {
        "table_mb": n_rows * N_COLUMNS * 8 / 1e6,
        "answers_mb": predictions.nbytes / 1e6,
        "beside_mb": memory("VmHWM") - before - predictions.nbytes / 1e6,
    }


def models_and_rules():
    """A model of 5,000 rows, a rule list fitted to it, and a meta-tree."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    import clearwood as cw

    frame = some_rows(5_000, seed=-1 % 2**31)
    X, y = frame.drop(columns="y"), frame["y"]
    model = HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(X, y)
    ensemble = cw.read_ensemble(model)
    rules = cw.simplify(ensemble, X[:1000], y[:1000], max_rules=8)
    return ensemble, rules, cw.MetaTreeClassifier(random_state=0).fit(X, y)


def write_tables(study):
    rows = [
        [
            row["verb"],
            row["engine"],
            f"{int(row['rows']):,}",
            f"{float(row['seconds']):.1f}",
            f"{float(row['cpu']):.1f}",
            f"{float(row['peak_mb']):,.0f}",
        ]
        for row in study.rows()
    ]
    header = ["operation", "source", "rows", "seconds", "CPU seconds", "peak MB"]
    study.write_markdown(
        "Tables larger than memory",
        f"Rows of {N_COLUMNS} columns; gradient boosting of 50 trees. `simplify` "
        "searches on 200,000 of the rows and computes statistics on all; `describe` "
        "computes the statistics of a list of 8 rules, with predictions of the model "
        "for every row; `predict` uses the rules only. `fab` is `simplify` with that "
        "method; `meta-tree` grows its tree, which is as large as the rows allow, on "
        "200,000 rows and learns from all, `meta-tree predicts` is one of 5,000 rows. "
        "`array`: a frame in memory, whose reading is not timed (its meta-tree is "
        "grown on all rows); `dask`: one thread.",
        markdown_table(header, rows),
    )


if __name__ == "__main__":
    main()
