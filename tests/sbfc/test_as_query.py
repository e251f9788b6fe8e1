"""Queries predict as the classifier does, in two databases."""

import math
import sqlite3
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.sbfc.reading.test_level_odds import mixed_rows
from tests.wording import refuses

import clearwood as cw
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError
from clearwood.sbfc import to_sql

NAME = "the 'table'"


def asked_duckdb(query, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register(NAME, rows)
        return connection.execute(query).df()


def asked_sqlite(query, rows):
    with sqlite3.connect(":memory:") as connection:
        # It has these only where it was built with mathematical functions.
        connection.create_function(
            "EXP", 1, lambda x: None if x is None else math.exp(x)
        )
        connection.create_function(
            "LN", 1, lambda x: None if x is None else math.log(x)
        )
        rows.to_sql(NAME, connection, index=False)
        return pd.read_sql(query, connection)


ASKED = {"duckdb": asked_duckdb, "sqlite": asked_sqlite, "standard": asked_duckdb}


def same_predictions(forest, X, dialect, known=None):
    rows = X.assign(**{"row id": np.arange(len(X))[::-1]})
    query = to_sql(forest, NAME, dialect, keep=["row id"])
    found = ASKED[dialect](query, rows)
    p = found[[f"probability {label}" for label in forest.classes_]].to_numpy(float)
    known = np.ones(len(X), dtype=bool) if known is None else known
    assert (np.isnan(p).all(axis=1) == ~known).all()
    np.testing.assert_allclose(p[known], forest.predict_proba(X)[known], atol=1e-9)
    assert (found["prediction"][known] == forest.predict(X)[known]).all()
    assert found["prediction"].isna().equals(pd.Series(~known))
    assert (found["row id"] == rows["row id"]).all()
    assert found.shape[1] == 2 + len(forest.classes_)


@pytest.mark.parametrize("dialect", ASKED)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("calibration", ["additive", "temperature", None])
def test_predictions_are_those_of_the_classifier(dialect, n_classes, calibration):
    X, y = mixed_rows(n_classes=n_classes)
    X = X.rename(columns={"hue": 'h"u`e'})
    forest = cw.SelectiveBayesianForestClassifier(
        n_graphs=20, calibration=calibration, random_state=0
    ).fit(X[:160], y[:160])
    assert forest.inclusion_probability_.max() > 0.9
    same_predictions(forest, X, dialect)


@pytest.mark.parametrize("smoothing", ["paper", "dirichlet"])
def test_levels_that_are_not_known_have_no_prediction(smoothing):
    X, y = mixed_rows()
    X["age"] = X["age"].fillna(50.0)
    X["hue"] = pd.Categorical(X["hue"], [*"abcd", "unused", "violet"])
    forest = cw.SelectiveBayesianForestClassifier(
        n_graphs=5, smoothing=smoothing, random_state=0
    ).fit(X, y)
    new = X[:9].copy()
    new.loc[2, "hue"] = "violet"
    new.loc[3, "hue"] = "unused"
    new.loc[4, "age"] = np.nan
    new.loc[6, "idle"] = np.nan  # noise: adds nothing
    same_predictions(forest, new, "duckdb", ~np.isin(np.arange(9), [2, 3, 4]))


def test_edges_are_followed():
    X, y = make_corral(n_noise=2, random_state=0)
    X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    forest = cw.SelectiveBayesianForestClassifier(n_graphs=30, random_state=0)
    forest.fit(X[:90], y[:90])
    assert any((graph.parent >= 0)[graph.signal].any() for graph in forest.graphs_)
    same_predictions(forest, X, "sqlite")


def test_what_cannot_be_written_is_refused():
    X, y = mixed_rows()
    forest = cw.SelectiveBayesianForestClassifier(n_graphs=5, random_state=0).fit(X, y)
    with refuses(InputError):
        to_sql(forest, "t", "dbase")
    steep = forest._average.log_table * 500
    forest._average = replace(forest._average, log_table=steep)
    with refuses(InputError):
        to_sql(forest, "t")
