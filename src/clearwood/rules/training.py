"""The rows that rules are fitted to, and what is said of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Training(NamedTuple):
    """What the rules are fitted to and described by.

    Attributes
    ----------
    encoded : ndarray of shape (n_samples, n_features)
        The rows.
    taught : ndarray of shape (n_samples,) or (n_samples, n_classes)
        What the rules shall say: values, or class probabilities.
    labels : ndarray of shape (n_samples,) or None
        True values, or true positions in ``classes``; for description only.
    teacher : ndarray of shape (n_samples,)
        What the model says: values, or positions in ``classes``. The same as
        ``taught`` says unless the rules are fitted to labels.
    weight : ndarray of shape (n_samples,)
        Row weights.
    """

    encoded: np.ndarray
    taught: np.ndarray
    labels: np.ndarray | None
    weight: np.ndarray
    teacher: np.ndarray


def together(training: Training, made: Training) -> Training:
    """All rows, the made ones last; labels are not known of these."""
    joined = {
        name: np.concatenate([getattr(training, name), getattr(made, name)])
        for name in ("encoded", "taught", "weight", "teacher")
    }
    return Training(labels=None, **joined)
