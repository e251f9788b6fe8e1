"""Intervals of leaves that are estimated from observed targets."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import BayesianRidge

import clearwood as cw
from clearwood.projection.leaves import ROWS_OF_ALL, Leaves
from clearwood.projection.predictive_draws import NORMAL_ENDS, PredictiveDraws
from clearwood.references import Reference


def with_observed(n_rows, means, noise, seed=0, **weights):
    """Two leaves with normal errors, exact and by the plain formula."""
    rng = np.random.default_rng(seed)
    leaf = rng.integers(2, size=n_rows)
    y = np.asarray(means).mean(axis=0)[leaf] + rng.normal(size=n_rows) * (1 + 3 * leaf)
    weight = weights.get("weight", np.ones(n_rows))
    share = np.bincount(leaf, weight) / weight.sum()
    leaves = Leaves(share, np.array(means), np.full(np.shape(means), noise))
    return leaves.with_observed(y, leaf, weight), leaf, y


@pytest.mark.parametrize("noise", [0.01, 100.0])
def test_quantiles_are_those_of_own_rows_and_of_rescaled_others(noise):
    weight = np.random.default_rng(1).uniform(0.5, 2, size=60)
    means = [[0.0, 5.0], [1.0, 5.0]]
    leaves, leaf, y = with_observed(60, means, noise, weight=weight)
    weight = weight / weight.mean()
    error = y - np.array([0.5, 5.0])[leaf]
    pooled = np.average(error**2, weights=weight)
    variance = np.array(
        [
            (np.sum((weight * error**2)[leaf == i]) + ROWS_OF_ALL * pooled)
            / (weight[leaf == i].sum() + ROWS_OF_ALL)
            for i in range(2)
        ]
    )
    implied = noise + np.array([0.25, 0.0])
    share = leaves.share
    widened = max(1.0, implied @ share / (variance @ share))
    assert (widened > 1) == (noise > 1)
    total = leaves.variances[0] + [0.25, 0.0]
    np.testing.assert_allclose(total, widened * variance, rtol=1e-9)
    for i in range(2):
        pairs = [(e, w) for e, w in zip(error[leaf == i], weight[leaf == i])]
        pairs += [
            (e * np.sqrt(variance[i] / variance[k]), w * ROWS_OF_ALL / 60)
            for e, k, w in zip(error, leaf, weight)
        ]
        pairs.sort()
        reached = np.cumsum([w for _, w in pairs]) / sum(w for _, w in pairs)
        for level, found in zip(stats.norm.cdf(NORMAL_ENDS), leaves.errors[i]):
            first = next(e for (e, _), r in zip(pairs, reached) if r >= level - 1e-12)
            assert found == pytest.approx(np.sqrt(widened) * first, rel=1e-9)


def test_quantiles_between_and_beyond_the_levels_are_those_of_a_normal():
    """Where errors are normal, to the limits of floating-point numbers."""
    predictive = PredictiveDraws(
        np.array([[1.0, 2.0], [3.0, 2.0]]),
        np.ones((2, 2)),
        np.outer([1.0, 5.0], NORMAL_ENDS),
    )
    for share in (0.0001, 0.05, 0.37, 0.999):
        expected = 2 + np.array([1, 5]) * stats.norm.ppf(share)
        np.testing.assert_allclose(predictive.quantile(share), expected, rtol=1e-9)
    second = predictive.take(np.array([1]))
    assert second.quantile(0.95)[0] == predictive.quantile(0.95)[1]


class Step(Reference):
    """The truth, with one noise variance."""

    task, n_draws, description, noise = "regression", 1, "a step", 0.25

    def draws(self, X):
        return 2.0 * (np.asarray(X)[:, 0] > 0.5)[None]


@pytest.mark.parametrize("shape", ["normal", "exponential", "t"])
@pytest.mark.parametrize("passed", ["here", "to the reference"])
def test_each_leaf_holds_as_many_new_rows_as_it_says(shape, passed):
    """Leaves of some 150 rows and 50,000 new ones.

    Over samples the coverage of a leaf has a standard deviation of 0.02 to 0.03; with
    one width for both leaves it is 1.0 and 0.8.
    """
    rng = np.random.default_rng(3)

    def made(n):
        X = rng.uniform(size=(n, 1))
        draw = {"normal": rng.normal, "exponential": rng.exponential}.get(shape)
        error = draw(size=n) if draw else rng.standard_t(4, size=n)
        if shape == "exponential":
            error = error - 1
        return X, Step().draws(X)[0] + error * np.where(X[:, 0] > 0.5, 1.0, 0.1)

    (X, y), (new, of_new) = made(300), made(100_000)
    if passed == "here":
        tree = cw.ProjectedTreeRegressor(Step(), n_leaf_nodes=2).fit(X, y)
    else:
        source = cw.reference(Step(), X, y)
        tree = cw.ProjectedTreeRegressor(source, n_leaf_nodes=2).fit(X.copy())
    low, high = tree.predict_interval(new, 0.9).T
    inside = (low <= of_new) & (of_new <= high)
    for leaf in (0, 1):
        assert 0.8 < inside[tree.rules_.apply(new) == leaf].mean() < 0.98


def test_without_targets_of_these_rows_the_reference_alone_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) * (X[:, 0] > 0)
    source = cw.reference(BayesianRidge(), X, y, n_draws=10, random_state=0)
    of_rows = cw.ProjectedTreeRegressor(source, n_leaf_nodes=2).fit(X)
    assert of_rows.leaves_.errors is not None
    others = cw.ProjectedTreeRegressor(source, n_leaf_nodes=2).fit(X + 1)
    assert others.leaves_.errors is None
    # One variance in each draw, as in equation (6).
    assert (np.ptp(others.leaves_.variances, axis=1) == 0).all()
    counts = cw.reference(Step(), X, y)
    counts.task = "counts"
    tree = cw.ProjectedTreeRegressor(counts, n_leaf_nodes=2)
    assert tree.fit(X, np.arange(80.0)).leaves_.errors is None


def test_files_keep_the_quantiles(tmp_path):
    X = np.random.default_rng(0).uniform(size=(60, 1))
    tree = cw.ProjectedTreeRegressor(Step(), n_leaf_nodes=2).fit(X, X[:, 0])
    cw.save(tree, tmp_path / "tree.zip")
    again = cw.load(tmp_path / "tree.zip")
    np.testing.assert_array_equal(again.predict_interval(X), tree.predict_interval(X))
    assert again.leaves_.errors.shape == (2, len(NORMAL_ENDS))
