"""Cost of an iteration of FAB over all rows, by storage, and on a cluster.

Usage: python -m benchmarks.scale.steps [--quick] [--fresh] [--folder FOLDER]

The rows are those of ``scale.tables``. A mixture of nine components, fitted to 5,000 of
them, is continued on all rows: they are coded once, and iterations read the codes.
``--folder`` is the folder for Parquet files. Every case runs in a fresh process; the
cluster is on this machine, with one thread per worker.
"""

import hashlib
import os
import pickle
import tempfile
import time
from contextlib import contextmanager
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
)
from benchmarks.scale.tables import N_COLUMNS, models_and_rules, rows_file

SIZES = (1_000_000, 10_000_000)
ENGINES = (
    "array", "memmap", "parquet", "dask", "1 worker", "2 workers", "4 workers",
)  # fmt: skip
OF_FILES = ("parquet", "1 worker", "2 workers", "4 workers")
"""Sources that are also measured with the largest table."""

N_ITERATIONS = 6
FAR = {"rows": 10**9, "workers": 100}
"""Size at which the model of costs is evaluated; each worker has its own core."""


def main():
    options = arguments(__doc__, {"folder": "folder for Parquet files"})
    study = Study("scale_steps", ["rows", "engine"], options)
    sizes = (100_000, SIZES[0]) if options.quick else SIZES
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or temporary
        cases = {
            (n, engine): partial(case, n, engine, folder)
            for n in sizes
            for engine in (ENGINES if n <= SIZES[0] else OF_FILES)
        }
        study.run(cases, warm=lambda: None)
    write_tables(study)


def case(n_rows, engine, folder):
    path = rows_file(Path(folder), n_rows)
    return [in_fresh_process(measure, str(path), engine)]


def measure(path, engine):
    """Seconds of coding and of an iteration, and of communication on a cluster."""
    from dataclasses import replace

    import clearwood as cw
    from clearwood.simplifiers.fab import estimators as fab_estimators
    from clearwood.simplifiers.fab.inference import fit_mixture

    model = models_and_rules()[0]
    sample = pd.read_parquet(rows_file(Path(path).parent, 5_000))
    X = sample.drop(columns="y")
    fab = cw.FABRulesClassifier(model, n_init=1, random_state=0).fit(X)
    training = fab._training(fab.ensemble_, X, None, np.ones(len(X))).in_one_order()
    problem, start = fab._problem(training), fab._best.fit
    reading = fab, training.take(slice(0)), problem.bins.used_features
    coded = fab_estimators._coded, *reading
    with opened(path, engine) as table:
        begin = time.perf_counter()
        with kept(table, engine, coded) as blocks:
            (total,) = blocks.map_sum(fab_estimators._weight_of)
            coding = time.perf_counter() - begin
            whole = replace(problem, blocks=blocks, total_weight=float(total))
            run = partial(
                fit_mixture, whole, start.parameters,
                start.counts * (total / problem.total_weight), tol=0.0, max_passes=0,
            )  # fmt: skip
            run(max_iter=1)
            begin = time.perf_counter()
            fit = run(max_iter=N_ITERATIONS)
            seconds = (time.perf_counter() - begin) / N_ITERATIONS
            parts = messages(whole, fit.parameters)
            sizes = [len(pickle.dumps(part)) for part in parts]
            nothing = seconds_of(blocks, _nothing)
            message = seconds_of(blocks, _of_size, sizes[1] // 8, bytes(sizes[0]))
    numbers = [np.asarray(part).tobytes() for part in fit.parameters[:3]]
    return {
        "coding": coding,
        "seconds": seconds,
        "nothing": nothing,
        "message": message,
        "bytes_out": sizes[0],
        "bytes_back": sizes[1],
        "peak_mb": memory("VmHWM"),
        "digest": hashlib.sha256(b"".join(numbers)).hexdigest()[:8],
    }


@contextmanager
def opened(path, engine):
    """The table in one of the forms, as blocks of rows."""
    from clearwood._tables import open_rows

    if engine in ("array", "memmap"):
        frame = pd.read_parquet(path)
        X, y = frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()
        if engine == "memmap":
            name = Path(path).with_suffix(".map")
            mapped = np.memmap(name, dtype="f8", mode="w+", shape=X.shape)
            mapped[:] = X
            X = mapped
        yield open_rows(X, y)
    elif engine == "parquet":
        yield open_rows(path, "y")
    elif engine == "dask":
        import dask
        import dask.dataframe as dd

        with dask.config.set(scheduler="threads", num_workers=1):
            yield open_rows(dd.read_parquet(path, split_row_groups=True), "y")
    else:
        import dask.dataframe as dd
        from distributed import Client, LocalCluster

        n_workers = int(engine.split()[0])
        with (
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
            ) as c,
            Client(c),
        ):
            yield open_rows(dd.read_parquet(path, split_row_groups=True), "y")


@contextmanager
def kept(table, engine, coded):
    """The coded rows: in memory for an array, otherwise in a table's own storage."""
    from clearwood._numeric import Blocks

    if engine == "array":
        yield Blocks(table.results(*coded))
        return
    with table.kept(*coded) as blocks:
        yield blocks


def messages(problem, parameters):
    """Messages to the workers in an iteration, and the result of a group of blocks."""
    from clearwood.simplifiers.fab import inference

    table = inference.statement_table(problem, parameters)
    n_components = len(parameters.share)
    sums = inference.Sums(
        np.ones_like(table), *np.ones((2, n_components)), np.ones((2, n_components))
    )
    out = table, parameters.share, problem_without_rows(problem), parameters.output
    return out, sums


