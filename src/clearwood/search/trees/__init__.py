"""Small trees on bins.

Read ``grow`` first (:func:`grow_trees`: grown large, cut back, improved at every size),
then ``splits`` (which split comes next, and the best pruning of every size); ``nodes``
holds the tree itself, with the rows that come to every node.
"""
