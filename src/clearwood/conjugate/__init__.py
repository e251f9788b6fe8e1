"""Conjugate models: statistics of rows, marginals, posteriors, predictives, draws."""
