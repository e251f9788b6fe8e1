"""Linear and logistic proxies as people use them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import clearwood as cw
from clearwood.references import Reference

SLOPES = np.array([[2.0, 0.0, -5.0], [1.0, 0.5, -4.0], [0.0, 1.0, -3.0]])


class Slopes(Reference):
    """Three planes that differ in their slopes; or their log odds."""

    n_draws, description, noise = 3, "planes", 0.1

    def __init__(self, task="regression", by=1.0):
        self.task, self.by = task, by
        self.classes = np.array(["no", "yes"]) if task == "classification" else None

    def draws(self, X):
        values = self.by * (SLOPES @ np.asarray(X).T)
        if self.task == "regression":
            return values
        # Bent, so that no logistic regression says the same.
        yes = 1 / (1 + np.exp(-0.2 * values - 0.3 * np.sin(3 * values)))
        return np.stack([1 - yes, yes], axis=2)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(80, 3)) * [1.0, 2.0, 0.5]


def test_every_draw_has_its_own_coefficients(rows):
    model = cw.ProjectedLinearRegression(Slopes(), alpha=1e-9).fit(rows)
    expected = SLOPES * rows.std(axis=0)
    np.testing.assert_allclose(model.coef_draws_[:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(model.coef_[0], expected.mean(axis=0), atol=1e-6)
    assert model.fidelity_ == pytest.approx(1)


@pytest.mark.parametrize("penalty", ["ridge", "lasso"])
def test_units_of_what_is_said_do_not_matter(rows, penalty):
    plain, large = (
        cw.ProjectedLinearRegression(Slopes(by=by), penalty=penalty, alpha=5.0)
        .fit(rows)
        .coef_
        for by in (1.0, 1024.0)
    )
    np.testing.assert_allclose(large, 1024 * plain, rtol=1e-6)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_row_of_weight_two_is_two_rows(rows, task):
    kind = {
        "regression": cw.ProjectedLinearRegression,
        "classification": cw.ProjectedLogisticRegression,
    }[task]
    bent = Slopes(task)
    if task == "regression":
        bent.draws = lambda X: np.abs(SLOPES @ np.asarray(X).T)
    weight = np.repeat([3.0, 1.0], 40)
    by_weight = kind(bent, alpha=1e-6).fit(rows, sample_weight=weight)
    by_rows = kind(bent, alpha=1e-6).fit(np.vstack([rows, rows[:40], rows[:40]]))
    np.testing.assert_allclose(by_weight.coef_draws_, by_rows.coef_draws_, rtol=1e-4)
    for name in ("fidelity_", "divergence_"):
        near, same = (getattr(model, name, 0.0) for model in (by_weight, by_rows))
        assert near == pytest.approx(same, rel=1e-4)


def test_how_near_it_comes_is_what_numpy_says(rows):
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(rows))
    reference = Slopes("classification")
    model = cw.ProjectedLogisticRegression(reference).fit(rows, sample_weight=weight)
    q, p = reference.draws(rows).mean(axis=0), model.predict_proba(rows)
    apart = np.average((q * np.log(q / p)).sum(axis=1), weights=weight)
    assert model.divergence_ == pytest.approx(apart, rel=1e-9)
    assert 1e-4 < model.divergence_ < 0.1
    bent = Slopes()
    bent.draws = lambda X: np.abs(SLOPES @ np.asarray(X).T)
    line = cw.ProjectedLinearRegression(bent).fit(rows, sample_weight=weight)
    mean = bent.draws(rows).mean(axis=0)
    centre = np.average(mean, weights=weight)
    left = np.average((mean - line.predict(rows)) ** 2, weights=weight)
    whole = np.average((mean - centre) ** 2, weights=weight)
    assert line.fidelity_ == pytest.approx(1 - left / whole, rel=1e-9)


def test_a_summary_has_the_largest_effects_first_with_the_interval_of_the_draws(rows):
    model = cw.ProjectedLinearRegression(Slopes(), alpha=1e-9).fit(rows)
    text = model.summary(coverage=0.8)
    sizes = np.abs(model.coef_[0])
    names = [model.terms_.names[term] for term in np.argsort(-sizes)]
    assert sizes[0] < sizes[2] and sizes[1] < sizes[2]
    assert re.findall(r"\bx\d", text) == names
    low, high = np.quantile(model.coef_draws_[:, 0], [0.1, 0.9], axis=0)
    for term, name in enumerate(model.terms_.names):
        line = next(line for line in text.splitlines() if name in line)
        value, *ends = (
            float(n) for n in re.findall(r"[-+]?\d+\.?\d*(?:e-?\d+)?", line)[:3]
        )
        assert value == pytest.approx(model.coef_[0, term], rel=1e-3)
        assert ends == pytest.approx([low[term], high[term]], rel=1e-2)


def test_each_category_has_an_effect_of_its_own():
    """The one in the middle stands out, so their order says nothing."""
    hues = pd.Categorical(["a", "b", "c", "b"] * 20)
    X = pd.DataFrame({"hue": hues, "x": np.linspace(0, 1, 80)})
    reference = Slopes()
    reference.draws = lambda X: 3.0 * (X["hue"] == "b").to_numpy()[None].repeat(3, 0)
    model = cw.ProjectedLinearRegression(reference, alpha=1e-9).fit(X)
    assert model.fidelity_ == pytest.approx(1)
    steps = dict(zip(model.terms_.names, model.coef_[0] / model.terms_.unit))
    assert steps == pytest.approx({"hue=b": 3.0, "hue=c": 0.0, "x": 0.0}, abs=1e-6)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_of_many_terms_the_strongest_are_kept(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 12)), columns=list("abcdefghijkl"))
    X["hue"] = rng.choice(["red", "tan", "sky"], 200)
    score = 2 * X["c"] - 3 * X["k"] + 2 * (X["hue"] == "tan")
    if task == "regression":
        exact = Slopes()
        exact.n_draws = 1
        exact.draws = lambda rows: score.loc[rows.index].to_numpy()[None]
        model = cw.ProjectedLinearRegression(exact, max_terms=3).fit(X)
        assert model.fidelity_ > 0.99
    else:
        tree = HistGradientBoostingClassifier(random_state=0)
        y = np.where(score > 0, "yes", "no")
        table = X.assign(hue=X["hue"].astype("category"))
        model = cw.ProjectedLogisticRegression(
            tree.fit(table, y), max_terms=3, draws="mean"
        ).fit(table, y)
        assert np.mean(model.predict(table) == y) > 0.9
    assert model.terms_.names == ["c", "k", "hue=tan"]
    assert model.coef_.shape == (1, 3)
    assert model.terms_.without_term == {"hue": ["red", "sky"]}
