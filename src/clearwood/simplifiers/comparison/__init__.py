"""How many rules are needed, and which method finds them."""

from clearwood.simplifiers.comparison.api import compare
from clearwood.simplifiers.comparison.frontier import Frontier, FrontierPoint

__all__ = ["Frontier", "FrontierPoint", "compare"]
