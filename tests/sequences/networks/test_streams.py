"""Sequences side by side: every step once, in its order, and what is held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.sequences.networks.streams import Series, cut, in_turns, windows


def spans_of(lengths):
    return Series.of_symbols(np.zeros(sum(lengths), dtype=int), lengths).spans


LENGTHS = st.lists(st.integers(1, 40), min_size=1, max_size=12).map(np.array)


@given(LENGTHS, st.integers(1, 6), st.integers(1, 30))
def test_every_step_is_in_one_stream(lengths, batch_size, least):
    batches = [
        np.hstack(list(windows(batch, 7)))
        for batch in cut(spans_of(lengths), batch_size, least)
    ]
    streams = [row[row >= 0] for batch in batches for row in batch]
    assert sorted(np.concatenate(streams)) == list(range(lengths.sum()))
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    for stream in streams:
        assert (np.diff(stream) == 1).all()
        assert len(set(sequence[stream])) == 1
    assert all(len(batch) <= batch_size for batch in batches)
    # A stream ends once.
    assert all(
        (np.diff((row >= 0).astype(int)) <= 0).all() for b in batches for row in b
    )


def test_one_long_sequence_fills_all_streams():
    (batch,) = cut(spans_of([1000]), batch_size=8, least=10)
    assert np.diff(batch).ravel().tolist() == [125] * 8
    (batch,) = cut(spans_of([1000]), batch_size=8, least=500)
    assert np.diff(batch).ravel().tolist() == [500] * 2


def test_streams_of_a_batch_have_similar_lengths():
    batches = cut(spans_of([3, 90, 4, 88]), batch_size=2, least=90)
    lengths = [np.diff(batch).ravel().tolist() for batch in batches]
    assert lengths == [[90, 88], [3, 4]]


@given(LENGTHS, st.integers(1, 6), st.integers(1, 30))
def test_no_batch_has_only_what_is_left_over(lengths, batch_size, least):
    sizes = [len(batch) for batch in cut(spans_of(lengths), batch_size, least)]
    assert max(sizes) - min(sizes) <= 1


@given(LENGTHS, st.integers(1, 20), st.integers(0, 9))
def test_held_out_steps_are_not_learned_from(lengths, least, seed):
    codes = np.zeros(lengths.sum(), dtype=int)
    series = Series.of_symbols(codes, lengths)
    kept, apart = series.held_out(least, np.random.default_rng(seed))
    if kept is series:
        assert apart is series
        return
    steps = [
        np.concatenate([np.arange(a, b) for a, b in part.spans])
        for part in (kept, apart)
    ]
    assert sorted(np.concatenate(steps)) == list(range(len(codes)))
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    for a, b in [*kept.spans, *apart.spans]:
        assert b > a and sequence[a] == sequence[b - 1]
    # What is left is in as few pieces as can be.
    goes_on = set(kept.spans[:, 1]) & set(kept.spans[:, 0])
    assert goes_on <= set(series.spans[:, 0])


def test_a_twentieth_is_held_out_from_all_over():
    series = Series.of_symbols(np.zeros(10_000, dtype=int), np.array([10_000]))
    kept, apart = series.held_out(64, np.random.default_rng(0))
    assert np.diff(apart.spans).sum() == pytest.approx(500, abs=10)
    assert np.ptp(apart.spans) > 3000
    assert len(kept.spans) <= 6


@pytest.mark.parametrize(
    ("lengths", "most"),
    [([50, 50], 0), ([100], 0), ([50] * 4, 0), ([60, 2, 2, 2], 2), ([50] * 5, 50)],
)
def test_not_more_than_a_fifth_is_held_out(lengths, most):
    series = Series.of_symbols(np.zeros(sum(lengths), dtype=int), np.array(lengths))
    for seed in range(5):
        kept, apart = series.held_out(64, np.random.default_rng(seed))
        if most == 0:
            assert kept is apart is series
        else:
            assert np.diff(apart.spans).sum() == most
            assert np.diff(kept.spans).sum() == sum(lengths) - most


def test_nothing_follows_the_last_symbol_of_a_sequence():
    series = Series.of_symbols(np.arange(6), np.array([1, 3, 2]))
    assert series.targets.tolist() == [-1, 2, 3, -1, 5, -1]
    assert series.n_targets == 3


def test_windows_go_on_in_time():
    assert [part.tolist() for part in windows(np.array([[0, 5], [5, 9]]), 2)] == [
        [[0, 1], [5, 6]],
        [[2, 3], [7, 8]],
        [[4], [-1]],
    ]


@given(LENGTHS, st.integers(1, 4), st.integers(0, 9))
def test_windows_of_every_batch_come_in_their_order(lengths, batch_size, seed):
    batches = cut(spans_of(lengths), batch_size, 5)
    found = [[] for _ in batches]
    for batch, steps in in_turns(batches, 3, np.random.default_rng(seed)):
        found[batch].append(steps.tolist())
    assert found == [[w.tolist() for w in windows(batch, 3)] for batch in batches]


def test_batches_take_turns():
    batches = cut(spans_of([600, 600]), batch_size=1, least=600)
    turns = in_turns(batches, 6, np.random.default_rng(0))
    first = [batch for batch, _ in turns][:100]
    assert 30 < sum(first) < 70
