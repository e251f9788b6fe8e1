"""Queries of circuits: exact, or with a bound of the error."""
