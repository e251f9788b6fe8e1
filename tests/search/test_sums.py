"""Sums of boxes: losses, gains, joint values, ascent, and toys with known answers."""

import collections
import itertools

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.search import naive
from tests.search.problems import numeric_grid, random_box, random_grid

from clearwood._kernels.search_sums import best_term, changes, sums_of_groups
from clearwood.search import (
    BoxSum,
    ClassSumLoss,
    Grid,
    SquaredSumLoss,
    candidate_boxes,
    candidates,
    contains,
    frequent_boxes,
    grow_sums,
    make_sum_problem,
    refine_sum,
    select_sums,
)
from clearwood.search.candidates import (
    FREQUENT_LEAVES,
    FREQUENT_ROWS,
    _nodes,
)
from clearwood.search.grid import LEAST_ROWS, literals_of
from clearwood.search.growth import thinned
from clearwood.search.sums.ascent import SumAscent
from clearwood.search.sums.grow import SumGains, _longer, best_refined
from clearwood.search.sums.values import best_values

KINDS = ("values", 2, 3, 7)
"""Squares, or so many classes; of seven, boxes add to some only."""


def random_loss(rng, kind, n_rows):
    weight = rng.uniform(0.5, 2.0, n_rows)
    if kind == "values":
        return SquaredSumLoss.of(rng.normal(size=n_rows), weight)
    return ClassSumLoss.of(rng.dirichlet(np.ones(kind), n_rows), weight)


def random_problem(rng, kind, n_rows=50, literal=0.003, ridge=0.01):
    grid = random_grid(rng, n_rows)
    loss = random_loss(rng, kind, n_rows)
    return make_sum_problem(grid, loss, literal, ridge, np.ones(n_rows))


def random_sum(rng, problem, n_boxes):
    boxes = np.zeros((n_boxes, len(problem.seen)), dtype=bool)
    for box in boxes:
        box[:] = random_box(rng, problem.grid)
    constant = np.zeros(len(problem.loss.target))
    constant[list(problem.loss.free)] = rng.normal(size=len(problem.loss.free))
    outputs = rng.choice(problem.loss.free, n_boxes)
    return BoxSum(boxes, rng.normal(size=n_boxes), outputs, constant, np.inf)


@pytest.mark.parametrize("kind", KINDS)
def test_losses_are_what_they_say(kind):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, kind)
    loss, n_outputs = problem.loss, len(problem.loss.target)
    scores = rng.normal(size=(n_outputs, 50))
    assert loss.rows(scores).sum() == pytest.approx(naive.sum_loss(problem, scores))
    answers = loss.answers(scores)
    for output in loss.free:
        up, down = scores.copy(), scores.copy()
        up[output] += 1e-4
        down[output] -= 1e-4
        up, same, down = map(loss.rows, (up, scores, down))
        first, second = loss.slopes(answers, output)
        np.testing.assert_allclose(first, (up - down) / 2e-4, atol=1e-7)
        np.testing.assert_allclose(second, (up - 2 * same + down) / 1e-8, atol=1e-6)
    some = rng.permutation(50)[:20]
    part = loss.take(some)
    assert part.share.sum() == pytest.approx(1)
    total = loss.share[some].sum()
    np.testing.assert_allclose(
        part.rows(scores[:, some]), loss.rows(scores)[some] / total
    )


