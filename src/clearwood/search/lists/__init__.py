"""Ordered lists of boxes: the first box that a row is in decides.

Read ``grow`` first (:func:`grow_lists`: which box is added next), then ``ascent`` (the
objective of a list, and how all its boxes are improved together).
"""
