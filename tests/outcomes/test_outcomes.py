"""What every type of outcome says of rows, by hand and by its contract."""

import math

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss
from tests.wording import same_text

from clearwood._numeric import variance
from clearwood.outcomes import (
    OUTCOMES,
    ClassProbabilities,
    Effect,
    Mean,
    Quantile,
    outcome_of,
)
from clearwood.outcomes.intervals import rate_of
from clearwood.rules import (
    FeatureBins,
    FeatureSpace,
    Interval,
    Rule,
    RuleList,
    Training,
    build_rule_set,
)
from clearwood.rules.building.new_rows import EVIDENCE, FitAndHeldOut, fit_shrinkage
from clearwood.rules.rule import statistics_text

MEAN, CLASSES = Mean(), ClassProbabilities()
VALUES, WEIGHT = np.array([1.0, 2.0, 6.0]), np.array([1.0, 2.0, 1.0])


EVERY = {
    "classes": (
        ClassProbabilities(("a", "b", "c")),
        np.array(["a", "c", "c", "b", "c"]),
    ),
    "mean": (MEAN, np.array([1.0, 2.0, 2.5, 6.0, 2.0])),
    "quantile": (Quantile(level=0.8), np.array([1.0, 2.0, 2.5, 6.0, 2.0])),
    "effect": (Effect(), np.array([1.0, -2.0, 2.5, 6.0, 2.0])),
}
"""A row per type, with some true labels or values."""


@pytest.mark.parametrize("outcome, truth", EVERY.values(), ids=EVERY)
def test_every_type_keeps_the_contract(outcome, truth):
    points, ones = outcome.codes(truth), np.ones(len(truth))
    assert outcome.named(points).tolist() == outcome.check(truth, 5).tolist()
    answers = outcome.certain(points)
    np.testing.assert_array_equal(outcome.point(answers), points)
    # What is said for sure of the truth costs nothing, and nothing else is as good.
    assert not outcome.losses(points, points).any()
    assert not outcome.apart(points, points).any()
    # The log loss looks at no probability below 0.001.
    assert outcome.proper_losses(answers, answers) == pytest.approx(0 * ones, abs=0.003)
    assert outcome.fidelity(points, points) == outcome.concordance(points, points) == 1
    # No constant costs less than the best, which some rows are told together.
    least = outcome.constant_error(points, ones)
    assert outcome.mean_loss(points, outcome.constant_of(points)) == pytest.approx(
        least
    )
    assert all(outcome.mean_loss(points, one) >= least - 1e-12 for one in points)
    together = outcome.aggregate(answers, ones)
    lost = [
        outcome.proper_losses(answers, np.array([one] * 5)).mean()
        for one in (together, *answers)
    ]
    assert lost[0] == pytest.approx(min(lost))
    # A rule says it in numbers that come to the same answer.
    rule = Rule((), **outcome.rule_fields(together, float))
    numbers = outcome.answers(np.array([rule.numbers]))
    assert outcome.named(outcome.point(numbers)).tolist() == [rule.prediction]
    assert numbers.ravel() == pytest.approx(np.ravel(together))
    added = Rule((), **outcome.added_fields(np.ravel(together), float)).numbers
    assert added == pytest.approx(tuple(np.ravel(together)))
    assert outcome.added_text(added, str) and outcome.averaged_text(rule.numbers)
    assert outcome.figure(0.25) and outcome.in_words().startswith(outcome.task)


def test_classes_tell_the_type_unless_it_is_given():
    assert outcome_of(np.array(["a", "b"])) == ClassProbabilities(("a", "b"))
    assert outcome_of(None) == outcome_of(()) == Mean() != Quantile()
    assert outcome_of((), Quantile()) == Quantile()
    assert outcome_of(("a", "b"), Quantile()) == ClassProbabilities(("a", "b"))
    assert {task: kind.task for task, kind in OUTCOMES.items()} == {
        task: task for task in OUTCOMES
    }


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


def test_losses_of_classes_are_divergences_weighted_by_the_total():
    rng, outcome = np.random.default_rng(0), ClassProbabilities()
    target, predicted = rng.dirichlet([1.0, 2.0, 3.0], size=(2, 20))
    expected = (target * np.log(target / predicted)).sum(axis=1)
    total = rng.uniform(0.5, 4.0, size=20)
    found = outcome.proper_losses(total[:, None] * target, 3.0 * predicted)
    np.testing.assert_allclose(found, total * expected, rtol=1e-9)


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


# Types whose rules predict estimates from true values


