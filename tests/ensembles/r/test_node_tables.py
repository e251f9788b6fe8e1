"""Forests of R are read from their tables of nodes: see ../files/make_r_files.R."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.ensembles.files import r_cases
from tests.wording import refuses

import clearwood as cw
from clearwood.ensembles import read_ensemble
from clearwood.ensembles.read import read_document
from clearwood.exceptions import InputError, ModelFormatError

FILES = Path(__file__).parents[1] / "files"
LEVELS = r_cases.LEVELS


def table(case):
    return r_cases.table(FILES, case)


@pytest.mark.parametrize("case", r_cases.CASES)
def test_predictions_are_those_of_r(case):
    assert r_cases.worst_difference(FILES, case) == 0.0


@pytest.mark.parametrize("case", r_cases.CASES)
def test_frames_are_read_as_files(case):
    """Of pandas and polars, also with names as R's data.frame writes them."""
    frame = pd.read_csv(FILES / f"r-{case}.csv")
    dotted = frame.rename(columns=lambda name: name.replace(" ", "."))
    expected = read_ensemble(FILES / f"r-{case}.csv", levels=LEVELS)
    X = r_cases.rows(FILES)
    for one in (frame, dotted, pl.from_pandas(frame)):
        found = read_ensemble(one, levels=LEVELS)
        np.testing.assert_array_equal(found.raw_scores(X), expected.raw_scores(X))
        assert np.array_equal(found.classes, expected.classes)


def test_classes_are_those_of_the_factor():
    of = {
        case: read_ensemble(FILES / f"r-{case}.csv", levels=LEVELS)
        for case in r_cases.CASES
    }
    assert of["classes"].classes.tolist() == ["ill", "unclear", "well"]
    assert of["ranger_probability"].classes.tolist() == ["ill", "unclear", "well"]
    assert of["numbered"].classes.tolist() == [1, 2]
    assert of["regression"].classes is None


def test_rules_are_fitted_to_a_table():
    X = r_cases.rows(FILES)
    forest = read_ensemble(table("classes"), levels=LEVELS)
    rules = cw.simplify(forest, X, forest.predict(X), n_rules=4)
    assert (rules.predict(X) == forest.predict(X)).mean() > 0.8


def test_levels_are_by_predictor():
    with refuses(InputError):
        read_ensemble(table("classes"), levels=[["west", "north"]])


def test_without_levels_all_predictors_are_numbers():
    """They are those of the splits, and factors have to be named."""
    numeric = table("regression")
    numeric = numeric.replace({"split var": {"ward": "visits"}})
    ensemble = read_ensemble(numeric)
    assert set(ensemble.features.names) <= {"age", "dose", "visits"}
    assert any("factors" in note for note in ensemble.notes)
    with refuses(ModelFormatError):
        read_ensemble(FILES / "r-ranger_regression.csv")
    numbered = read_ensemble(table("numbered"))
    assert not numbered.features.named and numbered.n_features == 4


def test_missing_values_are_refused():
    X = r_cases.rows(FILES)
    X.loc[3, "age"] = np.nan
    with refuses(InputError):
        read_ensemble(FILES / "r-classes.csv", levels=LEVELS).predict(X)


CHANGES = {
    "a row lost": lambda t: t.drop(index=len(t) - 1),
    "a row moved": lambda t: t.iloc[[1, 0, *range(2, len(t))]],
    "no rows": lambda t: t[:0],
    "a child far away": lambda t: t.assign(**{t.columns[1]: 999}),
    "a child before": lambda t: t.assign(**{t.columns[1]: t.iloc[:, 1].clip(0, 2)}),
    "a child in halves": lambda t: t.assign(**{t.columns[1]: t.iloc[:, 1] + 0.5}),
    "a point of text": lambda t: t.assign(**{t.columns[5 - ("status" in t) * 2]: "x"}),
    "no predictor": lambda t: t.assign(**{t.columns[4 - ("status" in t) * 2]: None}),
    "a huge number": lambda t: t.assign(**{t.columns[1]: "1" + "0" * 400}),
    "no prediction": lambda t: t.assign(prediction=None),
    "levels beyond": lambda t: t.assign(
        **{t.columns[5 - ("status" in t) * 2]: "16" if "status" in t else "1,9"}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("case", ["regression", "ranger_regression"])
def test_damaged_tables(case, change):
    damaged = CHANGES[change](table(case)).to_csv(index=False).encode()
    with refuses(ModelFormatError):
        read_document(damaged, "forest.csv", LEVELS)


def test_a_header_that_is_read_as_other_columns():
    """With a semicolon at its end the table has one column."""
    data = (FILES / "r-ranger_regression.csv").read_bytes()
    with refuses(ModelFormatError):
        read_document(data.replace(b"\n", b"=1;2\n", 1), "forest.csv", LEVELS)


def test_a_survival_forest():
    with refuses(ModelFormatError):
        read_ensemble(table("ranger_regression").drop(columns="prediction"))


@pytest.mark.parametrize(
    "levels",
    [{"age": None}, {**LEVELS, "ward": ["a", "a"]}, {**LEVELS, "ward": range(54)}],
)
def test_wrong_levels(levels):
    with refuses(InputError):
        read_ensemble(table("regression"), levels=levels)


def test_levels_are_for_tables():
    forest = read_ensemble(table("regression"), levels=LEVELS)
    assert forest.features.categories[2] == ("east", "north", "south", "west")
    from sklearn.tree import DecisionTreeRegressor

    with refuses(InputError):
        read_ensemble(DecisionTreeRegressor().fit([[0], [1]], [0, 1]), levels=LEVELS)
