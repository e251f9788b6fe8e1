"""Next symbols predicted from states that were learned without them (Krakovna, 5.2.2).

States of a continuous model of a network's state vectors describe the network's
behaviour; the next symbol is predicted by a table of counts given the states.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clearwood.sequences.states_over_time import sequence_bounds


def symbol_table(
    weight: np.ndarray,
    symbols: np.ndarray,
    n_symbols: int,
    lengths: Sequence[int] | None = None,
    *,
    ahead: int = 0,
) -> np.ndarray:
    """Distribution of symbols in each state.

    Parameters
    ----------
    weight : ndarray of shape (n_steps, n_states)
        P(state) of every step; 0 and 1 for hard assignments.
    symbols : ndarray of int of shape (n_steps,)
    n_symbols : int
    lengths : sequence of int, optional
        Numbers of steps of the sequences.
    ahead : int, default=0
        0 counts the symbol of the same step, as in the thesis, whose prediction then
        applies a transition. 1 counts the symbol of the next step, which is predicted
        directly, and better.

    Returns
    -------
    ndarray of shape (n_states, n_symbols)
        Uniform for a state without steps.

    Examples
    --------
    >>> weight = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> symbol_table(weight, np.array([0, 1, 0]), 2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    >>> symbol_table(weight, np.array([0, 1, 0]), 2, ahead=1).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if ahead:
        before = np.ones(len(symbols), dtype=bool)
        before[sequence_bounds(lengths, len(symbols))[1:] - 1] = False
        weight, symbols = weight[before], symbols[np.flatnonzero(before) + 1]
    counts = np.zeros((n_symbols, weight.shape[1]))
    np.add.at(counts, symbols, weight)
    total = counts.sum(axis=0)
    shares: np.ndarray = np.where(total > 0, counts, 1.0 / n_symbols)
    return (shares / np.where(total > 0, total, 1.0)).T
