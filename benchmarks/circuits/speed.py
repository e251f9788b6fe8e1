"""What do circuits cost, beside deeprob-kit's, and how do fits grow?

python -m benchmarks.circuits.speed [--quick] [--fresh] [--tables]

Seconds of one processor (CPU times: the machine may do other work). Without
deeprob-kit only growth is measured.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._study import Study, arguments, in_fresh_process, markdown_table
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
"""How rows are clustered, and how many a part needs to be split: as many as ours, as
by default, and as in its own experiments."""

ROWS, COLUMNS = (10_000, 100_000, 1_000_000), (100, 500, 2000)
LEARNERS = {"as the thesis": {"preset": "paper"}, "default": {}}


def fit_ours(name, method):
    """Seconds of a fit, least of three, and the test log-likelihood."""
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
    """Seconds of one fit, which knows no rows to choose by."""
    train, _, test = parts_of(name)
    root, seconds = timed(partial(peer.learn_spn, train, *THEIRS[method]))
    yield {
        "seconds": seconds,
        "test": float(peer.log_likelihood(root, test).mean()),
        "parameters": peer.n_parameters(root),
    }


def evaluation(name):
    """Both programs on one circuit, which theirs has learned, and the same rows."""
    from clearwood.circuits.compiled import compile_circuit

    train, _, test = parts_of(name)
    root = peer.learn_spn(train, "kmeans", 256)
    compiled, compiling = timed(partial(compile_circuit, peer.translated(root)))
    single = test.astype(np.float32)  # which it wants
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
    """The least of some CPU times, after one that is not counted."""
    function()
    return min(timed(function)[1] for _ in range(n))


def table_of_kinds(n_rows, n_columns):
    """Rows of four kinds, columns in groups of five that a hidden bit moves."""
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
    """Seconds of a fit and of the densities of its rows; the most memory in MB."""
    import clearwood as cw

    warm()
    table = table_of_kinds(n_rows, n_columns)
    learner = cw.MiniSPN(random_state=0, **LEARNERS[how])
    _, fitting = timed(lambda: learner.fit(table))
    _, scoring = timed(lambda: learner.score(table))
    status = Path("/proc/self/status").read_text()  # rusage knows the parent's as well
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    megabytes = int(peak.split()[1]) / 1024
    return fitting, scoring, learner.degrees_of_freedom_, megabytes


def grown(n_rows, n_columns, how):
    """One row of the study, from a process of its own."""
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
    """Small ones first."""
    sizes = [(n, 50) for n in ROWS[: 1 if quick else 3]]
    sizes += [(2000, d) for d in COLUMNS[: 1 if quick else 3]]
    sizes.sort(key=lambda size: size[0] * size[1] ** 1.5)
    return {
        (*size, how): partial(grown, *size, how) for how in LEARNERS for size in sizes
    }


def fits_table(frame):
    """Fits of all methods, and how many times longer than our MiniSPN they take."""
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
    header = ["set", "learner", "seconds", "times MiniSPN, as the thesis",
              "test log-likelihood", "parameters"]  # fmt: skip
    return markdown_table(header, rows)


def evaluation_table(frame):
    """Evaluation beside theirs."""
    rows = [
        [r.set, r.rows, r.leaves, 1e3 * r.ours, 1e3 * r.compiling, 1e3 * r.theirs,
         r.theirs / r.ours, r.apart]
        for r in frame.itertuples()
    ]  # fmt: skip
    header = ["set", "rows", "leaves", "ours", "compiling, once", "theirs", "times",
              "largest difference of a row"]  # fmt: skip
    return markdown_table(header, rows)


def growth_table(frame, wanted):
    """What sizes cost."""
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
    header = ["rows", "columns", "how", "fit, s", "score, s", "parameters", "MB"]
    return markdown_table(header, rows)


def main():
    options = arguments(__doc__, tables="only write the page")
    names = SETS[:1] if options.quick else SETS
    fits = Study("circuits_speed", ["set", "method"], options)
    asked = Study("circuits_evaluation", ["set"], options)
    sizes = Study("circuits_growth", ["rows", "columns", "how"], options)
    growing = growth_cases(options.quick)
    if not options.tables:
        for name in names:
            cases = {(name, m): partial(fit_ours, name, m) for m in OURS}
            if peer.INSTALLED:
                cases |= {(name, m): partial(fit_theirs, name, m) for m in THEIRS}
            fits.run(cases, warm=warm)
        if peer.INSTALLED:
            asked.run({(name,): partial(evaluation, name) for name in names}, warm=warm)
        sizes.run(growing, warm=lambda: None)
    parts = [
        "Seconds of one processor (CPU times). Ours take rows to choose by as well, "
        "and split what has 20 rows. What the repairs of MiniSPN cost (ten starts, "
        "trees, smoothing, EM) stands between its two lines. Theirs is deeprob-kit's "
        "LearnSPN with a G-test: k-means and 256 rows (its defaults), 20 rows as ours, "
        "and Gaussian mixtures in place of k-means (its own experiments).",
        fits_table(fits.frame()),
    ]
    if peer.INSTALLED:
        parts += [
            "Evaluation of all test rows, milliseconds: the circuit that deeprob-kit "
            "has learned by default, evaluated by it and, translated, by ours. It "
            "computes in float32.",
            evaluation_table(asked.frame()),
        ]
    else:
        parts.append(peer.ABSENT)
    parts += [
        "Growth of MiniSPN on made tables: four kinds of rows, columns in groups of "
        "five that a hidden bit moves. Seconds of the fit and of the densities of all "
        "rows; the most memory that the process took, the table of float64 included.",
        growth_table(sizes.frame(), growing),
        "As the thesis has it, more rows support more structure, so that a row costs "
        "more as well. By default at most 50,000 rows determine the structure; the fit "
        "ends with sweeps of EM over all rows and parameters.",
    ]
    fits.write_markdown("Speed of sum-product networks", *parts)


if __name__ == "__main__":
    main()
