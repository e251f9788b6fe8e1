"""Diagrams of trees, and of lists as chains of splits."""
