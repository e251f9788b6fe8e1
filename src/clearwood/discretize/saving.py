"""File format of fitted discretizers."""

from __future__ import annotations

from typing import Any

from clearwood import codec
from clearwood.columns.feature_space import FeatureSpace
from clearwood.discretize.binners import BinaryBinner, MDLPDiscretizer
from clearwood.discretize.cuts import Decision

FLAGS = codec.tuple_of(codec.FLAG)
PARTS = (
    *codec.COLUMNS,
    codec.Field("passes", codec.checked(FLAGS, bool, "at least one column")),
    codec.Pieces("cuts", "f", size="cut columns", check=codec.RISING),
)
DECISIONS = codec.Pieces(
    "decisions", "f", size="cut columns", width=len(Decision._fields)
)


def _take(found: Any) -> dict[str, Any]:
    decisions = getattr(found, "decisions_", ())
    return {
        "passes": [own is None for own in found.cuts_],
        "cuts": [own for own in found.cuts_ if own is not None],
        "decisions": [own for own in decisions if own is not None],
    }


def _make(kind: Any, values: dict[str, Any]) -> Any:
    passes, cuts = values["passes"], values["cuts"]
    found = codec.filled(kind(), values, len(passes))
    codec.require(
        len(cuts) == passes.count(False), "n_cuts", "one for each column that is cut"
    )
    names = getattr(found, "feature_names_in_", None)
    names = FeatureSpace.numeric(len(passes), names).names
    found._keep(list(names), _among(passes, cuts))
    if kind is MDLPDiscretizer:
        own = [
            [Decision(*row) for row in rows.tolist()] for rows in values["decisions"]
        ]
        found.decisions_ = _among(passes, own)
    return found


def _among(passes: list[bool], parts: list[Any]) -> list[Any]:
    """Items of the binned columns, with None for those that pass through."""
    left = iter(parts)
    return [None if skip else next(left) for skip in passes]


SAVED = codec.by_name(
    codec.Saved(BinaryBinner, PARTS, _make, _take),
    codec.Saved(MDLPDiscretizer, (*PARTS, DECISIONS), _make, _take),
)
