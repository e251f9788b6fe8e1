"""Draws of linear models of which some coefficients are pruned."""

import numpy as np
import pytest
from sklearn.linear_model import ARDRegression

import clearwood as cw


def test_what_is_pruned_does_not_vary_and_the_rest_does_as_the_model_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = 2.0 * X[:, 1] - 3.0 * X[:, 3] + rng.normal(size=60)
    model = ARDRegression(threshold_lambda=50.0).fit(X, y)
    kept = model.lambda_ < model.threshold_lambda
    assert kept.tolist() == [False, True, False, True]
    reference = cw.reference(model, X, y, n_draws=4000, random_state=0)
    far = np.vstack([5 * np.eye(4), X[:5]]) + model.X_offset_
    _, variance, noise = reference.mean_and_variance(far)
    said = model.predict(far, return_std=True)[1] ** 2
    assert variance[[0, 2]] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(variance + noise, said, rtol=0.1)
