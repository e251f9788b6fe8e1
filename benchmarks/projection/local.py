"""Explanations of single rows beside LIME's: table 4 of Afrabandpey et al. (2020).

Usage: python -m benchmarks.projection.local [--quick] [--fresh]

The packages lime and stochtree must be installed. A BART with 50 trees is the model;
of ten rows one is explained, and the others are what the model was fitted to.
"""

import itertools
import time
from functools import lru_cache, partial
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import BayesianRidge

import clearwood as cw
from benchmarks._data import SHARED
from benchmarks._study import Study, arguments, markdown_table
from clearwood.columns.feature_space import FeatureSpace
from clearwood.projection.local.neighbours import Neighbourhood

SETS = ("boston", "autorisk")
PRINTED = {"boston": "4.86", "autorisk": "0.014"}
"""LIME's mean squared error at the row, as the paper prints it."""
N_DRAWS, N_TREES = 100, 50
N_ASKED = 8192
"""Rows that each explanation asks the model about."""
N_JUDGED = 2048
"""Other neighbours, on which an explanation is judged."""
WIDTH = 0.5
"""Of the library's neighbourhoods; LIME's are as wide as the data."""
N_TERMS = 2
"""Features of LIME's explanations, as in the paper, and terms of a linear proxy."""
N_LEAVES = 3
"""Of a tree, which so asks two features at most."""
N_REPEATED = {False: (5, 3), True: (2, 2)}
"""Rows that are explained again, and by how many seeds; in a quick run."""
MOST_ROWS = {False: 10, True: 3}


class Case(NamedTuple):
    """A model, the rows it was fitted to and those that are explained.

    ``judged`` holds, per row, two sets of neighbours, what the model says of them, and
    their weights; ``asking`` the seconds that the model takes for one explanation.
    """

    reference: cw.Reference
    X: np.ndarray
    rows: np.ndarray
    judged: list
    asking: float


class Explained(NamedTuple):
    """What methods have in common: features asked, and a function of rows."""

    asked: frozenset
    predict: object
    text: str


