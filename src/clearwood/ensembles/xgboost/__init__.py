"""Readers of XGBoost's models in memory, JSON and UBJSON files.

Read ``model`` first: all of them become one document. Its parts are read by
``boosting`` (rounds and initial values), ``trees`` (one tree), ``features`` (names and
categories) and ``objectives`` (links of raw scores); ``ubjson`` parses binary files.
"""
