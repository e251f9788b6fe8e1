"""Lists of boxes: gains, ascent, and toys whose answer is known."""

import numpy as np
import pytest
from tests.search import naive
from tests.search.problems import numeric_grid, random_box, random_problem

from clearwood._kernels.search import REGRET, dot_product, rows_in_boxes, sums_of_boxes
from clearwood.search import (
    BoxList,
    Grid,
    Loss,
    Penalties,
    candidate_boxes,
    candidates,
    contains,
    grow_lists,
    make_problem,
    refine,
)
from clearwood.search.grid import LEAST_ROWS
from clearwood.search.growth import grow, narrowed, some_rows, thinned, widened
from clearwood.search.lists.ascent import ListAscent, first_box
from clearwood.search.lists.grow import ListGains, inserted

KINDS = ("class", "values", "chances", "sure")


def random_list(rng, problem, n_boxes):
    boxes = np.array([random_box(rng, problem.grid) for _ in range(n_boxes)])
    values = rng.dirichlet(np.ones(3), n_boxes + 1).tolist()
    if problem.loss.form.kind == REGRET:
        values = rng.integers(0, 3, n_boxes + 1).tolist()
    elif problem.loss.n_scores == 1:
        values = rng.normal(size=n_boxes + 1).tolist()
    return BoxList(boxes, tuple(values[:-1]), values[-1], np.inf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_those_of_inserting(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    pool = np.array([random_box(rng, problem.grid) for _ in range(6)])
    current = random_list(rng, problem, 2)
    before = naive.objective(problem, *current[:3])
    change, value = ListGains(problem, pool).changes(problem, current)
    for b, box in enumerate(pool):
        for position in range(3):
            member = naive.members(problem.grid, [*current.boxes[:position], box])
            caught = member[-1] & ~member[:-1].any(axis=0)
            if caught.sum() < LEAST_ROWS:
                assert change[b, position] == np.inf
                continue
            best = problem.loss.best_value(caught)
            longer = inserted(current, box, position, best)
            after = naive.objective(problem, *longer[:3])
            assert change[b, position] == pytest.approx(after - before, abs=1e-5)
            said = problem.loss.value(value[b, position])
            assert said == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_rises(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=60)
    ascent = ListAscent(problem, random_list(rng, problem, 3))
    ascent.refit()
    before = ascent.objective()
    for k in (0, 1, 2, 1, 0):
        ascent.improve(k)
        now = ascent.objective()
        assert now <= before + 1e-12
        found = naive.objective(problem, *ascent.result()[:3])
        assert now == pytest.approx(found)
        before = now
    ascent.run()
    assert ascent.objective() <= before + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_that_was_moved_says_what_is_best_of_its_rows(kind):
    n_moved = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, kind, n_rows=80)
        ascent = ListAscent(problem, random_list(rng, problem, 3))
        for k in range(3):
            before = ascent.boxes[k].copy()
            ascent.improve(k)
            if (ascent.boxes[k] == before).all():
                continue
            n_moved += 1
            now, said = ascent.objective(), ascent.predicted[k].copy()
            decided = first_box(ascent.member) == k
            best = problem.loss.best_value(decided)
            ascent.predicted[k] = problem.loss.vector(best)
            assert ascent.objective() > now - 1e-8
            ascent.predicted[k] = said
    assert n_moved > 8


def test_where_few_are_left_to_otherwise_the_last_box_goes():
    codes = np.repeat([0, 1, 2], [60, 50, 4]).astype(np.uint8)[:, None]
    grid = Grid.of(codes, np.array([4]), np.array([False]))
    loss = Loss.squares(codes[:, 0] * 1.0, np.ones(114))
    problem = make_problem(grid, loss, Penalties(0.0, 0.0), np.ones(114))
    boxes = np.array([[True, False, False, False], [False, True, False, False]])
    ascent = ListAscent(problem, BoxList(boxes, (0.0, 1.0), 2.0, np.inf))
    assert ascent.drop()
    np.testing.assert_array_equal(ascent.boxes, boxes[:1])
    assert ascent.values == [0.0, 2.0] and not ascent.drop()


@pytest.mark.parametrize("kind", KINDS)
def test_refined_lists_have_no_idle_boxes(kind):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, kind, n_rows=100)
    start = random_list(rng, problem, 4)
    start.boxes[2] = start.boxes[0]
    refined = refine(problem, start)
    assert refined.objective == pytest.approx(naive.objective(problem, *refined[:3]))
    first = np.array(naive.first_box(naive.members(problem.grid, refined.boxes)))
    caught = np.bincount(first, minlength=len(refined.boxes) + 1)
    assert (caught[:-1] >= LEAST_ROWS).all()
    np.testing.assert_array_equal(
        refined.predict(problem.grid),
        np.array([*refined.values, refined.otherwise])[first],
    )


