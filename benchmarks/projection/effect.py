"""How much does it matter what a small tree is fitted to?

Usage: python -m benchmarks.projection.effect [--quick] [--fresh] [--tables]

Section 4.1.2 and figure 3 of Afrabandpey et al. (2020): projected trees of a tuned
BART, of a BART of three trees and of a Gaussian process; and of a Bayesian bootstrap
forest, which the library takes where no reference is given.
"""

import time
from functools import partial

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clearwood as cw
from benchmarks._study import Study, arguments
from benchmarks.projection.cases import N_RUNS, TEST_SHARE, bart, make_case
from benchmarks.projection.figures import figure_3
from benchmarks.projection.methods import refined, rmse, rows_of, says
from benchmarks.projection.tables import write_effect

SETS = ("bodyfat", "baseball", "autorisk")
N_TREES = (10, 20, 50, 100, 200)


def main():
    options = arguments(__doc__, tables="only the page, from the rows there are")
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


def scores(name, run):
    """A row per reference: what it says itself, and its projected trees."""
    case, rows = make_case(name, run), []
    for kind, fit in REFERENCES.items():
        begin = time.perf_counter()
        reference, n_trees = fit(case)
        found = refined(case, reference)
        taken = time.perf_counter() - begin
        found = found._replace(own=says(case, reference).own, lines=n_trees)
        rows += rows_of(case, kind, found, taken)
    return rows


def tuned_bart(case):
    """The number of trees that predicts rows best which are held out of the training
    rows, by 200 draws; fitted to all of these."""
    n = len(case.y)
    order = np.random.default_rng(case.seed).permutation(n)
    a, b = np.split(order, [round(n * (1 - TEST_SHARE))])
    inner = case._replace(X=case.X[a], y=case.y[a], X_test=case.X[b])
    error = [
        rmse(case.y[b], says(inner, bart(inner, n_trees, 200)[0]).own)
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
