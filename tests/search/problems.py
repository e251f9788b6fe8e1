"""Small problems, drawn by a seed."""

import numpy as np
from tests.search import naive

from clearwood._kernels.search import improve_box
from clearwood.search import (
    Grid,
    Loss,
    Penalties,
    make_problem,
)


def random_grid(rng, n_rows=40, with_category=True):
    """A few features with empty bins, missing values and categories."""
    n_bins = np.array([6, 3, 5])
    is_category = np.array([False, False, with_category])
    columns = [rng.choice(rng.permutation(n)[: max(n - 1, 1)], n_rows) for n in n_bins]
    return Grid.of(np.stack(columns, axis=1).astype(np.uint8), n_bins, is_category)


def random_box(rng, grid):
    """Intervals and sets."""
    box = np.ones(int(grid.n_bins.sum()), dtype=bool)
    for first, size, category in zip(grid.start, grid.n_bins, grid.is_category):
        if rng.random() < 0.3:
            continue
        if category:
            box[first : first + size] = rng.random(size) < 0.6
        else:
            low, high = np.sort(rng.integers(0, size - 1, 2))
            bins = np.arange(size)
            box[first : first + size] = (bins >= low) & (bins <= high)
            box[first + size - 1] = rng.random() < 0.5
    return box


def random_loss(rng, kind, n_rows):
    weight = rng.uniform(0.5, 2.0, n_rows)
    if kind == "class":
        return Loss.regret(rng.dirichlet(np.ones(3), n_rows), weight)
    if kind == "sure":
        return Loss.probabilities(rng.dirichlet(np.ones(3), n_rows), weight, 0.4)
    if kind == "chances":
        return Loss.logarithmic(rng.dirichlet(np.ones(3), n_rows), weight)
    return Loss.squares(rng.normal(size=n_rows), weight)


def random_problem(rng, kind, n_rows=40, literal=0.003, overlap=0.1):
    grid = random_grid(rng, n_rows)
    loss = random_loss(rng, kind, n_rows)
    return make_problem(grid, loss, Penalties(literal, overlap), np.ones(n_rows))


def numeric_grid(X, n_values):
    """Whole numbers below n_values as their own bins; no missing values."""
    return Grid.of(X, np.full(X.shape[1], n_values + 1), np.zeros(X.shape[1], bool))


def moved(grid, seen, cost, counts, box, bound_cost, least, bounds=None):
    """What a box costs whose sides were improved, in place."""
    inside = np.empty(grid.n_rows, dtype=bool)
    if bounds is None:
        bounds = np.ones((2, len(grid.n_bins)), dtype=bool)
    problem = (grid, seen, cost, bound_cost, counts, least, bounds)
    found = improve_box(problem, box, inside)
    np.testing.assert_array_equal(inside, naive.members(grid, box[None])[0])
    return found