@pytest.mark.parametrize("min_samples_leaf", [LEAST_ROWS, 9])
def test_boxes_need_so_many_rows_that_are_not_synthetic(min_samples_leaf):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (200, 1)).astype(np.uint8)
    grid, y = numeric_grid(X, 10), (X[:, 0] == 3).astype(int)
    pool = candidate_boxes(grid, y.astype(float), np.ones(200), rng)
    for n_real, n_boxes in ((min_samples_leaf, 1), (min_samples_leaf - 1, 0)):
        real = np.ones(200)
        real[np.flatnonzero(y)[n_real:]] = 0
        loss = Loss.regret(np.eye(2)[y], np.ones(200))
        problem = make_problem(
            grid, loss, Penalties(0.001, 0.0), real, min_samples_leaf=min_samples_leaf
        )
        assert len(grow_lists(problem, pool, 1)[-1].boxes) == n_boxes


def few_rows_between():
    """Ten rows of every number from 0 to 9, but three of the 5, and their classes."""
    x = np.repeat(np.arange(10), [10] * 5 + [3] + [10] * 4).astype(np.uint8)
    grid = numeric_grid(x[:, None], 10)
    loss = Loss.regret(np.eye(3)[np.sign(x.astype(int) - 5) + 1], np.ones(len(x)))
    return grid, make_problem(grid, loss, Penalties(1e-4, 0.0), np.ones(len(x)))


def up_to(high):
    return np.arange(11) <= high


def test_only_rows_that_a_box_would_catch_are_its_support():
    # Behind the box of 0 to 4, that of 0 to 5 holds 53 rows and catches 3.
    grid, problem = few_rows_between()
    current = BoxList(up_to(4)[None], (0,), 2, np.inf)
    pool = np.array([up_to(5), up_to(6)])
    change, _ = ListGains(problem, pool).changes(problem, current)
    assert np.isfinite(change).tolist() == [[True, False], [True, True]]


def test_a_box_does_not_move_to_where_it_catches_too_few_rows():
    grid, problem = few_rows_between()
    both = np.array([up_to(4), up_to(6)])
    ascent = ListAscent(problem, BoxList(both, (0, 1), 2, np.inf))
    ascent.refit()
    ascent.predicted[1] = problem.loss.vector(1)
    ascent.improve(1)
    caught = ascent.member[1] & ~ascent.member[0]
    assert caught.sum() >= LEAST_ROWS


def grown(X, target, loss, overlap, max_boxes):
    grid = numeric_grid(X, 10)
    rng = np.random.default_rng(0)
    pool = candidate_boxes(grid, target, np.ones(len(X)), rng)
    problem = make_problem(grid, loss, Penalties(0.002, overlap), np.ones(len(X)))
    return grid, grow_lists(problem, pool, max_boxes)


@pytest.mark.parametrize("overlap", [0.0, 0.1, 1e6])
def test_xor_is_two_boxes(overlap):
    X = np.random.default_rng(0).integers(0, 10, (1000, 4)).astype(np.uint8)
    y = ((X[:, 0] > 4) ^ (X[:, 1] > 6)).astype(int)
    loss = Loss.regret(np.eye(2)[y], np.ones(1000))
    grid, lists = grown(X, np.eye(2)[y], loss, overlap, 4)
    assert [len(found.boxes) for found in lists] == [0, 1, 2]
    assert (lists[2].predict(grid) == y).all()
    assert lists[2].objective == pytest.approx(4 * 0.002)


def test_three_boxes_are_found_exactly():
    X = np.random.default_rng(1).integers(0, 10, (3000, 4)).astype(np.uint8)
    t = np.zeros(3000)
    t[(X[:, 0] < 3) & (X[:, 1] > 5)] = 2
    t[(X[:, 2] > 2) & (X[:, 2] < 6) & (X[:, 0] > 5)] = -1
    t[(X[:, 3] > 7) & (X[:, 0] >= 3) & (X[:, 0] <= 5)] = 4
    grid, lists = grown(X, t, Loss.squares(t, np.ones(3000)), 0.03, 5)
    best = lists[3]
    np.testing.assert_allclose(best.predict(grid), t, atol=1e-12)
    assert contains(grid, best.boxes).sum(axis=0).max() == 1
    assert best.objective == pytest.approx(0.002 * (2 + 3 + 3))
    assert len(lists) == 4


