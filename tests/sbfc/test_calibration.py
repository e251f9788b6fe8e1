"""Calibration beside its penalized likelihood, and on rows of the model itself."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from tests.sbfc.tables import random_table

import clearwood as cw
from clearwood.discretize import LevelCoder
from clearwood.sbfc.calibration import calibrate
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.prediction import Averaged, average_graphs, leave_one_out

Forest = cw.SelectiveBayesianForestClassifier


def rows_of(n_classes, n=90, seed=0):
    """A number, a category, both with gaps; labels; probabilities too certain."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(size=n), "ward": rng.choice(list("abc"), n)})
    label = (2 * X["age"] + rng.normal(size=n) > 0).to_numpy(int) * (n_classes - 1)
    label[:n_classes] = np.arange(n_classes)
    X.loc[::8, "age"], X.loc[::9, "ward"] = np.nan, None
    score = 4 * rng.normal(size=(n, n_classes)) + 5 * np.eye(n_classes)[label]
    weight = rng.integers(1, 4, n).astype(float)
    coder = LevelCoder.fit(X, label, weight, n_classes)
    parts = coder.in_even_parts(coder.features.encode(X), weight, 5)
    return X, label, weight, parts, softmax(score, axis=1)


def columns_of(X, parts, weight):
    """Ordered parts as one column per cut, all others as one each; means are 0."""
    columns = []
    for codes, cuts, n in zip(parts.codes(X).T, parts.cuts, parts.n_levels):
        n_cuts = 0 if cuts is None else len(cuts)
        columns += [(codes > k) & (codes <= n_cuts) for k in range(n_cuts)]
        columns += [codes == k for k in range(n_cuts + (n_cuts > 0), n)]
    found = np.array(columns, dtype=float).T
    return found - np.average(found, axis=0, weights=weight)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_maximize_the_penalized_likelihood(n_classes):
    X, label, weight, parts, p = rows_of(n_classes)
    log_class = np.log(np.bincount(label, weight) / weight.sum())
    found = calibrate(p, log_class, label, weight, parts, parts.codes(X))
    design, evidence = columns_of(X, parts, weight), np.log(p) - log_class

    def odds(x):
        intercept, *steps = x[1:].reshape(-1, n_classes)
        return log_class + x[0] * evidence + design @ np.array(steps) + intercept

    def loss(x):
        fit = weight @ log_softmax(odds(x), axis=1)[np.arange(len(label)), label]
        squares = x[1:] ** 2
        penalty = squares[:n_classes].sum() + 2 * squares[n_classes:].sum()
        return ((x[0] - 1) ** 2 + penalty) / 2 - fit

    start = np.append(1.0, np.zeros((1 + design.shape[1]) * n_classes))
    best = minimize(loss, start, options={"gtol": 1e-4})
    assert found.temperature < 1
    assert found.temperature == pytest.approx(best.x[0], abs=1e-3)
    average = Averaged(p, np.zeros_like(p))
    said = found.apply(average, log_class, parts.codes(X)).probability
    np.testing.assert_allclose(said, softmax(odds(best.x), axis=1), atol=1e-3)
    first = 0
    for codes, n in zip(parts.codes(X).T, parts.n_levels):
        mean = np.average(found.effect[first + codes], axis=0, weights=weight)
        np.testing.assert_allclose(mean, best.x[1 : 1 + n_classes] / 2, atol=1e-3)
        first += n


def test_a_temperature_keeps_the_order_of_rows_and_the_class_frequencies():
    _, label, weight, parts, p = rows_of(2)
    log_class = np.log([0.3, 0.7])
    found = calibrate(p, log_class, label, weight, parts)
    said = found.apply(Averaged(p, np.zeros_like(p)), log_class, None).probability
    assert (np.argsort(said[:, 1]) == np.argsort(p[:, 1])).all()
    odds = np.log(p[:, 1] / p[:, 0]) - np.log(7 / 3)
    new = np.log(said[:, 1] / said[:, 0]) - np.log(7 / 3)
    np.testing.assert_allclose(new, found.temperature * odds)
    alone = found.apply(Averaged(np.exp(log_class)[None], p[:1]), log_class, None)
    np.testing.assert_allclose(alone.probability, [[0.3, 0.7]])


def test_misleading_probabilities_are_left_out():
    X, label, weight, parts, p = rows_of(2)
    log_class = np.log([0.5, 0.5])
    found = calibrate(p[:, ::-1], log_class, label, weight, parts, parts.codes(X))
    assert found.temperature == 0
    expected = calibrate(
        np.full_like(p, 0.5), log_class, label, weight, parts, parts.codes(X)
    )
    np.testing.assert_array_equal(found.effect, expected.effect)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_are_those_of_the_first_order(n_classes):
    X, label, weight, parts, p = rows_of(n_classes)
    log_class = np.log(np.full(n_classes, 1 / n_classes))
    found = calibrate(p, log_class, label, weight, parts, parts.codes(X))
    away = 1e-6 * p.min(axis=1, keepdims=True) * np.r_[1, -1, np.zeros(n_classes - 2)]
    here, there = (
        found.apply(Averaged(q, np.abs(away)), log_class, parts.codes(X))
        for q in (p, p + away)
    )
    change = np.abs(there.probability - here.probability)
    slack = 1e-3 * here.error + 1e-14
    assert (change <= here.error + slack).all()
    if n_classes == 2:
        assert (change >= here.error - slack).all()


