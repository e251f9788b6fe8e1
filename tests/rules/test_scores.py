"""Scores by hand, and what is predicted against a model's classes."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from tests.wording import same_text

from clearwood.rules.scores import (
    MOST_NAMED,
    RuleScores,
    class_scores,
    likelier_order,
    never_predicted,
)

VALUES, WEIGHT = np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 1.0])


def test_scores_that_are_not_known_are_not_printed():
    found = RuleScores(math.nan, 0.5, 1.0, 1.25, n_rules=1, n_literals=1)
    same_text(str(found))
    assert "fidelity below -100," in str(replace(found, fidelity=-70248.0))
    with pytest.raises(FrozenInstanceError):
        found.error = 0.0


def test_classes_that_nobody_says():
    predicted, rows = np.array([0, 0]), np.full(8, 5)
    found = never_predicted(list("abcdefgh"), predicted, rows >= 5, rows)
    assert found.count("5 of 40") == MOST_NAMED
    same_text(found)
    assert never_predicted(list("abcdefgh"), predicted, rows >= 6, rows) == ""


def binary(n_right, n_rows=1000):
    """True classes, and what is predicted: so many right of each class alike."""
    truth = np.repeat([0, 1], n_rows // 2)
    wrong = np.tile(np.arange(n_rows // 2) >= n_right // 2, 2)
    return truth, np.where(wrong, 1 - truth, truth)


@pytest.mark.parametrize(("n_right", "better"), [(320, True), (340, False)])
def test_another_order_has_to_halve_the_errors(n_right, better):
    truth, predicted = binary(n_right)
    found = likelier_order(("no", "yes"), truth, predicted)
    assert (found is not None) == better
    if better:
        # Rows of no known class say nothing.
        unknown = np.append(truth, [-1] * 500), np.append(predicted, [0] * 500)
        assert likelier_order(("no", "yes"), *unknown) == found
        labels, text = found
        assert labels == ["yes", "no"]
        same_text(text)


def test_another_order_is_no_luck():
    # Three standard deviations of the rows that are right in one order or the other.
    assert likelier_order(("no", "yes"), *binary(4, 20)) is None
    assert likelier_order(("no", "yes"), *binary(6, 30)) is not None
    nothing = np.full(4, -1)
    assert likelier_order(("no", "yes"), nothing, nothing) is None


def test_an_order_of_three_says_where_each_class_is():
    truth = np.repeat([0, 1, 2], 40)
    labels, _ = likelier_order(("a", "b", "c"), truth, (truth + 1) % 3)
    # What the model calls b is a, and so on.
    assert labels == ["c", "a", "b"]


def test_labels_that_the_model_does_not_know_are_wrong_and_impossible():
    p = np.array([[0.8, 0.2], [0.3, 0.7], [1.0, 0.0], [0.6, 0.4]])
    found = class_scores(p, np.array(["a", "b"]), ["a", "a", "b", "new"])
    assert (found["error"], found["impossible"]) == (0.75, 2)
    log_loss = -np.log([0.8, 0.3, 1e-15, 1e-15]).mean()
    assert found["log_loss"] == pytest.approx(log_loss)
