"""Rules that cover nearly the same rows, and how many refits select a rule again."""

import numpy as np
import pytest

from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
from clearwood.rules.evaluation.overlap import best_overlap, jaccard, with_selection

ROWS = np.arange(100.0)[:, None]


def rules(*bounds, classes=()):
    """Rules ``x > bound``, of the predictions next to the bounds."""
    default, *found = [(None, "a" if classes else 0.0), *bounds]
    shares = {"a": (1.0, 0.0), "b": (0.0, 1.0)} if classes else {}
    made = [
        Rule(() if low is None else (Interval(0, low=low),), p, shares.get(p, ()))
        for low, p in [*found, default]
    ]
    space = FeatureSpace.numeric(1)
    return RuleList(tuple(made[:-1]), made[-1], space, classes=tuple(classes))


def overlap(one, two):
    matches = [found.matches_encoded(ROWS) for found in (one, two)]
    return best_overlap(one, matches[0], two, matches[1]).tolist()


def test_the_most_similar_rule_counts():
    one = rules((49.5, 1.0), (89.5, 2.0))
    assert overlap(one, rules((59.5, 1.0), (39.5, 9.0))) == [50 / 60, 10 / 40]


def test_the_default_rule_of_a_list_is_a_rule_of_the_rows_left():
    below = RuleList(
        (Rule((Interval(0, high=49.5),), 1.0),), Rule((), 0.0), FeatureSpace.numeric(1)
    )
    assert overlap(rules((49.5, 1.0)), below) == [1.0]


def test_classes_must_be_the_same():
    one, classes = rules((49.5, "b"), classes="ab"), "ab"
    assert overlap(one, rules((49.5, "b"), classes=classes)) == [1.0]
    # The rule that covers the same rows predicts another class.
    assert overlap(one, rules((49.5, "a"), classes=classes)) == [0.0]


@pytest.mark.parametrize(("low", "found"), [(59.5, 1), (60.5, 0)])
def test_a_rule_is_the_same_from_four_fifths_of_the_rows(low, found):
    selected = with_selection(rules((49.5, 1.0)), [rules((low, 1.0))], ROWS)
    assert selected.rules[0].selected == (found, 1)
    assert selected.otherwise.selected == ()


def test_rules_of_no_refit_that_has_any():
    few = with_selection(rules((49.5, 1.0)), [rules(), rules()], ROWS)
    # The default rule alone covers twice as many.
    assert few.rules[0].selected == (0, 2)
    assert with_selection(rules(), [rules()], ROWS).rules == ()


def test_overlap_is_that_of_sets():
    rng = np.random.default_rng(0)
    one, two = rng.random((30, 3)) < 0.4, rng.random((30, 2)) < 0.4
    two[:, 1] = one[:, 2] = False
    found = jaccard(one, two)
    a, b = set(np.flatnonzero(one[:, 0])), set(np.flatnonzero(two[:, 0]))
    assert found[0, 0] == len(a & b) / len(a | b)
    assert found[2, 1] == 0.0
