"""Time and memory of FAB, in fresh processes where memory counts."""

import pickle
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._data import gaussian_rows
from benchmarks._study import in_fresh_process, memory, reset_peak, seconds

K = 10


def problem_of(model, X):
    """Target of FAB, from a model's probabilities, and the codes of all features."""
    from clearwood import read_ensemble
    from clearwood.rules import FeatureBins
    from clearwood.simplifiers.fab.inference import make_problem
    from clearwood.simplifiers.fab.outputs import MultinomialOutput

    ensemble = read_ensemble(model)
    bins = FeatureBins.from_ensemble(
        ensemble, missing_seen=np.zeros(X.shape[1], dtype=bool)
    )
    codes = bins.transform(X)
    target = ensemble.predict_proba(X)
    return make_problem(codes, target, np.ones(len(X)), bins, MultinomialOutput(2))


def tree_growth(n_trees):
    """Seconds per iteration for forests that have nearly all cuts in common."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = gaussian_rows(5000, 28, seed=0)
    X = np.round(4 * X) / 4
    forest = RandomForestClassifier(n_trees, max_leaf_nodes=200, random_state=0)
    forest.fit(X, y)
    begin = time.perf_counter()
    problem = problem_of(forest, X)
    return {
        "splits": sum(t.tree_.node_count // 2 for t in forest.estimators_),
        "L": int(problem.bins.n_statements),
        "read, encode, predict (s)": time.perf_counter() - begin,
        "iteration (ms)": 1000 * iteration_seconds(problem),
    }


def row_growth(n_rows):
    """One restart and one iteration on that many rows, in a fresh process."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=300, random_state=0)
    return cost_of_fresh_rows(model.fit(*gaussian_rows(5000, 28, seed=0)), n_rows)


def cost_of_fresh_rows(model, n_rows):
    """Time and memory of FAB on new rows, in a process that did nothing else."""
    from clearwood import read_ensemble
    from clearwood.rules import FeatureBins

    ensemble = read_ensemble(model)
    n_features = model.n_features_in_
    seen = np.zeros(n_features, dtype=bool)
    bins = FeatureBins.from_ensemble(ensemble, missing_seen=seen)
    codes, target = [], []
    for seed in range(n_rows // 5000):
        X, _ = gaussian_rows(5000, n_features, seed=1000 + seed)
        codes.append(bins.transform(X))
        target.append(ensemble.predict_proba(X))
    with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
        pickle.dump((bins, np.concatenate(codes), np.concatenate(target)), file)
        file.flush()
        return in_fresh_process(measure, file.name)


def measure(path):
    """In the fresh process: time and memory for the arrays in a file."""
    from clearwood.simplifiers.fab.inference import make_problem
    from clearwood.simplifiers.fab.outputs import MultinomialOutput

    bins, codes, target = pickle.loads(Path(path).read_bytes())
    weight, output = np.ones(len(codes)), MultinomialOutput(target.shape[1])
    few = slice(99)
    iteration_seconds(make_problem(codes[few], target[few], weight[few], bins, output))

    reset_peak()
    before, begin = memory("VmRSS"), time.perf_counter()
    problem = make_problem(codes, target, weight, bins, output)
    built = time.perf_counter() - begin
    measures = {"L": int(bins.n_statements), "build problem (s)": built}
    measures |= restart_seconds(problem)
    measures["iteration (s)"] = iteration_seconds(problem)
    measures["codes and target (MB)"] = (codes.nbytes + target.nbytes) / 1e6
    measures["memory before (MB)"] = before
    measures["rise of memory (MB)"] = memory("VmHWM") - before
    measures["peak memory (MB)"] = memory("VmHWM")
    return measures


def iteration_seconds(problem, n_iterations=5):
    """Seconds per iteration with K fixed: EM, which is FAB with one pass."""
    from clearwood.simplifiers.fab.inference import fit_mixture
    from clearwood.simplifiers.fab.restarts import random_start

    start, counts = random_start(problem, K, np.random.default_rng(0))
    options = {"truncate": False, "tol": -1.0, "max_iter": n_iterations}
    run = partial(fit_mixture, problem, start, counts, **options)
    return seconds(run, enough=1.0) / n_iterations


def restart_seconds(problem):
    """A restart with the estimator's settings."""
    from clearwood.simplifiers.fab.inference import fit_mixture
    from clearwood.simplifiers.fab.restarts import random_start

    start, counts = random_start(problem, K, np.random.default_rng(0))
    begin = time.perf_counter()
    fit = fit_mixture(
        problem, start, counts, tol=1e-6 * problem.total_weight, inner_tol=1e-8,
        max_passes=1000,
    )  # fmt: skip
    return {
        "restart (s)": time.perf_counter() - begin,
        "iterations": len(fit.history),
        "passes": sum(step.n_passes for step in fit.history),
        "K left": len(fit.components),
    }
