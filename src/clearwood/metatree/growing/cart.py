"""CART grown by scikit-learn, independently of the units of the data.

scikit-learn rounds numbers to float32, treats values closer than 1e-7 as equal and
nodes of a variance below 2e-16 as pure, and its sums of squares lose what is small
relative to the mean. But a CART depends on the order of values only: so it is grown on
their ranks, and on a centred target, and its thresholds are converted to the data's
units afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._kernels.metatree_growing import neighbours
from clearwood._numeric import category_ranks
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.ensembles.read import read_trees
from clearwood.exceptions import InputError

FAR = 2.0**10
"""Targets whose size exceeds their range by this factor are centred first."""

FINE = 2.0**40
"""Size of the largest scaled target, so that limits on variances have no effect."""

MIDDLE = 64
"""Largest exponent of two at which float32 has enough range on both sides."""

OF_IMPURITY = ("min_impurity_decrease", "ccp_alpha")
"""Parameters of scikit-learn in the units of impurities."""

SQUARED = ("squared_error", "friedman_mse")
"""Criteria whose impurities are in squared units of the target."""


def grow_ensemble(
    encoded: np.ndarray,
    features: FeatureSpace,
    target: np.ndarray,
    weight: np.ndarray,
    model: Any,
    classes: np.ndarray | None = None,
) -> TreeEnsemble:
    """Fit a scikit-learn model, with splits on category sets for categorical features.

    Categories are ordered by their mean target, which for a single split is equivalent
    to trying all sets for two classes and for squared error. Missing values go where
    scikit-learn sends them. The target is of class numbers if there are classes.
    """
    check_finite(encoded, features.names)
    columns, ranks = encoded.copy(), {}
    values: np.ndarray = target[:, None].astype(np.float64)
    if classes is not None:
        values = np.eye(len(classes))[target.astype(int)]
    for d, labels in enumerate(features.categories):
        if labels is None:
            continue
        known = ~np.isnan(encoded[:, d])
        code = encoded[known, d].astype(int)
        ranks[d] = category_ranks(code, values[known], weight[known], len(labels))
        columns[known, d] = ranks[d][code]
    # Bootstrap samples with weights differ from those without.
    weights = None if (weight == 1).all() and not ranks else weight
    y = target if classes is None else classes[target]
    if splits_by_order(model):
        ensemble = _fit_on_ranks(columns, ranks, y, weights, model)
    else:
        ensemble = read_trees(model.fit(columns, y, weights))
    if features.named:
        model.feature_names_in_ = np.array(features.names, dtype=object)
    return _with_category_sets(ensemble, features, ranks)


def check_finite(encoded: np.ndarray, names: tuple[str, ...]) -> None:
    """Raise on infinite numbers, between which there is no middle."""
    infinite = np.isinf(encoded)
    if infinite.any():
        row, d = np.argwhere(infinite)[0]
        raise InputError(
            f"Feature {names[d]!r} holds {encoded[row, d]} in row {row}; trees are "
            "grown on finite numbers. Replace it by a finite or a missing value."
        )


def splits_by_order(model: Any) -> bool:
    """Whether the trees of a model depend on the order of values only.

    Those of other models, such as extra trees, draw thresholds between the least and
    the largest value. And out-of-bag predictions would be in the units of the scaled
    target.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
    >>> splits_by_order(RandomForestRegressor()), splits_by_order(ExtraTreesRegressor())
    (True, False)
    """
    from sklearn import ensemble, tree

    kinds = (
        tree.DecisionTreeClassifier, tree.DecisionTreeRegressor,
        ensemble.RandomForestClassifier, ensemble.RandomForestRegressor,
    )  # fmt: skip
    by_order = getattr(model, "splitter", "best") == "best"
    return isinstance(model, kinds) and by_order and not getattr(model, "oob_score", 0)


# Growing on ranks


def _fit_on_ranks(
    columns: np.ndarray,
    ranked: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    model: Any,
) -> TreeEnsemble:
    """Fit a model on ranks, then restore the numbers in its trees.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_features)
        Changed in place.
    ranked : container of int
        Features that are ranks already, and stay so.
    y, weight, model
        As for fitting the model.
    """
    n, width = columns.shape
    values: dict[int, np.ndarray] = {}
    for d in range(width):
        if d not in ranked:
            known = ~np.isnan(columns[:, d])
            values[d], rank = np.unique(columns[known, d], return_inverse=True)
            columns[known, d] = rank
    columns = columns.astype(np.float32)
    centre, unit, power = 0.0, 1.0, 0
    if not hasattr(model, "predict_proba"):
        centre, unit = centre_and_unit(y)
        if model.criterion == "poisson":
            centre = 0.0  # Counts stay counts.
        y = (y - centre) / unit
        power = 2 if model.criterion in SQUARED else 1
    if weight is not None:
        # Squares of tiny weights underflow.
        weight = weight / _power_of_two(weight.max())
    exponent = int(np.frexp(unit)[1]) - 1
    with _limits_scaled(model, -exponent, power):
        model.fit(columns, y, weight)
    trees = getattr(model, "estimators_", [model])
    samples = getattr(model, "estimators_samples_", [np.arange(n)])
    cuts = []
    for tree, rows in zip(trees, samples):
        nodes = tree.tree_
        below, above = neighbours(
            columns, rows, nodes.children_left, nodes.children_right, nodes.feature,
            nodes.threshold, nodes.missing_go_to_left.astype(bool),
        )  # fmt: skip
        cut = np.full(nodes.node_count, np.nan)
        # Where a split only separates missing values, there is no number above.
        asks = np.flatnonzero((below >= 0) & (above >= 0))
        for d in np.intersect1d(nodes.feature[asks], list(values)):
            at = asks[nodes.feature[asks] == d]
            low, high = values[d][below[at]], values[d][above[at]]
            nodes.threshold[at], cut[at] = cuts_between(low, high)
        if unit != 1.0 or centre != 0.0:
            nodes.value[:] = nodes.value * unit + centre
            nodes.impurity[:] = _scaled(nodes.impurity, exponent, power)
        cuts.append(cut)
    ensemble = read_trees(model)
    cut = np.concatenate(cuts)
    return replace(
        ensemble,
        cut=np.where(np.isnan(cut), ensemble.cut, cut),
        input_dtype="float64",
    )


def centre_and_unit(y: np.ndarray) -> tuple[float, float]:
    """Offset and divisor of a target; both are exact.

    The centre is one of the values, and 0 where the others are not far from 0; the unit
    is a power of two.

    Examples
    --------
    >>> centre_and_unit(np.array([1.0, 5.0, 7.0]) + 2.0**30)[0] - 2.0**30
    5.0
    """
    middle = np.partition(y, len(y) // 2)[len(y) // 2]
    far = abs(middle) > FAR * np.median(np.abs(y - middle))
    centre = float(middle) if far else 0.0
    largest = float(np.abs(y - centre).max())
    tiny = np.finfo(np.float64).smallest_subnormal
    return centre, _power_of_two(max(largest / FINE, tiny)) if largest else 1.0


@contextmanager
def _limits_scaled(model: Any, exponent: int, power: int) -> Iterator[None]:
    """Scale limits to the units of growing, and restore them whatever happens."""
    settings = {name: getattr(model, name) for name in OF_IMPURITY}
    scaled = {
        name: float(_scaled(1.0 * value, exponent, power))
        for name, value in settings.items()
    }
    try:
        yield model.set_params(**scaled)
    finally:
        for fitted in (model, *getattr(model, "estimators_", ())):
            fitted.set_params(**settings)


def _scaled(impurity: Any, exponent: int, power: int) -> Any:
    """Impurity in another unit, at most the largest number.

    The square of a unit may underflow where the scaled number does not.
    """
    for _ in range(power):
        with np.errstate(over="ignore", under="ignore"):
            impurity = np.ldexp(impurity, exponent)
        # scikit-learn accepts no infinite limits.
        impurity = np.minimum(impurity, np.finfo(np.float64).max)
    return impurity


def _power_of_two(x: float) -> float:
    """Next power of two above."""
    return float(np.ldexp(1.0, np.frexp(x)[1]))


def cuts_between(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Midpoints of numbers: scikit-learn's threshold, and the cut in float64.

    Where float32 distinguishes the two numbers, the cut is where scikit-learn's cast
    puts it, so that both separate all numbers alike. Far from the middle of its range
    float32 is considered on the scale of the larger number.

    Parameters
    ----------
    low, high : ndarray of shape (n,)
        The first below the second.

    Examples
    --------
    >>> low, high = np.array([1.0, 1.7e9 + 1.0]), np.array([2.0, 1.7e9 + 2.0])
    >>> [part.tolist() for part in cuts_between(low, high)]
    [[1.5, 1700000001.5], [1.5000000596046448, 1700000001.5]]
    """
    exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    exponent[np.abs(exponent) < MIDDLE] = 0
    low, high = np.ldexp(low, -exponent), np.ldexp(high, -exponent)
    exact = _middle(low, high)
    first, second = low.astype(np.float32), high.astype(np.float32)
    single = _middle(first.astype(np.float64), second.astype(np.float64))
    cast = float64_cut_of_float32_test(single)
    as_cast = (first < second) & (low <= cast) & (cast < high)
    threshold = np.where(as_cast, single, exact)
    cut = np.where(as_cast, cast, exact)
    return np.ldexp(threshold, exponent), np.ldexp(cut, exponent)


def _middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    middle = low / 2 + high / 2
    return np.where(middle < high, middle, low)


# Growing on sets of categories


def _with_category_sets(
    ensemble: TreeEnsemble, features: FeatureSpace, ranks: dict[int, np.ndarray]
) -> TreeEnsemble:
    """Replace cuts in the ranks of categories by sets of categories."""
    by_set = np.isin(ensemble.feature, list(ranks))
    nodes = np.flatnonzero(by_set)
    number = np.full(ensemble.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    sets = [ranks[ensemble.feature[s]] <= ensemble.cut[s] for s in nodes]
    return replace(
        ensemble,
        features=features,
        category_set=number,
        category_offsets=np.cumsum([0, *map(len, sets)]),
        categories_left=np.concatenate([np.zeros(0, dtype=bool), *sets]),
        cut=np.where(by_set, np.nan, ensemble.cut),
        unseen_left=np.zeros(ensemble.n_nodes, dtype=bool),
    )
