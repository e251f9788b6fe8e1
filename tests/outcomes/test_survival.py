"""Kaplan-Meier curves and pseudo-values, by scikit-survival and by definition."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sksurv.nonparametric import (
    cumulative_incidence_competing_risks,
    kaplan_meier_estimator,
)
from tests.wording import refuses, same_text

from clearwood.exceptions import InputError
from clearwood.outcomes import Survival
from clearwood.outcomes.kaplan_meier import (
    aalen_johansen,
    at_times,
    curve_of,
    kaplan_meier,
    pseudo_values,
)
from clearwood.outcomes.survival import (
    FIELDS,
    OF_CAUSES,
    causes_of,
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


def test_before_the_first_event_all_survive_without_an_error():
    time = np.array([2.0, 3.0, 5.0, 7.0])
    curve = curve_of(time, time > 2, time > 0, np.ones(4), 4, (1.0, 3.0))
    before = curve.times.index(1.0)
    assert (curve.survival[before], curve.error[before]) == (1.0, 0.0)
    assert curve.error[curve.times.index(3.0)] > 0.0


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
        frame.assign(died=[1, -2]),
        frame.assign(died=[1, 2]),
        frame.assign(died=[1, 0], years=[0, 1]),
        frame.assign(years=[True, False]),
    ]
    assert not any(map(is_survival, others))


# Competing risks

COMPETING = st.lists(
    st.tuples(st.integers(1, 8), st.integers(0, 2)), min_size=4, max_size=40
).filter(lambda rows: {1, 2} <= {event for _, event in rows})
"""Times with many ties, and the cause of the event at each; 0 for none."""


def incidence(time, event, weight, cause, horizon):
    """The definition of Aalen and Johansen's estimate, one time after the other."""
    free, total = 1.0, 0.0
    for t in np.unique(time[(event > 0) & (time <= horizon)]):
        at_risk = weight[time >= t].sum()
        total += free * weight[(time == t) & (event == cause)].sum() / at_risk
        free *= 1 - weight[(time == t) & (event > 0)].sum() / at_risk
    return total


@given(COMPETING, st.integers(1, 8), st.integers(0, 2**31))
def test_incidence_is_that_of_the_definition(rows, horizon, seed):
    time, event = np.array(rows).T
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(time))
    total = 0.0
    for cause in (1, 2):
        curve = aalen_johansen(time, event, weight, cause)
        (free,) = at_times(curve.times, curve.survival, [horizon], 1.0)
        expected = incidence(time, event, weight, cause, horizon)
        assert 1 - free == pytest.approx(expected, abs=1e-12)
        total += 1 - free
    known = kaplan_meier(time, event, weight)
    (survival,) = at_times(known.times, known.survival, [horizon], 1.0)
    assert total == pytest.approx(1 - survival)


