"""The best list there is of very few boxes, each of one or two bounds.

The first box is any there is; what is left to do for the rows outside is the same with
one box less, and the last box is found from counts of pairs. A first box is left out
where it, and the rows outside each by itself, lose as much as a list that is known.
"""

import numpy as np

from benchmarks.few_rules import _optimal_kernels as optimal
from benchmarks.few_rules.optimal_trees import Orders, cells
from clearwood._kernels import search_trees as kernels


def least_of_lists(problem, statements, n_boxes, n_bounds):
    """The least loss of lists of so many boxes at most, and those boxes.

    Parameters
    ----------
    problem : TreeProblem
        Its literals cost nothing here. ``otherwise`` needs no support.
    statements : iterable of (int, ndarray of bool)
    n_boxes : int
    n_bounds : int
        Most statements per box: 1 or 2.

    Returns
    -------
    loss : float
    boxes : list of tuple
        Question, position and side of each of two statements.
    """
    orders = Orders.of(problem.grid, statements)
    columns, stats = cells(problem, orders)
    search = _Search(problem, orders, columns, stats, n_bounds)
    loss, boxes = search.solve(np.arange(len(stats)), n_boxes)
    return loss + problem.constant, boxes


def least_of_all(problem, statements):
    """What is lost where rows that no statement parts say the same, and others not."""
    _, stats = cells(problem, Orders.of(problem.grid, statements))
    return _alone(stats, problem.leaf).sum() + problem.constant


def _alone(stats, leaf):
    return np.array([kernels.leaf_loss(line, leaf) for line in stats])


class _Search:
    """Lists of cells."""

    def __init__(self, problem, orders, columns, stats, n_bounds):
        self.leaf, self.least = problem.leaf, problem.min_samples_leaf
        self.orders, self.columns, self.stats = orders, columns, stats
        self.n_bounds = n_bounds
        self.alone = _alone(stats, self.leaf)
        self.names, self.inside = self._all_boxes()

    def _all_boxes(self):
        """Every box once, by the cells in it."""
        bounds = [
            ((q, int(j), side), (self.columns[q] > j) == side)
            for q, n in enumerate(self.orders.n_positions)
            for j in range(n - 1)
            if self.orders.marks[q, j, 0]
            for side in (0, 1)
        ]
        found = {}
        for a, (name, mask) in enumerate(bounds):
            found.setdefault(mask.tobytes(), ((*name, *name), mask))
            for other, more in bounds[a + 1 :] if self.n_bounds > 1 else ():
                both = mask & more
                if both.any():
                    found.setdefault(both.tobytes(), ((*name, *other), both))
        names = [name for name, _ in found.values()]
        inside = np.array([mask for _, mask in found.values()], dtype=bool)
        return names, inside.reshape(-1, len(self.stats))

    def _loss(self, rows):
        return kernels.leaf_loss(self.stats[rows].sum(axis=0), self.leaf)

    def solve(self, rows, n_boxes):
        """The least loss of some cells."""
        best, boxes = self._loss(rows), []
        if not len(rows) or not len(self.names):
            return best, boxes
        orders = self.orders
        loss, box = optimal.best_box(
            self.columns, orders.n_positions, orders.marks, rows, self.stats, self.leaf,
            self.least, self.n_bounds,
        )  # fmt: skip
        if loss < best:
            best, boxes = loss, [tuple(box.tolist())]
        if n_boxes == 1:
            return best, boxes
        inside = self.inside[:, rows]
        sums = inside.astype(float) @ self.stats[rows]
        able = np.flatnonzero((sums[:, -2] >= self.least) & (sums[:, -1] > 0))
        own = _alone(sums[able], self.leaf)
        bound = own + (~inside[able]).astype(float) @ self.alone[rows]
        for at in np.argsort(bound, kind="stable"):
            if bound[at] >= best:
                break
            outside = rows[~inside[able[at]]]
            loss, others = self.solve(outside, n_boxes - 1)
            if own[at] + loss < best:
                best, boxes = own[at] + loss, [self.names[able[at]], *others]
        return best, boxes
