"""Comparison of methods: number of rules against error, and stability."""

from clearwood._lazy import loader, names_in
from clearwood.comparison.compare import compare
from clearwood.comparison.frontier import Frontier, FrontierPoint

_DISPLAYS = names_in(
    {
        "comparison.alternatives": "Alternatives alternatives",
        "comparison.display": "FrontierDisplay",
        "comparison.stability": "Stability stability",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "Alternatives",
    "Frontier",
    "FrontierDisplay",
    "FrontierPoint",
    "Stability",
    "alternatives",
    "compare",
    "stability",
]

__getattr__ = loader(__name__, _DISPLAYS)
