"""Trees in bins: splits, lookahead, the best of every size, local search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search import naive
from tests.search.problems import numeric_grid, random_grid, random_loss

from clearwood._kernels.search import LOG_MEAN, LOG_VARIANCE
from clearwood._kernels.search_trees import (
    N_EXTRA,
    add_rows,
    best_splits,
    cost_of_tree,
    costs_of_rows,
    histogram,
    leaf_loss,
    leaves_of_rows,
    spread_cuts,
)
from clearwood.datasets import make_synthetic1
from clearwood.search import Grid, Loss, Penalties, contains, make_problem, refine
from clearwood.search.grid import LEAST_ROWS
from clearwood.search.growth import some_rows
from clearwood.search.losses import SQUARED_ERROR, LossForm
from clearwood.search.trees.flat import FlatTree
from clearwood.search.trees.grow import (
    expansions,
    grow_trees,
    improve,
    merged,
    removals,
    transplanted,
)
from clearwood.search.trees.nodes import (
    MOST_BINS_AHEAD,
    TreeProblem,
    _moves,
    as_list,
    at,
    inner_nodes,
    leaf_boxes,
    make_tree_problem,
    objective,
    root_of,
)
from clearwood.search.trees.splits import (
    best_subtrees,
    first_split,
    first_splits,
    grow,
    next_split,
    prunings,
)

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(
    ["class", "two classes", "values", "draws", "variances", "shares", "rates"]
)
EXACT_CATEGORIES = ("two classes", "values", "rates")


def random_problem(rng, kind, n_rows=40, literal=0.0, with_category=True):
    """A small problem in which categories can be split exactly."""
    with_category = with_category and kind in EXACT_CATEGORIES
    grid = random_grid(rng, n_rows, with_category)
    weight = rng.uniform(0.5, 2.0, n_rows)
    counts = (rng.random(n_rows) < 0.8).astype(float)
    if kind in ("draws", "variances", "shares", "rates"):
        return random_projection(rng, kind, grid, weight / weight.sum(), counts)
    loss = random_loss(rng, "sure" if kind == "class" else kind, n_rows)
    if kind == "two classes":
        # With a soft part, two groups of categories need not stand in order.
        loss = Loss.probabilities(rng.dirichlet(np.ones(2), n_rows), weight, 0.0)
    return make_tree_problem(grid, loss, counts, literal)


def random_projection(rng, kind, grid, share, counts):
    """A small problem of the kinds in which a tree follows a distribution."""
    n_rows = len(share)
    if kind == "draws":
        scores, leaf = rng.normal(size=(n_rows, 3)), SQUARED_ERROR
    elif kind == "variances":
        mean, noise = rng.normal(size=(n_rows, 2)), rng.gamma(1.0, size=(n_rows, 2))
        both = np.stack([mean, mean**2 + noise], axis=2)
        scores, leaf = both.reshape(n_rows, 4), LossForm(LOG_VARIANCE)
    elif kind == "shares":
        scores, leaf = rng.dirichlet(np.ones(3), n_rows), LossForm(LOG_MEAN)
        scores[0] = [1.0, 0.0, 0.0]
    else:
        scores, leaf = rng.gamma(1.0, size=(n_rows, 1)), LossForm(LOG_MEAN)
        scores[0] = 0.0
    return TreeProblem.of(grid, scores * share[:, None], share, counts, leaf)


def said_class(tree, grid):
    return tree.predict(grid).argmax(axis=1)


@given(SEEDS, KINDS)
@settings(max_examples=40)
def test_the_best_split_is_the_best_of_all(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=30)
    root = root_of(problem)
    constant = problem.constant
    losses, goes_left = root.best_splits
    for d, loss in enumerate(losses):
        best = naive.best_split(problem, root.rows, d, LEAST_ROWS)
        if not np.isfinite(best):
            assert loss == np.inf
            continue
        assert loss + constant == pytest.approx(best)
        mask = goes_left[root.part(d)]
        both = naive.sides(problem, root.rows, d, mask, LEAST_ROWS)
        assert sum(naive.leaf_loss(problem, side) for side in both) == (
            pytest.approx(best)
        )
        # Numeric questions are cuts; what never occurred goes with the larger group.
        if not problem.grid.is_category[d]:
            assert (np.diff(mask[:-1].astype(int)) <= 0).all()
        rows = np.bincount(problem.grid.columns[d], minlength=len(mask))
        larger = rows[mask].sum() > rows[~mask].sum()
        unknown = mask if problem.grid.is_category[d] else mask[-1:]
        counted = rows if problem.grid.is_category[d] else rows[-1:]
        assert (unknown[counted == 0] == larger).all()


@pytest.mark.parametrize("n_rows", [12, 60])
def test_a_feature_at_a_time_is_as_all_at_once(n_rows):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, (n_rows, 3)).astype(np.uint8)
    grid = numeric_grid(codes, 30)
    scores = rng.normal(size=(n_rows, 2)) / n_rows
    share = np.full(n_rows, 1 / n_rows)
    problem = TreeProblem.of(grid, scores, share, np.ones(n_rows), SQUARED_ERROR)
    root = root_of(problem)
    rows, stats = root.rows, problem.stats
    sums = histogram(grid.columns, grid.start, len(root.box), rows, stats)
    losses, goes_left = best_splits(sums, *grid[1:], SQUARED_ERROR, float(LEAST_ROWS))
    np.testing.assert_array_equal(root.best_splits[0], losses)
    np.testing.assert_array_equal(root.best_splits[1], goes_left)


@pytest.mark.parametrize("n_columns", [3, 4, 5, 6])
def test_rows_are_added_to_their_bins_however_many_columns(n_columns):
    rng = np.random.default_rng(0)
    column, rows = rng.integers(5, size=30).astype(np.uint16), np.arange(3, 25)
    here = rng.normal(size=(len(rows), n_columns))
    sums = np.ones((5, n_columns))
    expected = sums.copy()
    np.add.at(expected, column[rows], here)
    add_rows(column, rows, here, sums)
    np.testing.assert_allclose(sums, expected)


def test_what_is_known_of_other_trees_is_what_would_be_found():
    rng = np.random.default_rng(0)
    grid = random_grid(rng, n_rows=80)
    loss = Loss.probabilities(rng.dirichlet(np.ones(2), 80), np.ones(80), 0.1)
    problem = make_tree_problem(grid, loss, np.ones(80))
    trees = grow_trees(problem, 6)
    assert len(trees) > 3
    for tree in trees:
        for address, node in inner_nodes(tree):
            fresh = at(root_of(problem).shaped_like(tree), address)
            assert tree.known and not fresh.known
            moved, expected = node.moved, fresh.moved
            assert moved.cost == expected.cost
            np.testing.assert_array_equal(leaf_boxes(moved)[0], leaf_boxes(expected)[0])
            for leaf in fresh.leaves():
                known = [n for n in node.leaves() if (n.box == leaf.box).all()]
                pairs = zip(known[0].promising, leaf.promising, strict=True)
                for (cost, d, mask), (other, e, other_mask) in pairs:
                    assert (cost, d) == (other, e)
                    np.testing.assert_array_equal(mask, other_mask)


def test_of_equal_cuts_the_middle_one_is_taken():
    codes = np.repeat([1, 7], 10).astype(np.uint8)[:, None]
    loss = Loss.squares(codes[:, 0] * 1.0, np.ones(20))
    root = root_of(make_tree_problem(numeric_grid(codes, 9), loss, np.ones(20)))
    _, goes_left = root.best_splits
    assert goes_left[:9].tolist() == [True] * 4 + [False] * 5


def test_missing_values_may_be_a_side_of_their_own():
    codes = np.repeat([0, 1, 2, 3], 10).astype(np.uint8)[:, None]
    loss = Loss.squares(np.repeat([1.0, 1.0, 1.0, 5.0], 10), np.ones(40))
    grid = Grid.of(codes, np.array([4]), np.array([False]))
    root = root_of(make_tree_problem(grid, loss, np.ones(40)))
    split = root.split(*next_split(root)[1:])
    assert sorted(len(leaf.rows) for leaf in split.leaves()) == [10, 30]
    assert objective(split) == pytest.approx(0.0)


def test_lookahead_tries_missing_values_on_both_sides_of_every_cut():
    codes = np.repeat([0, 1, 2, 3], 10).astype(np.uint8)[:, None]
    grid = Grid.of(codes, np.array([4]), np.array([False]))
    loss = Loss.squares(np.arange(40.0), np.ones(40))
    _, masks = first_splits(root_of(make_tree_problem(grid, loss, np.ones(40))))
    cuts = [(True, False, False), (True, True, False), (True, True, True)]
    wanted = {(*cut, side) for cut in cuts for side in (False, True)}
    assert wanted <= set(map(tuple, masks.tolist()))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("most", [2, 3, 8])
def test_of_many_cuts_some_are_tried_with_equal_numbers_between(missing, most):
    codes = np.random.default_rng(0).permutation(np.arange(1000) // 10 * 2)
    codes[:50] = 200 if missing else codes[:50]
    grid = numeric_grid(codes[:, None].astype(np.uint8), 200)
    loss = Loss.squares(codes * 1.0, np.ones(1000))
    root = root_of(make_tree_problem(grid, loss, np.ones(1000)))
    _, masks = spread_cuts(grid, root.rows, np.array([0]), most)
    n_cuts = most // 2 if missing else most
    assert len(masks) == n_cuts * (1 + missing)
    assert len(np.unique(masks[:, :-1], axis=0)) == n_cuts
    rows = np.bincount(codes, minlength=201)[:-1]
    upto = np.unique(masks[:, :-1] @ rows)
    between = np.diff([0, *upto, rows.sum()])
    assert np.abs(between - rows.sum() / (n_cuts + 1)).max() <= 20


def own_loss(leaf):
    return leaf_loss(leaf.sums, leaf.problem.leaf)


@given(SEEDS, st.sampled_from(["class", "values"]))
@settings(max_examples=12)
def test_lookahead_is_the_best_of_all_pairs_of_levels(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=30, with_category=False)
    root = root_of(problem)
    best = naive.best_of_two_levels(problem, root.rows, LEAST_ROWS)
    found = first_split(root)
    if not np.isfinite(best):
        assert found is None
        return
    tree = root.split(*found[1:])
    left, right = (own_loss(leaf) for leaf in tree.children)
    left_split, right_split = (
        min(own_loss(leaf), leaf.best_splits[0].min()) for leaf in tree.children
    )
    assert left_split + right_split + problem.constant == pytest.approx(best)
    # The gain is that of the best number of leaves, per leaf.
    one = min(left_split + right, left + right_split)
    after = np.array([left + right, one, left_split + right_split])
    gains = (own_loss(root) - after) / [1, 2, 3]
    assert found[0] == pytest.approx(gains.max())


def test_on_many_rows_lookahead_sees_what_it_sees_on_all():
    # By themselves, seven features and more look better than the two that matter.
    X = np.random.default_rng(1).integers(0, 10, (6000, 14)).astype(np.uint8)
    y = ((X[:, 2] > 4) ^ (X[:, 4] > 4)).astype(int)
    loss = Loss.probabilities(np.eye(2)[y], np.ones(6000), 0.1)
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(6000)))
    assert root.best_splits[0].argsort()[:7].tolist().count(2) == 0
    gain, d, _ = first_split(root)
    assert d in (2, 4)
    assert gain > 0.9 * objective(root) / 3


@given(SEEDS)
def test_best_subtrees_are_the_best_of_all_prunings(seed):
    rng = np.random.default_rng(seed)
    costs, left, right = [rng.random()], [-1], [-1]
    for _ in range(int(rng.integers(0, 6))):
        leaf = int(rng.choice([i for i, child in enumerate(left) if child < 0]))
        left[leaf], right[leaf] = len(left), len(left) + 1
        left += [-1, -1]
        right += [-1, -1]
        costs += rng.normal(size=2).tolist()
    found = best_subtrees(costs, left, right, most=5)
    best = {}
    for leaves in naive.every_pruning(left, right):
        cost = sum(costs[i] for i in leaves)
        best[len(leaves)] = min(best.get(len(leaves), np.inf), cost)
    assert len(found) == min(max(best), 5)
    for size, (cost, leaves) in enumerate(found, start=1):
        assert len(leaves) == size
        assert cost == pytest.approx(best[size])
        assert sum(costs[i] for i in leaves) == pytest.approx(cost)
        assert leaves in set(naive.every_pruning(left, right))


@pytest.mark.parametrize("kind", ["class", "values"])
def test_prunings_keep_the_tree(kind):
    rng = np.random.default_rng(5)
    problem = random_problem(rng, kind, n_rows=200, literal=0.001)
    tree = grow(root_of(problem), 8, next_split)
    cut = prunings(tree, 6)
    assert sorted(cut) == list(range(1, 7))
    masks = {mask.tobytes() for _, n in inner_nodes(tree) for mask in [n.goes_left]}
    for size, smaller in cut.items():
        assert smaller.n_leaves == size
        assert {n.goes_left.tobytes() for _, n in inner_nodes(smaller)} <= masks
        for leaf in smaller.leaves():
            assert (naive.leaf_of(smaller, leaf.rows[0]).box == leaf.box).all()
    assert cut[6].cost <= cut[5].cost + 6 * 0.001


@pytest.mark.parametrize("kind", ["class", "values"])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_what_rows_and_literals_say(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=150, literal=0.002)
    for tree in grow_trees(problem, 6):
        leaves = {}
        for i in range(150):
            leaves.setdefault(id(naive.leaf_of(tree, i)), []).append(i)
        total = sum(naive.leaf_loss(problem, np.array(r)) for r in leaves.values())
        for leaf in tree.leaves():
            seen = problem.seen
            total += 0.002 * naive.literals(problem.grid, leaf.box, seen)
            support = problem.stats[leaves[id(leaf)], -2].sum()
            assert tree.n_leaves == 1 or support >= LEAST_ROWS
        assert objective(tree) == pytest.approx(total)


@pytest.mark.parametrize("kind", ["class", "values"])
def test_as_arrays_a_tree_costs_what_its_leaves_lose_and_their_literals(kind):
    problem = random_problem(np.random.default_rng(0), kind, n_rows=150, literal=0.002)
    nodes = [node for _, node in inner_nodes(grow_trees(problem, 8)[-1])]
    assert any(
        below.feature == node.feature for node in nodes for below in node.children
    )
    for node in nodes:
        cost = sum(
            own_loss(leaf)
            + 0.002 * naive.literals(problem.grid, leaf.box, problem.seen)
            for leaf in node.leaves()
        )
        assert cost_of_tree(problem, node.place, FlatTree.of(node)) == pytest.approx(
            cost
        )


@pytest.mark.parametrize("kind", ["class", "values", "rates"])
def test_splits_that_are_tried_cost_what_trees_with_them_cost(kind):
    problem = random_problem(np.random.default_rng(0), kind, n_rows=150, literal=0.002)
    for _, node in inner_nodes(grow_trees(problem, 8)[-1]):
        leaf = node.leaf()
        for cost, d, mask in leaf.promising:
            assert cost == pytest.approx(leaf.split(d, mask).cost)
        for cost, d, mask in _moves(node):
            tree = node.split(d, mask, node.children)
            assert cost == (pytest.approx(tree.cost) if tree.is_sound else np.inf)


@pytest.mark.parametrize("kind", ["two classes", "values", "rates"])
def test_the_first_split_that_is_tried_sends_rows_where_they_cost_least(kind):
    problem = random_problem(np.random.default_rng(1), kind, n_rows=100)
    tree = grow(root_of(problem), 8, next_split)
    nodes = [node for _, node in inner_nodes(tree) if node.n_leaves > 2]
    assert len(nodes) > 1
    for node in nodes:
        left, right = (cost_below(child, node.rows) for child in node.children)
        _, d, mask = _moves(node)[0]
        goes_left = mask[problem.grid.columns[d][node.rows]]
        costs = np.stack([left, right])
        sent = sum(costs[:, side].sum(axis=1).min() for side in (goes_left, ~goes_left))
        best = naive.best_sides(problem, node.rows, left, right, LEAST_ROWS)
        assert sent == pytest.approx(best)
        # The side to which more of them belong is the one they go to.
        assert left[goes_left].sum() <= right[goes_left].sum()


def cost_below(tree, rows):
    """What each row would cost in the leaf of a tree that it comes to."""
    nodes = [tree]
    for node in nodes:
        nodes.extend(node.children)
    at = leaves_of_rows(tree.problem.grid, rows, FlatTree.of(tree), 0)
    return costs_of_rows(tree.problem, rows, np.array([n.sums for n in nodes]), at)


@pytest.mark.parametrize("kind", ["class", "values", "draws", "variances", "shares"])
def test_rows_cost_least_in_their_own_leaf(kind):
    problem = random_problem(np.random.default_rng(0), kind, n_rows=150)
    leaves = list(grow_trees(problem, 6)[-1].leaves())
    assert len(leaves) > 2
    more = []
    for k, leaf in enumerate(leaves):
        costs = [cost_below(other, leaf.rows).sum() for other in leaves]
        assert costs[k] == pytest.approx(min(costs))
        more.append((costs[k] - own_loss(leaf)) / leaf.sums[-N_EXTRA])
    # There they cost what the leaf loses, but for what all rows cost alike.
    np.testing.assert_allclose(more, more[0], atol=1e-9)


@pytest.mark.parametrize(
    "kind",
    ["class", "two classes", "values", "draws", "variances", "shares", "rates"],
)
@pytest.mark.parametrize("seed", range(4))
def test_local_search_never_raises_the_objective(kind, seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind, n_rows=200, literal=0.001)
    tree = grow(root_of(problem), 5, next_split)
    better = improve(tree)
    assert better.n_leaves == tree.n_leaves
    assert better.cost <= tree.cost
    assert better.is_sound
    assert improve(better).cost == better.cost
    assert all(node.moved is node for _, node in inner_nodes(better))
    trees = grow_trees(problem, 6)
    costs = [tree.cost for tree in trees]
    assert costs == sorted(costs, reverse=True)
    for start in prunings(grow(root_of(problem), 12, next_split), 6).values():
        longest = [t for t in trees if t.n_leaves <= start.n_leaves][-1]
        assert longest.cost <= improve(start).cost + 1e-9


def checkers(n_rows=2000, seed=0):
    """XOR of two features among five."""
    X = np.random.default_rng(seed).integers(0, 10, (n_rows, 5)).astype(np.uint8)
    return X, ((X[:, 0] > 4) ^ (X[:, 1] > 6)).astype(int)


def test_a_wrong_cut_is_moved_with_the_rest_of_the_tree_kept():
    X, y = checkers()
    loss = Loss.probabilities(np.eye(2)[y], np.ones(2000), 0.1)
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(2000)))
    second = root.split(1, np.arange(11) <= 6)
    wrong = root.split(0, np.arange(11) <= 7, (second, second))
    assert objective(wrong) > 0.1
    right = wrong.moved
    assert right.feature == 0
    assert right.goes_left[:10].tolist() == [True] * 5 + [False] * 5
    assert objective(right) == pytest.approx(0.0)


def test_a_moved_split_keeps_its_sides_with_the_rows_that_fit_them():
    X = np.random.default_rng(1).integers(0, 10, (2000, 3)).astype(np.uint8)
    low, high = np.where(X[:, 1] < 5, 0.0, 4.0), np.where(X[:, 2] < 5, 1.0, -3.0)
    loss = Loss.squares(np.where(X[:, 0] < 5, low, high), np.ones(2000))
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(2000)))
    on_low, on_high = (root.split(d, np.arange(11) <= 4) for d in (1, 2))
    # High values go left.
    tree = root.split(0, np.arange(11) > 7, (on_high, on_low))
    assert objective(tree) > 0.1
    assert objective(tree.moved) == pytest.approx(0.0)


def test_a_leaf_moves_to_where_it_is_needed():
    X = np.random.default_rng(1).integers(0, 10, (2000, 3)).astype(np.uint8)
    t = np.where(X[:, 0] < 5, np.where(X[:, 1] < 5, 0.0, 4.0), 1.0)
    loss = Loss.squares(t, np.ones(2000))
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(2000)))
    idle = root.split(2, np.arange(11) <= 4)
    tree = root.split(0, np.arange(11) <= 4, (root, idle))
    assert tree.n_leaves == 3
    for better in (transplanted(tree), improve(tree)):
        assert better.n_leaves == 3
        assert objective(better) == pytest.approx(0.0)
    assert [t.n_leaves for t in removals(tree)] == [2, 2]
    assert removals(tree)[0].cost == min(t.cost for t in removals(tree))
    (longer,) = expansions(tree)
    assert longer.n_leaves == 4


def test_a_split_is_replaced_by_one_of_its_sides():
    X = np.random.default_rng(2).integers(0, 10, (2000, 3)).astype(np.uint8)
    t = np.where(X[:, 1] < 5, 0.0, 4.0)
    loss = Loss.squares(t, np.ones(2000))
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(2000)))
    useful = root.split(1, np.arange(11) <= 4)
    tree = root.split(2, np.arange(11) <= 4, (root, useful))
    shorter = removals(tree)[0]
    assert (shorter.n_leaves, shorter.feature) == (2, 1)
    assert objective(shorter) == pytest.approx(0.0)


def test_xor_needs_lookahead():
    both = np.stack(np.divmod(np.arange(2000) % 100, 10), axis=1)
    noise = np.random.default_rng(0).integers(0, 10, (2000, 3))
    X = np.column_stack([both, noise]).astype(np.uint8)
    # Every value of either feature goes with both classes equally often.
    y = ((X[:, 0] > 4) ^ (X[:, 1] > 4)).astype(int)
    loss = Loss.probabilities(np.eye(2)[y], np.ones(2000), 0.1)
    grid = numeric_grid(X, 10)
    problem = make_tree_problem(grid, loss, np.ones(2000))
    greedy = grow(root_of(problem), 4, next_split)
    trees = grow_trees(problem, 6)
    assert (said_class(greedy, grid) == y).mean() < 0.7
    assert [tree.n_leaves for tree in trees][-1] == 4
    assert (said_class(trees[-1], grid) == y).all()


def test_noisy_xor_in_many_bins():
    X, y = make_synthetic1(1500, noise=0.1, random_state=0)
    noise = np.random.default_rng(0).random((1500, 6))
    codes = (200 * np.column_stack([X, noise])).astype(np.uint8)
    loss = Loss.probabilities(np.eye(2)[y], np.ones(1500), 0.1)
    grid = Grid.of(codes, np.full(8, 201), np.zeros(8, bool))
    trees = grow_trees(make_tree_problem(grid, loss, np.ones(1500), 0.0003), 5)
    four = next(tree for tree in trees if tree.n_leaves == 4)
    truth = (X > 0.5).sum(axis=1) == 1
    assert (said_class(four, grid) == truth).mean() > 0.97


@pytest.mark.parametrize("min_samples_leaf", [LEAST_ROWS, 9])
def test_leaves_need_so_many_rows_that_are_not_synthetic(min_samples_leaf):
    X = np.repeat([0, 1], [30, 170]).astype(np.uint8)[:, None]
    grid, loss = numeric_grid(X, 2), Loss.squares(X[:, 0] * 1.0, np.ones(200))
    for n_real, n_trees in ((min_samples_leaf, 2), (min_samples_leaf - 1, 1)):
        counts = np.ones(200)
        counts[n_real:30] = 0
        problem = make_tree_problem(
            grid, loss, counts, min_samples_leaf=min_samples_leaf
        )
        assert len(grow_trees(problem, 3)) == n_trees


def test_leaves_are_boxes_that_lists_can_start_from():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 10, (800, 4)).astype(np.uint8)
    t = np.sin(X[:, 0] / 2) + X[:, 1] * X[:, 2] / 30
    t = (t - t.mean()) / t.std()
    grid, loss = numeric_grid(X, 10), Loss.squares(t, np.ones(800))
    tree = grow_trees(make_tree_problem(grid, loss, np.ones(800)), 6)[-1]
    boxes, values = leaf_boxes(tree)
    member = contains(grid, boxes)
    assert (member.sum(axis=0) == 1).all()
    said = np.array(values)[member.argmax(axis=0)]
    np.testing.assert_array_equal(tree.predict(grid), said)
    np.testing.assert_allclose(said, [naive.leaf_of(tree, i).value for i in range(800)])
    problem = make_problem(grid, loss, Penalties(0.0, 0.01), np.ones(800))
    refined = refine(problem, as_list(tree))
    assert refined.objective <= objective(tree) + 1e-9


def test_categories_are_split_in_groups():
    codes = np.random.default_rng(0).integers(0, 6, (300, 1)).astype(np.uint8)
    t = np.isin(codes[:, 0], [0, 2, 5]) * 1.0
    grid = Grid.of(codes, np.array([8]), np.array([True]))
    problem = make_tree_problem(grid, Loss.squares(t, np.ones(300)), np.ones(300))
    trees = grow_trees(problem, 2)
    np.testing.assert_allclose(trees[-1].predict(grid), t)


def test_splits_that_say_nothing_are_merged():
    X = np.stack(np.divmod(np.arange(2000) % 100, 10), axis=1).astype(np.uint8)
    # How sure the second class is differs along feature 1 where feature 0 is low.
    p = np.where(X[:, 0] > 4, 0.5, np.where(X[:, 1] > 6, 0.25, 0.0))
    loss = Loss.probabilities(np.stack([1 - p, p], axis=1), np.ones(2000), 0.1)
    root = root_of(make_tree_problem(numeric_grid(X, 10), loss, np.ones(2000)))
    tree = root.split(0, np.arange(11) <= 4)
    left, right = tree.children
    useful, idle = (side.split(1, np.arange(11) <= 6) for side in (left, right))
    merged_idle = merged(tree.with_children((useful, idle)))
    assert merged_idle.n_leaves == 3
    assert merged_idle.children[0] is useful
    said = [leaf.value for leaf in merged_idle.leaves()]
    np.testing.assert_allclose(said, [[1, 0], [0.75, 0.25], [0.5, 0.5]], atol=1e-12)
    # Of equal classes, one is said that is surer than another; of equal chances none.
    grid = numeric_grid(X, 10)
    assert len(grow_trees(root.problem, 4)) == 3
    constant = Loss.probabilities(np.tile([0.9, 0.1], (2000, 1)), np.ones(2000), 0.1)
    assert len(grow_trees(make_tree_problem(grid, constant, np.ones(2000)), 4)) == 1


def test_without_features_there_is_one_leaf():
    grid = Grid.of(np.zeros((20, 0), np.uint8), np.zeros(0, int), np.zeros(0, bool))
    loss = Loss.squares(np.arange(20.0), np.ones(20))
    problem = make_tree_problem(grid, loss, np.ones(20))
    assert [tree.n_leaves for tree in grow_trees(problem, 4)] == [1]


def test_trees_found_on_some_rows_are_trees_of_all(monkeypatch):
    rng = np.random.default_rng(0)
    grid = random_grid(rng, 900)
    loss = random_loss(rng, "values", 900)
    problem = make_tree_problem(grid, loss, np.ones(900))
    monkeypatch.setattr("clearwood.search.growth.MOST_ROWS", 300)
    some = problem.take(some_rows(900, 1))
    assert some.stats[:, :-1].sum(axis=0) == pytest.approx(
        3 * problem.stats[some_rows(900, 1), :-1].sum(axis=0)
    )
    found, thin = grow_trees(problem, 4), grow_trees(some, 4)
    assert [tree.n_leaves for tree in found] == [1, 2, 3, 4]
    for tree, other in zip(found, thin):
        np.testing.assert_array_equal(leaf_boxes(tree)[0], leaf_boxes(other)[0])
        assert sum(len(leaf.rows) for leaf in tree.leaves()) == 900
        for leaf in tree.leaves():
            assert leaf.value == pytest.approx(
                np.average(loss.target[leaf.rows, 0], weights=loss.share[leaf.rows])
            )


def test_splits_that_follow_are_sought_in_fewer_bins():
    """One split alone wins nothing, both win all: seen in 4 bins of 40, too."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (2000, 3)).astype(np.uint8)
    target = np.where((X[:, 1] >= 20) ^ (X[:, 2] >= 20), 1.0, -1.0)
    problem = make_tree_problem(
        numeric_grid(X, 40), Loss.squares(target, np.ones(2000)), np.ones(2000)
    )
    assert problem.ahead.n_bins.max() == MOST_BINS_AHEAD < problem.grid.n_bins.max()
    gain, feature, goes_left = first_split(root_of(problem))
    assert feature in (1, 2)
    best = grow_trees(problem, 4)[-1]
    assert best.n_leaves == 4 and objective(best) < 0.02
