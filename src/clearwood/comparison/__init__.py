"""Comparison of methods and models: sizes against errors, stability, differences."""

from clearwood._lazy import loader, names_in
from clearwood.comparison.compare import compare
from clearwood.comparison.frontier import Frontier
from clearwood.comparison.point import FrontierPoint

_DISPLAYS = names_in(
    {
        "comparison.display": "FrontierDisplay",
        "comparison.difference": "Difference difference",
        "comparison.stability": "Stability stability",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "Difference",
    "Frontier",
    "FrontierDisplay",
    "FrontierPoint",
    "Stability",
    "compare",
    "difference",
    "stability",
]

__getattr__ = loader(__name__, _DISPLAYS)
