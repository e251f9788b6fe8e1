"""One reference of every kind, small, with the rows that it answers for.

A new kind gets its row in ``KINDS``; ``test_contract.py`` holds it to the contract.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    LogisticRegression,
    PoissonRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw


@cache
def values() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[["bmi", "bp", "s5"]][:80], y[:80].to_numpy()


@cache
def with_labels() -> tuple[pd.DataFrame, np.ndarray]:
    """Text, a category of a kind of its own, and a column of numbers."""
    X, y = values()
    group = pd.Categorical(np.where(X["bp"] > 0, "high", "low"))
    return pd.DataFrame({"bmi": X["bmi"], "bp": group, "sex": "f"}), y


@cache
def species() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return X[::2].reset_index(drop=True), names[y[::2]]


@cache
def two_species() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = species()
    return X, y == "setosa"


@cache
def grades() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = values()
    return X, np.digitize(y, [100, 160])


def dropout(X: Any, draw: int) -> np.ndarray:
    """A small network whose masks depend on the draw alone."""
    rng = np.random.default_rng(0)
    into, out = rng.normal(size=(3, 16)), rng.normal(size=(16, 3))
    kept = np.random.default_rng([1, draw]).random(16) < 0.7
    hidden = np.tanh(np.asarray(X) @ into * 10) * kept / 0.7
    return hidden @ out


def softmax_dropout(X: Any, draw: int) -> np.ndarray:
    scores = np.exp(dropout(X, draw))
    return scores / scores.sum(axis=1, keepdims=True)


def first_output(X: Any, draw: int) -> np.ndarray:
    return dropout(X, draw)[:, 0]


def noise_by_row(X: Any, draw: int) -> np.ndarray:
    return np.exp(np.asarray(X)[:, 0]) + draw


def survival(x: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Of exponential times, at 1, 2 and 5: (n_rates, n_rows, 3)."""
    rate = rates[:, None] * np.exp(5 * x)
    return np.exp(-0.1 * rate[..., None] * [1.0, 2.0, 5.0])


def survival_of_draw(X: Any, draw: int) -> np.ndarray:
    return survival(np.asarray(X)[:, 0], np.array([1.0 + draw]))[0]


class Lines(cw.Reference):
    """What a user writes."""

    task = "regression"
    n_draws = 3
    description = "three lines"

    def draws(self, X: Any) -> np.ndarray:
        return np.outer([1.0, 2.0, 4.0], np.asarray(X)[:, 0])


class Kind(NamedTuple):
    rows: Callable[[], tuple[pd.DataFrame, np.ndarray]]
    make: Callable[..., cw.Reference]
    """Takes X, y and the seed."""
    draws_at_random: bool = True
    refits: bool = True
    checks_columns: bool = True


def of(model: Any, **settings: Any) -> Callable[..., cw.Reference]:
    return lambda X, y, seed: cw.reference(model, X, y, random_state=seed, **settings)


def process() -> Any:
    return GaussianProcessRegressor(
        RBF(0.1) + WhiteKernel(0.5),
        alpha=0.1,
        normalize_y=True,
        optimizer=None,
    )


FEW = {"n_draws": 7}
BART = {"n_draws": 7, "n_trees": 5}
SURE = {"draws_at_random": False}
ALONE = {"draws_at_random": False, "refits": False}

KINDS = {
    "bayesian bootstrap": Kind(values, of(None, **FEW)),
    "bayesian bootstrap, text": Kind(with_labels, of(None, **FEW)),
    "bayesian bootstrap, classes": Kind(species, of(None, **FEW)),
    "bart": Kind(values, of("bart", **BART)),
    "bart, text": Kind(with_labels, of("bart", **BART)),
    "bart, two classes": Kind(two_species, of("bart", **BART)),
    "bart, classes": Kind(species, of("bart", **BART)),
    "bart, ordered classes": Kind(grades, of("bart", task="ordinal", **BART)),
    "bart, counts": Kind(grades, of("bart", task="counts", **BART)),
    "process": Kind(values, of(process(), **FEW)),
    "pipeline": Kind(values, of(make_pipeline(StandardScaler(), process()), **FEW)),
    "ridge": Kind(values, of(BayesianRidge(), **FEW)),
    "ard": Kind(values, of(ARDRegression(), **FEW)),
    "forest": Kind(values, of(RandomForestRegressor(9, random_state=0)), **SURE),
    "forest, classes": Kind(
        species, of(RandomForestClassifier(9, random_state=0)), **SURE
    ),
    "extra trees": Kind(values, of(ExtraTreesRegressor(9, random_state=0)), **SURE),
    "predictor": Kind(
        values,
        of(HistGradientBoostingRegressor(max_iter=3, random_state=0)),
        **SURE,
    ),
    "predictor, classes": Kind(
        species, of(make_pipeline(StandardScaler(), LogisticRegression())), **SURE
    ),
    "predictor, rates": Kind(values, of(PoissonRegressor(), task="counts"), **SURE),
    "function": Kind(
        values,
        lambda X, y, seed: cw.reference(
            first_output, X, n_draws=7, noise_variance=noise_by_row
        ),
        **ALONE,
    ),
    "function, classes": Kind(
        values,
        lambda X, y, seed: cw.reference(
            softmax_dropout, X, n_draws=7, classes=["a", "b", "c"]
        ),
        **ALONE,
    ),
    "given": Kind(
        values,
        lambda X, y, seed: cw.reference(
            np.stack([y, 2 * y, y + 1]), X, noise_variance=[1.0, 2.0, 3.0]
        ),
        **ALONE,
    ),
    "given, classes": Kind(
        with_labels,
        lambda X, y, seed: cw.reference(
            np.tile([0.2, 0.3, 0.5], (4, len(y), 1)), X, classes=[1, 2, 3]
        ),
        **ALONE,
    ),
    "given, survival": Kind(
        with_labels,
        lambda X, y, seed: cw.reference(
            survival(X["bmi"].to_numpy(), np.arange(1.0, 5)), X, horizons=[1, 2, 5]
        ),
        **ALONE,
    ),
    "given, truncated": Kind(
        values,
        lambda X, y, seed: cw.reference(
            np.stack([y, 2 * y]), X, noise_variance=[9e3, 4e4], bounds=(25, np.inf)
        ),
        **ALONE,
    ),
    "function, survival": Kind(
        values,
        lambda X, y, seed: cw.reference(
            survival_of_draw, X, n_draws=4, horizons=[1, 2, 5]
        ),
        **ALONE,
    ),
    "function, truncated": Kind(
        values,
        lambda X, y, seed: cw.reference(
            first_output, X, n_draws=7, noise_variance=noise_by_row, bounds=(-1, 1)
        ),
        **ALONE,
    ),
    "trees of the house": Kind(
        values,
        lambda X, y, seed: cw.reference(
            cw.read_ensemble(DecisionTreeRegressor(max_depth=3).fit(X, y)), X
        ),
        **ALONE,
    ),
    "subclass": Kind(
        values,
        lambda X, y, seed: cw.reference(Lines(), X),
        checks_columns=False,
        **ALONE,
    ),
}

NAMES = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(
            name.startswith("bart") and not find_spec("stochtree"),
            reason="needs stochtree, which is not installed",
        ),
    )
    for name in KINDS
]


@cache
def made(name: str, seed: int = 0) -> cw.Reference:
    """The reference of a kind; only to be asked."""
    X, y = KINDS[name].rows()
    return KINDS[name].make(X, y, seed)
