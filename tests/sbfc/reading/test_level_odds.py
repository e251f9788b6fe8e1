"""Shares and odds by level, against sums over graphs and draws of parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from tests.wording import refuses

import clearwood as cw
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError
from clearwood.sbfc import FeatureForest, level_odds
from clearwood.sbfc.prediction import average_graphs
from clearwood.sbfc.reading.level_odds import odds_of, posterior_shares
from clearwood.sbfc.scores import CodedTable

SETTINGS = {"smoothing": "dirichlet", "calibration": None, "random_state": 0}


def mixed_rows(n=240, n_classes=2, seed=0):
    """Numbers, texts, a feature of few values, and missing cells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = pd.DataFrame({
        "age": rng.normal(50, 10, n) + 8 * y,
        "few": rng.integers(3, size=n),
        "hue": np.where(rng.random(n) < 0.6, np.array(list("abcd"))[y], "d"),
        "idle": rng.normal(size=n),
    })  # fmt: skip
    X.loc[::7, "age"] = np.nan
    return X, np.array(["no", "yes", "maybe"])[y]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_are_those_of_the_prior_of_the_scores_whatever_the_edges(n_classes):
    """The predictive probability given one feature, under graphs with and without it.

    With posterior means as estimates, a row with one known feature is predicted by the
    mean share, also where edges to other features are summed out.
    """
    X, y = mixed_rows(n_classes=n_classes)
    forest = cw.SelectiveBayesianForestClassifier(**SETTINGS).fit(X, y)
    codes = forest.levels_.codes(X)
    label = np.searchsorted(forest.classes_, y)
    levels = forest.levels_.n_levels
    table = CodedTable(codes, levels, label, n_classes, None, 4)
    on = [True, True, True, False]
    for signal, parent in ((on, [2, 0, -1, -1]), (on, [-1, -1, -1, -1])):
        graphs = [FeatureForest(signal, parent), FeatureForest([False] * 4, [-1] * 4)]
        average = average_graphs([graphs[0], *graphs, graphs[0]], table, "dirichlet")
        forest.inclusion_probability_ = np.array([0.75, 0.75, 0.75, 0.0])
        for j in range(3):
            rows = np.full((levels[j], 4), -1)
            rows[:, j] = np.arange(levels[j])
            expected = average.predict(rows).probability
            np.testing.assert_allclose(odds_of(forest, j).share, expected)


def test_intervals_hold_the_draws_of_the_posterior():
    counts, p, alpha = np.array([[9.0, 3.0], [2.0, 6.0], [1.0, 0.0]]), 0.7, 5.0
    rng, n = np.random.default_rng(0), 200_000
    cells = rng.dirichlet((counts + alpha / counts.size).ravel(), n).reshape(n, 3, 2)
    given_level = cells[:, :, 1] / cells.sum(axis=2)
    alone = rng.dirichlet(counts.sum(axis=0) + alpha / 2, n)[:, 1:]
    drawn = np.where(rng.random((n, 1)) < p, given_level, alone)
    mean, low, high = posterior_shares(counts, p, alpha)
    # Standard errors are 0.0007 at most, and those of quantiles about 0.002.
    np.testing.assert_allclose(mean[:, 1], drawn.mean(axis=0), atol=0.004)
    ends = np.quantile(drawn, [0.025, 0.975], axis=0)
    np.testing.assert_allclose([low[:, 1], high[:, 1]], ends, atol=0.01)
    # Of a feature that is surely signal: a beta distribution.
    own = counts + alpha / counts.size
    _, low, high = posterior_shares(counts, 1.0, alpha)
    for q, found in ((0.025, low), (0.975, high)):
        np.testing.assert_allclose(found[:, 1], beta.ppf(q, own[:, 1], own[:, 0]))


@pytest.mark.parametrize("calibration", ["additive", "temperature", None])
def test_predictions_are_those_of_rows_in_which_nothing_else_is_known(calibration):
    X, y = make_corral(n_noise=2, random_state=0)
    X = X + 0.01 * np.random.default_rng(0).random(X.shape)  # many numbers
    forest = cw.SelectiveBayesianForestClassifier(
        calibration=calibration, random_state=0
    ).fit(X, y)
    odds = level_odds(forest, ["x5", 0])
    assert list(dict.fromkeys(odds["feature"])) == ["x5", "x0"]
    unknown = np.full(X.shape, np.nan)
    unknown[:, 5] = X[:, 5]
    said = forest.predict_proba(unknown)[:, 1]
    cut = forest.levels_.cuts[5]
    own = odds[(odds["feature"] == "x5") & (odds["class"] == 1)]
    for i, (_, line) in enumerate(own.iterrows()):
        here = said[np.searchsorted(cut, unknown[:, 5]) == i]
        assert here.min() == pytest.approx(line["predicted_low"])
        assert here.max() == pytest.approx(line["predicted_high"])
        if calibration != "additive":
            assert line["predicted_low"] == line["predicted_high"]


def test_odds_are_relative_to_all_rows_and_directions_follow_numbers():
    X, y = mixed_rows()
    forest = cw.SelectiveBayesianForestClassifier(random_state=0).fit(X, y)
    odds = level_odds(forest, ["age", "hue", "idle"])
    yes = odds[odds["class"] == "yes"]
    every = np.array([(y == "no").sum(), (y == "yes").sum()]) + 2.5
    ratio = yes["share"] / (1 - yes["share"]) * every[0] / every[1]
    np.testing.assert_allclose(yes["odds_ratio"], ratio)
    assert (yes["low"] < yes["share"]).all() and (yes["share"] < yes["high"]).all()
    direction = dict(zip(odds["feature"] + odds["class"], odds["direction"]))
    assert direction["ageyes"] == "rising" and direction["ageno"] == "falling"
    assert direction["hueyes"] == ""
    assert yes.groupby("feature")["rows"].sum().eq(240).all()
    assert yes["level"].iloc[2] == "age is missing"
    # Noise changes hardly anything.
    assert yes[yes["feature"] == "idle"]["odds_ratio"].between(0.9, 1.1).all()
    forest.inclusion_probability_ = np.array([0.5, 0.499, 0.9, 0.0])
    assert list(dict.fromkeys(level_odds(forest)["feature"])) == ["hue", "age"]


def test_shares_that_rise_and_fall_have_no_direction():
    x = np.repeat(np.arange(3.0), 60)
    y = (x == 1) ^ (np.arange(180) % 5 == 0)
    forest = cw.SelectiveBayesianForestClassifier(random_state=0).fit(x[:, None], y)
    assert set(level_odds(forest)["direction"]) == {""}


def test_features_of_one_level_have_no_rows_and_others_must_exist():
    X, y = mixed_rows()
    forest = cw.SelectiveBayesianForestClassifier(random_state=0)
    forest.fit(X.assign(same=1), y)
    none = level_odds(forest, ["same"])
    assert none.empty and [*none] == [*level_odds(forest, ["age"])]
    for unknown in ("shade", 5, -1):
        with refuses(InputError):
            level_odds(forest, [unknown])
    forest._counts = None  # as from an earlier file
    with refuses(InputError):
        level_odds(forest)
