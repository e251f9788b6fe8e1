import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor
from tests.ensembles import naive

import clearwood as cw
from clearwood.ensembles import read_ensemble
from clearwood.ensembles.casts import FLOAT32_LIMIT, float64_cut_of_float32_test

LARGEST = float(np.finfo(np.float32).max)
TINY = float(np.finfo(np.float32).smallest_subnormal)
any_number = st.floats(allow_nan=False)
near_float32 = st.floats(allow_nan=False, width=32)


def neighbours(x):
    with np.errstate(all="ignore"):
        return [x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)]


@given(threshold=st.one_of(any_number, near_float32), x=any_number)
@example(threshold=np.inf, x=np.inf)
@example(threshold=-np.inf, x=-1e39)
@example(threshold=LARGEST, x=1e39)
@example(threshold=-LARGEST, x=-1e39)
@example(threshold=0.0, x=TINY / 2)
@example(threshold=-0.0, x=TINY / 2)
@example(threshold=-TINY / 4, x=-TINY / 2)
@example(threshold=1e300, x=1e39)
@example(threshold=-1e300, x=-1e39)
def test_same_answer_as_the_cast_for_any_number(threshold, x):
    cut = float64_cut_of_float32_test(threshold)
    around = neighbours(x) + neighbours(float(cut)) + neighbours(threshold)
    for value in around:
        assert (value <= cut) == naive.casts_below(value, threshold), value


@given(threshold=near_float32, x=any_number)
@example(threshold=LARGEST, x=1e39)
@example(threshold=-LARGEST, x=-1e39)
@example(threshold=0.0, x=-TINY / 2)
@example(threshold=-0.0, x=TINY / 2)
@example(threshold=TINY, x=TINY / 2)
def test_same_answer_as_the_cast_where_equal_goes_right(threshold, x):
    cut = float64_cut_of_float32_test(threshold, strict=True)
    if np.isinf(threshold):
        return  # refused by the readers
    for value in neighbours(x) + neighbours(float(cut)) + neighbours(threshold):
        with np.errstate(all="ignore"):
            assert (value <= cut) == bool(np.float32(value) < threshold), value


@given(st.one_of(any_number, near_float32))
def test_cut_is_the_largest_number_that_passes(threshold):
    cut = float64_cut_of_float32_test(threshold)
    assert naive.casts_below(cut, threshold)
    if cut < np.inf:
        assert not naive.casts_below(neighbours(cut)[2], threshold)


def test_halfway_values_follow_the_even_neighbour():
    one, after = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    # 1 has an even last bit: halfway up, the cast falls back to it; not so above.
    half = (float(one) + float(after)) / 2
    assert float64_cut_of_float32_test(float(one)) == half
    beyond = np.nextafter(after, np.float32(2))
    half = (float(after) + float(beyond)) / 2
    assert float64_cut_of_float32_test(float(after)) == np.nextafter(half, 0)


def test_shape_nan_and_infinity():
    cuts = float64_cut_of_float32_test([[np.nan, np.inf], [0.5, -np.inf]])
    assert cuts.shape == (2, 2) and cuts.dtype == np.float64
    assert np.isnan(cuts[0, 0]) and cuts[0, 1] == np.inf


def test_limit_is_the_last_finite_cast():
    with np.errstate(over="ignore"):
        assert np.isfinite(np.float32(FLOAT32_LIMIT))
        assert np.isinf(np.float32(np.nextafter(FLOAT32_LIMIT, np.inf)))


# Whole numbers beyond float64


def xgboost_regressor():
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRegressor(
        n_estimators=1, learning_rate=1, min_child_weight=0, base_score=0
    )


def catboost_regressor():
    catboost = pytest.importorskip("catboost")
    return catboost.CatBoostRegressor(
        iterations=1, learning_rate=1, verbose=0, allow_writing_files=False
    )


MIDDLES = [2**60 + k * 2**36 for k in (1, 3)]
"""Halfway between float32 numbers: 2**60, and two after it."""


@pytest.mark.parametrize(
    "make", [DecisionTreeRegressor, xgboost_regressor, catboost_regressor]
)
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_whole_numbers_are_rounded_as_the_library_rounds_them(make, form):
    ids = np.array([2**60, 2**60 + 2**37, 2**60 + 2**38]).repeat(20)[:, None]
    y = np.repeat([0.0, 1.0, 2.0], 20)
    names = {} if form is np.asarray else {"columns": ["id"]}
    if form is pl.DataFrame:
        names = {"schema": ["id"]}
    model = make().fit(form(ids, **names), y)
    near = np.array([m + by for m in MIDDLES for by in range(-300, 301)])[:, None]
    table = form(near, **names)
    expected = model.predict(table)
    ensemble = read_ensemble(model)
    assert len(np.unique(expected)) >= 2
    np.testing.assert_allclose(ensemble.predict(table), expected, rtol=1e-6)
    # Rules made of it say the same, and say it again from their file.
    X = form(ids, **names)
    found = cw.DistilledTreeRegressor(
        ensemble, n_synthetic=0, round_thresholds=False, random_state=0
    ).fit(X)
    again = cw.RuleSet.from_json(found.rules_.to_json())
    for rules in (found, again):
        np.testing.assert_allclose(rules.predict(table), expected, rtol=1e-6)
