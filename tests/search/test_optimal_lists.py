"""The best of all short lists, beside all lists one by one."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.problems import numeric_grid, random_grid, random_loss

from clearwood._kernels.search_lists import least_in_and_out, sums_of_literal_pairs
from clearwood.search import Loss, contains
from clearwood.search.lists import optimal
from clearwood.search.lists.ascent import first_box
from clearwood.search.lists.optimal import optimal_lists, orderings

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["class", "values"])


def small_problem(rng, kind, n_rows=12, n_orders=3):
    """Some orders of numeric bins, with missing values, and of categories."""
    grid = random_grid(rng, n_rows)
    sets = [(2, rng.random(5) < 0.5) for _ in range(2)]
    orders = orderings(grid, sets)
    chosen = rng.choice(len(orders), n_orders, replace=False)
    return grid, random_loss(rng, kind, n_rows), [orders[q] for q in chosen]


def boxes_of(grid, orders, max_literals):
    """Rows and features of all boxes."""
    literals = []
    for d, place in orders:
        at = place[grid.columns[d]]
        for cut in range(int(place.max())):
            literals += [(at <= cut, {d}), (at > cut, {d})]
    pairs = itertools.combinations(literals, 2) if max_literals == 2 else ()
    both = [(a & b, one | two) for (a, one), (b, two) in pairs]
    return {(mask.tobytes(), frozenset(used)) for mask, used in [*literals, *both]}


def every_list(grid, loss, orders, max_boxes, max_literals):
    """The least loss of all lists of exactly some features."""
    boxes = [
        (np.frombuffer(mask, dtype=bool), used)
        for mask, used in boxes_of(grid, orders, max_literals)
    ]
    known, found = {}, {}

    def cost(rows):
        key = rows.tobytes()
        if key not in known:
            value = loss.best_value(rows) if rows.any() else None
            known[key] = loss.rows(value)[rows].sum() if rows.any() else 0.0
        return known[key]

    def extend(rows, lost, used, n_boxes):
        total = lost + cost(rows)
        found[used] = min(found.get(used, np.inf), total)
        for mask, own in boxes if n_boxes else ():
            more = lost + cost(rows & mask)
            extend(rows & ~mask, more, used | own, n_boxes - 1)

    extend(np.ones(grid.n_rows, dtype=bool), 0.0, frozenset(), max_boxes)
    return found


def loss_of(grid, loss, boxes):
    first = first_box(contains(grid, boxes))
    parts = [first == k for k in range(len(boxes) + 1)]
    return sum(loss.rows(loss.best_value(p))[p].sum() for p in parts if p.any())


@given(SEEDS, KINDS, st.sampled_from([(1, 2), (2, 2), (2, 1), (3, 1)]))
@settings(max_examples=25)
def test_the_best_list_and_all_features_by_brute_force(seed, kind, size):
    rng = np.random.default_rng(seed)
    grid, loss, orders = small_problem(rng, kind, n_orders=2 if size[0] == 3 else 3)
    every = every_list(grid, loss, orders, *size)
    least, tolerance = min(every.values()), float(rng.choice([0.0, 0.02, 0.1]))
    found = optimal_lists(
        grid, loss, orders, size[0], max_literals=size[1], tolerance=tolerance
    )
    assert found.is_complete
    single = [(mask, used) for mask, used in boxes_of(grid, orders, 1) if any(mask)]
    # Both sides of a split are boxes.
    assert found.n_splits == sum(not all(mask) for mask, _ in single) / 2
    assert found.best.loss == pytest.approx(least, abs=1e-8)
    assert found.bound == pytest.approx(least, abs=1e-8)
    near = {k: v for k, v in every.items() if v <= least + tolerance + 1e-8}
    minimal = {k: v for k, v in near.items() if not any(o < k for o in near)}
    assert {k: v.loss for k, v in found.by_features.items()} == pytest.approx(
        minimal, abs=1e-8
    )
    for one in (found.best, *found.by_features.values()):
        assert len(one.boxes) <= size[0]
        assert loss_of(grid, loss, one.boxes) == pytest.approx(one.loss, abs=1e-8)


def interrupted(grid, loss, orders, n_calls):
    """The search for three boxes until the kernel has been called so often."""
    calls = itertools.count()

    def kernel(*args):
        if next(calls) == n_calls + 1:
            raise KeyboardInterrupt
        return sums_of_literal_pairs(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "sums_of_literal_pairs", kernel)
        found = optimal_lists(grid, loss, orders, 3, max_literals=1)
    assert found.is_complete == (next(calls) <= n_calls + 1)
    return found


@given(SEEDS, KINDS, st.integers(1, 60))
@settings(max_examples=25)
def test_an_interrupted_search_has_a_valid_bound(seed, kind, n_calls):
    rng = np.random.default_rng(seed)
    grid, loss, orders = small_problem(rng, kind, n_rows=30, n_orders=3)
    whole = optimal_lists(grid, loss, orders, 3, max_literals=1)
    part = interrupted(grid, loss, orders, n_calls)
    assert part.bound <= whole.bound + 1e-9 <= part.best.loss + 2e-9
    assert loss_of(grid, loss, part.best.boxes) == pytest.approx(part.best.loss)


def test_an_interrupted_search_counts_what_it_has_left():
    """What is left below a first box may be the least bound."""
    grid, loss, rng = coin_tosses(163)
    whole = optimal_lists(grid, loss, orderings(grid), 3, max_literals=1)
    part = interrupted(grid, loss, orderings(grid), int(rng.integers(1, 60)))
    assert part.bound <= whole.bound + 1e-9


def coin_tosses(seed):
    """Few rows of two features, and classes that depend on neither."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 40))
    X = rng.integers(0, 4, (n_rows, 2)).astype(np.uint8)
    y = rng.integers(0, 2, n_rows)
    loss = Loss.regret(np.eye(2)[y], rng.choice([1.0, 3.0], n_rows))
    return numeric_grid(X, 4), loss, rng


