"""Circuits that one can check by heart, in estimators that were never fitted."""

import numpy as np
import pandas as pd

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.estimators import MiniSPN
from clearwood.circuits.nodes import Product, Sum
from clearwood.columns.table_variables import NumericColumn, TableVariables
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.rules import FeatureSpace

NAMES = ("smoker", "sex", "hue", "age", "bp", "bmi", "<b>dose</b> in $")
LEVELS = (("no", "yes"), (0.0, 1.0), ("red", "green", "blue"), None, None, None, None)


def clinic():
    """Two kinds of patients, within each of which blood pressure is of two, too."""
    return Circuit(
        Sum(np.array([0.6, 0.4]), (_kind(0.1, 40.0), _kind(0.8, 60.0))),
        FeatureSpace(NAMES, LEVELS),
    )


def _kind(smokes, age):
    hues = ChowLiuTree(
        (2, 1),
        (-1, 0),
        (np.array([[0.5, 0.3, 0.2]]), np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])),
    )
    low = MultivariateGaussian(
        (5, 4), np.array([20.0, 110.0]), np.array([[4.0, 3.0], [3.0, 25.0]])
    )
    high = Product((Gaussian(4, 160.0, 25.0), Gaussian(5, 30.0, 9.0)))
    dose = Histogram(6, np.array([0.0, 1.0, 4.0]), np.array([0.4, 0.6]))
    return Product(
        (
            Bernoulli(0, smokes),
            Gaussian(3, age, 25.0),
            hues,
            Sum(np.array([0.7, 0.3]), (low, high)),
            dose,
        )
    )


def apart():
    """Two groups of columns that have nothing to do with each other, and one alone."""
    pair = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    other = [Product((Gaussian(2, m, 1.0), Gaussian(3, -m, 1.0))) for m in (0.0, 5.0)]
    half = np.array([0.5, 0.5])
    root = Product(
        (Sum(half, tuple(pair)), Sum(half, tuple(other)), Categorical(4, half))
    )
    levels = (("no", "yes"), ("no", "yes"), None, None, ("a", "b"))
    return Circuit(root, FeatureSpace(tuple("pqrst"), levels))


def spiked():
    """Two clusters; in one nearly all doses are 0."""
    columns = FeatureSpace(("ill", "dose"), (("no", "yes"), None))
    dose = NumericColumn((0.0,), None, 0, (0.0, 60.0))
    variables = TableVariables(columns, (None, dose), (0.001, 0.0))
    kinds = (Product((Bernoulli(0, 0.1), Gaussian(1, 40.0, 25.0), Bernoulli(2, 0.97))),
             Product((Bernoulli(0, 0.9), Gaussian(1, 30.0, 100.0), Bernoulli(2, 0.0))),
             )  # fmt: skip
    root = Sum(np.array([0.6, 0.4]), kinds)
    return Circuit(root, variables.variables, variables)


def wide(n_columns, n_kinds, seed=0):
    """Many columns, some with long names, in kinds within kinds."""
    rng = np.random.default_rng(seed)
    names = tuple(
        f"measurement {j} of many, in mmol per litre" if j % 5 == 0 else f"x{j}"
        for j in range(n_columns)
    )
    kinds = (None, ("no", "yes"), ("a", "b", "$c$"))
    levels = tuple(kinds[j % 3] for j in range(n_columns))
    root = _nested(rng, levels, list(range(n_columns)), n_kinds)
    return Circuit(root, FeatureSpace(names, levels))


def _nested(rng, levels, columns, n_kinds):
    if n_kinds < 2 or len(columns) < 2:
        return Product(tuple(_leaf(rng, j, levels[j]) for j in columns))
    cut = len(columns) // 2
    kinds = []
    for _ in range(2):
        mixed = rng.permutation(columns).tolist()
        groups = [mixed[:cut], mixed[cut:]] if cut else [mixed]
        kinds.append(
            Product(tuple(_nested(rng, levels, g, n_kinds // 2) for g in groups))
        )
    return Sum(rng.dirichlet([3.0, 3.0]), tuple(kinds))


def _leaf(rng, j, labels):
    if labels is None:
        return Gaussian(j, 100 * rng.normal(), 100.0)
    if len(labels) == 2:
        return Bernoulli(j, rng.random())
    return Categorical(j, rng.dirichlet(np.ones(len(labels))))


def deep(n_levels=1050):
    """A circuit deeper than Python recurses."""
    node = Product((Bernoulli(0, 0.5), Bernoulli(1, 0.5)))
    for i in range(n_levels):
        p = (0.1, 0.9)[i % 2]
        other = Product((Bernoulli(0, p), Bernoulli(1, p)))
        node = Sum(np.array([0.9, 0.1]), (node, other))
    return Circuit(node, FeatureSpace(("a", "b"), ((0, 1), (0, 1))))


def stand_in(circuit):
    """What is read of a fitted estimator."""
    found = MiniSPN()
    found.circuit_, found.n_features_in_ = circuit, circuit.features.n_features
    found.feature_names_in_ = np.array(circuit.features.names, dtype=object)
    return found


def table(values, circuit=None):
    """Encoded rows as a user has them."""
    features = (circuit or clinic()).features
    columns = {}
    for column, name, labels in zip(values.T, features.names, features.categories):
        if labels is not None:
            cells = [None if np.isnan(x) else labels[int(x)] for x in column]
        columns[name] = column if labels is None else cells
    return pd.DataFrame(columns)
