"""What rules may not ask, and where they must rise or fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.exceptions import InputError


def read_forbidden(
    forbidden: Any, features: FeatureSpace, columns: Sequence[str]
) -> np.ndarray:
    """Check which features a user forbids, and find those that are meant.

    Parameters
    ----------
    forbidden : sequence of str and int
        Names, or positions among the columns.
    features : FeatureSpace
        What the ensemble reads.
    columns : sequence of str
        Names of the table's columns; the ensemble may not read all of them.

    Returns
    -------
    ndarray of bool of shape (n_features,)
        Of the ensemble's features, those that no rule may ask.

    Raises
    ------
    InputError
        A name or a position is not known.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> read_forbidden([0], space, ["age", "dose"])
    array([ True, False])
    """
    hidden = _names_of(forbidden, columns)
    return np.array([name in hidden for name in features.names], dtype=bool)


def read_signs(
    monotonic_cst: Any,
    features: FeatureSpace,
    columns: Sequence[str],
    n_classes: int,
) -> np.ndarray:
    """Check where a user wants rules to rise or fall.

    Parameters
    ----------
    monotonic_cst : dict, array-like or None
        By name, or one per column: 1, 0 or -1.
    features, columns
        As in :func:`read_forbidden`.
    n_classes : int
        0 in regression.

    Returns
    -------
    ndarray of int of shape (n_features,)
        1 where what is said must rise with the feature, -1 where it must fall, else 0.

    Raises
    ------
    InputError
        A name is not known, a sign is not one, or a feature has no order.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> read_signs({"dose": -1}, space, ["age", "dose"], n_classes=2)
    array([ 0, -1])
    """
    signs = {
        name: sign for name, sign in _signs(monotonic_cst, columns).items() if sign
    }
    if signs and n_classes > 2:
        raise InputError(
            f"monotonic_cst needs an order of what is said, but there are {n_classes} "
            "classes; monotonic constraints are not supported for multiclass "
            "classification."
        )
    for name, labels in zip(features.names, features.categories):
        if name in signs and labels is not None:
            raise InputError(
                f"monotonic_cst names {name!r}, which is categorical: its categories "
                "have no order. Categorical features cannot have monotonic constraints."
            )
    return np.array([signs.get(name, 0) for name in features.names], dtype=np.int64)


def in_words(features: FeatureSpace, **masks: np.ndarray | None) -> dict[str, str]:
    """Names of the features that each mask marks, where there are some.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> in_words(space, forbidden=np.array([True, False]), rising=np.zeros(2, bool))
    {'forbidden': 'age'}
    """
    return {
        word: ", ".join(features.names[d] for d in np.flatnonzero(mask))
        for word, mask in masks.items()
        if mask is not None and mask.any()
    }


def _names_of(forbidden: Any, columns: Sequence[str]) -> set[str]:
    given = np.ndarray if hasattr(forbidden, "dtype") else (list, tuple, set, frozenset)
    if not isinstance(forbidden, given):
        raise InputError(
            "forbidden must be a list of names or positions of features, found "
            f"{forbidden!r}."
        )
    names = set()
    for entry in forbidden:
        if isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_):
            position = int(entry)
            if not 0 <= position < len(columns):
                raise InputError(
                    f"forbidden names position {position}; there are {len(columns)} "
                    "columns, counted from 0."
                )
            names.add(columns[position])
        else:
            names.add(_known(entry, columns, "forbidden"))
    return names


def _signs(monotonic_cst: Any, columns: Sequence[str]) -> dict[str, int]:
    if monotonic_cst is None:
        return {}
    if isinstance(monotonic_cst, Mapping):
        named = {
            _known(name, columns, "monotonic_cst"): sign
            for name, sign in monotonic_cst.items()
        }
    else:
        signs = np.asarray(monotonic_cst, dtype=object)
        if signs.shape != (len(columns),):
            raise InputError(
                f"monotonic_cst has shape {signs.shape}, but there are {len(columns)} "
                "columns; give one sign for each, or a dict by name."
            )
        named = dict(zip(columns, signs.tolist()))
    for name, sign in named.items():
        if sign not in (-1, 0, 1):
            raise InputError(
                f"monotonic_cst of {name!r} must be -1 (falls), 0 or 1 (rises), found "
                f"{sign!r}."
            )
    return {name: int(sign) for name, sign in named.items()}


def _known(name: Any, columns: Sequence[str], parameter: str) -> str:
    if name not in columns:
        raise InputError(
            f"{parameter} names {name!r}, which is no feature; there are "
            f"{', '.join(map(repr, columns))}."
        )
    return str(name)
