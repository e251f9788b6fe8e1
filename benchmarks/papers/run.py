"""The tables and figures of both papers of Hara and Hayashi, with our methods.

Usage: python -m benchmarks.papers.run [--quick] [--fresh] [--tables]

Of "Making Tree Ensembles Interpretable: A Bayesian Model Selection Approach" (AISTATS
2018) tables 1-4 and figures 1 and 5-9, of "Making Tree Ensembles Interpretable" (2016)
table 2. ``--tables`` only writes the page and the figures, from the rows there are.
"""

import time
import warnings
from functools import partial

import numpy as np

from benchmarks._data import gaussian_rows
from benchmarks._study import Study, arguments
from benchmarks.papers.cases import SETS_2016, SETS_2018, Case, best_forest, make_case
from benchmarks.papers.figures import draw_all
from benchmarks.papers.methods import METHODS_2016, METHODS_2018, estimator
from benchmarks.papers.tables import write_page

SPLITS = {"2016": 3, "2018": 5}
SPLITS_OF_HIGGS = {"2016": 1, "2018": 2}
SETS = {"2016": SETS_2016, "2018": SETS_2018}
METHODS = {"2016": METHODS_2016, "2018": METHODS_2018}

N_STARTS = 20
"""Restarts for the seconds per restart."""


def main():
    options = arguments(__doc__, tables="only write the page and the figures")
    study = Study("papers", ["paper", "data", "split", "method"], options)
    runtimes = Study("papers_runtimes", ["data", "split"], options)
    if not options.tables:
        run_all(study, cases_of(options))
        run_all(runtimes, runtimes_of(options))
    figures = draw_all(study.frame(), study.csv)
    write_page(study, runtimes.frame(), figures)


def run_all(study, cases):
    """Run missing cases, after every method has been loaded."""
    done = {tuple(row[key] for key in study.keys) for row in study.rows()}
    if any(tuple(map(str, key)) not in done for key in cases):
        load_all()
    study.run(cases)


def cases_of(options):
    """Key -> function giving rows; the last splits last."""
    keys = [
        (paper, name, split)
        for paper, names in SETS.items()
        for name in names
        for split in range(splits_of(paper, name, options))
        if name != "higgs" or not options.quick
    ]
    return {
        (*key, method): partial(scores, *key, method)
        for key in sorted(keys, key=lambda key: key[2])
        for method in METHODS[key[0]]
    }


def splits_of(paper, name, options):
    """Number of splits of a set."""
    if options.quick:
        return 1
    return (SPLITS_OF_HIGGS if name == "higgs" else SPLITS)[paper]


def scores(paper, name, split, method):
    """The rows of one method."""
    return METHODS[paper][method](make_case(paper, name, split))


def runtimes_of(options):
    """Key -> function giving the rows of table 2."""
    return {
        (name, split): partial(runtime, name, split)
        for split in range(1 if options.quick else 3)
        for name in SETS_2018
        if name != "higgs" or split == 0 and not options.quick
    }


def runtime(name, split):
    """Seconds of one restart, of FAB and of EM with 1 to 10 components.

    Without labels, whose rules would be fitted to parts of the rows, too.
    """
    case, rows = make_case("2018", name, split), []
    for method, sizes in (("fab", (10,)), ("em", range(1, 11))):
        for k in sizes:
            fab = estimator(
                case, "FABRules", method=method, rules="regions", n_init=N_STARTS,
                n_rules=k + 1, max_rules=k + 1,
            )  # fmt: skip
            begin = time.perf_counter()
            fab.fit(case.X)
            seconds = time.perf_counter() - begin
            rows.append({"method": method, "K": k, "seconds": seconds / N_STARTS})
    return rows


def load_all():
    """Run every method on a few rows."""
    X, labels = gaussian_rows(80, 8, seed=0)
    for y in (labels, X[:, 0] * X[:, 1]):
        is_class = y is labels
        model = best_forest(X, y, is_class, "2016", 3, 0)
        case = Case(X, y, X, y, model, is_class, 0)
        for method in {**METHODS_2016, **METHODS_2018}.values():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = method(case)
            if not all(np.isfinite(row["error"]) for row in rows):
                raise RuntimeError("A method gave no error.")


if __name__ == "__main__":
    main()
