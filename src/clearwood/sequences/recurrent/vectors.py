"""Classes of input vectors, which stand for symbols in an automaton."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError
from clearwood.sequences.recurrent.trace import last_steps

N_CLASSES, MOST_COLUMNS, FAR = 12, 2, 0.5
"""Default number of classes; number of columns in the name of one, and the distance
from the mean, in standard deviations, from which a column is named."""


class InputClasses(NamedTuple):
    """Sequences of numbers, and their classes.

    Attributes
    ----------
    cells : list of ndarray of shape (n_steps, n_columns)
    codes : list of ndarray of int of shape (n_steps,)
        Class of every step.
    centres : ndarray of shape (n_classes, n_columns)
        Mean vector of each class in training.
    names : tuple of str
    """

    cells: list[np.ndarray]
    codes: list[np.ndarray]
    centres: np.ndarray
    names: tuple[str, ...]


def number_sequences(sequences: Any) -> list[np.ndarray] | None:
    """Sequences of rows of numbers; None if they hold symbols.

    One array of shape (n_steps, n_columns) of floats, one of shape (n_sequences,
    n_steps, n_columns), or a list of the former.
    """
    parts = sequences if isinstance(sequences, list | tuple) else [sequences]
    if not parts or not all(hasattr(own, "shape") for own in parts):
        return None
    arrays = [np.asarray(unwrapped(own)) for own in parts]
    if len(arrays) == 1 and arrays[0].ndim == 3:
        arrays = list(arrays[0])
    if any(own.ndim != 2 or own.dtype.kind != "f" for own in arrays):
        return None
    if not all(np.isfinite(own).all() for own in arrays):
        raise InputError("Sequences hold NaN or infinity; pass finite numbers.")
    return arrays


def input_classes(
    cells: Sequence[np.ndarray], n_classes: int, test_size: float, seed: int
) -> InputClasses:
    """Nearest of the centres that k-means finds on training steps, standardized.

    Parameters
    ----------
    cells : sequence of ndarray of shape (n_steps, n_columns)
    n_classes, seed : int
    test_size : float
        Share of the steps that are held out.
    """
    from sklearn.cluster import KMeans

    lengths = np.array([len(own) for own in cells])
    rows = np.concatenate(cells)
    training = rows[~last_steps(lengths, test_size)]
    mean, spread = training.mean(axis=0), training.std(axis=0)
    spread[spread == 0] = 1.0
    n_distinct = len(np.unique(training, axis=0))
    clusters = KMeans(min(n_classes, n_distinct), n_init=4, random_state=seed)
    clusters.fit((training - mean) / spread)
    codes = clusters.predict((rows - mean) / spread).astype(np.int64)
    centres = clusters.cluster_centers_
    names = tuple(f"{i}{_deviations(own)}" for i, own in enumerate(centres))
    parts = np.split(codes, np.cumsum(lengths)[:-1])
    return InputClasses(list(cells), parts, centres * spread + mean, names)


def _deviations(centre: np.ndarray) -> str:
    """Columns that are farthest from their means, and their directions."""
    order = np.argsort(-np.abs(centre), kind="stable")[:MOST_COLUMNS]
    far = [
        f"x{d}{'↑' if centre[d] > 0 else '↓'}" for d in order if abs(centre[d]) > FAR
    ]
    return f" ({' '.join(far)})" if far else ""
