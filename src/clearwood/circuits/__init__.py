"""Sum-product networks: densities that answer every question exactly (Krakovna, 4)."""

from clearwood.circuits.estimators import LearnSPN, MiniSPN

__all__ = ["LearnSPN", "MiniSPN"]
