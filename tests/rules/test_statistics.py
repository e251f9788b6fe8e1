"""What some rows say about every rule, and how sure that is."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests._html.hostile import tags_of
from tests.wording import refuses, same_lines, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.outcomes import Mean
from clearwood.outcomes.intervals import mean_of, rate_of
from clearwood.rules import Interval, Rule, RuleList, RuleSet, RuleStatistics
from clearwood.rules.rule import statistics_text

CLASSES = ("well", "ill", "dead")
LIST = RuleList(
    rules=(
        Rule((Interval(0, low=6.0),), "ill", (0.1, 0.8, 0.1)),
        Rule((Interval(0, low=2.0),), "well", (0.7, 0.2, 0.1)),
    ),
    otherwise=Rule((), "well", (0.9, 0.1, 0.0)),
    features=FeatureSpace.numeric(1),
    classes=CLASSES,
)
X = np.arange(10.0).reshape(-1, 1)
# Rule 1 predicts 7, 8, 9; rule 2 predicts 3 to 6 and matches 3 to 9; the rest 0 to 2.
TRUTH = ["well"] * 3 + ["well", "ill", "well", "well"] + ["ill", "ill", "well"]
TAUGHT = ["well"] * 3 + ["dead", "dead", "ill", "well"] + ["ill", "ill", "ill"]


def share_interval(hits, weight):
    return rate_of(hits, weight)[1:3]


def mean_interval(values, weight):
    return mean_of(values, weight)[1:3]


def test_both_senses_of_every_share():
    first, second, rest = LIST.described_on(X, TRUTH, model=TAUGHT)
    assert (first.support, first.assigned) == (3.0, 3.0)
    assert (second.support, second.assigned) == (7.0, 4.0)
    assert (rest.support, rest.assigned) == (3.0, 3.0)
    assert second.precision == pytest.approx(4 / 7)
    assert second.precision_assigned == pytest.approx(3 / 4)
    assert second.agreement == pytest.approx(1 / 7)
    assert second.agreement_assigned == pytest.approx(1 / 4)
    assert first.precision_assigned == pytest.approx(2 / 3)
    assert math.isnan(first.std)


def test_where_the_model_says_otherwise():
    first, second, rest = LIST.described_on(X, TRUTH, model=TAUGHT)
    assert (second.disagreement, second.instead) == (3.0, "dead")
    assert (first.disagreement, first.instead) == (0.0, None)
    # Weights decide which class is most often said.
    weight = np.ones(10)
    weight[5] = 5.0
    heavy = LIST.described_on(X, model=TAUGHT, sample_weight=weight).rules[1]
    assert (heavy.disagreement, heavy.instead) == (7.0, "ill")


def test_a_teacher_may_know_classes_that_the_rules_do_not():
    target = [*TAUGHT[:3], "gone", "gone", "gone", "well", *TAUGHT[7:]]
    second = LIST.described_on(X, model=target).rules[1]
    assert (second.disagreement, second.instead) == (3.0, None)


def test_the_interval_is_of_the_labels_else_of_what_the_model_says():
    of_labels = LIST.described_on(X, TRUTH, model=TAUGHT).rules[1]
    of_model = LIST.described_on(X, model=TAUGHT).rules[1]
    for rule, hits in ((of_labels, 3), (of_model, 1)):
        exact = stats.binomtest(hits, 4).proportion_ci(method="wilson")
        assert (rule.low, rule.high) == pytest.approx((exact.low, exact.high))
    nothing = LIST.described_on(X).rules[1]
    assert math.isnan(nothing.low) and math.isnan(nothing.agreement)
    assert nothing.support == 7.0


def test_the_interval_of_a_mean_is_students():
    rules = RuleList(
        (Rule((Interval(0, low=4.5),), 7.0),), Rule((), 2.0), FeatureSpace.numeric(1)
    )
    y = np.array([0.0, 1, 2, 3, 4, 9, 6, 7, 8, 5])
    target = y + 3.0
    rule = rules.described_on(X, y, model=target).rules[0]
    exact = stats.ttest_1samp(y[5:], 0.0).confidence_interval(0.95)
    assert (rule.low, rule.high) == pytest.approx((exact.low, exact.high))
    assert rule.std == pytest.approx(y[5:].std())
    assert rule.disagreement == pytest.approx(np.sqrt(np.mean((target[5:] - 7) ** 2)))
    assert rule.instead is None and math.isnan(rule.precision_assigned)
    low, high = mean_interval(target[5:], np.ones(5))
    of_model = rules.described_on(X, model=target).rules[0]
    assert (of_model.low, of_model.high) == (low, high)


def test_intervals_hold_what_they_promise():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(2000):
        weight = rng.choice([0.5, 2.0], 60)
        share = share_interval(rng.random(60) < 0.8, weight)
        mean = mean_interval(rng.normal(3.0, 2.0, 60), weight)
        held.append((share[0] <= 0.8 <= share[1], mean[0] <= 3.0 <= mean[1]))
    assert np.mean(held, axis=0) == pytest.approx([0.95, 0.95], abs=0.015)


def test_equal_weights_count_as_rows_whatever_their_size():
    hits, values = np.arange(8) < 5, np.arange(8.0)
    for scale in (1e-300, 0.1, 7.0, 1e300):
        share = share_interval(hits, np.full(8, scale))
        assert share == pytest.approx(share_interval(hits, np.ones(8)))
    for scale in (1e-9, 7.0):
        mean = mean_interval(values, np.full(8, scale))
        assert mean == pytest.approx(mean_interval(values, np.ones(8)))


def test_unequal_weights_count_as_fewer_rows():
    # Four rows that count as three: 6**2 / 12.
    weight, values = np.array([3.0, 1.0, 1.0, 1.0]), np.array([1.0, 2.0, 4.0, 5.0])
    share = share_interval(np.array([1, 1, 0, 0]), weight)
    exact = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert share == pytest.approx((exact.low, exact.high))
    mean = np.average(values, weights=weight)
    error = np.sqrt(np.average((values - mean) ** 2, weights=weight) / 2)
    half = stats.t(2).ppf(0.975) * error
    assert mean_interval(values, weight) == pytest.approx((mean - half, mean + half))


def test_rows_are_counted_and_weighed():
    X, weight = [[1.0], [2.0], [6.0], [7.0]], [10.0, 0.0, 2.5, 0.5]
    rules = RuleList(
        (Rule((Interval(0, high=6.5),), 1.0), Rule((Interval(0, low=5.0),), 2.0)),
        Rule((), 3.0),
        FeatureSpace.numeric(1),
    ).described_on(X, sample_weight=weight)
    # A row without weight is none.
    first, second = rules.rules
    assert (first.rows, first.rows_assigned, first.support) == (2, 2, 12.5)
    assert (second.rows, second.rows_assigned) == (2, 1)
    assert (second.support, second.assigned) == (3.0, 0.5)
    assert (rules.n_rows, rules.total_weight) == (3, 13.0)
    same_text(str(rules))
    same_lines(rules._repr_html_())
    rows = [(rule.rows_assigned, rule.rows) for rule in rules]
    assert rows == [(2, 2), (1, 2), (0, 0)]


def test_a_million_rows_are_told_to_the_row():
    rule = Rule(
        (), 0.0, statistics=RuleStatistics(support=1234567.0, assigned=1234567.0)
    )
    assert statistics_text(rule, Mean())[0] == "1234567 rows"


def test_an_agreement_that_rounding_took_is_nought():
    rule = Rule(
        (),
        0.0,
        statistics=RuleStatistics(
            support=9.0, assigned=9.0, agreement_assigned=-1.25e-06
        ),
    )
    assert statistics_text(rule, Mean())[1] == "agreement 0"


def test_few_rows():
    assert share_interval(np.array([True]), np.ones(1))[1] == 1.0
    assert np.isnan(mean_interval(np.ones(1), np.ones(1))).all()
    assert np.isnan(mean_interval(np.arange(2.0), np.array([1.0, 0.0]))).all()
    assert mean_interval(np.ones(3), np.ones(3)) == (1.0, 1.0)
    # A rule that decides nothing has no interval, and says so in no words.
    told = LIST.described_on([[9.0]], ["ill"], model=["ill"])
    assert told.rules[1].assigned == 0.0 and math.isnan(told.rules[1].low)
    same_text(str(told))


def test_other_rows_change_no_prediction():
    told = LIST.described_on(X, TRUTH, model=TAUGHT)
    np.testing.assert_array_equal(told.predict_proba(X), LIST.predict_proba(X))
    assert [r.conditions for r in told] == [r.conditions for r in LIST]
    assert RuleSet.from_json(told.to_json()) == told
    # Nothing of what was known before stays.
    assert told.described_on(X) == LIST.described_on(X)


def test_rows_without_weight_do_not_count():
    weight = np.array([1.0] * 8 + [0.0] * 2)
    told = LIST.described_on(X, TRUTH, model=TAUGHT, sample_weight=weight)
    assert told == LIST.described_on(X[:8], TRUTH[:8], model=TAUGHT[:8])


def test_the_text_is_short_and_the_table_complete():
    told = LIST.described_on(X, TRUTH, model=TAUGHT)
    same_text(str(told))
    html = told._repr_html_()
    same_lines(html)
    assert "[30, 95]" in html
    unlabelled = str(LIST.described_on(X, model=TAUGHT))
    assert "agreement 25 % [5, 70])" in unlabelled


def test_no_tag_of_a_hostile_class_survives():
    def table(label):
        classes = ("well", "ill", label)
        rules = RuleList(LIST.rules, LIST.otherwise, LIST.features, classes)
        target = [label if said == "dead" else said for said in TAUGHT]
        return rules.described_on(X, TRUTH, model=target)._repr_html_()

    assert tags_of(table("<img src=x onerror=alert(1)>")) == tags_of(table("dead"))


def test_wrong_rows_are_refused():
    with pytest.raises(InputError, match="empty"):
        LIST.described_on(np.empty((0, 1)))
    with refuses(InputError):
        LIST.described_on(X, ["ill", "well"])
    with pytest.raises(InputError, match="sample_weight"):
        LIST.described_on(X, TRUTH, sample_weight=np.zeros(10))
    with refuses(InputError):
        LIST.described_on(pd.DataFrame(X), model=np.zeros(10, dtype=int))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.94812, 0.9941, "[0.948, 0.994]"),
        (143.2, 179.4, "[143, 179]"),
        (2004.31, 2009.62, "[2004.3, 2009.6]"),
        (2006.431, 2006.862, "[2006.43, 2006.86]"),
        (10000251.3, 10000262.9, "[10000251, 10000263]"),
        (1.7e9 + 12.25, 1.7e9 + 38.5, "[1700000012, 1700000038]"),
        (5.0, 5.0, "[5, 5]"),
        (-0.00012, 0.00034, "[-0.00012, 0.00034]"),
    ],
)
def test_the_ends_of_an_interval_are_told_apart(low, high, text):
    rule = Rule(
        (), 1.0, statistics=RuleStatistics(support=9, assigned=9, low=low, high=high)
    )
    assert Mean().interval_text(rule.statistics) == text


def test_blocks_of_rows_add_up():
    once, often = (
        LIST.described_on(np.tile(X, (n, 1)), TRUTH * n, model=TRUTH * n)
        for n in (1, 2000)
    )
    for one, many in zip(once, often):
        assert (many.assigned, many.support) == (
            2000 * one.assigned,
            2000 * one.support,
        )
        assert (many.precision, many.agreement) == (one.precision, one.agreement)
