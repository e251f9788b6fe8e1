"""Validation of the draws and predictions that foreign code returns."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from clearwood._estimators import take_rows
from clearwood._warned_once import users_level
from clearwood.columns.cells import unwrapped
from clearwood.ensembles.own_predictions import overriding
from clearwood.exceptions import InputError, OwnPredictionsWarning
from clearwood.references.base import Reference, check_noise
from clearwood.references.tabular import as_fitted, columns_read_by, count_rows

NEAR, ON_GPU = 1e-6, 1e-3
"""Relative tolerances for rounding: networks compute in float32, GPUs in TF32."""

MOST_ROWS = 300
"""Most rows on which a model is compared with its scikit-learn class."""


def check_draws(values: Any, reference: Reference, n_rows: int) -> np.ndarray:
    """Validate draws for the task of a reference, and convert them to floats.

    Parameters
    ----------
    values : array-like
        As returned by foreign code.
    reference : Reference
    n_rows : int

    Returns
    -------
    ndarray of shape (n_draws, n_rows) or (n_draws, n_rows, n_outputs)
        Probabilities sum to one. Of two classes, those of the second suffice, and of a
        single horizon no dimension of its own.
    """
    expected: tuple[int, ...] = (reference.n_draws, n_rows)
    if reference.classes is not None or reference.horizons:
        expected += (reference.n_outputs,)
    try:
        draws = np.asarray(unwrapped(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(
            reference, "are not numbers, or not of one shape", expected
        ) from None
    if draws.shape == expected[:2] and expected[2:] == (1,):
        draws = draws[..., None]
    if draws.shape == expected[:2] and expected[2:] == (2,) and not reference.horizons:
        draws = np.stack([1 - draws, draws], axis=2)
    if draws.shape != expected:
        raise _refused(reference, f"have shape {draws.shape}", expected)
    if not np.isfinite(draws).all():
        raise _refused(reference, "hold NaN or infinity", expected)
    if reference.task == "regression":
        return draws
    if (draws < 0).any():
        raise _refused(reference, f"go down to {draws.min():g}", expected)
    if reference.horizons:
        # Each may exceed the one before it by rounding only.
        falling = np.minimum.accumulate(np.minimum(draws, 1.0), axis=2)
        if (draws - falling > 1e-6).any():
            raise _refused(reference, "exceed 1 or rise with time", expected)
        return falling
    if reference.classes is None:
        return draws
    totals = draws.sum(axis=-1, keepdims=True)
    if (np.abs(totals - 1) > 1e-4).any():
        off = float(totals.flat[np.abs(totals - 1).argmax()])
        raise _refused(reference, f"sum to {off:g} over the classes", expected)
    return draws / totals


def _refused(reference: Reference, found: str, expected: tuple[int, ...]) -> InputError:
    what = {
        "regression": "finite means",
        "classification": "probabilities, which sum to 1 over the classes",
        "counts": "finite rates, not negative",
        "survival": "probabilities of survival, which fall from horizon to horizon",
    }[reference.task]
    return InputError(
        f"The draws of {reference.description} {found}; expected {what}, of shape "
        f"{expected} with all draws together. Correct what the model returns."
    )


def check_laws(reference: Reference, X: Any) -> None:
    """Check draws on a few rows, and again on fewer rows in another order.

    Raises
    ------
    InputError
        A draw is not the same function in both calls, or is of the wrong form.
    """
    n_rows = min(count_rows(X), 6)
    some = np.arange(n_rows)
    other = some[: (n_rows + 1) // 2][::-1]
    first = check_draws(reference.draws(take_rows(X, some)), reference, n_rows)
    again = check_draws(reference.draws(take_rows(X, other)), reference, len(other))
    scale = np.abs(first).max(initial=0.0)
    near = _rounding()
    if not np.allclose(first[:, other], again, rtol=near, atol=near * scale):
        raise InputError(
            f"The draws of {reference.description} differ between two calls with the "
            "same rows. Draw l must be one function: its random numbers must come "
            "from a generator with seed l, and must not depend on other rows (as in "
            "batch normalisation during training)."
        )
    check_noise(reference.noise_variance(take_rows(X, some)), reference.n_draws, n_rows)


def _rounding() -> float:
    """Tolerance of foreign code, which may use a GPU if torch has started one."""
    torch = sys.modules.get("torch")
    is_used = torch is not None and torch.cuda.is_initialized()
    return ON_GPU if is_used else NEAR


# Models that override their class


def method_of_its_own(model: Any, X: Any) -> str | None:
    """Find an overriding method that predicts differently from scikit-learn's own.

    Parameters
    ----------
    model : fitted model
        Also in a search or a pipeline, each of which may have such a method.
    X : array, frame or None
        Rows to compare on; by default random ones.

    Returns
    -------
    str or None
        Description of the method; None if all predictions agree.
    """
    features = columns_read_by(model, X)
    if X is None:
        shape = (MOST_ROWS, features.n_features if features else 1)
        X = np.random.default_rng(0).normal(size=shape)
    X = as_fitted(take_rows(X, slice(MOST_ROWS)), features)
    method = "predict_proba" if hasattr(model, "classes_") else "predict"
    for part, rows in _parts(model, X):
        found = overriding(part, method)
        if found is None:
            continue
        for kind in type(part).__mro__:
            if kind.__module__.startswith("sklearn.") and method in vars(kind):
                expected = vars(kind)[method].__get__(part, kind)(rows)
                if not _same(getattr(part, method)(rows), expected):
                    return found
                break
    return None


def _parts(model: Any, X: Any) -> Iterator[tuple[Any, Any]]:
    """A model and the models inside it, with the rows that each receives."""
    yield model, X
    for name in ("best_estimator_", "estimator"):
        if hasattr(model, name) and hasattr(getattr(model, name), "predict"):
            yield from _parts(getattr(model, name), X)
            return
    if hasattr(model, "steps"):
        yield from _parts(model[-1], model[:-1].transform(X) if model[:-1] else X)


def _same(a: Any, b: Any) -> bool:
    scale = np.abs(b).max(initial=0.0)
    return np.shape(a) == np.shape(b) and np.allclose(a, b, NEAR, NEAR * scale)


def warn_of_labels(reference: Reference, X: Any) -> None:
    """Warn if a model predicts another class than the most probable one."""
    model = getattr(reference, "model", None)
    if reference.classes is None or model is None:
        return
    rows = X if count_rows(X) <= MOST_ROWS else take_rows(X, slice(MOST_ROWS))
    own = np.asarray(model.predict(as_fitted(rows, columns_read_by(model, X))))
    differ = np.count_nonzero(own.reshape(-1) != reference.predict(rows))
    if differ:
        warnings.warn(
            f"{type(model).__name__} does not predict the most probable class in "
            f"{differ} of {count_rows(rows)} rows. References and projections use its "
            "probabilities; to approximate its predicted classes, pass the model to "
            "simplify.",
            OwnPredictionsWarning,
            stacklevel=users_level(),
        )
