"""Moments of blocks of rows add up to those of all rows."""

from dataclasses import astuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearwood._numeric import WeightedMoments

ROWS = st.lists(
    st.tuples(st.sampled_from([-0.3, 0.1, 0.7, 5.0]), st.sampled_from([0.5, 1.0, 3.0])),
    min_size=2,
    max_size=12,
)


@given(ROWS, st.integers(1, 11))
def test_moments_of_blocks_add_up(rows, size):
    values, weight = np.array(rows).T
    together = WeightedMoments()
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        together += WeightedMoments.of(values[block], weight[block])
    whole = WeightedMoments.of(values, weight)
    np.testing.assert_allclose(astuple(together), astuple(whole), rtol=1e-9, atol=1e-12)
    assert (together.variance == 0.0) == (len(set(values)) == 1)
