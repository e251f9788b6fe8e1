"""Tests of pairs against their twins, and what follows from them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph
from tests.circuits.learning import naive
from tests.circuits.made import space

from clearwood._kernels.circuits_learning import (
    components,
    heaviest_tree,
    pair_tests,
)
from clearwood.circuits.learning.dependence import find_dependence, split_columns
from clearwood.circuits.learning.slices import Slice

SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=30)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.2]), st.sampled_from([4, 12, 70]))
def test_pairs(seed, ratio, missing, most_levels):
    rng = np.random.default_rng(seed)
    n, n_levels = int(rng.integers(1, 200)), rng.integers(1, most_levels + 1, size=4)
    codes = rng.integers(n_levels, size=(n, 4)).astype(np.int16)
    codes[rng.random(codes.shape) < missing] = -1
    offsets = np.append(0, np.cumsum(n_levels))
    found = pair_tests(codes, offsets, ratio)
    for part in found:
        np.testing.assert_array_equal(part, part.T)
    for i, j in itertools.combinations(range(4), 2):
        pair = naive.pair_test(codes[:, i], codes[:, j], n_levels[[i, j]], ratio)
        # Terms of the statistic are differences of counts up to 200.
        assert found[0][i, j] == pytest.approx(pair[0], rel=1e-10, abs=1e-10)
        assert (found[1][i, j], found[2][i, j]) == pair[1:]


@pytest.mark.parametrize("n_levels", [(32, 2), (33, 2), (2, 32), (8, 8), (8, 9)])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pairs_of_as_many_levels_as_bits_are_looked_at(n_levels, missing):
    rng = np.random.default_rng(0)
    codes = rng.integers(n_levels, size=(300, 2)).astype(np.int16)
    codes[rng.random(codes.shape) < missing] = -1
    offsets = np.append(0, np.cumsum(n_levels))
    found = [part[0, 1] for part in pair_tests(codes, offsets, False)]
    wanted = naive.pair_test(codes[:, 0], codes[:, 1], n_levels, False)
    assert found == pytest.approx(wanted, rel=1e-10)


@settings(max_examples=30)
@given(SEEDS)
def test_components(seed):
    rng = np.random.default_rng(seed)
    edges = rng.random((7, 7)) < 0.1
    edges |= edges.T
    found = components(edges)
    _, wanted = csgraph.connected_components(edges, directed=False)
    _, first = np.unique(found, return_index=True)
    assert (np.diff(first) > 0).all()  # in the order of the columns
    same = wanted[:, None] == wanted
    np.testing.assert_array_equal(found[:, None] == found, same)


@settings(max_examples=30)
@given(SEEDS, st.integers(2, 5))
def test_the_heaviest_tree(seed, d):
    weight = np.random.default_rng(seed).normal(size=(d, d))
    weight += weight.T
    order, parent = heaviest_tree(weight)
    assert sorted(order) == list(range(d)) and parent[order[0]] == -1
    place = np.argsort(order)
    assert all(place[parent[j]] < place[j] for j in order[1:])
    total = sum(weight[parent[j], j] for j in order[1:])
    assert total == pytest.approx(naive.best_tree_weight(weight))


def mixed(n=400, seed=0):
    """Two coins that agree, a third, and two numbers, one with the coins."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(2, size=n)
    return np.column_stack(
        [
            coin,
            rng.normal(size=n),
            np.where(rng.random(n) < 0.1, 1 - coin, coin),
            rng.integers(3, size=n),
            coin + rng.normal(size=n),
        ]
    ).astype(float)


def whole(values, n_levels=(2, None, 2, 3, None)):
    return Slice.from_table(values, values[:50], space(n_levels))


def test_columns_are_split_into_those_that_depend():
    parts = split_columns(whole(mixed()))
    (together,) = parts.slices
    assert together.discrete.tolist() == [0, 2] and together.continuous.tolist() == [4]
    assert parts.alone.discrete.tolist() == [3]
    assert parts.alone.continuous.tolist() == [1]
    assert parts.sizes is None
    np.testing.assert_array_equal(together.train.codes, mixed()[:, [0, 2]])
    np.testing.assert_array_equal(together.valid.reals, mixed()[:50, [4]])
    assert split_columns(together) is None


def test_too_few_rows_with_both_cells_say_nothing():
    values = mixed()
    values[19:, 0] = np.nan
    values[:, 2] = values[:, 0].copy()
    assert not find_dependence(whole(values)).edges[0].any()
    values[19, [0, 2]] = values[0, [0, 2]]
    assert find_dependence(whole(values)).edges[0, 1]


@pytest.mark.parametrize("most", [0.0, 1.0], ids=["at the least", "at the most"])
def test_columns_that_are_mostly_at_one_end_are_cut_there(most):
    rng = np.random.default_rng(0)
    rare = rng.random(300) < 0.3
    values = np.column_stack([rare, np.where(rare, 1 - most, most)]).astype(float)
    values[rare, 1] += np.linspace(-0.1, 0.1, rare.sum())
    slice_ = whole(values, (2, None))
    assert find_dependence(slice_).edges[0, 1]
    fixed_rule = find_dependence(slice_, balanced=False).edges[0, 1]
    assert fixed_rule == (most == 0.0)