def test_scores_beyond_all_bounds_are_no_trouble():
    loss = ClassSumLoss.of(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
    scores = np.array([[0.0, 0.0], [5000.0, -5000.0]])
    np.testing.assert_allclose(loss.rows(scores), 0)
    assert np.isfinite(loss.answers(scores)).all()
    half, share = np.full(2, 0.5), np.full(2, 0.5)
    assert best_term(True, half[:1], share[:1], 0.5, 0.0, loss.largest, 0.0) > 15
    # A value that only a ridge holds back stays where numbers are numbers.
    pull = best_term(True, half, share, 0.5, 1e-9, loss.largest, 3.0)
    assert pull == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_gains_are_the_plain_formula(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    pool = np.array([random_box(rng, problem.grid) for _ in range(8)])
    current = refine_sum(problem, random_sum(rng, problem, 2))
    answers = problem.loss.answers(current.scores(problem.grid))
    # Of several sums at once, each has its own.
    others = [problem.loss.answers(2.0 * answers), answers]
    found = SumGains(problem, pool).gains(problem, others)
    gain, value = (part[:, 1] for part in found)
    for b, rows in enumerate(naive.members(problem.grid, pool)):
        n_literals = naive.literals(problem.grid, pool[b], problem.seen)
        for i, output in enumerate(problem.loss.free):
            if rows.sum() < LEAST_ROWS:
                assert gain[b, i] == -np.inf
                continue
            first, second = problem.loss.slopes(answers, output)
            G, H = first[rows].sum(), second[rows].sum() + problem.ridge
            plain = G**2 / (2 * H) - problem.literal * n_literals
            assert gain[b, i] == pytest.approx(plain, abs=1e-6)
            assert value[b, i] == pytest.approx(-G / H, abs=1e-4)
            if kind == "values":
                # Of squares the formula is no approximation.
                before = naive.sum_objective(problem, *current[:4])
                after = naive.sum_objective(
                    problem,
                    [*current.boxes, pool[b]],
                    [*current.values, -G / H],
                    [*current.outputs, output],
                    current.constant,
                )
                assert gain[b, i] == pytest.approx(before - after, abs=1e-6)


def test_sums_found_on_some_rows_add_what_fits_all(monkeypatch):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "values", n_rows=900)
    pool = np.array([random_box(rng, problem.grid) for _ in range(8)])
    monkeypatch.setattr("clearwood.search.growth.MOST_ROWS", 300)
    found = grow_sums(problem, pool, 2, np.random.default_rng(0))
    some = grow_sums(thinned(problem), pool, 2, np.random.default_rng(0))
    assert len(found) == len(some) == 3
    for one, thin in zip(found, some):
        np.testing.assert_array_equal(one.boxes, thin.boxes)
        ascent = SumAscent(problem, thin)
        ascent.refit()
        np.testing.assert_allclose(one.values, ascent.values, rtol=1e-6)
        assert one.objective == pytest.approx(ascent.objective())
    assert (found[-1].values != some[-1].values).all()


def test_of_two_pools_the_box_that_gains_most_comes_first(monkeypatch):
    X = np.random.default_rng(0).integers(0, 10, (300, 2)).astype(np.uint8)
    target = np.where(X[:, 0] > 4, 4.0, 0.0) + np.where(X[:, 1] > 4, 0.5, 0.0)
    loss = SquaredSumLoss.of(target, np.ones(300))
    problem = make_sum_problem(numeric_grid(X, 10), loss, 0.001, 0.01, np.ones(300))
    boxes = np.ones((2, 22), dtype=bool)
    boxes[0, :5] = boxes[1, 11:16] = False
    pools = [SumGains(problem, box[None]) for box in boxes]
    monkeypatch.setattr("clearwood.search.sums.grow.N_SCREENED", 1)
    # Where the sides of the weaker may move, it becomes the stronger.
    stays = lambda ascent, boxes, *_: np.zeros(len(boxes))  # noqa: E731
    monkeypatch.setattr(SumAscent, "improved", stays)
    constant = random_sum(np.random.default_rng(0), problem, 0)
    for order in (pools, pools[::-1]):
        (trial,) = _longer(problem, order, [constant])
        np.testing.assert_array_equal(trial.boxes, boxes[:1])


def test_joint_values_of_squares_are_least_squares():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "values", n_rows=200, ridge=0.0)
    member = rng.random((4, 200)) < 0.4
    constant, values = best_values(
        problem.loss, 0.0, member, np.zeros(4, int), np.zeros(1), np.zeros(4)
    )
    root = np.sqrt(problem.loss.share)
    design = np.concatenate([np.ones((1, 200)), member]).T * root[:, None]
    expected = np.linalg.lstsq(design, problem.loss.target[0] * root, rcond=None)[0]
    np.testing.assert_allclose([*constant, *values], expected, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_joint_values_are_scipys_optimum(kind):
    rng = np.random.default_rng(1)
    problem = random_problem(rng, kind, n_rows=100, literal=0.0)
    start = random_sum(rng, problem, 4)
    free = list(problem.loss.free)
    member = contains(problem.grid, start.boxes)
    constant, values = best_values(
        problem.loss, problem.ridge, member, start.outputs, start.constant, start.values
    )

    def cost(factors):
        constant = np.zeros(len(problem.loss.target))
        constant[free] = factors[: len(free)]
        values = factors[len(free) :]
        one = BoxSum(start.boxes, values, start.outputs, constant, np.inf)
        loss = problem.loss.rows(one.scores(problem.grid)).sum()
        return loss + problem.ridge / 2 * (values**2).sum()

    found = np.concatenate([constant[free], values])
    expected = minimize(cost, np.zeros(len(found)), tol=1e-12)
    assert cost(found) <= expected.fun + 1e-10
    np.testing.assert_allclose(values, expected.x[len(free) :], atol=1e-4)
    if kind == 2:
        assert constant[0] == 0
    if kind in (3, 7):
        assert constant.sum() == pytest.approx(0, abs=1e-6)


def test_a_class_without_target_has_a_score_that_ends():
    rng = np.random.default_rng(0)
    target = np.column_stack([rng.dirichlet(np.ones(4), 60), np.zeros(60)])
    loss = ClassSumLoss.of(target, np.ones(60))
    rows, outputs = rng.random((1, 60)) < 0.5, np.array([1])
    for member, of in ((rows, outputs), (rows[:0], outputs[:0])):
        constant, _ = best_values(
            loss, 0.01, member, of, np.zeros(5), np.zeros(len(of))
        )
        assert -30 < constant[4] - constant[:4].max() < -15
        others = np.exp(constant[[0, 2, 3]])
        means = target[:, [0, 2, 3]].mean(axis=0)
        np.testing.assert_allclose(others / others.sum(), means / means.sum())


def test_constants_of_probabilities_whose_sums_are_rounded():
    rng = np.random.default_rng(0)
    target = rng.dirichlet(np.ones(3), 60) * (1 + 1e-7)
    loss = ClassSumLoss.of(target, np.ones(60))
    none = np.zeros((0, 60), dtype=bool), np.zeros(0, int), np.zeros(3), np.zeros(0)
    constant, _ = best_values(loss, 0.01, *none)
    means = target.mean(axis=0)
    np.testing.assert_allclose(np.exp(constant) / np.exp(constant).sum(), means, 1e-6)


def test_boxes_are_worth_the_same_whichever_classes_are_one(monkeypatch):
    rng, found, again = np.random.default_rng(0), [], []
    for _ in range(4):
        problem = random_problem(rng, 7)
        ascent = SumAscent(problem, random_sum(rng, problem, 4))
        ascent.refit()
        found += ascent._rises().tolist()
        with monkeypatch.context() as patch:
            patch.setattr(
                "clearwood.search.sums.ascent.classes_without_boxes",
                lambda loss, outputs: outputs[:0],
            )
            again += ascent._rises().tolist()
    np.testing.assert_allclose(found, again, rtol=1e-5)


def test_what_is_said_of_rows_is_said_of_their_groups():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 3)
    one = random_sum(rng, problem, 3)
    expected = problem.loss.answers(one.scores(problem.grid))
    np.testing.assert_allclose(SumAscent(problem, one).answers(), expected)


