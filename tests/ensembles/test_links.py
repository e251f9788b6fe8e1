"""The links, against the formulas written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

from clearwood.ensembles.links import response

SCORES = stn.arrays(
    np.float64, stn.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-230, 230)
)
BY_VALUE = {
    "identity": lambda x: x,
    "probability": lambda x: x,
    "exp": math.exp,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "one_vs_rest": lambda x: 1 / (1 + math.exp(-x)),
    "softplus": lambda x: max(x, 0) + math.log1p(math.exp(-abs(x))),
    "signed_square": lambda x: math.copysign(x * x, x),
}


@pytest.mark.parametrize("link", BY_VALUE)
@given(raw=SCORES)
def test_one_score_one_answer(link, raw):
    expected = [[BY_VALUE[link](x) for x in row] for row in raw]
    np.testing.assert_allclose(response(raw, link), expected, rtol=1e-13)


@given(raw=SCORES, scale=st.floats(0.1, 3))
def test_softmax(raw, scale):
    found = response(raw, "softmax", scale)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    for p, row in zip(found, raw):
        odds = [math.exp(scale * (x - max(row))) for x in row]
        np.testing.assert_allclose(p, np.array(odds) / sum(odds), rtol=1e-9)


@given(raw=SCORES, scale=st.floats(0.1, 3))
def test_logistic_gives_two_columns(raw, scale):
    found = response(raw[:, :1], "logistic", scale)
    expected = [1 / (1 + math.exp(-scale * x)) for x in raw[:, 0]]
    np.testing.assert_allclose(found[:, 1], expected, rtol=1e-12)
    np.testing.assert_allclose(found[:, 0], 1 - found[:, 1])


@pytest.mark.parametrize("link", ["logistic", "sigmoid", "one_vs_rest"])
def test_in_float32_as_xgboost_computes(link):
    raw = np.array([[-200.0], [-88.7], [-1.0], [0.0], [1e-9], [20.0], [200.0]])
    found = response(raw.astype(np.float32), link)[:, -1]
    assert found.dtype == np.float64
    # The exponential stops growing at 88.7; 1e-9 is lost beside 1.
    wide = 1 / (1 + np.exp(np.minimum(-raw[:, 0], np.float64(np.float32(88.7)))))
    np.testing.assert_allclose(found, wide, rtol=3e-7)
    assert found[0] == found[1] > 0 and found[4] == 0.5


def test_softmax_in_float32():
    raw = np.array([[1.0, 2.0, 3.5], [-40, 0, 40]], dtype=np.float32)
    found = response(raw, "softmax")
    assert np.array_equal(found, found.astype(np.float32))
    wide = response(raw.astype(float), "softmax")
    np.testing.assert_allclose(found, wide, rtol=3e-7)
