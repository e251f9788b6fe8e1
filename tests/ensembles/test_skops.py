"""Models of scikit-learn in skops files."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.wording import refuses

from clearwood.ensembles import check, read_ensemble
from clearwood.exceptions import ModelFormatError, UnsupportedModelError

skops_io = pytest.importorskip("skops.io")
X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3),
        GradientBoostingRegressor(n_estimators=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_predict_as_before_they_were_saved(model, tmp_path):
    model.fit(X, X[:, 0] > 0)
    skops_io.dump(model, tmp_path / "model.skops")
    assert_array_equal(
        read_ensemble(tmp_path / "model.skops").predict(X), model.predict(X)
    )


def test_a_pipeline_is_read_with_what_its_steps_keep(tmp_path):
    """An imputer keeps the type of its columns."""
    model = make_pipeline(SimpleImputer(), RandomForestClassifier(3, random_state=0))
    gaps = np.where(X < -1, np.nan, X)
    model.fit(gaps, X[:, 0] > 0)
    skops_io.dump(model, tmp_path / "model.skops")
    assert_array_equal(
        read_ensemble(tmp_path / "model.skops").predict(gaps), model.predict(gaps)
    )


def test_what_skops_does_not_trust_is_named_and_not_loaded(tmp_path):
    strange = FunctionTransformer(datetime.datetime.now)
    skops_io.dump(strange, tmp_path / "model.skops")
    with refuses(UnsupportedModelError):
        read_ensemble(tmp_path / "model.skops")


def test_other_models_and_damage(tmp_path):
    skops_io.dump(LinearRegression().fit(X, X[:, 0]), tmp_path / "line.skops")
    found = check(tmp_path / "line.skops")
    assert not found.supported and "LinearRegression" in found.problem
    content = (tmp_path / "line.skops").read_bytes()
    (tmp_path / "cut.skops").write_bytes(content[:200])
    with refuses(ModelFormatError):
        read_ensemble(tmp_path / "cut.skops")
