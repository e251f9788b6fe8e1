"""Encoding of a table as features, and as codes by which a tree routes rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.bins import FeatureBins

MOST_VALUES = 256
"""Maximum number of values of a feature with one child per value."""


@dataclass(frozen=True, eq=False)
class BinCoder:
    """Codes of features that are split at cuts or by category sets: their bins.

    Parameters
    ----------
    bins : FeatureBins
    """

    bins: FeatureBins

    @property
    def features(self) -> FeatureSpace:
        """Names and categories."""
        return self.bins.features

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes per feature; the last of a numeric one is missing."""
        return self.bins.n_bins

    def missing_code(self, feature: int) -> int:
        """Code of a missing value."""
        return self.bins.missing_bin(feature)

    def codes_of(self, encoded: np.ndarray) -> np.ndarray:
        """Codes of a table encoded by ``features.encode``."""
        return self.bins.transform_encoded(encoded)


@dataclass(frozen=True, eq=False)
class ValueCoder:
    """Codes of features with few values: the value, or the category, is the code.

    The values of a feature are followed by the codes for missing and for unseen.

    Parameters
    ----------
    features : FeatureSpace
        A feature without categories holds integers from 0 on.
    n_values : ndarray of shape (n_features,)

    Examples
    --------
    >>> coder = ValueCoder(FeatureSpace.numeric(2), np.array([2, 3]))
    >>> coder.codes_of(np.array([[0, 2], [np.nan, 7]])).tolist()
    [[0, 2], [2, 4]]
    """

    features: FeatureSpace
    n_values: np.ndarray

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes per feature, missing and unseen included."""
        return self.n_values + 2

    def missing_code(self, feature: int) -> int:
        """Code of a missing value."""
        return int(self.n_values[feature])

    def codes_of(self, encoded: np.ndarray) -> np.ndarray:
        """Codes of a table encoded by ``features.encode``."""
        missing = np.isnan(encoded)
        with np.errstate(invalid="ignore"):
            whole = missing | (encoded == np.floor(encoded))
            outside = (encoded < 0) | (encoded >= self.n_values)
        if not whole.all():
            row, d = np.argwhere(~whole)[0]
            raise InputError(
                f"Feature {self.features.names[d]!r} holds {encoded[row, d]} in row "
                f"{row}; a tree on given values requires integers from 0 to "
                f"{self.n_values[d] - 1}. Bin the feature first."
            )
        encoded = np.where(outside, self.n_values + 1, encoded)
        encoded = np.where(missing, self.n_values, encoded)
        dtype = np.min_scalar_type(int(self.n_codes.max(initial=1)) - 1)
        return np.ascontiguousarray(encoded, dtype=dtype)


Coder = BinCoder | ValueCoder


def count_values(encoded: np.ndarray, features: FeatureSpace) -> np.ndarray:
    """Number of values of each feature: its categories, or integers from 0 on.

    Examples
    --------
    >>> count_values(np.array([[0.0, 2.0], [1.0, 0.0]]), FeatureSpace.numeric(2))
    array([2, 3])
    """
    wrong = ~((encoded >= 0) & (encoded == np.floor(encoded)) & (encoded < MOST_VALUES))
    if wrong.any():
        row, d = np.argwhere(wrong)[0]
        raise InputError(
            f"Feature {features.names[d]!r} holds {encoded[row, d]} in row {row}; the "
            "sum over all trees requires labels, or integers from 0 to "
            f"{MOST_VALUES - 1}, none missing. Bin the feature first."
        )
    found = [
        len(labels) if labels is not None else int(column.max()) + 1
        for labels, column in zip(features.categories, encoded.T)
    ]
    return np.maximum(found, 2)
