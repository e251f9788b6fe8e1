"""Tables as lists and arrays of objects: what every estimator makes of them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from tests.estimators import DENSITIES, ESTIMATORS, TRANSFORMERS
from tests.wording import refuses

from clearwood.columns.validation import check_table
from clearwood.exceptions import InputError

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 2)).round(3).tolist()


def changed(cell):
    """The rows with another cell."""
    return [[*ROWS[0]], [*ROWS[1]], [ROWS[2][0], cell], *ROWS[3:]]


def fits():
    """A fit of every estimator, by its name; of ensembles that are not fitted yet."""
    labels = np.where(np.array(ROWS)[:, 0] > 0, "high", "low")
    for case in ESTIMATORS:
        y = labels if case.classifies else np.array(ROWS)[:, 1]
        teacher = case.unfitted() if case.reads_ensembles else None
        found = case.made(teacher)
        yield case.make.__name__, lambda X, y=y, found=found: found.fit(X, y)
    for make, settings in DENSITIES.items():
        yield make.__name__, make(random_state=0, **settings).fit
    for make in TRANSFORMERS:
        yield make.__name__, lambda X, make=make: make().fit(X, labels)


each = pytest.mark.parametrize("fit", [pytest.param(fit, id=n) for n, fit in fits()])


@each
def test_text_is_named_with_its_place_and_a_remedy(fit):
    for cell, shown in (("red", "'red'"), (datetime.date(2020, 5, 1), "2020, 5, 1")):
        for form in (list, lambda rows: np.array(rows, dtype=object)):
            with refuses(InputError, match=f"{shown}.* 2, .* 1 "):
                fit(form(changed(cell)))
    with refuses(InputError):
        fit([*ROWS, [1.0]])


@pytest.mark.parametrize("series", [pd.Series([1, 2]), pl.Series([1, 2])])
def test_a_series_is_no_table(series):
    with refuses(InputError):
        check_table(BaseEstimator(), series, reset=True)


@each
def test_empty_cells_are_missing(fit):
    fit(changed(None))


@pytest.mark.parametrize("empty", [None, pd.NA, pd.NaT, np.nan])
@pytest.mark.parametrize("as_array", [False, True])
def test_empty_cells_of_all_kinds_are_read_alike(empty, as_array):
    rows = changed(empty)
    given = np.array(rows, dtype=object) if as_array else rows
    found = check_table(BaseEstimator(), given, reset=True)
    np.testing.assert_array_equal(found, np.array(changed(np.nan)))
    assert found.dtype == float
    assert rows[2][1] is empty and (not as_array or given[2, 1] is empty)


def test_text_is_a_number_only_where_scikit_learn_takes_it_for_one():
    texts = [["1", "2.5"], ["3", "-1e3"]]
    found = check_table(BaseEstimator(), np.array(texts, dtype=object), reset=True)
    assert found.tolist() == [[1, 2.5], [3, -1000]]
    for form in (texts, np.array(texts), [[1, None], ["1", 2]]):
        with refuses(InputError):
            check_table(BaseEstimator(), form, reset=True)
    days = np.array([["2020-01-01"]], dtype="datetime64[D]")
    with refuses(InputError):
        check_table(BaseEstimator(), days, reset=True)


def test_large_whole_numbers_beside_empty_cells_stay_exact():
    large = [[2**60 + 1, None], [2**60, 1]]
    found = check_table(BaseEstimator(), large, reset=True)
    assert found[0, 0] == 2**60 + 1
