"""Gaussian processes and Bayesian linear models, against what is known exactly."""

import json

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Kernel,
    WhiteKernel,
)
from sklearn.linear_model import ARDRegression, BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.references.kinds import values
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references import LinearReference

MANY = 20_000
ERRORS = 5
"""Tolerance in standard errors; of 100 numbers one beyond it in 17,000 seeds."""


def of_variance(variance):
    """The Monte-Carlo error of a variance of normal draws."""
    return ERRORS * variance * np.sqrt(2 / MANY)


class ArcSine(Kernel):
    """The kernel of a network with one infinite layer."""

    def __init__(self, v=5.0, w=5.0, b=1.0):
        self.v, self.w, self.b = v, w, b

    def __call__(self, X, Y=None, eval_gradient=False):
        Y = X if Y is None else Y
        norms = [np.sqrt(self.w * np.sum(Z**2, axis=1) + self.b + 1) for Z in (X, Y)]
        inner = (self.w * X @ Y.T + self.b) / np.outer(*norms)
        return self.v * 2 / np.pi * np.arcsin(inner)

    def diag(self, X):
        return np.array([self(x[None])[0, 0] for x in X])

    def is_stationary(self):
        return False


@pytest.fixture(scope="module")
def golden(golden_folder):
    return json.loads((golden_folder / "projection.json").read_text())["gp_1d"]


@pytest.fixture(scope="module", params=["alpha", "white kernel", "both", "by row"])
def process(request, golden):
    """The golden process, its noise of variance 1 said in four ways."""
    kernel, alpha = {
        "alpha": (ArcSine(), 1.0),
        "white kernel": (ArcSine() + WhiteKernel(1.0), 1e-12),
        "both": (ArcSine() + WhiteKernel(0.75), 0.25),
        "by row": (ArcSine(), np.ones(40)),
    }[request.param]
    model = GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None)
    return model.fit(np.array(golden["x"])[:, None], golden["y"])


def test_the_golden_process(process, golden):
    reference = cw.reference(process, n_draws=MANY, random_state=1)
    X = np.array(golden["x_star"])[:, None]
    mean, variance, noise = reference.mean_and_variance(X)
    np.testing.assert_allclose(mean, golden["mean"], atol=1e-8)
    exact = np.array(golden["var_f"])
    assert (np.abs(variance - exact) < of_variance(exact)).all()
    assert (np.abs(variance + noise - golden["var_y"]) < of_variance(exact)).all()
    # The noise is 1, and next to nothing that landmarks leave open.
    np.testing.assert_allclose(noise, 1, atol=1e-6)

    draws = reference.draws(X) - mean
    at_zero = draws[:, golden["x_star"].index(0.0)]
    covariance = np.array(golden["cov_f_with_x0"])
    error = np.sqrt((exact * exact[10] + covariance**2) / MANY)
    assert (np.abs(at_zero @ draws / MANY - covariance) < ERRORS * error).all()


@pytest.mark.parametrize("standardised", [True, False])
def test_total_variance_is_exact_far_from_landmarks_too(standardised):
    """A rough process in three dimensions: most rows are far from all landmarks."""
    rng = np.random.default_rng(0)
    X, new = rng.uniform(size=(40, 3)), rng.uniform(-1, 2, size=(60, 3))
    y = 10 + 3 * rng.normal(size=40)
    kernel = ConstantKernel(2.0) * RBF(0.2) + WhiteKernel(0.3)
    model = GaussianProcessRegressor(
        kernel, alpha=0.2, optimizer=None, normalize_y=standardised
    ).fit(X, y)
    reference = cw.reference(model, n_draws=MANY, random_state=0)
    mean, variance, noise = reference.mean_and_variance(new)
    expected, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    # scikit-learn's variance has the white noise in it, but not alpha.
    total = deviation**2 + 0.2 * (y.var() if standardised else 1)
    assert (np.abs(variance + noise - total) < of_variance(total)).all()
    floor = 0.5 * (y.var() if standardised else 1)
    assert (noise >= floor * (1 - 1e-9)).all()
    assert noise.max() > 2 * floor, "the rows are near landmarks"


