"""Exact sums over all trees, without a given structure."""
