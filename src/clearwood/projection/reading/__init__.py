"""Scores of projections relative to the reference, and sections of pages."""
