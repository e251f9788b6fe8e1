"""Time and memory of FAB on bins, and how both grow.

Usage: python -m benchmarks.fab.speed [--quick] [--fresh]

One thread everywhere. Each measurement is a row (part, case, measure, value) of
results/fab_speed.csv; results/fab_speed.md has one table per part.
"""

import time
from functools import partial

import numpy as np

from benchmarks._data import SIZES_2018, gaussian_rows, load, make_model
from benchmarks._study import Study, arguments, markdown_table, seconds
from benchmarks.fab.dense import (
    FORMULAS,
    Model,
    eta_one_product,
    fit_dense,
    log_joint_one_product,
)
from benchmarks.fab.growth import (
    K,
    cost_of_fresh_rows,
    problem_of,
    row_growth,
    tree_growth,
)
from benchmarks.fab.start_up import start_times

SHAPES = {60: (8, 10, 7), 1800: (28, 100, 19), 12600: (50, 100, 127)}
"""L -> features, trees, leaves per tree; nearly all splits are distinct."""

DENSE_LIMIT = 6e9
"""Bytes above which the dense matrix is not built."""

TITLES = {
    "E-step": (
        "Log joint density and responsibilities, milliseconds. Bins: logs, table of "
        "prefix sums, look-ups. Dense: logs, one BLAS product with the float64 "
        "matrix of statements, whose construction is not timed. K = 10."
    ),
    "M-step": (
        "eta from the responsibilities, milliseconds. Bins: histogram, prefix sums. "
        "Dense: one BLAS product."
    ),
    "restart": (
        "One whole restart, K = 10. Memory of a fresh process: before the problem is "
        "built (imports, compiled code, codes), and the rise to the peak. Target: "
        "under 5 s and 300 MB."
    ),
    "spambase": (
        "20 restarts on Spambase (1,000 rows, forest of 100 trees, K = 10, the "
        "update order of the authors' program, same starts) on bins; with the dense "
        "formulas of the program (1 - S and two products per component and "
        "evaluation); and with dense formulas of one product. Target: 25 times "
        "faster than the program's formulas."
    ),
    "rows": (
        "Growth with the number of rows, 28 features. Iteration: E-step with one "
        "pass, M-step, bound, no components dropped, K = 10. Restart: paper's order. "
        "Memory as above."
    ),
    "trees": (
        "Growth with the number of trees at a nearly fixed number of cuts (forest on "
        "features rounded to quarters, 5,000 rows, 28 features). Iteration as above."
    ),
    "start": (
        "Wall time of fresh interpreters, median of 15; imports without the time of an "
        "empty interpreter. Targets: import under 1.2 times numpy and scipy, "
        "help under 0.3 s."
    ),
}


def main():
    options = arguments(__doc__)
    study = Study("fab_speed", ["part", "case"], options)
    cases = {k: partial(long_form, f) for k, f in all_cases(options.quick).items()}
    study.run(cases)
    frame, parts = study.frame(), []
    for part, text in TITLES.items():
        rows = frame[frame["part"] == part]
        if len(rows):
            table = rows.pivot_table("value", "case", "measure", sort=False)
            header = [part, *table.columns]
            body = [[case, *values] for case, values in zip(table.index, table.values)]
            parts += [f"## {part}\n\n{text}", markdown_table(header, body)]
    study.write_markdown("Time and memory of FAB on bins", *parts)


def all_cases(quick):
    """(part, case) -> function giving a dict of measures."""
    cases = {}
    for part, step in (("E-step", e_step), ("M-step", m_step)):
        for n_statements in SHAPES:
            for n_rows in (1000, 5000) if quick else (1000, 5000, 50000):
                name = f"N = {n_rows:,}, L = {n_statements:,}"
                cases[part, name] = partial(step, n_rows, n_statements)
    cases["restart", "N = 5,000, D = 50, L = 12,600"] = restart
    n_init = 2 if quick else 20
    cases["spambase", f"{n_init} restarts"] = partial(spambase, n_init)
    for n_rows in (10**4, 10**5) if quick else (10**4, 10**5, 10**6):
        cases["rows", f"N = {n_rows:,}"] = partial(row_growth, n_rows)
    for n_trees in (100, 300) if quick else (100, 300, 1000):
        cases["trees", f"{n_trees:,} trees"] = partial(tree_growth, n_trees)
    cases["start", "fresh interpreter"] = partial(start_times, 3 if quick else 15)
    return cases


def long_form(measure):
    return [{"measure": name, "value": value} for name, value in measure().items()]


def forest_of(n_statements, seed=0):
    """A forest with about that many inner nodes."""
    from sklearn.ensemble import RandomForestClassifier

    n_features, n_trees, n_leaves = SHAPES[n_statements]
    forest = RandomForestClassifier(n_trees, max_leaf_nodes=n_leaves, random_state=seed)
    return forest.fit(*gaussian_rows(5000, n_features, seed))


def restart():
    return cost_of_fresh_rows(forest_of(12600), 5000)


def dense_statements(problem):
    """S as float64, rows as in the problem."""
    codes, *_ = problem.blocks.gather()
    full = np.zeros((len(codes), problem.bins.features.n_features), dtype=codes.dtype)
    full[:, np.unique(problem.bins.statements.feature)] = codes
    statements = problem.bins.statements
    # All features are numeric and complete here.
    return (full[:, statements.feature] >= statements.first_true).astype(np.float64)


