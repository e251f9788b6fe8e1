"""Binnings in files: all of them comes back, and nothing else is let in."""

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses

import clearwood as cw
from clearwood.codec.archive import read_archive, write_archive
from clearwood.exceptions import ClearwoodError, ModelFormatError

rng = np.random.default_rng(0)
X = pd.DataFrame({
    "dose": rng.normal(size=60),
    "ward": rng.choice(["a", "b"], 60),
    "same": 1.0,
    "age": rng.integers(20, 80, 60),
})  # fmt: skip
X.loc[::7, "dose"] = np.nan
y = np.where(X["age"] > 50, "old", "young")


@pytest.mark.parametrize("kind", [cw.BinaryBinner, cw.MDLPDiscretizer])
@pytest.mark.parametrize("table", [X, X[["dose", "age"]].to_numpy(), X[["ward"]]])
def test_all_of_it_comes_back(kind, table, tmp_path):
    found = kind().fit(table, y)
    cw.save(found, tmp_path / "kept")
    again = cw.load(tmp_path / "kept")
    assert type(again) is kind and vars(again).keys() == vars(found).keys()
    for name in ("cuts_", "intervals_", "decisions_", "n_features_in_"):
        assert str(getattr(again, name, None)) == str(getattr(found, name, None))
    said = found.transform(table)
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(again.transform(table), said)
    else:
        np.testing.assert_array_equal(again.transform(table), said)
    assert again.feature_names_in_.tolist() == list(X) if table is X else True


@pytest.mark.parametrize(
    ("changes", "arrays"),
    [
        ({"passes": []}, {}),
        ({"passes": [False] * 4}, {}),
        ({"passes": [False, True]}, {}),
        ({"passes": 3}, {}),
        ({}, {"n_cuts": np.array([0, 0, 1]), "cuts": np.array([np.nan])}),
        ({}, {"n_cuts": np.array([0, 0, 2]), "cuts": np.array([2.0, 1.0])}),
        ({}, {"n_cuts": np.array([9, 0, 1])}),
        ({}, {"n_decisions": np.array([9, 0, 1])}),
        ({}, {"decisions": np.zeros((2, 3))}),
    ],
)
def test_what_does_not_fit_is_refused(changes, arrays, tmp_path):
    cw.save(cw.MDLPDiscretizer().fit(X, y), tmp_path / "kept")
    top, array = read_archive(tmp_path / "kept")
    kept = {
        "n_cuts": array("n_cuts", "i", -1),
        "cuts": array("cuts", "f", -1),
        "n_decisions": array("n_decisions", "i", -1),
        "decisions": array("decisions", "f", -1, 4),
    }
    write_archive(tmp_path / "other", top.value | changes, kept | arrays)
    with refuses(ModelFormatError):
        cw.load(tmp_path / "other")


def test_only_what_is_fitted_and_ours_is_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        cw.save(cw.BinaryBinner(), tmp_path / "kept")
    own = type("BinaryBinner", (cw.BinaryBinner,), {})().fit(X)
    with refuses(ClearwoodError):
        cw.save(own, tmp_path / "kept")
