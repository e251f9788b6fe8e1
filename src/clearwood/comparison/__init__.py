"""Comparison of methods: number of rules against error, and stability."""

from clearwood.comparison.compare import compare
from clearwood.comparison.frontier import Frontier, FrontierPoint

__all__ = ["Frontier", "FrontierPoint", "compare"]
