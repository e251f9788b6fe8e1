"""Tables coded as a few levels per column, for models of counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood._tables import RowBlocks, RowsOfTable
from clearwood.columns.cells import is_missing
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.schema import features_of, in_order
from clearwood.columns.variables import FEW_VALUES
from clearwood.discretize.cuts import (
    accepted,
    between,
    bin_positions,
    bin_texts,
    even_cuts,
    mdlp_decisions,
)
from clearwood.rules.conditions import name_text

UNSEEN_LEVEL = -1
"""Code of a cell whose value or category did not occur in the fit."""


@dataclass(frozen=True, eq=False)
class LevelCoder:
    """Encoder of table columns as the levels found in the fit.

    A number becomes its MDLP bin, or itself if the column has at most five distinct
    values; a category is a level. Missing values are a level of their own, the last
    one, if any occurred in the fit.

    Attributes
    ----------
    features : FeatureSpace
    cuts : tuple of (ndarray or None)
        Cuts per numeric column; None for a categorical one.
    has_values, has_missing : ndarray of bool of shape (n_features,)
        Whether the column had any values, and any missing values, in the fit.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": range(35, 55), "hue": ["red", None] * 10})
    >>> coder = LevelCoder.fit(X, (X["age"] > 45).to_numpy(int), np.ones(20), 2)
    >>> coder.names_of(0), coder.names_of(1)
    (('age <= 45.5', 'age > 45.5'), ("hue is 'red'", 'hue is missing'))
    >>> coder.codes(pd.DataFrame({"age": [50, None], "hue": ["blue", None]}))
    array([[ 1, -1],
           [-1,  1]], dtype=int32)
    """

    features: FeatureSpace
    cuts: tuple[np.ndarray | None, ...]
    has_values: np.ndarray
    has_missing: np.ndarray

    @classmethod
    def fit(
        cls,
        X: Any,
        label: np.ndarray,
        weight: np.ndarray,
        n_classes: int,
        halves: bool = False,
    ) -> LevelCoder:
        """Find the levels of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
        label : ndarray of integers of shape (n_rows,)
            Classes, from 0 on.
        weight : ndarray of shape (n_rows,)
            Rows of weight 0 are ignored.
        n_classes : int
        halves : bool, default=False
            Whether a column without an MDLP cut gets one into halves.
        """
        counted = weight > 0
        features = features_of(X, counted)
        encoded = features.encode(X)
        cuts = [
            _cuts(column, label, weight, n_classes, halves) if labels is None else None
            for column, labels in zip(encoded.T, features.categories)
        ]
        missing = np.isnan(encoded[counted])
        return cls(features, tuple(cuts), ~missing.all(axis=0), missing.any(axis=0))

    def in_even_parts(
        self, encoded: np.ndarray, weight: np.ndarray, n_parts: int
    ) -> LevelCoder:
        """Coder of the same columns, numeric ones cut into parts of equal weight."""
        cuts = [
            None if own is None else even_cuts(column, weight, n_parts)
            for column, own in zip(encoded.T, self.cuts)
        ]
        return replace(self, cuts=tuple(cuts))

    def of_all(self, table: RowBlocks) -> LevelCoder:
        """Add all categories of a table of which the fit saw a sample; keep the cuts.

        Which columns have values, and missing values, is updated from the table, too.
        """
        labels: list[set[Any]] = [set() for _ in self.cuts]
        has_values, has_missing = self.has_values, self.has_missing
        for found, values, missing in table.results(_seen, self.features):
            for known, own in zip(labels, found):
                known |= own
            has_values, has_missing = has_values | values, has_missing | missing
        categories = tuple(
            None if own is None else in_order(all_of_them)
            for own, all_of_them in zip(self.features.categories, labels)
        )
        features = replace(self.features, categories=categories)
        return LevelCoder(features, self.cuts, has_values, has_missing)

    @property
    def n_levels(self) -> np.ndarray:
        """Number of levels of each column: 1 for constant ones."""
        parts = [
            len(labels or ()) if cuts is None else len(cuts) + 1
            for cuts, labels in zip(self.cuts, self.features.categories)
        ]
        return np.where(self.has_values, parts, 0) + self.has_missing

    def codes(self, X: Any, used: Collection[int] | None = None) -> np.ndarray:
        """Levels of the cells of a table, ``UNSEEN_LEVEL`` where they have none.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
        used : set of int, optional
            Features whose cells are needed; all by default.

        Returns
        -------
        ndarray of int32 of shape (n_rows, n_features)
        """
        return self.codes_encoded(self.features.encode(X, used))

    def codes_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`codes`, for a table encoded by ``features.encode``."""
        codes = np.empty(encoded.shape, dtype=np.int32)
        for d, (column, n_levels) in enumerate(zip(encoded.T, self.n_levels)):
            codes[:, d] = self.codes_of(d, column, n_levels)
        return codes

    def codes_of(self, d: int, column: np.ndarray, n_levels: int) -> np.ndarray:
        """Levels of the encoded cells of one column, of so many levels."""
        cuts = self.cuts[d]
        level = column if cuts is None else bin_positions(column, cuts)
        if not self.has_values[d]:
            level = np.where(np.isnan(column), column, UNSEEN_LEVEL)
        missing = n_levels - 1 if self.has_missing[d] else UNSEEN_LEVEL
        return np.where(np.isnan(column), missing, level)

    def names_of(self, d: int) -> tuple[str, ...]:
        """Labels of the levels of a column."""
        name, labels, cuts = (
            self.features.shown(d),
            self.features.categories[d],
            self.cuts[d],
        )
        texts: tuple[str, ...] = ()
        if cuts is not None and self.has_values[d]:
            texts = bin_texts(cuts, name, self.features.info[d])
        elif labels is not None:
            texts = tuple(f"{name_text(name)} is {label!r}" for label in labels)
        return (
            (*texts, f"{name_text(name)} is missing") if self.has_missing[d] else texts
        )


def _seen(
    rows: RowsOfTable, features: FeatureSpace
) -> tuple[list[set[Any]], np.ndarray, np.ndarray]:
    """Per column the categories; whether any value occurs; whether any is missing."""
    counted = rows.at(np.flatnonzero(rows.checked_weight() > 0))
    if not counted.n_rows:
        nowhere = np.zeros(features.n_features, dtype=bool)
        return [set() for _ in features.names], nowhere, nowhere
    columns = features.columns(counted.X) if is_frame(counted.X) else counted.X.T
    labels = [
        set() if own is None else {c for c in cells.tolist() if not is_missing(c)}
        for own, cells in zip(features.categories, columns)
    ]
    missing = [_missing(cells) for cells in columns]
    values = np.array([not own.all() for own in missing])
    return labels, values, np.array([bool(own.any()) for own in missing])


def _missing(cells: np.ndarray) -> np.ndarray:
    if cells.dtype != object:
        return np.isnan(cells)
    return np.array([is_missing(cell) for cell in cells.tolist()])


def _cuts(
    column: np.ndarray,
    label: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    halves: bool,
) -> np.ndarray:
    values = np.unique(column[(weight > 0) & ~np.isnan(column)])
    if len(values) <= FEW_VALUES:
        return np.array([between(*pair) for pair in zip(values, values[1:])])
    cuts = accepted(mdlp_decisions(column, label, weight, n_classes))
    return cuts if len(cuts) or not halves else even_cuts(column, weight, 2)
