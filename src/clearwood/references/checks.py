"""What comes back from foreign code is looked at before it is believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._cells import unmasked
from clearwood._estimators import take_rows
from clearwood.exceptions import InputError
from clearwood.references.base import Reference, check_noise
from clearwood.references.tabular import count_rows

NEAR = 1e-6
"""Relative difference that rounding may make: networks compute in float32."""


def check_draws(values: Any, reference: Reference, n_rows: int) -> np.ndarray:
    """Draws as floats, if they can be what a reference of its task says.

    Parameters
    ----------
    values : array-like
        As foreign code gave them.
    reference : Reference
    n_rows : int

    Returns
    -------
    ndarray of shape (n_draws, n_rows) or (n_draws, n_rows, n_classes)
        Probabilities sum to one as well as floats do.
    """
    expected: tuple[int, ...] = (reference.n_draws, n_rows)
    if reference.classes is not None:
        expected += (len(reference.classes),)
    try:
        draws = np.asarray(unmasked(values), dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(
            reference, "are not numbers, or not of one shape", expected
        ) from None
    if draws.shape != expected:
        raise _refused(reference, f"have shape {draws.shape}", expected)
    if not np.isfinite(draws).all():
        raise _refused(reference, "hold NaN or infinity", expected)
    if reference.task == "regression":
        return draws
    if (draws < 0).any():
        raise _refused(reference, f"go down to {draws.min():g}", expected)
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
    }[reference.task]
    return InputError(
        f"The draws of {reference.description} {found}; expected {what}, of shape "
        f"{expected} with all draws together. Correct what the model returns."
    )


def check_laws(reference: Reference, X: Any) -> None:
    """Ask about a few rows twice, the second time fewer and in another order.

    Raises
    ------
    InputError
        A draw is not the same function in both calls, or has not the form it should.
    """
    n_rows = min(count_rows(X), 6)
    some = np.arange(n_rows)
    other = some[: (n_rows + 1) // 2][::-1]
    first = check_draws(reference.draws(take_rows(X, some)), reference, n_rows)
    again = check_draws(reference.draws(take_rows(X, other)), reference, len(other))
    scale = np.abs(first).max(initial=0.0)
    if not np.allclose(first[:, other], again, rtol=NEAR, atol=NEAR * scale):
        raise InputError(
            f"The draws of {reference.description} differ between two calls with the "
            "same rows. Draw l has to be one function: it may take its random numbers "
            "only from a generator that is seeded by l, and must not look at the other "
            "rows (as batch normalisation in training does)."
        )
    check_noise(reference.noise_variance(take_rows(X, some)), reference.n_draws, n_rows)
