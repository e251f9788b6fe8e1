"""CatBoost: models in memory and JSON files.

Read ``model`` first: everything comes down to one document. ``features`` lists the
questions that its splits refer to by number, ``trees`` reads symmetric and other trees.
"""
