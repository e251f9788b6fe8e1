"""Kaplan-Meier curves and pseudo-values, by scikit-survival and by definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sksurv.nonparametric import kaplan_meier_estimator
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.outcomes import Survival
from clearwood.outcomes.kaplan_meier import curve_of, kaplan_meier, pseudo_values
from clearwood.outcomes.survival import (
    FIELDS,
    check_horizons,
    check_survival,
    is_survival,
)

ROWS = st.lists(
    st.tuples(st.integers(1, 8), st.booleans()), min_size=3, max_size=30
).filter(lambda rows: any(event for _, event in rows))
"""Times with many ties, and whether each is one of an event."""


def columns(rows):
    time, event = np.array(rows).T
    return time.astype(float), event.astype(bool)


@given(ROWS)
def test_curve_and_interval_are_those_of_scikit_survival(rows):
    time, event = columns(rows)
    ones, n = np.ones(len(time)), len(time)
    times, survival, ends = kaplan_meier_estimator(event, time, conf_type="log-log")
    own = kaplan_meier(time, event, ones)
    at = np.searchsorted(times, own.times)
    np.testing.assert_allclose(own.survival, survival[at], atol=1e-12)
    curve = curve_of(time, event, ones > 0, ones, n, own.times.tolist())
    for time_, share, low, high in zip(own.times, own.survival, *ends[:, at]):
        if 0 < share < 1:
            # Curves are kept with five decimals.
            assert curve.interval(time_) == pytest.approx((low, high), abs=1e-4)
    assert curve.events == event.sum()
    reached = times[survival <= 0.5]
    assert curve.median == pytest.approx(
        reached[0] if len(reached) else np.nan, nan_ok=True
    )


@given(ROWS, st.integers(1, 8))
def test_pseudo_values_are_the_influence_of_rows(rows, horizon):
    time, event = columns(rows)
    weight = np.ones(len(time))

    def survival(weight):
        curve = kaplan_meier(time, event, weight)
        return np.append(1.0, curve.survival)[(curve.times <= horizon).sum()]

    found = pseudo_values(time, event, weight, [horizon])
    assert found.mean() == pytest.approx(survival(weight))
    if survival(weight) > 0:
        more = weight + 1e-6 * np.eye(len(time))
        slope = [(survival(w) - survival(weight)) / 1e-6 for w in more]
        np.testing.assert_allclose(
            found, survival(weight) + len(time) * np.array(slope), atol=1e-3
        )


def test_pseudo_values_without_censoring_are_indicators():
    time = np.array([3.0, 1.0, 2.0, 2.0, 5.0])
    found = pseudo_values(time, np.ones(5, bool), np.ones(5), [2.0, 4.0])
    expected = ((time > 2).astype(float) + (time > 4)) / 2
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(ROWS, st.integers(0, 2**31))
def test_weights_are_repeated_rows(rows, seed):
    time, event = columns(rows)
    weight = np.random.default_rng(seed).integers(0, 3, len(time))
    weight[event.argmax()] = 1
    one = kaplan_meier(time, event, weight.astype(float))
    many = kaplan_meier(
        time.repeat(weight), event.repeat(weight), np.ones(weight.sum())
    )
    np.testing.assert_array_equal(one.times, many.times)
    np.testing.assert_allclose(one.survival, many.survival, atol=1e-12)
    np.testing.assert_allclose(one.variance, many.variance, rtol=1e-9)


def test_long_curves_keep_few_times_and_all_horizons():
    time = np.arange(1.0, 2001.0)
    curve = curve_of(time, time > 0, time > 0, np.ones(2000), 2000, (777.5, 1999.0))
    assert len(curve.times) <= 202 and {777.5, 1999.0} <= set(curve.times)
    np.testing.assert_allclose(curve.at([777.5]), 1 - 777 / 2000, atol=1e-5)


def test_targets_of_survival_are_told_from_others():
    frame = pd.DataFrame({"years": [1.0, 2.0], "died": [True, False]})
    y = check_survival(frame, 2)
    assert is_survival(frame) and is_survival(y)
    coded = check_survival(frame.assign(died=[1, 0]), 2)
    np.testing.assert_array_equal(coded, y)
    assert y["time"].tolist() == [1, 2] and y["event"].tolist() == [True, False]
    others = [
        [1, 2],
        np.zeros((2, 2)),
        frame[["years"]],
        frame["died"],
        None,
        "time",
        frame.assign(died=[1, 2]),
        frame.assign(died=[1, 0], years=[0, 1]),
        frame.assign(years=[True, False]),
    ]
    assert not any(map(is_survival, others))


def rows(*pairs):
    return np.array(list(pairs), FIELDS)


TWO = rows((True, 1.0), (False, 2.0))
WRONG = {
    "values": lambda: check_survival(np.ones(2), 2),
    "no bool": lambda: check_survival(pd.DataFrame({"t": [1.0], "e": [1]}), 1),
    "negative": lambda: check_survival(rows((True, 1.0), (True, -1.0)), 2),
    "no event": lambda: check_survival(rows((False, 1.0), (False, 2.0)), 2),
    "missing": lambda: check_survival(rows((True, np.nan), (True, 2.0)), 2),
    "beyond": lambda: check_horizons([1, 3], TWO),
    "zero": lambda: check_horizons(0, TWO),
    "text": lambda: check_horizons("soon", TWO),
    "at 0": lambda: check_horizons(None, rows((True, 0.0), (False, 2.0))),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_problem(name):
    with refuses(InputError):
        WRONG[name]()


def test_horizons_are_quartiles_by_default():
    y = rows(*((True, float(t)) for t in range(1, 101)))
    assert check_horizons(None, y) == (26.0, 50.0, 75.0)
    assert check_horizons([5, 2, 2], y) == (2.0, 5.0)


def test_probabilities_of_a_model_are_no_times():
    outcome = Survival(horizons=(1.0,))
    assert outcome.check([0.25, 0.5], 2).tolist() == [0.25, 0.5]
    assert outcome.check(TWO, 2) == pytest.approx([0, 1])
