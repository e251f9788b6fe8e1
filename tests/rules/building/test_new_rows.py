"""What is expected of rules on new rows."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.outcomes import ClassProbabilities, Mean
from clearwood.outcomes.intervals import share_interval
from clearwood.rules import (
    FeatureBins,
    Interval,
    Rule,
    RuleList,
    RuleStatistics,
    RuleSum,
    Training,
)
from clearwood.rules.building.new_rows import (
    DIFFERS,
    EVIDENCE,
    MOST_COUNTED,
    NODE_WEIGHTS,
    NODES,
    POINTS,
    USUAL_ROWS,
    FitAndHeldOut,
    Shrinkage,
    evaluate_apart,
    fit_shrinkage,
    learn_slope,
    with_expectations,
    with_slope,
)
from clearwood.rules.building.rule_curves import counts_by_cause

SPACE = FeatureSpace.numeric(1)
BINS = FeatureBins.from_splits(SPACE, feature=[0, 0], cut=[2.5, 6.5])
X = np.arange(10.0).reshape(-1, 1)
"""Rule 1 predicts 7, 8, 9; rule 2 predicts 3 to 6; the rest 0 to 2."""


def training(labels, classes=(), weight=None):
    labels = np.asarray(labels)
    target = np.eye(len(classes))[labels] if classes else labels.astype(float)
    weight = np.ones(len(labels)) if weight is None else np.asarray(weight)
    return Training(X[: len(labels)], target, labels, weight, labels, BINS, classes)


def rule_list(classes=(), said=(1, 0, 0)):
    lines = [Rule((Interval(0, low=6.5),), 0.0), Rule((Interval(0, low=2.5),), 0.0)]
    lines.append(Rule((), 0.0))
    if classes:
        even = (1 / len(classes),) * len(classes)
        lines = [Rule(r.conditions, classes[k], even) for r, k in zip(lines, said)]
    return RuleList(tuple(lines[:-1]), lines[-1], SPACE, classes)


LABELS = [0, 0, 1, 0, 0, 1, 2, 1, 1, 0]
WEIGHT = [1.0, 2.0, 1.0, 0.5, 4.0, 1.0, 1.0, 3.0, 1.0, 2.0]


KNOWN = Shrinkage(np.array([0.5, 5.0]), np.array([0.9, 0.4]), np.array([0.25, 0.75]))
"""Two points of a posterior."""


def pooled(values, weight, here, literals):
    """The formula, term by term: mean and variance of the pooled rows, their number,
    and that of equally uncertain ones."""
    w, y = weight[here], values[here]
    n = w.sum() ** 2 / (w**2).sum()
    own, usual = np.average(y, weights=w), np.average(values, weights=weight)
    squares = np.average(y**2, weights=w), np.average(values**2, weights=weight)
    v = squares[1] - usual**2

    def moments(share):
        mean = share * own + (1 - share) * usual
        return mean, share * squares[0] + (1 - share) * squares[1] - mean**2

    def shares(usual_rows):
        """Of own rows, if usual rows are few or many, and how likely these are."""
        for x, p in zip(NODES, NODE_WEIGHTS):
            k = usual_rows * math.exp(DIFFERS * x)
            spread = math.sqrt(v * (1 / n + 1 / k))
            likely = p * stats.norm.pdf(own - usual, 0, spread)
            yield n / (n + k * (1 + literals) ** 2), likely

    share, error, found = 0.0, 0.0, []
    for usual_rows, evidence, p in zip(*KNOWN):
        w_j, likely = np.array(list(shares(usual_rows))).T
        at = np.average(w_j, weights=likely)
        differs = np.average((w_j - at) ** 2, weights=likely) * (own - usual) ** 2
        found.append((p, at, evidence * (n + usual_rows), differs))
        share += p * at
    mean, variance = moments(share)
    for p, at, counts, differs in found:
        of_point, spread = moments(at)
        error += p * (1 / counts + 1 / MOST_COUNTED + differs / spread)
        error += p * (of_point - mean) ** 2 / variance
    return mean, variance, n / share, 1 / error


LITERALS = (1, 1, 1)
"""Of two rules of one literal each, and of the rest: their mean."""


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_probabilities_are_of_own_rows_and_usual_ones(weight):
    classes = ("a", "b", "c")
    rows = training(LABELS, classes, weight)
    found = with_expectations(rule_list(classes), rows, KNOWN)
    decided = found.apply(X)
    for k, rule in enumerate(found):
        here, is_class = decided == k, np.eye(3)[LABELS]
        said = classes.index(rule.prediction)
        mean, _, n, counts = pooled(is_class[:, said], rows.weight, here, LITERALS[k])
        assert rule.expected == pytest.approx(mean)
        assert (rule.low, rule.high) == pytest.approx(share_interval(mean, counts))
        # All classes by the same rows, own and usual.
        w = rows.weight[here]
        own = w.sum() ** 2 / (w**2).sum() / n
        shares = own * np.average(is_class[here], axis=0, weights=w)
        shares += (1 - own) * np.average(is_class, axis=0, weights=rows.weight)
        assert rule.probabilities == pytest.approx(tuple(shares))
    # The prediction stays, likely or not.
    assert [rule.prediction for rule in found] == ["b", "a", "a"]


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_means_are_of_own_rows_and_usual_ones(weight):
    values = np.array([1.0, 2.0, 6.0, 1.0, 9.0, 4.0, 4.0, 12.0, 9.0, 11.0])
    rows = training(values, weight=weight)
    found = with_expectations(rule_list(), rows, KNOWN)
    decided = found.apply(X)
    for k, rule in enumerate(found):
        here = decided == k
        mean, variance, n, counts = pooled(values, rows.weight, here, LITERALS[k])
        assert rule.expected == pytest.approx(mean)
        assert rule.std == pytest.approx(math.sqrt(variance))
        half = stats.t.ppf(0.975, n - 1) * math.sqrt(variance / counts)
        assert (rule.low, rule.high) == pytest.approx((mean - half, mean + half))
        assert rule.prediction == 0.0


def test_longer_rules_of_equal_rows_are_shrunk_more():
    rows = training(LABELS, ("a", "b", "c"))
    plain = rule_list(rows.classes)
    longer = replace(plain.rules[0], conditions=(Interval(0, low=6.5, high=99.0),))
    long = with_expectations(
        RuleList((longer, plain.rules[1]), plain.otherwise, SPACE, rows.classes),
        rows,
        KNOWN,
    )
    short = with_expectations(plain, rows, KNOWN)
    usual = 4 / 10
    assert abs(long[0].expected - usual) < abs(short[0].expected - usual)
    # One literal remains one; the default rule is between the two.
    assert long[1].expected == short[1].expected
    assert abs(long[2].expected - 0.5) < abs(short[2].expected - 0.5)


@pytest.mark.parametrize(("n_rows", "weight"), [(7, None), (10, [1] * 7 + [0] * 3)])
def test_a_line_without_rows_is_as_usual_and_has_no_interval(n_rows, weight):
    rows = training(LABELS[:n_rows], ("a", "b", "c"), weight)
    first = with_expectations(rule_list(rows.classes), rows, KNOWN).rules[0]
    usual = np.bincount(LABELS[:7]) / 7
    assert first.probabilities == pytest.approx(tuple(usual))
    assert math.isnan(first.expected) and math.isnan(first.low)


def test_one_row_is_pooled_with_usual_ones():
    values = np.arange(8.0)
    first = with_expectations(rule_list(), training(values), KNOWN).rules[0]
    assert 3.5 < first.expected < 7.0
    # Hardly less uncertain than a new row.
    assert first.high - first.low > 2 * values.std()


def test_lines_are_judged_by_what_they_say_on_rows_left_out():
    classes = ("a", "b", "c")
    whole = training(LABELS, classes)
    fitted, left_out = whole.take(np.arange(0, 10, 2)), whole.take(np.arange(1, 10, 2))
    found = evaluate_apart(rule_list(classes), fitted, left_out)
    # Rows 8; 4, 6; 0, 2 were searched, rows 7, 9; 3, 5; 1 were left out.
    np.testing.assert_allclose(found.rows, [1, 2, 2])
    np.testing.assert_allclose(found.mean, [1, 0.5, 0.5])
    np.testing.assert_allclose(found.usual_mean, [2 / 5, 2 / 5, 2 / 5])
    np.testing.assert_allclose(found.new_rows, [2, 2, 1])
    np.testing.assert_allclose(found.new_mean, [0.5, 0.5, 1])
    np.testing.assert_allclose(found.variance, [0, 0.25, 0.25])
    np.testing.assert_allclose(found.usual_variance, [0.24, 0.24, 0.24])
    np.testing.assert_allclose(found.literals, [1, 1, 1])


def lines_of(generator, n_lines, usual_rows, evidence, is_class):
    """Lines whose truth is as the model of shrinkage has it."""
    rows = generator.integers(10, 200, n_lines).astype(float)
    literals, usual = generator.integers(0, 4, n_lines) * 1.0, np.full(n_lines, 0.4)
    k = usual_rows * np.exp(DIFFERS * generator.normal(size=n_lines))
    v = np.full(n_lines, 0.24)
    mean = generator.normal(usual, np.sqrt(v * (1 / rows + 1 / k)))
    inside = (mean > 0.05) & (mean < 0.95)
    rows, literals, usual, k, v, mean = (
        column[inside] for column in (rows, literals, usual, k, v, mean)
    )
    own = rows / (rows + k * (1 + literals) ** 2)
    counts = 1 / (1 / (evidence * (rows + usual_rows)) + 1 / MOST_COUNTED)
    centre = own * mean + (1 - own) * usual
    new = generator.integers(50, 300, len(rows)).astype(float)
    if is_class:
        variance, usual_variance = mean * (1 - mean), v
        true = generator.beta(counts * centre, counts * (1 - centre))
        new_mean = generator.binomial(new.astype(int), true) / new
    else:
        variance = usual_variance = v
        total = v + own * (1 - own) * (mean - usual) ** 2
        true = generator.normal(centre, np.sqrt(total / counts))
        new_mean = generator.normal(true, np.sqrt(total / new))
    return FitAndHeldOut(
        rows, mean, variance, usual, usual_variance, literals, new, new_mean
    )


@pytest.mark.parametrize(
    ("usual_rows", "evidence", "is_class"), [(2.0, 0.8, False), (20.0, 0.3, True)]
)
def test_shrinkage_is_found_again(usual_rows, evidence, is_class):
    generator = np.random.default_rng(0)
    lines = lines_of(generator, 1_500, usual_rows, evidence, is_class)
    outcome = ClassProbabilities() if is_class else Mean()
    found = fit_shrinkage([lines], outcome)
    # Nearly: the mixture over ``x_j`` counts by its moments.
    steps = [
        width * np.diff(points)[0]
        for (_, width), points in zip((USUAL_ROWS, EVIDENCE[is_class]), POINTS)
    ]
    known = found.means()
    assert abs(math.log(known["usual_rows"] / usual_rows)) < 1.5 * steps[0]
    assert abs(math.log(known["evidence"] / evidence)) < 1.5 * steps[1]
    # A few lines leave several points.
    few = FitAndHeldOut(*(column[:20] for column in lines))
    assert 1.0 < 1 / (fit_shrinkage([few], outcome).weight ** 2).sum()


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 1), min_size=10, max_size=10),
    st.floats(0.01, 1e4),
    st.floats(0.01, 1.0),
)
def test_more_usual_rows_lead_to_what_is_usual(labels, usual_rows, evidence):
    rows = training(labels, ("a", "b"))
    usual = np.bincount(labels, minlength=2) / 10
    plain = rule_list(rows.classes)
    some, more = (
        with_expectations(
            plain,
            rows,
            Shrinkage(np.array([k]), np.array([evidence]), np.ones(1)),
        )
        for k in (usual_rows, 2 * usual_rows)
    )
    for one, two in zip(some, more):
        away = abs(np.array(one.probabilities) - usual)
        assert (abs(np.array(two.probabilities) - usual) <= away + 1e-12).all()
        assert sum(one.probabilities) == pytest.approx(1.0)
        assert 0 <= one.low <= one.expected <= one.high <= 1


def test_the_slope_of_a_sum_is_found_again():
    generator = np.random.default_rng(0)
    x = generator.integers(0, 10, 20_000)
    true = 1 / (1 + np.exp(-0.5 * np.where(x > 6.5, 3.0, -1.0)))
    labels = (generator.random(len(x)) < true).astype(int)
    rows = Training(
        x[:, None].astype(float), np.eye(2)[labels], labels,
        np.ones(len(x)), labels, BINS, ("a", "b"),
    )  # fmt: skip
    steep = RuleSum(
        (Rule((Interval(0, low=6.5),), "b", scores=(0.0, 4.0)),),
        Rule((), "a", scores=(0.0, -1.0)),
        SPACE,
        ("a", "b"),
    )
    slope = learn_slope(
        [(steep, rows.take(slice(8000))), (steep, rows.take(slice(99)))]
    )
    assert slope == pytest.approx(0.5, abs=0.05)
    found = with_slope(steep, 0.5)
    assert [rule.scores for rule in found] == [(0.0, 2.0), (0.0, -0.5)]
    np.testing.assert_array_equal(found.predict(X), steep.predict(X))
    # A row of weight two is two rows.
    part = rows.take(slice(500))
    twice = np.repeat(np.arange(500), np.where(np.arange(500) < 200, 2, 1))
    heavy = replace(part, weight=np.where(np.arange(500) < 200, 2.0, 1.0))
    one, two = ([(steep, which)] for which in (heavy, part.take(twice)))
    assert learn_slope(one) == pytest.approx(learn_slope(two), abs=1e-4)
    assert learn_slope(one) != pytest.approx(learn_slope([(steep, part)]), abs=1e-3)


def test_figures_on_other_rows_expect_nothing():
    rows = training(LABELS, ("a", "b", "c"))
    found = with_expectations(rule_list(rows.classes), rows, KNOWN)
    told = found.described_on(X, np.array(["a", "b", "c"])[LABELS])
    assert all(math.isnan(rule.expected) for rule in told)
    assert [r.probabilities for r in told] == [r.probabilities for r in found]
    assert "precision" in str(told) and "precision" not in str(found)


def test_what_is_expected_is_kept_and_checked():
    rows = training(LABELS, ("a", "b", "c"))
    found = with_expectations(rule_list(rows.classes), rows, KNOWN)
    again = type(found).from_json(found.to_json())
    assert again == found and str(again) == str(found)
    with pytest.raises(InputError, match="expected"):
        RuleList(
            (),
            Rule((), "a", (1.0, 0.0), statistics=RuleStatistics(expected=1.5)),
            SPACE,
            ("a", "b"),
        )
    with pytest.raises(InputError, match="expected"):
        RuleSum((), Rule((), 1.0, statistics=RuleStatistics(expected=0.5)), SPACE)


def test_of_several_causes_only_what_follows_the_first_was_selected():
    """Groups of largest mean of the first value: 10 rows each, the best of 8."""
    rng, r = np.random.default_rng(0), -0.6
    values = rng.standard_normal((2, 5000, 8, 10))
    values[1] = r * values[0] + math.sqrt(1 - r**2) * values[1]
    means = values.mean(axis=3)
    best = np.take_along_axis(means, means[:1].argmax(axis=2)[..., None], axis=2)
    first, second = 1 / (best**2).mean(axis=(1, 2))
    everyone = values.reshape(2, -1)
    ones = np.ones(everyone.shape[1])
    found = counts_by_cause(everyone, ones, ones, 1.0, first, 10.0)
    assert found == pytest.approx([first, second], rel=0.03)
    assert first < 4.5 < 6 < second < 10


def test_counts_by_cause_are_those_of_the_formula():
    rng, own = np.random.default_rng(1), 0.7
    values = rng.standard_normal((2, 40))
    values[1, :10] += 2
    rows, weight = np.zeros(40), rng.uniform(0.5, 1.5, 40)
    rows[:10] = weight[:10]
    pooled = own * rows / rows.sum() + (1 - own) * weight / weight.sum()
    cov = np.cov(values, aweights=pooled, ddof=0)
    square = cov[0, 1] ** 2 / (cov[0, 0] * cov[1, 1])
    means = [np.average(values[1], weights=w) for w in (rows, weight)]
    bias = (1 - own) ** 2 * ((means[0] - means[1]) ** 2 / cov[1, 1] - 1 / 9)
    assert bias > 0.05
    second = 1 / (square / 4 + (1 - square) * (1 / 9 + bias))
    found = counts_by_cause(values, rows, pooled, own, 4.0, 9.0)
    assert found == pytest.approx([4.0, second])
    # Own rows as the others: no bias, in place of a negative one.
    (_, second) = counts_by_cause(values, weight, weight, own, 4.0, 9.0)
    cov = np.cov(values, aweights=weight, ddof=0)
    square = cov[0, 1] ** 2 / (cov[0, 0] * cov[1, 1])
    assert second == pytest.approx(1 / (square / 4 + (1 - square) / 9))
    # Without variance of a cause, or rows of the rule, all causes are as uncertain.
    constant = np.array([values[0], 0 * values[0]])
    found = counts_by_cause(constant, rows, pooled, own, 4.0, 9.0)
    assert found == pytest.approx([4, 4])
    assert counts_by_cause(values, 0 * rows, weight, own, 4.0, 0.0).tolist() == [4, 4]
