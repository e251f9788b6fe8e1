"""Posterior of splits: sums over all trees by hand, evidence by quadrature, truth."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import gammaln
from tests.projection.test_estimators import Drawn
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.projection import split_posterior
from clearwood.projection.evaluation.split_posterior import (
    NodePosterior,
    SplitPosterior,
    _evidence,
)
from clearwood.projection.predictive_draws import PredictiveDraws, predictive_draws
from clearwood.references import Reference
from clearwood.rules import FeatureSpace, Interval

RNG = np.random.default_rng(0)
LEAST = 3
EXACT = {"limit": 200, "epsabs": 0}


class Given(Reference):
    """Draws for the rows of one table, by the number in their first column."""

    description = "given draws"

    def __init__(self, draws, task, noise=0.5):
        self.values, self.task, self.noise = draws, task, noise
        self.n_draws = len(draws)
        self.classes = np.array(["a", "b", "c"]) if draws.ndim == 3 else None

    def draws(self, X):
        return self.values[:, np.asarray(X)[:, 0].astype(int)]

    def noise_variance(self, X):
        return np.full((self.n_draws, len(X)), self.noise)


def given(family, n_rows=15, n_draws=3):
    """A tree of three leaves projected from random draws; it may not use the number."""
    X = np.column_stack([np.arange(n_rows), RNG.integers(0, 4, (n_rows, 2))])
    step = 2.0 * (X[:, 1] > 1) + RNG.normal(size=(n_draws, n_rows))
    settings = {"n_leaf_nodes": 3, "min_samples_leaf": LEAST, "exclude_features": [0]}
    if family == "classes":
        draws = np.exp(np.stack([step, -step, 0 * step], axis=2))
        reference = Given(draws / draws.sum(axis=2, keepdims=True), "classification")
        return cw.ProjectedTreeClassifier(reference, **settings).fit(X), X
    if family == "counts":
        reference = Given(np.exp(step / 2), "counts")
        return cw.ProjectedTreeRegressor(reference, **settings).fit(X), X
    tree = cw.ProjectedTreeRegressor(Given(step, "regression"), **settings)
    return tree.set_params(family=family).fit(X), X


def log_evidence(tree, X, rows, draw):
    """Log m(B) with its constants: the leaf's parameter integrated numerically."""
    predictive = predictive_draws(tree.reference_, X)
    family, p = tree._family(), predictive.draws[draw, rows]
    if family == "classes":
        counts, alpha = p.sum(axis=0), np.full(3, 1 / 3)
        log_beta = [
            gammaln(a).sum() - gammaln(a.sum()) for a in (alpha + counts, alpha)
        ]
        return log_beta[0] - log_beta[1]
    if family == "counts":
        mean = predictive.draws.mean()

        def density(rate):
            expected = (p * np.log(rate) - rate).sum()
            return stats.expon.pdf(rate, scale=mean) * np.exp(expected)

        return np.log(integrate.quad(density, 0, 20 * mean, **EXACT)[0])
    everything, noise = predictive.draws[draw], predictive.noise[draw]
    variance = tree.leaves_.variances[draw] @ tree.leaves_.share

    def density(mean):
        prior = stats.norm.pdf(mean, everything.mean(), everything.std())
        squares = ((p - mean) ** 2 + noise[rows]).sum()
        each = -0.5 * np.log(2 * np.pi * variance)
        return prior * np.exp(each * len(rows) - squares / variance / 2)

    ends = everything.mean() + everything.std() * np.array([-8, 8])
    return np.log(integrate.quad(density, *ends, **EXACT)[0])


def trees_of(X, rows, depth):
    """All trees: feature of the first split or None, prior probability, boxes."""
    splits = {}
    for d in (1, 2):
        for cut in np.unique(X[:, d]):
            left = X[rows, d] <= cut
            if min(left.sum(), (~left).sum()) >= LEAST:
                splits.setdefault(d, []).append((rows[left], rows[~left]))
    if depth == 0 or not splits:
        return [(None, 1.0, (tuple(rows),))]
    found = [(None, 0.5, (tuple(rows),))]
    for d, sides in splits.items():
        for left, right in sides:
            prior = 0.5 / len(splits) / len(sides)
            found += [
                (d, prior * p * q, boxes + others)
                for _, p, boxes in trees_of(X, left, depth - 1)
                for _, q, others in trees_of(X, right, depth - 1)
            ]
    return found


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("family", ["mean", "counts", "classes"])
def test_all_trees_are_summed(family, depth):
    """The splits of the root, and below it, as shares of an enumeration."""
    tree, X = given(family)
    found = split_posterior(tree, X, depth=depth)
    known = {}

    def evidence(box, draw):
        if (box, draw) not in known:
            known[box, draw] = log_evidence(tree, X, np.array(box), draw)
        return known[box, draw]

    for node in found.nodes:
        inside = [c.matches(X[:, c.feature].astype(float)) for c in node.path]
        rows = np.flatnonzero(np.all(inside, axis=0) & np.ones(len(X), dtype=bool))
        assert node.n_rows == len(rows)
        trees, shares = trees_of(X, rows, depth), np.zeros((3, 4))
        for draw, share in enumerate(shares):
            logs = [
                np.log(prior) + sum(evidence(box, draw) for box in boxes)
                for _, prior, boxes in trees
            ]
            weights = np.exp(np.array(logs) - max(logs))
            for (d, _, _), weight in zip(trees, weights / weights.sum()):
                share[3 if d is None else d] += weight
        expected = shares.mean(axis=0)
        assert node.probabilities == pytest.approx(expected, abs=1e-6)
    assert len(found.nodes) == 2


