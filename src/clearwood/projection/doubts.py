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

LEAST_FOLLOWED = 0.1
"""Least share of variation that a proxy must reproduce; that of a constant is zero."""

ROUNDING = {1: 1e-14, 2: 1e-6}
"""Relative differences of values, and of probabilities, whose squares and divergences
are rounding errors of zero."""


def distance(said: np.ndarray, proxy: np.ndarray, weight: np.ndarray) -> float:
    """Divergence of a proxy from the mean predictions of a reference.

    For values and rates the mean squared difference, for probabilities the
    Kullback-Leibler divergence.
    """
    if said.ndim == 1:
        return float(np.average((said - proxy) ** 2, weights=weight))
    logs = xlogy(said, said) - xlogy(said, np.maximum(proxy, 1e-300))
    return float(np.average(logs.sum(axis=1), weights=weight))


def share_followed(said: np.ndarray, proxy: np.ndarray, weight: np.ndarray) -> float:
    """Share of the variation of the reference's predictions that a proxy reproduces.

    For values and rates it is R2; for probabilities its analogue for divergences. One
    where the predictions of the reference are constant.

    Examples
    --------
    >>> said = np.array([1.0, 2.0, 6.0])
    >>> share_followed(said, np.full(3, 3.0), np.ones(3))
    0.0
    """
    if np.ptp(said, axis=0).max() <= ROUNDING[said.ndim] * np.abs(said).max():
        return 1.0
    constant = np.broadcast_to(np.average(said, axis=0, weights=weight), said.shape)
    return 1.0 - distance(said, proxy, weight) / distance(said, constant, weight)


def remedy(proxy: Any, size: int) -> str:
    """Suggestion where a tree, or list, of this size fits poorly."""
    words, (asked, _) = proxy._words, proxy._sizes
    if size < proxy.size_path_.size[-1]:
        return (
            f"Let less be lost (tolerance, alpha), or say how many {words.lines} "
            f"({asked})."
        )
    if size < proxy._most_lines:
        return (
            f"No larger {words.proxy} was found; allow fewer rows in each {words.line} "
            f"(min_samples_leaf={proxy.min_samples_leaf}), or project on more rows."
        )
    return f"Allow more {words.lines} ({' or '.join(proxy._sizes)})."


def warn_of_doubts(
    followed: float,
    said: np.ndarray,
    proxy: np.ndarray,
    labels: np.ndarray | None,
    classes: Sequence[Any],
    min_samples_leaf: int,
    remedy: str,
) -> str:
    """Warn, in a fit, of failed diagnostics of the proxy; returned as one text.

    Parameters
    ----------
    followed : float
        See :func:`share_followed`.
    said, proxy : ndarray of shape (n_rows,) or (n_rows, n_classes)
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
    poor, order = [], None
    if followed < LEAST_FOLLOWED:
        poor.append(
            f"The proxy follows {percent_text(max(followed, 0.0))} of what the "
            "reference says of some rows and not of others, which is hardly more than "
            f"a constant does: do not read it as an explanation. {remedy}"
        )
    if len(classes):
        taught, told = said.argmax(axis=1), proxy.argmax(axis=1)
        rows = np.bincount(taught, minlength=len(classes))
        left_out = never_predicted(classes, told, rows, min_samples_leaf)
        if left_out and not poor:
            poor.append(f"The proxy never predicts {left_out}. {remedy}")
        if labels is not None:
            order = likelier_order(classes, labels, taught)
    for text in poor:
        warnings.warn(text, PoorFidelityWarning, stacklevel=4)
    if order is not None:
        poor.append(f"{order[1]}: give the reference its classes in this order.")
        warnings.warn(poor[-1], ClassOrderWarning, stacklevel=4)
    return " ".join(poor)
