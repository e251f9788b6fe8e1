"""What every type of outcome says of rows, by hand and by its contract."""

import math

import numpy as np
import pytest

from clearwood._numeric import variance
from clearwood.outcomes import ClassProbabilities, Mean

MEAN, CLASSES = Mean(), ClassProbabilities()
VALUES, WEIGHT = np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 1.0])


def test_weights_are_so_many_rows():
    repeated = np.array([1.0, 2.0, 2.0, 6.0])
    assert variance(VALUES, WEIGHT) == pytest.approx(repeated.var())
    found = MEAN.fidelity(VALUES, 2.0, WEIGHT)
    assert found == pytest.approx(1 - (1 + 16) / 4 / repeated.var())
    assert CLASSES.fidelity(VALUES, 2.0, WEIGHT) == 0.5


def test_some_rows_are_judged_by_the_variance_of_all():
    rows = np.array([True, True, False])
    found = MEAN.fidelity(VALUES, 3.0, WEIGHT, rows)
    assert found == pytest.approx(1 - (4 + 2 * 1) / 3 / variance(VALUES, WEIGHT))
    assert MEAN.fidelity(VALUES, 3.0, WEIGHT / 9, rows) == pytest.approx(found)
    each = np.array([1.0, 0.0, 0.0])
    assert CLASSES.fidelity(VALUES, each, WEIGHT, rows) == pytest.approx(1 / 3)
    assert math.isnan(MEAN.fidelity(VALUES, 2.0, WEIGHT, rows & False))
    assert math.isnan(MEAN.fidelity(VALUES, 2.0, WEIGHT * ~rows, rows))


def test_a_teacher_that_says_one_thing_is_followed_or_not():
    same = np.full(3, 0.1)
    assert variance(same, WEIGHT) == 0.0
    assert MEAN.fidelity(same, 0.1) == 1.0
    assert MEAN.fidelity(same, 0.2) == 0.0


def test_errors_and_concordance():
    other = np.array([1.0, 4.0, 6.0])
    assert CLASSES.mean_loss(VALUES, other) == pytest.approx(1 / 3)
    assert MEAN.mean_loss(VALUES, other) == pytest.approx(4 / 3)
    assert CLASSES.concordance(VALUES, other) == pytest.approx(2 / 3)
    # Lin (1989), equation 2.2, with moments of n.
    covariance = np.cov(VALUES, other, ddof=0)
    shift = (VALUES.mean() - other.mean()) ** 2
    lin = 2 * covariance[0, 1] / (np.trace(covariance) + shift)
    assert MEAN.concordance(VALUES, other) == pytest.approx(lin)