def test_the_draws_disagree_and_the_posterior_says_so():
    """Each of two draws is a step of its own feature: one half each."""
    X = np.random.default_rng(1).normal(size=(300, 3))

    class Two(Drawn):
        def draws(self, X):
            return 3.0 * (np.asarray(X)[:, :2].T > 0)

    tree = cw.ProjectedTreeRegressor(Two(2, noise=0.1), n_leaf_nodes=2, draws="shared")
    (node,) = split_posterior(tree.fit(X), X, depth=1).nodes
    assert node.probabilities[:2] == pytest.approx([0.5, 0.5], abs=1e-3)
    low, high = node.thresholds
    assert low <= 0 <= high or abs(low) < 0.05 and abs(high) < 0.05


def test_it_is_the_expectation_of_what_the_truth_would_give():
    """Linear regressions drawn from the prior of the reference that learns them."""

    class Linear(Drawn):
        """Exact posterior of slopes with standard normal prior and noise one."""

        def __init__(self, draws):
            self.slopes, self.noise = draws, 1.0
            self.task, self.n_draws, self.classes = "regression", len(draws), None
            self.description = "slopes"

        def draws(self, X):
            return self.slopes @ np.asarray(X).T

    rng, gaps, certain = np.random.default_rng(2), [], []
    for _ in range(60):
        X, slopes = rng.normal(size=(25, 2)), rng.normal(size=2)
        y = X @ slopes + rng.normal(size=25)
        cov = np.linalg.inv(np.eye(2) + X.T @ X)
        draws = rng.multivariate_normal(cov @ X.T @ y, cov, size=100)
        tree = cw.ProjectedTreeRegressor(Linear(draws), n_leaf_nodes=2).fit(X)
        if tree.tree_.n_leaves < 2:
            continue
        (node,) = split_posterior(tree, X, depth=1).nodes
        # Both with the variance of the leaves, which depends on the draw.
        truth = cw.ProjectedTreeRegressor(Linear(slopes[None]), n_leaf_nodes=2).fit(X)
        (right,) = split_posterior(truth, X, depth=1).nodes
        gaps.append(right.probabilities[0] - node.probabilities[0])
        certain.append(node.probabilities[0])
    gaps, certain = np.array(gaps), np.array(certain)
    assert certain.min() < 0.1 and certain.max() > 0.9
    for weight in (np.ones(len(gaps)), certain - 0.5):
        mean = weight * gaps
        assert abs(mean.mean()) < 4 * mean.std() / np.sqrt(len(gaps))


def test_categories_and_missing_values():
    rng = np.random.default_rng(3)
    kind = rng.choice(["x", "y", "z"], 300)
    size = np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300))
    X = pd.DataFrame({"kind": pd.Categorical(kind), "size": size, "same": 1.0})
    y = (kind == "y") * 2.0 + np.isnan(size) + rng.normal(size=300) / 3
    tree = cw.ProjectedTreeRegressor(n_leaf_nodes=4, random_state=0).fit(X, y)
    # Of two levels, either feature may come first.
    nodes = split_posterior(tree, X, depth=1).nodes
    assert nodes[0].feature == 0 and nodes[0].probabilities[0] > 0.9
    assert nodes[0].thresholds is None
    assert nodes[1].probabilities[1] > 0.9
    assert all(node.probabilities[2] == 0 for node in nodes)
    for node in nodes:
        assert node.probabilities.sum() == pytest.approx(1)


def test_what_is_printed():
    features = FeatureSpace.numeric(3, ["age", "dose", "sex"])
    nodes = (
        NodePosterior((), 0, 1200, np.array([0.8, 0.14, 0.04, 0.02]), (-1.3, 2.04)),
        NodePosterior(
            (Interval(0, low=1.5),), 1, 84, np.array([0.1, 0.5, 0.0, 0.4]), (3, 3)
        ),
        NodePosterior(
            (Interval(0, low=1.5), Interval(1, high=3)), 2, 40,
            np.array([0.0, 0.0, 1.0, 0.0]), None,
        ),
    )  # fmt: skip
    same_lines(str(SplitPosterior(nodes, features, 2)))


def test_with_many_features_one_level_is_summed():
    X = np.random.default_rng(6).normal(size=(300, 60))
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=3).fit(X)
    assert split_posterior(tree, X).depth == 1


def test_a_tree_without_splits_or_rows_for_them_has_none():
    X = np.random.default_rng(7).normal(size=(30, 2))
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=1).fit(X)
    assert split_posterior(tree, X).nodes == ()
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=3, min_samples_leaf=5).fit(X)
    assert [node.n_rows for node in split_posterior(tree, X[:10]).nodes] == [10]
    assert split_posterior(tree, X[:9]).nodes == ()


def test_only_trees_have_splits():
    X = np.random.default_rng(8).normal(size=(60, 2))
    rules = cw.ProjectedRuleListRegressor(Drawn(), n_rules=2, random_state=0).fit(X)
    with refuses(InputError):
        split_posterior(rules, X)
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=2).fit(X)
    with refuses(InputError):
        split_posterior(tree, X, depth=0)


def test_rows_far_apart_do_not_lose_digits():
    """Values with a large common part are centred before squares are added."""
    tree, X = given("mean")
    moved = PredictiveDraws(*predictive_draws(tree.reference_, X))
    far = moved._replace(draws=moved.draws + 1e9)
    (near_stats, near), (far_stats, far_) = (_evidence(p, tree) for p in (moved, far))
    sums = [s[:5].sum(axis=0) for s in (near_stats, far_stats)]
    assert near(sums[0]) == pytest.approx(far_(sums[1]), abs=1e-4)
