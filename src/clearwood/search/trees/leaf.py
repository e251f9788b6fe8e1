"""What a leaf loses, as a function of sums over its rows."""

from __future__ import annotations

from typing import NamedTuple

from clearwood._kernels.search_trees import SQUARES


class LeafLoss(NamedTuple):
    """What a leaf loses, as a function of sums over its rows.

    Attributes
    ----------
    kind : int
        ``SQUARES``: ``hard`` times the least score (the cost of the class that costs
        least) less ``soft`` times what the mean scores explain of their squares.
        ``LOG_VARIANCE``: the weight times the log of the variance, summed over pairs
        of scores, a value and its square. ``LOG_MEAN``: less the scores times the logs
        of their means: the cross-entropy of class probabilities, the deviance of a
        rate.
    hard, soft : float
    """

    kind: int
    hard: float = 0.0
    soft: float = 0.0


SQUARED_ERROR = LeafLoss(SQUARES, soft=1.0)
"""A leaf says the mean of its rows, and loses their squared differences from it."""
