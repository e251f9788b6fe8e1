"""LightGBM: models in memory and text files.

Read ``model`` first: everything comes down to one text. ``text`` cuts it into sections,
``trees`` reads the section of one tree, ``columns`` finds out what the columns are, and
``objectives`` says what raw scores mean.
"""
