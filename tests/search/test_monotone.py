"""Monotone lists in bins: kinds, intervals, gains, and every list on the path."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from tests.search import naive
from tests.search.problems import moved, numeric_grid, random_box, random_grid

from clearwood._kernels.search import best_interval, part_cost
from clearwood.search import (
    BoxList,
    Grid,
    Loss,
    Penalties,
    candidate_boxes,
    grow_lists,
    make_problem,
)
from clearwood.search.grid import LEAST_ROWS
from clearwood.search.lists.ascent import ListAscent
from clearwood.search.lists.grow import ListGains, inserted
from clearwood.search.monotone import bounds_of, kind_of, opened, opened_pool

SEEDS = st.integers(0, 2**32 - 1)
SIGNS = ((1, 0, 0), (-1, 1, 0), (1, 1, 0))


def sides(grid, box, d):
    """Whether a box has a lower and an upper bound on a numeric feature."""
    part = box[naive.parts(grid)[d]][:-1]
    return (False, False) if not part.any() else (not part[0], not part[-1])


def kinds(grid, signs, box):
    """All kinds that a box is of at once."""
    found = set()
    for d, sign in enumerate(signs):
        low, high = sides(grid, box, d)
        found |= {sign} if low else set()
        found |= {-sign} if high else set()
    return found - {0}


def problem_of(rng, signs, n_rows=60, overlap=0.05):
    grid = random_grid(rng, n_rows)
    weight = rng.uniform(0.5, 2.0, n_rows)
    loss = Loss.squares(rng.normal(size=n_rows), weight)
    penalties = Penalties(0.001, overlap)
    return make_problem(grid, loss, penalties, np.ones(n_rows), np.array(signs))


def pool_of(rng, problem, n=30):
    return np.array([random_box(rng, problem.grid) for _ in range(n)])


def check_monotone(grid, signs, lst):
    """On every cell of the grid, seen or not."""
    every = list(itertools.product(*(range(n) for n in grid.n_bins)))
    cells = Grid.of(np.array(every, np.uint16), grid.n_bins, grid.is_category)
    said = lst.predict(cells).reshape(grid.n_bins)
    for d in np.flatnonzero(signs):
        values = np.moveaxis(said, d, -1)[..., :-1]
        assert (np.diff(values, axis=-1) * signs[d] >= 0).all()


@given(SEEDS, st.sampled_from(SIGNS))
def test_kinds_and_opened_boxes(seed, signs):
    rng, signs = np.random.default_rng(seed), np.array(signs)
    grid = random_grid(rng, n_rows=5)
    box = random_box(rng, grid)
    found = kinds(grid, signs, box)
    assert kind_of(grid, signs, box) in (found or {0})
    for kind in (-1, 0, 1):
        wider = opened(grid, signs, box, bounds_of(signs, kind))
        assert kinds(grid, signs, wider) == found & {kind}
        assert (wider >= box).all()
        # Nothing but sides that must go has moved.
        for d, part in enumerate(naive.parts(grid)):
            before, after = box[part], wider[part]
            assert after[-1] == before[-1]
            if signs[d] == 0 or kinds(grid, signs * (np.arange(3) == d), box) <= {kind}:
                np.testing.assert_array_equal(before, after)
    pool = opened_pool(grid, signs, np.array([box, box]))
    assert len(pool) <= 2
    for wider in pool:
        assert len(kinds(grid, signs, wider)) <= 1
        assert not naive.members(grid, wider[None]).all()


COSTS = st.lists(st.integers(-3, 3), min_size=2, max_size=7)
FLAGS = st.booleans()


@given(COSTS, st.sampled_from([0.0, 0.5]), FLAGS, FLAGS, st.data())
def test_best_interval_within_bounds(costs, bound_cost, may_start, may_end, data):
    total = np.array(costs, dtype=float)
    flags = st.lists(st.booleans(), min_size=len(total), max_size=len(total))
    seen = np.array(data.draw(flags)) | (total != 0)
    allowed, better = np.ones(len(total), bool), np.empty(len(total), bool)
    best_interval(total, seen, allowed, bound_cost, better, may_start, may_end)
    values = better[:-1]
    assert may_start or values[0] or not values.any()
    assert may_end or values[-1] or not values.any()
    found = part_cost(total, seen, better, False, bound_cost)
    least = min(
        part[seen] @ total[seen]
        + bound_cost * naive.part_literals(part, seen, category=False)
        for part in naive.every_part(len(total), category=False)
        if (seen[-1] or part[:-1].any())
        and (may_start or part[0] or not part[:-1].any())
        and (may_end or part[-2] or not part[:-1].any())
    )
    assert found == pytest.approx(least)


@given(SEEDS, st.sampled_from(SIGNS), st.sampled_from([-1, 0, 1]))
def test_boxes_keep_to_their_bounds(seed, signs, kind):
    rng, signs = np.random.default_rng(seed), np.array(signs)
    grid = random_grid(rng)
    cost, seen = rng.normal(size=40), grid.seen()
    bounds = bounds_of(signs, kind)
    box = opened(grid, signs, random_box(rng, grid), bounds)
    before = naive.box_cost(grid, box, seen, cost, 0.1)
    found = moved(grid, seen, cost, np.ones(40), box, 0.1, 1.0, bounds)
    assert found == pytest.approx(naive.box_cost(grid, box, seen, cost, 0.1))
    assert found <= before + 1e-9
    assert kinds(grid, signs, box) <= {kind}


@settings(max_examples=30)
@given(SEEDS, st.sampled_from(SIGNS))
def test_every_list_on_the_path_is_monotone(seed, signs):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, signs)
    lists = grow_lists(problem, pool_of(rng, problem), 4)
    for lst in lists:
        check_monotone(problem.grid, signs, lst)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(SIGNS))
def test_the_objective_never_rises_and_every_step_is_monotone(seed, signs):
    rng = np.random.default_rng(seed)
    problem = problem_of(rng, signs)
    boxes = opened_pool(problem.grid, problem.signs, pool_of(rng, problem))[:3]
    start = BoxList(boxes, (0,) * len(boxes), 0, np.inf)
    ascent = ListAscent(problem, start)
    ascent.refit()
    before = ascent.objective()
    for k in [*range(len(boxes)), *range(len(boxes))]:
        ascent.improve(k)
        now = ascent.objective()
        assert now <= before + 1e-12
        check_monotone(problem.grid, signs, ascent.result())
        before = now
    ascent.run()
    assert ascent.objective() <= before + 1e-12
    check_monotone(problem.grid, signs, ascent.result())


@pytest.mark.parametrize("seed", range(3))
def test_gains_are_those_of_the_best_value_in_order(seed):
    rng, signs = np.random.default_rng(seed), (1, -1, 0)
    problem = problem_of(rng, signs)
    pool = opened_pool(problem.grid, problem.signs, pool_of(rng, problem, 6))
    current = grow_lists(problem, pool, 2)[-1]
    before = naive.objective(problem, *current[:3])
    change, value = ListGains(problem, pool).changes(problem, current)
    n_tried = 0
    for b, box in enumerate(pool):
        for position in range(len(current.boxes) + 1):
            member = naive.members(problem.grid, [*current.boxes[:position], box])
            caught = member[-1] & ~member[:-1].any(axis=0)
            if caught.sum() < LEAST_ROWS:
                continue
            said = np.linspace(-2, 2, 21)
            trials = [inserted(current, box, position, v) for v in said]
            after = [
                naive.objective(problem, *lst[:3])
                for lst in trials
                if keeps_order(problem.grid, signs, lst)
            ]
            best = inserted(current, box, position, float(value[b, position, 0]))
            assert keeps_order(problem.grid, signs, best, 1e-9)
            reached = naive.objective(problem, *best[:3])
            assert change[b, position] == pytest.approx(reached - before, abs=1e-5)
            assert change[b, position] <= min(after, default=np.inf) - before + 1e-5
            n_tried += 1
    assert n_tried > 5


def keeps_order(grid, signs, lst, slack=0.0):
    """Whether every box obeys its kind."""
    said = [*lst.values, lst.otherwise]
    for k, box in enumerate(lst.boxes):
        for kind in kinds(grid, signs, box):
            if any(kind * (said[k] - v) < -slack for v in said[k + 1 :]):
                return False
    return True


def test_one_feature_becomes_the_best_rising_steps():
    x = np.repeat(np.arange(9), 10).astype(np.uint8)
    t = np.array([0, 0, 3, 1, 1, 5, 4, 6, 2.0])[x]
    grid, loss = numeric_grid(x[:, None], 9), Loss.squares(t, np.ones(90))
    pool = candidate_boxes(grid, t, np.ones(90), np.random.default_rng(0))
    for sign in (1, -1):
        steps = IsotonicRegression(increasing=sign == 1).fit(x, t).predict(x)
        problem = make_problem(
            grid, loss, Penalties(1e-4, 0.0), np.ones(90), np.array([sign])
        )
        best = grow_lists(problem, pool, 6)[-1]
        np.testing.assert_allclose(best.predict(grid), steps, atol=1e-9)


def test_no_signs_are_no_limits():
    grid = numeric_grid(np.zeros((3, 2), np.uint8), 2)
    loss = Loss.squares(np.zeros(3), np.ones(3))
    none = make_problem(grid, loss, Penalties(0, 0), np.ones(3), np.zeros(2, int))
    assert none.signs is None
