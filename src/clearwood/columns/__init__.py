"""Columns of a table: reading, checks, encoding as numbers, and metadata."""
