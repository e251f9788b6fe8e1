"""Rules over two features: boxes, outlines, and the ground."""

import matplotlib
import numpy as np
import pytest
from tests.rules.displays.samples import boxes_list, values_sum
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleList
from clearwood.rules.displays import RegionsDisplay

matplotlib.use("agg")


def test_rules_on_other_features_have_no_box():
    rules = RuleList(
        (Rule((Interval(2, low=0.0),), 1.0), Rule((Interval(1, high=0.0),), 2.0)),
        Rule((), 0.0),
        FeatureSpace.numeric(3),
    )
    display = RegionsDisplay.from_estimator(rules, np.zeros((4, 3)), features=(0, 1))
    assert [box.number for box in display.boxes] == [2]
    assert display.predicted.tolist() == [2.0] * 4
    display.plot()


def test_the_ground_is_what_the_rules_say_where_two_features_settle_it():
    rng = np.random.default_rng(0)
    rules = boxes_list()
    display = RegionsDisplay.from_estimator(
        rules, rng.uniform(size=(50, 3)), features=(0, 1)
    )
    first, second, said = display.decided
    assert not said.mask.any()
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (first, second)]
    for row, y in enumerate(centres[1]):
        for column, x in enumerate(centres[0]):
            assert said[row, column] == rules.predict([[x, y, 0.0]])[0]


def test_the_ground_is_left_white_where_other_features_count():
    first = Rule((Interval(0, low=0.5), Interval(2, low=0.5)), 5.0)
    second = Rule((Interval(0, low=0.2),), 3.0)
    rules = RuleList((first, second), Rule((), 1.0), FeatureSpace.numeric(3))
    points = np.random.default_rng(0).uniform(size=(50, 3))
    display = RegionsDisplay.from_estimator(rules, points, features=(0, 1))
    edges, _, said = display.decided
    assert edges[1:-1].tolist() == [0.2, 0.5]
    assert said.tolist() == [[1.0, 3.0, None]]
    display.plot().figure_.canvas.draw()
    # A rule on a third feature alone may take rows anywhere.
    elsewhere = RuleList(
        (Rule((Interval(2, low=0.5),), 5.0), second),
        Rule((), 1.0),
        FeatureSpace.numeric(3),
    )
    assert (
        RegionsDisplay.from_estimator(elsewhere, points, features=(0, 1))
        .decided[2]
        .mask.all()
    )


def bold_length(display, order):
    """Length of the bold outline of a box; the first one is drawn last."""
    pieces = display.ax_.collections[-1 - order].get_segments()
    return sum(np.abs(np.diff(piece, axis=0)).sum() for piece in pieces)


def test_an_outline_is_bold_only_where_no_earlier_rule_takes_the_rows():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    display = RegionsDisplay.from_estimator(boxes_list(), points)
    edge = 1.04
    assert bold_length(display, 0) == pytest.approx(4 * (edge - 0.5))
    # Its upper and right sides are partly those of the first box.
    whole = 2 * (edge - 0.2) + 2 * (edge + 0.04)
    assert bold_length(display, 1) == pytest.approx(whole - 2 * (edge - 0.5))


def test_a_thin_outline_goes_around_all_that_a_rule_asks_for():
    box = (Interval(0, low=0.2, high=0.6), Interval(1, low=0.3, high=0.5))
    rules = RuleList((Rule(box, 1.0),), Rule((), 0.0), FeatureSpace.numeric(2))
    display = RegionsDisplay.from_estimator(rules, np.eye(2))
    (outline,) = display.ax_.patches
    assert outline.get_bbox().extents == pytest.approx([0.2, 0.3, 0.6, 0.5])


def test_in_a_sum_no_rule_takes_rows_of_another():
    points = np.array([[0.0, 0.0], [1.0, 1.0]])
    display = RegionsDisplay.from_estimator(values_sum(), points)
    assert display.decided is None
    for order in (0, 1):
        assert bold_length(display, order) == pytest.approx(2 * (1.08 + 0.54))
    _, labels = display.ax_.get_legend_handles_labels()
    assert labels == ["1: adds - 8", "2: adds + 2"]


def test_numbers_at_one_corner_stand_side_by_side_within_their_boxes():
    corner = (Interval(0, low=0.2), Interval(1, low=0.5))
    rules = RuleList(
        (Rule(corner, 1.0), Rule(corner, 2.0)), Rule((), 0.0), FeatureSpace.numeric(2)
    )
    display = RegionsDisplay.from_estimator(rules, np.eye(2))
    display.figure_.canvas.draw()
    one, other = sorted(
        (text.get_window_extent() for text in display.ax_.texts), key=lambda box: box.x0
    )
    left, _ = display.ax_.transData.transform((0.2, 0.5))
    assert left < one.x0 < one.x1 < other.x0


def test_a_dollar_in_a_name_is_no_formula():
    rules = RuleList(
        (Rule((Interval(0, low=0.0),), "$x^$", (1.0, 0.0)),),
        Rule((), "$", (0.0, 1.0)),
        FeatureSpace.numeric(2, ["price in $", "$_$"]),
        ("$x^$", "$"),
        target="$\\frac$",
    )
    display = RegionsDisplay.from_estimator(rules, np.eye(2))
    display.figure_.canvas.draw()


def test_missing_values_are_no_obstacle():
    rules = RuleList(
        (Rule((Interval(0, low=0.0),), 1.0),), Rule((), 0.0), FeatureSpace.numeric(2)
    )
    X = np.array([[np.nan, 1.0], [np.nan, np.inf]])
    RegionsDisplay.from_estimator(rules, X).figure_.canvas.draw()


@pytest.mark.parametrize(
    "features",
    [
        (0, 0),
        (0,),
        (0, 9),
        (0, "absent"),
        (0, "hue"),
    ],
)
def test_bad_features_are_refused(features):
    space = FeatureSpace(("a", "b", "hue"), (None, None, ("red",)))
    rules = RuleList((Rule((CategorySet(2, (0,)),), 1.0),), Rule((), 0.0), space)
    with refuses(InputError):
        RegionsDisplay.from_estimator(rules, [[0, 0, "red"]], features=features)


def test_the_features_that_most_rules_ask_are_shown():
    rules = RuleList(
        (
            Rule((Interval(2, low=0.5), Interval(1, low=0.1)), 1.0),
            Rule((Interval(2, high=0.2),), 2.0),
        ),
        Rule((), 0.0),
        FeatureSpace.numeric(4),
    )
    assert RegionsDisplay.from_estimator(rules, np.zeros((2, 4))).names == ("x1", "x2")
    one = RuleList((), Rule((), 0.0), FeatureSpace.numeric(1))
    with refuses(InputError):
        RegionsDisplay.from_estimator(one, [[0.0]])
