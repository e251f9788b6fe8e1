"""Binary series emitted by hidden states, with outputs (Krakovna, 5.3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clearwood._numeric import as_generator
from clearwood.datasets._synthetic import IntArray, RandomState, check_count
from clearwood.exceptions import InputError

CHANGES = np.array(
    [
        [0.5, 0.5, 0.0, 0.0, 0.0],
        [0.25, 0.5, 0.25, 0.0, 0.0],
        [0.0, 0.25, 0.5, 0.25, 0.0],
        [0.0, 0.0, 0.25, 0.5, 0.25],
        [0.0, 0.0, 0.0, 0.5, 0.5],
    ]
)
"""Transition matrix, from the states in rows; the thesis prints the transpose."""

EMISSION = np.array([[0.5 * (k <= d < k + 3) for d in range(7)] for k in range(5)])
STATIONARY = np.array([1, 2, 2, 2, 1]) / 8
OF_STATE = np.array([0, 0, 5, 0, 0])
OF_COLUMNS = np.array([0, 0, 2, 0, 2, 0, 0])
BIAS = -2.0


def make_hidden_series(
    n_steps: int = 1000,
    *,
    output: str = "both",
    random_state: RandomState = None,
) -> tuple[IntArray, IntArray, IntArray]:
    """Generate seven binary series and an output from a chain of five hidden states.

    Each state emits three of the flags with probability one half. An output is more
    probable in the middle state, where the third or the fifth flag is 1, or both.

    Parameters
    ----------
    n_steps : int, default=1000
        Length of the series.
    output : {"state", "flags", "both"}, default="both"
        What the output depends on: D_s, D_x and D_sx of the thesis. A hidden Markov
        model should fit the first easily, a recurrent network the second.
    random_state : int, RandomState, Generator or None, default=None
        An integer gives the same data in every call, and the same states and flags
        whatever the output depends on.

    Returns
    -------
    X : ndarray of shape (n_steps, 7)
        Flags, 0 or 1.
    y : ndarray of shape (n_steps,)
        Outputs, 0 or 1.
    states : ndarray of shape (n_steps,)
        Hidden states, 0 to 4.

    Notes
    -----
    The bias is -2, as the losses in the thesis imply; its text has +2. With the true
    parameters, and X up to the same step, outputs are predicted with a mean
    log-likelihood of -0.4704 ("state"), -0.5201 ("both") and -0.5292 ("flags").

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, section 5.3.2.

    Examples
    --------
    >>> from clearwood.datasets import make_hidden_series
    >>> X, y, states = make_hidden_series(6, random_state=0)
    >>> X.shape, states.tolist()
    ((6, 7), [3, 3, 2, 1, 2, 3])
    """
    check_count(n_steps, "n_steps", "steps", 1)
    if output not in ("state", "flags", "both"):
        raise InputError(f"output is {output!r}; pass 'state', 'flags' or 'both'.")
    rng = as_generator(random_state)
    states = _walk(rng.random(n_steps))
    X = (rng.random((n_steps, 7)) < EMISSION[states]).astype(np.int64)
    logit = np.full(n_steps, BIAS)
    if output != "flags":
        logit += OF_STATE[states]
    if output != "state":
        logit += X @ OF_COLUMNS
    y = (rng.random(n_steps) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    return X, y, states


def _walk(uniform: NDArray[np.float64]) -> IntArray:
    """States of the chain, started from its stationary distribution."""
    states = np.empty(len(uniform), dtype=np.int64)
    ends, chances = CHANGES.cumsum(axis=1), STATIONARY.cumsum()
    for t, u in enumerate(uniform):
        states[t] = np.searchsorted(chances, u, side="right")
        chances = ends[states[t]]
    return states
