"""Sum-product networks: densities with exact inference (Krakovna, chapter 4)."""

from clearwood._lazy import loader, names_in
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.classifier import ClassEvidence, SPNClassifier
from clearwood.circuits.estimators import LatentTreeSPN, LearnSPN, MiniSPN
from clearwood.circuits.imputer import SPNImputer
from clearwood.circuits.pareto_estimators import HybridSPN, ParetoSPN, SizedCircuit
from clearwood.circuits.queries.completion import MostProbable
from clearwood.circuits.queries.shares import LevelShares, ValueShares

_DISPLAYS = names_in(
    {
        "circuits.reading.conditionals": "Conditionals",
        "circuits.reading.curves": "ConditionalDisplay",
        "circuits.reading.display": "CircuitDisplay",
        "circuits.reading.sizes_display": "NetworkSizesDisplay",
        "circuits.reading.anomaly_display": "AnomalyDisplay",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "Circuit",
    "CircuitDisplay",
    "ClassEvidence",
    "ConditionalDisplay",
    "Conditionals",
    "HybridSPN",
    "LatentTreeSPN",
    "LearnSPN",
    "LevelShares",
    "MiniSPN",
    "MostProbable",
    "NetworkSizesDisplay",
    "ParetoSPN",
    "SPNClassifier",
    "SPNImputer",
    "SizedCircuit",
    "AnomalyDisplay",
    "ValueShares",
]

__getattr__ = loader(__name__, _DISPLAYS)
