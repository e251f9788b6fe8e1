"""Classes of vectors, which stand for symbols or labels in an automaton."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import as_generator
from clearwood._words.numbers import short_text
from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError, ModelError
from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.fidelity import ALONE, READ
from clearwood.sequences.recurrent.trace import (
    NetworkTrace,
    Reader,
    as_arrays,
    encode_sequences,
    last_steps,
    read_steps,
)

N_CLASSES, MOST_COLUMNS, FAR = 12, 2, 0.5
"""Default number of classes; number of columns in the name of one, and the distance
from the mean, in standard deviations, from which a column is named."""

NARROWEST = 0.0025
"""Least variance within classes of outputs, as a share of all: smaller differences
hardly count."""


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
) -> tuple[list[np.ndarray], tuple[str, ...], np.ndarray]:
    """Classes of the steps of sequences, with their names and their mean vectors.

    The nearest of the centres that k-means finds on training steps, standardized.

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
    return parts, names, centres * spread + mean


class Encoded(NamedTuple):
    """Input of the network, its codes, their names and, of numbers, their means."""

    cells: list[np.ndarray]
    codes: list[np.ndarray]
    names: tuple[str, ...]
    centres: np.ndarray | None


def encoded(
    sequences: Any, symbols: Any, test_size: float, random_state: Any
) -> Encoded:
    """Codes of symbols, or of classes of similar rows of numbers."""
    numbers = number_sequences(sequences)
    if numbers is not None:
        n_classes = N_CLASSES if symbols is None else symbols
        if not isinstance(n_classes, Integral) or n_classes < 1:
            raise InputError(
                "Sequences hold rows of numbers; symbols is then the number of their "
                f"classes, found {symbols!r}."
            )
        seed = int(as_generator(random_state).integers(2**31))
        return Encoded(
            numbers, *input_classes(numbers, int(n_classes), test_size, seed)
        )
    if isinstance(symbols, Integral):
        raise InputError("symbols is a number; that is for sequences of numbers only.")
    codes = encode_sequences(sequences, symbols)
    largest = max(int(own.max()) for own in codes)
    known = range(largest + 1) if symbols is None else symbols
    if largest >= len(known):
        raise InputError(f"Code {largest} is none of the {len(known)} symbols.")
    return Encoded(codes, codes, tuple(map(str, known)), None)


class OutputClasses(NamedTuple):
    """Numeric outputs of a network, and their classes, which stand for labels.

    Attributes
    ----------
    outputs : ndarray of shape (n_steps, n_columns)
    centres : ndarray of shape (n_classes, n_columns)
    names : tuple of str
    reader : callable
        Of the same network; its logits are those of a mixture of normals, one around
        each centre, with the deviation of the outputs within classes.
    """

    outputs: np.ndarray
    centres: np.ndarray
    names: tuple[str, ...]
    reader: Reader

    def explained(
        self, trace: NetworkTrace, states: np.ndarray, automaton: StateAutomaton
    ) -> tuple[np.ndarray, dict[str, float]]:
        """Mean in each state read, and mean R2 of the columns on held-out steps."""
        training, rows = ~trace.is_held_out, self.outputs[trace.is_held_out]
        total = ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
        total[total == 0] = 1.0
        r2, values = dict[str, float](), dict[str, np.ndarray]()
        alone = automaton.run(trace.codes, trace.starts)
        for name, own in ((READ, states), (ALONE, alone)):
            times = np.bincount(own[training], minlength=automaton.n_states)
            mean = np.zeros((len(times), rows.shape[1]))
            np.add.at(mean, own[training], self.outputs[training])
            mean /= np.maximum(times, 1)[:, None]
            mean[times == 0] = self.outputs[training].mean(axis=0)
            lost = ((rows - mean[own[trace.is_held_out]]) ** 2).sum(axis=0)
            r2[name], values[name] = 1.0 - float((lost / total).mean()), mean
        return values[READ], r2


def output_classes(
    reader: Reader,
    cells: Sequence[np.ndarray],
    n_classes: int,
    test_size: float,
    seed: int,
) -> OutputClasses:
    """Classes of a network's outputs in training, by k-means; single ones ascend."""
    if n_classes < 2:
        raise InputError(
            f"labels is {n_classes}; of numeric outputs there are two classes or more."
        )
    outputs = [read_steps(reader, own)[1].astype(np.float64) for own in cells]
    rows = np.concatenate(outputs)
    if not np.isfinite(rows).all():
        raise ModelError("The network returns NaN or infinity; it may have diverged.")
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    for size in range(2, n_classes + 1):
        codes, names, centres = input_classes(outputs, size, test_size, seed)
        gap = rows - centres[np.concatenate(codes)]
        apart = np.mean((gap / scale) ** 2)
        if apart <= NARROWEST:
            break
    width = scale * np.sqrt(max(apart, NARROWEST))
    if rows.shape[1] == 1:
        centres = np.sort(centres, axis=0)
        names = tuple(short_text(float(own)) for own in centres[:, 0])

    def classified(own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        states, values = as_arrays(reader(own))
        if values.ndim < 2:
            return states, values
        far = (values[:, None, :] - centres) / width
        return states, -0.5 * (far**2).sum(axis=2)

    return OutputClasses(rows, centres, names, classified)


def _deviations(centre: np.ndarray) -> str:
    """Columns that are farthest from their means, and their directions."""
    order = np.argsort(-np.abs(centre), kind="stable")[:MOST_COLUMNS]
    far = [
        f"x{d}{'↑' if centre[d] > 0 else '↓'}" for d in order if abs(centre[d]) > FAR
    ]
    return f":{','.join(far)}" if far else ""
