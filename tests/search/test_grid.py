"""Boxes: who is inside, how long they are, and the best one along a feature."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.records import changeable
from tests.search import naive
from tests.search.problems import moved, numeric_grid, random_box, random_grid

from clearwood._kernels.search import best_categories, best_interval, part_cost
from clearwood._kernels.search_trees import node_boxes
from clearwood.search import Grid, candidate_boxes, contains, n_literals, whole_box
from clearwood.search.grid import literals_of
from clearwood.search.losses import SQUARED_ERROR

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_members_and_literals_are_counted_right(seed):
    rng = np.random.default_rng(seed)
    grid = random_grid(rng, n_rows=12)
    boxes = np.array([whole_box(grid), *(random_box(rng, grid) for _ in range(3))])
    np.testing.assert_array_equal(contains(grid, boxes), naive.members(grid, boxes))
    every = literals_of(grid, boxes, grid.seen())
    for box, same in zip(boxes, every):
        found = n_literals(grid, box, grid.seen())
        assert found == same == naive.literals(grid, box, grid.seen())
    assert n_literals(grid, boxes[0], grid.seen()) == 0


@given(SEEDS)
def test_members_of_stretches_of_bins_are_counted_right(seed):
    rng = np.random.default_rng(seed)
    grid = random_grid(rng, n_rows=12)
    boxes = np.array([whole_box(grid) for _ in range(4)])
    for box in boxes:
        for part in naive.parts(grid):
            size = part.stop - part.start
            first, last = np.sort(rng.integers(size, size=2))
            stretch = (first <= np.arange(size)) & (np.arange(size) <= last)
            box[part] = stretch == rng.integers(2)
    np.testing.assert_array_equal(contains(grid, boxes), naive.members(grid, boxes))


def test_records_cannot_be_changed():
    assert changeable("search") == []


def test_many_bins_fit():
    codes = np.array([[70_000], [3]], dtype=np.uint32)
    grid = Grid.of(codes, np.array([70_001]), np.array([False]))
    box = whole_box(grid)
    box[70_000] = False
    assert contains(grid, box[None]).tolist() == [[False, True]]


COSTS = st.lists(st.integers(-3, 3), min_size=2, max_size=7)


@given(COSTS, st.sampled_from([0.0, 0.5, 1.5]), st.data())
def test_best_interval_is_the_best_of_all(costs, bound_cost, data):
    total = np.array(costs, dtype=float)
    flags = st.lists(st.booleans(), min_size=len(total), max_size=len(total))
    # Bins without rows cost nothing.
    seen = np.array(data.draw(flags)) | (total != 0)
    allowed, better = np.ones(len(total), bool), np.empty(len(total), bool)
    best_interval(total, seen, allowed, bound_cost, better, True, True)
    found = part_cost(total, seen, better, False, bound_cost)
    least = min(
        part[seen] @ total[seen]
        + bound_cost * naive.part_literals(part, seen, category=False)
        for part in naive.every_part(len(total), category=False)
        if seen[-1] or part[:-1].any()
    )
    assert found == pytest.approx(least)


@given(COSTS)
def test_best_categories_are_the_best_of_all(costs):
    total = np.array(costs, dtype=float)
    better, seen = np.empty(len(total), bool), np.ones(len(total), bool)
    allowed = np.arange(len(total)) % 2 == 0
    best_categories(total, allowed, better)
    assert total[better].sum() == total[total < 0].sum()
    np.testing.assert_array_equal(better[total == 0], allowed[total == 0])
    assert part_cost(total, seen, better, True, 0.0) == total[better].sum()


def test_a_set_of_categories_is_one_literal_whatever_is_in_it():
    grid = Grid.of(np.arange(5, dtype=np.uint8)[:, None], [6], np.array([True]))
    cost, box = np.array([1.0, -1.0, 0.2, -1.0, 0.3]), whole_box(grid)
    found = moved(grid, grid.seen(), cost, np.ones(5), box, 1.0, 1.0)
    assert np.flatnonzero(box[:5]).tolist() == [1, 3]
    assert found == -1.0


@given(SEEDS, st.sampled_from([0.0, 0.3]))
@example(252, 0.3)
def test_a_box_gets_no_worse_and_costs_what_it_says(seed, bound_cost):
    rng = np.random.default_rng(seed)
    grid = random_grid(rng)
    cost, counts, seen = rng.normal(size=40), np.ones(40), grid.seen()
    start = random_box(rng, grid)
    before = naive.box_cost(grid, start, seen, cost, bound_cost)
    box = start.copy()
    found = moved(grid, seen, cost, counts, box, bound_cost, 3.0)
    assert found == pytest.approx(naive.box_cost(grid, box, seen, cost, bound_cost))
    assert found <= before + 1e-9
    if (box != start).any():
        assert naive.members(grid, box[None]).sum() >= 3
    # No other part of any one feature is better, unless it holds too few rows.
    for part, category in zip(naive.parts(grid), grid.is_category):
        for allowed in naive.every_part(part.stop - part.start, category):
            other = box.copy()
            other[part] = allowed
            cheaper = naive.box_cost(grid, other, seen, cost, bound_cost) < found - 1e-9
            if cheaper:
                assert _refused(grid, seen, cost, bound_cost, box, part, category)


def _refused(grid, seen, cost, bound_cost, box, part, category):
    """Whether the best part of a feature holds fewer than three rows."""
    best = min(
        naive.every_part(part.stop - part.start, category),
        key=lambda allowed: naive.box_cost(
            grid, _with(box, part, allowed), seen, cost, bound_cost
        ),
    )
    return naive.members(grid, _with(box, part, best)[None]).sum() < 3


def _with(box, part, allowed):
    box = box.copy()
    box[part] = allowed
    return box


def test_missing_values_go_where_they_cost_least():
    # One feature with bins 0, 1 and missing; the high value is wanted.
    codes = np.array([[0], [0], [1], [1], [2], [2]], dtype=np.uint8)
    grid = Grid.of(codes, np.array([3]), np.array([False]))
    for missing, allowed in ((-1.0, True), (1.0, False)):
        cost = np.array([1.0, 1, -1, -1, missing, missing])
        box = whole_box(grid)
        moved(grid, grid.seen(), cost, np.ones(6), box, 0.1, 1.0)
        assert box.tolist() == [False, True, allowed]


def test_too_few_rows_are_no_box():
    codes = np.arange(10, dtype=np.uint8)[:, None]
    grid = numeric_grid(codes, 10)
    cost = np.where(codes[:, 0] < 4, -1.0, 1.0)
    for least, n_inside in ((4.0, 4), (5.0, 10)):
        box = whole_box(grid)
        moved(grid, grid.seen(), cost, np.ones(10), box, 0.0, least)
        assert contains(grid, box[None]).sum() == n_inside


def test_pool_boxes_are_nodes_of_trees():
    rng = np.random.default_rng(0)
    grid = random_grid(rng, n_rows=300)
    target = (grid.columns[0] > 2) ^ np.isin(grid.columns[2], [0, 3])
    pool = candidate_boxes(grid, target.astype(float), np.ones(300), rng, n_trees=9)
    member = contains(grid, pool)
    assert len(np.unique(member, axis=0)) == len(pool)
    assert member.any(axis=1).all()
    assert not member.all(axis=1).any()
    # Numeric parts are intervals, and categories by mean target are found.
    for box in pool:
        inside = np.flatnonzero(box[:5])
        assert (np.diff(inside) == 1).all()
    pure = [target[rows].mean() in (0, 1) for rows in member]
    assert sum(pure) > 5


def nodes_of(grid, target, asked, n_asked, max_leaves):
    """The boxes of one tree on all rows."""
    n = grid.n_rows
    stats = np.column_stack([target / n, np.ones(n) / n, np.ones(n), np.ones(n)])
    asked = np.tile(asked, (2 * max_leaves - 1, 1))
    rows = np.arange(n)
    return node_boxes(grid, rows, stats, SQUARED_ERROR, asked, n_asked)


@given(SEEDS)
def test_a_tree_of_the_pool_begins_with_the_best_split(seed):
    rng = np.random.default_rng(seed)
    grid, target = random_grid(rng, n_rows=30), rng.normal(size=30)
    left, right = contains(grid, nodes_of(grid, target, np.arange(3), 3, 2))

    def explained(rows):
        parts = target[rows], target[~rows]
        return sum(part.sum() ** 2 / len(part) for part in parts if len(part))

    every = [
        allowed[column] if category else allowed[np.minimum(column, size)]
        for column, size, category in zip(grid.columns, grid.n_bins, grid.is_category)
        for allowed in naive.every_part(size, category)
        if category or allowed[0] or allowed[size - 2]  # one bound, not two
    ]
    assert (left ^ right).all()
    assert explained(left) == pytest.approx(max(map(explained, every)))


@given(SEEDS)
def test_nodes_of_the_pool_part_those_above(seed):
    rng = np.random.default_rng(seed)
    grid, target = random_grid(rng, n_rows=30), rng.normal(size=30).round(1)
    member = contains(grid, nodes_of(grid, target, np.arange(3), 2, 5))
    assert len(member) <= 8
    leaves = [np.ones(30, dtype=bool)]
    for left, right in zip(member[::2], member[1::2]):
        assert left.any() and right.any() and not (left & right).any()
        (parent,) = [i for i, leaf in enumerate(leaves) if (leaf == left | right).all()]
        leaves[parent : parent + 1] = [left, right]
    if len(leaves) < 5:  # nothing was left to gain
        codes = np.unique(grid.columns, axis=1, return_inverse=True)[1]
        for leaf in leaves:
            means = [target[leaf & (codes == c)].mean() for c in set(codes[leaf])]
            np.testing.assert_allclose(means, target[leaf].mean())


def test_a_node_chooses_from_the_first_features_that_can_split_it():
    # The first feature is the same for all rows; the third would explain everything.
    codes = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]], dtype=np.uint8)
    grid, target = numeric_grid(codes, 2), np.array([0.0, 0.1, 1.0, 1.2])
    asks = [nodes_of(grid, target, [0, 1, 2], n_asked, 2) for n_asked in (1, 2)]
    split = [[[0, 1, 0, 1], [1, 0, 1, 0]], [[0, 0, 1, 1], [1, 1, 0, 0]]]
    for boxes, either in zip(asks, split):
        assert contains(grid, boxes)[0].astype(int).tolist() in either


@given(SEEDS, st.integers(2, 8))
def test_neighbouring_bins_become_one(seed, most):
    rng = np.random.default_rng(seed)
    n_bins, is_category = np.array([12, 5, 9]), np.array([False, False, True])
    X = np.column_stack([rng.integers(0, n, 60) for n in n_bins]).astype(np.uint8)
    grid = Grid.of(X, n_bins, is_category)
    coarse = grid.coarse(most)
    np.testing.assert_array_equal(coarse.n_bins, [min(12, most), min(5, most), 9])
    np.testing.assert_array_equal(coarse.columns[2], grid.columns[2])
    for d in range(2):
        fine, found, last = grid.columns[d], coarse.columns[d], n_bins[d] - 1
        np.testing.assert_array_equal(fine == last, found == coarse.n_bins[d] - 1)
        order = np.argsort(fine, kind="stable")
        assert (np.diff(found[order].astype(int)) >= 0).all()
        sizes = [len(np.unique(fine[found == b])) for b in np.unique(found)[:-1]]
        assert max(sizes, default=1) <= -(-last // (coarse.n_bins[d] - 1)) + 1
