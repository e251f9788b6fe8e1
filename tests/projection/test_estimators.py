"""Projected trees as people use them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.projection.sizes import folds_of
from clearwood.references import Reference


class Drawn(Reference):
    """Draws of a known function of the first two columns, and of its noise."""

    def __init__(self, n_draws=30, task="regression", noise=0.25):
        self.n_draws, self.task = n_draws, task
        self.description = "known draws"
        self.noise = noise
        self.classes = np.array(["no", "yes"]) if task == "classification" else None
        rng = np.random.default_rng(1)
        self.shift = 0.3 * rng.normal(size=n_draws)
        self.n_refits = 0

    def draws(self, X):
        X = np.asarray(X, dtype=float)
        mean = np.where(X[:, 0] > 0, 2.0 * (X[:, 1] > 0.5), -1.0)
        values = mean + self.shift[:, None] * (X[:, 0] > 0)
        if self.task == "counts":
            return np.exp(values)
        if self.task == "classification":
            yes = 1 / (1 + np.exp(-values))
            return np.stack([1 - yes, yes], axis=2)
        return values

    def noise_variance(self, X):
        return np.full((self.n_draws, len(X)), self.noise)

    def refit(self, X, y):
        self.n_refits += 1
        return self


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    reference = Drawn()
    y = reference.draws(X).mean(axis=0) + 0.5 * rng.normal(size=400)
    return X, y


def test_a_function_of_three_steps_is_found_with_its_uncertainty(rows):
    X, y = rows
    reference = Drawn()
    tree = cw.ProjectedTreeRegressor(reference, random_state=0).fit(X, y)
    assert tree.rules_.n_rules == 3
    assert reference.n_refits == 5
    assert tree.size_path_.evaluated_on == "labels"
    said = reference.draws(X)
    np.testing.assert_allclose(tree.predict(X), said.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(tree.predict_draws(X), said, atol=1e-12)
    leaf = tree.rules_.apply_encoded(X)
    np.testing.assert_allclose(
        tree.leaves_.epistemic[leaf], said.std(axis=0), atol=1e-12
    )
    # Estimated from 400 observations.
    np.testing.assert_allclose(tree.leaves_.aleatoric, 0.5, rtol=0.15)
    tree = cw.ProjectedTreeRegressor(reference, random_state=0).fit(X)
    np.testing.assert_allclose(tree.leaves_.aleatoric, 0.5, rtol=1e-9)
    # One variance serves rows of which the draws are sure and others.
    assert 0 < tree.size_path_.divergence[-1] < 0.01


def test_intervals_are_those_of_the_mixture_of_draws(rows):
    X, y = rows
    reference = Drawn(n_draws=3)
    tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=3).fit(X)
    low, high = tree.predict_interval(X, coverage=0.8).T
    means = tree.predict_draws(X)
    for end, share in ((low, 0.1), (high, 0.9)):
        below = stats.norm.cdf(end, means, 0.5).mean(axis=0)
        np.testing.assert_allclose(below, share, atol=1e-9)
    wide = tree.predict_interval(X, coverage=0.9)
    assert (wide[:, 0] < low).all() and (high < wide[:, 1]).all()
    with pytest.raises(InputError, match="coverage"):
        tree.predict_interval(X, coverage=1.0)


@pytest.mark.dear
def test_new_rows_fall_into_the_interval_as_often_as_it_says():
    """The reference here is the truth: one draw is what happens."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2000, 4))
    reference = Drawn(n_draws=400)
    tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=3).fit(X)
    draws = reference.draws(X)
    happens = draws[rng.integers(400, size=2000), np.arange(2000)]
    y = happens + 0.5 * rng.normal(size=2000)
    low, high = tree.predict_interval(X, coverage=0.9).T
    inside = ((low <= y) & (y <= high)).mean()
    assert abs(inside - 0.9) < 4 * np.sqrt(0.09 / 2000)