def compared(bins, dense, n_rows, n_statements):
    measures = {"L": n_statements, "bins (ms)": 1000 * seconds(bins)}
    if 8.0 * n_rows * n_statements > DENSE_LIMIT:
        print(f"    dense left out: above {DENSE_LIMIT:.0e} bytes")
        return measures
    dense = dense()
    measures["dense (ms)"] = 1000 * seconds(dense)
    measures["ratio"] = measures["dense (ms)"] / measures["bins (ms)"]
    return measures


def e_step(n_rows, n_statements):
    """Both sides use the same kernel for the responsibilities."""
    from clearwood._kernels import fab as _kernels
    from clearwood.simplifiers.fab.inference import with_log_joint
    from clearwood.simplifiers.fab.restarts import random_start

    X, _ = gaussian_rows(n_rows, SHAPES[n_statements][0], seed=1)
    problem = problem_of(forest_of(n_statements), X)
    start, counts = random_start(problem, K, np.random.default_rng(0))
    penalty = problem.omega / (counts + 1)

    def bins():
        rows = with_log_joint(problem, start)
        return [_kernels.responsibilities(part.log_joint, penalty) for part in rows]

    def make_dense():
        S, (_, y, _) = dense_statements(problem), problem.blocks.gather()
        eta, alpha, gamma = start.true_probability, start.share, start.output[0]
        model = Model(eta, alpha, gamma)

        def dense():
            log_joint = log_joint_one_product(S, y, model)
            return _kernels.responsibilities(log_joint, penalty)

        np.testing.assert_allclose(np.concatenate(bins()), dense(), atol=1e-6)
        return dense

    return compared(bins, make_dense, n_rows, int(problem.bins.n_statements))


def m_step(n_rows, n_statements):
    from clearwood._kernels import fab as _kernels

    X, _ = gaussian_rows(n_rows, SHAPES[n_statements][0], seed=1)
    problem = problem_of(forest_of(n_statements), X)
    sizes = [len(rows.weight) for rows in problem.blocks]
    beta = np.random.default_rng(0).dirichlet(np.ones(K), size=sum(sizes))
    parts = np.split(beta, np.cumsum(sizes)[:-1])

    def bins():
        histogram = np.zeros((int(problem.bins.n_bins.sum()), K))
        for (codes, _, weight), part in zip(problem.blocks, parts):
            mass = part * weight[:, None]
            _kernels.add_to_histogram(histogram, codes, problem.bin_start, mass)
        true_mass, _ = problem.bins.mass_of_statements(histogram)
        return true_mass / beta.sum(axis=0)

    def make_dense():
        S = dense_statements(problem)
        weight = problem.blocks.gather()[2]
        if (weight == 1).all():
            np.testing.assert_allclose(bins(), eta_one_product(S, beta), atol=1e-9)
        return lambda: eta_one_product(S, beta)

    return compared(bins, make_dense, n_rows, int(problem.bins.n_statements))


def spambase(n_init):
    from tests.simplifiers.fab import reference

    from clearwood._numeric import spawn_generators
    from clearwood.simplifiers.fab.inference import fit_mixture
    from clearwood.simplifiers.fab.restarts import random_start

    X, y, *_ = load("spambase", 0, SIZES_2018["spambase"])
    problem = problem_of(make_model("forest", True, 0).fit(X, y), X)
    starts = []
    for generator in spawn_generators(0, n_init):
        start, counts = random_start(problem, K, generator)
        beta = reference.random_responsibility(problem, K, generator)
        starts.append((start, counts, beta))
    fit_mixture(problem, *starts[0][:2], max_iter=2)  # loads

    begin = time.perf_counter()
    fits = [reference.fit_reference(problem, s, b) for s, _, b in starts]
    on_bins = time.perf_counter() - begin
    begin = time.perf_counter()
    tolerance = 1e-6 * problem.total_weight
    for start, counts, _ in starts:
        fit_mixture(
            problem, start, counts, tol=tolerance, inner_tol=1e-8, max_passes=1000
        )
    paper = time.perf_counter() - begin

    # The dense formulas see every row; equal rows start alike and stay alike.
    merged = problem.blocks.gather()
    repeat = np.repeat(np.arange(len(merged[2])), merged[2].astype(int))
    S, soft = dense_statements(problem)[repeat], merged[1][repeat]
    measures = {
        "rows": len(repeat),
        "rows after merging": len(merged[2]),
        "L": int(problem.bins.n_statements),
        "iterations": sum(len(fit.history) for fit in fits),
        "bins (s)": on_bins,
        "bins, paper's order (s)": paper,
    }
    for name, formulas in FORMULAS.items():
        begin, differences, iterations = time.perf_counter(), [], 0
        for fit, (start, _, beta) in zip(fits, starts):
            model = Model(start.true_probability, start.share, start.output[0])
            bounds = fit_dense(S, soft, model, beta[repeat], problem.omega, formulas)
            differences.append(abs(bounds[-1] / fit.history[-1].bound - 1))
            iterations += len(bounds)
        measures[f"dense, {name} (s)"] = time.perf_counter() - begin
        measures[f"ratio, {name}"] = measures[f"dense, {name} (s)"] / on_bins
        measures[f"bounds differ, {name}"] = max(differences)
        measures[f"iterations, {name}"] = iterations
    return measures


if __name__ == "__main__":
    main()
