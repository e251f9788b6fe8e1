"""Random small models and random ensembles for the tests of this room."""

from typing import Any, NamedTuple

import numpy as np
from sklearn import ensemble as se
from sklearn import tree as st

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.nodes import TreeNodes, join_trees

REGRESSORS = (
    "DecisionTreeRegressor",
    "ExtraTreeRegressor",
    "RandomForestRegressor",
    "ExtraTreesRegressor",
    "GradientBoostingRegressor",
    "HistGradientBoostingRegressor",
    "BaggingRegressor",
    "AdaBoostRegressor",
)
CLASSIFIERS = tuple(name.replace("Regressor", "Classifier") for name in REGRESSORS)
REFUSES_MISSING = ("GradientBoosting", "AdaBoost")


class Case(NamedTuple):
    """A model of another library, rows to ask it about, and its own answers."""

    model: Any
    X: Any
    raw: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray | None


def accepts_missing(kind):
    return not kind.startswith(REFUSES_MISSING)


def random_model(kind, seed):
    """An unfitted model of a kind with settings that vary with the seed."""
    rng = np.random.default_rng(seed)
    depth = [None, 1, 2, 3, 5][seed % 5]
    if kind.startswith(("DecisionTree", "ExtraTree")) and "Trees" not in kind:
        leaf_nodes = [None, 6][rng.integers(2)]
        return getattr(st, kind)(
            max_depth=depth, max_leaf_nodes=leaf_nodes, random_state=seed
        )
    settings = {"random_state": seed}
    if kind.startswith("HistGradient"):
        settings |= {"max_iter": 6, "max_depth": depth, "min_samples_leaf": 3}
        if kind.endswith("Regressor"):
            losses = ["squared_error", "absolute_error", "gamma", "poisson", "quantile"]
            settings["loss"] = losses[seed % 5]
            settings["quantile"] = 0.7 if seed % 5 == 4 else None
    elif kind.startswith("Gradient"):
        settings |= {"n_estimators": 6, "max_depth": depth, "learning_rate": 0.3}
        settings["init"] = [None, "zero"][rng.integers(2)]
        if kind.endswith("Regressor"):
            losses = ["squared_error", "absolute_error", "huber", "quantile"]
            settings["loss"] = losses[seed % 4]
    elif kind.startswith(("Bagging", "AdaBoost")):
        base = ["DecisionTree", "ExtraTree"][rng.integers(2)]
        base += "Regressor" if kind.endswith("Regressor") else "Classifier"
        settings |= {"n_estimators": 7, "estimator": getattr(st, base)(max_depth=depth)}
        if kind.startswith("Bagging"):
            settings |= {"max_features": 0.7, "max_samples": 12}
    else:
        settings |= {"n_estimators": 7, "max_depth": depth, "bootstrap": seed % 2 == 0}
    return getattr(se, kind)(**settings)


def random_table(kind, seed):
    """Rows, target and weights: rounded columns, missing values, 2-5 classes."""
    rng = np.random.default_rng(1000 + seed)
    X = rng.normal(size=(90, 4)) * [1, 10, 1e-3, 1e6]
    X[:, 1] = np.round(X[:, 1])
    X[:, 3] = np.round(X[:, 3], -6)
    signal = X[:, 0] + X[:, 1] / 10 + rng.normal(size=90) / 3
    if accepts_missing(kind) and seed % 3:
        X[rng.random(X.shape) < 0.15] = np.nan
    weight = rng.integers(1, 4, size=90).astype(float) if seed % 4 == 1 else None
    if kind.endswith("Regressor"):
        return X, np.exp(signal), weight
    n_classes = 2 + seed % 4
    codes = np.digitize(
        signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    )
    labels = np.array(["ash", "beech", "cedar", "douglas fir", "elm"])
    return X, labels[codes] if seed % 2 else codes * 10 - 10, weight


def native_thresholds(model):
    """(column, threshold) of every numeric split, from the model's own arrays."""
    pairs = []
    if hasattr(model, "_predictors"):
        for predictor in np.ravel(np.array(model._predictors, dtype=object)):
            inner = predictor.nodes[predictor.nodes["is_leaf"] == 0]
            pairs += zip(inner["feature_idx"], inner["num_threshold"])
        return pairs
    trees = [model] if hasattr(model, "tree_") else np.ravel(model.estimators_)
    every_column = [np.arange(model.n_features_in_)] * len(trees)
    columns = getattr(model, "estimators_features_", every_column)
    for tree, seen in zip(trees, columns):
        inner = tree.tree_.children_left >= 0
        pairs += zip(
            np.asarray(seen)[tree.tree_.feature[inner]], tree.tree_.threshold[inner]
        )
    return pairs


