"""Meta-trees of all kinds, small enough to count their prunings by hand."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.metatree.naive import path

from clearwood.metatree import (
    CategoricalDirichlet,
    MetaTree,
    NormalNormalGamma,
    PoissonGamma,
    from_ensemble_tree,
    from_sklearn_tree,
    given,
)
from clearwood.metatree.reading.read_tree import MapTreeMixin
from clearwood.rules import FeatureSpace

HUES = ("red", "blue", "tan")


class Reader(MapTreeMixin):
    """As little of an estimator as the reading needs."""

    def __init__(self, meta_tree, classes=()):
        self.meta_tree_ = meta_tree
        if len(classes):
            self.classes_ = np.array(classes)


def prunings(structure):
    """All prunings by brute force, as sets of nodes that ask."""

    def below(node):
        if structure.first_child[node] < 0:
            return [frozenset()]
        first = structure.first_child[node]
        children = range(first, first + structure.n_children[node])
        ways = itertools.product(*[below(int(child)) for child in children])
        return [frozenset()] + [frozenset({node}).union(*way) for way in ways]

    return below(0)


def log_weight(tree, asks):
    """Log of prior times likelihood of one pruning, from its leaves alone."""
    s, total = tree.structure, tree.posterior().total
    found, todo = 0.0, [0]
    while todo:
        node = todo.pop()
        if node in asks:
            found += np.log(tree.g[node])
            first = int(s.first_child[node])
            todo += range(first, first + int(s.n_children[node]))
            if tree.model.weight_of(tree.own[node]) > 0:
                found += tree.model.log_marginal(tree.own[node])
        else:
            if s.first_child[node] >= 0:
                found += np.log1p(-tree.g[node])
            if tree.model.weight_of(total[node]) > 0:
                found += tree.model.log_marginal(total[node])
    return found


def end_in(tree, asks, X):
    """The node of a pruning that decides each row, by the routing of T_max."""
    s = tree.structure
    ends = []
    for deepest in s.route(s.encode(X)):
        nodes = path(s, int(deepest))
        ends.append(next((n for n in nodes if n not in asks), int(deepest)))
    return np.array(ends)


def many_values(missing="stop", classes=3):
    """Three kinds of questions: 3 values, 2 values, 3 colours."""
    rng = np.random.default_rng(0)
    features = FeatureSpace(("size", "flag", "hue"), (None, None, HUES))
    widths = 3 + (missing == "branch")
    feature = [0] + [1, 2, 1, -1][:widths]
    structure = given(feature, [3, 2, 3], features=features, missing=missing)
    X = np.empty((60, 3), dtype=object)
    X[:, 0] = rng.integers(0, 3, 60)
    X[:, 1] = rng.integers(0, 2, 60)
    X[:, 2] = rng.choice(np.array(HUES, dtype=object), 60)
    y = (X[:, 0].astype(int) + X[:, 1].astype(int)) % classes
    X[::9, 1] = None
    X[::11, 2] = "pink"
    tree = MetaTree(structure, CategoricalDirichlet.symmetric(classes), 0.6)
    return tree.update(structure.encode(X), y), X, list("abc")[:classes]


def all_rows():
    """Every combination of values, missing and never seen ones included."""
    values = [[0, 1, 2, 7, None], [0, 1, 5, None], [*HUES, "pink", None]]
    return np.array(list(itertools.product(*values)), dtype=object)


def cart(n=120, classes=3, depth=3):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.integers(0, 40, (n, 3)) / 10, columns=["a", "b", "c"])
    X.iloc[::7, 1] = np.nan
    y = ((X["a"] > 2).astype(int) + (X["b"].fillna(9) > 1.5)) % classes
    y = np.where(rng.uniform(size=n) < 0.1, 0, y)
    model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
    structure = from_sklearn_tree(model)
    tree = MetaTree(structure, CategoricalDirichlet.symmetric(classes), 0.5)
    return tree.update(structure.encode(X), y), X, ["x", "y", "z"][:classes]


def values(kind="normal"):
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(200, 2))
    y = np.where(X[:, 0] > 0.5, 5.0, 1.0) + (X[:, 1] > 0.3) + rng.normal(size=200) / 9
    leaf = NormalNormalGamma(y.mean(), 0.1, 1.0, 0.1)
    if kind == "counts":
        y, leaf = rng.poisson(np.abs(y)).astype(float), PoissonGamma()
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
    structure = from_sklearn_tree(model)
    return MetaTree(structure, leaf, 0.5).update(structure.encode(X), y), X, ()


def lightgbm_categories():
    lightgbm = pytest.importorskip("lightgbm")
    from clearwood import read_ensemble

    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "hue": pd.Categorical(rng.choice(list("abcdef"), 300)),
            "size": rng.uniform(size=300),
        }
    )
    y = (X["hue"].isin(["a", "d"]) ^ (X["size"] > 0.6)).astype(int)
    data = lightgbm.Dataset(X, y)
    settings = {
        "objective": "binary", "num_leaves": 6, "min_data_per_group": 1,
        "cat_smooth": 0, "min_data_in_leaf": 5, "verbose": -1, "num_threads": 1,
        "max_cat_to_onehot": 1,
    }  # fmt: skip
    ensemble = read_ensemble(lightgbm.train(settings, data, 1))
    structure = from_ensemble_tree(ensemble, 0)
    tree = MetaTree(structure, CategoricalDirichlet.symmetric(2), 0.9)
    return tree.update(structure.encode(X), y), X, ["no", "yes"]
