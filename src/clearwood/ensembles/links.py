"""From raw sums to what a model predicts: the links of all ensembles we read."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Link = Literal["identity", "exp", "logistic", "softmax", "probability"]
LINKS: tuple[str, ...] = get_args(Link)
REGRESSION_LINKS = ("identity", "exp")


def response(raw: np.ndarray, link: str, scale: float = 1.0) -> np.ndarray:
    """Turn raw sums into predictions or into one probability per class.

    Parameters
    ----------
    raw : ndarray of shape (n_rows, n_outputs)
        Raw sums.
    link : {"identity", "exp", "logistic", "softmax", "probability"}
        ``"probability"`` means that the sums already are probabilities; ``"logistic"``
        turns one output into the probabilities of two classes.
    scale : float, default=1.0
        Factor on the raw sums before the logistic function or the softmax.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs), or (n_rows, 2) for ``"logistic"``

    Examples
    --------
    >>> response(np.array([[0.0], [np.log(3)]]), "logistic")
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if link in ("identity", "probability"):
        return raw
    if link == "exp":
        return np.exp(raw)
    if link == "logistic":
        from scipy.special import expit

        positive = expit(scale * raw)
        return np.hstack([1 - positive, positive])
    # Softmax; without its row's largest score no exponential overflows.
    score = scale * raw
    odds = np.exp(score - score.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)
