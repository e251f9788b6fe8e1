"""Values in order: against the formula over all upper and lower sets."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood._numeric import pool_values


def in_order(values, kinds):
    return all(
        kinds[k] * (values[k] - values[j]) >= 0
        for k in range(len(values))
        for j in range(k + 1, len(values))
    )


def naive(wanted, weights, kinds):
    """Largest over upper sets of the least over lower sets of the mean of both."""
    n = len(wanted)
    # i may not be above j.
    below = [(j, k) if kinds[k] == 1 else (k, j)
             for k in range(n) for j in range(k + 1, n) if kinds[k]]  # fmt: skip
    subsets = [
        set(c) for r in range(n + 1) for c in itertools.combinations(range(n), r)
    ]
    uppers = [s for s in subsets if all(j in s or i not in s for i, j in below)]
    lowers = [set(range(n)) - s for s in uppers]

    def mean(rows):
        rows = list(rows)
        return np.average(np.array(wanted)[rows], weights=np.array(weights)[rows])

    return [
        max(
            min(mean(u & low) for low in lowers if i in low)
            for u in uppers if i in u
        )
        for i in range(n)
    ]  # fmt: skip


LINES = st.lists(
    st.tuples(
        st.integers(-4, 4).map(float),
        st.sampled_from([0.5, 1.0, 3.0]),
        st.sampled_from([-1, 0, 1]),
    ),
    min_size=1,
    max_size=6,
)


@given(LINES)
def test_pooled_values_are_the_nearest_in_order(lines):
    wanted, weights, kinds = map(list, zip(*lines))
    pooled = pool_values(wanted, weights, kinds)
    assert in_order(pooled, kinds)
    assert pooled == pytest.approx(naive(wanted, weights, kinds))
    if in_order(wanted, kinds):
        assert pooled == wanted


@given(LINES)
def test_without_weights_values_move_to_their_neighbours(lines):
    wanted, _, kinds = map(list, zip(*lines))
    moved = pool_values(wanted, [0.0] * len(wanted), kinds)
    assert in_order(moved, kinds)
    assert set(moved) <= set(wanted)
    # The last line never moves, and who may say anything says what it wants.
    for k, kind in enumerate(kinds):
        if kind == 0 or k == len(kinds) - 1:
            assert moved[k] == wanted[k]


def test_lines_without_rows_do_not_count():
    assert pool_values([1.0, 9.0, 3.0], [1.0, 0.0, 1.0], [1, 0, 0]) == [2.0, 2.0, 2.0]
    assert pool_values([0.0, 9.0, 3.0], [0.0, 1.0, 1.0], [-1, 0, 0]) == [0.0, 9.0, 3.0]
    assert str(pool_values([0.0, 1.0], [1.0, 1.0], [-1, 0])[0]) == "0.0"
