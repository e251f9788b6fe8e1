"""Equal rows of small codes count once, with their weight."""

import numpy as np
import pytest
from tests._tables.storing import N

from clearwood._tables import open_rows
from clearwood._tables.merging import merge, merged_rows


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_equal_rows_are_merged_over_blocks(kind):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (N, 3)).astype(kind) * 100
    weight = rng.integers(0, 4, N).astype(float)
    table = open_rows(rows, None, weight)
    codes, total = merged_rows(table, lambda part: (part.X, part.weight))
    expected, place = np.unique(rows, axis=0, return_inverse=True)
    order = np.lexsort(codes.T[::-1])
    np.testing.assert_array_equal(codes[order], expected)
    np.testing.assert_array_equal(
        total[order], np.bincount(place.ravel(), weight, len(expected))
    )
    none, nothing = merge(rows[:0], weight[:0])
    assert none.shape == (0, 3) and nothing.shape == (0,)
