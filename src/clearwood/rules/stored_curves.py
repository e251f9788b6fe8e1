"""Survival curves of rules in JSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from clearwood import codec
from clearwood.codec.documents import Place, shown
from clearwood.outcomes.kaplan_meier import SurvivalCurve
from clearwood.outcomes.survival import MOST_CAUSES

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
    numbers = [one.cause for one in curve.causes]
    if numbers != [*range(curve.cause, curve.cause + len(numbers))]:
        place["others"].fail("others", "curves of the next causes, in order")


TIMES = codec.FieldType(NUMBERS.write, _read_times)
OF_OUTCOME = codec.record(
    codec.Field("horizons", TIMES),
    codec.Field("time_unit", codec.TEXT),
    codec.Field("n_causes", codec.integer(1, MOST_CAUSES), absent=1),
)
"""Horizons of an outcome."""

_FIELDS = (
    codec.Field("times", TIMES),
    codec.Field("survival", NUMBERS),
    codec.Field("error", NUMBERS),
    codec.Field("events", codec.integer(0)),
    codec.Field("until", codec.NUMBER),
    codec.Field("cause", codec.integer(1, MOST_CAUSES), absent=codec.UNSET),
)


def _curve(*more: codec.Field) -> codec.FieldType:
    record = codec.record(*_FIELDS, *more, make=SurvivalCurve, check=_check_curve)

    def write(curve: SurvivalCurve) -> dict[str, Any]:
        only_some = ("cause", "others")
        values = vars(curve).items()
        return record.write({k: v for k, v in values if v or k not in only_some})

    return codec.FieldType(write, record.read)


CURVE = _curve(codec.Field("others", codec.tuple_of(_curve()), absent=codec.UNSET))
