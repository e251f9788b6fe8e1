"""What one asks of a circuit. Answers are exact, or say how far off they may be."""

from clearwood.circuits.queries.conditionals import (
    LevelShares,
    ValueShares,
    conditionals,
)
from clearwood.circuits.queries.conditioning import condition, marginal
from clearwood.circuits.queries.covariances import RowMoments, moments
from clearwood.circuits.queries.draws import draw_missing, sample
from clearwood.circuits.queries.most_probable import MostProbable, most_probable

__all__ = [
    "LevelShares",
    "MostProbable",
    "RowMoments",
    "ValueShares",
    "condition",
    "conditionals",
    "draw_missing",
    "marginal",
    "moments",
    "most_probable",
    "sample",
]
