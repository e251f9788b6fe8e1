"""From a table to what one meta-tree asks of its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.conjugate import LeafModel
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder
from clearwood.metatree.posterior.structure import Structure


class Rows(NamedTuple):
    """What meta-trees ask of rows: their codes, and the features of linear leaves."""

    codes: np.ndarray
    x: np.ndarray | None


def rows_for(structure: Structure, leaf: LeafModel, encoded: np.ndarray) -> Rows:
    """Rows as a meta-tree wants them, from cells made numbers once."""
    coder = structure.coder
    return Rows(coder.codes_of(encoded), columns_of_leaf(leaf, coder.features, encoded))


def columns_of_leaf(
    leaf: LeafModel, features: FeatureSpace, encoded: np.ndarray
) -> np.ndarray | None:
    """What linear leaves read: the features, behind a one where they have room."""
    if not leaf.reads_features:
        return None
    width, read = encoded.shape[1], int(leaf.n_columns or 0) - 1
    if read not in (width, width + 1):
        raise InputError(
            f"leaf reads {read} features, but X has {width}; give its prior mean one "
            "number per feature, behind one for the intercept if there shall be one."
        )
    if not np.isfinite(encoded).all():
        row, d = np.argwhere(~np.isfinite(encoded))[0]
        raise InputError(
            f"Feature {features.names[d]!r} is missing or infinite in row {row}, which "
            f"{type(leaf).__name__} cannot read; fill it in, or take leaves that say "
            "one value."
        )
    if read == width + 1:
        encoded = np.column_stack([np.ones(len(encoded)), encoded])
    return encoded


def with_names(structure: Structure, X: Any) -> Structure:
    """A structure whose features are called as in a table."""
    features = structure.coder.features.as_in(X)
    if features == structure.coder.features:
        return structure
    coder = structure.coder
    if isinstance(coder, BinCoder):
        return replace(
            structure, coder=BinCoder(replace(coder.bins, features=features))
        )
    return replace(structure, coder=replace(coder, features=features))
