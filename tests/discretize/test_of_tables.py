"""Cuts of a large table are those of a sample, wherever it is stored."""

import numpy as np
import pandas as pd
import pytest
from tests._tables.storing import KINDS, N, stored

import clearwood as cw
from clearwood._tables import learning, open_rows

pytest.importorskip("dask")
pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 2000)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    b[rng.random(N) < 0.1] = np.nan
    y = np.where(rng.random(N) < 0.2, rng.random(N) < 0.5, a > 0.3).astype(int)
    weight = rng.random(N) * (rng.random(N) < 0.9)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": weight})


@pytest.mark.parametrize("kind", KINDS)
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
