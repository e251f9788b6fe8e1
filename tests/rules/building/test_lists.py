"""From regions to a printed list."""

from dataclasses import replace

import numpy as np
import pytest
from tests.wording import refuses, same_lines

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import (
    FeatureBins,
    Interval,
    Rule,
    RuleList,
    RuleStatistics,
    RuleSum,
    Training,
    build_rule_list,
    build_rule_set,
    build_rule_sum,
)
from clearwood.rules.building.monotone import expected_in_order
from clearwood.rules.building.shorten import rounded

NO_CUTS = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[], cut=[])
X = np.arange(10.0).reshape(-1, 1)
ONES = np.ones(10)


def low_mid_high():
    target = np.array([0.0] * 4 + [5.0] * 3 + [9.0, 9.0, 12.0])
    regions = [
        (Interval(0, low=6.5),),
        (Interval(0, high=3.5),),
        (Interval(0, low=3.5, high=6.5),),
        (Interval(0, low=40.0),),
        (Interval(0, high=2.5),),
    ]
    return regions, Training(X, target, target + 1.0, ONES, target, NO_CUTS)


def test_values_order_and_statistics_of_regression_rules():
    regions, training = low_mid_high()
    rules = build_rule_set(regions, training)
    # Perfect agreement first, by support; the region without rows and the one
    # whose rows all belong to an earlier rule are gone.
    assert [rule.prediction for rule in rules.rules] == [0.0, 5.0, 10.0]
    assert [rule.assigned for rule in rules] == [4.0, 3.0, 3.0, 0.0]
    assert [rule.agreement for rule in rules.rules[:2]] == [1.0, 1.0]
    assert [rule.agreement_assigned for rule in rules.rules[:2]] == [1.0, 1.0]
    variance = training.target.var()
    assert rules.rules[2].agreement == pytest.approx(1 - 2.0 / variance)
    # Spread is of the labels (y), not of the target.
    assert rules.rules[2].std == pytest.approx(np.std([10.0, 10.0, 13.0]))
    assert rules.otherwise.support == 0.0
    np.testing.assert_array_equal(rules.predict(X), [0] * 4 + [5] * 3 + [10] * 3)


def test_otherwise_speaks_for_the_rows_that_are_left():
    regions, training = low_mid_high()
    rules = build_rule_set(regions[1:2], training, round_thresholds=False)
    assert rules.otherwise.prediction == training.target[4:].mean()
    assert rules.otherwise.support == 6.0


def test_classification_rules_take_the_most_probable_class():
    target = np.array([[0.9, 0.1]] * 5 + [[0.4, 0.6]] * 4 + [[0.7, 0.3]])
    labels = np.array([0] * 4 + [1] * 6)
    rules = build_rule_set(
        [(Interval(0, high=4.5),), (Interval(0, low=4.5),)],
        Training(
            X, target, labels, ONES, target.argmax(axis=1), NO_CUTS, ("no", "yes")
        ),
    )
    assert [rule.prediction for rule in rules.rules] == ["no", "yes"]
    assert rules.rules[0].precision == 4 / 5
    assert rules.rules[1].precision == 1.0
    assert rules.rules[1].agreement == 4 / 5
    np.testing.assert_allclose(rules.rules[1].probabilities, [0.46, 0.54])


def test_agreement_is_told_apart_where_earlier_rules_take_rows():
    target = np.repeat([[1.0, 0.0], [0.0, 1.0]], [3, 7], axis=0)
    rules = build_rule_set(
        [(Interval(0, low=6.5),), (Interval(0, low=0.5, high=8.5),)],
        Training(X, target, None, ONES, target.argmax(axis=1), NO_CUTS, ("a", "b")),
    )
    later = rules.rules[1]
    assert (later.support, later.assigned) == (8.0, 6.0)
    assert later.agreement == pytest.approx(6 / 8)
    assert later.agreement_assigned == pytest.approx(4 / 6)
    same_lines(str(rules))