@pytest.mark.parametrize("draws", ["mean", "shared", "each"])
def test_all_ways_to_use_draws_agree_where_the_structure_is_one(rows, draws):
    X, _ = rows
    reference = Drawn()
    tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=3, draws=draws).fit(X)
    np.testing.assert_allclose(tree.predict_draws(X), reference.draws(X), atol=1e-9)
    if draws == "shared":
        # Draw by draw nothing is left out: the tree is the reference.
        assert tree.size_path_.divergence[-1] == pytest.approx(0, abs=1e-9)
    assert (tree.draw_trees_ is not None) == (draws == "each")


def test_draws_that_cancel_are_seen_by_the_shared_structure_only():
    X = np.random.default_rng(0).normal(size=(300, 2))

    class Opposed(Drawn):
        def draws(self, X):
            step = np.where(np.asarray(X)[:, 0] > 0, 1.0, -1.0)
            small = 0.01 * (np.asarray(X)[:, 1] > 0)
            return np.stack([step, -step]) + small

    reference = Opposed(n_draws=2, noise=0.01)
    mean = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=2).fit(X)
    shared = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=2, draws="shared")
    shared.fit(X)
    assert mean.rules_.rules[0].conditions[0].feature == 1
    assert shared.rules_.rules[0].conditions[0].feature == 0
    assert shared.leaves_.epistemic.min() > 0.9 > mean.leaves_.epistemic.max()


def test_counts_and_classes(rows):
    X, _ = rows
    counts = Drawn(task="counts")
    tree = cw.ProjectedTreeRegressor(counts, random_state=0).fit(X)
    assert tree.rules_.n_rules == 3
    assert tree.size_path_.evaluated_on == "reference"
    low, high = tree.predict_interval(X, 0.9).T
    rates = tree.predict_draws(X)
    for end, share in ((low, 0.05), (high, 0.95)):
        reached = stats.poisson.cdf(end, rates).mean(axis=0)
        before = stats.poisson.cdf(end - 1, rates).mean(axis=0)
        assert ((before < share) & (share <= reached)).all()
    shares = Drawn(task="classification")
    tree = cw.ProjectedTreeClassifier(shares, n_leaf_nodes=3).fit(X)
    mean = shares.draws(X).mean(axis=0)
    np.testing.assert_allclose(tree.predict_proba(X), mean, atol=1e-9)
    assert set(tree.predict(X)) == {"no", "yes"}
    ends = tree.predict_interval(X, 0.5)
    inside = np.quantile(shares.draws(X), [0.25, 0.75], axis=0)
    np.testing.assert_allclose(np.moveaxis(ends, 2, 0), inside, atol=1e-9)


def test_leaves_with_variances_of_their_own_follow_the_noise():
    X = np.random.default_rng(0).normal(size=(300, 2))

    class Noisy(Drawn):
        def draws(self, X):
            return np.zeros((self.n_draws, len(X)))

        def noise_variance(self, X):
            noise = np.where(np.asarray(X)[:, 1] > 0, 4.0, 0.25)
            return np.tile(noise, (self.n_draws, 1))

    tree = cw.ProjectedTreeRegressor(Noisy(2), family="mean_variance")
    tree.set_params(n_leaf_nodes=2).fit(X)
    assert sorted(tree.leaves_.aleatoric) == pytest.approx([0.5, 2.0])
    plain = cw.ProjectedTreeRegressor(Noisy(2), n_leaf_nodes=2).fit(X)
    assert plain.rules_.n_rules == 1


def test_size_by_utility_and_what_excludes_each_other(rows):
    X, y = rows
    sizes = [
        cw.ProjectedTreeRegressor(Drawn(), alpha=alpha).fit(X).rules_.n_rules
        for alpha in (0.0, 0.05, 0.5, 10.0)
    ]
    assert sizes[0] == 3 and sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)
    both = cw.ProjectedTreeRegressor(Drawn(), alpha=0.1, n_leaf_nodes=3)
    with refuses(InputError):
        both.fit(X)