def rows_on_cuts(model, X, rng, n_cuts=60):
    """Rows exactly on thresholds, beside them, and halfway between float32 values."""
    # An infinite threshold, missing against the rest, is not a place to stand on.
    pairs = [pair for pair in native_thresholds(model) if np.isfinite(pair[1])]
    if not pairs:
        return X
    rows = []
    for i in rng.choice(len(pairs), size=min(n_cuts, len(pairs)), replace=False):
        column, threshold = pairs[i]
        single = np.float32(threshold)
        up = np.nextafter(single, np.float32(np.inf))
        down = np.nextafter(single, np.float32(-np.inf))
        values = [threshold, single, up, down]
        values += [(float(single) + float(x)) / 2 for x in (up, down)]
        values += [np.nextafter(v, side) for v in values for side in (-np.inf, np.inf)]
        for value in values:
            row = X[rng.integers(len(X))].copy()
            row[column] = value
            rows.append(row)
    return np.array(rows)


def random_ensemble(rng, n_trees=3, width=1, max_depth=5):
    """Trees that nobody fitted: numeric and categorical splits, random sides."""
    features = FeatureSpace(("a", "b", "c"), (None, ("r", "g", "b", "y"), None))
    trees = [random_tree(rng, features, width, max_depth) for _ in range(n_trees)]
    return TreeEnsemble(
        features=features,
        task="regression" if width == 1 else "classification",
        classes=None if width == 1 else np.arange(width),
        **join_trees(trees),
        base_score=rng.normal(size=width),
        link="identity" if width == 1 else "softmax",
        allows_missing=True,
        allows_infinite=True,
        input_dtype="float64",
        source="tests",
    )


def random_tree(rng, features, width, max_depth):
    nodes = TreeNodes([], [], [], [], [], [], unseen_left=[])

    def grow(depth):
        node = len(nodes.feature)
        leaf = depth == 0 or rng.random() < 0.2
        feature = -1 if leaf else int(rng.integers(features.n_features))
        nodes.feature.append(feature)
        nodes.cut.append(rng.integers(-2, 3) / 2)
        nodes.missing_left.append(rng.random() < 0.5)
        nodes.unseen_left.append(rng.random() < 0.5)
        nodes.value.append(rng.normal(size=width))
        nodes.left.append(-1)
        nodes.right.append(-1)
        if not leaf:
            if features.categories[feature] is not None:
                size = len(features.categories[feature])
                nodes.categories_left[node] = rng.random(size) < 0.5
            nodes.left[node] = grow(depth - 1)
            nodes.right[node] = grow(depth - 1)
        return node

    grow(max_depth)
    return nodes


def symmetric_tree(rng, features, depth):
    """All rows of a level are asked the same, as in CatBoost."""
    n_inner, n = 2**depth - 1, 2 ** (depth + 1) - 1
    level = np.log2(np.arange(1, n + 1)).astype(int)
    of_level = rng.integers(features.n_features, size=depth + 1)
    cuts = rng.integers(-2, 3, size=depth + 1) / 2
    missing_left, unseen_left = rng.random((2, depth + 1)) < 0.5
    sets = {d: rng.random(len(c)) < 0.5 for d, c in enumerate(features.categories) if c}
    feature = np.where(np.arange(n) < n_inner, of_level[level], -1)
    return TreeNodes(
        feature=feature,
        cut=cuts[level],
        left=2 * np.arange(n) + 1,
        right=2 * np.arange(n) + 2,
        missing_left=missing_left[level],
        unseen_left=unseen_left[level],
        value=rng.normal(size=(n, 1)),
        categories_left={i: sets[d] for i, d in enumerate(feature) if d in sets},
    )


def random_rows(rng, n_rows):
    """Encoded rows for ``random_ensemble``: on and off cuts, missing, unseen."""
    X = rng.integers(-3, 4, size=(n_rows, 3)) / 2 + rng.choice(
        [0, 0, 1e-16], (n_rows, 3)
    )
    X[:, 1] = rng.integers(-1, 4, size=n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X
