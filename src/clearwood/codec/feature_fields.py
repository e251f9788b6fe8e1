"""Columns of the data in files: names, categories and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._words.labels import check_names
from clearwood.codec import fields
from clearwood.codec.archive import Arrays
from clearwood.codec.documents import Place, refuse_repeated, shown
from clearwood.columns.cityhash import category_hash
from clearwood.columns.feature_space import LOOKUPS, FeatureSpace
from clearwood.columns.info import KINDS, ColumnInfo

POINT_MASSES = fields.checked(
    fields.tuple_of(fields.NUMBER),
    lambda masses: list(masses) == sorted(set(masses)),
    "ascending numbers",
)
"""Point masses of a numeric column."""


def _check_feature(place: Place, values: dict[str, Any]) -> None:
    lookup, labels, kind = values["lookup"], values["categories"], values.get("kind")
    if lookup not in LOOKUPS or not _fits(lookup, labels or ()):
        expected = f"one of {LOOKUPS} that fits the categories"
        place["lookup"].fail(shown(lookup), expected)
    if kind is not None and (kind not in KINDS or (kind != "number" and labels)):
        expected = f"one of {KINDS}, for a column of numbers"
        place["kind"].fail(shown(kind), expected)


def _fits(lookup: str, labels: tuple[Any, ...]) -> bool:
    """Whether every label is of a type that this lookup can return."""
    if lookup == "integer":
        # Cells are float64 numbers, found by binary search.
        whole = all(type(x) is int and 0 <= x <= 2**53 for x in labels)
        return whole and list(labels) == sorted(labels)
    if lookup == "hash":
        hashes = [category_hash(x) if isinstance(x, str) else x for x in labels]
        whole = all(type(x) is int and 0 <= x < 2**32 for x in hashes)
        return whole and len(set(hashes)) == len(hashes)
    return True


INFO = ("name", "unit", "description", "kind")
"""Metadata from ColumnInfo; files omit default values, and older ones all of it."""

FEATURE = fields.record(
    fields.Field("name", fields.NAME, "column"),
    fields.Field("categories", fields.optional(fields.LABELS)),
    fields.Field("lookup", fields.TEXT),
    fields.Field("missing_at", fields.optional(fields.NUMBER)),
    fields.Field("shown", fields.NAME, "name", absent=fields.UNSET),
    *(fields.Field(key, fields.NAME, absent=fields.UNSET) for key in INFO[1:]),
    check=_check_feature,
)


@dataclass(frozen=True)
class Features:
    """A field for a FeatureSpace, whose number of features is the length ``features``.

    Parameters
    ----------
    optional : bool, default=False
        Whether the value may be None.
    """

    optional: bool = False

    def write(
        self, get: Any, document: dict[str, Any], arrays: dict[str, Any] | None = None
    ) -> None:
        """Write the attribute ``features`` of an object."""
        features = get("features")
        if features is None and self.optional:
            document["features"] = None
            return
        document |= {"named": features.named, "float32": features.float32}
        records = (_record(features, d) for d in range(features.n_features))
        document["features"] = [FEATURE.write(one) for one in records]

    def read(
        self, values: dict[str, Any], top: Place, arrays: Arrays | None = None
    ) -> None:
        """Read and validate it into ``values``."""
        if self.optional and top["features"].value is None:
            values["features"] = None
            return
        records = fields.tuple_of(FEATURE).read(top["features"])
        names, categories, lookup, missing_at = (
            tuple(one[key] for one in records)
            for key in ("column", "categories", "lookup", "missing_at")
        )
        refuse_repeated(names, top["features"], "the name")
        infos = ({key: one[key] for key in INFO if key in one} for one in records)
        values["features"] = FeatureSpace(
            names, categories, top["named"].flag(), lookup, missing_at,
            top["float32"].flag(), tuple(ColumnInfo(**own) for own in infos),
        )  # fmt: skip
        if arrays is not None:
            arrays.sizes["features"] = len(names)


def _record(features: FeatureSpace, d: int) -> dict[str, Any]:
    info, usual = vars(features.info[d]), vars(ColumnInfo())
    return {
        "column": features.names[d],
        "categories": features.categories[d],
        "lookup": features.lookup[d],
        "missing_at": features.missing_at[d],
        **{key: value for key, value in info.items() if value != usual[key]},
    }


FEATURES = Features()


def _write_names(names: np.ndarray) -> list[str]:
    check_names(names, "A column of the training data")
    return [str(name) for name in names]


def _read_names(place: Place) -> np.ndarray:
    names = fields.tuple_of(fields.NAME).read(place)
    refuse_repeated(names, place, "the name")
    return np.array(names, dtype=object)


NAMES = fields.FieldType(_write_names, _read_names)
CLASSES = fields.FieldType(
    lambda classes: fields.LABELS.write(classes.tolist()),
    lambda place: np.array(place.labels()),
)

COLUMNS = (
    fields.Field("classes", CLASSES, "classes_", null=True, size="classes"),
    fields.Field("column_names", NAMES, "feature_names_in_", null=True),
)
"""Classes and column names of a fitted estimator, if present."""