def test_sums_of_groups_are_plain_sums():
    rng = np.random.default_rng(0)
    group, numbers = rng.integers(4, size=30).astype(np.int32), rng.normal(size=(3, 30))
    share = rng.random(30)
    plain = [[(line * share)[group == g].sum() for g in range(5)] for line in numbers]
    np.testing.assert_allclose(sums_of_groups(group, 5, numbers, share), plain)


def test_of_many_features_those_are_searched_that_a_box_asks_about(monkeypatch):
    X = np.random.default_rng(0).integers(0, 10, (300, 6)).astype(np.uint8)
    target = np.where(X[:, 1] > 4, 4.0, 0.0) + np.where(X[:, 4] > 4, 1.0, 0.0)
    target += np.where(X[:, 2] > 4, 2.0, 0.0)
    loss = SquaredSumLoss.of(target, np.ones(300))
    grid = numeric_grid(X, 10)
    problem = make_sum_problem(grid, loss, 0.001, 0.01, np.ones(300))
    pool = np.ones((2, len(problem.seen)), dtype=bool)
    for box, d in zip(pool, (1, 4)):
        box[grid.start[d] : grid.start[d] + 4] = False
    asked = []
    for most in (6, 5):
        monkeypatch.setattr("clearwood.search.growth.MOST_FEATURES", most)
        found = grow_sums(problem, pool, 4, np.random.default_rng(0))
        boxes = np.logical_not(found[-1].boxes)
        parts = np.logical_or.reduceat(boxes, grid.start, axis=1)
        asked.append(set(np.flatnonzero(parts.any(axis=0)).tolist()))
        answers = found[-1].predict(grid)
        assert found[-1].objective < found[0].objective
        assert np.corrcoef(answers, target)[0, 1] > 0.8
    assert asked == [{1, 2, 4}, {1, 4}]


