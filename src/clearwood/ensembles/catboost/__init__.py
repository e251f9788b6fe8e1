"""Readers of CatBoost's models in memory and JSON files.

Read ``model`` first: all of them become one document. ``features`` lists the splits
that trees refer to by number, ``trees`` reads symmetric and other trees.
"""