def problem_without_rows(problem):
    """The part of a problem that is sent to workers."""
    from dataclasses import replace

    return replace(problem, blocks=None)


def seconds_of(blocks, function, *parameters):
    """Minimum of three times for a sum without computation."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        blocks.map_sum(function, *parameters)
        times.append(time.perf_counter() - begin)
    return min(times)


def _nothing(block):
    return (0.0,)


def _of_size(block, n_numbers, other):
    return (np.zeros(n_numbers),)


def write_tables(study):
    frame = study.frame()
    frame["rows"] = frame["rows"].astype(int)
    own = frame[frame["rows"] == min(SIZES[0], frame["rows"].max())]
    array = own[own["engine"] == "array"].iloc[0]
    rows = [
        [
            f"{row['rows']:,}",
            row["engine"],
            f"{row['coding']:.1f}",
            f"{row['seconds']:.3f}",
            f"{row['seconds'] / array['seconds']:.2f}"
            if row["rows"] == array["rows"]
            else "",
            f"{row['peak_mb']:,.0f}",
            row["digest"],
        ]
        for row in frame.to_dict("records")
    ]
    header = ["rows", "source", "coding once, s", "iteration, s"]
    header += ["relative to array", "peak MB", "parameters"]
    study.write_markdown(
        "Steps of FAB over tables larger than memory",
        f"Rows of {N_COLUMNS} columns, two classes, nine components. *Coding*: every "
        "row is read, the model predicts, and its bins are stored, in a file or in the "
        "memory of the workers. *Iteration*: one pass over the stored codes with all "
        "steps of Algorithm 1; for *array* the codes are in memory. *Parameters*: the "
        f"first digits of a sum of all parameters' bits after {N_ITERATIONS} "
        "iterations; equal digits mean bitwise equal results. Peak memory is that of "
        "the calling process without its workers; for array, memmap and dask it "
        "includes the frame from which the table was made. The cluster is on this "
        "machine "
        f"({os.cpu_count()} cores): more workers than cores are no faster.",
        markdown_table(header, rows),
        *cost_model(frame),
    )


def cost_model(frame):
    """Predicted and measured cost of an iteration on a cluster."""
    from clearwood._numeric.blocks import BLOCK_ROWS, GROUP_BLOCKS

    group_rows = BLOCK_ROWS * GROUP_BLOCKS
    clusters = frame[frame["engine"].str.contains("worker")]
    single = clusters[clusters["engine"] == "1 worker"].sort_values("rows")
    few, one = single.iloc[0], single.iloc[-1]
    n_groups = -(-single["rows"].to_numpy() // group_rows)
    # An empty iteration has a fixed cost and a cost per task.
    per_task = max((one["nothing"] - few["nothing"]) / np.ptp(n_groups), 0.0)
    at_once = one["nothing"] - n_groups[-1] * per_task
    n_bytes = n_groups[-1] * one["bytes_back"]
    per_byte = max(one["message"] - one["nothing"], 0.0) / n_bytes
    # The rest of an iteration is computation in the worker.
    per_block = (one["seconds"] - one["message"]) / (one["rows"] / BLOCK_ROWS)

    def model(n_rows, n_cores):
        groups = -(-n_rows // group_rows)
        # A core computes whole groups, all but the last of them full.
        work = min(-(-groups // n_cores) * GROUP_BLOCKS, n_rows / BLOCK_ROWS)
        talk = at_once + groups * (per_task + per_byte * one["bytes_back"])
        return work * per_block, talk

    rows = []
    for row in clusters.to_dict("records"):
        workers = int(row["engine"].split()[0])
        work, talk = model(row["rows"], min(workers, os.cpu_count()))
        rows.append(
            [f"{row['rows']:,}", str(workers), f"{work:.2f}", f"{talk:.2f}",
             f"{work + talk:.2f}", f"{row['seconds']:.2f}"]
        )  # fmt: skip
    work, talk = model(FAR["rows"], FAR["workers"])
    groups = -(-FAR["rows"] // group_rows)
    rows.append(
        [f"{FAR['rows']:,}", str(FAR["workers"]), f"{work:.1f}", f"{talk:.1f}",
         f"{work + talk:.1f}", "not measured"]
    )  # fmt: skip
    seconds = ["work, s", "communication, s", "model, s", "measured, s"]
    header = ["rows", "workers", *seconds]
    coding = one["coding"] / one["rows"] * FAR["rows"] / FAR["workers"]
    gigabytes = groups * one["bytes_back"] / 1e9
    held = FAR["rows"] * (N_COLUMNS + 24) / FAR["workers"] / 1e9
    return (
        "**A model of the cost of an iteration on a cluster.** From both runs with one "
        f"worker: {1e3 * per_block:.1f} ms of computation per block of "
        f"{BLOCK_ROWS:,} rows; {1e3 * at_once:.0f} ms per iteration and "
        f"{1e3 * per_task:.1f} ms per task, with one task for {GROUP_BLOCKS} blocks; "
        f"{one['bytes_back'] / 1e3:,.0f} kB are returned by each task, "
        f"{1e9 * per_byte:.1f} ns per byte, and {one['bytes_out'] / 1e3:,.0f} kB are "
        "sent to each worker once per iteration. Computation is divided among the "
        "workers that have their own core, communication is not: there is one "
        "scheduler and one client. "
        f"The model was not fitted to the other rows. With {FAR['rows']:,} rows on "
        f"{FAR['workers']} workers, coding takes about {coding:,.0f} s once, if files "
        f"are read as fast as here; each worker then stores {held:.1f} GB, and an "
        f"iteration sends {gigabytes:.1f} GB to the client.",
        markdown_table(header, rows),
    )


if __name__ == "__main__":
    main()
