"""Readers of forests from R."""
