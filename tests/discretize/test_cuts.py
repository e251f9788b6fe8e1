"""Where columns are cut: golden decisions, the slow twin, and what must not matter."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import load_iris, load_wine
from tests.discretize import naive

from clearwood._kernels import discretize as kernels
from clearwood.discretize import bin_positions, halving_cut, mdlp_decisions
from clearwood.discretize.cuts import between, even_cuts

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "mdlp.json").read_text(encoding="utf-8")
)["sets"]
SETS = {"iris": load_iris, "wine": load_wine}


@pytest.mark.parametrize(
    ("name", "feature"),
    [(name, feature) for name in SETS for feature in GOLDEN[name]["features"]],
)
def test_golden_cuts_and_decisions(name, feature):
    X, y = SETS[name](return_X_y=True, as_frame=True)
    expected = GOLDEN[name]["features"][feature]
    found = mdlp_decisions(X[feature].to_numpy(), y.to_numpy(), np.ones(len(y)), 3)
    # Written with ten decimals.
    cuts = sorted(round(one.cut, 10) for one in found if one.accepted)
    assert cuts == expected["cuts"]
    assert [
        {
            "n": one.n,
            "cut": round(one.cut, 10),
            "gain": pytest.approx(one.gain, abs=1e-9),
            "threshold": pytest.approx(one.threshold, abs=1e-9),
            "accepted": one.accepted,
        }
        for one in found
    ] == [{k: v for k, v in d.items() if k != "ties"} for d in expected["decisions"]]


columns = st.integers(2, 60).flatmap(
    lambda n: st.tuples(
        arrays.arrays(np.float64, n, elements=st.integers(0, 12).map(float)),
        arrays.arrays(np.int64, n, elements=st.integers(0, 3)),
    )
)


def plain(decisions):
    return [tuple(one) for one in decisions]


def close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert one == pytest.approx(other, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(columns, st.randoms(use_true_random=False))
def test_decisions_are_those_of_the_paper(column, random):
    values, label = column
    # Classes that follow the values, so that cuts are accepted too.
    if random.random() < 0.7:
        label = (values // 4).astype(np.int64)
        label[: len(label) // 8] = 0
    found = mdlp_decisions(values, label, np.ones(len(label)), 4)
    close(plain(found), naive.mdlp_decisions(values.tolist(), label.tolist()))


@settings(max_examples=40, deadline=None)
@given(columns, st.randoms(use_true_random=False))
def test_weights_are_so_many_rows_and_missing_values_none(column, random):
    values, label = column
    weight = np.array([random.randint(0, 3) for _ in label])
    values = np.where([random.random() < 0.1 for _ in label], np.nan, values)
    rows = np.repeat(np.arange(len(label)), weight)
    rows = rows[~np.isnan(values[rows])]
    once = mdlp_decisions(values, label, weight.astype(float), 4)
    again = mdlp_decisions(values[rows], label[rows], np.ones(len(rows)), 4)
    assert once == again
    halves = halving_cut(values, weight.astype(float))
    np.testing.assert_array_equal(halves, halving_cut(values[rows], np.ones(len(rows))))


@settings(max_examples=40, deadline=None)
@given(columns)
def test_halves_are_most_nearly_equal(column):
    values, _ = column
    cut = halving_cut(values, np.ones(len(values)))
    distinct = np.unique(values)
    assert len(cut) == (len(distinct) > 1)
    if len(cut):
        uneven = [abs(2 * (values <= v).sum() - len(values)) for v in distinct[:-1]]
        assert abs(2 * (values <= cut[0]).sum() - len(values)) == min(uneven)


@settings(max_examples=40, deadline=None)
@given(columns, st.integers(2, 6))
def test_even_parts_are_most_nearly_equal(column, n_parts):
    values, _ = column
    n, cuts = len(values), even_cuts(values, np.ones(len(values)), n_parts)
    below = np.array([(values <= v).sum() for v in np.unique(values)[:-1]])
    nearest = [
        below[np.abs(n_parts * below - k * n).argmin()]
        for k in range(1, n_parts)
        if len(below)
    ]
    assert [(values <= cut).sum() for cut in cuts] == sorted(set(nearest))


def test_noise_is_seldom_cut_and_many_classes_do_not_overflow():
    rng = np.random.default_rng(0)
    label = rng.integers(2, size=300)
    found = [mdlp_decisions(x, label, np.ones(300), 2) for x in rng.random((40, 300))]
    assert sum(one[0].accepted for one in found) <= 3
    values = np.repeat(np.arange(1000.0), 8)
    first = mdlp_decisions(values, values.astype(int), np.ones(8000), 1000)[0]
    assert np.isfinite(first.threshold)


def test_rows_stand_in_the_order_of_their_values():
    extreme = [-np.inf, -1e300, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e300, np.inf]
    rng = np.random.default_rng(0)
    values = rng.permutation(np.concatenate([extreme, rng.normal(size=500), [np.nan]]))
    weight, label = np.ones(len(values)), np.zeros(len(values), np.int64)
    label[values > 0.0] = 1
    in_order, *runs = kernels.runs(values, label, weight, 2)
    np.testing.assert_array_equal(in_order, np.sort(values)[:-1])
    first, label_of, weight_of, boundary = (run.tolist() for run in runs)
    assert first == [0, int((values <= 0.0).sum())] and label_of == [0, 1]
    assert weight_of == [first[1], 510 - first[1]] and boundary == [True, False]


def test_cuts_stand_between_their_values_however_near_or_far():
    near = np.nextafter(1.0, 2.0)
    for low, high in [(1.0, near), (-np.inf, 3.0), (3.0, np.inf), (-1e308, 1.7e308)]:
        cut = between(low, high)
        assert low <= cut < high
        np.testing.assert_array_equal(
            bin_positions(np.array([low, high]), np.array([cut])), [0, 1]
        )


def test_fractions_of_weight_leave_no_trace_of_rows_that_have_gone():
    # 0.1 + 0.2 - 0.1 - 0.2 is not 0, and a class without rows is none.
    values, label = np.arange(12.0), np.repeat([0, 1], 6)
    weight = np.tile([0.1, 0.2, 0.3], 4)
    (first, left, right) = mdlp_decisions(values, label, 10 * weight, 2)
    assert first.cut == 5.5 and first.accepted
    assert (left.gain, right.gain) == (0, 0)
    assert not left.accepted and not right.accepted


def test_the_best_cut_is_the_same_in_any_unit_of_weight():
    values, label = np.arange(12.0), np.array([0, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])
    for unit in (1.0, 2.0**-60):
        assert mdlp_decisions(values, label, np.full(12, unit), 2)[0].cut == 5.5
