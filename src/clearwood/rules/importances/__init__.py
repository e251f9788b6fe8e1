"""Permutation importance of features for rules and model."""
