"""Conversion of a posterior into a single tree with the same predictions."""
