"""How many rules are needed, and which method finds them."""

from clearwood.comparison.compare import compare
from clearwood.comparison.frontier import Frontier, FrontierPoint

__all__ = ["Frontier", "FrontierPoint", "compare"]
