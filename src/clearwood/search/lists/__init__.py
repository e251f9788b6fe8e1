"""Ordered lists of boxes: the first box that a row is in decides.

Read ``grow`` first (:func:`grow_lists`: which box joins next), then ``ascent`` (what a
list is fitted to, and how all its boxes are improved together).
"""
