"""Display text of numbers: exact, short, or rounded to their precision."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Collection

import numpy as np

SMALLEST, LARGEST = 1e-6, 1e16
"""Range of absolute values that are written without an exponent."""

TINY = 1e-12
"""Tolerance for rounding errors of shares near 0 and 1."""

LOST_BY_ROUNDING = 2.6e-5
"""Of R2, by values that are printed short: the square of half a percent, and a bit."""

NOT_KNOWN = "not known"

LEAST_R2 = -100
"""R2 from which its size is stated."""

FEW_CODES = 20
"""Number of distinct texts that may be categories even if they look like numbers."""

WRITTEN = re.compile(
    r"([<>~]? ?(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY)? ?)[-+]?"
    r"(?:[0-9]{1,3}(?:[ ,.'’\u00a0\u202f][0-9]{3})+|[0-9]+)([.,][0-9]+)?([^0-9]{0,12})"
)
"""Pattern of a formatted number: currency, thousands, decimals and unit."""


def number_text(value: float) -> str:
    """The shortest text that is read back as exactly this number.

    Examples
    --------
    >>> number_text(0.1), number_text(3.0), number_text(1234567.0), number_text(5e-5)
    ('0.1', '3', '1234567', '0.00005')
    """
    value = float(value)
    if SMALLEST <= abs(value) < 1e-4:
        return np.format_float_positional(value, trim="-")
    return repr(value).removesuffix(".0")


def written_numbers(texts: Collection[str]) -> str | None:
    """Detect numbers written as text: one of the texts if most are such, else None.

    They share a sign or unit; integers alone do not count, as they may be codes.

    Parameters
    ----------
    texts : collection of str
        Distinct texts of a column. At most ``FEW_CODES`` may be categories.

    Examples
    --------
    >>> written_numbers([f"{n / 10}%" for n in range(30)])
    '0.0%'
    >>> written_numbers([f"1,{n} EUR" for n in range(500, 530)])
    '1,500 EUR'
    >>> written_numbers([f"{n}" for n in range(80331, 80400)])
    """
    if len(texts) <= FEW_CODES:
        return None
    found = {text: WRITTEN.fullmatch(text.strip()) for text in texts}
    forms = {
        text: (match[1].strip(), match[3].strip())
        for text, match in found.items()
        if match and not match[0].lstrip("+-").isdecimal()
    }
    for form, n in Counter(forms.values()).most_common(1):
        if 2 * n > len(texts):
            return next(text for text, own in forms.items() if own == form)
    return None


def short_text(value: float, digits: int = 3) -> str:
    """Round to significant digits, keeping all digits before the decimal point.

    Examples
    --------
    >>> [short_text(v) for v in (0.91234, 11763.4, -0.5, 0.0000123, 2e-9, 3e20)]
    ['0.912', '11763', '-0.5', '0.0000123', '2e-09', '3e+20']
    >>> short_text(1234.56, digits=5)
    '1234.6'
    """
    value = float(value)
    if 10.0**digits - 0.5 <= abs(value) < LARGEST:
        return f"{value:.0f}"
    rounded = float(f"{value:.{digits}g}")
    # The largest numbers overflow when rounded.
    return number_text(rounded if math.isfinite(rounded) else value)


def r2_text(value: float, digits: int = 3) -> str:
    """As :func:`short_text`, of an R2; far below 0 its size has no meaning.

    Where targets hardly vary, any error is many times their variance.

    Examples
    --------
    >>> r2_text(0.91234), r2_text(-70248.3), r2_text(math.nan)
    ('0.912', 'below -100', 'not known')
    """
    if math.isnan(value):
        return NOT_KNOWN
    return short_text(value, digits) if value >= LEAST_R2 else f"below {LEAST_R2}"


def measured_text(value: float, low: float, high: float) -> str:
    """An estimate and its 95 % interval, rounded to the precision of the interval.

    The last digit shown is that of the standard error (a quarter of the interval), and
    one more if its leading digit is small: more would be noise. But at least two digits
    of the estimate are shown.

    Examples
    --------
    >>> measured_text(21.3456, 20.1234, 22.5678)
    '21.3 [20.1, 22.6]'
    >>> measured_text(11763.4, 9120.3, 14406.5)
    '11800 [9100, 14400]'
    >>> measured_text(24.4, -31.5, 80.3)
    '24 [-32, 80]'
    """
    if math.isnan(value):
        return NOT_KNOWN
    if not math.isfinite(high - low):
        return short_text(value)
    decimals = _decimals(high - low)
    if decimals is not None and decimals < 0 and value:
        second = 1 - math.floor(math.log10(abs(value)))
        decimals = max(decimals, min(second, 0))
    number, *ends = (
        short_text(number) if decimals is None else _rounded(number, decimals)
        for number in (value, low, high)
    )
    return f"{number} [{', '.join(ends)}]"


def rounded_text(value: float, width: float) -> str:
    """Round a number to the precision of an interval of a given width.

    Examples
    --------
    >>> rounded_text(12.3456, 0.8), rounded_text(48213.7, 2200), rounded_text(-0.01, 3)
    ('12.3', '48200', '0.0')
    """
    decimals = _decimals(width)
    return short_text(value) if decimals is None else _rounded(value, decimals)


def share_text(
    share: float, low: float = math.nan, high: float = math.nan, decimals: int = 0
) -> str:
    """Format a share in percent, with its 95 % interval if given.

    In whole percents, or finer for a narrow interval, with at least ``decimals``; never
    0 or 100 unless it is exactly that.

    Examples
    --------
    >>> share_text(0.0643, 0.031, 0.106), share_text(0.0643)
    ('6 % [3, 11]', '6 %')
    >>> share_text(0.98765, 0.9831, 0.9912), share_text(0.9999)
    ('98.8 % [98.3, 99.1]', '>99 %')
    """
    if math.isnan(share):
        return NOT_KNOWN
    decimals = max(share_decimals(low, high), decimals)
    percent = _rounded(100 * share, decimals)
    step = 10.0**-decimals
    if TINY < share < 1 - TINY and float(percent) in (0.0, 100.0):
        edge = step if float(percent) == 0 else 100 - step
        percent = f"{'<' if share < 0.5 else '>'}{edge:.{decimals}f}"
    if math.isnan(high - low):
        return f"{percent} %"
    ends = [_rounded(100 * end, decimals) for end in (low, high)]
    return f"{percent} % [{', '.join(ends)}]"


def share_decimals(low: float, high: float) -> int:
    """Decimals of a percentage that its interval justifies.

    Examples
    --------
    >>> share_decimals(0.031, 0.106), share_decimals(0.9831, 0.9912)
    (0, 1)
    """
    return max(_decimals(100 * (high - low)) or 0, 0)


def percent_text(share: float) -> str:
    """Format a share in percent with at most three significant digits.

    Examples
    --------
    >>> percent_text(1.0), percent_text(0.1234), percent_text(0.00456)
    ('100 %', '12.3 %', '0.456 %')
    >>> percent_text(2.48e-21)
    '<0.0001 %'
    """
    if 0 < share < SMALLEST:
        return f"<{100 * SMALLEST:.4f} %"
    return f"{short_text(100 * share)} %"


def _decimals(width: float) -> int | None:
    """Decimals justified by the width of an interval; negative for tens and so on."""
    if not 0 < width < math.inf or not SMALLEST < width < LARGEST:
        return None
    # An interval is four standard errors wide: 3 to 11 is rounded to ones, not to tens.
    return -math.floor(math.log10(width / 7))


def _rounded(value: float, decimals: int) -> str:
    # Adding zero turns -0.0 into 0.0.
    return f"{round(value, decimals) + 0.0:.{max(decimals, 0)}f}"


def probability_text(p: float) -> str:
    """Format a probability with three decimals; never 0 or 1 unless it is exactly that.

    Examples
    --------
    >>> [probability_text(p) for p in (1.0, 0.99999, 0.5, 0.12345, 1e-9, 0.0)]
    ['1', '>0.999', '0.5', '0.123', '<0.001', '0']
    """
    if 0.9995 <= p < 1.0:
        return ">0.999"
    if 0.0 < p < 0.0005:
        return "<0.001"
    return f"{round(p, 3):g}"


def short_value(value: float, step: float) -> float:
    """The shortest number within a step of a value; the value itself for step 0.

    Examples
    --------
    >>> short_value(12.3456, 0.1), short_value(12.3456, 0.0)
    (12.3, 12.3456)
    """
    if not 0 < step < math.inf:
        return value
    return shortest_between(value - step, value + step, near=value)


def shortest_between(low: float, high: float, near: float) -> float:
    """The number with the fewest digits in ``low <= number < high``.

    Of several with equally few digits, the one closest to ``near``.

    Examples
    --------
    >>> shortest_between(0.8, 1.7, near=0.8000000417232513)
    0.8
    >>> shortest_between(13.049, 13.051, near=13.0500002)
    13.05
    >>> shortest_between(1040.0, 1980.0, near=1230.0)
    1200.0
    >>> shortest_between(1.2e-30, 1.9e-30, near=1.33e-30)
    1.3e-30
    """
    low, high = max(low, -sys.float_info.max), min(high, sys.float_info.max)
    largest = max(abs(low), abs(high))
    digits_before = math.floor(math.log10(largest)) + 1 if largest > 0 else 0
    found: dict[float, int] = {}
    for power in range(digits_before, digits_before - 18, -1):
        steps = (
            round(_in_units(near, power)),
            math.ceil(_in_units(low, power)),
            math.ceil(_in_units(high, power)) - 1,
        )
        for step in steps:
            # float(text) is the number that the text is parsed as.
            number = float(f"{step}e{power}")
            if low <= number < high and number not in found:
                found[number] = len(str(abs(step)).rstrip("0"))
        if found and abs(_in_units(near, power)) >= 1:
            break
    return min(found, key=lambda c: (found[c], abs(c - near), c)) if found else near


def _in_units(value: float, power: int) -> float:
    """A number divided by a power of ten, which may itself overflow or underflow."""
    within = min(max(power, -300), 300)
    return value / 10.0**within / 10.0 ** (power - within)


def unrounded(quality: float) -> float:
    """A share or R2, with 0 in place of a negative value within rounding error.

    Examples
    --------
    >>> unrounded(-1.25e-06), unrounded(-0.1), unrounded(0.75)
    (0.0, -0.1, 0.75)
    """
    return 0.0 if -LOST_BY_ROUNDING <= quality < 0 else quality
