"""Points in time as numbers and texts: both ways, and at their borders."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.columns.dates import (
    MICROSECONDS,
    as_times,
    date_number,
    date_text,
    day_numbers,
    has_zone,
    plain_date,
    value_text,
)

MOMENTS = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2300, 1, 1))
FAR = 10_000_000


@given(MOMENTS)
def test_moments_come_back(moment):
    days = day_numbers(np.array([moment], dtype="M8[us]"))
    back = as_times(days)
    # Days in float64 hold some microseconds, 600 years from 1970.
    assert abs(back[0].astype(object) - moment) <= datetime.timedelta(microseconds=20)
    elapsed = moment - datetime.datetime(1970, 1, 1)
    assert days[0] == pytest.approx(elapsed / datetime.timedelta(days=1), abs=1e-9)


@given(st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2050, 1, 1)))
def test_moments_of_today_come_back_to_the_microsecond(moment):
    days = day_numbers(np.array([moment], dtype="M8[us]"))
    assert as_times(days)[0].astype(object) == moment


@given(MOMENTS, st.sampled_from(["minutes", "seconds"]))
def test_texts_are_read_as_what_they_tell(moment, spec):
    text = moment.isoformat(" ", timespec=spec)
    told = datetime.datetime.fromisoformat(text)
    days = (told - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    assert date_number(text) == pytest.approx(days, abs=1e-9)
    assert date_number(date_text(date_number(text))) == date_number(text)


def test_texts_are_no_finer_than_the_moment():
    noon = 17987.5
    assert date_text(noon + 1 / 86400) == "2019-04-01 12:00:01"
    assert date_text(noon + 0.25 / 86400) == "2019-04-01 12:00:00.250000"


def test_what_calendars_do_not_reach_is_a_number():
    assert date_text(math.inf) == "inf"
    # The year 29349.
    assert date_text(FAR)[:1] != date_text(FAR + 1)[:1] == "1"
    assert date_text(-FAR - 1).startswith("-1")
    for kind in ("date", "datetime"):
        assert plain_date(FAR + 5.0, FAR + 9.0, FAR + 7.0, kind) == FAR + 5.0
        assert plain_date(-FAR - 9.0, 3.0, 1.0, kind) == -FAR - 9.0
        assert plain_date(3.0, FAR + 9.0, 4.0, kind) == 3.0


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("1970-01-01T12:00Z", 12),
        ("1970-01-01 12:00 UTC", 12),
        ("1970-01-01T12:00+02:00", 10),
        ("1970-01-01T12:00-0230", 14.5),
        ("1970-01-01T12:00+05", 7),
        (" 1970-01-01T12:00:36.5 ", 12 + 36.5 / 3600),
    ],
)
def test_zones_are_told_in_utc(text, hours):
    assert date_number(text) == pytest.approx(hours / 24, abs=1e-12)
    assert has_zone(text) == (not text.startswith(" "))


@pytest.mark.parametrize(
    "text", ["", "1970", "1970-1-1", "1970-13-01", "1970-01-01T25:00", "a1970-01-01"]
)
def test_other_texts_are_no_dates(text):
    assert math.isnan(date_number(text))
    assert text or not has_zone(text)


def test_gaps_stay_gaps():
    times = as_times(np.array([np.nan, 1.0]))
    assert np.isnat(times).tolist() == [True, False]
    assert np.isnan(day_numbers(times)).tolist() == [True, False]
    spans = np.array([36, "NaT"], dtype="m8[h]")
    assert day_numbers(spans)[0] == 1.5


def test_numbers_are_written_as_their_column_says():
    assert value_text(0.0, "boolean") == "false"
    assert value_text(0.5, "boolean") == value_text(0.5, "number") == "0.5"
    assert value_text(1.5, "datetime") == "1970-01-02 12:00"
    assert value_text(1.5, "duration") == "1.5"


def days_of(text):
    return float(day_numbers(np.array([text], dtype="M8[us]"))[0])


@pytest.mark.parametrize(
    ("low", "high", "near", "told"),
    [
        ("2018-11-20", "2019-02-03", "2019-02-01", "2019-01-01"),
        ("2017-11-20", "2019-02-03", "2018-03-01", "2018-01-01"),
        ("2017-11-20", "2019-02-03", "2018-11-01", "2019-01-01"),
        ("2019-03-05", "2019-06-20", "2019-04-14", "2019-04-01"),
        ("2018-05-10", "2019-01-01", "2018-12-30", "2018-12-01"),
        ("2019-03-01", "2019-03-20", "2019-03-10", "2019-03-01"),
        ("2019-03-05T10:20", "2019-03-05T13:40", "2019-03-05T12:20",
         "2019-03-05 12:00"),
        ("2019-03-05T10:20", "2019-03-05T10:40", "2019-03-05T10:30",
         "2019-03-05 10:30"),
        ("2019-03-05T10:20:10", "2019-03-05T10:20:30", "2019-03-05T10:20:17",
         "2019-03-05 10:20:17"),
    ],
)  # fmt: skip
def test_cuts_are_the_plainest_moments(low, high, near, told):
    ends = days_of(low), days_of(high), days_of(near)
    assert date_text(plain_date(*ends, "datetime")) == told
    if " " not in told:
        # Of whole days the day before is the last one below.
        before = plain_date(*(end - 1 for end in ends), "date")
        assert before == days_of(told) - 1


def test_of_days_within_a_month_the_nearest_is_told():
    low, high, near = map(days_of, ("2019-03-05", "2019-03-20", "2019-03-10"))
    assert plain_date(low, high, near, "date") == near
    assert plain_date(low, high, near + 0.25, "datetime") == near


@given(
    st.floats(-30000, 30000),
    st.floats(1e-6, 900),
    st.floats(0, 1),
)
def test_cuts_lie_between(low, width, share):
    high = low + width
    near = low + share * width
    found = plain_date(low, high, near, "datetime")
    assert low <= found < high
    if width > 1 / 24 + 1e-9:
        assert found * 24 == pytest.approx(round(found * 24), abs=1e-6)
    step = 1 / MICROSECONDS
    assert low <= plain_date(low, low + step, low, "datetime") < low + step
