"""Scores of a study by set and method, and Bayesian t-tests between them."""

from functools import cache

import clearwood as cw
from benchmarks.projection.cases import SIZES, TEST_SHARE

MAIN, RIVAL = "refined", "cart_tuned"
"""The methods compared by default."""

ROPE = 0.01
"""Region of practical equivalence: for RMSE, one per cent of the rival's."""


def scores_of(frame, name, method, measure):
    """Runs in rows, sizes in columns."""
    rows = frame[
        (frame["data"] == name)
        & (frame["method"] == method)
        & (frame["measure"] == measure)
    ]
    rows = rows.set_index(rows["run"].astype(int)).sort_index()
    return rows[[str(k) for k in SIZES]].rename(columns=int)


def own_of(frame, name, method, measure):
    """Per run the score of a method at the size it chooses, with that size."""
    rows = frame[
        (frame["data"] == name)
        & (frame["method"] == method)
        & (frame["measure"] == measure)
    ]
    return rows.set_index(rows["run"].astype(int)).sort_index()[["own", "lines"]]


def compared(frame, name, one, other, measure, test, size=None):
    """A t-test of two methods at one size, or of their means over all sizes."""
    a, b = (scores_of(frame, name, method, measure) for method in (one, other))
    if size is None:
        a, b = a.mean(axis=1), b.mean(axis=1)
    else:
        a, b = a[size], b[size]
    return tested(tuple(a), tuple(b), measure, test)


@cache
def tested(a, b, measure, test):
    """For scores on the same splits."""
    rope = ROPE * (sum(b) / len(b) if measure == "rmse" else 1.0)
    return cw.compare_methods(
        a,
        b,
        test=test,
        rope=rope,
        greater_is_better=measure == "accuracy",
        test_size=TEST_SHARE if test == "correlated" else None,
    )
