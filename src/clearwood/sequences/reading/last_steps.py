"""Predictions from the last few steps alone: baselines for models of states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.kinds import KINDS
from clearwood.sequences.recurrent.fidelity import CONSTANT, LAST
from clearwood.sequences.recurrent.trace import last_steps, lengths_of_first, step_age
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import symbol_cells, symbol_codes

ALIKE, LINE = "all steps alike", "line through the last step"


class StepsHeldOut(NamedTuple):
    """Training sequences, and held-out ones or their ends.

    Attributes
    ----------
    X_train, X_test
    lengths_train, lengths_test : list of int
    is_held_out : ndarray of bool of shape (n_steps,)
    """

    X_train: Any
    X_test: Any
    lengths_train: list[int]
    lengths_test: list[int]
    is_held_out: np.ndarray


def hold_out_last(X: Any, lengths: Sequence[int] | None, share: float) -> StepsHeldOut:
    """Hold out the last of the sequences, or the end of a single one.

    Parameters
    ----------
    X, lengths
        As for ``HiddenMarkovModel.fit``; two steps or more.
    share : float
        Share of the steps that is held out.

    Examples
    --------
    >>> hold_out_last("aabbab", [2, 2, 2], 0.3)[:4]
    ('aabb', 'ab', [2, 2], [2])
    """
    sizes = np.diff(sequence_bounds(lengths, len(X)))
    is_held_out = last_steps(sizes, share)
    n = int((~is_held_out).sum())
    after = lengths_of_first(sizes[::-1], len(is_held_out) - n)[::-1]
    return StepsHeldOut(X[:n], X[n:], lengths_of_first(sizes, n), after, is_held_out)


def evaluate_states(
    model: HiddenMarkovModel,
    X: Any,
    lengths: Sequence[int] | None,
    is_held_out: np.ndarray,
) -> dict[str, float]:
    """Mean log-likelihood of held-out steps, given all those before them.

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted to the steps that are not held out.
    X, lengths
        All steps.
    is_held_out : ndarray of bool of shape (n_steps,)

    Returns
    -------
    dict of str to float
        Of the model, under ``"states"``; of tables of the last symbols, or of a single
        state and, for numbers, a linear function of the previous step.
    """
    X, lengths = KINDS[model.emission].end_to_end(X, lengths)
    own = {"states": model.step_log_likelihood(X, lengths)}
    if model.emission == "categorical":
        codes = symbol_codes(symbol_cells(X), model.symbols_)
        starts = sequence_bounds(lengths, len(codes))[:-1]
        tables = symbol_log_likelihoods(
            codes, starts, is_held_out, len(model.symbols_), len(LAST)
        )
        own |= dict(zip((CONSTANT, *LAST), tables))
        evaluated = is_held_out & ~np.isnan(codes)
    else:
        own |= _without_states(model, X, lengths, is_held_out)
        evaluated = is_held_out
    return {name: float(found[evaluated].mean()) for name, found in own.items()}


def _without_states(
    model: HiddenMarkovModel, X: Any, lengths: Any, is_held_out: np.ndarray
) -> dict[str, np.ndarray]:
    """A single state; and the normal distribution of two steps, given the first."""
    kind, n = model.emission, int((~is_held_out).sum())

    def single(rows: Any) -> HiddenMarkovModel:
        return HiddenMarkovModel(
            1, emission=kind, algorithm="em", n_init=1, random_state=0
        ).fit(rows)

    alike = single(X[:n])
    found = {ALIKE: alike.step_log_likelihood(X)}
    if kind == "gaussian" and n > 1:
        values = np.asarray(X, dtype=np.float64)
        bounds = sequence_bounds(lengths, len(values))
        before = np.roll(values, 1, axis=0)
        before[bounds[:-1]] = np.nan
        pairs = np.hstack([before, values])
        nothing = np.full_like(values, np.nan)
        both = single(pairs[:n])
        found[LINE] = both.step_log_likelihood(pairs) - both.step_log_likelihood(
            np.hstack([before, nothing])
        )
    return found


def symbol_log_likelihoods(
    codes: np.ndarray,
    starts: np.ndarray,
    is_held_out: np.ndarray,
    n_symbols: int,
    longest: int,
) -> Iterator[np.ndarray]:
    """Log probability of every symbol given the last 0, 1, ... before it.

    Counts of the training steps, interpolated with the table of one symbol less where
    there are few (Witten and Bell, 1991). After a missing symbol, or at the start of a
    sequence, only the shorter table is used.

    Parameters
    ----------
    codes : ndarray of shape (n_steps,)
        NaN for a missing symbol, -1 for one not seen in training.
    starts : ndarray of int
        First steps of sequences.
    is_held_out : ndarray of bool of shape (n_steps,)
    n_symbols, longest : int

    Examples
    --------
    >>> codes = np.array([0.0, 1.0] * 20)
    >>> held_out = np.arange(40) >= 30
    >>> tables = symbol_log_likelihoods(codes, np.array([0]), held_out, 2, 1)
    >>> [round(float(found[held_out].mean()), 2) for found in tables]
    [-0.71, -0.03]
    """
    is_there = ~np.isnan(codes)
    # One additional symbol stands for all unseen ones, and one for missing ones.
    symbol = np.where(is_there, np.where(codes < 0, n_symbols, codes), n_symbols + 1)
    symbol = symbol.astype(np.int64)
    age = step_age(starts, len(symbol))
    p = np.full(len(symbol), 1.0 / (n_symbols + 1))
    context, whole = np.zeros(len(symbol), dtype=np.int64), np.ones(len(p), dtype=bool)
    for back in range(longest + 1):
        if back:
            before = np.roll(symbol, back)
            whole = whole & (age >= back) & (before <= n_symbols)
            key = context * (n_symbols + 2) + before
            context = np.unique(key, return_inverse=True)[1]
        counted = whole & is_there & ~is_held_out
        pairs, pair = np.unique(context * (n_symbols + 2) + symbol, return_inverse=True)
        times = np.bincount(pair, counted)
        total = np.bincount(context, counted)[context]
        kinds = np.bincount(pairs // (n_symbols + 2), times > 0)[context]
        p = np.where(
            whole & (total > 0),
            (times[pair] + kinds * p) / np.maximum(total + kinds, 1.0),
            p,
        )
        yield np.log(p)
