"""Survival curves of rules in JSON, and bins of features in arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from clearwood import codec
from clearwood.codec.documents import Place, shown
from clearwood.columns.feature_space import FeatureSpace
from clearwood.outcomes.kaplan_meier import SurvivalCurve
from clearwood.outcomes.survival import MOST_CAUSES
from clearwood.rules.bins import FeatureBins

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
    for name in ("low", "high"):
        ends = getattr(curve, name)
        if len(ends) != n_times * bool(curve.low) or not all(0 <= x <= 1 for x in ends):
            place[name].fail("others", "one per time, from 0 to 1")
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
    codec.Field("events", codec.integer(0), absent=None),
    codec.Field("until", codec.NUMBER),
    codec.Field("cause", codec.integer(1, MOST_CAUSES), absent=codec.UNSET),
    codec.Field("low", NUMBERS, absent=codec.UNSET),
    codec.Field("high", NUMBERS, absent=codec.UNSET),
)


def _curve(*more: codec.Field) -> codec.FieldType:
    record = codec.record(*_FIELDS, *more, make=SurvivalCurve, check=_check_curve)

    def write(curve: SurvivalCurve) -> dict[str, Any]:
        only_some = ("cause", "others", "low", "high")
        values = {k: v for k, v in vars(curve).items() if v or k not in only_some}
        return record.write({k: v for k, v in values.items() if v is not None})

    return codec.FieldType(write, record.read)


CURVE = _curve(codec.Field("others", codec.tuple_of(_curve()), absent=codec.UNSET))

# Bins

BINS = (
    codec.Pieces("cuts", "f", size="features", check=codec.RISING),
    codec.Array("groups", "i"),
)


def parts_of_bins(bins: FeatureBins) -> dict[str, Any]:
    """The parts ``BINS`` of some bins."""
    groups = [np.zeros(0), *(own for own in bins.groups if own is not None)]
    return {"cuts": bins.cuts, "groups": np.concatenate(groups)}


def bins_of(features: FeatureSpace, values: dict[str, Any]) -> FeatureBins:
    """Validated bins, without statements, from the values of ``BINS``."""
    cuts, groups = values["cuts"], values["groups"]
    codec.require(len(cuts) == features.n_features, "cuts", "those of all features")
    sizes = [None if c is None else len(c) for c in features.categories]
    n_labels = [size or 0 for size in sizes]
    codec.require(sum(n_labels) == len(groups), "groups", "one number per category")
    group_of = np.split(groups, np.cumsum(n_labels)[:-1])
    for d, (mine, group) in enumerate(zip(cuts, group_of)):
        is_cut = sizes[d] is None or not len(mine)
        codec.require(is_cut, f"cuts of feature {d}", "none of categories")
        known = np.unique(group)
        rises = np.array_equal(known, np.arange(len(known)))
        codec.require(rises, f"groups of feature {d}", "0, 1, ...")
    empty = FeatureBins.from_splits(features, feature=[], cut=[])
    kept = tuple(
        None if size is None else group for size, group in zip(sizes, group_of)
    )
    return FeatureBins(features, tuple(cuts), kept, empty.statements)