def test_weights_are_the_neighbourhood(rows):
    X, _ = rows
    weight = (X[:, 0] > 0).astype(float)
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=2)
    tree.fit(X, sample_weight=weight)
    assert tree.rules_.rules[0].conditions[0].feature == 1
    twice = np.concatenate([X, X[:200]])
    double = np.r_[np.full(200, 2.0), np.ones(200)]
    by_weight = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=4)
    by_weight.fit(X, sample_weight=double)
    by_rows = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=4).fit(twice)
    np.testing.assert_allclose(by_weight.predict(X), by_rows.predict(X), atol=1e-9)


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    hue = rng.choice(["red", "blue", "green"], 300)
    X = pd.DataFrame({"hue": pd.Categorical(hue), "x": rng.normal(size=300)})
    X.loc[:40, "x"] = np.nan

    class OfHue(Reference):
        task, n_draws, description = "regression", 1, "hue"

        def draws(self, X):
            gone = X["x"].isna().to_numpy()
            return (5.0 * (X["hue"] == "blue").to_numpy() + 2.0 * gone)[None]

    tree = cw.ProjectedTreeRegressor(OfHue(), n_leaf_nodes=4).fit(X)
    np.testing.assert_allclose(tree.predict(X), OfHue().draws(X)[0], atol=0.05)
    assert "missing" in str(tree.rules_) and "blue" in str(tree.rules_)


def test_quantiles_of_mixtures_stay_between_those_of_their_parts():
    said = PredictiveDraws(np.array([[0.0], [10.0]]), np.array([[1.0], [4.0]]))
    for share in (0.01, 0.5, 0.99):
        value = said.quantile(share)[0]
        below = stats.norm.cdf(value, [0, 10], [1, 2]).mean()
        assert below == pytest.approx(share, abs=1e-12)


def test_a_reference_for_another_task_is_refused(rows):
    X, y = rows
    with refuses(InputError):
        cw.ProjectedTreeRegressor(Drawn(task="classification")).fit(X)
    with refuses(InputError):
        cw.ProjectedTreeRegressor(Drawn(task="counts"), family="mean").fit(X)
    with refuses(InputError):
        cw.ProjectedTreeClassifier(Drawn(task="classification")).fit(X, y > 0)


@pytest.mark.parametrize("family", ["mean", "mean_variance"])
def test_the_shared_structure_serves_all_draws(family):
    """Nine draws of ten step at x0, the first one at x2."""
    X = np.random.default_rng(0).normal(size=(300, 3))

    class Nine(Drawn):
        def draws(self, X):
            X = np.asarray(X)
            others = np.tile(np.sign(X[:, 0]), (9, 1))
            return np.concatenate([np.sign(X[:, 2])[None], others])

    tree = cw.ProjectedTreeRegressor(
        Nine(10, noise=0.1), draws="shared", family=family, n_leaf_nodes=2
    ).fit(X)
    assert tree.rules_.rules[0].conditions[0].feature == 0


def test_a_teacher_that_is_sure_is_followed_without_labels():
    X = np.random.default_rng(0).uniform(-1, 1, (300, 2))

    class Sure(Drawn):
        def draws(self, X):
            X = np.asarray(X)
            yes = (X[:, 0] > 0) ^ (X[:, 1] > 0)
            return np.stack([~yes, yes], axis=1)[None].astype(float)

    tree = cw.ProjectedTreeClassifier(Sure(1, "classification"), random_state=0).fit(X)
    assert np.isfinite(tree.size_path_.held_out).all()
    assert tree.rules_.n_rules == 4
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), "yes", "no")
    assert tree.score(X, y) > 0.98


def test_labels_do_not_judge_where_the_reference_has_seen_all_of_them(rows):
    class Fixed(Drawn):
        can_refit = False

    tree = cw.ProjectedTreeRegressor(Fixed(2), max_leaf_nodes=3, random_state=0)
    assert tree.fit(*rows).size_path_.evaluated_on == "reference"


