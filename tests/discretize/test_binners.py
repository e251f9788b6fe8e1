"""The transformers: tables of all kinds, words, and messages."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError

BINNERS = [cw.MDLPDiscretizer, cw.BinaryBinner]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200).astype(float)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(200) < 0.1, np.nan, age),
            "ward": rng.choice(["north", "south"], 200),
            "bed": pd.Categorical(rng.choice(["a", "b"], 200)),
            "same": 1,
        },
        index=np.arange(200) * 3 + 5,
    )
    return frame, np.where(age > 60, "old", "young")


@pytest.mark.parametrize("make", BINNERS)
def test_frames_stay_what_they_are(make, table):
    X, y = table
    found = make().fit(X, y)
    assert [cuts is None for cuts in found.cuts_] == [False, True, True, False]
    binned = found.transform(X)
    assert isinstance(binned, pd.DataFrame)
    assert binned.index.equals(X.index) and list(binned) == list(X)
    pd.testing.assert_frame_equal(binned[["ward", "bed"]], X[["ward", "bed"]])
    np.testing.assert_array_equal(binned["age"].isna(), X["age"].isna())
    assert set(binned["age"].dropna()) == {0.0, 1.0}
    assert set(binned["same"]) == {0.0}
    other = make().fit(pl.from_pandas(X), y)
    again = other.transform(pl.from_pandas(X))
    assert isinstance(again, pl.DataFrame)
    np.testing.assert_array_equal(again["age"].to_numpy(), binned["age"].to_numpy())
    assert again["ward"].to_list() == X["ward"].tolist()
    assert other.intervals_ == found.intervals_


@pytest.mark.parametrize("make", BINNERS)
@pytest.mark.parametrize("kind", FRAMES)
def test_set_output(make, kind, table):
    X, y = table
    binner = make().set_output(transform=kind)
    for given in (X, pl.from_pandas(X)):
        found = binner.fit(given, y).transform(given)
        assert isinstance(found, FRAMES[kind])
        assert list(found.columns) == list(X)
    array = binner.fit(X[["age", "same"]].to_numpy(), y)
    names = list(array.transform(X[["age", "same"]].to_numpy()).columns)
    assert names == ["x0", "x1"] == array.get_feature_names_out().tolist()


def test_words(table):
    X, y = table
    found = cw.MDLPDiscretizer().fit(X, y)
    assert found.intervals_[0] == ("age <= 60.5", "age > 60.5")
    assert found.intervals_[1] is None and found.decisions_[1] is None
    same_text(found.intervals_[3])
    assert [one.accepted for one in found.decisions_[0]] == [True, False, False]


def test_what_is_binned_is_cut_no_further():
    X, y = load_iris(return_X_y=True)
    once = cw.MDLPDiscretizer().fit_transform(X, y)
    np.testing.assert_array_equal(cw.MDLPDiscretizer().fit_transform(once, y), once)


def test_in_a_pipeline_cuts_are_those_of_the_fold():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(cw.MDLPDiscretizer(), CategoricalNB())
    model.fit(X[::2], y[::2])
    alone = cw.MDLPDiscretizer().fit(X[::2], y[::2])
    for own, cuts in zip(model[0].cuts_, alone.cuts_):
        np.testing.assert_array_equal(own, cuts)
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_messages(table):
    X, y = table
    with refuses(InputError, match="BinaryBinner"):
        cw.MDLPDiscretizer().fit(X, None)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        cw.MDLPDiscretizer().fit(X, np.linspace(0, 1, 200))
    found = cw.BinaryBinner().fit(X)
    with refuses(InputError, match="'age'.*'old'"):
        found.transform(X.assign(age="old"))
    with (
        pytest.warns(UserWarning, match="feature names"),
        refuses(InputError),
    ):
        found.transform(np.zeros((2, 4)))
