"""Is a small tree better if it is fitted to a good model in place of the data?

Usage: python -m benchmarks.projection.prior [--quick] [--fresh] [--tables]
    [--folder DIR]

Section 4.1.3 of Afrabandpey et al. (2020): figures 4 and 5 and table 2, on its
available sets; and the same for classes, which the paper does not study. ``--tables``
only writes the pages and the pictures, from existing rows. With ``--folder`` the sets
are the CSV files there, with the target in the last column.
"""

from functools import partial

from benchmarks._study import Study, arguments
from benchmarks.projection.cases import (
    CLASSES,
    N_RUNS,
    VALUES,
    bart,
    make_case,
    sets_in,
)
from benchmarks.projection.figures import figure_4, figure_5
from benchmarks.projection.methods import rows_of_all
from benchmarks.projection.tables import write_classes, write_prior


def main():
    options = arguments(
        __doc__,
        {"sets": "only these, with commas between", "folder": "of CSV files"},
        tables="only the pages",
    )
    study = run_all("prior", sets_in(options.folder, False, VALUES), options)
    if study.rows():
        write_prior(study, [figure_4(study, "rmse"), figure_5(study)])
    study = run_all("classes", sets_in(options.folder, True, CLASSES), options)
    if study.rows():
        write_classes(study, [figure_4(study, m) for m in ("log loss", "accuracy")])


def run_all(name, sets, options):
    """Run missing cases of one of the two studies."""
    name = f"projection_{name}" + "_folder" * bool(options.folder)
    study = Study(name, ["data", "run"], options)
    only = options.sets.split(",") if options.sets else sets
    if sets and not options.tables:
        study.run(
            {
                (data, run): partial(scores, data, run, options.folder)
                for run in range(3 if options.quick else N_RUNS)
                for data in sets
                if data in only
            },
            warm=partial(scores, sets[0], 0, options.folder),
        )
    return study


def scores(name, run, folder=""):
    """The rows of one split."""
    case = make_case(name, run, folder)
    return rows_of_all(case, *bart(case))


if __name__ == "__main__":
    main()