def test_the_same_box_twice_shares_its_value():
    rng = np.random.default_rng(2)
    problem = random_problem(rng, "values", ridge=1e-6)
    rows = rng.random(50) < 0.5
    outputs = np.zeros(2, int)
    _, twice = best_values(
        problem.loss, 1e-6, np.array([rows, rows]), outputs, np.zeros(1), np.zeros(2)
    )
    assert twice[0] == pytest.approx(twice[1])


@pytest.mark.parametrize("kind", KINDS)
def test_best_value_is_the_best(kind):
    rng = np.random.default_rng(3)
    problem = random_problem(rng, kind)
    loss = problem.loss
    scores = rng.normal(size=loss.target.shape)
    rows = rng.random(50) < 0.3
    for output, start in itertools.product(loss.free, (-14.0, 3.0, 14.0)):
        answers = loss.answers(scores)[output]
        target = loss.weighted[output] @ rows
        found = best_term(
            loss.is_class, answers, loss.share * rows, target, 0.02, loss.largest, start
        )
        # What is lost is convex: two values further away stand for all.
        tried, costs = found + np.array([-1, *np.linspace(-0.05, 0.05, 101), 1]), []
        change = np.empty(50)
        for value in tried:
            moved = scores.copy()
            moved[output] += value
            lost = (loss.rows(moved) - loss.rows(scores))[rows].sum()
            costs.append(lost + 0.01 * value**2)
            # The same, as the loops have it.
            per_target = changes(loss.is_class, answers, value, change)
            said = (loss.share * change)[rows].sum() - per_target * target
            assert said == pytest.approx(lost, abs=1e-12)
        assert tried[np.argmin(costs)] == pytest.approx(found, abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_rows_lose_what_their_rows_lose(kind):
    rng = np.random.default_rng(4)
    problem = random_problem(rng, kind)
    # More boxes than groups are divided by at once.
    ascent = SumAscent(problem, random_sum(rng, problem, 6))
    groups, member = ascent.groups, ascent.member
    assert len(np.unique(member, axis=1).T) == groups.member.shape[1] > 3
    np.testing.assert_array_equal(groups.member[:, groups.of_row], member)
    # In the order in which they appear.
    _, first = np.unique(groups.of_row, return_index=True)
    assert (np.diff(first) > 0).all()
    plain = naive.sum_objective(problem, *ascent.result()[:4])
    assert ascent.objective() == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_objective_never_rises(kind, seed):
    rng = np.random.default_rng(seed)
    # What a value costs by itself counts, too, above all where it costs much.
    problem = random_problem(rng, kind, n_rows=60, ridge=[0.01, 3.0][seed % 2])
    ascent = SumAscent(problem, random_sum(rng, problem, 3))
    before = ascent.objective()
    steps = [lambda k=k: ascent.improve(k) for k in (0, 1, 2, 1)]
    for step in (*steps, ascent.refit, ascent.run, ascent.drop_idle):
        step()
        now = ascent.objective()
        # Dropping may give up as little as any change has to gain.
        assert now <= before + 2e-9
        one = ascent.result()
        assert now == pytest.approx(naive.sum_objective(problem, *one[:4]))
        before = now


@pytest.mark.parametrize("kind", KINDS)
def test_a_sweep_improves_one_box_after_the_other(kind):
    rng = np.random.default_rng(2)
    problem = random_problem(rng, kind, n_rows=80)
    start = random_sum(rng, problem, 4)
    swept, one_by_one = SumAscent(problem, start), SumAscent(problem, start)
    swept.improve()
    for k in range(4):
        one_by_one.improve(k)
    assert (swept.boxes != start.boxes).any()
    np.testing.assert_array_equal(swept.boxes, one_by_one.boxes)
    np.testing.assert_array_equal(swept.values, one_by_one.values)
    assert swept.objective() == one_by_one.objective()


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_that_was_moved_adds_what_is_best_of_its_rows(kind):
    n_moved = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, kind, n_rows=80)
        ascent = SumAscent(problem, random_sum(rng, problem, 3))
        for k in range(3):
            before = ascent.boxes[k].copy()
            ascent.improve(k)
            if (ascent.boxes[k] == before).all():
                continue
            n_moved += 1
            now, value = ascent.objective(), ascent.values[k]
            for step in (-0.01, 0.01):
                ascent.values[k] = value + step
                assert ascent.objective() > now
            ascent.values[k] = value
    assert n_moved > 6


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_that_become_the_same_box_count_once(kind):
    rng = np.random.default_rng(0)
    problem = random_problem(rng, kind)
    ascent = SumAscent(problem, random_sum(rng, problem, 2))
    ascent.refit()
    boxes = np.array([random_box(rng, problem.grid) for _ in range(12)])
    literals = literals_of(problem.grid, boxes, problem.seen)
    outputs, values = np.full(12, problem.loss.free[-1]), rng.normal(size=12)
    alone, n_same = [], 0
    for b in range(12):
        own = [part[b : b + 1].copy() for part in (boxes, literals, outputs, values)]
        (cost,) = ascent.improved(*own)
        alone.append((own[0].tobytes(), cost))
    costs = ascent.improved(boxes, literals, outputs, values)
    for b, (box, cost) in enumerate(alone):
        if box in [box for box, _ in alone[:b]]:
            assert costs[b] == np.inf
            n_same += 1
        else:
            assert costs[b] == cost
            assert boxes[b].tobytes() == box
    assert 0 < n_same < 11


