import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from tests.ensembles import naive

from clearwood.ensembles.casts import FLOAT32_LIMIT, float64_cut_of_float32_test

LARGEST = float(np.finfo(np.float32).max)
TINY = float(np.finfo(np.float32).smallest_subnormal)
any_number = st.floats(allow_nan=False)
near_float32 = st.floats(allow_nan=False, width=32)


def neighbours(x):
    with np.errstate(all="ignore"):
        return [x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)]


@given(threshold=st.one_of(any_number, near_float32), x=any_number)
@example(threshold=np.inf, x=np.inf)
@example(threshold=-np.inf, x=-1e39)
@example(threshold=LARGEST, x=1e39)
@example(threshold=-LARGEST, x=-1e39)
@example(threshold=0.0, x=TINY / 2)
@example(threshold=-0.0, x=TINY / 2)
@example(threshold=-TINY / 4, x=-TINY / 2)
@example(threshold=1e300, x=1e39)
@example(threshold=-1e300, x=-1e39)
def test_same_answer_as_the_cast_for_any_number(threshold, x):
    cut = float64_cut_of_float32_test(threshold)
    around = neighbours(x) + neighbours(float(cut)) + neighbours(threshold)
    for value in around:
        assert (value <= cut) == naive.casts_below(value, threshold), value


@given(threshold=near_float32, x=any_number)
@example(threshold=LARGEST, x=1e39)
@example(threshold=-LARGEST, x=-1e39)
@example(threshold=0.0, x=-TINY / 2)
@example(threshold=-0.0, x=TINY / 2)
@example(threshold=TINY, x=TINY / 2)
def test_same_answer_as_the_cast_where_equal_goes_right(threshold, x):
    cut = float64_cut_of_float32_test(threshold, strict=True)
    if np.isinf(threshold):
        return  # refused by the readers
    for value in neighbours(x) + neighbours(float(cut)) + neighbours(threshold):
        with np.errstate(all="ignore"):
            assert (value <= cut) == bool(np.float32(value) < threshold), value


@given(st.one_of(any_number, near_float32))
def test_cut_is_the_largest_number_that_passes(threshold):
    cut = float64_cut_of_float32_test(threshold)
    assert naive.casts_below(cut, threshold)
    if cut < np.inf:
        assert not naive.casts_below(neighbours(cut)[2], threshold)


def test_halfway_values_follow_the_even_neighbour():
    one, after = np.float32(1), np.nextafter(np.float32(1), np.float32(2))
    # 1 has an even last bit: halfway up, the cast falls back to it; not so above.
    half = (float(one) + float(after)) / 2
    assert float64_cut_of_float32_test(float(one)) == half
    beyond = np.nextafter(after, np.float32(2))
    half = (float(after) + float(beyond)) / 2
    assert float64_cut_of_float32_test(float(after)) == np.nextafter(half, 0)


def test_shape_nan_and_infinity():
    cuts = float64_cut_of_float32_test([[np.nan, np.inf], [0.5, -np.inf]])
    assert cuts.shape == (2, 2) and cuts.dtype == np.float64
    assert np.isnan(cuts[0, 0]) and cuts[0, 1] == np.inf


def test_limit_is_the_last_finite_cast():
    with np.errstate(over="ignore"):
        assert np.isfinite(np.float32(FLOAT32_LIMIT))
        assert np.isinf(np.float32(np.nextafter(FLOAT32_LIMIT, np.inf)))
