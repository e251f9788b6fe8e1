import math

from clearwood._words.numbers import (
    measured_text,
    percent_text,
    probability_text,
    rounded_text,
    share_text,
    short_text,
)


def test_what_is_not_known_is_said():
    assert share_text(math.nan) == measured_text(math.nan, 0, 1) == "not known"


def test_a_number_without_an_interval_stands_alone():
    assert share_text(0.5) == "50 %"
    assert measured_text(0.83, math.nan, math.nan) == "0.83"
    # One row: Student's interval knows no end.
    assert measured_text(12.0, -math.inf, math.inf) == "12"


def test_a_certain_number_keeps_its_interval():
    assert share_text(1.0, 1.0, 1.0) == "100 % [100, 100]"
    assert measured_text(2.5, 2.5, 2.5) == "2.5 [2.5, 2.5]"


def test_shares_are_nought_or_all_only_where_they_are():
    assert [share_text(p) for p in (0.0, 0.004, 0.996, 1.0)] == [
        "0 %", "<1 %", ">99 %", "100 %",
    ]  # fmt: skip
    assert share_text(0.99999, 0.9991, 1.0) == ">99.99 % [99.91, 100.00]"
    # Sums of products miss both by their rounding.
    assert [share_text(p) for p in (1e-14, 1 - 1e-14)] == ["0 %", "100 %"]


def test_percents_tell_one_from_the_next():
    assert [percent_text(p) for p in (0.0, 0.9123, 0.9127, 1.0)] == [
        "0 %", "91.2 %", "91.3 %", "100 %",
    ]  # fmt: skip


def test_digits_go_by_the_width():
    assert rounded_text(48213.7, 2200) == "48200"
    assert rounded_text(-0.01, 3) == "0.0"
    assert rounded_text(1.2345678, 0) == "1.23"


def test_numbers_are_short():
    assert short_text(999.6) == "1000"
    assert short_text(-12345.6) == "-12346"


def test_probabilities_are_nought_or_one_only_where_they_are():
    shown = {
        0.0: "0", 0.0004999: "<0.001", 0.0006: "0.001", 0.0014: "0.001",
        0.9994: "0.999", 0.9995: ">0.999", 0.9996: ">0.999", 1.0: "1",
    }  # fmt: skip
    assert [probability_text(p) for p in shown] == list(shown.values())
