"""The columns a model reads: their names, their categories, and how to encode them.

Every room speaks of data in one form: a float64 matrix with one column per
feature, where a numeric feature holds its value, a categorical feature holds the
position of its category in ``categories``, a missing value is NaN and a category
that the model has never seen is ``UNSEEN``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NoReturn, get_args

import numpy as np

from clearwood._cityhash import category_hash
from clearwood.exceptions import InputError

UNSEEN = -1.0
"""Code of a category that the model has never seen."""

ZERO = float(np.float32(1e-35))
"""How near a number is to the one that counts as missing (LightGBM's zero)."""

Lookup = Literal["exact", "integer", "hash"]
LOOKUPS: tuple[str, ...] = get_args(Lookup)


@dataclass(frozen=True)
class FeatureSpace:
    """Names and categories of the features of one model.

    Parameters
    ----------
    names : tuple of str
        One name per feature.
    categories : tuple of (None or tuple)
        ``None`` for a numeric feature, else its category labels in code order.
    named : bool, default=True
        False when the names were made up (``x0``, ``x1``, ...) because the model
        was fitted on data without column names; columns then go by position.
    lookup : tuple of {"exact", "integer", "hash"}, optional
        How a cell of a categorical feature finds its category: it equals the label
        (the default), its whole part does, or CatBoost's hash of the text it is
        written as does. With ``"hash"`` a label is the text, or the hash where the
        model does not know the text; see :meth:`as_in`.
    missing_at : tuple of (None or float), optional
        A number that counts as missing in the feature, besides NaN.
    float32 : bool, default=False
        Whether cells are cast to float32 before they are compared with the codes of
        categories or with the number that counts as missing, as XGBoost does.

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

    def __post_init__(self) -> None:
        n = self.n_features
        object.__setattr__(self, "lookup", self.lookup or ("exact",) * n)
        object.__setattr__(self, "missing_at", self.missing_at or (None,) * n)
        if n != len(self.categories):
            raise InputError(
                f"{n} feature names but categories for "
                f"{len(self.categories)} features; give None for a numeric feature."
            )
        if len(self.lookup) != n or len(self.missing_at) != n:
            raise InputError(
                f"{len(self.lookup)} entries of lookup and {len(self.missing_at)} of "
                f"missing_at for {n} features; give one each per feature, or none."
            )
        check_distinct(self.names)
        check_text(self.names, "The feature")
        for name, labels in zip(self.names, self.categories):
            check_text(labels or (), f"A category of {name!r},")

    @classmethod
    def numeric(
        cls, n_features: int, names: Sequence[str] | None = None
    ) -> FeatureSpace:
        """All features numeric; names are ``x0, x1, ...`` where none are given."""
        named = names is not None
        labels = [f"x{i}" for i in range(n_features)] if names is None else names
        return cls(tuple(str(n) for n in labels), (None,) * n_features, named)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    def renamed(self, names: Sequence[str]) -> FeatureSpace:
        """The same features under the names of the user's data."""
        if len(names) != self.n_features:
            raise InputError(
                f"The data has {len(names)} columns, the model reads "
                f"{self.n_features}; hand in the columns the model was fitted on."
            )
        return replace(self, names=tuple(str(n) for n in names), named=True)

    def as_in(self, X: Any) -> FeatureSpace:
        """The same features, called as in a table.

        A model may know no names, names in which underscores stand for blanks
        (LightGBM), or categories only by the hash of their text (CatBoost).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

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
        columns = self.columns(X) if hashed else []
        for d in hashed:
            texts = {_cell_text(cell) for cell in columns[d].tolist()}
            # In order, as two texts can have the same hash.
            known: dict[Any, str] = {
                category_hash(text): text
                for text in sorted(text for text in texts if text is not None)
            }
            labels = self.categories[d] or ()
            categories[d] = tuple(known.get(label, label) for label in labels)
        return replace(
            self,
            names=self._names_in(X) if is_frame(X) else self.names,
            categories=tuple(categories),
            named=self.named or is_frame(X),
        )

    def _names_in(self, X: Any) -> tuple[str, ...]:
        """Per feature the name of its column in a frame."""
        names = [str(name) for name in X.columns]
        check_distinct(names)
        if not self.named:
            self._check_width(len(names))
            return tuple(names)
        # A column that the model calls by its own name is no other one's too.
        own, known = set(self.names), set(names)
        free = {name: name.replace(" ", "_") for name in names if name not in own}
        count = Counter(free.values())
        unblanked = {short: n for n, short in free.items() if count[short] == 1}
        found = [n if n in known else unblanked.get(n) for n in self.names]
        absent = [name for name, column in zip(self.names, found) if column is None]
        if absent:
            raise InputError(
                f"The model reads column(s) {absent}, which the data lacks; "
                f"found {names}."
            )
        return tuple(str(name) for name in found)

    def encode(self, X: Any) -> np.ndarray:
        """Turn a table into the float64 matrix that all rooms read.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_samples, n_features)
            A frame is read by column name where the model knows names (further
            columns are ignored), else by position.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Values, category codes, NaN for missing, ``UNSEEN`` for an unknown
            category.

        Raises
        ------
        InputError
            A column is missing, there are too many or too few columns, or a
            numeric feature holds something that is not a number.
        """
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
            self._check_width(X.shape[1])
            if not self._reads_specially():
                return np.ascontiguousarray(X, dtype=np.float64)
            columns = list(X.T)
        else:
            columns = self.columns(X)
        encoded = np.empty((len(columns[0]) if columns else 0, self.n_features))
        for d, column in enumerate(columns):
            encoded[:, d] = self.encode_column(column, d)
        return encoded

    def _reads_specially(self) -> bool:
        """Whether any column is more than its values."""
        numeric = all(labels is None for labels in self.categories)
        return not numeric or any(at is not None for at in self.missing_at)

    def encode_column(self, column: np.ndarray, d: int) -> np.ndarray:
        """One column as :meth:`encode` makes it, from its cells as they are."""
        name, labels, lookup = self.names[d], self.categories[d], self.lookup[d]
        missing_at = self.missing_at[d]
        if labels is not None and lookup == "hash":
            return _hash_codes(column, labels)
        if labels is not None and lookup != "integer":
            return _category_codes(column, labels)
        if labels is not None:
            _refuse_text(column, name)
        values = _numeric_column(column, name)
        if missing_at is not None:
            values = np.where(self._is_at(values, missing_at), np.nan, values)
        if labels is None:
            return values
        if self.float32:
            # To XGBoost -0.5 is no code, to LightGBM it is 0.
            values = _single(values)
            values = np.where(values < 0, UNSEEN, values)
        return _integer_codes(values, labels)

    def _is_at(self, values: np.ndarray, missing_at: float) -> np.ndarray:
        if self.float32:
            return _single(values) == _single(np.array(missing_at))
        with np.errstate(over="ignore"):
            return np.abs(values - missing_at) <= ZERO

    def columns(self, X: Any) -> list[np.ndarray]:
        """The cells of a table as they are, one array per feature."""
        if not is_frame(X):
            table = np.asarray(X, dtype=object)
            if table.ndim != 2:
                raise InputError(
                    f"Expected a table of rows and columns, found {table.ndim} "
                    "dimension(s); for one row use X.reshape(1, -1)."
                )
            self._check_width(table.shape[1])
            return list(table.T)
        position = {str(name): name for name in X.columns}
        return [
            _frame_column(X, position[name], lookup)
            for name, lookup in zip(self._names_in(X), self.lookup)
        ]

    def _check_width(self, width: int) -> None:
        if width != self.n_features:
            raise InputError(
                f"X has {width} features, but the model reads {self.n_features} "
                "features; hand in the columns the model was fitted on."
            )


def check_distinct(names: Sequence[str]) -> None:
    """Refuse column names that occur twice."""
    if len(set(names)) != len(names):
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        raise InputError(
            f"Feature names must differ, found more than once: {twice}. "
            "Rename these columns."
        )


def check_text(texts: Collection[Any], what: str) -> None:
    r"""Refuse names and labels that no file can hold and no screen can show.

    Halves of characters (lone surrogates) are what Python makes of bytes that are no
    text. Refused where they come in, they need no care anywhere else.

    Examples
    --------
    >>> check_text(["elm é", "a\udc80"], "The feature")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clearwood.exceptions.InputError: The feature 'a\udc80' holds half a character ...
    """
    try:
        "".join(text for text in texts if isinstance(text, str)).encode()
    except UnicodeEncodeError:
        broken = next(
            text for text in texts if isinstance(text, str) and not _is_whole(text)
        )
        raise InputError(
            f"{what} {broken!r} holds half a character (a lone surrogate), which "
            "cannot be written. Read the data again in the right encoding, or rename "
            "it."
        ) from None


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def printable(text: str) -> str:
    r"""A name or label as it is; in quotes where a terminal would obey a part of it.

    Examples
    --------
    >>> printable("elm é"), printable("a\x1b[2Jb")
    ('elm é', "'a\\x1b[2Jb'")
    """
    return text if text.isprintable() else repr(text)


def is_frame(X: Any) -> bool:
    """Whether a table has named columns (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def _frame_column(frame: Any, name: Any, lookup: str) -> np.ndarray:
    import narwhals as nw

    series = nw.from_native(frame, eager_only=True).get_column(name)
    if lookup == "integer" and series.dtype in (nw.Categorical, nw.Enum):
        # Which number a label had in the training data, the model does not say.
        _refuse_labels(name, series.to_list()[:1])
    as_number = series.dtype.is_numeric() or series.dtype == nw.Boolean
    # The text of a cell knows whole numbers of all sizes, and false from 0.
    if as_number and lookup != "hash":
        # Nulls of nullable types become NaN; large integers lose nothing that a
        # tree, which compares in floating point, could have seen.
        return series.cast(nw.Float64).to_numpy()
    return np.asarray(series.to_list(), dtype=object)


def _numeric_column(column: np.ndarray, name: str) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    values = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            values[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"Feature {name!r} is numeric in the model, but row {i} holds "
                f"{value!r}; make the column numeric or leave the cell empty."
            ) from None
    return values


def _single(values: np.ndarray) -> np.ndarray:
    """Rounded to float32, infinite where they are too large for it."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


def _category_codes(column: np.ndarray, labels: tuple[Hashable, ...]) -> np.ndarray:
    code = {label: float(i) for i, label in enumerate(labels)}
    return np.array(
        [np.nan if is_missing(v) else code.get(v, UNSEEN) for v in column.tolist()],
        dtype=np.float64,
    )


def _hash_codes(column: np.ndarray, labels: tuple[Any, ...]) -> np.ndarray:
    code = {
        category_hash(label) if isinstance(label, str) else label: float(i)
        for i, label in enumerate(labels)
    }
    texts = [_cell_text(cell) for cell in column.tolist()]
    known: dict[str | None, float] = {None: np.nan}
    for text in set(texts):
        if text is not None:
            known[text] = code.get(category_hash(text), UNSEEN)
    return np.array([known[text] for text in texts], dtype=np.float64)


def _cell_text(cell: Any) -> str | None:
    """As CatBoost writes a cell before it takes the hash: true is 1."""
    if is_missing(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    # A column of whole numbers may come as floats.
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def _refuse_text(column: np.ndarray, name: str) -> None:
    if column.dtype.kind not in "fiub":
        text = next((cell for cell in column.tolist() if isinstance(cell, str)), None)
        if text is not None:
            _refuse_labels(name, text)


def _refuse_labels(name: str, found: Any) -> NoReturn:
    raise InputError(
        f"The model knows the categories of {name!r} only as whole numbers, the data "
        f"holds labels ({found!r}); hand in the codes that the model was fitted on "
        "(in pandas: column.cat.codes, with the categories as they were then)."
    )


def _integer_codes(values: np.ndarray, labels: tuple[Any, ...]) -> np.ndarray:
    """Positions of the whole parts of the values among ascending whole numbers."""
    known = np.array(labels, dtype=np.float64)
    whole = np.trunc(values)
    position = np.searchsorted(known, whole)
    found = np.append(known, np.nan)[position] == whole
    codes = np.where(found & (whole >= 0), position, UNSEEN)
    return np.where(np.isnan(values), np.nan, codes)


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    # NaN, NaT and pandas' NA are the values that do not equal themselves.
    try:
        return bool(value != value)
    except TypeError:
        return type(value).__name__ == "NAType"