def test_draws_of_a_process_are_functions_that_bend():
    """Between landmarks they go on: neighbours differ less than far rows do."""
    X = np.linspace(0, 1, 15)[:, None]
    model = GaussianProcessRegressor(RBF(0.1), alpha=0.5, optimizer=None)
    reference = cw.reference(model.fit(X, np.zeros(15)), n_draws=300, random_state=0)
    fine = reference.draws(np.linspace(0, 1, 1001)[:, None])
    steps = np.abs(np.diff(fine, axis=1)).max()
    assert steps < 0.05 < fine.std(axis=0).min()


def test_a_single_draw_of_a_process_is_its_mean():
    X, y = values()
    model = GaussianProcessRegressor(RBF(0.1), alpha=0.5, normalize_y=True)
    reference = cw.reference(model, X, y, n_draws=1)
    fitted = reference.model
    np.testing.assert_allclose(reference.draws(X)[0], fitted.predict(X), rtol=1e-8)


def test_noise_that_differs_by_row_is_known_by_kernels():
    """White noise that grows with the row, as a product of kernels says."""
    X = np.linspace(1, 3, 200)[:, None]
    kernel = RBF(1.0) + WhiteKernel(0.1) * DotProduct(1.0)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(X, X[:, 0])
    reference = cw.reference(model, n_draws=3, random_state=0)
    np.testing.assert_allclose(
        reference.noise_variance(X)[2], 0.1 * (1 + X[:, 0] ** 2), rtol=1e-6
    )


def test_a_process_of_several_targets_is_refused():
    X, y = values()
    model = GaussianProcessRegressor(optimizer=None).fit(X, np.column_stack([y, y]))
    with refuses(InputError):
        cw.reference(model)


# Linear models


@pytest.mark.parametrize("model", [BayesianRidge(), ARDRegression()], ids=["", "ard"])
def test_linear_draws_follow_the_closed_form(model):
    X, y = values()
    X = X.assign(idle=np.random.default_rng(0).normal(size=len(X)))
    model.fit(X, y)
    reference = cw.reference(model, n_draws=MANY, random_state=2)
    mean, variance, noise = reference.mean_and_variance(X)
    expected, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=1e-10)
    np.testing.assert_allclose(noise, 1 / model.alpha_)
    exact = deviation**2 - 1 / model.alpha_
    assert (np.abs(variance - exact) <= of_variance(exact)).all()

    # Two coefficients, from three rows: how they vary together.
    at = np.eye(X.shape[1])[[0, 1]]
    slopes = reference.draws(at) - reference.draws(np.zeros((1, X.shape[1])))
    kept = np.flatnonzero(np.broadcast_to(model.lambda_, 4) < 1e4)
    sigma = np.zeros((4, 4))
    sigma[np.ix_(kept, kept)] = model.sigma_
    error = np.sqrt((sigma[0, 0] * sigma[1, 1] + sigma[0, 1] ** 2) / MANY)
    assert abs(np.cov(slopes.T)[0, 1] - sigma[0, 1]) <= ERRORS * error


def test_few_draws_vary_as_much_as_many_do():
    """Although their mean is exact, which costs them one in three."""
    X, y = values()
    model, row = BayesianRidge().fit(X, y), X[:1]
    spread = [
        LinearReference(model, n_draws=3, random_state=seed).draws(row).var()
        for seed in range(300)
    ]
    away = row.to_numpy()[0] - model.X_offset_
    exact = away @ model.sigma_ @ away
    # Each is a chi-squared of two degrees of freedom.
    assert abs(np.mean(spread) - exact) < ERRORS * exact * np.sqrt(2 / 2 / 300)


def test_draws_of_a_linear_model_are_linear():
    X, y = values()
    reference = cw.reference(BayesianRidge(), X, y, n_draws=5, random_state=0)
    a, b, middle = X.iloc[[0]], X.iloc[[1]], (X.iloc[[0]] + X.iloc[1].to_numpy()) / 2
    np.testing.assert_allclose(
        reference.draws(middle), (reference.draws(a) + reference.draws(b)) / 2
    )


def test_a_pipeline_is_as_good_as_its_steps():
    X, y = values()
    scaler = StandardScaler().fit(X)
    inner = cw.reference(BayesianRidge(), scaler.transform(X), y, random_state=0)
    whole = make_pipeline(StandardScaler(), BayesianRidge())
    outer = cw.reference(whole, X, y, random_state=0)
    np.testing.assert_allclose(
        outer.draws(X), inner.draws(scaler.transform(X)), rtol=1e-12
    )
    assert (outer.description, outer.is_posterior) == (inner.description, True)
