"""XGBoost: models in memory, JSON and UBJSON files.

Read ``model`` first: everything comes down to one document. Its parts are read by
``boosting`` (rounds and starting values), ``trees`` (one tree), ``features`` (names and
categories) and ``objectives`` (what raw scores mean); ``ubjson`` parses binary files.
"""
