"""What references and leaves say, against plain formulas."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import cross_val_score
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.exceptions import InputError, SeenRowsWarning
from clearwood.projection.leaves import Leaves, expected_log_likelihood
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.references import Reference

MIXTURE = PredictiveDraws(
    np.array([[0.0], [3.0], [4.0]]), np.array([[1.0], [0.5], [4.0]])
)
RATES = PredictiveDraws(np.array([[0.5, 0.0], [2.0, 0.0]]), None)


def test_the_density_of_draws_is_that_of_their_mixture():
    plain = stats.norm.pdf(1.7, [0, 3, 4], np.sqrt([1.0, 0.5, 4.0])).mean()
    found = MIXTURE.log_density(np.array([1.7]))
    assert found[0] == pytest.approx(np.log(plain), rel=1e-12)
    plain = stats.poisson.pmf(2, [0.5, 2.0]).mean()
    found = RATES.log_density(np.array([2, 1]))
    assert found[0] == pytest.approx(np.log(plain), rel=1e-12)
    # Where no draw expects any count, one is a great surprise, and no infinite one.
    assert -100 < found[1] < -30


def test_draws_as_one_have_the_mean_and_the_variance_of_their_mixture():
    def moment(power, centre):
        def part(y):
            density = stats.norm.pdf(y, [0, 3, 4], np.sqrt([1.0, 0.5, 4.0])).mean()
            return (y - centre) ** power * density

        return integrate.quad(part, -30, 40, points=[0, 3, 4])[0]

    one = MIXTURE.pooled
    assert one.draws[0, 0] == pytest.approx(moment(1, 0.0), rel=1e-9)
    assert one.noise[0, 0] == pytest.approx(moment(2, one.draws[0, 0]), rel=1e-9)


def test_a_draw_has_its_own_noise():
    alone = MIXTURE.draw(2)
    assert alone.draws.tolist() == [[4.0]] and alone.noise.tolist() == [[4.0]]


def test_leaves_that_say_what_the_reference_says_are_no_distance_from_it():
    leaf, share = np.array([0, 1]), np.array([0.25, 0.75])
    for predictive, family in (
        (
            PredictiveDraws(np.array([[1.0, 5.0]]), np.array([[0.3, 2.0]])),
            "mean_variance",
        ),
        (PredictiveDraws(np.array([[0.5, 3.0], [2.0, 0.0]]), None), "counts"),
        (PredictiveDraws(np.array([[[0.2, 0.8], [1.0, 0.0]]]), None), "classes"),
    ):
        leaves = Leaves.from_predictive(predictive, leaf, share, family)
        own = predictive.negative_entropy @ share
        assert own.mean() == pytest.approx(leaves.log_likelihood, rel=1e-9)
        likely = expected_log_likelihood(leaves, predictive, leaf)
        np.testing.assert_allclose(likely, predictive.negative_entropy, rtol=1e-9)


def test_likelihoods_are_those_that_scipy_gives():
    """Of classes and counts; of values golden facts say as much."""
    predictive = PredictiveDraws(np.array([[2.0, 6.0]]), None)
    leaves = Leaves.from_predictive(
        predictive, np.array([0, 0]), np.array([0.5, 0.5]), "counts"
    )
    assert leaves.means[0, 0] == 4.0
    found = expected_log_likelihood(leaves, predictive, np.array([0, 0]))
    counts = np.arange(80)
    # All constants but the mean log factorial, which stays the reference's.
    for value, rate in zip(found[0], (2.0, 6.0)):
        chance = stats.poisson.pmf(counts, rate)
        plain = chance @ (stats.poisson.logpmf(counts, 4.0) - stats.poisson.logpmf(
            counts, 1.0
        ) - 1.0)  # fmt: skip
        assert value == pytest.approx(plain, rel=1e-9)


def test_what_a_leaf_never_says_is_not_impossible():
    seen = PredictiveDraws(np.array([[[1.0, 0.0]]]), None)
    leaves = Leaves.from_predictive(seen, np.array([0]), np.ones(1), "classes")
    other = PredictiveDraws(np.array([[[0.0, 1.0]]]), None)
    likely = expected_log_likelihood(leaves, other, np.array([0]))
    assert -50 < likely[0, 0] < -30
    # As if each leaf had one row more, of all classes alike: 3.5 of 4 rows.
    usual = seen.baseline(np.ones(1))
    soft = leaves.smoothed(3, usual)
    assert soft.means[0, 0].tolist() == pytest.approx([3.5 / 4, 0.5 / 4])
    assert seen.smoothed(3, usual).draws.tolist() == soft.means.tolist()


def test_one_count_in_a_leaf_without_any_costs_no_more_than_the_leaves_bring():
    share = np.array([0.75, 0.25])
    seen = PredictiveDraws(np.array([[0.0, 4.0]]), None)
    usual = seen.baseline(share)
    assert usual == 1.0
    # A row of the mean rate more: in leaves of three rows and of one, in all four.
    soft = Leaves.from_predictive(seen, np.array([0, 1]), share, "counts").smoothed(
        4, usual
    )
    assert soft.means[0].tolist() == [0.25, 2.5]
    assert seen.smoothed(4, usual).draws[0].tolist() == [0.2, 3.4]
    # Values have spread enough.
    assert MIXTURE.baseline(np.ones(1)) is None
    assert MIXTURE.smoothed(4, None) is MIXTURE

    class OneAmongNone(Plain):
        task = "counts"

        def draws(self, X):
            x = np.asarray(X)[:, 0]
            return np.where(x > 0, 3.0, np.where(x == -7.0, 5.0, 0.0))[None]

    X = np.linspace(-30, 29, 60)[:, None]
    tree = cw.ProjectedTreeRegressor(
        OneAmongNone(), min_samples_leaf=20, random_state=0
    )
    constant, right = tree.fit(X).size_path_.held_out[:2]
    assert right < constant / 2


def test_the_spread_of_observations_is_that_of_the_mean_variance():
    leaves = Leaves(np.ones(1), np.array([[1.0], [3.0]]), np.array([[1.0], [9.0]]))
    assert leaves.aleatoric == pytest.approx([np.sqrt(5)])
    assert leaves.epistemic == pytest.approx([1.0])


class Plain(Reference):
    """A step, from one draw that is sure."""

    task, n_draws, description = "regression", 1, "a step"

    def draws(self, X):
        return np.where(np.asarray(X)[:, 0] > 0, 1.0, -1.0)[None]


def test_rows_of_weight_zero_are_not_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    tree = cw.ProjectedTreeRegressor(Plain(), n_leaf_nodes=2, min_samples_leaf=20).fit(
        X
    )
    # A thousand rows between those at which the step is seen.
    between = np.column_stack([np.linspace(-0.01, 0.01, 1000), np.zeros(1000)])
    with_none = cw.ProjectedTreeRegressor(Plain(), n_leaf_nodes=2, min_samples_leaf=20)
    with_none.fit(np.vstack([X, between]), sample_weight=np.repeat([1, 0], [60, 1000]))
    assert str(with_none.rules_) == str(tree.rules_)
    with refuses(InputError):
        with_none.fit(X, sample_weight=np.eye(60)[0])


def test_a_reference_that_is_sure_has_a_finite_distance():
    X = np.random.default_rng(0).normal(size=(60, 2))
    path = cw.ProjectedTreeRegressor(Plain(), n_leaf_nodes=2).fit(X).size_path_
    assert np.isfinite(path.divergence).all() and np.isfinite(path.log_likelihood).all()


def test_more_draws_than_memory_holds_are_refused_before_they_are_asked_for():
    class Many(Plain):
        n_draws = 10**9

        def draws(self, X):
            raise AssertionError

    with refuses(InputError):
        cw.ProjectedTreeRegressor(Many()).fit(np.zeros((60, 2)))


def test_a_fitted_reference_in_cross_validation_has_seen_the_rows_held_out():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] ** 2
    fitted = cw.reference(BayesianRidge(), X, y, n_draws=3, random_state=0)
    tree = cw.ProjectedTreeRegressor(fitted, n_leaf_nodes=2)
    with warns(SeenRowsWarning):
        cross_val_score(tree, X, y, cv=2)
    # All rows, new rows, or none that are held out: no warning, which would fail.
    tree.fit(X, y).fit(X[:20]).fit(X[:20] + 1.0, y[:20])
    cross_val_score(cw.ProjectedTreeRegressor(BayesianRidge(), n_leaf_nodes=2), X, y)


def test_a_function_has_seen_the_rows_that_it_was_made_with():
    """Whatever their columns; other columns are other rows."""
    X = pd.DataFrame({"a": np.arange(40.0), "hue": ["red", "blue"] * 20})
    y = X["a"].to_numpy()
    source = cw.reference(lambda X, _: X["a"].to_numpy(), X, n_draws=1)
    tree = cw.ProjectedTreeRegressor(source, n_leaf_nodes=2)
    with warns(SeenRowsWarning):
        tree.fit(X[:20], y[:20])
    tree.fit(X[:20].assign(hue="red"), y[:20])

    class First(Reference):
        task, n_draws, description, rows = "regression", 1, "first column", X

        def draws(self, X):
            return X["a"].to_numpy()[None]

    cw.ProjectedTreeRegressor(First(), n_leaf_nodes=2).fit(X[["a"]][:20], y[:20])


def test_whole_numbers_may_be_values():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 4
    labels = cw.reference(None, X, y, n_draws=3, random_state=0)
    with refuses(InputError, match="task='regression'"):
        cw.ProjectedTreeRegressor(labels).fit(X, y)
    values = cw.reference(None, X, y, task="regression", n_draws=3, random_state=0)
    cw.ProjectedTreeRegressor(values, n_leaf_nodes=2).fit(X, y)