@pytest.mark.parametrize("kind", KINDS)
def test_ascents_end_where_another_was(kind, monkeypatch):
    rng = np.random.default_rng(1)
    problem, known = random_problem(rng, kind), {}
    start = random_sum(rng, problem, 3)
    first = SumAscent(problem, start, known)
    assert first.refine().objective == refine_sum(problem, start).objective
    assert not first.is_known()
    monkeypatch.setattr(SumAscent, "improve", None)
    for one in (start, first.result()):
        again = SumAscent(problem, one._replace(values=one.values + 1.0), known)
        again.refine()
        assert again.is_known()


@pytest.mark.parametrize("kind", KINDS)
def test_longer_sums_cost_what_they_say(kind):
    n_better = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng, kind)
        pool = np.array([random_box(rng, problem.grid) for _ in range(6)])
        current = refine_sum(problem, random_sum(rng, problem, 2))
        trials = _longer(problem, [SumGains(problem, pool)], [current])
        # These have nowhere better to go: they cost what they cost as they stand.
        moved = np.array([trial.boxes[-1] for trial in trials])
        trials += _longer(problem, [SumGains(problem, moved)], [current])
        for trial in trials:
            plain = naive.sum_objective(problem, *trial[:4])
            assert trial.objective == pytest.approx(plain, abs=1e-9)
            n_better += trial.objective < current.objective
    assert n_better > 0


