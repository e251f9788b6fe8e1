"""The recursion, the leaves at its end, and the units of columns."""

import numpy as np
import pytest
from scipy import stats
from tests.circuits.learning.test_dependence import mixed, whole
from tests.circuits.made import space

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.leaf_blocks import Block
from clearwood.circuits.learning.recursion import assemble, grow
from clearwood.circuits.learning.slices import Parts, Slice
from clearwood.circuits.learning.units import Units
from clearwood.circuits.nodes import Product, Sum, walk
from clearwood.distributions import (
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.distributions.chow_liu import levels_of
from clearwood.distributions.of_columns import LEAST_SHARE


def halves(slice_):
    """A split of rows in the middle, down to ten."""
    n = len(slice_.train)
    if n < 20:
        return None
    first = np.arange(n) < n // 2
    none = np.zeros(len(slice_.valid), dtype=bool)
    slices = [slice_.of_rows(first, none), slice_.of_rows(~first, ~none)]
    return Parts(slices, np.array([n // 2, n - n // 2]))


def test_splits_are_tried_in_order_and_every_cell_is_in_one_block():
    slice_ = whole(mixed())
    for splits in ([halves, split_columns], [split_columns, halves]):
        pieces = grow(slice_, splits)
        blocks = [piece.block for piece in pieces if not piece.children]
        for j, n in zip(slice_.discrete, slice_.n_levels):
            counts = sum(
                np.split(block.apart.counts, block.apart.starts[1:-1])[place]
                for block in blocks
                for place in np.flatnonzero(block.apart.variables == j)
            )
            levels = slice_.train.codes[:, slice_.discrete == j]
            assert counts.tolist() == [(levels == k).sum() for k in range(n)]
        root = assemble(pieces, 0.1, True)
        assert isinstance(root, Sum if splits[0] is halves else Product)
        assert root.variables == tuple(range(5))
        np.testing.assert_allclose(
            [n.weights.sum() for n in walk(root) if isinstance(n, Sum)], 1.0
        )


def test_depth_is_no_limit():
    def one_row(slice_):
        n = len(slice_.train)
        rest = np.arange(n) > 0
        none = np.zeros(0, dtype=bool)
        slices = [slice_.of_rows(~rest, none), slice_.of_rows(rest, none)]
        return Parts(slices, np.array([1, n - 1])) if n > 1 else None

    values = np.random.default_rng(0).integers(2, size=(1100, 2)).astype(float)
    slice_ = Slice.from_table(values, values[:0], space([2, 2]))
    root = assemble(grow(slice_, [one_row]), 0.1, False)
    assert sum(isinstance(node, Sum) for node in walk(root)) == 1099
    units = Units(np.zeros(2), np.ones(2))
    again = Circuit(units.restored(root), space([2, 2]))
    density = compile_circuit(again).log_likelihood(values[:3])
    assert np.isfinite(density).all()


def test_leaves_of_a_block():
    rng = np.random.default_rng(0)
    coin = rng.integers(2, size=500)
    third = np.where(rng.random(500) < 0.1, rng.integers(3, size=500), 2 * coin)
    number = coin + rng.normal(size=500)
    values = np.column_stack([coin, third, number, number + rng.normal(size=500)])
    values[rng.random(values.shape) < 0.1] = np.nan
    slice_ = Slice.from_table(values, values[:0], space([2, 3, None, None]))
    tree, normal = Block.from_slice(slice_).leaves(0.5, trees=True)
    assert isinstance(tree, ChowLiuTree) and tree.variables == (0, 1)
    assert tree.parents == (-1, 0)
    known = ~np.isnan(values)
    ones = (values[known[:, 0], 0] == 1).sum()
    share = (ones + 0.5) / (known[:, 0].sum() + 1.0)
    assert tree.tables[0][0, 1] == pytest.approx(share, rel=1e-12)
    both = values[known[:, 0] & known[:, 1], :2].astype(int)
    count = (both[:, 0] == 1).sum(), ((both[:, 0] == 1) & (both[:, 1] == 2)).sum()
    share = (count[1] + 0.5) / (count[0] + 1.5)
    assert tree.tables[1][1, 2] == pytest.approx(share, rel=1e-12)
    assert isinstance(normal, MultivariateGaussian) and normal.variables == (2, 3)
    assert normal.covariance[0, 1] > 0.8
    # As in the thesis, or where they are known not to depend on each other.
    apart = list(Block.from_slice(slice_).leaves(0.5, trees=False))
    assert [leaf.variables for leaf in apart[:2]] == [(0,), (1,)]
    assert apart[1].probabilities[2] == pytest.approx(
        ((values[:, 1] == 2).sum() + 0.5) / (known[:, 1].sum() + 1.5), rel=1e-12
    )
    alone = list(Block.from_slice(slice_, independent=True).leaves(0.5, trees=True))
    assert [leaf.variables for leaf in alone] == [(0,), (1,), (2,), (3,)]


def test_trees_have_the_parents_that_were_counted():
    """Columns 0 - 2 - 3 - 1: the order of a tree is not its own inverse."""
    rng = np.random.default_rng(0)
    chain = np.cumsum(rng.random((600, 4)) < 0.15, axis=1) % 2
    lone = rng.integers(2, size=600)
    values = np.column_stack([lone, chain[:, [0, 3, 1, 2]]]).astype(float)
    slice_ = Slice.from_table(values, values[:0], space([2] * 5))
    block = Block.from_slice(slice_)
    _, tree = block.leaves(0.5, trees=True)
    assert tree.variables == (1, 3, 4, 2) and tree.parents == (-1, 0, 1, 2)
    for i, (above, j) in enumerate(zip((1, 3, 4), (3, 4, 2)), start=1):
        for a in range(2):
            own = values[values[:, above] == a, j]
            share = (own.sum() + 0.5) / (len(own) + 1.0)
            assert tree.tables[i][a, 1] == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("trees", [False, True])
def test_a_block_says_of_rows_what_its_leaves_say(trees):
    """Two groups of normals, two numbers alone, a tree and a column alone; holes."""
    rng = np.random.default_rng(0)
    cause = rng.normal(size=(400, 2)).repeat(2, axis=1)
    numbers = np.hstack([cause + rng.normal(size=(400, 4)), rng.normal(size=(400, 2))])
    coin = rng.integers(2, size=400)
    levels = [coin, coin ^ (rng.random(400) < 0.1), rng.integers(3, size=400)]
    values = np.column_stack([numbers, *levels]).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    features = space([None] * 6 + [2, 2, 3])
    block = Block.from_slice(Slice.from_table(values, values[:0], features))
    assert len(block.normals) == len(block.moments) == 2
    leaves = Product(tuple(block.leaves(0.3, trees)))
    assert any(isinstance(leaf, ChowLiuTree) for leaf in leaves.children) == trees
    np.testing.assert_allclose(
        block.log_density(values, levels_of(values), 0.3, trees),
        compile_circuit(Circuit(leaves, features)).log_likelihood(values),
        rtol=1e-12,
    )


def test_normals_are_drawn_to_the_whole_table_and_have_a_least_variance():
    values = np.array([[2.0], [2.0], [np.nan]])
    slice_ = Slice.from_table(values, values[:0], space([None]))
    (leaf,) = Block.from_slice(slice_).leaves(1.0, trees=True)
    # Two cells and one row with mean 0 and variance 1.
    assert leaf.mean == pytest.approx(4 / 3)
    assert leaf.variance == pytest.approx((2 * (2 / 3) ** 2 + 1 + (4 / 3) ** 2) / 3)
    (sharp,) = Block.from_slice(slice_).leaves(0.0, trees=True)
    assert sharp.variance == LEAST_SHARE
    (empty,) = Block.from_slice(slice_.of_rows(np.array([2]), np.arange(0))).leaves(
        1.0, True
    )
    assert (empty.mean, empty.variance) == (0.0, 1.0)


def test_units_there_and_back():
    rng = np.random.default_rng(0)
    features = space([2, None, None])
    values = np.column_stack(
        [rng.integers(2, size=200), rng.normal(1e6, 3.0, 200), rng.gamma(2.0, size=200)]
    ).astype(float)
    values[::7, 1] = np.nan
    units = Units.from_values(values, features)
    scaled = units.scaled(values)
    np.testing.assert_array_equal(scaled[:, 0], values[:, 0])
    np.testing.assert_allclose(np.nanmean(scaled[:, 1:], axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.nanvar(scaled[:, 1:], axis=0), 1)
    two = MultivariateGaussian(
        (1, 2), np.array([0.1, 0.2]), np.array([[1, 0.5], [0.5, 2]])
    )
    bins = Histogram(2, np.array([-9.0, 0.0, 9.0]), np.array([0.3, 0.7]))
    for node in (two, Product((Gaussian(1, 0.3, 2.0), bins))):
        root = Sum(np.array([0.4, 0.6]), (node, node))
        old, new = (
            compile_circuit(Circuit(r, features)) for r in (root, units.restored(root))
        )
        present = ~np.isnan(values)
        shift = (present * np.log(units.one)).sum(axis=1)
        np.testing.assert_allclose(
            new.log_likelihood(values), old.log_likelihood(scaled) - shift, rtol=1e-9
        )
    alone = compile_circuit(Circuit(units.restored(Gaussian(1, 0.0, 1.0)), features))
    normal = stats.norm(np.nanmean(values[:, 1]), np.nanstd(values[:, 1]))
    np.testing.assert_allclose(
        alone.log_likelihood(values[1:5]), normal.logpdf(values[1:5, 1]), rtol=1e-9
    )
