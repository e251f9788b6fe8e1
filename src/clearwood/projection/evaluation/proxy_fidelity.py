"""Diagnostics of a proxy as an explanation of its reference, in sentences."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import xlogy

from clearwood._words.numbers import percent_text
from clearwood.exceptions import ClassOrderWarning, PoorFidelityWarning
from clearwood.rules.scores import likelier_order, never_predicted

LEAST_EXPLAINED = 0.1
"""Least share of variation that a proxy must reproduce; that of a constant is zero."""

ROUNDING = {1: 1e-14, 2: 1e-6}
"""Relative differences of values, and of probabilities, whose squares and divergences
are rounding errors of zero."""


def divergence(reference: np.ndarray, proxy: np.ndarray, weight: np.ndarray) -> float:
    """Divergence of a proxy from the mean predictions of a reference.

    For values and rates the mean squared difference, for probabilities the
    Kullback-Leibler divergence.
    """
    if reference.ndim == 1:
        return float(np.average((reference - proxy) ** 2, weights=weight))
    logs = xlogy(reference, reference) - xlogy(reference, np.maximum(proxy, 1e-300))
    # Rounding may make it negative.
    return max(0.0, float(np.average(logs.sum(axis=1), weights=weight)))


def explained_share(
    reference: np.ndarray, proxy: np.ndarray, weight: np.ndarray
) -> float:
    """Share of the variation of the reference's predictions that a proxy reproduces.

    For values and rates it is R2; for probabilities its analogue for divergences. One
    where the predictions of the reference are constant.

    Examples
    --------
    >>> reference = np.array([1.0, 2.0, 6.0])
    >>> explained_share(reference, np.full(3, 3.0), np.ones(3))
    0.0
    """
    least = ROUNDING[reference.ndim] * np.abs(reference).max()
    if np.ptp(reference, axis=0).max() <= least:
        return 1.0
    mean = np.average(reference, axis=0, weights=weight)
    constant = np.broadcast_to(mean, reference.shape)
    return 1.0 - divergence(reference, proxy, weight) / divergence(
        reference, constant, weight
    )


def remedy(proxy: Any, size: int) -> str:
    """Suggestion where a tree, or list, of this size fits poorly."""
    words, (size_parameter, _) = proxy._words, proxy._sizes
    if size < proxy.size_path_.size[-1]:
        return (
            f"Lower tolerance or alpha, or set the number of {words.lines} "
            f"({size_parameter})."
        )
    if size < proxy._max_size:
        return (
            f"No larger {words.proxy} was found; allow fewer rows in each {words.line} "
            f"(min_samples_leaf={proxy.min_samples_leaf_}), or project on more rows."
        )
    return f"Allow more {words.lines} ({' or '.join(proxy._sizes)})."


def warn_of_poor_fit(
    fidelity: float,
    reference: np.ndarray,
    proxy: np.ndarray,
    labels: np.ndarray | None,
    classes: Sequence[Any],
    min_samples_leaf: int,
    remedy: str,
) -> str:
    """Warn, in a fit, of failed diagnostics of the proxy; returns them as one text.

    Parameters
    ----------
    fidelity : float
        See :func:`explained_share`.
    reference, proxy : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Predictions of reference and proxy for the training rows.
    labels : ndarray of int of shape (n_rows,) or None
        Positions of the true labels in ``classes``, if known.
    classes : sequence
        Empty in regression.
    min_samples_leaf : int
        A class of fewer rows may be left out.
    remedy : str
        Suggestion to include.
    """
    messages, order = [], None
    if fidelity < LEAST_EXPLAINED:
        messages.append(
            f"The proxy explains {percent_text(max(fidelity, 0.0))} of the variation "
            "of the reference's predictions, hardly more than a constant: do not "
            f"interpret it as an explanation of the reference. {remedy}"
        )
    if len(classes):
        target, predicted = reference.argmax(axis=1), proxy.argmax(axis=1)
        rows = np.bincount(target, minlength=len(classes))
        left_out = never_predicted(classes, predicted, rows >= min_samples_leaf, rows)
        if left_out and not messages:
            messages.append(f"The proxy never predicts {left_out}. {remedy}")
        if labels is not None:
            order = likelier_order(classes, labels, target)
    for text in messages:
        warnings.warn(text, PoorFidelityWarning, stacklevel=4)
    if order is not None:
        messages.append(f"{order[1]}: pass the reference its classes in this order.")
        warnings.warn(messages[-1], ClassOrderWarning, stacklevel=4)
    return " ".join(messages)
