"""Sum-product networks: densities with exact inference (Krakovna, chapter 4)."""

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.classifier import ClassEvidence, SPNClassifier
from clearwood.circuits.estimators import LearnSPN, MiniSPN
from clearwood.circuits.imputer import SPNImputer
from clearwood.circuits.pareto_estimators import HybridSPN, ParetoSPN, SizedCircuit
from clearwood.circuits.queries import LevelShares, MostProbable, ValueShares

__all__ = [
    "Circuit",
    "ClassEvidence",
    "HybridSPN",
    "LearnSPN",
    "LevelShares",
    "MiniSPN",
    "MostProbable",
    "ParetoSPN",
    "SPNClassifier",
    "SPNImputer",
    "SizedCircuit",
    "ValueShares",
]
