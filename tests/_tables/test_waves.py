"""Of Dask blocks are computed wave by wave, and partitions not more often for it."""

import numpy as np
import pandas as pd
import pytest

from clearwood._numeric import BLOCK_ROWS
from clearwood._tables import open_rows

dask = pytest.importorskip("dask")

N = 7 * BLOCK_ROWS - 5
CUTS = [0, 900, 900, 2 * BLOCK_ROWS + 1, 4 * BLOCK_ROWS, 6 * BLOCK_ROWS + 70, N]


@pytest.fixture
def values(monkeypatch):
    from clearwood._tables import of_dask

    monkeypatch.setattr(of_dask, "WAVE_BLOCKS", 3)
    monkeypatch.setattr(of_dask, "PARTITIONS_OF_THREAD", 1)
    return np.random.default_rng(0).normal(size=N) * np.logspace(0, 9, N)


def opened(values, made):
    import dask.dataframe as dd

    def make(number):
        made.append(number)
        return pd.DataFrame({"a": values[slice(*CUTS[number : number + 2])]})

    parts = [dask.delayed(make)(number) for number in range(len(CUTS) - 1)]
    return open_rows(dd.from_delayed(parts, meta=pd.DataFrame({"a": values[:0]})))


def sum_of(block, seen):
    seen.append(block.n_rows)
    # A tuple that begins with a function is a task to Dask, if it is not careful.
    return len, block.X["a"].to_numpy().sum()


@pytest.mark.parametrize(("workers", "computed"), [(1, [3, 6, 7]), (5, [5, 7])])
def test_only_the_blocks_of_a_wave_are_held(values, workers, computed):
    made, seen, done = [], [], []
    rows = opened(values, made)
    blocks = [values[i : i + BLOCK_ROWS] for i in range(0, N, BLOCK_ROWS)]
    with dask.config.set(scheduler="sync", num_workers=workers):
        assert rows.n_rows == N
        made.clear()
        for block, (function, total) in zip(blocks, rows.results(sum_of, seen)):
            assert function is len and total == block.sum()
            done.append(len(seen))
    # How many were computed when the first of each wave was handed out.
    assert list(dict.fromkeys(done)) == computed
    assert sorted(seen) == sorted(len(block) for block in blocks)
    assert sorted(made) == [0, 1, 2, 3, 4, 5], "each partition once"


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_waves_change_nothing(values, scheduler):
    total = 0.0
    for i in range(0, N, BLOCK_ROWS):
        total += values[i : i + BLOCK_ROWS].sum()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        rows = opened(values, [])
        assert rows.map_sum(only_sum)[0] == total
        picked = rows.sample(50).X["a"].to_numpy()
    assert (picked == open_rows(pd.DataFrame({"a": values})).sample(50).X["a"]).all()


def only_sum(block):
    return (block.X["a"].to_numpy().sum(),)
