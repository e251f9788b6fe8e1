"""inTrees (Deng 2014)."""