def test_one_box_is_the_best_of_all_on_a_tiny_grid():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (80, 2)).astype(np.uint8)
    target = 2.0 * ((X[:, 0] > 0) & (X[:, 1] == 1)) + 0.3 * rng.normal(size=80)
    loss = SquaredSumLoss.of(target, np.ones(80))
    grid = numeric_grid(X, 3)
    problem = make_sum_problem(grid, loss, 0.01, 1e-6, np.ones(80))
    pool = candidate_boxes(grid, target, np.ones(80), rng)
    found = grow_sums(problem, pool, 1, rng)[1]
    parts = [(low, high) for low in range(3) for high in range(low, 3)]
    least = np.inf
    for sides in itertools.product(parts, parts):
        box = np.zeros(8, bool)
        for d, (low, high) in enumerate(sides):
            box[4 * d + low : 4 * d + high + 1] = True
        inside = naive.members(grid, [box])[0]
        parts_of_target = [target[rows] for rows in (inside, ~inside) if rows.any()]
        cost = sum(len(part) * part.var() for part in parts_of_target) / 80
        cost += 0.01 * naive.literals(grid, box, grid.seen())
        if inside.sum() >= LEAST_ROWS:
            least = min(least, cost)
    assert found.objective == pytest.approx(least, abs=1e-4)


def test_boxes_are_counted_once_per_tree_with_their_complements(monkeypatch):
    n_trees = 100
    monkeypatch.setattr(candidates, "N_FREQUENT", n_trees)
    rng = np.random.default_rng(5)
    X = rng.integers(0, 4, (90, 3)).astype(np.uint8)
    target = X[:, 0] + rng.normal(size=90)
    grid, weight = numeric_grid(X, 4), np.ones(90)
    boxes, frequency = frequent_boxes(grid, target, weight, np.random.default_rng(1))
    settings = n_trees, FREQUENT_LEAVES, FREQUENT_ROWS, (1 / 3,)
    count = collections.Counter()
    for tree in _nodes(grid, target, weight, np.random.default_rng(1), *settings):
        sides = naive.members(grid, tree)
        count.update({frozenset([tuple(rows), tuple(~rows)]) for rows in sides})
    del count[frozenset([(True,) * 90, (False,) * 90])]
    inside = naive.members(grid, boxes)
    keys = [frozenset([tuple(rows), tuple(~rows)]) for rows in inside]
    assert len(set(keys)) == len(keys) == len(count)
    np.testing.assert_allclose(frequency, [count[key] / n_trees for key in keys])
    assert (np.diff(frequency) <= 0).all()


@pytest.mark.parametrize("stability", [0.1, 0.5, 0.9, 1.0])
def test_selected_boxes_have_the_largest_gain_and_frequency(stability):
    rng = np.random.default_rng(6)
    X = rng.integers(0, 6, (120, 3)).astype(np.uint8)
    target = 1.0 * (X[:, 0] > 2) + 0.6 * (X[:, 1] > 3) + 0.5 * rng.normal(size=120)
    grid, weight = numeric_grid(X, 6), np.ones(120)
    pool, frequency = frequent_boxes(grid, target, weight, rng)
    loss = SquaredSumLoss.of(target, weight)
    problem = make_sum_problem(grid, loss, 0.0, 1e-9, weight)
    found = select_sums(problem, pool, frequency, stability, 4)
    assert [len(one.boxes) for one in found] == [0, 1, 2, 3, 4]
    inside = naive.members(grid, pool).astype(float)
    design = np.ones((120, 1))
    for longer in found[1:]:
        left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        gain = (inside @ left) ** 2 / inside.sum(axis=1)
        own = [tuple(box) for box in longer.boxes[:-1]]
        is_new = np.array([tuple(box) not in own for box in pool])
        is_able = is_new & (inside.sum(axis=1) >= LEAST_ROWS) & (gain > 1e-6)
        score = np.where(is_able, gain ** (1 - stability) * frequency**stability, 0.0)
        best = int(score.argmax())
        np.testing.assert_array_equal(longer.boxes[-1], pool[best])
        design = np.column_stack([design, inside[best]])
    left = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    np.testing.assert_allclose(found[-1].predict(grid), target - left, atol=1e-5)