@given(COMPETING)
def test_incidence_and_its_error_are_those_of_scikit_survival(rows):
    # Where no rows are left, scikit-survival divides by zero.
    time, event = np.array([*rows, (9, 0)]).T
    times, expected, ends = cumulative_incidence_competing_risks(
        event, time, conf_type="log-log", var_type="Dinse_Approx"
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(expected)
        error = -expected * log * np.log(np.log(ends[:, 0]) / log) / norm.ppf(0.975)
    for cause in (1, 2):
        curve = aalen_johansen(time, event, np.ones(len(time)), cause)
        at = np.searchsorted(times, curve.times)
        np.testing.assert_allclose(1 - curve.survival, expected[cause, at], atol=1e-12)
        own = np.sqrt(curve.variance / len(time)) * curve.survival
        known = own > 1e-6
        np.testing.assert_allclose(own[known], error[cause, at][known], rtol=1e-6)


@given(ROWS)
def test_with_a_single_cause_both_curves_are_equal(rows):
    time, event = columns(rows)
    own = aalen_johansen(time, event, np.ones(len(time)))
    known = kaplan_meier(time, event, np.ones(len(time)))
    np.testing.assert_allclose(own.survival, known.survival, atol=1e-12)
    some = known.survival > 0
    np.testing.assert_allclose(own.variance[some], known.variance[some], rtol=1e-6)


@given(COMPETING, st.integers(1, 8), st.integers(1, 2))
def test_pseudo_values_are_the_influence_on_the_incidence(rows, horizon, cause):
    time, event = np.array(rows).T
    weight = np.ones(len(time))
    found = pseudo_values(time, event, weight, [horizon], cause)
    first = incidence(time, event, weight, cause, horizon)
    assert found.mean() == pytest.approx(1 - first)
    for i, value in enumerate(found):
        more = weight + 1e-6 * (np.arange(len(time)) == i)
        slope = (incidence(time, event, more, cause, horizon) - first) / 1e-6
        assert value == pytest.approx(1 - first - len(time) * slope, abs=1e-3)


def test_curves_of_competing_risks_are_shown_as_incidences():
    time, event = np.array([1.0, 2.0, 2.0, 3.0, 4.0]), np.array([1, 2, 0, 1, 0])
    ones = np.ones(5)
    curve = curve_of(time, event, ones > 0, ones, 5, (2.0, 9.0), n_causes=2)
    first, second = curve.causes
    for one, cause in ((first, 1), (second, 2)):
        share, low, high = one.shown(2.0)
        assert share == pytest.approx(incidence(time, event, ones, cause, 2.0))
        assert 0 < low < share < high < 1
    expected = 1 - first.shown(3.0)[0] - second.shown(3.0)[0]
    assert curve.event_free([3.0]) == pytest.approx([expected])
    assert [one.events for one in curve.causes] == [2, 1]
    texts = [curve.text((2.0, 9.0), "years"), curve.events_text]
    same_text([*curve.named((2.0,)), *texts])


def test_causes_are_read_from_integers():
    y = np.array([(0, 2.5), (2, 1.0), (1, 3.0)], [("status", int), ("days", float)])
    assert is_survival(y)
    # Columns of a frame may be two targets, unless one is named so.
    frame = pd.DataFrame(y)
    assert not is_survival(frame)
    assert is_survival(frame.rename(columns={"status": "event"}))
    found = check_survival(y, 3)
    assert found.dtype == OF_CAUSES and causes_of(found).tolist() == [0, 2, 1]
    assert found["event"].tolist() == [False, False, True]
    np.testing.assert_array_equal(check_survival(found, 3), found)
    # Without an event of the second cause, the rows are still of both.
    assert check_survival(y[[0, 2]], 2, n_causes=2).dtype == OF_CAUSES
    with refuses(InputError):
        check_survival(y, 3, n_causes=1)
    with refuses(InputError):
        check_survival(y[:2], 2)


def coded(events, name="event", times=None):
    """Integer times of at most 9 by default, which might be codes, too."""
    times = np.arange(1, len(events) + 1) if times is None else times
    return pd.DataFrame({name: events, "time": times})


@pytest.mark.parametrize("events", [[1, 2, 2], [1.0, 2.0, 1.0], [1, 2, 3]])
def test_codes_without_censored_rows_are_no_causes(events):
    # 1 = censored, 2 = dead, as in R's table lung.
    for y in (coded(events), coded(events).to_records(index=False)):
        with refuses(InputError):
            check_survival(y, 3)
    found = check_survival(coded(events, "cause"), 3)
    assert causes_of(found).tolist() == events
    # Rules for these causes are evaluated on any rows; those for one on none of these.
    assert check_survival(coded(events), 3, n_causes=3).dtype == OF_CAUSES
    with refuses(InputError):
        check_survival(coded(events), 3, n_causes=1)


def test_a_column_of_events_is_found_by_its_name():
    for events in ([0, 1, 2], [0.0, 1.0, 2.0], [True, False, True]):
        y = coded(events)
        for one in (y, y[["time", "event"]], y.to_records(index=False)):
            found = check_survival(one, 3)
            assert found["time"].tolist() == [1, 2, 3]
            assert causes_of(found).tolist() == events
    # Times of 0 and 1 only are no events.
    y = coded([0, 1, 2], times=[0, 1, 1]).to_records(index=False)
    assert check_survival(y, 3)["time"].tolist() == [0, 1, 1]
    assert not is_survival(coded([0.0, 1.5, 2.0]))


def rows(*pairs):
    return np.array(list(pairs), FIELDS)


TWO = rows((True, 1.0), (False, 2.0))
WRONG = {
    "values": lambda: check_survival(np.ones(2), 2),
    "no bool": lambda: check_survival(pd.DataFrame({"t": [1], "e": [1]}), 1),
    "negative": lambda: check_survival(rows((True, 1.0), (True, -1.0)), 2),
    "no event": lambda: check_survival(rows((False, 1.0), (False, 2.0)), 2),
    "missing": lambda: check_survival(rows((True, np.nan), (True, 2.0)), 2),
    "ten causes": lambda: check_survival(coded(range(11)), 11),
    "half a code": lambda: check_survival(coded([0, 0.5, 1]), 3),
    "two of codes": lambda: check_survival(
        coded([0, 1, 2], "status").to_records(index=False), 3
    ),
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
