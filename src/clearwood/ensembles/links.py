"""Link functions of all supported ensembles, from raw scores to predictions."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Link = Literal[
    "identity",
    "exp",
    "sigmoid",
    "softplus",
    "signed_square",
    "logistic",
    "softmax",
    "one_vs_rest",
    "probability",
]
LINKS: tuple[str, ...] = get_args(Link)
REGRESSION_LINKS = ("identity", "exp", "sigmoid", "softplus", "signed_square")


def response(raw: np.ndarray, link: str, scale: float = 1.0) -> np.ndarray:
    """Convert raw scores into predictions or into one probability per class.

    Parameters
    ----------
    raw : ndarray of shape (n_rows, n_outputs)
        Raw scores. If they are float32, the link is computed in float32 too, as in the
        library that sums in float32 (XGBoost).
    link : str
        For values ``"identity"``, ``"exp"``, ``"sigmoid"`` (between 0 and 1),
        ``"softplus"`` (log(1 + exp x)) and ``"signed_square"`` (sign(x) x^2); for
        classes ``"logistic"`` (from one output the probabilities of two classes),
        ``"softmax"``, ``"one_vs_rest"`` (one logistic function per class, which do
        not sum to 1) and ``"probability"`` (raw scores already are probabilities).
    scale : float, default=1.0
        Factor on the raw scores before the logistic function or the softmax.

    Returns
    -------
    ndarray of float64, of shape (n_rows, n_outputs), or (n_rows, 2) for ``"logistic"``

    Examples
    --------
    >>> response(np.array([[0.0], [np.log(3)]]), "logistic")
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if scale != 1.0:
        raw = raw.dtype.type(scale) * raw
    if link == "logistic":
        positive = _logistic(raw)
        answer = np.hstack([1 - positive, positive])
    elif link == "softmax":
        answer = _softmax(raw)
    elif link in ("sigmoid", "one_vs_rest"):
        answer = _logistic(raw)
    elif link == "exp":
        answer = _exp(raw)
    elif link == "softplus":
        answer = np.logaddexp(0, raw)
    elif link == "signed_square":
        answer = np.sign(raw) * raw * raw
    else:
        answer = raw
    return answer.astype(np.float64, copy=False)


def _exp(raw: np.ndarray) -> np.ndarray:
    # Float32 is rounded once, as in C's expf; numpy's own may be a few ulp off.
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(raw, dtype=np.float64).astype(raw.dtype)


def _logistic(raw: np.ndarray) -> np.ndarray:
    if raw.dtype == np.float32:
        # XGBoost keeps the exponential finite and the denominator above 1.
        one, least = np.float32(1), np.float32(1e-16)
        return one / (_exp(np.minimum(-raw, np.float32(88.7))) + one + least)
    from scipy.special import expit

    return expit(raw)


def _softmax(raw: np.ndarray) -> np.ndarray:
    # Without the largest score of its row no exponential overflows.
    odds = _exp(raw - raw.max(axis=1, keepdims=True))
    total = odds.sum(axis=1, keepdims=True, dtype=np.float64)
    return odds / total.astype(raw.dtype)
