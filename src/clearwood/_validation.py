"""Checks of tables and targets that all estimators share."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._features import check_distinct, is_frame, is_missing
from clearwood.exceptions import InputError


def check_table(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check a table for an estimator; set or compare its columns.

    Frames are left as they are, so that text and category columns stay what they
    are; anything else becomes an array of numbers. Whether missing values are
    allowed is for the ensemble to say.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and, from a frame, ``feature_names_in_``.
    X : array-like or frame of shape (n_samples, n_features)
    reset : bool
        True in ``fit``; False to compare with what ``fit`` saw.

    Returns
    -------
    frame or ndarray
    """
    from sklearn.utils.validation import validate_data

    if not is_frame(X):
        return validate_data(
            estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False
        )
    check_distinct([str(name) for name in X.columns])
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise InputError(
            f"Found a table with {X.shape[0]} sample(s) and {X.shape[1]} "
            "feature(s); at least one of each is required."
        )
    return X


def check_target(
    y: Any, n_samples: int, *, numeric: bool, name: str = "y"
) -> np.ndarray:
    """Check a target: one value per row, none missing, numbers for regression."""
    from sklearn.utils import column_or_1d
    from sklearn.utils.multiclass import check_classification_targets

    # A list becomes an array of one type, in which a missing label would be text.
    given = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else None
    values = column_or_1d(y, warn=True)
    if len(values) != n_samples:
        raise InputError(
            f"X has {n_samples} samples but {name} has {len(values)} (inconsistent "
            "numbers of samples); give one value per row."
        )
    cells = (values if given is None else given.reshape(-1)).tolist()
    missing = np.array([is_missing(v) for v in cells], dtype=bool)
    if missing.any():
        raise InputError(
            f"Input {name} contains NaN or None in {missing.sum()} row(s), the first "
            f"is row {int(missing.argmax())}; drop rows without a target."
        )
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(f"Input {name} contains infinity; drop or correct these rows.")
    if not numeric:
        check_classification_targets(values)
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


def check_weight(sample_weight: Any, n_samples: int) -> np.ndarray:
    """Row weights: finite, not negative, not all zero; ones where none are given."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
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
