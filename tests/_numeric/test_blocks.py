"""Sums over blocks, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood._numeric import Blocks, blocks, map_blocks, written_in_place
from clearwood._numeric.blocks import GROUP_BLOCKS


def totals(block, shift):
    x, w = block
    return (w * (x + shift)).sum(axis=0), np.array([len(x)])


@given(n_rows=st.integers(1, 150), block_rows=st.integers(1, 20))
def test_sum_is_the_blocks_added_in_order_by_groups(n_rows, block_rows):
    rng = np.random.default_rng(n_rows)
    x, w = rng.normal(size=n_rows), rng.random(n_rows)
    blocks = Blocks.from_arrays(x, w, block_rows=block_rows)
    total, count = blocks.map_sum(totals, 0.5)
    parts = [
        (w[i : i + block_rows] * (x[i : i + block_rows] + 0.5)).sum()
        for i in range(0, n_rows, block_rows)
    ]
    # The same additions in the same order: no tolerance.
    groups = [added(parts[i : i + GROUP_BLOCKS]) for i in range(0, len(parts), 16)]
    assert total == added(groups)
    assert count[0] == n_rows
    assert len(blocks) == len(parts)


def added(numbers):
    total, *others = numbers
    for number in others:
        total += number
    return total


def test_blocks_are_views():
    x = np.zeros(10)
    next(iter(Blocks.from_arrays(x, block_rows=4)))[0][0] = 7.0
    assert x[0] == 7.0


def test_map_replaces_and_gather_joins():
    blocks = Blocks.from_arrays(np.arange(5), block_rows=2)
    doubled = blocks.map(lambda block: (2 * block[0],))
    np.testing.assert_array_equal(doubled.gather()[0], [0, 2, 4, 6, 8])
    np.testing.assert_array_equal(blocks.gather()[0], np.arange(5))


def test_take_finds_rows_across_blocks():
    blocks = Blocks.from_arrays(np.arange(7), 10 * np.arange(7), block_rows=3)
    ones, tens = blocks.take(np.array([6, 0, 2, 3]))
    assert ones.tolist() == [6, 0, 2, 3]
    assert tens.tolist() == [60, 0, 20, 30]


def test_nothing_to_sum():
    with pytest.raises(ValueError, match="No blocks"):
        Blocks([]).map_sum(totals, 0.0)


@pytest.mark.parametrize("n_rows", [0, 6, 7, 20, 21])
@pytest.mark.parametrize("said", ["numbers", "shares", "words"])
def test_what_is_said_by_blocks_is_said_of_all(n_rows, said, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_OF_ROWS", 7)
    x = np.arange(n_rows)
    answers = {"numbers": x, "shares": np.c_[x, -x] / 3, "words": x.astype("U5")}[said]
    found = map_blocks(answers.__getitem__, n_rows)
    assert found.dtype == answers.dtype
    np.testing.assert_array_equal(found, answers)


def test_parts_of_another_type_are_refused_and_never_cut_short():
    with pytest.raises(TypeError, match="rule 'no'"):
        written_in_place(iter([np.array(["a"]), np.array(["long"])]), 2)