def test_weights_count_as_repeated_rows():
    regions, training = low_mid_high()
    weight = np.arange(10.0)
    repeat = np.repeat(np.arange(10), weight.astype(int))
    weighted = build_rule_set(regions, replace(training, weight=weight))
    repeated = build_rule_set(
        regions,
        Training(X[repeat], training.target[repeat], training.labels[repeat],
                 np.ones(len(repeat)), training.model_predictions[repeat], NO_CUTS),
    )  # fmt: skip
    for a, b in zip(weighted, repeated):
        assert a.conditions == b.conditions
        np.testing.assert_allclose(
            [a.prediction, a.support, a.assigned, a.agreement, a.std],
            [b.prediction, b.support, b.assigned, b.agreement, b.std],
        )


def test_rounding_changes_no_training_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1e-3, 1e5]
    cuts = np.quantile(X, [0.2, 0.7], axis=0)
    regions = [
        tuple(Interval(d, cuts[0, d], cuts[1, d]) for d in range(2)),
        (Interval(0, low=cuts[1, 0]),),
    ]
    bins = FeatureBins.from_splits(FeatureSpace.numeric(2), feature=[], cut=[])
    training = Training(X, X[:, 1], None, np.ones(200), X[:, 1], bins)
    exact = build_rule_set(regions, training, round_thresholds=False)
    short = build_rule_set(regions, training)
    np.testing.assert_array_equal(exact.apply(X), short.apply(X))
    assert len(str(short)) < len(str(exact))
    step = 0.005 * X[:, 1].std()
    for a, b in zip(exact, short):
        assert abs(a.prediction - b.prediction) <= step


def test_a_region_that_holds_all_rows_is_otherwise():
    regions, training = low_mid_high()
    regions = [(Interval(0, high=99.0),), regions[0]]
    rules = build_rule_set(regions, training, round_thresholds=False)
    assert [rule.prediction for rule in rules] == [10.0, training.target[:7].mean()]


def test_agreement_is_with_the_model_also_where_labels_are_the_target():
    target = np.eye(2)[np.repeat([0, 1], 5)]
    predicted = np.array([0] * 5 + [0, 0, 1, 1, 1])
    rules = build_rule_set(
        [(Interval(0, low=4.5),)],
        Training(
            X,
            target,
            target.argmax(axis=1),
            ONES,
            predicted,
            NO_CUTS,
            ("a", "b"),
        ),
    )
    assert rules.rules[0].precision == 1.0
    assert rules.rules[0].agreement == pytest.approx(3 / 5)


def test_lines_beyond_max_rules_fall_to_otherwise():
    regions, training = low_mid_high()
    rules = build_rule_set(regions, training, max_rules=2, round_thresholds=False)
    assert [rule.assigned for rule in rules] == [4.0, 6.0]
    assert rules.otherwise.prediction == training.target[4:].mean()


def test_huge_values_are_left_as_they_are():
    target = np.repeat([1e200, 2e200], 5)
    training = Training(X, target, None, ONES, target, NO_CUTS)
    with np.errstate(over="ignore"):
        rules = build_rule_set([(Interval(0, low=4.5),)], training)
    assert rules.predict(X).tolist() == target.tolist()


def test_probabilities_are_those_of_the_rows():
    target = np.array([[0.9, 0.1]] * 4 + [[0.6, 0.4]] * 3 + [[0.1, 0.9]] * 3)
    rules = build_rule_set(
        [(Interval(0, high=3.5),), (Interval(0, low=6.5),)],
        Training(X, target, None, ONES, target.argmax(axis=1), NO_CUTS, ("a", "b")),
    )
    for rule in rules:
        last = rule is rules.otherwise
        rows = rules.apply(X) == rules.n_rules - 1 if last else rule.matches(X)
        np.testing.assert_allclose(rule.probabilities, target[rows].mean(axis=0))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # Below all values it only keeps out what is missing, and says so.
        (Interval(0, low=-3.4e38), Interval(0)),
        (Interval(0, low=-3.4e38, high=2.4), Interval(0, high=2.0)),
        (Interval(0, high=7.1), Interval(0)),
        # Without the bound it would say nothing at all.
        (Interval(0, high=7.1, missing=True), Interval(0, high=7.1, missing=True)),
        # Above all values it holds for none of them, which has to stay so.
        (Interval(0, low=7.1), Interval(0, low=7.1)),
        (Interval(0, low=np.inf, missing=True), Interval(0, low=np.inf, missing=True)),
        # What holds for missing values only says so.
        (Interval(0, high=1e-35, missing=True), Interval(0, low=np.inf, missing=True)),
        (Interval(0, low=7.1, missing=True), Interval(0, low=np.inf, missing=True)),
    ],
)
def test_bounds_that_part_no_values(condition, expected):
    column = np.array([[1.0], [1.5], [3.0], [np.nan]])
    (found,) = rounded([condition], column)
    assert found == expected
    assert (found.matches(column[:, 0]) == condition.matches(column[:, 0])).all()


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        (Interval(0, high=5.25), [1.0, np.inf]),
        (Interval(0, low=5.25), [-np.inf, 9.0]),
    ],
)
def test_a_bound_beside_infinite_values_stays(condition, values):
    assert rounded([condition], np.array(values)[:, None]) == (condition,)


