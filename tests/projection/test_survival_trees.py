"""Trees of survival curves, projected from draws; and truncated outcomes."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats
from scipy.special import rel_entr
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.outcomes.kaplan_meier import curve_of_draws
from clearwood.outcomes.survival import shares_of, survival_of
from clearwood.references.truncated import truncated_moments

HORIZONS = np.array([1.0, 2.0, 4.0])


@pytest.fixture(scope="module")
def weibull():
    """Rows, draws of a Weibull model in which a leaf pools rows, and times."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 3)), columns=["age", "dose", "noise"])
    known = (1.5 * (X["age"] < 0.4) + 0.1 * X["dose"]).to_numpy()
    log_scale = known + rng.normal(0, 0.1, (80, 1))
    model = stats.weibull_min(rng.normal(1.4, 0.1, (80, 1)), scale=np.exp(log_scale))
    draws = np.stack([model.sf(horizon) for horizon in HORIZONS], axis=-1)
    scale = np.exp(1.5 * (X["age"] < 0.4)).to_numpy()
    time, left = scale * rng.weibull(1.4, 300), rng.uniform(0, 8, 300)
    y = pd.DataFrame({"event": time <= left, "time": np.minimum(time, left)})
    return X, cw.reference(draws, X, horizons=HORIZONS, time_unit="years"), y


@pytest.fixture(scope="module")
def fitted(weibull):
    X, reference, y = weibull
    return cw.ProjectedTreeSurvival(reference, n_leaf_nodes=2).fit(X, y)


def divergence(reference, proxy):
    """Of the times of events: hazards of the intervals, weighted by survival."""
    total = 0.0
    p, q = (np.concatenate([[1.0], curve]) for curve in (reference, proxy))
    for k in range(1, len(p)):
        h, g = 1 - p[k] / p[k - 1], 1 - q[k] / q[k - 1]
        total += p[k - 1] * (rel_entr(h, g) + rel_entr(1 - h, 1 - g))
    return total


def test_the_divergence_is_that_of_the_discrete_time_likelihood(weibull, fitted):
    X, reference, _ = weibull
    survival = reference.draws(X).mean(axis=0)
    for size, path in enumerate(fitted.size_path_.divergence):
        leaf = fitted.trees_[size].apply(X)
        leaves = np.array([survival[leaf == i].mean(axis=0) for i in range(size + 1)])
        expected = [divergence(*pair) for pair in zip(survival, leaves[leaf])]
        np.testing.assert_allclose(path, np.mean(expected), rtol=1e-9)


def test_another_survival_of_the_leaves_is_farther(weibull, fitted):
    X, reference, _ = weibull
    survival, leaf = reference.draws(X).mean(axis=0), fitted.rules_.apply(X)
    own = fitted.predict_draws(X).mean(axis=0)
    for change in (0.98, 1.02):
        other = np.where(leaf[:, None] == 0, own**change, own)
        least, more = (
            np.mean([divergence(*pair) for pair in zip(survival, curves)])
            for curves in (own, other)
        )
        assert least < more


def test_leaves_are_printed_with_the_draws(weibull, fitted):
    X, reference, y = weibull
    leaf = fitted.rules_.apply(X)
    draws = reference.draws(X)
    for i, rule in enumerate(fitted.rules_):
        of_leaf = draws[:, leaf == i].mean(axis=1)
        np.testing.assert_allclose(rule.curve.at(HORIZONS), of_leaf.mean(0), atol=1e-5)
        ends = np.quantile(of_leaf, [0.025, 0.975], axis=0).T
        found = [rule.curve.interval(horizon) for horizon in HORIZONS]
        np.testing.assert_allclose(found, ends, atol=1e-5)
        assert rule.curve.events == y["event"][leaf == i].sum()
        mean = of_leaf.mean(axis=1)
        found = rule.prediction, rule.statistics.low, rule.statistics.high
        expected = mean.mean(), *np.quantile(mean, [0.025, 0.975])
        np.testing.assert_allclose(found, expected, atol=5e-5)
        first = X[leaf == i][:1]
        np.testing.assert_allclose(fitted.predict_draws(first)[:, 0], of_leaf)
        np.testing.assert_allclose(fitted.predict_interval(first)[0], ends)
        np.testing.assert_allclose(fitted.predict(first), of_leaf.mean(), atol=1e-4)
    assert fitted.fidelity_ > 0.9
    same_lines(str(fitted.rules_), str(fitted.tree_))


