"""Feature names, categories and encoding of a table's columns.

All packages use one representation of data: a float64 matrix with one column per
feature, in which a numeric feature holds its value, a categorical feature the position
of its category in ``categories``, a missing value is NaN and an unknown category is
``UNSEEN``.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from clearwood._warned_once import is_new, users_level
from clearwood._words.labels import check_text, label_text
from clearwood.columns import cells
from clearwood.columns.cells import UNSEEN
from clearwood.columns.cityhash import category_hash
from clearwood.columns.frames import codes_of, frame_of
from clearwood.columns.info import (
    ColumnInfo,
    info_with,
    kinds_of,
    read_column_info,
)
from clearwood.columns.sparse_tables import is_matrix
from clearwood.exceptions import InputError, UnknownCategoriesWarning

ZERO = float(np.float32(1e-35))
"""Tolerance for the value that counts as missing (LightGBM's zero)."""

Lookup = Literal["exact", "integer", "hash"]
LOOKUPS: tuple[str, ...] = get_args(Lookup)
PER_FEATURE = ("lookup", "missing_at", "info")


class EncodedTable(np.ndarray):
    """Encoded rows that can be passed in place of their table.

    Created by :meth:`FeatureSpace.as_encoded`; a selection of rows is encoded, too.
    """

    features: FeatureSpace | None

    def __array_finalize__(self, source: Any) -> None:
        self.features = getattr(source, "features", None)


@dataclass(frozen=True)
class FeatureSpace:
    """Names, categories and metadata of a model's features.

    Parameters
    ----------
    names : tuple of str
        Feature names.
    categories : tuple of (None or tuple)
        ``None`` for a numeric feature, else its category labels in code order.
    named : bool, default=True
        False when the names are generated (``x0``, ``x1``, ...) because the model was
        fitted on data without column names; columns are then matched by position.
    lookup : tuple of {"exact", "integer", "hash"}, optional
        How cells of a categorical feature are matched to categories: by equality with
        the label (the default; 1, 1.0 and True are equal, the text "1" is not), by
        equality of the integer part, or by CatBoost's hash of the text (for which 1,
        1.0, True and "1" are the same). With ``"hash"`` a label is the text, or the
        hash where the model does not store the text; see :meth:`as_in`.
    missing_at : tuple of (None or float), optional
        A number that counts as missing in the feature, in addition to NaN.
    float32 : bool, default=False
        Whether the model casts cells to float32 before comparing them. Thresholds
        account for that; it matters for category codes, for the number that counts as
        missing, and for integers beyond 2**53.
    info : tuple of ColumnInfo, optional
        Display name, unit, description and kind of each column.

    Examples
    --------
    >>> space = FeatureSpace(("age", "sex"), (None, ("female", "male")))
    >>> space.encode([[31.5, "male"], [None, "unknown"]])
    array([[31.5,  1. ],
           [ nan, -1. ]])
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Hashable, ...] | None, ...]
    named: bool = True
    lookup: tuple[Lookup, ...] = ()
    missing_at: tuple[float | None, ...] = ()
    float32: bool = False
    info: tuple[ColumnInfo, ...] = ()

    def __post_init__(self) -> None:
        n = self.n_features
        object.__setattr__(self, "lookup", self.lookup or ("exact",) * n)
        object.__setattr__(self, "missing_at", self.missing_at or (None,) * n)
        object.__setattr__(self, "info", self.info or (ColumnInfo(),) * n)
        if n != len(self.categories):
            raise InputError(
                f"{n} feature names but categories for "
                f"{len(self.categories)} features; give None for a numeric feature."
            )
        given = {name: len(getattr(self, name)) for name in PER_FEATURE}
        if set(given.values()) - {n}:
            raise InputError(
                f"{given} entries for {n} features; give one each per feature, or none."
            )
        check_distinct(self.names)
        check_text(self.names, "The feature")
        for name, labels in zip(self.names, self.categories):
            check_text(labels or (), f"A category of {name!r},")

    @classmethod
    def numeric(
        cls, n_features: int, names: Sequence[str] | None = None
    ) -> FeatureSpace:
        """Numeric features only; names default to ``x0, x1, ...``."""
        named = names is not None
        labels = [f"x{i}" for i in range(n_features)] if names is None else names
        return cls(tuple(str(n) for n in labels), (None,) * n_features, named)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    def taken(self, columns: Sequence[int]) -> FeatureSpace:
        """Select features by position."""
        kept: dict[str, Any] = {
            name: tuple(getattr(self, name)[d] for d in columns)
            for name in ("names", "categories", *PER_FEATURE)
        }
        return replace(self, **kept)

    def shown(self, d: int) -> str:
        """Display name of a feature."""
        return self.info[d].name or self.names[d]

    def title(self, d: int) -> str:
        """Axis label: display name of a feature, with its unit."""
        unit = self.info[d].unit
        return f"{self.shown(d)} ({unit})" if unit else self.shown(d)

    def with_info(self, column_info: Any) -> FeatureSpace:
        """Copy with display names, units and descriptions."""
        return replace(self, info=read_column_info(column_info, self.names, self.info))

    def with_kinds(self, encoded: np.ndarray, X: Any = None) -> FeatureSpace:
        """Copy with the kinds of numbers (integer, binary, ...) in some rows."""
        numeric = [labels is None for labels in self.categories]
        frame = frame_of(X) if is_frame(X) else None
        flags = [
            frame is not None and name in frame.names and frame[name].is_flag
            for name in self.names
        ]
        kinds = kinds_of(encoded, numeric, flags)
        pairs = zip(self.info, kinds)
        infos = (info if info.is_time else replace(info, kind=k) for info, k in pairs)
        return replace(self, info=tuple(infos)).with_info(info_with(X))

    def as_in(self, X: Any, used: Collection[int] | None = None) -> FeatureSpace:
        """Copy with the names and category labels of a table.

        A model file may lack names, have names with underscores for spaces (LightGBM),
        or categories as hashes of their text (CatBoost).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        used : set of int, optional
            As in :meth:`encode`.

        Returns
        -------
        FeatureSpace

        Examples
        --------
        >>> import pandas as pd
        >>> space = FeatureSpace(("my_age",), (None,))
        >>> space.as_in(pd.DataFrame({"my age": [31.5]})).names
        ('my age',)
        >>> hashes = FeatureSpace(("hue",), ((3510494104,),), lookup=("hash",))
        >>> hashes.as_in([["x"], ["y"]]).categories
        (('x',),)
        """
        categories = list(self.categories)
        hashed = [d for d, lookup in enumerate(self.lookup) if lookup == "hash"]
        columns = self.columns(X, used) if hashed else []
        for d in hashed:
            texts = {cells.cell_text(cell) for cell in columns[d].tolist()}
            # In order, as two texts can have the same hash.
            known: dict[Any, str] = {
                category_hash(text): text
                for text in sorted(text for text in texts if text is not None)
            }
            labels = self.categories[d] or ()
            categories[d] = tuple(known.get(label, label) for label in labels)
        found = self._names_in(X, used) if is_frame(X) else self.names
        return replace(
            self,
            names=tuple(own or name for own, name in zip(found, self.names)),
            categories=tuple(categories),
            named=self.named or is_frame(X),
        )

    def _names_in(
        self, X: Any, used: Collection[int] | None = None
    ) -> tuple[str | None, ...]:
        """Per feature the name of its column in a frame; None if it is not needed."""
        names = [str(name) for name in X.columns]
        check_distinct(names)
        if not self.named:
            self.check_width(len(names))
            return tuple(names)
        # A column with the exact name of a feature belongs to no other feature.
        own, known = set(self.names), set(names)
        free = {name: name.replace(" ", "_") for name in names if name not in own}
        count = Counter(free.values())
        unblanked = {short: n for n, short in free.items() if count[short] == 1}
        found = [n if n in known else unblanked.get(n) for n in self.names]
        needed = range(self.n_features) if used is None else used
        absent = [self.names[d] for d in sorted(needed) if found[d] is None]
        if absent:
            raise InputError(
                f"The model reads column(s) {absent}, which the data lacks; "
                f"found {names}. Add the column(s), or rename those that hold this."
            )
        return tuple(found)

    def encode(
        self, X: Any, used: Collection[int] | None = None, *, whole: bool = False
    ) -> np.ndarray:
        """Encode a table as the float64 matrix that all packages use.

        Warns where no cell of a column is of a known category or, with five cells or
        more, where most are not: rows with one new category are ordinary, a column in
        another spelling is not. Where a model stores only the categories that its
        splits use (``lookup`` other than "exact"), a hundred cells without one of these
        are required.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_samples, n_features)
            Columns of a frame are matched by name where the model has names (further
            columns are ignored), else by position.
        used : set of int, optional
            Features that are needed: cells of others are not read, and a frame may lack
            them. All by default.
        whole : bool, default=False
            Read all columns present in a frame, needed or not.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Values, category codes, NaN for missing values and cells that are not read,
            ``UNSEEN`` for an unknown category.

        Raises
        ------
        InputError
            A column is missing, there are too many or too few columns, or a
            numeric feature holds a value that is not a number.
        """
        if isinstance(X, EncodedTable):
            return self._from_encoded(X)
        X = cells.unwrapped(X)
        if cells.are_numbers(X):
            self.check_width(X.shape[1])
            if not self.reads_specially():
                return cells.as_float64(X, self.float32)
            columns = list(X.T)
        else:
            columns = self.columns(X, used, whole=whole)
        n_rows = len(columns[0]) if columns else 0
        encoded = np.full((n_rows, self.n_features), np.nan)
        everything = range(self.n_features)
        needed = everything if used is None else frozenset(used)
        strange = []
        for d in everything if whole else sorted(needed):
            codes = codes_of(X, self, columns[d], d)
            by_label = self.categories[d] is not None
            # Here, where the cells of the column are contiguous.
            if by_label and d in needed and _is_strange(codes, self.lookup[d]):
                strange.append(d)
            encoded[:, d] = codes
        for d in strange:
            self._warn_of_unknown(columns[d], encoded[:, d], d)
        return encoded

    def as_encoded(self, rows: np.ndarray) -> EncodedTable:
        """Mark rows from :meth:`encode`, so that they are not encoded again.

        They replace their table wherever it is encoded by these features; all features
        needed there must have been encoded.
        """
        table = rows.view(EncodedTable)
        table.features = self
        return table

    def reads_as(self, other: FeatureSpace) -> bool:
        """Whether two spaces encode the cells of a table alike."""
        if self.names != other.names:
            return False
        # Display names, units and descriptions do not affect the encoding.
        kinds = [(a.time_kind, b.time_kind) for a, b in zip(self.info, other.info)]
        return replace(other, info=self.info) == self and all(a == b for a, b in kinds)

    def _from_encoded(self, rows: EncodedTable) -> np.ndarray:
        other = rows.features
        if other is None or not (other is self or self.reads_as(other)):
            raise TypeError("The rows were encoded for other features.")
        return rows.view(np.ndarray)

    def reads_specially(self) -> bool:
        """Whether any column requires more than a conversion to numbers."""
        numeric = all(labels is None for labels in self.categories)
        timed = any(info.is_time for info in self.info)
        return not numeric or timed or any(at is not None for at in self.missing_at)

    def encode_column(self, column: np.ndarray, d: int) -> np.ndarray:
        """Encode the raw cells of one column; see :meth:`encode`."""
        name, labels, lookup = self.names[d], self.categories[d], self.lookup[d]
        missing_at = self.missing_at[d]
        if labels is not None and lookup == "hash":
            return cells.hash_codes(column, labels)
        if labels is not None and lookup != "integer":
            return cells.category_codes(column, labels)
        if labels is not None:
            cells.refuse_text(column, name)
        if self.info[d].is_time:
            info = self.info[d]
            return cells.days(column, name, info.kind, info.is_zoned)
        values = cells.numbers(column, name, self.float32)
        if missing_at is not None:
            values = np.where(self._is_at(values, missing_at), np.nan, values)
        if labels is None:
            return values
        if self.float32:
            # In XGBoost -0.5 is an invalid code, in LightGBM it is 0.
            column = values = cells.single(values)
            values = np.where(values < 0, UNSEEN, values)
        return cells.integer_codes(values, labels, column)

    def _is_at(self, values: np.ndarray, missing_at: float) -> np.ndarray:
        is_at: np.ndarray
        if self.float32:
            is_at = cells.single(values) == cells.single(np.array(missing_at))
            return is_at
        with np.errstate(over="ignore"):
            is_at = np.abs(values - missing_at) <= ZERO
        return is_at

    def columns(
        self, X: Any, used: Collection[int] | None = None, *, whole: bool = False
    ) -> list[np.ndarray]:
        """Raw cells of a table, one array per feature; see :meth:`encode`.

        Features that are not read are filled with missing values.
        """
        all_read = used is None or whole
        read = range(self.n_features) if all_read else frozenset(used or ())
        if is_frame(X):
            return self._frame_columns(X, used, read)
        if getattr(getattr(X, "dtype", None), "kind", "O") in "mM":
            raise InputError(
                "X holds dates or durations; turn them into numbers (days since a day)."
            )
        if is_matrix(X):
            raise InputError("X is sparse, and read here only if dense: X.toarray().")
        try:
            table = np.asarray(cells.unwrapped(X), dtype=object)
        except ValueError:  # ragged rows that contain arrays
            table = np.empty(0, dtype=object)
        if table.ndim != 2:
            raise InputError(
                f"Expected a table of rows and columns, found {table.ndim} "
                "dimension(s); for one row use X.reshape(1, -1)."
            )
        self.check_width(table.shape[1])
        return [
            cells.checked(column, self.names[d])
            if d in read
            else np.broadcast_to(np.nan, len(table))
            for d, column in enumerate(table.T)
        ]

    def _frame_columns(
        self, X: Any, used: Collection[int] | None, read: Collection[int]
    ) -> list[np.ndarray]:
        names, frame = self._names_in(X, used), frame_of(X)
        columns = []
        for d, (name, lookup) in enumerate(zip(names, self.lookup)):
            if name is None or d not in read:
                columns.append(np.broadcast_to(np.nan, X.shape[0]))
                continue
            column = frame[name]
            if self.info[d].is_time:
                column.check_zone(self.names[d], self.info[d].is_zoned)
            if lookup == "integer" and column.is_declared:
                # The model does not store the numbers that labels had in training.
                cells.refuse_labels(next(iter(column.cells.tolist()), None), name)
            columns.append(column.cells)
        return columns

    def _warn_of_unknown(self, column: np.ndarray, codes: np.ndarray, d: int) -> None:
        name = self.names[d]
        if not is_new(name):
            return
        unknown, n_cells = codes == UNSEEN, np.count_nonzero(~np.isnan(codes))
        found = [cells.shown(cell) for cell in dict.fromkeys(column[unknown].tolist())]
        known = [label_text(x, self.lookup[d]) for x in self.categories[d] or ()]
        rows = f"{np.count_nonzero(unknown)} of {n_cells} rows of {name!r} hold "
        warnings.warn(
            (
                f"No row of {name!r} holds a category that the model knows"
                if unknown.sum() == n_cells
                else f"{rows}categories that the model does not know"
            )
            + f": found {_first(found)}; it knows {_first(known)}. Pass the column as "
            "it was when the model was fitted; the text '1' is not the number 1.",
            UnknownCategoriesWarning,
            stacklevel=users_level(),
        )

    def check_width(self, width: int) -> None:
        """Raise an error unless the number of columns is that of features."""
        if width != self.n_features:
            raise InputError(
                f"X has {width} features, but the model reads {self.n_features} "
                "features; pass the columns the model was fitted on."
            )


def check_distinct(names: Sequence[str]) -> None:
    """Raise an error for duplicate column names."""
    if len(set(names)) != len(names):
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        raise InputError(
            f"Feature names must differ, found more than once: {twice}. "
            "Rename these columns."
        )


def is_frame(X: Any) -> bool:
    """Whether a table has named columns (pandas, polars)."""
    # In this order: polars warns when a lazy frame's columns are accessed.
    return hasattr(X, "shape") and hasattr(X, "columns")


# Unknown categories


def _is_strange(codes: np.ndarray, lookup: str) -> bool:
    """Whether a column seems to be spelled otherwise than in the fit."""
    n_unknown = int(np.count_nonzero(codes == UNSEEN))
    n_known = int(np.count_nonzero(codes >= 0))
    if not n_known:
        return n_unknown >= (2 if lookup == "exact" else 100)
    return lookup == "exact" and n_unknown > n_known and n_unknown + n_known >= 5


def _first(texts: list[str]) -> str:
    return f"{', '.join(texts[:5])}{' ...' if texts[5:] else ''}"