def test_lists_keep_their_order_and_speak_for_the_rows_they_catch():
    regions, training = low_mid_high()
    in_order = [regions[4], regions[3], regions[1], regions[2]]
    rules = build_rule_list(in_order, training, round_thresholds=False)
    # The region without rows is gone; nothing else is moved or left out.
    assert [rule.conditions[0].high for rule in rules.rules] == [2.5, 3.5, 6.5]
    assert [rule.assigned for rule in rules] == [3.0, 1.0, 3.0, 3.0]
    assert [rule.support for rule in rules] == [3.0, 4.0, 3.0, 3.0]
    assert [rule.prediction for rule in rules] == [0.0, 0.0, 5.0, 10.0]


def test_a_list_ends_where_a_rule_holds_every_row():
    regions, training = low_mid_high()
    everything = (Interval(0, high=50.0),)
    rules = build_rule_list([regions[0], everything, regions[1]], training)
    assert rules.n_rules == 2
    assert rules.otherwise.prediction == pytest.approx(15 / 7, abs=0.02)


def test_lists_say_class_probabilities_of_the_caught_rows():
    target = np.array([[0.9, 0.1]] * 3 + [[0.2, 0.8]] * 7)
    training = Training(
        X, target, None, ONES, target.argmax(axis=1), NO_CUTS, ("no", "yes")
    )
    regions = [(Interval(0, high=2.5),), (Interval(0, high=5.5),)]
    rules = build_rule_list(regions, training)
    assert rules.rules[1].probabilities == pytest.approx((0.2, 0.8))
    assert rules.rules[1].support == 6.0


def test_synthetic_rows_count_for_values_and_literals_but_not_in_statistics():
    target = np.where(X[:, 0] < 5, 1.0, 3.0)
    training = Training(X, target, None, ONES, target, NO_CUTS)
    more = training.with_synthetic(
        np.array([[4.2], [4.4], [40.0]]), np.array([2.0, 2.0, 7.0]), np.ones(3)
    )
    region = [(Interval(0, low=-1.0, high=4.5),)]
    rules = build_rule_list(region, more, round_thresholds=False)
    assert rules.rules[0].prediction == pytest.approx(9 / 7)
    assert rules.rules[0].support == 5.0
    # What catches synthetic rows only is no rule.
    assert not build_rule_list([(Interval(0, low=30.0),)], more).rules
    region = [(Interval(0, low=4.5, high=30.0),)]
    assert rules_bounds(region, training) == (4.5, np.inf)
    assert rules_bounds(region, more) == (4.5, 30.0)


def rules_bounds(region, training):
    rules = build_rule_list(region, training, round_thresholds=False)
    condition = rules.rules[0].conditions[0]
    return condition.low, condition.high


RISING = np.array([1])


def binary(probabilities):
    """Rows 0-3, 4-6 and 7-9 with their probabilities of "yes"."""
    p = np.repeat(probabilities, [4, 3, 3])
    target = np.column_stack([1 - p, p])
    said = target.argmax(axis=1)
    return Training(X, target, None, ONES, said, NO_CUTS, ("no", "yes"))