@lru_cache(maxsize=1)
def make_case(name, most_rows):
    frame = pd.read_csv(SHARED / "tabular" / f"{name}.csv").astype(np.float64)
    X, y = frame.iloc[:, :-1].to_numpy(), frame.iloc[:, -1].to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[: len(y) // 10], order[len(y) // 10 :]
    reference = cw.reference(
        "bart",
        X[train],
        y[train],
        task="regression",
        n_draws=N_DRAWS,
        n_trees=N_TREES,
        random_state=0,
    )
    rows = X[test][:most_rows]
    begin = time.process_time()
    mean_of(reference, np.tile(rows[:1], (N_ASKED, 1)))
    asking = time.process_time() - begin
    judged = []
    for row in rows:
        sets = near(X[train], row), wide(X[train], row)
        judged.append([(made, mean_of(reference, made), w) for made, w in sets])
    return Case(reference, X[train], rows, judged, asking)


def mean_of(reference, X):
    """What is explained."""
    return reference.draws(X).mean(axis=0)


def near(X, row):
    """Neighbours as the library draws them, by a seed that no explanation has."""
    around = Neighbourhood.from_table(row, X, FeatureSpace.numeric(len(row)), WIDTH)
    return around.sample(N_JUDGED, 12345), np.ones(N_JUDGED)


def wide(X, row):
    """Neighbours as wide as the data, weighted as LIME does."""
    apart = np.random.default_rng(12345).normal(size=(N_JUDGED, len(row)))
    width = 0.75 * np.sqrt(len(row))
    weight = np.exp(-0.5 * (apart**2).sum(axis=1) / width**2)
    return row + X.std(axis=0) * apart, weight


def projected(case, proxy, size):
    """``explain_local``, as a function of a row and a seed."""

    def explain(row, seed):
        found = cw.explain_local(
            case.reference,
            row,
            case.X,
            proxy=proxy,
            max_size=size,
            width=WIDTH,
            n_neighbours=N_ASKED // 2,
            random_state=seed,
        )
        if found.rules is not None:
            rules = found.rules.rules
            asked = {c.feature for rule in rules for c in rule.conditions}
            return Explained(frozenset(asked), found.rules.predict, str(found))
        names = list(found.features.names)
        asked = [names.index(name) for name, _, _ in found.effects]
        # The plane that the proxy is, from what it says of its neighbours.
        plane = np.linalg.lstsq(
            _with_ones(found.neighbours[:, asked]), found.proxy_predictions, rcond=None
        )[0]
        return Explained(
            frozenset(asked), lambda X: _with_ones(X[:, asked]) @ plane, str(found)
        )

    return explain


def _with_ones(columns):
    return np.column_stack([np.ones(len(columns)), columns])


def lime(case, **settings):
    """The package, as a function of a row and a seed."""
    from lime.lime_tabular import LimeTabularExplainer

    def explain(row, seed):
        explainer = LimeTabularExplainer(
            case.X, mode="regression", random_state=seed, **settings
        )
        found = explainer.explain_instance(
            row,
            partial(mean_of, case.reference),
            num_features=N_TERMS,
            num_samples=N_ASKED,
        )
        terms, constant = found.local_exp[1], found.intercept[1]
        scaler, discretizer = explainer.scaler, explainer.discretizer

        def predict(X):
            if discretizer is not None:
                X = discretizer.discretize(X) == discretizer.discretize(row)
            columns = (X - scaler.mean_) / scaler.scale_
            return constant + sum(value * columns[:, d] for d, value in terms)

        return Explained(frozenset(d for d, _ in terms), predict, str(found.as_list()))

    return explain


METHODS = {
    "projected tree": partial(projected, proxy="tree", size=N_LEAVES),
    "projected line": partial(projected, proxy="linear", size=N_TERMS),
    "LIME": lime,
    "LIME, largest weights": partial(lime, feature_selection="highest_weights"),
    "LIME, around the row": partial(
        lime, discretize_continuous=False, sample_around_instance=True
    ),
}


def main():
    options = arguments(__doc__)
    study = Study("projection_local", ["set", "method"], options)
    cases = {
        (name, method): partial(judge, name, method, options.quick)
        for name in SETS
        for method in METHODS
    }
    study.run(cases, warm=warm_up)
    write_tables(study)


def warm_up():
    """Load all modules."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = cw.reference(BayesianRidge().fit(X, X[:, 0]), n_draws=5, random_state=0)
    for proxy in ("tree", "linear"):
        cw.explain_local(model, X[0], X, proxy=proxy)


def judge(name, method, quick):
    """All measures of one method on one set: means over rows."""
    case = make_case(name, MOST_ROWS[quick])
    explain = METHODS[method](case)
    n_rows, n_seeds = N_REPEATED[quick]
    measures = []
    for i, row in enumerate(case.rows):
        begin = time.process_time()
        found = explain(row, 0)
        taken = time.process_time() - begin
        said = mean_of(case.reference, row[None])
        measures.append(
            {
                "features": len(found.asked),
                "error": float((found.predict(row[None]) - said)[0] ** 2),
                "near": _followed(found, *case.judged[i][0]),
                "wide": _followed(found, *case.judged[i][1]),
                "seconds": taken,
                "asking": case.asking,
            }
        )
        if i < n_rows:
            measures[i] |= _repeat(explain, row, found, n_seeds)
    names = list(measures[0])
    means = {n: float(np.mean([m[n] for m in measures if n in m])) for n in names}
    return [{"rows": len(measures)} | means]


def _followed(found, X, said, weight):
    """Share of the variance of what the model says that an explanation follows."""
    lost = np.average((found.predict(X) - said) ** 2, weights=weight)
    middle = np.average(said, weights=weight)
    return float(1 - lost / np.average((said - middle) ** 2, weights=weight))


def _repeat(explain, row, found, n_seeds):
    """Whether a second call gives the same text; of pairs of calls with other seeds,
    the share that names the same features."""
    again = explain(row, 0)
    other = [found, *(explain(row, seed) for seed in range(1, n_seeds))]
    pairs = itertools.combinations(other, 2)
    return {
        "repeats": float(found.text == again.text),
        "same_features": float(np.mean([a.asked == b.asked for a, b in pairs])),
    }


def write_tables(study):
    frame = study.frame()
    header = [
        "set",
        "method",
        "rows",
        "features",
        "squared error at the row",
        "fidelity near",
        "fidelity wide",
        "same, same seed",
        "same features, other seeds",
        "seconds",
        "of these the model's",
    ]
    numbers = [
        "rows", "features", "error", "near", "wide", "repeats", "same_features",
        "seconds", "asking",
    ]  # fmt: skip
    lines = [
        [line["set"], line["method"], *(line[name] for name in numbers)]
        for _, line in frame.iterrows()
    ]
    printed = ", ".join(f"{error} ({name})" for name, error in PRINTED.items())
    study.write_markdown(
        "Explanations of single rows, beside LIME's",
        f"The model is a BART of {N_TREES} trees and {N_DRAWS} draws (stochtree "
        f"{version('stochtree')}), LIME is lime {version('lime')}. A tenth of the rows "
        "is explained, 10 of them at most. Every method asks the model about "
        f"{N_ASKED:,} rows and uses {N_TERMS} features at most: lines and LIME have "
        f"{N_TERMS} terms, trees {N_LEAVES} leaves. LIME is run as it comes (features "
        "cut at quartiles, chosen one after the other), with the features of largest "
        "weight (as in the paper, which used the R package), and with numbers as they "
        "are, drawn around the row.",
        "Squared error: between the explanation and the model's mean at the row, mean "
        "over rows (table 4; the paper prints for LIME with 2 features "
        f"{printed}). Fidelity: share of the variance of what the model says of other "
        "neighbours that is followed; near as the library draws them (half as wide as "
        "the data, in their range, whole numbers whole), wide as LIME does (normal, as "
        "wide as the data, weighted by its kernel): each side on its own ground and on "
        "the other's. Same seed: two calls gave the same text. Other seeds: of pairs "
        "of calls with other seeds, the share that names the same features, of "
        f"{N_REPEATED[False][0]} rows and {N_REPEATED[False][1]} seeds; "
        "`explain_local` has a fixed seed unless told, LIME has none, so this is what "
        "its users see. Seconds are of the processor, per explanation; the machine was "
        "shared. `explain_local` also finds the proxies of 100 draws and its "
        "Monte-Carlo error in that time.",
        markdown_table(header, lines),
    )


if __name__ == "__main__":
    main()
