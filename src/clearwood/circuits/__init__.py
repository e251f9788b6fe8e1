"""Sum-product networks: densities that answer every question exactly (Krakovna, 4)."""

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.estimators import LearnSPN, MiniSPN
from clearwood.circuits.queries import LevelShares, MostProbable, ValueShares

__all__ = [
    "Circuit",
    "LearnSPN",
    "LevelShares",
    "MiniSPN",
    "MostProbable",
    "ValueShares",
]
