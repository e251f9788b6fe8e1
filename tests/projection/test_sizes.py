import numpy as np
import pytest
from sklearn.linear_model import BayesianRidge

from clearwood import ProjectedTreeRegressor
from clearwood.projection.sizes import SizePath


def path_of(held_out, standard_error, error_to_best):
    sizes = np.arange(len(held_out)) + 1
    found = [np.array(x) for x in (held_out, standard_error, error_to_best)]
    return SizePath(sizes, -sizes, sizes, *found, judged_by="labels", tolerance=0.05)


def test_the_fewest_leaves_within_the_tolerance_a_standard_error_granted():
    path = path_of([0.2, 0.08, 0.06, 0.02], [0.02] * 4, [0.1, 0.1, 0.1, 0.0])
    assert path.fewest_leaves() == 3


def test_where_no_size_is_good_enough_sizes_are_compared_with_each_other():
    # The error of any size is large, as the reference differs from all trees alike.
    path = path_of([0.9, 0.5, 0.41, 0.4, 0.45], [0.2] * 5, [0.1, 0.05, 0.02, 0, 0.01])
    assert path.fewest_leaves() == 3


def test_the_error_to_the_best_size_is_that_of_the_difference_row_by_row():
    class Watched(ProjectedTreeRegressor):
        def _hold_out(self, *given):
            self.lost_, judged_by = super()._hold_out(*given)
            return self.lost_, judged_by

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) / 2
    tree = Watched(BayesianRidge(), most_leaf_nodes=5, random_state=0).fit(X, y)
    path = tree.size_path_
    apart = tree.lost_ - tree.lost_[path.held_out.argmin()]
    assert path.error_to_best == pytest.approx(apart.std(axis=1) / np.sqrt(80))
    assert path.error_to_best.min() == 0 < path.error_to_best[0]
