"""First look at a table: its columns, readable models on held-out rows, anomalies."""

from clearwood.exploration.exploration import Exploration
from clearwood.exploration.explore import explore

__all__ = ["Exploration", "explore"]
