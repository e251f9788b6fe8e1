"""Texts, plots and report sections of states over time."""