@pytest.mark.parametrize(
    ("wanted", "signs", "printed"),
    [
        # Nothing to do: falls already, rises already.
        ([0.9, 0.6, 0.1], -RISING, [0.1, 0.6, 0.9]),
        ([0.1, 0.6, 0.9], RISING, [0.9, 0.6, 0.1]),
        # The classes are in order, the probabilities were not.
        ([0.1, 0.9, 0.6], RISING, [0.75, 0.75, 0.1]),
        # Neither were.
        ([0.9, 0.6, 0.1], RISING, [0.57, 0.57, 0.57]),
    ],
)
def test_probabilities_of_a_rising_list_rise(wanted, signs, printed):
    regions = [(Interval(0, low=6.5),), (Interval(0, low=3.5),)]
    rules = build_rule_list(regions, binary(wanted), signs=signs)
    assert [rule.probabilities[1] for rule in rules] == pytest.approx(printed)
    assert [sum(rule.probabilities) for rule in rules] == pytest.approx([1.0] * 3)
    said = ["yes" if p > 0.5 else "no" for p in printed]
    assert [rule.prediction for rule in rules] == said


def test_values_stay_in_order_whatever_rounding_does(monkeypatch):
    short = {1.0: 1.0, 2.25: 2.3, 2.75: 2.2}
    monkeypatch.setattr(
        "clearwood.outcomes.outcome.short_value", lambda value, step: short[value]
    )
    target = np.repeat([1.0, 2.25, 2.75], [4, 3, 3])
    training = Training(X, target, None, ONES, target, NO_CUTS)
    regions = [(Interval(0, low=6.5),), (Interval(0, low=3.5),)]
    rules = build_rule_list(regions, training, signs=RISING)
    assert rules.predictions.tolist() == [2.3, 2.3, 1.0]


def test_lines_that_bound_a_rising_feature_from_above_stay_below():
    target = np.array([5.0] * 4 + [1.0] * 3 + [9.0] * 3)
    training = Training(X, target, None, ONES, target, NO_CUTS)
    first = (Interval(0, high=3.5),)
    rules = build_rule_list([first], training, signs=RISING)
    assert rules.predictions == pytest.approx([5.0, 5.0])
    rules = build_rule_list([first], training, signs=-RISING)
    assert rules.predictions == pytest.approx([5.0, 5.0])
    rules = build_rule_list([(Interval(0, high=6.5),)], training, signs=RISING)
    assert rules.predictions == pytest.approx([23 / 7, 9.0], rel=0.01)


def test_lines_in_order_say_the_same_in_any_unit_of_weight():
    target = np.array([5.0] * 4 + [1.0] * 3 + [9.0] * 3)
    first = (Interval(0, high=3.5),)
    for unit in (1e-3, 1.0, 1e3):
        training = Training(X, target, None, unit * ONES, target, NO_CUTS)
        rules = build_rule_list(
            [first], training, signs=-RISING, round_thresholds=False
        )
        assert rules.predictions == pytest.approx([5.0, 5.0])
        rules = build_rule_list([first], training, round_thresholds=False)
        assert rules.predictions == pytest.approx([5.0, 5.0])
        rising = build_rule_list([(Interval(0, high=6.5),)], training, signs=RISING)
        assert rising.predictions == pytest.approx([23 / 7, 9.0], rel=0.01)


def test_missing_values_alone_are_compared_with_nothing():
    table = X.copy()
    table[:3] = np.nan
    target = np.array([7.0] * 3 + [1.0] * 4 + [9.0] * 3)
    training = Training(table, target, None, ONES, target, NO_CUTS)
    missing = (Interval(0, low=np.inf, missing=True),)
    regions = [missing, (Interval(0, low=6.5),)]
    for sign in (1, -1):
        rules = build_rule_list(regions, training, signs=sign * RISING)
        assert rules.predictions[0] == 7.0


def test_otherwise_without_rows_gives_way_to_no_rule():
    target = np.array([1.0] * 4 + [3.0] * 6)
    training = Training(X, target, None, ONES, target, NO_CUTS)
    regions = [(Interval(0, low=3.5),), (Interval(0, high=3.5),)]
    rules = build_rule_list(regions, training, signs=RISING)
    top, low, otherwise = rules.predictions
    assert (top, low) == (3.0, 1.0)
    assert otherwise == pytest.approx(2.2, abs=0.01)


