"""What the kernels say of trees that are small enough to do by hand."""

import numpy as np

from clearwood._kernels.metatree_posterior import best_below


def test_every_child_counts_in_the_best_tree_below():
    parent, first_child = np.array([[-1, 0, 0], [1, -1, -1]], np.int32)
    log_stop = np.array([-1.0, -0.4, -0.9])
    for log_split, asks in ((0.2, False), (0.4, True)):
        log_splits = np.array([log_split, 0.0, 0.0])
        found = best_below(parent, first_child, log_stop, log_splits)
        assert found.tolist() == [asks, False, False]