def test_disjoint_is_disjoint():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 10, (500, 4)).astype(np.uint8)
    t = np.sin(X[:, 0] / 2) + X[:, 1] * X[:, 2] / 30
    loss = Loss.squares(t, np.ones(500))
    grid, lists = grown(X, t, loss, 1e6, 5)
    assert len(lists[-1].boxes) == 5
    assert contains(grid, lists[-1].boxes).sum(axis=0).max() == 1
    grid, free = grown(X, t, loss, 0.0, 5)
    assert free[-1].objective < lists[-1].objective


def test_classes_without_a_feature_give_no_box():
    X = np.zeros((50, 1), dtype=np.uint8)
    y = np.arange(50) % 2
    loss = Loss.regret(np.eye(2)[y], np.ones(50))
    _, lists = grown(X, np.eye(2)[y], loss, 0.1, 3)
    assert len(lists) == 1


@pytest.mark.parametrize("loss", KINDS)
def test_losses_are_plain_sums(loss):
    rng = np.random.default_rng(3)
    weight, rows = rng.uniform(1, 2, 30), rng.random(30) < 0.5
    share = weight / weight.sum()
    if loss == "class":
        p = rng.dirichlet(np.ones(4), 30)
        found = Loss.regret(p, weight)
        np.testing.assert_allclose(found.rows(2), share * (p.max(axis=1) - p[:, 2]))
        assert found.best_value(rows) == (share[rows] @ p[rows]).argmax()
        said = 1
    elif loss == "sure":
        p, said = rng.dirichlet(np.ones(3), 30), [0.2, 0.5, 0.3]
        found = Loss.probabilities(p, weight, 0.4)
        lost = p.max(axis=1) - p[:, 1] + 0.4 * ((p - said) ** 2).sum(axis=1)
        np.testing.assert_allclose(found.rows(said), share * lost)
        mean = np.average(p[rows], weights=weight[rows], axis=0)
        assert found.best_value(rows) == pytest.approx(mean.tolist())
        # The best on any rows: no class, and no probabilities, cost less.
        least = found.rows(mean.tolist())[rows].sum()
        for other in rng.dirichlet(np.ones(3), 50).tolist():
            assert found.rows(other)[rows].sum() >= least - 1e-12
    elif loss == "chances":
        p, said = rng.dirichlet(np.ones(3), 30), [0.2, 0.5, 0.3]
        found = Loss.logarithmic(p, weight)
        divergence = [sum(p[i] * np.log(p[i] / said)) for i in range(30)]
        np.testing.assert_allclose(found.rows(said), share * divergence)
        mean = np.average(p[rows], weights=weight[rows], axis=0)
        assert found.best_value(rows) == pytest.approx(mean.tolist())
        # What was never so may be rare, but is not impossible.
        never = Loss.logarithmic(np.eye(2)[[0] * 30], weight).best_value(rows)
        assert never == pytest.approx([1.0, 0.001])
    else:
        said, t = 1, rng.normal(size=30)
        found = Loss.squares(t, weight)
        np.testing.assert_allclose(found.rows(0.5), share * (t - 0.5) ** 2)
        mean = np.average(t[rows], weights=weight[rows])
        assert found.best_value(rows) == pytest.approx(mean)
    part = found.take(np.flatnonzero(rows))
    assert part.share.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        part.rows(said), found.rows(said)[rows] / found.share[rows].sum()
    )


def test_rows_without_weight_are_told_what_all_are():
    loss = Loss.squares(np.array([1.0, 2.0, 5.0]), np.array([1.0, 1.0, 0.0]))
    nobody = np.array([False, False, True])
    assert loss.best_value(nobody) == loss.best_value(~nobody) == 1.5


@pytest.mark.parametrize(("n_left", "n_boxes"), [(LEAST_ROWS - 1, 0), (LEAST_ROWS, 1)])
def test_a_few_rows_are_not_left_to_otherwise(n_left, n_boxes):
    # All but a few rows say 0, which are in no box that says so.
    codes = np.repeat([0, 1], [60, n_left]).astype(np.uint8)[:, None]
    grid = Grid.of(codes, np.array([3]), np.array([False]))
    target = np.repeat([-0.2, 4.0], [60, n_left])
    ones = np.ones(60 + n_left)
    loss = Loss.squares(target, ones)
    problem = make_problem(grid, loss, Penalties(1e-6, 0.0), ones)
    box = np.array([[True, False, True]])
    for start in (BoxList(box, (-0.2,), 4.0, np.inf), BoxList(~box, (4.0,), -0.2, 9.0)):
        assert len(refine(problem, start).boxes) == n_boxes


