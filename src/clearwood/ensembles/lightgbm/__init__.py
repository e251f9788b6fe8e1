"""Readers of LightGBM's models in memory and text files.

Read ``model`` first: all of them become one text. ``text`` splits it into sections,
``trees`` reads the section of one tree, ``columns`` infers the columns, and
``objectives`` has the links of raw scores.
"""
