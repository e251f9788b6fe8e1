"""Damaged files in the libraries' own loaders, each in a forked process."""

import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections import Counter

import numpy as np

PATIENCE = 10.0
MOST_MEMORY = 4 * 2**30
REFUSED = 3


def outcomes(format, pairs):
    """Counts of outcomes, from a process that has loaded only one library."""
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe()
    server = context.Process(target=serve, args=(format, list(pairs), end))
    server.start()
    result = pipe.recv()
    server.join()
    return result


def serve(format, pairs, pipe):
    load = {
        "xgboost json": xgboost_predicts,
        "xgboost ubjson": xgboost_predicts,
        "lightgbm text": lightgbm_predicts,
        "catboost json": catboost_predicts,
    }[format]
    __import__(format.split()[0])
    counts, slowest, memory = Counter(), 0.0, 0
    crashing = Counter()
    for kind, data in pairs:
        begin = time.perf_counter()
        outcome, peak = in_fork(load, data)
        slowest = max(slowest, time.perf_counter() - begin)
        memory = max(memory, peak)
        counts[outcome.partition(" ")[0]] += 1
        if outcome.startswith(("crash", "hang")):
            crashing[outcome, kind] += 1
    pipe.send((counts, crashing, slowest, memory))


def in_fork(load, data):
    """``refused``, ``accepted``, ``crash ...`` or ``hang``; and peak memory in
    bytes."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            load(data)
        except BaseException:
            os._exit(REFUSED)
        os._exit(0)
    end = time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.001)
    else:
        os.kill(child, signal.SIGKILL)
        usage = os.wait4(child, 0)[2]
        return "hang", usage.ru_maxrss * 1024
    if os.WIFSIGNALED(status):
        outcome = f"crash {signal.Signals(os.WTERMSIG(status)).name}"
    else:
        code = os.WEXITSTATUS(status)
        outcome = {0: "accepted", REFUSED: "refused"}.get(code, f"crash exit {code}")
    return outcome, usage.ru_maxrss * 1024


def xgboost_predicts(data):
    import xgboost

    model = xgboost.Booster(params={"nthread": 1})
    model.load_model(bytearray(data))
    n = model.num_features()
    for value in (0.0, 1.0, np.nan):
        model.inplace_predict(np.full((2, n), value), validate_features=False)


def lightgbm_predicts(data):
    import lightgbm

    text = data.decode("utf-8", "replace")
    model = lightgbm.Booster(model_str=text, params={"num_threads": 1, "verbose": -1})
    for value in (0.0, 1.0, np.nan):
        model.predict(np.full((2, model.num_feature()), value), num_threads=1)


def catboost_predicts(data):
    import catboost

    model = catboost.CatBoost()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        model.load_model(file.name, format="json")
    names = model.feature_names_
    categorical = set(model.get_cat_feature_indices())
    for value in (0.0, 1.0, np.nan):
        row = ["x" if i in categorical else value for i in range(len(names))]
        pool = catboost.Pool(
            [row, row], cat_features=sorted(categorical), feature_names=names
        )
        model.predict(pool, prediction_type="RawFormulaVal", thread_count=1)
