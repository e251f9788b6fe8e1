"""Validation of tables, targets and parameters, shared by estimators."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._words.labels import check_text, target_name, type_text
from clearwood.columns.cells import EXACT, is_missing, shown, unwrapped
from clearwood.columns.feature_space import FeatureSpace, check_distinct, is_frame
from clearwood.columns.frames import kept_frame
from clearwood.columns.schema import TIMES
from clearwood.columns.sparse_tables import accepted, is_matrix, is_sparse
from clearwood.exceptions import InputError

FEW_CLASSES = 20
"""Integers with at most so many distinct values are class labels by default."""

LARGEST_VALUE = 1e140
"""Bound below which sums of a billion squares do not overflow."""


def check_table(estimator: Any, X: Any, *, reset: bool, sparse: bool = False) -> Any:
    """Validate a table for an estimator; set or compare its columns.

    Frames are returned as they are, so that text and category columns keep their types;
    anything else becomes an array of numbers, with NaN for None. Whether missing values
    are supported is left to the ensemble.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and, from a frame, ``feature_names_in_``.
    X : array-like or frame of shape (n_samples, n_features)
    reset : bool
        True in ``fit``; False to compare with the columns seen in ``fit``.
    sparse : bool, default=False
        Keep a sparse table sparse. By default a matrix raises an error, and sparse
        columns of a frame become dense.

    Returns
    -------
    frame, ndarray or sparse matrix
    """
    from sklearn.utils.validation import validate_data

    X = accepted(unwrapped(X), sparse)
    if not is_frame(X):
        table = validate_data(
            estimator,
            _without_text(X),
            reset=reset,
            dtype="numeric",
            accept_sparse=("csr", "csc"),
            ensure_all_finite=False,
        )
        return table if is_matrix(table) else _with_large_numbers(X, table)
    names = [str(name) for name in X.columns]
    check_distinct(names)
    check_text(names, "The column")
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except ValueError as error:
        if reset or not hasattr(estimator, "rules_"):
            raise
        # scikit-learn requires equal columns of estimators; rules are less strict.
        raise InputError(
            f"{error}\nThe rules themselves read columns by name, in any order, and "
            "only those that they use: rules_.predict(X)."
        ) from None
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise InputError(
            f"Found a table with {X.shape[0]} sample(s) and {X.shape[1]} "
            "feature(s); at least one of each is required."
        )
    if reset and not is_sparse(X):
        # Invalid cells raise our error, before another library reads them.
        kept_frame(X).read()
    return X


def _without_text(X: Any) -> Any:
    """A list or array with NaN in missing cells; text and dates raise an error.

    scikit-learn raises the error for other invalid tables.
    """
    if hasattr(X, "to_frame"):
        raise InputError(
            "X is a Series: expected a table of rows and columns. For one row pass "
            "frame.iloc[[0]], for one column frame[['age']]."
        )
    if isinstance(X, str | os.PathLike):
        raise InputError(
            f"X is {shown(X)}: expected a table, not its file. Read it first, as with "
            "pandas.read_csv; or call clearwood simplify on the command line."
        )
    if hasattr(X, "collect_schema"):
        raise InputError(
            f"X is {type_text(X)}, which is not a table yet; pass X.collect()."
        )
    if not isinstance(X, np.ndarray | list | tuple):
        return X
    try:
        given = np.asarray(X)
    except ValueError:
        raise InputError(
            "X has rows of different lengths, or cells that are lists; give every row "
            "one cell for each column, with NaN or None for missing values."
        ) from None
    if given.ndim == 1 and any(isinstance(cell, str) for cell in given.tolist()):
        raise InputError(
            "Expected 2D array, got 1D array instead: X begins with "
            f"{shown(given.tolist()[0])}. The table comes first, then the labels, as "
            "in fit(X, y); of one column pass a frame, as in frame[['age']]."
        )
    if given.ndim != 2 or given.dtype.kind in "fiubc":
        return X
    # As objects, numbers may be written as text, which scikit-learn converts.
    reads = isinstance(X, np.ndarray) and X.dtype == object
    cells = np.array(X, dtype=object)
    for at, cell in enumerate(cells.ravel().tolist()):
        if type(cell) is float:
            continue
        if is_missing(cell):
            cells.flat[at] = np.nan
        elif isinstance(cell, TIMES) or (
            isinstance(cell, str) and not (reads and _is_number(cell))
        ):
            row, column = divmod(at, given.shape[1])
            raise InputError(
                f"X holds {shown(cell)} in row {row}, column {column} (from 0), but "
                "arrays and lists are tables of numbers. Pass a pandas or polars "
                "frame, whose columns may be text; convert dates to numbers; or "
                "correct the cell."
            )
    return cells


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _with_large_numbers(X: Any, table: np.ndarray) -> np.ndarray:
    """The validated table; of objects where integers would be rounded to floats.

    As numbers they are the same for a tree, as categories they are not.
    """
    # `in` would not do: float64 is equal to None.
    if getattr(X, "dtype", None) is not None and X.dtype.kind != "O":
        return table
    large = np.isfinite(table) & (np.abs(table) >= EXACT)
    if not large.any():
        return table
    given = np.asarray(X, dtype=object)
    return given if (given[large] != table[large]).any() else table


def check_target(
    y: Any, n_samples: int, *, numeric: bool, name: str = "y"
) -> np.ndarray:
    """Validate a target: one value per row, none missing, numbers for regression."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    y = unwrapped(y)
    # A list becomes an array of one dtype, in which a missing label would be text.
    given = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else None
    try:
        values: np.ndarray = column_or_1d(y, warn=True)
    except ValueError:
        found = shown(y) if isinstance(y, str) else f"one of shape {np.shape(y)}"
        raise InputError(
            f"{name} should be a 1d array, one label or value per row; found {found}. "
            "Of a table pass the column, as in frame['outcome']; of probabilities, or "
            "columns of 0 and 1, the class of each row."
        ) from None
    if len(values) != n_samples:
        raise InputError(
            f"X has {n_samples} samples but {name} has {len(values)} (inconsistent "
            "numbers of samples); give one value per row."
        )
    cells = (values if given is None else given.reshape(-1)).tolist()
    plain = given is None and values.dtype.kind in "biuf"
    missing = values != values if plain else np.array([*map(is_missing, cells)], bool)
    if missing.any():
        raise InputError(
            f"Input {name} contains NaN or None in {missing.sum()} row(s), the first "
            f"is row {int(missing.argmax())}; drop rows without a target.",
            row=int(missing.argmax()),
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(f"Input {name} contains infinity; drop or correct these rows.")
    if not numeric:
        check_classification_targets(values)
        check_text(set(cells), f"The label in {name}")
        return values
    if values.dtype.kind not in "fiub":
        try:
            if values.dtype.kind in "mM":
                raise TypeError("dates and durations are no plain numbers")
            values = values.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"{name} must be numbers for regression, found {values.tolist()[0]!r}; "
                "for labels use the classifier."
            ) from None
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError(
            f"Input {name} contains infinity or NaN; drop or correct these rows."
        )
    return values


