"""Ordered lists of boxes."""
