"""Verbs of what is saved: rules from a file, and mostly rows that are new to them."""