def test_two_sides_of_a_rising_feature_are_refused():
    target = X[:, 0]
    training = Training(X, target, None, ONES, target, NO_CUTS)
    both = [(Interval(0, low=2.5, high=6.5),)]
    with refuses(InputError):
        build_rule_list(both, training, signs=RISING)
    free = build_rule_list(both, training)
    assert build_rule_list(both, training, signs=0 * RISING) == free


def test_a_sum_drops_what_holds_nothing_and_adds_what_holds_all_to_the_constant():
    _, training = low_mid_high()
    weight = np.arange(10.0)
    regions = [
        (Interval(0, low=6.51234),),
        (Interval(0, low=40.0),),
        (Interval(0, high=99.0),),
        (Interval(0, low=-7.0, high=3.5),),
    ]
    rules = build_rule_sum(
        regions, [2.0004, 9.0, 0.5, -1.25], 3.0, replace(training, weight=weight)
    )
    assert isinstance(rules, RuleSum)
    # Short bounds and values, no lower bound below all rows, and a short constant.
    assert [rule.conditions for rule in rules.rules] == [
        (Interval(0, low=6.0),),
        (Interval(0, high=3.0),),
    ]
    assert [rule.prediction for rule in rules] == [2.0, -1.25, 3.5]
    assert [rule.support for rule in rules] == [24.0, 6.0, 45.0]
    expected = np.where(X[:, 0] > 6, 5.5, 3.5) - 1.25 * (X[:, 0] <= 3)
    np.testing.assert_array_equal(rules.predict(X), expected)
    np.testing.assert_array_equal(rules.totals(X), expected)


def test_scores_of_a_sum_are_rounded_to_three_digits():
    target = np.repeat([[1.0, 0.0], [0.0, 1.0]], 5, axis=0)
    said = target.argmax(axis=1)
    training = Training(X, target, None, ONES, said, NO_CUTS, ("no", "yes"))
    region = [(Interval(0, low=4.5),)]
    rules = build_rule_sum(region, [[0.0, 3.14159]], [0.0, -2.0], training)
    assert [rule.scores for rule in rules] == [(0.0, 3.14), (0.0, -2.0)]
    assert [rule.prediction for rule in rules] == ["yes", "no"]
    exact = build_rule_sum(
        region, [[0.0, 3.14159]], [0.0, -2.0], training, round_thresholds=False
    )
    assert exact.rules[0].scores == (0.0, 3.14159)


def test_probabilities_do_not_round_beyond_one():
    rng = np.random.default_rng(0)
    for _ in range(50):
        weight = rng.random(10)
        target = np.tile([0.0, 1.0], (10, 1))
        said = np.ones(10, int)
        training = Training(X, target, None, weight, said, NO_CUTS, ("no", "yes"))
        rules = build_rule_list([], training)
        assert rules.otherwise.probabilities[0] == 0.0
        assert 1 - 1e-12 < rules.otherwise.probabilities[1] <= 1.0


def test_what_is_expected_in_order_is_a_probability_of_each_class():
    lines = [
        Rule(
            (Interval(0, low=5.0),),
            "yes",
            (0.4, 0.6),
            statistics=RuleStatistics(support=3.0, assigned=3.0),
        ),
        Rule(
            (Interval(0, low=2.0),),
            "yes",
            (0.2, 0.8),
            statistics=RuleStatistics(support=1.0, assigned=1.0),
        ),
        Rule(
            (), "no", (0.7, 0.3), statistics=RuleStatistics(support=4.0, assigned=4.0)
        ),
    ]
    space = FeatureSpace.numeric(1)
    rules = RuleList(tuple(lines[:-1]), lines[-1], space, ("no", "yes"))
    found = expected_in_order(rules, np.array([1.0]))
    shares = np.array([rule.probabilities for rule in found])
    np.testing.assert_allclose(shares[:, 1], [0.65, 0.65, 0.3])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
