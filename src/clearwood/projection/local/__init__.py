"""Explanations of single rows."""
