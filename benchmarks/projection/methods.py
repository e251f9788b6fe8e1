"""Methods compared: projected trees, trees fitted to the observations, and others.

A method takes a case and its reference and gives an :class:`Answer` by name.
"""

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw
from benchmarks._study import simplifier
from benchmarks.projection.cases import SIZES, projected

LEAST = 0.001
"""Lower bound on the probabilities of all methods in the log loss."""

ROWS_OF_A_LEAF = (1, 2, 5, 10, 20, 30)
"""Minimum leaf sizes among which cross-validation chooses for CART."""

MOST_LEAVES = {"regression": 64, "classification": 32}
"""Most leaves of a born-again tree that chooses its size."""


class Answer(NamedTuple):
    """Predictions of a method for the test rows: values or class probabilities.

    Attributes
    ----------
    by_size : dict of int to ndarray
        For each available size.
    own : ndarray or None
        At the size that it chooses itself, or of a model without size.
    lines : int
        That size: leaves, or nodes with weight; 0 where there is none.
    """

    by_size: dict[int, np.ndarray]
    own: np.ndarray | None = None
    lines: int = 0


# The interpretability utility: trees fitted to a reference


def own_answer(case, reference):
    """Predictions of the reference itself."""
    return Answer({}, reference.mean_and_variance(case.X_test)[0])


def plain(case, reference):
    """As in the paper: greedy growth, but cut back to the best subtree of each size."""
    return of_trees(case, projected(case, reference, refine=False).trees_)


def refined(case, reference):
    """With splits and leaves that move while the likelihood rises."""
    return of_trees(case, projected(case, reference).trees_)


def of_trees(case, trees):
    return Answer({tree.n_leaves: predictions(case, tree.to_rules()) for tree in trees})


def predictions(case, rules):
    """Predictions of rules for the test rows."""
    return (rules.predict_proba if case.is_class else rules.predict)(case.X_test)


# The interpretability prior: trees fitted to the observations


class Observed(cw.Reference):
    """The observations as a reference of one draw on the training rows."""

    n_draws, is_posterior, description = 1, False, "observations"

    def __init__(self, case):
        self.task, self.values = case.task, case.y
        if case.is_class:
            self.classes = np.unique(case.y)
            self.values = np.eye(len(self.classes))[case.y]

    def draws(self, X):
        return self.values[None]


def searched(case, reference):
    """Trees fitted to the observations by the search that fits those of the reference.

    They differ from projected trees by the reference alone.
    """
    trees = projected(case, Observed(case)).trees_
    if not case.is_class:
        return of_trees(case, trees)
    by_size = {}
    for tree in trees:
        rows = np.bincount(tree.apply(case.X), minlength=tree.n_leaves)
        by_size[tree.n_leaves] = softened(
            predictions(case, tree.to_rules()), rows[tree.apply(case.X_test)]
        )
    return Answer(by_size)


def softened(share, rows):
    """Class shares in leaves with one row added, split equally among the classes."""
    return (rows[:, None] * share + 1 / share.shape[1]) / (rows[:, None] + 1)


def cart(case, **settings):
    make = DecisionTreeClassifier if case.is_class else DecisionTreeRegressor
    return make(random_state=case.seed, **settings)


def cart_predictions(fitted, X):
    """Values, or smoothed probabilities, so that pure leaves are not certain."""
    if not hasattr(fitted, "classes_"):
        return fitted.predict(X)
    rows = fitted.tree_.n_node_samples[fitted.apply(X)]
    return softened(fitted.predict_proba(X), rows)


def by_loss(fitted, X, y):
    """Negative squared error, or log likelihood."""
    predicted = cart_predictions(fitted, X)
    if predicted.ndim == 1:
        return -np.mean((predicted - y) ** 2)
    return np.mean(np.log(predicted[np.arange(len(y)), y]))