def test_a_class_of_one_row_is_no_stumbling_block():
    X = np.random.default_rng(0).normal(size=(150, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[0] = "rare"
    reference = cw.reference(None, X, y, n_draws=10, random_state=0)
    tree = cw.ProjectedTreeClassifier(reference, max_leaf_nodes=4, random_state=0)
    tree.fit(X, y)
    assert tree.size_path_.evaluated_on == "labels"
    assert tree.classes_.tolist() == ["a", "b", "rare"]
    assert tree.score(X, y) > 0.9
    logistic = cw.ProjectedLogisticRegression(reference).fit(X)
    assert logistic.coef_draws_.shape == (10, 3, 2)
    assert logistic.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_folds_spread_every_class():
    labels = np.repeat([0, 1, 2], [90, 7, 5])
    fold = folds_of(102, 5, np.random.default_rng(0), labels)
    counts = np.array([np.bincount(labels[fold == k], minlength=3) for k in range(5)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    assert counts[:, 2].tolist() == [1] * 5
    with refuses(InputError, match="n_leaf_nodes"):
        folds_of(4, 5, np.random.default_rng(0))


def test_weights_reach_the_reference_that_is_fitted_here():
    X, y = np.zeros((40, 1)), np.repeat([0.0, 1.0], 20)
    weight = np.repeat([1.0, 3.0], 20)
    for given in (None, DecisionTreeRegressor()):
        tree = cw.ProjectedTreeRegressor(given, n_leaf_nodes=1, random_state=0)
        said = tree.fit(X, y, sample_weight=weight).predict(X)
        assert said == pytest.approx(0.75, abs=0.03)
    with refuses(InputError):
        cw.ProjectedTreeRegressor(KNeighborsRegressor()).fit(X, y, weight)


def test_a_summary_says_what_draws_leave_open(rows):
    X, _ = rows
    each = cw.ProjectedLinearRegression(Drawn()).fit(X)
    assert "[" in each.summary()
    mean = cw.ProjectedLinearRegression(Drawn(), draws="mean").fit(X)
    assert "[" not in mean.summary() and "x0" in mean.summary()
    with pytest.raises(InputError, match="coverage"):
        each.summary(coverage=2)


def test_values_without_variances_are_refused(rows):
    X, _ = rows

    class Tiny(Drawn):
        def draws(self, X):
            return super().draws(X) * 1e-200

    with refuses(InputError):
        cw.ProjectedTreeRegressor(Tiny()).fit(X)


def test_a_summary_says_in_what_unit_coefficients_are():
    rng = np.random.default_rng(0)
    hue = pd.Categorical(rng.choice(["red", "blue", "green"], 300))
    X = pd.DataFrame({"hue": hue, "x": rng.normal(size=300)})

    class OfHue(Reference):
        task, n_draws, description = "regression", 1, "hue"

        def draws(self, X):
            red = (X["hue"] == "red").to_numpy()
            return (5.0 * red + 3.0 * X["x"].to_numpy())[None]

    y = OfHue().draws(X)[0]
    values = cw.ProjectedLinearRegression(OfHue(), alpha=1e-9).fit(X)
    text = " ".join(values.summary().split())
    same_lines(text)
    assert f" {y.mean():.4g}." in text
    per_unit = dict(zip(values.terms_.names, values.coef_[0] / values.terms_.unit))
    expected = {"hue=green": 0.0, "hue=red": 5.0, "x": 3.0}
    assert per_unit == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(values.predict(X), y, atol=1e-5)
    assert "missing" not in text
    # The rows without a hue say what others say on the mean, were they not red.
    names = {"red": "red", "blue": "b\nx", "green": "g\nh"}
    odd = cw.ProjectedLinearRegression(OfHue()).fit(X.assign(hue=X["hue"].map(names)))
    assert "with 'b\\nx'" in odd.summary() and "hue=g\n" not in odd.summary()
    gaps = X.assign(hue=X["hue"].mask(np.arange(300) < 100))
    values = cw.ProjectedLinearRegression(OfHue(), alpha=1e-9).fit(gaps)
    same_lines(" ".join(values.summary().split()))
    per_unit = dict(zip(values.terms_.names, values.coef_[0] / values.terms_.unit))
    shares = (gaps["hue"][100:] == "red").mean()
    assert per_unit["hue missing"] == pytest.approx(-5.0 * shares, abs=1e-5)
    ill = np.where(y > 2, "ill", "well")
    few = cw.reference(None, X[["x"]], ill, n_draws=5, random_state=0)
    two = cw.ProjectedLogisticRegression(few).fit(X[["x"]])
    text = " ".join(two.summary(0.5).split())
    same_lines(text)
    assert "category" not in text
    few = cw.reference(None, X[["x"]], hue, n_draws=2, random_state=0)
    three = cw.ProjectedLogisticRegression(few).fit(X[["x"]])
    same_lines(" ".join(three.summary().split()))


def test_weights_count_for_proxies_and_judging_but_not_where_references_are_refitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    y = 1.0 * (X[:, 0] > 0.5) + 0.1 * rng.normal(size=200)
    weight = np.where(X[:, 0] > 0.5, 3.0, 1e-6)

    class Fitted(Drawn):
        def __init__(self):
            super().__init__(2)
            self.fitted_to = []

        def draws(self, X):
            return np.tile(np.asarray(X)[:, 0] > 0.5, (2, 1)).astype(float)

        def refit(self, X, y):
            self.fitted_to.append(len(y))
            return self

    every, some = Fitted(), Fitted()
    tree = cw.ProjectedTreeRegressor(every, random_state=0).fit(X, y)
    assert tree.rules_.n_rules == 2
    # Where hardly anything counts but one side of the step, one leaf says it all.
    tree.set_params(reference=some).fit(X, y, sample_weight=weight)
    assert tree.rules_.n_rules == 1
    assert tree.size_path_.held_out[0] == pytest.approx(0, abs=0.05)
    assert every.fitted_to == some.fitted_to == [160] * 5


@pytest.mark.parametrize("seed", [1, 2])
def test_sizes_and_the_papers_alpha_are_judged_on_rows_held_out(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(80, 2))
    y = X.sum(axis=1) + 0.3 * rng.normal(size=80)
    tree = cw.ProjectedTreeRegressor(
        alpha="cv", max_leaf_nodes=8, min_samples_leaf=5, random_state=0
    )
    kept = []

    def remember(*given):
        for test, found in type(tree)._held_out_losses(tree, *given):
            kept.append((test, *found[5]))
            yield test, found

    tree._held_out_losses = remember
    teacher = DecisionTreeRegressor(min_samples_leaf=4, random_state=0)
    weight = rng.choice([0.2, 1.0, 5.0], 80)
    tree.set_params(reference=cw.reference(teacher, X, y)).fit(X, y, weight)
    path = tree.size_path_
    for size, mean in zip(path.size, path.held_out):
        lost = sum(weight[t] @ gaps[sizes.size <= size][-1] for t, sizes, gaps in kept)
        assert mean == pytest.approx(lost / weight.sum())
    lost_at = []
    for alpha in path.alphas:
        lost = 0.0
        for test, sizes, gaps in kept:
            utility = sizes.log_likelihood - alpha * sizes.size
            lost += weight[test] @ gaps[utility.argmax()]
        lost_at.append(lost)
    assert len(kept) == 5 and len(lost_at) > 3
    assert tree.alpha_ == path.alphas[int(np.argmin(lost_at))]
    assert tree.rules_.n_rules == path.best_by_utility(tree.alpha_)


def test_alpha_is_a_number_or_cv(rows):
    X, y = rows
    both = cw.ProjectedTreeRegressor(Drawn(), alpha="cv", n_leaf_nodes=3)
    with refuses(InputError):
        both.fit(X, y)
    assert cw.ProjectedTreeRegressor(Drawn(), alpha=0.1).fit(X).alpha_ == 0.1
    with pytest.raises(ValueError, match="alpha"):
        cw.ProjectedTreeRegressor(Drawn(), alpha="aic").fit(X)


def test_numbers_are_told_as_what_they_are():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"old": rng.random(120) < 0.5, "rooms": rng.integers(1, 9, 120)})
    tree = cw.ProjectedTreeClassifier(Drawn(5, "classification"), n_leaf_nodes=3)
    same_lines(str(tree.fit(X).rules_))
