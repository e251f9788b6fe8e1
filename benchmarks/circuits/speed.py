"""CPU time of circuits in comparison with deeprob-kit, and its growth.

python -m benchmarks.circuits.speed [--quick] [--fresh] [--tables]

Times are CPU seconds. Without deeprob-kit only growth is measured.
"""

from functools import partial

import numpy as np

from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
)
from benchmarks.circuits import peer
from benchmarks.circuits.cases import parts_of, timed, warm

SETS = ("nltcs", "dna")
OURS = {
    "MiniSPN, as the thesis": ("MiniSPN", {"preset": "paper"}),
    "MiniSPN": ("MiniSPN", {}),
    "LearnSPN, one of its grid": (
        "LearnSPN",
        {"penalty": 0.4, "significance_level": 0.0015},
    ),
    "LearnSPN, grid of 8": ("LearnSPN", {}),
}
THEIRS = {
    "deeprob-kit, 20 rows": ("kmeans", 20),
    "deeprob-kit": ("kmeans", 256),
    "deeprob-kit, mixtures": ("gmm", 256),
}
"""Clustering of rows, and minimum rows of a split: as for ours, its default, and as in
its own experiments."""

ROWS, COLUMNS = (10_000, 100_000, 1_000_000), (100, 500, 2000)
LEARNERS = {"as the thesis": {"preset": "paper"}, "default": {}}


def fit_ours(name, method):
    """CPU seconds of a fit, the minimum of three, and the test log-likelihood."""
    import clearwood as cw

    train, valid, test = parts_of(name)
    kind, settings = OURS[method]
    make = partial(getattr(cw, kind), random_state=0, **settings)
    n = 3 if method.startswith("MiniSPN") else 1
    runs = [timed(lambda: make().fit(train, X_val=valid)) for _ in range(n)]
    network = runs[0][0]
    yield {
        "seconds": min(seconds for _, seconds in runs),
        "test": network.score(test),
        "parameters": network.degrees_of_freedom_,
    }


def fit_theirs(name, method):
    """CPU seconds of one fit, without validation rows."""
    train, _, test = parts_of(name)
    root, seconds = timed(partial(peer.learn_spn, train, *THEIRS[method]))
    yield {
        "seconds": seconds,
        "test": float(peer.log_likelihood(root, test).mean()),
        "parameters": peer.n_parameters(root),
    }


def evaluation(name):
    """Both programs on the same rows and circuit, learned by theirs."""
    from clearwood.circuits.compiled import compile_circuit

    train, _, test = parts_of(name)
    root = peer.learn_spn(train, "kmeans", 256)
    compiled, compiling = timed(partial(compile_circuit, peer.translated(root)))
    single = test.astype(np.float32)  # as it requires
    apart = compiled.log_likelihood(test) - peer.log_likelihood(root, single)
    yield {
        "rows": len(test),
        "leaves": len(compiled.leaf_place),
        "ours": fastest(lambda: compiled.log_likelihood(test)),
        "compiling": compiling,
        "theirs": fastest(lambda: peer.log_likelihood(root, single)),
        "apart": float(np.abs(apart).max()),
    }


def fastest(function, n=5):
    """Minimum CPU time of several calls after a first one."""
    function()
    return min(timed(function)[1] for _ in range(n))


