"""Parts that become leaves again, beside a plain statement of the rule."""

from dataclasses import replace

import numpy as np
import pytest
from tests.circuits.made import space

from clearwood.circuits.learning.clusters import Starts, split_into_two
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.recursion import assemble, grow
from clearwood.circuits.learning.slices import Slice
from clearwood.circuits.learning.trimming import prune_pieces


def grown(slice_, prune=True):
    rng = np.random.default_rng(0)

    def rows(part):
        return split_into_two(part, Starts(2), rng)

    return grow(slice_, [rows, split_columns], prune=prune)


def below(pieces, i):
    """A piece and all under it, as if there was nothing else."""
    inside = [i]
    for j in inside:
        inside += pieces[j].children
    place = {j: at for at, j in enumerate(sorted(inside))}
    own = [
        replace(pieces[j], children=[place[child] for child in pieces[j].children])
        for j in sorted(inside)
    ]
    return own, place


def plainly_pruned(pieces, table, alpha, trees):
    """Bottom up: a tree of the slice, or all that is below, by the rows it got."""
    found = set()
    for i in reversed(range(len(pieces))):
        if not pieces[i].children:
            continue
        own, place = below(pieces, i)
        inside = {place[j] for j in found & set(place)}
        rows = table._replace(valid=table.valid[pieces[i].valid_rows])
        if not len(rows.valid):
            continue
        as_it_is, as_leaves = (
            rows.score(assemble(own, alpha, trees, pruned)) for pruned in (inside, {0})
        )
        if as_leaves > as_it_is:
            found.add(i)
    return found


def chains_and_kinds(n, seed):
    """Rows where each column follows the one before, and rows of four kinds; holes."""
    rng = np.random.default_rng(seed)
    chain = np.cumsum(rng.random((n, 8)) < 0.2, axis=1) % 2
    kinds = rng.integers(4, size=n)[:, None] == np.arange(8) // 2
    kinds = kinds ^ (rng.random((n, 8)) < 0.05)
    first = rng.random(n) < 0.5
    rows = np.where(first[:, None], chain, kinds).astype(float)
    rows[rng.random(rows.shape) < 0.03] = np.nan
    number = np.where(first, 3.0, rng.integers(4, size=n)) + rng.normal(size=n)
    return np.column_stack([rows, np.where(first, 0, 1 + kinds.argmax(axis=1)), number])


@pytest.fixture(scope="module")
def table():
    features = space([2] * 8 + [9, None])
    return LearningTable(*(chains_and_kinds(n, n) for n in (900, 300)), features)


@pytest.fixture(scope="module")
def pieces(table):
    return grown(Slice.from_table(*table[:3]))


@pytest.mark.parametrize("alpha, trees", [(0.1, True), (1.0, False)])
def test_beside_a_plain_statement(table, pieces, alpha, trees):
    score, pruned = prune_pieces(pieces, table.valid, alpha, trees)
    inner = {i for i, piece in enumerate(pieces) if piece.children}
    assert pruned and pruned < inner
    assert pruned == plainly_pruned(pieces, table, alpha, trees)
    root = assemble(pieces, alpha, trees, pruned)
    assert score == pytest.approx(table.score(root), abs=1e-9)
    bare = grown(Slice.from_table(*table[:3]), prune=False)
    assert [i for i, piece in enumerate(bare) if piece.block is None] == sorted(inner)
    as_it_was, none = prune_pieces(bare, table.valid, alpha, trees)
    assert not none
    assert as_it_was == pytest.approx(table.score(assemble(pieces, alpha, trees)))
    assert score > as_it_was + 0.02
