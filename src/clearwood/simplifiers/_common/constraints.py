"""What rules may not ask, and where they must rise or fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.exceptions import InputError


class Limits(NamedTuple):
    """Limits of the search, by position in the ensemble's features.

    Attributes
    ----------
    forbidden : ndarray of bool of shape (n_features,)
        Features that no rule may ask.
    signs : ndarray of int of shape (n_features,)
        1 where what is said must rise with the feature, -1 where it must fall, else 0.
    """

    forbidden: np.ndarray
    signs: np.ndarray

    def about(self, features: FeatureSpace) -> dict[str, str]:
        """The limits in words, where there are some."""
        named = {
            "forbidden": self.forbidden,
            "increasing": self.signs == 1,
            "decreasing": self.signs == -1,
        }
        return {
            word: ", ".join(features.names[d] for d in np.flatnonzero(where))
            for word, where in named.items()
            if where.any()
        }


def read_limits(
    forbidden: Any,
    monotonic_cst: Any,
    features: FeatureSpace,
    columns: Sequence[str],
    n_classes: int,
) -> Limits:
    """Check what a user asks for, and find the features that are meant.

    Parameters
    ----------
    forbidden : sequence of str and int
        Names, or positions among the columns.
    monotonic_cst : dict, array-like or None
        By name, or one per column: 1, 0 or -1.
    features : FeatureSpace
        What the ensemble reads.
    columns : sequence of str
        Names of the table's columns; the ensemble may not read all of them.
    n_classes : int
        0 in regression.

    Returns
    -------
    Limits

    Raises
    ------
    InputError
        A name is not known, a sign is not one, or a feature has no order.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> limits = read_limits([0], {"dose": -1}, space, ["age", "dose"], 2)
    >>> limits.forbidden.tolist(), limits.signs.tolist()
    ([True, False], [0, -1])
    """
    hidden = _names_of(forbidden, columns)
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
    return Limits(
        np.array([name in hidden for name in features.names], dtype=bool),
        np.array([signs.get(name, 0) for name in features.names], dtype=np.int64),
    )


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
