"""``compare`` with all methods on six real sets: time, and frontier.

Usage: python -m benchmarks.compare.run [--quick] [--fresh]
"""

import resource
from functools import partial

import numpy as np

from benchmarks._data import is_classes, table_of
from benchmarks._study import RESULTS, Study, arguments, markdown_table

NAMES = ("energy", "autompg", "bodyfat", "pima", "spambase", "waveform21")
MOST_ROWS = 1000
JOBS = 2

TEXT = f"""\
A forest of 100 trees, not fitted: `compare(RandomForest...(), X, y, n_jobs={JOBS})`
with all eight methods of the library, at most 10 lines, five folds, five bootstrap
refits, 120 seconds for each method. At most {MOST_ROWS:,} rows, drawn at random.
Seconds: the whole call with {JOBS} worker processes, including their start and the fits
of the forests; CPU seconds: of all processes together. Enough: the smallest size
within one standard error of the lowest log loss (of the lowest squared error in
regression), by default of `compare`. Lines: number of rules.
`compare_*.png` are the pictures that `Frontier.plot` draws."""

FRONTIER = """\
Points that no other dominates in size and error on held-out rows, with the standard
error of the rows. As good: other methods within it with at most that size."""


def main():
    options = arguments(__doc__)
    study = Study("compare", ["data"], options)
    names = NAMES[::4] if options.quick else NAMES
    study.run({(name,): partial(rows_of, name, options.quick) for name in names})
    study.write_markdown("Compare", TEXT, totals(study), "## Frontiers", FRONTIER,
                         frontiers(study))  # fmt: skip


def rows_of(name, quick):
    """One row per point on the frontier, each with the values of all points."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    import clearwood as cw

    X, y = table_of(name, 0)
    most = 200 if quick else MOST_ROWS
    rows = np.random.default_rng(0).permutation(len(y))[:most]
    is_class = is_classes(name)
    make = RandomForestClassifier if is_class else RandomForestRegressor
    before = cpu_seconds()
    found = cw.compare(
        make(100, random_state=0), X[rows], y[rows], peers=False, n_jobs=JOBS,
        random_state=0,
    )  # fmt: skip
    if not quick:
        draw(found, name)
    enough = found.enough()
    shared = {
        "rows": len(rows),
        "features": X.shape[1],
        "total_seconds": found.seconds,
        "cpu_seconds": cpu_seconds() - before,
        "model_error": found.model_error,
        "model_spread": found.model_error_se,
        "n_points": len(found.points),
        "enough": f"{enough.method} {enough.n_rules}",
        "failures": "; ".join(f"{method}: {why}" for method, why in found.failures),
    }
    return [
        shared
        | {
            "lines": point.n_rules,
            "method": point.method,
            "error": point.error,
            "spread": point.error_se,
            "fidelity": point.fidelity,
            "literals": point.n_literals,
            "stability": point.stability,
            "seconds": point.seconds,
            "equivalent_methods": ", ".join(found.equivalent_methods(point)),
        }
        for point in found.frontier()
        if point.n_rules > 1
    ]


def draw(found, name):
    import matplotlib

    matplotlib.use("Agg")
    figure = found.plot().figure_
    figure.savefig(RESULTS / f"compare_{name}.png", dpi=80, bbox_inches="tight")


def cpu_seconds():
    """Of this process and of all ended child processes."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in used)


def totals(study):
    header = (
        "data", "rows", "features", "seconds", "CPU seconds", "points", "model error",
        "enough", "not done",
    )  # fmt: skip
    body = []
    for name, rows in study.frame().groupby("data", sort=False):
        one = rows.iloc[0]
        failed = one.failures if isinstance(one.failures, str) else "-"
        own = f"{one.model_error:.3g} ± {one.model_spread:.1g}"
        body.append(
            [name, int(one["rows"]), int(one.features), float(one.total_seconds),
             float(one.cpu_seconds),
             int(one.n_points), own, one.enough, failed]
        )  # fmt: skip
    return markdown_table(header, body)


def frontiers(study):
    header = (
        "data", "lines", "method", "error", "fidelity", "literals", "stability",
        "seconds", "as good",
    )  # fmt: skip
    body = [
        [row.data, int(row.lines), row.method, f"{row.error:.3g} ± {row.spread:.1g}",
         row.fidelity, int(row.literals), row.stability, row.seconds,
         row.equivalent_methods if isinstance(row.equivalent_methods, str) else ""]
        for row in study.frame().itertuples()
    ]  # fmt: skip
    return markdown_table(header, body)


if __name__ == "__main__":
    main()