def test_hazards_are_constant_between_horizons(weibull, fitted):
    times = np.array([0.0, 0.5, 1.0, 1.7, 3.1, 4.0, 4.1])
    found = fitted.predict_survival_function(weibull[0], times)
    at = np.insert(HORIZONS, 0, 0.0)
    for i, rule in enumerate(fitted.rules_):
        ends = np.insert(fitted.leaves_.means[:, i].mean(axis=0)[::-1].cumsum(), 0, 0.0)
        log = np.log(ends[:0:-1])
        expected = [*np.exp(np.interp(times[:-1], at, log)), np.nan]
        mine = found[fitted.rules_.apply(weibull[0]) == i]
        np.testing.assert_allclose(mine, [expected] * len(mine), atol=1e-9)
        assert rule.curve.at([rule.curve.median]) == pytest.approx(0.5, abs=1e-9)
    # A thousandth of the rows survives, between horizons a thousandth of these.
    steep = curve_of_draws(np.array([[1e-3, 1e-9]]), (365.0, 3650.0))
    assert steep.at([(365 + 3650) / 2]) == pytest.approx(1e-6)
    assert steep.median == pytest.approx(365 * np.log(2) / np.log(1000))
    none = curve_of_draws(np.array([[0.75, 0.0]]), (1.0, 2.0))
    assert none.at([1.5, 2.0]).tolist() == [0.375, 0.0]
    assert none.median == pytest.approx(4 / 3)
    assert np.isnan(none.interval(1.5)).all()


def test_shares_and_survival_are_inverse():
    survival = np.array([[0.9, 0.9, 0.0], [1.0, 0.5, 0.25]])
    np.testing.assert_allclose(survival_of(shares_of(survival)), survival, atol=1e-15)


@pytest.mark.parametrize("draws", ["shared", "each"])
def test_each_draw_keeps_its_curve(weibull, draws):
    X, reference, _ = weibull
    found = cw.ProjectedTreeSurvival(reference, n_leaf_nodes=2, draws=draws).fit(X)
    trees = [tree for tree, _ in found.draw_trees_ or [(found.tree_, None)] * 80]
    for tree, draw, own in zip(trees, reference.draws(X), found.predict_draws(X)):
        leaf = tree.apply(X)
        expected = np.array([draw[leaf == i].mean(axis=0) for i in range(2)])[leaf]
        np.testing.assert_allclose(own, expected, atol=1e-12)


def test_no_events_are_not_unknown_events(weibull):
    X, reference, y = weibull
    tree = cw.ProjectedTreeSurvival(reference, n_leaf_nodes=2)
    for times, known in ((None, []), (y.assign(event=False), [0, 0])):
        rules = cw.RuleList.from_json(tree.fit(X, times).rules_.to_json())
        assert str(rules).count("0 events") == len(known)
        assert [*rules.to_frame().get("events", [])] == known


def test_the_reference_alone_chooses_the_size(weibull):
    X, reference, y = weibull
    found = cw.ProjectedTreeSurvival(reference, max_leaf_nodes=4, random_state=0)
    assert found.fit(X, y).size_path_.evaluated_on == "reference"
    survival = reference.draws(X).mean(axis=0)
    for tree in found.trees_:
        leaf = tree.apply(X)
        for i, rule in enumerate(tree.to_rules()):
            mean = survival[leaf == i].mean(axis=0)
            np.testing.assert_allclose(rule.curve.at(HORIZONS), mean, atol=1e-9)
            assert rule.prediction == pytest.approx(mean.mean(), abs=5.1e-5)
            assert rule.curve.events == y["event"][leaf == i].sum()
    assert any(tree is found.tree_ for tree in found.trees_)


def test_a_page_shows_the_observed_curves(weibull, fitted, tmp_path):
    X, _, y = weibull
    # Other rows than those of the fit, so that the numbers are not those of the rules.
    X, y = X[:200], y[:200]
    leaf = fitted.rules_.apply(X)
    cw.report(fitted, tmp_path / "page.html", X=X, y=y)
    page = (tmp_path / "page.html").read_text()
    assert "of the draws" in page and "Kaplan-Meier" in page
    # Intervals are those of the draws, and errors those of the rows are not shown.
    assert "a credible interval" in page and "Survival at time, years" in page
    for rule in fitted.rules_:
        words = fitted.rules_.outcome.words_of(rule)
        assert f'data-label="then">{words}' in page
    assert 'data-label="SD"' not in page and "mean in" not in page
    assert f"axes of {fitted.rules_.outcome.heading('survival')}, and" in page
    for rows in (leaf == 0, leaf == 1):
        assert f"{rows.sum()} rows, {y['event'][rows].sum()} events" in page
    kept = cw.projection.LeavesDisplay.from_estimator(fitted, label=2.0)
    assert kept.ax_.get_xlabel() == "survival at 2.0"
    with refuses(InputError):
        cw.projection.LeavesDisplay.from_estimator(fitted, label=3.0)