def test_a_rule_predicts_the_quantile_and_is_scored_by_its_loss():
    rng = np.random.default_rng(0)
    X, nine = rng.uniform(size=(400, 1)), Quantile(level=0.9)
    y = rng.exponential(np.where(X[:, 0] > 0.5, 3.0, 1.0))
    bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[0], cut=[0.5])
    rows = Training(X, y, y, np.ones(400), y, bins, outcome=nine)
    rules = build_rule_set([[Interval(0, low=0.5)]], rows)
    assert rules.outcome is nine and rules.task == "quantile"
    for rule, above in zip(rules, (True, False)):
        here = y[(X[:, 0] > 0.5) == above]
        # Printed within a fortieth of its interval.
        assert np.mean(here <= rule.prediction) == pytest.approx(0.9, abs=0.02)
    said = rules.predict(X)
    lost = rules.evaluate(X, y).error
    assert lost == pytest.approx(mean_pinball_loss(y, said, alpha=0.9))
    # The agreement with a model is of squares.
    assert nine.fidelity(y, said) == pytest.approx(
        1 - np.mean((y - said) ** 2) / y.var()
    )
    # Beside the quantile stands the share of new values up to it, with its interval.
    new = rng.exponential(np.where(X[:, 0] > 0.5, 3.0, 1.0))
    for rule in rules.described_on(X, new):
        here = new[(X[:, 0] > 0.5) == bool(rule.conditions)]
        share = rate_of(here <= rule.prediction, np.ones(len(here)))
        known = rule.statistics
        assert known.precision_assigned == share.value
        assert (known.low, known.high) == pytest.approx((share.low, share.high))
        assert known.low < 0.9 < known.high
        assert statistics_text(rule, nine)[1] == f"{share} observed"


def test_quantiles_of_a_sample_are_those_of_its_order_statistics():
    rng = np.random.default_rng(0)
    values = rng.normal(size=19)
    for level in (0.1, 0.5, 0.9):
        value, low, high = Quantile(level=level).estimate(values, np.ones(19))
        order = np.sort(values)
        place = level * 20 - 1  # Weibull's: the i-th of 19 has the level i / 20.
        exact = np.interp(place, np.arange(19), order)
        assert value == pytest.approx(exact)
        assert value == pytest.approx(np.quantile(values, level, method="weibull"))
        assert low <= value <= high
    # Weights are so many rows, but for their effective number.
    weight = np.where(values > 0, 1e6, 1.0)
    above = Quantile(level=0.5).estimate(values, weight)[0]
    own = values[values > 0]
    expected = Quantile(level=0.5).estimate(own, np.ones(len(own)))[0]
    assert above == pytest.approx(expected, abs=1e-3)


def test_the_quantile_of_answers_is_the_first_that_so_much_does_not_exceed():
    answers, ones = np.arange(10.0), np.ones(10)
    for level, expected in ((0.1, 0.0), (0.5, 4.0), (0.51, 5.0), (0.9, 8.0)):
        assert Quantile(level=level).aggregate(answers[::-1], ones) == expected
    # Three tenths of sums that are rounded.
    assert Quantile(level=0.3).aggregate(answers, np.full(10, 0.1)) == 2.0


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_intervals_of_quantiles_contain_the_true_one(level):
    rng = np.random.default_rng(0)
    outcome, true = Quantile(level=level), -math.log(1 - level)
    held, share = 0, 0.0
    for _ in range(1000):
        values = rng.exponential(size=60)
        value, low, high = outcome.estimate(values, np.ones(60))
        held += low <= true <= high
        share += 1 - math.exp(-value)
    # Within three standard errors, and what order statistics of 60 rows allow.
    assert 930 < held < 990
    assert share / 1000 == pytest.approx(level, abs=0.006)


def test_estimates_are_pooled_as_means(monkeypatch):
    # But for the prior of the evidence, which is wider.
    monkeypatch.setitem(EVIDENCE, False, EVIDENCE[True])
    lines = FitAndHeldOut(
        *np.array([[40.0, 0.9, 0.09, 0.9, 0.09, 1.0, 20.0, 0.8]] * 9).T
    )
    means = fit_shrinkage([lines], MEAN).means()
    for outcome in (Quantile(level=0.9), Effect()):
        assert fit_shrinkage([lines], outcome).means() == means


def test_quantiles_are_printed_shown_and_exported():
    rules = RuleList(
        (Rule((Interval(0, low=37.5),), 2.5),),
        Rule((), 1.5),
        FeatureSpace.numeric(1),
        outcome=Quantile(level=0.9),
    )
    same_text(str(rules))
    assert rules.to_frame().prediction.tolist() == [2.5, 1.5]
    functions = {}
    exec(rules.to_python(), functions)
    assert functions["predict"]({"x0": 39.0}) == 2.5
    assert rules.to_sklearn().predict([[39.0], [36.0]]).tolist() == [2.5, 1.5]
    assert "2.5" in rules.to_sql() and "2.5" in rules.to_latex()
    assert rules[:1].outcome == rules.drop(1).outcome == Quantile(level=0.9)
    assert RuleList.from_json(rules.to_json()) == rules


def test_effects_are_printed_and_exported():
    rules = RuleList(
        (Rule((Interval(0, low=37.5),), 2.5),),
        Rule((), -1.5),
        FeatureSpace.numeric(1),
        outcome=Effect(),
    )
    same_text(str(rules))
    assert RuleList.from_json(rules.to_json()) == rules


def test_labels_that_differ_by_a_nul_at_the_end_keep_their_codes():
    outcome = ClassProbabilities(("a", "a\0"))
    assert [outcome.code(label) for label in ("a", "a\0", "b")] == [0, 1, -1]
