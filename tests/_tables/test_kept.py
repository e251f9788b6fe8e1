"""What is made of a table once is the same for every sum, wherever it is kept."""

import gc
import time
from collections import namedtuple

import numpy as np
import pytest
from tests.wording import refuses

from clearwood._numeric import BLOCK_ROWS, Blocks
from clearwood._tables import open_rows
from clearwood._tables.kept import stored_in_file
from clearwood.exceptions import InputError

Pair = namedtuple("Pair", "small large")
N = 18 * BLOCK_ROWS + 7
"""More than a group of blocks."""


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, 2)) * np.logspace(0, 9, N)[:, None]


def pair(rows, shift):
    # Of two types and sizes, and one of them is a view with gaps.
    return Pair((rows.X + shift).astype(np.float32), rows.X[::2, 1])


def total(block, factor):
    assert isinstance(block, Pair)
    # Kernels are compiled for arrays without gaps, which add up in another order.
    large = np.ascontiguousarray(block.large)
    return factor * float(block.small.sum()), large.sum(keepdims=True)


def doubled(block, by):
    return block._replace(large=by * block.large)


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_a_file_gives_back_what_was_written(values, n_jobs, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = open_rows(values)
    made = [pair(block, 1.0) for block in rows]
    with rows.kept(pair, 1.0, n_jobs=n_jobs) as kept:
        assert len(list(tmp_path.iterdir())) == 1
        assert len(kept) == len(made) == 19
        for found, block in zip(kept, made, strict=True):
            assert isinstance(found, Pair)
            for mine, its in zip(found, block):
                assert mine.dtype == its.dtype and mine.flags.c_contiguous
                np.testing.assert_array_equal(mine, its)
        assert kept.map_sum(total, 2.0) == Blocks(made).map_sum(total, 2.0)
        # What is made of blocks later is made of them there.
        later = kept.map(doubled, 0.1)
        once = Blocks(made).map(doubled, 0.1)
        assert later.map_sum(total, 3.0) == once.map_sum(total, 3.0)
        assert len(later) == 19
        np.testing.assert_array_equal(next(iter(later)).large, 0.1 * made[0].large)
    assert not list(tmp_path.iterdir())


def slowly(block):
    time.sleep(0.01)
    return block


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_nobody_is_warned_of_what_is_left_undone(n_jobs):
    with stored_in_file([(np.zeros(3),)] * 20, n_jobs) as blocks:
        for _ in range(2):
            found = blocks.results(slowly)
            next(found)
            found.close()
            next(blocks.results(slowly))
            gc.collect()


def test_a_file_goes_where_its_user_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), stored_in_file([(np.zeros(3),)]):
        assert list(tmp_path.iterdir())
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_with_the_folder(tmp_path, monkeypatch, full_disk):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    blocks = [(np.zeros(9_000),)] * 9
    with (
        refuses(InputError, match=str(tmp_path)),
        full_disk(100_000),
        stored_in_file(blocks),
    ):
        pass
    assert not list(tmp_path.iterdir())


def test_blocks_of_no_rows_are_kept_too():
    with stored_in_file([(np.zeros((0, 3), np.uint8), np.zeros(0))]) as blocks:
        ((codes, weight),) = blocks
    assert codes.shape == (0, 3) and codes.dtype == np.uint8 and weight.shape == (0,)
