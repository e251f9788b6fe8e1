from itertools import combinations

import numpy as np
import pytest
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.sequences import state_trees
from clearwood.sequences.recurrent.state_trees import last_symbols


def naive_split(column, values, n_symbols):
    """The least squares after one of all splits into two sets of symbols."""
    best = np.inf
    for size in range(1, n_symbols):
        for chosen in combinations(range(n_symbols), size):
            left = np.isin(column, chosen)
            if 7 <= left.sum() <= len(left) - 7:
                sides = (values[left], values[~left])
                best = min(best, sum(((s - s.mean()) ** 2).sum() for s in sides))
    return best


def test_one_split_is_the_best_of_all_sets_of_symbols():
    rng = np.random.default_rng(1)
    codes = rng.integers(6, size=400)
    values = rng.normal(size=6)[codes] + rng.normal(size=400)
    # So much no second split explains.
    found = state_trees(values[:, None], codes, window=1, complexity=0.2)
    (tree,) = found.trees
    assert tree.depth == 1 and tree.size == 3
    grown_on = slice(0, 320)
    said = tree.tree.to_rules().predict_encoded(codes[grown_on, None].astype(float))
    lost = ((np.asarray(said, float) - values[grown_on]) ** 2).sum()
    wanted = naive_split(codes[grown_on], values[grown_on], 6)
    # Leaves print their means short.
    assert lost == pytest.approx(wanted, rel=1e-3)


def test_a_machine_on_the_symbols_before_the_last_is_found():
    codes = np.random.default_rng(0).integers(8, size=3000)
    past = last_symbols([codes], 3)
    unit = np.where(np.isin(past[:, 2], [1, 4, 6]), 5 + np.isin(past[:, 1], [0, 7]), 1)
    found = state_trees(
        unit[:, None], codes, window=4, names=["memory"], complexity=0.005
    )
    (tree,) = found.trees
    assert tree.r2 == pytest.approx(1.0, abs=0.02)
    assert (tree.name, tree.depth, tree.size) == ("memory", 2, 5)
    assert {c.feature for leaf in tree.tree.leaves for c in leaf.conditions} == {1, 2}


def test_what_a_leaf_must_explain_decides_how_many_there_are():
    rng = np.random.default_rng(0)
    codes = rng.integers(10, size=4000)
    values = (codes**2 + rng.normal(size=4000))[:, None]
    sizes = [
        state_trees(values, codes, window=2, complexity=share).trees[0].size
        for share in (0.3, 0.05, 0.001)
    ]
    assert sizes[0] < sizes[1] < sizes[2]


def test_units_that_say_nothing_or_only_noise():
    codes = np.random.default_rng(0).integers(3, size=2000)
    noise = np.random.default_rng(1).normal(size=2000)
    units = np.column_stack([np.full(2000, 2.5), noise])
    found = state_trees(units, codes, window=2)
    constant, other = found.trees
    assert (constant.r2, constant.depth, constant.size) == (1.0, 0, 1)
    assert abs(other.r2) < 0.1
    mean, spread = found.mean_and_std("size")
    sizes = [tree.size for tree in found.trees]
    assert (mean, spread) == (np.mean(sizes), np.std(sizes))
    assert str(found).splitlines()[0].split() == ["unit", "R2", "depth", "size"]


def test_before_a_sequence_begins_nothing_is_known():
    past = last_symbols([np.array([4, 5, 6]), np.array([7, 8])], 3)
    nan = np.nan
    np.testing.assert_array_equal(
        past, [[4, nan, nan], [5, 4, nan], [6, 5, 4], [7, nan, nan], [8, 7, nan]]
    )
    # So that where one begins can be asked for.
    codes = [np.zeros(3, dtype=int)] * 200
    fresh = np.tile([1.0, 0.0, 0.0], 200)[:, None]
    (tree,) = state_trees(fresh, codes, window=2).trees
    assert tree.r2 == 1.0 and tree.size == 3


@pytest.mark.parametrize(
    ("states", "change"),
    [
        (np.zeros((3, 1)), {}),
        (np.zeros(4), {}),
        (np.full((4, 1), np.nan), {}),
        (np.zeros((4, 2)), {"names": ["a"]}),
        (np.zeros((4, 1)), {"window": 0}),
    ],
)
def test_states_that_do_not_fit_are_refused(states, change):
    with refuses(InputError):
        state_trees(states, [0, 1, 0, 1], **change)