def check_apart(X: Any, y: Any) -> None:
    """Raise an error if a column equals the target, which any model would find."""
    name = target_name(y)
    if not is_frame(X) or name not in X.columns:
        return
    column = X[name]
    if np.array_equal(np.asarray(column), np.asarray(y).reshape(-1)):
        raise InputError(
            f"y is the column {name!r} of X too, and rules would predict it from "
            f"itself. Drop it: X.drop(columns={name!r}) in pandas, X.drop({name!r}) in "
            "polars."
        )


def check_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Validate row weights: finite, nonnegative, not all zero; default to ones."""
    if sample_weight is None:
        return np.ones(n_samples)
    try:
        weight = np.asarray(unwrapped(sample_weight), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"sample_weight must be one number per row, found {shown(sample_weight)}. "
            "For classes of equal total weight pass scikit-learn's "
            "compute_sample_weight('balanced', y)."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise InputError(
            f"sample_weight has shape {weight.shape}, expected ({n_samples},)."
        )
    if not np.isfinite(weight).all() or (weight < 0).any() or not weight.any():
        raise InputError(
            "sample_weight must be finite, not negative and not all zero; "
            "drop rows that shall not count."
        )
    return weight


def check_excluded(
    exclude_features: Any, features: FeatureSpace, columns: Sequence[str]
) -> np.ndarray:
    """Validate the features that a user excludes from rules.

    Parameters
    ----------
    exclude_features : sequence of str and int
        Names, or positions among the columns.
    features : FeatureSpace
        Features of the ensemble.
    columns : sequence of str
        Names of the table's columns, of which the ensemble may use some.

    Returns
    -------
    ndarray of bool of shape (n_features,)
        Mask of the ensemble's features that rules may not use.

    Raises
    ------
    InputError
        A name or a position is unknown.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> check_excluded([0], space, ["age", "dose"])
    array([ True, False])
    """
    hidden = _names_of(exclude_features, columns)
    return np.array([name in hidden for name in features.names], dtype=bool)


def check_signs(
    monotonic_cst: Any,
    features: FeatureSpace,
    columns: Sequence[str],
    n_classes: int,
) -> np.ndarray:
    """Validate monotonicity constraints.

    Parameters
    ----------
    monotonic_cst : dict, array-like or None
        By name, or one per column: 1, 0 or -1.
    features, columns
        As in :func:`check_excluded`.
    n_classes : int
        0 in regression.

    Returns
    -------
    ndarray of int of shape (n_features,)
        1 where predictions must not fall with the feature, -1 where not rise, else 0.

    Raises
    ------
    InputError
        A name is unknown, a sign is invalid, or a feature is not ordered.

    Examples
    --------
    >>> space = FeatureSpace.numeric(2, ["age", "dose"])
    >>> check_signs({"dose": -1}, space, ["age", "dose"], n_classes=2)
    array([ 0, -1])
    """
    signs = {
        name: sign for name, sign in _signs(monotonic_cst, columns).items() if sign
    }
    if signs and n_classes > 2:
        raise InputError(
            f"monotonic_cst requires ordered predictions, but there are {n_classes} "
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


def _names_of(exclude_features: Any, columns: Sequence[str]) -> set[str]:
    if not isinstance(exclude_features, np.ndarray | list | tuple | set | frozenset):
        raise InputError(
            "exclude_features must be a list of names or positions of features, found "
            f"{exclude_features!r}."
        )
    names = set()
    for entry in exclude_features:
        if isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_):
            position = int(entry)
            if not 0 <= position < len(columns):
                raise InputError(
                    f"exclude_features names position {position}; there are "
                    f"{len(columns)} columns, counted from 0."
                )
            names.add(columns[position])
        else:
            names.add(_known(entry, columns, "exclude_features"))
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


def check_range(values: np.ndarray, name: str) -> None:
    """Raise an error if squares of values, or of their differences, overflow."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high), high - low)
    if size > LARGEST_VALUE or 0 < high - low < 1 / LARGEST_VALUE:
        raise InputError(
            f"{name} lies between {low:.3g} and {high:.3g}, which cannot be squared in "
            "float64; give it in other units."
        )


def label_positions(
    y: np.ndarray, classes: np.ndarray, knower: str, remedy: str = ""
) -> np.ndarray:
    """Positions of labels among classes in any order.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
    classes : ndarray of shape (n_classes,)
    knower, remedy : str
        Subject of the error for an unknown label, and its remedy.

    Examples
    --------
    >>> label_positions(np.array(["b", "a"]), np.array(["b", "c", "a"]), "model")
    array([0, 2])
    """
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise InputError(
            f"y holds label(s) {unknown.tolist()} that the {knower} does not know; it "
            f"knows {classes.tolist()}.{remedy}"
        )
    order = np.argsort(classes)
    return order[np.searchsorted(classes, y, sorter=order)]


def interval_ends(coverage: float) -> tuple[float, float]:
    """Probabilities at the ends of a central interval.

    Examples
    --------
    >>> interval_ends(0.5)
    (0.25, 0.75)
    """
    if not 0 < coverage < 1:
        raise InputError(f"coverage is {coverage}, expected between 0 and 1.")
    return 0.5 - coverage / 2, 0.5 + coverage / 2