def test_the_penalty_is_halved_twice_where_nothing_pays():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "class", literal=0.008)
    pool = np.zeros((0, len(problem.seen)), dtype=bool)
    beam, penalties = grow_lists(problem, pool, 0), []

    def nothing(problem, beam):
        penalties.append(problem.literal)
        return []

    grow(problem, beam, 3, nothing, lambda problem, trials: trials)
    assert penalties == [0.008, 0.004, 0.002]


def test_some_rows_count_for_all_of_them(monkeypatch):
    problem = random_problem(np.random.default_rng(0), "values", n_rows=400)
    assert thinned(problem) is problem
    monkeypatch.setattr("clearwood.search.growth.MOST_ROWS", 200)
    some = thinned(problem)
    assert some.grid.n_rows == len(some.loss.share) == 200
    assert some.counts.sum() == pytest.approx(400.0)
    assert some.loss.share.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(some.seen, problem.seen)
    # A random part: neither the first rows nor the last.
    rows = some_rows(400, 1)
    assert len(set(rows)) == 200 and 60 < (rows < 200).sum() < 140
    np.testing.assert_array_equal(some.grid.columns, problem.grid.columns[:, rows])


@pytest.mark.parametrize(
    ("n_scores", "n_rows"), [(1, 20_000), (250, 20_000), (500, 10_000), (9000, 5000)]
)
def test_fewer_rows_are_searched_where_each_has_hundreds_of_scores(n_scores, n_rows):
    assert len(some_rows(20_001, n_scores)) == n_rows
    assert some_rows(n_rows, n_scores) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_loss_knows_its_number_of_scores(kind):
    loss = random_problem(np.random.default_rng(0), kind).loss
    assert loss.n_scores == loss.scores.shape[1]


def test_a_problem_without_the_features_that_no_box_asks_about(monkeypatch):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "class")
    grid, d = problem.grid, 1
    pool = np.ones((3, len(problem.seen)), dtype=bool)
    stretch = slice(grid.start[d], grid.start[d] + grid.n_bins[d])
    pool[:, stretch] = rng.random((3, grid.n_bins[d])) < 0.5
    pool[0, grid.start[d]] = False
    signs = np.arange(len(grid.n_bins)) - 1
    problem = problem._replace(signs=signs)
    same, boxes, is_kept = narrowed(problem, pool)
    assert same is problem and boxes is pool and is_kept.all()
    monkeypatch.setattr("clearwood.search.growth.MOST_FEATURES", 1)
    fewer, boxes, is_kept = narrowed(problem, pool)
    np.testing.assert_array_equal(
        np.flatnonzero(is_kept), np.arange(*stretch.indices(99))
    )
    np.testing.assert_array_equal(fewer.grid.columns, grid.columns[[d]])
    assert fewer.grid.n_bins == grid.n_bins[d] and fewer.grid.start == 0
    assert fewer.grid.is_category == grid.is_category[d]
    assert fewer.signs == signs[d]
    np.testing.assert_array_equal(fewer.seen, problem.seen[stretch])
    np.testing.assert_array_equal(contains(fewer.grid, boxes), contains(grid, pool))
    lst = widened(BoxList(boxes, (0, 1, 0), 1, 0.5), is_kept)
    np.testing.assert_array_equal(lst.boxes, pool)
    # Nothing to choose from, and no feature left.
    assert len(grow_lists(problem, pool[:0], 3)) == 1


@pytest.mark.parametrize("n", range(11))
def test_dot_products_are_those_of_numpy(n):
    numbers, weights = np.random.default_rng(n).normal(size=(2, n))
    assert dot_product(numbers, weights) == pytest.approx(numbers @ weights)


@pytest.mark.parametrize(("n_outputs", "n_columns"), [(256, 259), (300, 67)])
def test_of_hundreds_of_outputs_a_tree_finds_what_they_have_in_common(
    n_outputs, n_columns, monkeypatch
):
    rng, asked = np.random.default_rng(0), set()
    X = rng.integers(0, 10, (400, 5)).astype(np.uint8)
    # Two of the outputs depend on one feature; the others are nearly nothing.
    target = 0.01 * rng.normal(size=(400, n_outputs))
    target[:, 17] += X[:, 3] > 6
    target[:, 71] -= X[:, 3] > 6
    grid, whole = numeric_grid(X, 10), candidates.node_boxes

    def node_boxes(grid, rows, stats, *rest):
        asked.add(stats.shape[1])
        return whole(grid, rows, stats, *rest)

    monkeypatch.setattr(candidates, "node_boxes", node_boxes)
    pool = candidate_boxes(grid, target, np.ones(400), rng, n_trees=3, max_leaves=2)
    assert asked == {n_columns}
    cut = np.ones((5, 11), dtype=bool)
    cut[3] = np.arange(11) > 6
    parts = pool.reshape(-1, 5, 11)[:, :, :10]  # Without the bin of missing values.
    assert (parts == cut[:, :10]).all(axis=(1, 2)).sum() == 1