def table_of_kinds(n_rows, n_columns):
    """Rows of four kinds, columns in groups of five with a common latent bit."""
    rng = np.random.default_rng(0)
    n_groups = -(-n_columns // 5)
    kind = rng.integers(4, size=n_rows)
    share = rng.random((4, n_groups))
    table = np.empty((n_rows, n_columns))
    for g in range(n_groups):
        bit = rng.random(n_rows) < share[kind, g]
        for j in range(5 * g, min(5 * g + 5, n_columns)):
            table[:, j] = bit ^ (rng.random(n_rows) < 0.2)
    return table


def growth(n_rows, n_columns, how):
    """CPU seconds of a fit and of the densities of its rows; peak memory in MB."""
    import clearwood as cw

    warm()
    table = table_of_kinds(n_rows, n_columns)
    learner = cw.MiniSPN(random_state=0, **LEARNERS[how])
    _, fitting = timed(lambda: learner.fit(table))
    _, scoring = timed(lambda: learner.score(table))
    return fitting, scoring, learner.degrees_of_freedom_, memory("VmHWM")


def grown(n_rows, n_columns, how):
    """One row of the study, from a separate process."""
    fitting, scoring, parameters, megabytes = in_fresh_process(
        growth, n_rows, n_columns, how
    )
    yield {
        "fit": fitting,
        "score": scoring,
        "parameters": parameters,
        "megabytes": megabytes,
    }


def growth_cases(quick):
    """Cases, small ones first."""
    sizes = [(n, 50) for n in ROWS[: 1 if quick else 3]]
    sizes += [(2000, d) for d in COLUMNS[: 1 if quick else 3]]
    sizes.sort(key=lambda size: size[0] * size[1] ** 1.5)
    return {
        (*size, how): partial(grown, *size, how) for how in LEARNERS for size in sizes
    }


def fits_table(frame):
    """Fits of all methods, and their time relative to our MiniSPN."""
    rows = []
    for name in frame["set"].unique():
        own = frame[frame["set"] == name]
        seconds = own.set_index("method")["seconds"]
        fast = seconds.get("MiniSPN, as the thesis", np.nan)
        for row in own.itertuples():
            rows.append(
                [name, row.method, row.seconds, row.seconds / fast, f"{row.test:.2f}",
                 row.parameters]
            )  # fmt: skip
    header = ["set", "learner", "seconds", "relative to MiniSPN",
              "test log-likelihood", "parameters"]  # fmt: skip
    return markdown_table(header, rows)


def evaluation_table(frame):
    """Evaluation of both programs."""
    rows = [
        [r.set, r.rows, r.leaves, 1e3 * r.ours, 1e3 * r.compiling, 1e3 * r.theirs,
         r.theirs / r.ours, r.apart]
        for r in frame.itertuples()
    ]  # fmt: skip
    header = ["set", "rows", "leaves", "ours", "compilation, once", "theirs", "ratio",
              "largest difference per row"]  # fmt: skip
    return markdown_table(header, rows)


def growth_table(frame, wanted):
    """Growth with rows and columns."""
    rows = []
    for n_rows, n_columns, how in wanted:
        own = frame[
            (frame["rows"] == str(n_rows))
            & (frame["columns"] == str(n_columns))
            & (frame["how"] == how)
        ]
        key = [f"{n_rows:,}", f"{n_columns:,}", how]
        if not len(own):
            rows.append([*key, "not run", "", "", ""])
            continue
        row = own.iloc[0]
        rows.append([*key, row.fit, row.score, f"{row.parameters:,}", row.megabytes])
    header = ["rows", "columns", "settings", "fit, s", "score, s", "parameters", "MB"]
    return markdown_table(header, rows)


def main():
    options = arguments(__doc__, tables="only write the page")
    names = SETS[:1] if options.quick else SETS
    fits = Study("circuits_speed", ["set", "method"], options)
    evaluated = Study("circuits_evaluation", ["set"], options)
    sizes = Study("circuits_growth", ["rows", "columns", "how"], options)
    growing = growth_cases(options.quick)
    if not options.tables:
        for name in names:
            cases = {(name, m): partial(fit_ours, name, m) for m in OURS}
            if peer.INSTALLED:
                cases |= {(name, m): partial(fit_theirs, name, m) for m in THEIRS}
            fits.run(cases, warm=warm)
        if peer.INSTALLED:
            evaluated.run(
                {(name,): partial(evaluation, name) for name in names}, warm=warm
            )
        sizes.run(growing, warm=lambda: None)
    parts = [
        "CPU seconds. Ours also uses validation rows, and splits parts of at least 20 "
        "rows. The cost of the corrections of MiniSPN (ten initial splits, trees, "
        "smoothing, EM) is the difference of its two rows; the ratio is to MiniSPN as "
        "in the thesis. Theirs is deeprob-kit's LearnSPN with a G-test: k-means and "
        "256 rows (its defaults), 20 rows as for ours, "
        "and Gaussian mixtures in place of k-means (its own experiments).",
        fits_table(fits.frame()),
    ]
    if peer.INSTALLED:
        parts += [
            "Evaluation of all test rows, milliseconds: the circuit that deeprob-kit "
            "learns by default, evaluated by it and, after translation, by ours. It "
            "computes in float32.",
            evaluation_table(evaluated.frame()),
        ]
    else:
        parts.append(peer.ABSENT)
    parts += [
        "Growth of MiniSPN on simulated tables: four kinds of rows, columns in groups "
        "of five with a common latent bit. CPU seconds of the fit and of the densities "
        "of all rows; peak memory of the process, with the table of float64.",
        growth_table(sizes.frame(), growing),
        "With the thesis' settings more rows support more structure, so that the "
        "time per row grows as well. By default at most 50,000 rows determine the "
        "structure; the fit ends with sweeps of EM over all rows and parameters.",
    ]
    fits.write_markdown("Speed of sum-product networks", *parts)


if __name__ == "__main__":
    main()
