"""Sums of boxes: every box adds its value to the rows in it.

Read ``grow`` first (:func:`grow_sums`: a beam search for the box to add next), then
``ascent`` (the objective of a sum, and how all its boxes are improved together);
``values`` finds the best values of given boxes, ``losses`` has the losses of scores.
"""
