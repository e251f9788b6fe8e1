"""Rows that are held out of a fit: how all folds are drawn."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np

from clearwood.exceptions import InputError

N_FOLDS = 3
"""Number of folds by default."""

CV: list[Any] = [Integral, "cv_object", None]
"""Constraint of ``cv``."""

KEPT, HELD_OUT = 1, -1
"""Roles of a row in a fold; 0 if it is in neither part."""


def check_groups(groups: Any, n_rows: int) -> np.ndarray | None:
    """Code of the group of each row.

    Examples
    --------
    >>> check_groups(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (n_rows,):
        raise InputError(
            f"groups has shape {found.shape} for {n_rows} rows; expected one group "
            "per row."
        )
    if found.dtype == object:
        found = found.astype(str)
    codes = np.unique(found, return_inverse=True)[1]
    if codes.max(initial=0) == 0:
        raise InputError(
            "groups holds a single group, which cannot be held out; pass at least two, "
            "or leave groups out."
        )
    return codes


def design_effect(values: np.ndarray, groups: np.ndarray, here: np.ndarray) -> float:
    """Rows of a sample in groups that are as informative as one independent row.

    By the intraclass correlation of all values (analysis of variance), for the mean of
    the rows ``here`` (Kish, 1965).

    Examples
    --------
    >>> groups, some = np.repeat(np.arange(10), 4), np.arange(40) < 20
    >>> design_effect(groups % 2.0, groups, some)
    4.0
    >>> design_effect(np.arange(40) % 2.0, groups, some)
    1.0
    """
    code, size = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    n_rows, n_groups = len(values), len(size)
    means = np.bincount(code, values) / size
    between = (size * (means - values.mean()) ** 2).sum() / max(n_groups - 1, 1)
    within = ((values - means[code]) ** 2).sum() / max(n_rows - n_groups, 1)
    usual = (n_rows - (size**2).sum() / n_rows) / max(n_groups - 1, 1)
    total = between + (usual - 1) * within
    correlation = max((between - within) / total, 0.0) if total > 0 else 0.0
    own = np.bincount(code[here])
    return float(1 + correlation * ((own**2).sum() / own.sum() - 1))


def fold_roles(
    cv: Any, groups: np.ndarray | None, labels: np.ndarray | None, n_rows: int
) -> np.ndarray | None:
    """Role of every row in every fold; None if folds are drawn at random.

    Parameters
    ----------
    cv : int, splitter of scikit-learn, iterable of (rows, held-out rows), or None
        None: three folds.
    groups : ndarray of shape (n_rows,) or None
        Rows of a group are held out together.
    labels : ndarray of shape (n_rows,) or None
        Class labels to stratify by.
    n_rows : int

    Returns
    -------
    ndarray of shape (n_rows, n_folds) or None

    Examples
    --------
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> fold_roles(TimeSeriesSplit(2), None, None, 3).T.tolist()
    [[1, -1, 0], [1, 1, -1]]
    >>> fold_roles(2, np.array([0, 0, 1, 1]), None, 4).T.tolist()
    [[1, 1, -1, -1], [-1, -1, 1, 1]]
    """
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, check_cv

    if cv is None and groups is None:
        return None
    is_number = cv is None or isinstance(cv, Integral)
    if is_number and groups is not None:
        kind = GroupKFold if labels is None else StratifiedGroupKFold
        cv = kind(N_FOLDS if cv is None else int(cv))
    splitter = check_cv(cv, labels, classifier=labels is not None)
    rows = np.zeros(n_rows)
    try:
        with warnings.catch_warnings():
            # Of splitters that ignore groups, which is an error below.
            warnings.simplefilter("ignore", UserWarning)
            folds = list(splitter.split(rows, labels, groups))
    except ValueError as error:
        raise InputError(
            f"cv={cv} cannot split {n_rows} rows: {error} Set another cv."
        ) from error
    roles = np.zeros((n_rows, len(folds)), dtype=np.int8)
    for fold, (kept, held_out) in zip(roles.T, folds):
        fold[kept], fold[held_out] = KEPT, HELD_OUT
        if groups is not None:
            both = np.intersect1d(groups[fold == KEPT], groups[fold == HELD_OUT])
            if len(both):
                raise InputError(
                    f"cv={cv} divides {len(both)} of the groups between the rows of a "
                    "fit and those held out; use a splitter by groups, such as "
                    "GroupKFold."
                )
    return roles


def draw_folds(
    n_rows: int,
    roles: np.ndarray | None,
    generator: np.random.Generator,
    most: int,
    n_folds: int = N_FOLDS,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Per fold the rows of the fit and those held out, of at most so many rows.

    Parameters
    ----------
    n_rows : int
    roles : ndarray of shape (n_rows, n_folds) or None
        None: random folds.
    generator : Generator
    most : int
        Maximum number of rows, drawn at random.
    n_folds : int, default=3
        Number of random folds.

    Examples
    --------
    >>> folds = draw_folds(4, None, np.random.default_rng(0), most=4)
    >>> [held_out.tolist() for _, held_out in folds]
    [[0, 2], [1], [3]]
    """
    order = generator.permutation(n_rows)[:most]
    if roles is None:
        parts = [np.sort(part) for part in np.array_split(order, n_folds)]
        return [(np.setdiff1d(order, part), part) for part in parts]
    order = np.sort(order)
    folds = [(order[r == KEPT], order[r == HELD_OUT]) for r in roles[order].T]
    # Of a sample, one of the parts may be empty.
    return [(kept, held_out) for kept, held_out in folds if len(kept) and len(held_out)]