def test_similar_support_excludes_no_best_list():
    """With half the distance between boxes, these seeds would find worse lists."""
    grid, loss, _ = coin_tosses(362)
    found = optimal_lists(grid, loss, orderings(grid), 2)
    every = every_list(grid, loss, orderings(grid), 2, 2)
    assert found.best.loss == pytest.approx(min(every.values()))
    grid, _, rng = coin_tosses(20)
    rng.integers(1, 60)
    loss = Loss.squares(rng.standard_t(1.5, grid.n_rows), np.ones(grid.n_rows))
    found = optimal_lists(grid, loss, orderings(grid), 2)
    every = every_list(grid, loss, orderings(grid), 2, 2)
    assert found.best.loss == pytest.approx(min(every.values()))


def parity(n_features=3):
    X = np.array(list(itertools.product(range(4), repeat=n_features)), dtype=np.uint8)
    y = ((X[:, 0] > 1) != (X[:, 1] > 1)).astype(int)
    return numeric_grid(X, 4), Loss.regret(np.eye(2)[y], np.ones(len(X)))


def test_exclusive_or_needs_two_boxes():
    grid, loss = parity()
    losses = [optimal_lists(grid, loss, orderings(grid), n).best.loss for n in (1, 2)]
    assert losses == pytest.approx([0.25, 0.0])


def test_a_time_limit_ends_the_search():
    grid, loss = parity()
    found = optimal_lists(grid, loss, orderings(grid), 2, time_limit=0.0)
    assert not found.is_complete
    assert (found.bound, found.best.loss) == (0.0, 0.25)


def count_calls(monkeypatch):
    """The numbers of boxes of all calls of the kernel."""
    calls = []

    def counted(*args):
        calls.append(len(args[-1]))
        return sums_of_literal_pairs(*args)

    monkeypatch.setattr(optimal, "sums_of_literal_pairs", counted)
    return calls


def test_similar_support_excludes_most_first_boxes(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 4)).astype(np.uint8)
    y = ((X[:, 0] > 3) & (X[:, 1] < 3)) | (X[:, 2] > 4) | (rng.random(300) < 0.05)
    grid, loss = numeric_grid(X, 6), Loss.regret(np.eye(2)[y.astype(int)], np.ones(300))
    calls = count_calls(monkeypatch)
    optimal_lists(grid, loss, orderings(grid), 2)
    assert len(calls) < calls[-1] / 8


def test_equivalent_rows_exclude_first_boxes(monkeypatch):
    """No list loses less than the cells do, each by itself."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 3)).astype(np.uint8)
    y = (X[:, 0] ^ (rng.random(300) < 0.3)).astype(int)
    grid, loss = numeric_grid(X, 2), Loss.regret(np.eye(2)[y], np.ones(300))
    calls = count_calls(monkeypatch)
    found = optimal_lists(grid, loss, orderings(grid), 2)
    assert found.by_features.keys() == {frozenset({0})}
    assert len(calls) < calls[-1]


def test_without_splits_there_is_one_rule():
    grid, loss = parity()
    found = optimal_lists(grid, loss, [], 2)
    assert (found.best.loss, found.bound, found.n_splits) == (0.5, 0.5, 0)
    assert list(found.by_features) == [frozenset()]


@given(SEEDS, st.integers(1, 7))
@settings(max_examples=20)
def test_sums_over_all_boxes(seed, n_columns):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 3)
    start = np.cumsum([0, *sizes])
    places = start[:-1] + rng.integers(0, sizes, (20, 3))
    stats = rng.normal(size=(20, n_columns))
    rows = np.flatnonzero(rng.random(20) < 0.7)
    literals = [(a, side) for a in range(start[-1]) for side in (0, 1)]
    pairs = itertools.combinations_with_replacement(literals, 2)
    boxes = np.array([(*one, *two) for one, two in pairs])
    order = np.searchsorted(start, np.arange(start[-1]), side="right") - 1
    expected = [
        stats[rows][
            ((places[rows, order[a]] <= a) != s) & ((places[rows, order[b]] <= b) != t)
        ].sum(axis=0)
        for a, s, b, t in boxes
    ]
    found = sums_of_literal_pairs(places, start, rows, stats, boxes)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(SEEDS, KINDS)
@settings(max_examples=20)
def test_least_losses_in_and_out(seed, kind):
    rng = np.random.default_rng(seed)
    loss = random_loss(rng, kind, 20)
    inside = rng.random((6, 20)) < [[0.0], [0.2], [0.5], [0.5], [0.8], [1.0]]
    columns = loss.gain_columns(np.zeros(20))
    found = least_in_and_out(
        loss.form, inside @ columns, columns.sum(axis=0), loss.n_scores
    )
    for rows, lost in ((inside, found[0]), (~inside, found[1])):
        expected = [
            loss.rows(loss.best_value(r))[r].sum() if r.any() else 0 for r in rows
        ]
        np.testing.assert_allclose(lost, expected, atol=1e-9)