def grown(
    X, target, loss, max_boxes, real=None, literal=0.002, min_samples_leaf=LEAST_ROWS
):
    grid = numeric_grid(X, 10)
    rng = np.random.default_rng(0)
    pool = candidate_boxes(grid, target, np.ones(len(X)), rng)
    real = np.ones(len(X)) if real is None else real
    problem = make_sum_problem(
        grid, loss, literal, 1e-6, real, min_samples_leaf=min_samples_leaf
    )
    return grid, grow_sums(problem, pool, max_boxes, rng)


def three_boxes(X):
    return (
        1.0
        + 2.0 * ((X[:, 0] < 4) & (X[:, 1] > 3))
        - 1.5 * (X[:, 2] > 5)
        + 1.0 * ((X[:, 1] <= 6) & (X[:, 3] > 2))
    )


def test_a_planted_sum_is_found_exactly():
    X = np.random.default_rng(2).integers(0, 10, (2000, 5)).astype(np.uint8)
    target = three_boxes(X)
    grid, path = grown(X, target, SquaredSumLoss.of(target, np.ones(2000)), 6)
    assert len(path) == 4
    np.testing.assert_allclose(path[3].predict(grid), target, atol=1e-4)
    assert path[3].objective == pytest.approx(0.002 * 5, abs=1e-4)
    # A box and its complement differ by the constant.
    assert sorted(abs(path[3].values).round(2)) == [1.0, 1.5, 2.0]
    assert [len(one.boxes) for one in path] == [0, 1, 2, 3]


def test_several_sums_are_grown_further_each_once():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, "values", n_rows=200, literal=1e-5, ridge=1e-4)
    trials = [random_sum(rng, problem, 2)._replace(objective=i) for i in range(6)]
    best = best_refined(problem, [*trials, trials[0]])
    assert len(best) == problem.loss.n_grown == 4
    objectives = [one.objective for one in best]
    assert objectives == sorted(set(objectives))
    assert len(best_refined(problem, trials[:1] * 2)) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_planted_log_odds_are_found(n_classes):
    X = np.random.default_rng(2).integers(0, 10, (2000, 5)).astype(np.uint8)
    scores = np.zeros((n_classes, 2000))
    scores[1] = 3.0 * (X[:, 0] < 4) - 2.0 * ((X[:, 1] > 5) & (X[:, 2] > 3)) - 1.2
    if n_classes == 3:
        scores[2] = 2.1 * (X[:, 4] > 6)
    p = (np.exp(scores) / np.exp(scores).sum(axis=0)).T
    loss = ClassSumLoss.of(p, np.ones(2000))
    grid, path = grown(X, p, loss, n_classes + 1, literal=3e-4)
    entropy = -(p * np.log(p)).sum(axis=1).mean()
    assert path[-1].objective < entropy + 0.02
    found = path[-1].predict(grid)
    assert (found == p.argmax(axis=1)).mean() > 0.98
    if n_classes == 2:
        answers = loss.answers(path[2].scores(grid))
        np.testing.assert_allclose(answers, p.T, atol=1e-3)


@pytest.mark.parametrize("min_samples_leaf", [LEAST_ROWS, 9])
def test_boxes_need_so_many_rows_that_are_not_synthetic(min_samples_leaf):
    X = np.random.default_rng(0).integers(0, 10, (200, 1)).astype(np.uint8)
    target = (X[:, 0] == 3).astype(float)
    for n_real in (min_samples_leaf, min_samples_leaf - 1):
        real = np.ones(200)
        real[np.flatnonzero(target)[n_real:]] = 0
        loss = SquaredSumLoss.of(target, np.ones(200))
        grid, path = grown(X, target, loss, 1, real, min_samples_leaf=min_samples_leaf)
        held = contains(grid, path[-1].boxes)[:, real > 0].sum(axis=1)
        assert (held >= min_samples_leaf).all()
        error = ((path[-1].predict(grid) - target) ** 2).mean()
        assert (error < 1e-6) == (n_real == min_samples_leaf)