@pytest.mark.parametrize("weight", [None, np.arange(60) % 3 + 1.0])
def test_a_row_left_out_is_a_table_without_it(weight):
    table = random_table((2, 3, 2), 60, n_classes=3, weight=weight)
    graphs = [FeatureForest([1, 1, 0], [1, -1, -1])]
    average = average_graphs(graphs, table, "dirichlet")
    found = leave_one_out(average, table, "dirichlet", 5.0, table.codes, table.y)
    for i in range(0, 60, 7):
        less = np.ones(60) if weight is None else weight.copy()
        less[i] -= 1
        fewer = average_graphs(graphs, table._replace(weight=less), "dirichlet")
        expected = fewer.predict(table.codes[i : i + 1]).probability[0]
        expected = expected * np.exp(average.log_class - fewer.log_class)
        np.testing.assert_allclose(found[i], expected / expected.sum())


def simulated(rng, n):
    """Rows of a graph of signal features, with tables from the prior of the scores."""
    levels, parent = (3, 2, 4, 2, 2), (-1, 0, 1, -1, 3)
    y = rng.integers(2, size=n)
    codes = np.zeros((n, 5), int)
    for j, (v, above) in enumerate(zip(levels, parent)):
        width = 1 if above < 0 else levels[above]
        cell = y * width + (0 if above < 0 else codes[:, above])
        share = rng.dirichlet(np.full(v, 5 / (2 * v * width)), 2 * width)
        codes[:, j] = (rng.random((n, 1)) > share.cumsum(axis=1)[cell]).sum(axis=1)
    return pd.DataFrame(codes).astype(str), y


@pytest.mark.parametrize("calibration", ["additive", "temperature"])
def test_probabilities_of_the_model_itself_are_calibrated(calibration):
    rng, gap, variance = np.random.default_rng(0), 0.0, 0.0
    for _ in range(30):
        X, y = simulated(rng, 600)
        settings = {"n_graphs": 20, "random_state": 0}
        found = Forest(calibration=calibration, **settings).fit(X[:200], y[:200])
        p = found.predict_proba(X[200:]).max(axis=1)
        right = found.predict(X[200:]) == y[200:]
        gap, variance = gap + (right - p).sum(), variance + (p * (1 - p)).sum()
    # Four standard errors, and what 200 rows leave open.
    assert abs(gap) < 4 * np.sqrt(variance) + 0.01 * 30 * 400


def test_overlapping_features_are_not_counted_twice():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1200)
    told = y ^ (rng.random(1200) < 0.3)
    copies = [told ^ (rng.random(1200) < 0.15) for _ in range(6)]
    X = np.array(copies).T
    a, b = slice(600), slice(600, None)
    losses = {}
    for kind in (None, "temperature", "additive"):
        # Edges cost so much that no graph has any.
        found = Forest(calibration=kind, lambda_x=50, random_state=0).fit(X[a], y[a])
        p = found.predict_proba(X[b])[np.arange(600), y[b]]
        losses[kind] = -np.log(p).mean()
    assert found.calibration_.temperature < 0.7
    assert losses["temperature"] < losses[None] - 0.02
    assert losses["additive"] < losses[None] - 0.02


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_the_preset_of_the_paper_has_no_calibration():
    X, y = simulated(np.random.default_rng(0), 100)
    settings = {"n_graphs": 20, "random_state": 0}
    assert Forest(preset="paper", n_draws=5, **settings).fit(X, y).calibration_ is None
    plain = Forest(calibration=None, **settings).fit(X, y)
    found = Forest(**settings).fit(X, y)
    np.testing.assert_array_equal(
        found.inclusion_probability_, plain.inclusion_probability_
    )
    expected = average_graphs(found.graphs_, found._read(X, y, None)[0])
    np.testing.assert_array_equal(
        plain.predict_proba(X), expected.predict(plain.levels_.codes(X)).probability
    )


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.PoorMixingWarning")
def test_a_preset_is_the_settings_that_it_names_and_one_of_them_may_be_changed():
    X, y = simulated(np.random.default_rng(0), 100)
    short = {"n_graphs": 20, "n_draws": 5, "random_state": 0}
    named = {"sampler": "original", "prior": "paper", "smoothing": "paper",
             "binning": "mdlp", "calibration": None}  # fmt: skip
    paper = Forest(preset="paper", **short).fit(X, y)
    by_name = Forest(**named, **short).fit(X, y)
    assert paper.sampler_ == "original"
    np.testing.assert_array_equal(paper.predict_proba(X), by_name.predict_proba(X))
    other = Forest(preset="paper", calibration="temperature", **short).fit(X, y)
    assert other.sampler_ == "original" and other.calibration_ is not None
