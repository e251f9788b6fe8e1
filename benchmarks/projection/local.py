"""Explanations of single rows compared with LIME: table 4 of Afrabandpey et al. (2020).

Usage: python -m benchmarks.projection.local [--quick] [--fresh]

The packages lime and stochtree must be installed. A BART with 50 trees is the model;
one of ten rows is explained, and the model is fitted to the others.
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
N_QUERIES = 8192
"""Rows at which each explanation evaluates the model."""
N_EVALUATION = 2048
"""Other neighbours, on which explanations are evaluated."""
WIDTH = 0.5
"""Width of the library's neighbourhoods; LIME's are as wide as the data."""
N_TERMS = 2
"""Features of LIME's explanations, as in the paper, and terms of a linear proxy."""
N_LEAVES = 3
"""Leaves of a tree, which so has at most two features."""
N_REPEATED = {False: (5, 3), True: (2, 2)}
"""Rows that are explained again, and number of seeds; in a quick run."""
MOST_ROWS = {False: 10, True: 3}


class Case(NamedTuple):
    """A model, the rows it was fitted to and those that are explained.

    ``evaluation`` holds, per row, two sets of neighbours, the model's predictions for
    them, and their weights; ``query_seconds`` the seconds that the model takes for one
    explanation.
    """

    reference: cw.Reference
    X: np.ndarray
    rows: np.ndarray
    evaluation: list
    query_seconds: float


class Explained(NamedTuple):
    """Common part of all explanations: features used, and a function of rows."""

    features: frozenset
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
    mean_of(reference, np.tile(rows[:1], (N_QUERIES, 1)))
    query_seconds = time.process_time() - begin
    evaluation = []
    for row in rows:
        sets = near(X[train], row), wide(X[train], row)
        evaluation.append([(made, mean_of(reference, made), w) for made, w in sets])
    return Case(reference, X[train], rows, evaluation, query_seconds)


def mean_of(reference, X):
    """The function that is explained."""
    return reference.draws(X).mean(axis=0)


def near(X, row):
    """Neighbours as the library draws them, with a seed that no explanation uses."""
    around = Neighbourhood.from_table(row, X, FeatureSpace.numeric(len(row)), WIDTH)
    return around.sample(N_EVALUATION, 12345), np.ones(N_EVALUATION)


def wide(X, row):
    """Neighbours as wide as the data, weighted as LIME does."""
    apart = np.random.default_rng(12345).normal(size=(N_EVALUATION, len(row)))
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
            n_neighbours=N_QUERIES // 2,
            random_state=seed,
        )
        if found.rules is not None:
            rules = found.rules.rules
            used = {c.feature for rule in rules for c in rule.conditions}
            return Explained(frozenset(used), found.rules.predict, str(found))
        names = list(found.features.names)
        used = [names.index(name) for name, _, _ in found.effects]
        # The linear function of the proxy, from its predictions for its neighbours.
        plane = np.linalg.lstsq(
            _with_ones(found.neighbours[:, used]), found.proxy_predictions, rcond=None
        )[0]
        return Explained(
            frozenset(used), lambda X: _with_ones(X[:, used]) @ plane, str(found)
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
            num_samples=N_QUERIES,
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
        (name, method): partial(evaluate, name, method, options.quick)
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


def evaluate(name, method, quick):
    """All measures of one method on one set: means over rows."""
    case = make_case(name, MOST_ROWS[quick])
    explain = METHODS[method](case)
    n_rows, n_seeds = N_REPEATED[quick]
    measures = []
    for i, row in enumerate(case.rows):
        begin = time.process_time()
        found = explain(row, 0)
        taken = time.process_time() - begin
        mean = mean_of(case.reference, row[None])
        measures.append(
            {
                "features": len(found.features),
                "error": float((found.predict(row[None]) - mean)[0] ** 2),
                "near": _fidelity(found, *case.evaluation[i][0]),
                "wide": _fidelity(found, *case.evaluation[i][1]),
                "seconds": taken,
                "asking": case.query_seconds,
            }
        )
        if i < n_rows:
            measures[i] |= _repeat(explain, row, found, n_seeds)
    names = list(measures[0])
    means = {n: float(np.mean([m[n] for m in measures if n in m])) for n in names}
    return [{"rows": len(measures)} | means]


def _fidelity(found, X, mean, weight):
    """Share of the variance of the model's predictions that an explanation explains."""
    lost = np.average((found.predict(X) - mean) ** 2, weights=weight)
    middle = np.average(mean, weights=weight)
    return float(1 - lost / np.average((mean - middle) ** 2, weights=weight))


def _repeat(explain, row, found, n_seeds):
    """Whether a second call gives the same text; among pairs of calls with other seeds,
    the share with the same features."""
    again = explain(row, 0)
    other = [found, *(explain(row, seed) for seed in range(1, n_seeds))]
    pairs = itertools.combinations(other, 2)
    return {
        "repeats": float(found.text == again.text),
        "same_features": float(np.mean([a.features == b.features for a, b in pairs])),
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
        "of these the model's predictions",
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
        "Explanations of single rows compared with LIME",
        f"The model is a BART of {N_TREES} trees and {N_DRAWS} draws (stochtree "
        f"{version('stochtree')}), LIME is lime {version('lime')}. A tenth of the rows "
        "is explained, at most 10 of them. Every method evaluates the model at "
        f"{N_QUERIES:,} rows and uses at most {N_TERMS} features: linear proxies and "
        f"LIME have {N_TERMS} terms, trees {N_LEAVES} leaves. LIME is run with default "
        "settings (features discretized at quartiles, forward selection), with the "
        "features of largest weight (as in the paper, which used the R package), and "
        "with numbers not discretized, drawn around the row.",
        "Squared error: between the explanation and the model's mean at the row, mean "
        "over rows (table 4; the paper prints for LIME with 2 features "
        f"{printed}). Fidelity: share of the variance of the model's predictions for "
        "other neighbours that is explained; near: neighbours as the library draws "
        "them (half as wide as the data, in their range, integers for integers); wide: "
        "as LIME does (normal, as wide as the data, weighted by its kernel): both "
        "methods in their own neighbourhood and in the other's. Same seed: two calls "
        "gave the same text. Other seeds: among pairs of calls with other seeds, the "
        "share with the same features, for "
        f"{N_REPEATED[False][0]} rows and {N_REPEATED[False][1]} seeds; by default "
        "`explain_local` has a fixed seed and LIME has none, so that its users see "
        "this variation. Seconds are processor time per explanation. `explain_local` "
        "also computes the proxies of 100 draws and its Monte-Carlo error in that "
        "time.",
        markdown_table(header, lines),
    )


if __name__ == "__main__":
    main()
