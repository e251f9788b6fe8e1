"""Sums of boxes: every box adds its value to the rows in it.

Read ``grow`` first (:func:`grow_sums`: a beam search for the box that joins next), then
``ascent`` (what a sum is fitted to, and how all its boxes are improved together);
``values`` finds the best values of given boxes, ``losses`` says what scores cost.
"""
