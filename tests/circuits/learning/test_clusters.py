"""Hard EM against its twin, and when rows are split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.circuits.learning import naive
from tests.circuits.made import space

from clearwood._kernels.circuits_learning import differing_cells, majority
from clearwood.circuits.learning.clusters import (
    ALPHA,
    KAPPA,
    Starts,
    cluster_rows,
    split_into_clusters,
    split_into_two,
    starts,
)
from clearwood.circuits.learning.slices import Slice
from clearwood.distributions.of_columns import LEAST_SHARE

LEVELS = [2, 3, None, None]


def kinds(rng, n, k=2, missing=0.1):
    """Rows of k kinds, by their discrete and their continuous columns."""
    kind = rng.integers(k, size=n)
    noise = rng.random((n, 2)) < 0.1
    values = np.column_stack(
        [
            np.where(noise[:, 0], rng.integers(2, size=n), kind % 2),
            np.where(noise[:, 1], rng.integers(3, size=n), kind % 3),
            4.0 * kind + rng.normal(size=n),
            rng.normal(size=n) - 3.0 * kind,
        ]
    )
    values[rng.random(values.shape) < missing] = np.nan
    return values, kind


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_hard_em_ends_where_its_own_parameters_keep_all_rows(seed):
    rng = np.random.default_rng(seed)
    values, _ = kinds(rng, 25, k=3, missing=0.2)
    values[0] = np.nan
    slice_ = Slice.from_table(values, values[:0], space(LEVELS))
    found = cluster_rows(slice_, rng.integers(3, size=25), 3)
    rows = list(zip(slice_.train.codes, slice_.train.reals))
    scores = np.array(
        [
            [
                naive.cluster_score(
                    row,
                    [rows[i] for i in np.flatnonzero(found.cluster == k)],
                    [2, 3],
                    (found.sizes[k] + ALPHA) / (25 + 3 * ALPHA),
                    *(ALPHA, KAPPA, LEAST_SHARE, rows),
                )
                for k in range(3)
            ]
            for row in rows
        ]
    )
    if found.sizes.all():
        np.testing.assert_allclose(found.scores(slice_.train), scores, rtol=1e-9)
        np.testing.assert_array_equal(found.cluster, scores.argmax(axis=1))


def test_a_cluster_without_values_is_as_all_rows_are():
    rng = np.random.default_rng(0)
    values = np.column_stack([np.repeat([0.0, 1.0], 20), rng.normal(5, 2, 40)])
    values[:20, 1] = np.nan
    slice_ = Slice.from_table(values, values[:0], space([2, None]))
    found = cluster_rows(slice_, values[:, 0], 2)
    mean, variance = np.nanmean(values[:, 1]), np.nanvar(values[:, 1])
    np.testing.assert_allclose(found.normals[:, 0, 0], [mean, variance])


def test_rows_are_split_into_their_kinds():
    rng = np.random.default_rng(1)
    (train, kind), (valid, _) = kinds(rng, 300), kinds(rng, 100)
    slice_ = Slice.from_table(train, valid, space(LEVELS))
    parts = split_into_two(slice_, Starts(1), rng)
    assert (
        sorted(parts.sizes)
        == sorted(np.bincount(kind))
        == sorted(len(part.train) for part in parts.slices)
    )
    assert sum(len(part.valid) for part in parts.slices) == 100
    for part in parts.slices:
        # The third column alone tells the kinds, 4 apart.
        low, high = (np.nanmean(rows.reals[:, 0]) for rows in (part.train, part.valid))
        assert abs(low - high) < 1
    # Too few stay together, and those that nobody valid_rows.
    few, none = np.arange(19), np.arange(0)
    assert split_into_two(slice_.of_rows(few, np.arange(50)), Starts(3), rng) is None
    assert split_into_two(slice_.of_rows(np.arange(300), none), Starts(3), rng) is None


def test_of_several_starts_the_best_on_held_out_rows_is_taken():
    rng = np.random.default_rng(4)
    (train, _), (valid, _) = kinds(rng, 200, k=4), kinds(rng, 200, k=4)
    slice_ = Slice.from_table(train[:, :3], valid[:, :3], space(LEVELS[:3]))
    how = Starts(12, drawn=True)
    tried = [
        cluster_rows(slice_, start, 2)
        for start in starts(slice_, how, np.random.default_rng(5))
    ]
    scores = [two.log_likelihood(slice_.valid) for two in tried]
    assert np.ptp(scores) > 1 and np.argmax(scores) < len(scores) - 1
    found = split_into_two(slice_, how, np.random.default_rng(5))
    np.testing.assert_array_equal(found.sizes, tried[np.argmax(scores)].sizes)


def test_rows_of_one_kind_stay_together():
    rng = np.random.default_rng(0)
    coins = rng.integers(2, size=(3000, 4)).astype(float)
    slice_ = Slice.from_table(coins[:300], coins[300:], space([2] * 4))
    assert split_into_two(slice_, Starts(10), rng) is None


def test_rows_that_are_all_the_same_are_of_one_kind():
    same = np.ones((50, 3))
    slice_ = Slice.from_table(same, same, space([2, 2, 2]))
    rng = np.random.default_rng(0)
    assert not list(starts(slice_, Starts(5), rng))
    assert split_into_two(slice_, Starts(5), rng) is None
    assert split_into_clusters(slice_, 0.0, Starts(5), rng) is None


@pytest.mark.parametrize("share", [0.0, 0.03, 0.2])
def test_starts_are_found_where_most_cells_are_missing(share):
    rng = np.random.default_rng(6)
    values = rng.normal(size=(500, 6))
    values[rng.random(values.shape) >= share] = np.nan
    slice_ = Slice.from_table(values, values[:50], space([None] * 6))
    found = list(starts(slice_, Starts(10, drawn=True), rng))
    assert len(found) == (10 if share else 0)
    assert all(0 < start.sum() < 500 for start in found)


@pytest.mark.parametrize(("penalty", "k"), [(0.4, 3), (1e6, 1)])
def test_kinds_must_pay_their_price(penalty, k):
    rng = np.random.default_rng(2)
    values, kind = kinds(rng, 600, k=3, missing=0.0)
    values = np.hstack([values, values[:, 2:] + rng.normal(size=(600, 2))])
    slice_ = Slice.from_table(values, values[:60], space([*LEVELS, None, None]))
    parts = split_into_clusters(slice_, penalty, Starts(4), rng)
    if k == 1:
        assert parts is None
        return
    assert len(parts.slices) >= 3 and parts.sizes.sum() == 600
    # No kind that was found has rows of two kinds; the fifth column follows them.
    for part in parts.slices:
        assert np.ptp(part.train.reals[:, 0]) < 7


def test_the_seed_decides():
    values, _ = kinds(np.random.default_rng(3), 200)
    slice_ = Slice.from_table(values, values[:50], space(LEVELS))
    first, again = (
        np.array(list(starts(slice_, Starts(4), np.random.default_rng(7))))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, again)


def test_the_row_to_begin_with_differs_most_from_what_most_rows_have():
    rng = np.random.default_rng(3)
    codes = rng.integers(-1, 3, size=(50, 4)).astype(np.int16)
    most = [
        np.bincount(column[column >= 0], minlength=3).argmax() for column in codes.T
    ]
    levels = majority(codes, np.arange(0, 13, 3))
    assert levels.tolist() == most
    both = (codes >= 0) & (levels >= 0)
    assert (differing_cells(codes, levels) == ((codes != levels) & both).sum(1)).all()
    holes = codes[(codes < 0).sum(axis=1).argmax()]
    both = (codes >= 0) & (holes >= 0)
    assert (differing_cells(codes, holes) == ((codes != holes) & both).sum(1)).all()