def test_no_two_boxes_to_choose_from_hold_the_same_rows():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (70, 3)).astype(np.uint8)
    grid, target = numeric_grid(X, 4), rng.normal(size=70)
    pool = candidate_boxes(grid, target, np.ones(70), np.random.default_rng(1))
    held = naive.members(grid, pool)
    assert len(np.unique(held, axis=0)) == len(pool) > 50


@pytest.mark.parametrize("n_rows", [1, 64, 70, 200])
def test_sums_of_boxes_by_line_are_those_of_their_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    grid = numeric_grid(rng.integers(0, 4, (n_rows, 3)).astype(np.uint8), 4)
    boxes = np.array([random_box(rng, grid) for _ in range(9)])
    columns = rng.normal(size=(n_rows, int(rng.integers(1, 9))))
    line = rng.integers(0, 3, n_rows).astype(np.int32)
    found = sums_of_boxes(rows_in_boxes(grid, boxes), line, 3, columns)
    for rows, sums in zip(naive.members(grid, boxes), found):
        for j in range(3):
            expected = np.zeros(columns.shape[1])
            for i in np.flatnonzero(rows & (line == j)):
                expected += columns[i]
            np.testing.assert_array_equal(sums[j], expected)


def test_gains_ask_how_much_rows_count():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "values")
    counts = (np.arange(problem.grid.n_rows) % 3 == 0).astype(float)
    problem = problem._replace(counts=counts)
    pool = np.array([random_box(rng, problem.grid) for _ in range(20)])
    current = random_list(rng, problem, 2)
    change, _ = ListGains(problem, pool).changes(problem, current)
    enough = np.zeros(change.shape, dtype=bool)
    for b, box in enumerate(pool):
        for position in range(3):
            member = naive.members(problem.grid, [*current.boxes[:position], box])
            caught = member[-1] & ~member[:-1].any(axis=0)
            enough[b, position] = counts[caught].sum() >= problem.min_samples_leaf
    np.testing.assert_array_equal(np.isfinite(change), enough)
    assert enough.any() and not enough.all()


@pytest.mark.parametrize("most", [1, 99])
def test_lists_are_of_all_features_also_where_some_are_not_searched(most, monkeypatch):
    monkeypatch.setattr("clearwood.search.growth.MOST_FEATURES", most)
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (200, 4)).astype(np.uint8)
    grid = numeric_grid(X, 10)
    loss = Loss.squares(np.where(X[:, 2] > 4, 1.0, -1.0), np.ones(200))
    problem = make_problem(grid, loss, Penalties(0.001, 0.0), np.ones(200))
    pool = np.ones((1, 44), dtype=bool)
    pool[0, 22:25] = False
    found = grow_lists(problem, pool, 2)
    assert found[-1].boxes.shape == (1, 44)
    np.testing.assert_allclose(found[-1].predict(grid), loss.target[:, 0])
    # Where no box asks about any, all are searched.
    assert grow_lists(problem, np.ones((1, 44), dtype=bool), 2)


@pytest.mark.parametrize("kind", ["values", "sure"])
def test_lists_found_on_some_rows_say_what_fits_all(kind, monkeypatch):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, kind, n_rows=900, literal=0.0)
    pool = np.array([random_box(rng, problem.grid) for _ in range(8)])
    monkeypatch.setattr("clearwood.search.growth.MOST_ROWS", 300)
    found, some = grow_lists(problem, pool, 2), grow_lists(thinned(problem), pool, 2)
    assert len(found) == len(some) == 3
    for lst, thin in zip(found, some):
        np.testing.assert_array_equal(lst.boxes, thin.boxes)
        first = first_box(contains(problem.grid, lst.boxes))
        for k, value in enumerate([*lst.values, lst.otherwise]):
            best = problem.loss.best_value(first == k)
            assert value == pytest.approx(best)
    assert found[-1].values != some[-1].values
