"""Sums of boxes."""