def test_boxes_that_do_not_pay_are_dropped():
    rng = np.random.default_rng(5)
    problem = random_problem(rng, "values", n_rows=200, literal=0.02)
    target = 2.0 * (problem.grid.columns[0] > 2)
    loss = SquaredSumLoss.of(target, np.ones(200))
    problem = problem._replace(loss=loss, ridge=1e-6)
    refined = refine_sum(problem, random_sum(rng, problem, 4))
    assert len(refined.boxes) == 1
    assert refined.objective == pytest.approx(
        naive.sum_objective(problem, *refined[:4])
    )


@pytest.mark.parametrize("twin", ["same", "complement"])
def test_no_box_is_told_twice(twin):
    X = np.random.default_rng(0).integers(0, 4, (200, 2)).astype(np.uint8)
    grid = numeric_grid(X, 4)
    p = np.eye(2)[(X[:, 0] > 1).astype(int)]
    loss = ClassSumLoss.of(p, np.ones(200))
    problem = make_sum_problem(grid, loss, 1e-4, 0.01, np.ones(200))
    box = np.arange(10) > 1
    other = box.copy()
    if twin == "complement":
        other[:4] = ~box[:4]
    nothing = np.zeros(2)
    start = BoxSum(np.array([box, other]), np.ones(2), np.ones(2, int), nothing, 0.0)
    refined = refine_sum(problem, start)
    assert len(refined.boxes) == 1
    np.testing.assert_array_equal(refined.predict(grid), X[:, 0] > 1)


def test_nothing_to_say_is_a_constant():
    X = np.zeros((50, 1), dtype=np.uint8)
    p = np.eye(2)[np.arange(50) % 2]
    _, path = grown(X, p, ClassSumLoss.of(p, np.ones(50)), 3)
    assert len(path) == 1
    np.testing.assert_allclose(path[0].constant, 0, atol=1e-9)
    # The model is sure of one class: the constant stays a number.
    sure = np.tile([0.0, 1.0], (50, 1))
    _, path = grown(X, sure, ClassSumLoss.of(sure, np.ones(50)), 3)
    assert 5 < path[0].constant[1] < 100


def test_boxes_that_differ_by_a_few_rows_are_one():
    codes = np.repeat([0, 1, 2], [50, 3, 50]).astype(np.uint8)[:, None]
    grid = Grid.of(codes, np.array([4]), np.array([False]))
    target = np.repeat([0.0, 9.0, 1.0], [50, 3, 50])
    loss = SquaredSumLoss.of(target, np.ones(103))
    problem = make_sum_problem(grid, loss, 1e-9, 1e-6, np.ones(103))
    first, second, outlier = np.array(
        [[1, 0, 0, 1], [1, 1, 0, 1], [1, 0, 1, 1]], dtype=bool
    )

    def left(*boxes):
        n = len(boxes)
        start = BoxSum(
            np.array(boxes), np.ones(n), np.zeros(n, int), np.zeros(1), np.inf
        )
        return len(refine_sum(problem, start).boxes)

    assert left(first) == left(second) == 1
    assert left(first, second) == 1
    assert left(outlier) <= 1  # it moves, or it goes


def test_halving_the_penalty_lets_sums_grow_further(monkeypatch):
    X = np.random.default_rng(1).integers(0, 10, (500, 4)).astype(np.uint8)
    target = three_boxes(X) / three_boxes(X).std()
    loss = SquaredSumLoss.of(target, np.ones(500))
    _, path = grown(X, target, loss, 3, literal=0.15)
    assert [len(one.boxes) for one in path] == [0, 1, 2, 3]
    monkeypatch.setattr("clearwood.search.growth.N_HALVED", 0)
    _, path = grown(X, target, loss, 3, literal=0.15)
    assert [len(one.boxes) for one in path] == [0, 1, 2]
