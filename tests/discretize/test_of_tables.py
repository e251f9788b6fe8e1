"""Cuts of a large table are those of a sample, wherever it is stored."""

import numpy as np
import pytest
from tests._tables.storing import FAR, stored, two_classes

import clearwood as cw
from clearwood._tables import open_rows

pytest.importorskip("dask")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.usefixtures("small_samples")


@pytest.fixture(scope="module")
def frame():
    return two_classes()


@pytest.mark.parametrize("kind", FAR)
@pytest.mark.parametrize("make", [cw.MDLPDiscretizer, cw.BinaryBinner])
def test_bins_are_of_a_sample(make, kind, frame, tmp_path):
    X, rest = stored(kind, frame, tmp_path)
    sample = open_rows(lambda: [frame], "y", "w").sample(2000)
    expected = make().fit(*sample)
    bins = make().fit(X, **rest)
    for own, other in zip(bins.cuts_, expected.cuts_):
        np.testing.assert_array_equal(own, other)
    found = bins.transform(X)
    assert hasattr(found, "compute") == kind.startswith("dask")
    np.testing.assert_array_equal(
        np.asarray(found), expected.transform(frame[["a", "b"]])
    )
