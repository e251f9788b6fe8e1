"""BART, against functions that are known."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from tests.references.kinds import grades, species, values
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError, ModelError
from clearwood.references import BartReference, bart_counts


def test_without_stochtree_one_is_told_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "stochtree", None)
    with refuses(InputError):
        cw.reference("bart", *values())


class TestWithStochtree:
    @pytest.fixture(autouse=True)
    def _needs_it(self):
        pytest.importorskip("stochtree", reason="needs stochtree (extra bart)")

    def test_a_known_function_is_found(self):
        """Friedman's first function: nearer than the noise, within its intervals."""
        X, noisy = make_friedman1(400, noise=2.0, random_state=0)
        f = make_friedman1(400, noise=0.0, random_state=0)[1]
        reference = cw.reference("bart", X, noisy, n_draws=200, random_state=0)
        draws, noise = reference.draws(X), reference.noise_variance(X)
        # Fitted to 400 rows: the mean is off by 1.06 to 1.18 with 10 seeds.
        assert np.sqrt(np.mean((draws.mean(axis=0) - f) ** 2)) < 1.4
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        # Meant to be 95 %; shrinkage at the borders costs some.
        assert np.mean((low < f) & (f < high)) > 0.8
        assert 2.5 < noise.mean() < 5.5
        assert (noise == noise[:, :1]).all() and noise[:, 0].std() > 0
        assert draws.std(axis=0).min() > 0

    def test_probabilities_of_two_classes_are_found(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-2, 2, size=(500, 2))
        share = 1 / (1 + np.exp(-2 * X[:, 0]))
        y = np.where(rng.random(500) < share, "yes", "no")
        reference = cw.reference("bart", X, y, n_draws=100, random_state=0)
        assert reference.classes.tolist() == ["no", "yes"]
        mean, variance, _ = reference.mean_and_variance(X)
        assert np.mean(np.abs(mean[:, 1] - share)) < 0.08
        assert variance.min() > 0

    def test_each_of_several_classes_is_told_apart(self):
        X, y = species()
        reference = cw.reference("bart", X, y, n_draws=50, n_trees=30, random_state=0)
        mean = reference.mean_and_variance(X)[0]
        assert np.mean(reference.classes[mean.argmax(axis=1)] == y) > 0.9

    def test_ordered_classes_follow_their_order(self):
        """Of a grade that rises with x, the middle one is in the middle."""
        x = np.linspace(0, 3, 300)[:, None]
        y = np.floor(np.clip(x[:, 0] + 0.3 * np.sin(40 * x[:, 0]), 0, 2.99))
        reference = cw.reference("bart", x, y, task="ordinal", n_draws=50, n_trees=30)
        assert reference.task == "classification"
        mean = reference.mean_and_variance([[0.5], [1.5], [2.5]])[0]
        assert mean.argmax(axis=1).tolist() == [0, 1, 2]
        assert (np.diff(mean @ reference.classes) > 0).all()

    def test_the_order_of_classes_is_stated(self):
        X, y = grades()
        words = pd.Series(np.array(["low", "middle", "high"])[y])
        with refuses(InputError):
            cw.reference("bart", X, words, task="ordinal", n_draws=2, n_trees=2)
        order = pd.CategoricalDtype(["none", "low", "middle", "high"], ordered=True)
        reference, numbers = (
            cw.reference("bart", X, t, task="ordinal", n_draws=3, random_state=0)
            for t in (words.astype(order), y)
        )
        assert reference.classes.tolist() == ["low", "middle", "high"]
        assert (reference.draws(X) == numbers.draws(X)).all()

    def test_labels_alone_are_fitted_again_in_the_order_that_was_stated(self):
        X, y = grades()
        words = np.array(["low", "middle", "high"])[y]
        order = pd.CategoricalDtype(["low", "middle", "high"], ordered=True)
        stated = pd.Series(words).astype(order)
        settings = {"task": "ordinal", "n_draws": 3, "n_trees": 3, "random_state": 0}
        reference = cw.reference("bart", X, stated, **settings)
        again = reference.refit(X, words)
        assert again.classes.tolist() == ["low", "middle", "high"]
        assert (again.draws(X) == reference.draws(X)).all()
        told = cw.reference(
            "bart", X, words, classes=list(order.categories), **settings
        )
        assert (told.draws(X) == reference.draws(X)).all()
        some = words != "middle"
        fold = reference.refit(X[some], words[some])
        assert fold.classes.tolist() == ["low", "middle", "high"]
        assert (fold.draws(X)[..., 1] == 0).all()
        with refuses(InputError, match="'none'"):
            reference.refit(X, np.where(some, words, "none"))
        with refuses(InputError, match="'ordinal'"):
            cw.reference("bart", X, words, classes=["low", "middle", "high"])

    def test_settings_reach_the_sampler(self):
        X, y = values()
        plain = BartReference(X, y, n_draws=5, n_trees=3, random_state=0)
        thin = BartReference(X, y, n_draws=5, n_trees=3, thin=4, random_state=0)
        many = BartReference(X, y, n_draws=5, n_trees=30, random_state=0)
        # One chain: every fourth draw of its 20 is kept.
        whole = BartReference(X, y, n_draws=20, n_trees=3, random_state=0)
        assert (whole.draws(X)[3::4] == thin.draws(X)).all()
        assert (whole.draws(X)[:5] == plain.draws(X)).all()
        stumps = BartReference(
            X, y, n_draws=5, n_trees=3, forest={"max_depth": 1}, random_state=0
        )
        assert max(len(set(d)) for d in stumps.draws(X)) <= 8
        with refuses(InputError, match="'depth'"):
            BartReference(X, y, forest={"depth": 1})
        levels = [np.mean([len(set(d)) for d in r.draws(X)]) for r in (plain, many)]
        assert levels[0] < 40 < levels[1]

    def test_a_fitted_model_is_not_read(self):
        model = pytest.importorskip("stochtree").BARTModel()
        with refuses(ModelError, match='"bart"'):
            cw.reference(model, *values())

    def test_draws_of_a_fitted_model_are_projected_and_explained(self):
        stochtree = pytest.importorskip("stochtree")
        X, y = make_friedman1(200, n_features=5, random_state=0)
        model = stochtree.BARTModel()
        model.sample(X, y, num_mcmc=30, general_params={"random_seed": 0})
        reference = cw.reference(
            model.predict(X, terms="y_hat").T,
            X,
            noise_variance=model.global_var_samples,
        )
        tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=4).fit(X, y)
        mean, found = model.predict(X, terms="y_hat").mean(axis=1), tree.predict(X)
        assert tree.fidelity_ == pytest.approx(
            1 - np.mean((mean - found) ** 2) / mean.var(), abs=0.01
        )
        assert np.isfinite(tree.predict_interval(X)).all()
        local = cw.explain_local(reference, X[0])
        assert local.predicted == pytest.approx(mean[0]) and local.std > 0

    def test_empty_cells_are_refused(self):
        X, y = values()
        X = X.copy()
        X.iloc[3, 0] = np.nan
        with refuses(InputError, match="'bmi'"):
            cw.reference("bart", X, y)

    def test_rates_of_a_constant_are_those_of_the_gamma_posterior(self):
        """With a column that never varies: events per exposure, and their error."""
        rng = np.random.default_rng(0)
        X, exposure = np.zeros((200, 1)), rng.gamma(0.5, 2, 200) + 0.01
        y = rng.poisson(3 * exposure)
        reference = cw.reference(
            "bart", X, y, task="counts", exposure=exposure, n_trees=5, n_draws=800,
            random_state=0,
        )  # fmt: skip
        rates = reference.draws(X[:1])[:, 0]
        rate, sd = y.sum() / exposure.sum(), np.sqrt(y.sum()) / exposure.sum()
        # 800 draws, of which some are dependent; the prior is worth a few events.
        assert rates.mean() == pytest.approx(rate, abs=0.3 * sd)
        assert rates.std() == pytest.approx(sd, rel=0.25)

    def test_rates_are_found_whatever_the_exposure(self):
        """Rows with more exposure are where the rate is low: counts alone mislead."""
        rng = np.random.default_rng(1)
        X = rng.uniform(size=(500, 2))
        rate = np.where(X[:, 0] > 0.5, 2.0, 0.4)
        exposure = rng.uniform(0.5, 1.5, 500) / rate
        y = rng.poisson(rate * exposure)
        settings = {"task": "counts", "n_draws": 150, "n_trees": 50, "random_state": 0}
        reference = cw.reference("bart", X, y, exposure=exposure, **settings)
        draws = reference.draws(X)
        assert np.abs(np.log(draws.mean(axis=0) / rate)).mean() < 0.2
        low, high = np.quantile(draws, [0.05, 0.95], axis=0)
        assert np.mean((low < rate) & (rate < high)) > 0.75
        sent = pickle.loads(pickle.dumps(reference))
        assert (sent.draws(X) == draws).all()
        # What the proxy maximizes is the likelihood of the events.
        tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=2)
        tree.fit(X, y / exposure, sample_weight=exposure)
        assert tree.rules_.rules[0].conditions[0].feature == 0
        high = X[:, 0] > 0.5
        for side in (high, ~high):
            expected = np.average(draws.mean(axis=0)[side], weights=exposure[side])
            assert tree.predict(X)[side].mean() == pytest.approx(expected, rel=0.1)
        assert not reference.can_refit
        settings["n_draws"] = 30
        flat = cw.reference("bart", X, y, **settings).draws(X).mean(axis=0)
        assert np.abs(np.log(flat[high].mean() / flat[~high].mean())) < 0.3

    def test_exposures_are_rounded_to_some_hundred_values(self):
        exposure = np.exp(np.linspace(0, np.log(365), 5000))
        found = bart_counts._rounded(exposure)
        assert len(np.unique(found)) == bart_counts.MOST_EXPOSURES
        assert np.abs(np.log(found / exposure)).max() < 0.016

    @pytest.mark.parametrize(
        ("y", "settings"),
        [
            ([-1, 2], {}),
            ([0.5, 2], {}),
            ([0, 0], {}),
            ([2e6, 2], {}),
            ([1, 2], {"exposure": [1.0, 0.0]}),
            ([1, 2], {"exposure": [1.0]}),
            ([1, 2], {"exposure": [1.0, 1.0], "task": "regression"}),
            ([1, 2], {"forest": {"sigma2_leaf_init": 1.0}}),
        ],
    )
    def test_counts_and_exposures_are_checked(self, y, settings):
        with refuses(InputError):
            cw.reference("bart", np.eye(2), y, **{"task": "counts", **settings})
