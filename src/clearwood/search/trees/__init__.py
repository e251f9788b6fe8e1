"""Small trees on bins.

Read ``grow`` first (:func:`grow_trees`: grown large, pruned, improved at every size),
then ``splits`` (the next split, and the best pruning of every size); ``nodes`` has the
tree itself, with the rows of every node.
"""
