"""The Bayesian bootstrap, and trees of fitted forests, against theory and by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from tests.references.kinds import species, values
from tests.references.test_noise import check_noise_of
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references import BayesianBootstrapForest, ForestReference


def test_a_root_alone_is_rubins_bayesian_bootstrap():
    """Weighted means have the mean of the data, and its variance over n + 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.gamma(1.0, size=30)
    n_draws = 400
    forest = BayesianBootstrapForest(
        X, y, n_draws=n_draws, min_samples_leaf=30, noise_variance=0, random_state=0
    )
    draws = forest.draws(X)
    assert (draws == draws[:, :1]).all()
    means, exact = draws[:, 0], y.var() / 31
    # Five standard errors: of a mean, and of a variance of nearly normal draws.
    assert abs(means.mean() - y.mean()) < 5 * np.sqrt(exact / n_draws)
    assert abs(means.var() - exact) < 5 * exact * np.sqrt(3 / n_draws)


def test_counts_of_rows_are_those_of_the_dirichlet_distribution():
    """Means have the mean of the counted rows, and its variance over their sum + 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.gamma(1.0, size=30)
    counts = rng.choice([0.5, 1.0, 6.0], size=30)
    n_draws = 400
    settings = {"min_samples_leaf": 30, "noise_variance": 0, "random_state": 0}
    forest = cw.reference(None, X, y, sample_weight=counts, n_draws=n_draws, **settings)
    means, mean = forest.draws(X)[:, 0], np.average(y, weights=counts)
    exact = np.average((y - mean) ** 2, weights=counts) / (counts.sum() + 1)
    assert abs(means.mean() - mean) < 5 * np.sqrt(exact / n_draws)
    assert abs(means.var() - exact) < 5 * exact * np.sqrt(3 / n_draws)


def test_counts_of_one_are_none_and_of_zero_leave_rows_out():
    X, y = values()
    settings = {"n_draws": 5, "random_state": 0}
    plain = cw.reference(None, X, y, **settings)
    ones = cw.reference(None, X, y, sample_weight=np.ones(len(y)), **settings)
    assert (ones.draws(X) == plain.draws(X)).all() and ones.noise == plain.noise
    zeros = np.arange(len(y)) % 3 == 0
    some = cw.reference(None, X, y, sample_weight=~zeros, **settings)
    without = cw.reference(None, X[~zeros], y[~zeros], **settings)
    assert (some.draws(X) == without.draws(X)).all() and some.noise == without.noise
    # Folds are of other rows, and have no counts.
    heavy = cw.reference(None, X, y, sample_weight=np.arange(len(y)), **settings)
    assert (heavy.draws(X) != plain.draws(X)).any()
    assert (heavy.refit(X, y).draws(X) == plain.draws(X)).all()
    # A list keeps its numbers' type, of which the task depends.
    numbers = BayesianBootstrapForest(
        [[0.0], [1.0], [2.0]], [0, 1, 2], n_draws=2, sample_weight=[0, 2, 2]
    )
    assert numbers.classes.tolist() == [1, 2]


def test_counts_that_leave_nothing_to_tell_apart_are_refused():
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "b"]
    with refuses(InputError, match="'b'"):
        cw.reference(None, X, y, sample_weight=[0, 1, 1])
    with refuses(InputError, match="1e-08"):
        cw.reference(None, X, y, sample_weight=[0, 5e-9, 5e-9])
    with refuses(InputError):
        cw.reference(None, X, y, sample_weight=[0, -1, 1])


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize("cell", [np.inf, -np.inf, 1e39])
@pytest.mark.parametrize(
    "model",
    [None, RandomForestRegressor(2), make_pipeline(RandomForestRegressor(2))],
)
def test_rows_that_hold_infinity_are_named(model, cell):
    X, y = values()
    bad = X.copy()
    bad.iloc[3, 1] = cell
    # Behind the columns that a column of categories may become.
    few = {"n_draws": 3} if model is None else {}
    reference = cw.reference(model, X, y, random_state=0, **few)
    with refuses(InputError, match=f"1.*{bad.columns[1]}"):
        reference.draws(bad[2:])
    for make in (reference.refit, lambda X, y: cw.reference(model, X, y, **few)):
        with refuses(InputError, match=f"3.*{bad.columns[1]}"):
            make(bad, y)


def test_a_cell_behind_categories_is_named_by_its_own_column():
    X, y = values()
    bad = X.assign(hue=np.resize(["red", "tan", "blue"], len(X)))
    bad = bad[["hue", *X.columns]]
    bad.iloc[3, 1] = np.inf
    with refuses(InputError, match=f"3.*'{X.columns[0]}'"):
        cw.reference(None, bad, y)


def test_infinity_is_named_to_other_models_that_are_fitted():
    X, y = values()
    bad = X.copy()
    bad.iloc[3, 1] = np.inf
    with refuses(InputError):
        cw.reference(Ridge(), bad, y)


def test_empty_cells_may_stay():
    X, y = values()
    X = X.mask(X > X.quantile(0.9))
    assert np.isfinite(cw.reference(None, X, y, n_draws=3).draws(X)).all()


def test_shares_of_classes_have_a_beta_posterior():
    X, y = np.zeros((20, 1)), np.repeat(["no", "yes"], [14, 6])
    forest = BayesianBootstrapForest(X, y, n_draws=1000, random_state=0)
    yes = forest.draws(X[:1])[:, 0, 1]
    # Beta(6, 14); the ordinary bootstrap has 21 values only, and nearly its variance.
    assert len(np.unique(yes)) == 1000
    exact = 0.3 * 0.7 / 21
    assert abs(yes.mean() - 0.3) < 5 * np.sqrt(exact / 1000)
    assert abs(yes.var() - exact) < 5 * exact * np.sqrt(3 / 1000)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_predicted_varies_as_new_rows_do(seed):
    """Noise of the forest, and of its trees, add up to the error on new rows."""
    X, y = make_friedman1(1000, noise=2.0, random_state=seed)
    reference = cw.reference(None, X[:400], y[:400], n_draws=60, random_state=seed)
    mean, variance, noise = reference.mean_and_variance(X[400:])
    error = np.mean((y[400:] - mean) ** 2)
    # The error of 600 rows is known to 6 %, its estimate from 400 rows to 7 %.
    assert 0.7 < np.mean(variance + noise) / error < 1.4
    assert variance.min() > 0 and error < y.var() / 2
    assert (noise == noise[0]).all()


def test_noise_of_the_bootstrap_is_of_smaller_forests_on_other_rows():
    X, y = values()
    settings = {"n_draws": 25, "min_samples_leaf": 3, "random_state": 4}
    errors, variances = [], []
    for train, test in KFold(5, shuffle=True, random_state=4).split(X):
        fold = BayesianBootstrapForest(
            X.iloc[train], y[train], noise_variance=0, **settings
        )
        draws = fold.draws(X.iloc[test])
        errors.append(y[test] - draws.mean(axis=0))
        variances.append(draws.var(axis=0))
    forest = BayesianBootstrapForest(X, y, **settings)
    noise = forest.noise_variance(X)
    assert (noise == noise[0, 0]).all() and noise[0, 0] > 0
    check_noise_of(np.concatenate(errors), np.concatenate(variances), noise[0, 0])


def test_draws_of_the_bootstrap_differ_more_where_there_are_fewer_rows():
    X, y = make_friedman1(1200, random_state=0)
    few, many = (
        BayesianBootstrapForest(X[:n], y[:n], n_draws=30, noise_variance=0)
        for n in (60, 1200)
    )
    spread = [r.mean_and_variance(X)[1].mean() for r in (few, many)]
    assert spread[0] > 1.5 * spread[1]


@pytest.mark.filterwarnings(
    "ignore:No row:clearwood.exceptions.UnknownCategoriesWarning"
)
def test_labels_are_split_and_new_ones_are_none_of_them():
    hue = np.tile(["red", "blue", "green"], 20)
    X = pd.DataFrame({"hue": hue, "size": np.arange(60.0)})
    y = np.where(hue == "blue", 5.0, 0.0)
    reference = cw.reference(None, X, y, n_draws=10, random_state=0)
    np.testing.assert_allclose(reference.draws(X), np.tile(y, (10, 1)), atol=1e-12)
    assert reference.noise_variance(X).max() < 1e-20
    new = X.assign(hue="violet", size=np.nan)
    np.testing.assert_allclose(reference.draws(new), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "task"),
    [
        ([0.5, 1.5] * 10, "regression"),
        (list(range(20)), "classification"),
        (list(range(21)), "regression"),
        ([True, False] * 10, "classification"),
        (["a", "b"] * 10, "classification"),
    ],
)
def test_the_task_is_what_the_target_is_for(y, task):
    X = np.arange(float(len(y)))[:, None]
    assert BayesianBootstrapForest(X, y, n_draws=2).task == task


def test_the_task_may_be_told():
    X, y = np.eye(20), list(range(4)) * 5
    numbers = BayesianBootstrapForest(X, y, n_draws=2, task="regression")
    assert numbers.draws(X).shape == (2, 20)


def test_one_class_is_refused():
    with refuses(InputError, match="'a'"):
        cw.reference(None, [[0.0], [1.0]], ["a", "a"])


# Fitted forests


def errors_by_hand(forest, X, y):
    """Row by row: errors out of bag, and the variance of the trees."""
    errors, variances = [], []
    for i in range(len(y)):
        said = [
            tree.predict(X[[i]])[0]
            for tree, bag in zip(forest.estimators_, forest.estimators_samples_)
            if i not in set(bag.tolist())
        ]
        if len(said) > 1:
            errors.append(y[i] - np.mean(said))
            variances.append(np.var(said))
    return np.array(errors), np.array(variances)


@pytest.mark.parametrize("settings", [{}, {"max_samples": 0.5}])
def test_noise_of_a_forest_is_from_rows_out_of_bag(settings):
    X, y = values()
    forest = RandomForestRegressor(9, min_samples_leaf=5, random_state=0, **settings)
    reference = cw.reference(forest, X, y)
    noise = reference.noise_variance(X)
    assert (noise == noise[0, 0]).all() and noise[0, 0] > 0
    check_noise_of(*errors_by_hand(reference.model, X.to_numpy(), y), noise[0, 0])
    np.testing.assert_allclose(
        reference.draws(X).mean(axis=0), reference.model.predict(X)
    )


def test_noise_of_a_forest_needs_its_own_rows():
    X, y = values()
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    assert not ForestReference(forest).noise_variance(X).any()
    assert (ForestReference(forest, noise_variance=3.0).noise_variance(X) == 3).all()
    with refuses(InputError):
        cw.reference(forest, X[:40], y[:40])


def test_classes_of_a_forest_keep_their_order():
    X, y = species()
    forest = RandomForestClassifier(7, random_state=0).fit(X, y)
    mean, variance, noise = cw.reference(forest, X, y).mean_and_variance(X)
    np.testing.assert_allclose(mean, forest.predict_proba(X), atol=1e-12)
    assert mean.shape == variance.shape and noise.shape == (len(y),)


def test_a_forest_of_several_targets_is_refused():
    X, y = values()
    forest = RandomForestRegressor(3).fit(X, np.column_stack([y, y]))
    with refuses(InputError):
        cw.reference(forest)


@pytest.mark.parametrize(
    ("times", "plus"), [(2.0**-200, 0.0), (2.0**60, 0.0), (1.0, 1e9), (1e-10, 0.0)]
)
def test_units_cost_the_bootstrap_forest_nothing(times, plus):
    X, y = make_friedman1(150, random_state=0)
    plain = BayesianBootstrapForest(X, y, n_draws=5, noise_variance=0, random_state=0)
    moved = BayesianBootstrapForest(
        X * times + plus, y * times + plus, n_draws=5, noise_variance=0, random_state=0
    )
    said = (moved.draws(X * times + plus) - plus) / times
    exact = np.log2(times).is_integer() and not plus
    np.testing.assert_allclose(said, plain.draws(X), rtol=0 if exact else 1e-5)
