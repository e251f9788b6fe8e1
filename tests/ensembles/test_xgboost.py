"""What is read from XGBoost predicts what XGBoost predicts, bit for bit."""

import dataclasses

import numpy as np
import pytest
from tests.ensembles import xgboost_models

from clearwood.ensembles import read_ensemble

pytestmark = pytest.mark.filterwarnings("error")

N_SEEDS = 7
LINK_ULPS = 4
"""Exponentials in float32: the C library's against NumPy's."""


@pytest.mark.parametrize("kind", xgboost_models.KINDS)
def test_predicts_what_xgboost_predicts(kind, tmp_path):
    for seed in range(N_SEEDS):
        case = xgboost_models.make(kind, seed)
        ensemble = read_ensemble(case.model)
        raw = ensemble.raw_scores(case.X)
        native = case.raw.reshape(len(case.raw), -1)
        np.testing.assert_array_equal(raw.astype(np.float32), native, str(seed))
        predicted = ensemble.predict(case.X)
        if ensemble.task == "classification":
            np.testing.assert_array_equal(predicted, case.predicted, str(seed))
        else:
            assert_near(predicted, case.predicted)
        if case.probabilities is not None:
            assert_near(ensemble.predict_proba(case.X), case.probabilities)
        for ending in ("json", "ubj"):
            path = tmp_path / f"model.{ending}"
            case.model.save_model(path)
            assert_same_ensemble(read_ensemble(path), ensemble)


def assert_near(found, native):
    """Within a few float32 steps at the size of the native value."""
    step = np.spacing(np.abs(native).astype(np.float32))
    if native.shape[1:] == (2,):
        # One of two probabilities is 1 minus the other, with the other's step.
        step = step.max(axis=1, keepdims=True)
    assert np.all(np.abs(found - native) <= LINK_ULPS * step)


def assert_same_ensemble(one, other):
    for field in dataclasses.fields(one):
        if field.name in ("source", "features"):
            continue
        left, right = (getattr(e, field.name) for e in (one, other))
        np.testing.assert_array_equal(left, right, field.name)
    # A file does not know which number an estimator takes for missing.
    features = dataclasses.replace(other.features, missing_at=one.features.missing_at)
    assert one.features == features