def test_what_is_no_survival_is_refused(weibull):
    X, reference, y = weibull
    for given in (None, np.ones((2, 3))):
        with refuses(InputError):
            cw.ProjectedTreeSurvival(given).fit(X, y)
    with refuses(InputError):
        cw.ProjectedTreeRegressor(reference).fit(X)
    with refuses(InputError):
        cw.ProjectedTreeSurvival(cw.reference(None, X, y["time"], n_draws=2)).fit(X)
    with refuses(InputError):
        cw.ProjectedTreeSurvival(reference).fit(X, y["time"])
    with pytest.raises(InputError, match="with draws.* generated"):
        cw.simplify(reference, X, y)
    with refuses(InputError):
        y = y.assign(event=np.arange(300) % 3)
        cw.ProjectedTreeSurvival(reference).fit(X, y)


def test_credible_intervals_of_leaves_cover_the_truth():
    """Rates and data are drawn from the prior, and ten leaves pool rows of 20 rates.

    The coverage of the quantiles of n draws is then .95 (n - 1) / (n + 1), whatever
    the tree. The tolerance, four standard errors of 80 tables, is about .03: intervals
    that are too narrow by a fifth, of coverage .88, fail.
    """
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 2)
    X, covered = group[:, None] * 1.0, []
    for _ in range(80):
        rates = rng.gamma(3.0, 1 / 3.0, size=20)
        time, left = rng.exponential(1 / rates[group]), rng.uniform(0.5, 3.0, 40)
        events = np.bincount(group, time <= left)
        exposure = np.bincount(group, np.minimum(time, left))
        posterior = rng.gamma(3.0 + events, 1 / (3.0 + exposure), size=(400, 20))
        draws = np.exp(-posterior[:, group, None] * HORIZONS[:2])
        reference = cw.reference(draws, X, horizons=HORIZONS[:2])
        tree = cw.ProjectedTreeSurvival(reference, n_leaf_nodes=10, refine=False)
        tree.fit(X)
        leaf, truth = tree.rules_.apply(X), np.exp(-rates[group, None] * HORIZONS[:2])
        is_inside = [
            low <= truth[leaf == i, k].mean() <= high
            for i, rule in enumerate(tree.rules_)
            for k in range(2)
            for low, high in [rule.curve.interval(HORIZONS[k])]
        ]
        covered.append(np.mean(is_inside))
    error = np.std(covered) / np.sqrt(len(covered))
    assert error < 0.01
    assert np.mean(covered) == pytest.approx(0.95 * 399 / 401, abs=4 * error)


def test_the_leaves_of_truncated_outcomes_are_the_nearest_normal_ones():
    """The divergence is integrated: it and ``size_path_`` differ by a constant."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(30, 2))
    location = np.where(X[:, 0] > 0.5, 2.0, 0.0) + 0.3 * X[:, 1]
    reference = cw.reference(location[None], X, noise_variance=1.5, bounds=(0, np.inf))
    tree = cw.ProjectedTreeRegressor(reference, n_leaf_nodes=3).fit(X)
    rows = stats.truncnorm(-location / 1.5**0.5, np.inf, location, 1.5**0.5)
    y = np.linspace(0.0, 14.0, 20_001)[:, None]
    density = rows.pdf(y)

    def integrated(size):
        leaf = tree.trees_[size - 1].apply(X)
        mean, variance = truncated_moments(location, np.full(30, 1.5), (0, np.inf))
        means = np.array([mean[leaf == i].mean() for i in range(size)])[leaf]
        common = (variance + (mean - means) ** 2).mean()
        log_leaf = stats.norm.logpdf(y, means, common**0.5)
        each = integrate.simpson(density * (rows.logpdf(y) - log_leaf), x=y, axis=0)
        return each.mean()

    found = np.array([integrated(size) for size in (1, 2, 3)])
    path = tree.size_path_.divergence
    np.testing.assert_allclose(found - found[0], path - path[0], atol=1e-6)
    assert (found > path).all()
