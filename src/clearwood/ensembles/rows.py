"""Which rows a model refuses: what its library would not predict, neither do we."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from clearwood.ensembles.casts import FLOAT32_LIMIT
from clearwood.exceptions import InputError

if TYPE_CHECKING:
    from clearwood.ensembles.tree_ensemble import TreeEnsemble


def check_rows(X: np.ndarray, ensemble: TreeEnsemble) -> None:
    """Refuse missing and infinite values where the original refuses them.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_rows, n_features)
        Encoded rows.
    ensemble : TreeEnsemble

    Raises
    ------
    InputError
        Naming the first feature and row with such a value.
    """
    n = ensemble.n_features
    _refuse(
        X,
        ensemble,
        np.flatnonzero(~np.broadcast_to(ensemble.allows_missing, n)),
        np.isnan,
        "is missing (NaN)",
        "Fill the missing values as it was done before the model was fitted",
    )
    if not ensemble.allows_infinite:
        _refuse(
            X,
            ensemble,
            range(n),
            _is_above_float32 if ensemble.input_dtype == "float32" else np.isinf,
            f"is infinite or too large for {ensemble.input_dtype}",
            "Replace it by a finite number",
        )


def _is_above_float32(column: np.ndarray) -> np.ndarray:
    return np.abs(column) > FLOAT32_LIMIT


def _refuse(
    X: np.ndarray,
    ensemble: TreeEnsemble,
    columns: Iterable[int],
    is_bad: Callable[[np.ndarray], np.ndarray],
    found: str,
    remedy: str,
) -> None:
    # Column by column: no mask as large as the table.
    for d in columns:
        bad = np.flatnonzero(is_bad(X[:, d]))
        if bad.size:
            name = ensemble.features.names[d]
            raise InputError(
                f"Feature {name!r} {found} in row {bad[0]}, which {ensemble.source} "
                f"does not accept. {remedy}."
            )
