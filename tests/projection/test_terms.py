"""Linear fits to soft labels and draws, against exact values and plain formulas."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.projection.terms import (
    Terms,
    fit_linear,
    fit_logistic,
    probabilities_of,
)


@pytest.fixture(scope="module")
def logistic(golden_folder):
    return json.loads((golden_folder / "projection.json").read_text())["logistic"]


@pytest.mark.parametrize("weighted", [False, True])
def test_soft_labels_as_golden(logistic, weighted):
    X, q = np.array(logistic["X"]), np.array(logistic["q"])
    golden = logistic["intercept_free_weighted" if weighted else "intercept_free"]
    weight = np.array(logistic["weights"]) if weighted else np.ones(len(q))
    shares = np.stack([1 - q, q], axis=1)
    intercept, coef = fit_logistic(X, shares, weight, ridge=logistic["ridge"])
    assert intercept[0] == pytest.approx(golden["intercept"], abs=1e-6)
    np.testing.assert_allclose(coef[0], golden["coef"], atol=1e-6)
    said = probabilities_of(X @ coef.T + intercept)
    cross = -(weight[:, None] * shares * np.log(said)).sum()
    assert cross == pytest.approx(golden["cross_entropy"], rel=1e-7)


def test_lasso_leaves_terms_out_and_is_a_minimum(logistic):
    X, q = np.array(logistic["X"]), np.array(logistic["q"])
    shares = np.stack([1 - q, q], axis=1)

    def objective(intercept, coef):
        said = probabilities_of(X @ coef.T + intercept)
        return -(shares * np.log(said)).sum() + 2.0 * np.abs(coef).sum()

    intercept, coef = fit_logistic(X, shares, np.ones(len(q)), lasso=2.0)
    assert (coef == 0).any()
    best, rng = objective(intercept, coef), np.random.default_rng(0)
    for _ in range(200):
        step = rng.normal(size=4) * 10 ** rng.uniform(-4, 0)
        moved = objective(intercept + step[:1], coef + step[None, 1:])
        assert moved > best - 1e-5


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_least_squares_by_the_normal_equations(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(30, 3)), rng.uniform(0.1, 2.0, 30)
    values = rng.normal(size=(4, 30)) + 5.0
    intercept, coef = fit_linear(X, values, weight, ridge=0.5)
    design = np.column_stack([np.ones(30), X])
    gram = design.T @ (weight[:, None] * design) + 0.5 * np.diag([0, 1, 1, 1])
    plain = np.linalg.solve(gram, design.T @ (weight[:, None] * values.T)).T
    np.testing.assert_allclose(intercept, plain[:, 0], rtol=1e-8)
    np.testing.assert_allclose(coef, plain[:, 1:], rtol=1e-7, atol=1e-10)
    # The projection of the mean is the mean of the projections.
    alone = fit_linear(X, values.mean(axis=0)[None], weight, ridge=0.5)
    np.testing.assert_allclose(coef.mean(axis=0), alone[1][0], rtol=1e-7, atol=1e-10)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_lasso_obeys_its_conditions(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.normal(size=(40, 4)), rng.uniform(0.1, 2.0, 40)
    y = X[:, 0] + rng.normal(size=40)
    (intercept,), (coef,) = fit_linear(X, y[None], weight, lasso=3.0)
    slope = X.T @ (weight * (y - intercept - X @ coef))
    assert weight @ (y - intercept - X @ coef) == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(
        slope[coef != 0], 3 * np.sign(coef[coef != 0]), rtol=0.02
    )
    assert (np.abs(slope[coef == 0]) <= 3.0 * 1.02).all()


def test_terms_are_standardised_and_categories_are_compared_with_the_first():
    space = FeatureSpace(("age", "hue", "one"), (None, ("red", "blue", "green"), None))
    encoded = np.array([[1.0, 0, 7], [2.0, 1, 7], [3.0, 2, 7], [6.0, 1, 7]])
    weight = np.array([1.0, 1.0, 1.0, 3.0])
    terms = Terms.from_table(space, encoded, weight)
    assert terms.names == ["age", "hue=blue", "hue=green"]
    columns = terms.design_matrix(encoded)
    np.testing.assert_allclose(weight @ columns, 0, atol=1e-12)
    np.testing.assert_allclose(weight @ columns**2 / 6, 1)
    # What is missing, or nobody has seen, counts as the mean.
    strange = np.array([[np.nan, -1.0, 7.0], [1.0, np.nan, 7.0]])
    columns = terms.design_matrix(strange)
    assert (columns[0] == 0).all() and (columns[1, 1:] == 0).all()
    encoded[1, 0] = np.nan
    with_gap = Terms.from_table(space, encoded, weight)
    assert with_gap.names == ["age", "age missing", "hue=blue", "hue=green"]
    assert with_gap.design_matrix(encoded)[1, 0] == 0
    assert (with_gap.design_matrix(encoded)[:, 1] > 0).tolist() == [
        False,
        True,
        False,
        False,
    ]
    encoded[1, 0] = np.inf
    with refuses(InputError, match="'age'"):
        terms.design_matrix(encoded)


def test_without_terms_the_shares_are_all_there_is_to_say():
    shares = np.array([[0.2, 0.5, 0.3], [0.4, 0.1, 0.5]])
    weight, none = np.array([1.0, 3.0]), np.zeros((2, 0))
    for part in (shares, shares[:, :2] / shares[:, :2].sum(axis=1, keepdims=True)):
        intercept, coef = fit_logistic(none, part, weight, ridge=0.1)
        said = probabilities_of(none @ coef.T + intercept)
        np.testing.assert_allclose(said[0], np.average(part, axis=0, weights=weight))
    for lasso in (0.0, 0.1):
        intercept, coef = fit_linear(none, shares.T, weight, ridge=0.1, lasso=lasso)
        np.testing.assert_allclose(intercept, weight @ shares / 4)
        assert coef.shape == (3, 0)


@pytest.mark.parametrize("by", [1e-310, 5e-324, 2.0**-900, 1e300])
def test_terms_near_the_ends_of_float64_have_a_unit(by):
    values = np.array([[1.0], [2.0], [4.0], [8.0]]) * by
    terms = Terms.from_table(FeatureSpace.numeric(1), values, np.ones(4))
    columns = terms.design_matrix(values)[:, 0]
    assert columns.mean() == pytest.approx(0, abs=1e-6 if by > 1e-320 else 1)
    assert 0.5 < columns.std() < 2