def carts(case, reference):
    """CART with K leaves, with default settings and tuned by five folds.

    Tuned are the fewest rows of a leaf, for every K; in ``cart_at_most`` the number of
    leaves up to K as well; in ``cart_tuned_accuracy`` for accuracy instead of log loss.
    """
    sizes = {"max_leaf_nodes": SIZES, "min_samples_leaf": ROWS_OF_A_LEAF}
    scores = {"loss": by_loss} | ({"accuracy": "accuracy"} if case.is_class else {})
    search = GridSearchCV(cart(case), sizes, scoring=scores, refit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(case.X, case.y)
    tried = pd.DataFrame(search.cv_results_["params"])
    for score in scores:
        tried[score] = search.cv_results_[f"mean_test_{score}"]

    def best(score, rows):
        chosen = tried.loc[tried.loc[rows, score].idxmax(), list(sizes)].astype(int)
        return answer(**chosen.to_dict())

    def answer(**settings):
        return cart_predictions(cart(case, **settings).fit(case.X, case.y), case.X_test)

    leaves = tried["max_leaf_nodes"]
    found = {
        "cart": {k: answer(max_leaf_nodes=k) for k in SIZES},
        "cart_tuned": {k: best("loss", leaves == k) for k in SIZES},
        "cart_at_most": {k: best("loss", leaves <= k) for k in SIZES},
    }
    if case.is_class:
        found["cart_tuned_accuracy"] = {k: best("accuracy", leaves == k) for k in SIZES}
    return {name: Answer(by_size) for name, by_size in found.items()}


# Tree ensembles, and surrogates of them


def forests(case, reference):
    """A forest, its born-again tree and its Node Harvest."""
    make = RandomForestClassifier if case.is_class else RandomForestRegressor
    forest = make(random_state=case.seed).fit(case.X, case.y)
    of_forest = (forest.predict_proba if case.is_class else forest.predict)(case.X_test)
    most = MOST_LEAVES[case.task]
    tree = fitted(case, "BornAgainTree", forest, n_rules="auto", max_rules=most)
    few = fitted(case, "NodeHarvest", forest, max_rules=max(SIZES))
    # As in the article, and in the R package that the paper used.
    nodes = fitted(case, "NodeHarvest", forest, max_rules=None, learn_from="labels")
    by_size = {rules.n_rules: predictions(case, rules) for rules in few.path_}
    return {
        "forest": Answer({}, of_forest),
        "born_again": of_trees(case, tree.trees_)._replace(
            own=predictions(case, tree.rules_), lines=tree.rules_.n_rules
        ),
        "node_harvest": Answer(
            by_size, predictions(case, nodes.rules_), nodes.rules_.n_rules
        ),
    }


def fitted(case, name, forest, **settings):
    settings["random_state"] = case.seed
    return simplifier(name, case.is_class, forest, **settings).fit(case.X, case.y)


METHODS = {
    "reference": own_answer,
    "plain": plain,
    "refined": refined,
    "searched": searched,
    "carts": carts,
    "forests": forests,
}


# Scores


def measures(case):
    """Scores on test rows."""
    return {"log loss": log_loss, "accuracy": accuracy} if case.is_class else {
        "rmse": rmse
    }  # fmt: skip


def rmse(y, predicted):
    return float(np.sqrt(np.mean((predicted - y) ** 2)))


def log_loss(y, predicted):
    predicted = np.maximum(predicted, LEAST)
    predicted = predicted / predicted.sum(axis=1, keepdims=True)
    return float(-np.mean(np.log(predicted[np.arange(len(y)), y])))


def accuracy(y, predicted):
    return float(np.mean(predicted.argmax(axis=1) == y))


def rows_of(case, name, answer, seconds):
    """A row per measure: a score per size, of the largest tree up to that size."""
    rows = []
    for measure, score in measures(case).items():
        by_size = {
            k: score(case.y_test, predicted) for k, predicted in answer.by_size.items()
        }
        row: dict[str, Any] = {"method": name, "measure": measure, "seconds": seconds}
        row |= {"lines": answer.lines, "own": np.nan}
        if answer.own is not None:
            row["own"] = score(case.y_test, answer.own)
        for k in SIZES:
            smaller = [size for size in by_size if size <= k]
            row[str(k)] = by_size[max(smaller)] if smaller else np.nan
        rows.append(row)
    return rows


def rows_of_all(case, reference, seconds):
    """All methods on one case; ``seconds`` is the time of the reference."""
    rows = []
    for name, method in METHODS.items():
        begin = time.perf_counter()
        found = method(case, reference)
        taken = time.perf_counter() - begin
        if isinstance(found, Answer):
            found = {name: found}
        if name == "reference":
            taken = seconds
        for one, answer in found.items():
            rows += rows_of(case, one, answer, taken)
    return rows
