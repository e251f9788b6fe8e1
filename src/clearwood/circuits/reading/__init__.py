"""Texts, plots and report sections of circuits."""
