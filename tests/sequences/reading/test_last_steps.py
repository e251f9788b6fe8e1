from collections import Counter

import numpy as np
import pytest

import clearwood as cw
from clearwood.sequences.reading.last_steps import (
    ALIKE,
    LINE,
    _without_states,
    evaluate_states,
    hold_out_last,
    symbol_log_likelihoods,
)


def naive_tables(sequences, held_out, n_symbols, longest):
    """Witten and Bell, with dicts; None is missing, -1 has not been seen."""
    flat = [(s, t) for s, own in enumerate(sequences) for t in range(len(own))]
    followers = {}
    for (s, t), held in zip(flat, held_out):
        for back in range(longest + 1):
            before = tuple(sequences[s][max(t - back, 0) : t])
            if held or len(before) < back or None in before:
                continue
            if sequences[s][t] is not None:
                followers.setdefault(before, Counter())[sequences[s][t]] += 1
    found = []
    for order in range(longest + 1):
        line = []
        for s, t in flat:
            p = 1 / (n_symbols + 1)
            for back in range(order + 1):
                before = tuple(sequences[s][max(t - back, 0) : t])
                if len(before) < back or None in before:
                    break
                if before in followers:
                    seen = followers[before]
                    times = seen[sequences[s][t]]
                    p = (times + len(seen) * p) / (seen.total() + len(seen))
            line.append(np.log(p))
        found.append(line)
    return found


def test_a_list_of_texts_is_judged_as_sequences():
    hmm = cw.HiddenMarkovModel(2, algorithm="em", n_init=1, random_state=0)
    hmm.fit(["abba", "ab"])
    held_out = np.arange(6) >= 4
    wanted = evaluate_states(hmm, "abbaab", [4, 2], held_out)
    assert evaluate_states(hmm, ["abba", "ab"], None, held_out) == wanted


def test_tables_are_those_that_one_counts():
    rng = np.random.default_rng(0)
    sequences = [
        [None if x == 3 else -1 if x == 4 else int(x) for x in rng.integers(5, size=n)]
        for n in (40, 1, 25)
    ]
    flat = [np.nan if x is None else x for own in sequences for x in own]
    held_out = np.arange(66) >= 50
    starts = np.array([0, 40, 41])
    found = list(symbol_log_likelihoods(np.array(flat), starts, held_out, 3, 3))
    wanted = np.array(naive_tables(sequences, held_out, 3, 3))
    there = ~np.isnan(flat)
    np.testing.assert_allclose(np.array(found)[:, there], wanted[:, there], rtol=1e-12)


@pytest.mark.parametrize(
    ("lengths", "train", "test"),
    [
        ([10], ([8], 8), ([2], 2)),
        ([4, 3, 3], ([4, 3], 7), ([3], 3)),
        ([1, 9], ([1], 1), ([9], 9)),
    ],
)
def test_whole_sequences_are_held_out_or_the_end_of_one(lengths, train, test):
    parts = hold_out_last(list(range(10)), lengths, 0.2)
    assert (parts.lengths_train, len(parts.X_train)) == train
    assert (parts.lengths_test, len(parts.X_test)) == test
    assert parts.X_train + parts.X_test == list(range(10))
    assert parts.is_held_out.sum() == test[1]


def test_a_line_is_the_regression_on_the_step_before():
    rng = np.random.default_rng(0)
    X = np.zeros((400, 1))
    for t in range(1, 400):
        X[t] = 0.9 * X[t - 1] + rng.normal()
    parts = hold_out_last(X, None, 0.25)
    hmm = cw.HiddenMarkovModel(
        2, emission="gaussian", algorithm="em", n_init=8, random_state=0
    ).fit(parts.X_train)
    found = evaluate_states(hmm, X, None, parts.is_held_out)
    x, y = X[:299, 0], X[1:300, 0]
    slope, constant = np.polyfit(x, y, 1)
    sd = (y - slope * x - constant).std()
    gap = (X[300:, 0] - slope * X[299:-1, 0] - constant) / sd
    wanted = np.mean(-0.5 * gap**2 - np.log(sd) - 0.5 * np.log(2 * np.pi))
    assert found[LINE] == pytest.approx(wanted, abs=0.01)
    assert found[LINE] > found["states"] > found[ALIKE]
    # The first step of a sequence follows from none.
    both = [
        _without_states(hmm, X, lengths, parts.is_held_out)[LINE]
        for lengths in (None, [300, 100])
    ]
    assert np.flatnonzero(~np.isclose(*both)).tolist() == [300]


def test_missing_steps_are_not_judged():
    cells = np.array(["a", "b", None] * 20, dtype=object)
    parts = hold_out_last(cells, None, 0.3)
    hmm = cw.HiddenMarkovModel(2, algorithm="em", n_init=4, random_state=0)
    hmm.fit(parts.X_train)
    found = evaluate_states(hmm, cells, None, parts.is_held_out)
    there = parts.is_held_out & (cells != None)  # noqa: E711
    own = hmm.step_log_likelihood(cells)
    assert found["states"] == pytest.approx(own[there].mean())
    assert found["constant"] == pytest.approx(np.log(0.5), abs=0.05)
