"""Time to project draws onto trees, compared with scikit-learn's tree.

Usage: python -m benchmarks.projection.speed [--quick] [--fresh]

Times are processor seconds; ours and scikit-learn's alternate, so that changes of load
affect both.
"""

import time
from functools import partial

import numpy as np
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table
from clearwood.columns.feature_space import FeatureSpace
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.trees import (
    GROWN,
    project_trees,
    projection_problem,
    value_bins,
)
from clearwood.rules import Training

MIN_ROWS = 5
USUAL = {"rows": 10_000, "features": 10, "draws": 100, "leaves": 20}
VARIED = {
    "rows": (1_000, 3_000, 10_000, 30_000),
    "features": (5, 10, 20, 40),
    "draws": (1, 10, 100, 500),
    "leaves": (5, 10, 20, 40),
}
PATH_ROWS = (1_000, 10_000, 100_000)
PATH_LEAVES = 64
FIT_ROWS = (1_000, 10_000)
REFINED = (1,)
"""Draws of one structure that is also refined: the estimators' default."""


class Given(cw.Reference):
    """Given draws, known only for the training rows."""

    task, description, noise = "regression", "given draws", 0.1

    def __init__(self, draws):
        self.given, self.n_draws = draws, len(draws)

    def draws(self, X):
        return self.given


def main():
    options = arguments(__doc__)
    study = Study(
        "projection_speed", ["part", "rows", "features", "draws", "leaves"], options
    )
    cases = {}
    for n in PATH_ROWS[: 2 if options.quick else None]:
        cases["path", n, 10, 1, PATH_LEAVES] = partial(grown, n, 10, 1, PATH_LEAVES)
    for name, values in VARIED.items():
        for value in values[: 2 if options.quick else None]:
            shape = tuple((USUAL | {name: value}).values())
            cases["shared", *shape] = partial(grown, *shape)
    for n_draws in REFINED[: 1 if options.quick else None]:
        shape = tuple((USUAL | {"draws": n_draws}).values())
        cases["refined", *shape] = partial(refined, *shape)
    for n in FIT_ROWS[: 1 if options.quick else None]:
        cases["fit", n, 10, 1, 20] = partial(fitted, n, 10, 1, 20)
    study.run(cases, warm=lambda: (refined(300, 3, 2, 3), fitted(300, 3, 2, 3)))
    write_tables(study)


def make_draws(n_rows, n_features, n_draws):
    """Rows, and draws of nonlinear functions of them; no draw is a sum of others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    mean = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3 % n_features]
    if n_draws == 1:
        return X, mean[None]
    waves = np.sin(0.7 * X @ rng.normal(size=(n_features, 30)))
    shared = rng.normal(size=(n_draws, 30)) @ waves.T / np.sqrt(30)
    return X, mean + 0.1 * shared + 0.02 * rng.normal(size=(n_draws, n_rows))


def seconds_of(*sides):
    """Processor seconds of each, median of three turns; one where a turn is long."""
    taken = [[] for _ in sides]
    for _ in range(3):
        for side, times in zip(sides, taken):
            begin = time.process_time()
            side()
            times.append(time.process_time() - begin)
        if sum(map(sum, taken)) > 5:
            break
    return [float(np.median(times)) for times in taken]


def project(X, draws, most_leaves, refine=False):
    """From rows and draws to the trees of every size, all steps."""
    features = FeatureSpace.numeric(X.shape[1])
    mean, weight = draws.mean(axis=0), np.ones(len(X))
    bins = value_bins(features, X)
    training = Training(X, mean, None, weight, mean, bins)
    predictive = PredictiveDraws(draws, np.ones_like(draws))
    problem = projection_problem(predictive, "mean", training.grid, weight, MIN_ROWS)
    return project_trees(problem, most_leaves, refine=refine)


def grown(n_rows, n_features, n_draws, leaves):
    """Growth and the best subtree of every size, compared with scikit-learn's growth to
    as many leaves and its weakest links."""
    X, draws = make_draws(n_rows, n_features, n_draws)
    outputs = np.ascontiguousarray(draws.T)

    def theirs():
        tree = DecisionTreeRegressor(
            max_leaf_nodes=GROWN * leaves, min_samples_leaf=MIN_ROWS, random_state=0
        )
        tree.cost_complexity_pruning_path(X, outputs)

    ours, sklearn = seconds_of(lambda: project(X, draws, leaves), theirs)
    return [{"seconds": ours, "sklearn": sklearn}]


def refined(n_rows, n_features, n_draws, leaves):
    """The same, each size refined."""
    X, draws = make_draws(n_rows, n_features, n_draws)
    ours = seconds_of(lambda: project(X, draws, leaves, refine=True))[0]
    return [{"seconds": ours, "sklearn": np.nan}]


def fitted(n_rows, n_features, n_draws, leaves):
    """The estimator: the trees of all sizes are printed, too."""
    X, draws = make_draws(n_rows, n_features, n_draws)
    tree = cw.ProjectedTreeRegressor(
        Given(draws), n_leaf_nodes=leaves, refine=False, random_state=0
    )
    return [{"seconds": seconds_of(lambda: tree.fit(X))[0], "sklearn": np.nan}]


def write_tables(study):
    frame = study.frame()
    shape = ["rows", "features", "draws", "leaves"]
    frame[shape] = frame[shape].astype(int)

    def table(part, with_peer):
        lines = []
        for _, row in frame[frame["part"] == part].sort_values(shape).iterrows():
            line = [int(row[name]) for name in shape] + [row["seconds"]]
            if with_peer:
                line += [row["sklearn"], row["sklearn"] / row["seconds"]]
            lines.append(line)
        names = ["scikit-learn, seconds", "ratio"] if with_peer else []
        return markdown_table([*shape, "seconds", *names], lines)

    study.write_markdown(
        "Time to project draws onto trees",
        "Processor seconds on one thread. Ours and scikit-learn's alternate; ratio: "
        "scikit-learn's seconds over ours. Both grow "
        f"{GROWN} times the leaves and prune: ours to the best subtree of every "
        "size, binning included, scikit-learn's multi-output tree along its weakest "
        "links. The draws are noisy, so that none is a combination of the others.",
        "## One draw: growth and the whole path of sizes\n\n" + table("path", True),
        "## One structure for several draws\n\n" + table("shared", True),
        "## The same, each size refined\n\n" + table("refined", False),
        "## The estimator, not refined\n\n" + table("fit", False),
        "`fit` prints the tree of every size with the statistics of its leaves, which "
        "takes longer than growing them.",
    )


if __name__ == "__main__":
    main()
