"""Posterior over all prunings of a tree, and predictions from it."""
