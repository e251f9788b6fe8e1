"""Survival curves of rules in JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from clearwood import codec
from clearwood.codec.documents import Place, shown
from clearwood.outcomes.kaplan_meier import SurvivalCurve

NUMBERS = codec.FieldType(
    lambda numbers: [float(x) for x in numbers],
    lambda place: tuple(place.numbers().tolist()),
)


def _read_times(place: Place) -> tuple[float, ...]:
    times: tuple[float, ...] = NUMBERS.read(place)
    if not times or times[0] < 0 or any(a >= b for a, b in pairwise(times)):
        place.fail(shown(str(times)), "ascending numbers, at least 0")
    return times


def _check_curve(place: Place, curve: SurvivalCurve) -> None:
    steps, n_times = (1.0, *curve.survival, 0.0), len(curve.times)
    if len(curve.survival) != n_times or any(a < b for a, b in pairwise(steps)):
        place["survival"].fail("others", "one per time, falling from 1 to 0")
    if len(curve.error) != n_times or min(curve.error) < 0:
        place["error"].fail("others", "one per time, at least 0")


TIMES = codec.FieldType(NUMBERS.write, _read_times)
OF_OUTCOME = codec.record(
    codec.Field("horizons", TIMES), codec.Field("time_unit", codec.TEXT)
)
"""Horizons of an outcome."""

_CURVE = codec.record(
    codec.Field("times", TIMES),
    codec.Field("survival", NUMBERS),
    codec.Field("error", NUMBERS),
    codec.Field("events", codec.integer(0)),
    codec.Field("until", codec.NUMBER),
    make=SurvivalCurve,
    check=_check_curve,
)


def _write_curve(curve: SurvivalCurve) -> dict[str, Any]:
    return _CURVE.write(vars(curve))


CURVE = codec.FieldType(_write_curve, _CURVE.read)
