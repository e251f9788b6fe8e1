import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.rules.decisions import naive
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.outcomes.intervals import Rate
from clearwood.rules.decisions.groups import groups_of
from clearwood.rules.decisions.in_words import MEANING
from clearwood.rules.decisions.roc import area_interval, roc_of

SPACE = cw.FeatureSpace.numeric(2)
SHARES = ("base_rate", "sensitivity", "specificity", "positive_value", "negative_value")


def two_classes():
    """Says ill of the upper part; the probability of ill is 0.9, 0.5 or 0.2."""
    return cw.RuleList(
        (
            cw.Rule((cw.Interval(0, low=0.7),), "ill", (0.1, 0.9)),
            cw.Rule((cw.Interval(0, low=0.4),), "well", (0.5, 0.5)),
        ),
        cw.Rule((), "well", (0.8, 0.2)),
        SPACE,
        ("well", "ill"),
        "state",
    )


def three_classes():
    return cw.RuleList(
        (
            cw.Rule((cw.Interval(0, low=0.7),), "a", (0.7, 0.2, 0.1)),
            cw.Rule((cw.Interval(1, low=0.5),), "b", (0.3, 0.6, 0.1)),
        ),
        cw.Rule((), "c", (0.2, 0.2, 0.6)),
        SPACE,
        ("a", "b", "c"),
    )


def a_sum():
    rng = np.random.default_rng(3)
    rules = tuple(
        cw.Rule((cw.Interval(k % 2, low=k / 9),), "ill", scores=(0.0, s))
        for k, s in enumerate(rng.uniform(0.2, 1.0, 8).tolist())
    )
    constant = cw.Rule((), "well", scores=(0.0, -2.0))
    return cw.rules.RuleSum(rules, constant, SPACE, ("well", "ill"))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    ill = X[:, 0] + 0.3 * rng.normal(size=300) > 0.6
    return X, np.where(ill, "ill", "well"), rng.integers(0, 4, 300).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [two_classes, a_sum])
def test_rates_are_those_of_a_plain_count(rows, make, weighted):
    X, y, weight = rows
    rules, weight = make(), weight if weighted else None
    found = cw.decisions(rules, X, y, sample_weight=weight)
    told = found.rules.rates[0]
    w = np.ones(len(y)) if weight is None else weight
    plain = naive.rates(y == "ill", rules.predict(X) == "ill", w)
    assert {name: getattr(told, name).value for name in SHARES} == pytest.approx(plain)
    p = rules.predict_proba(X)[:, 1]
    assert told.area.value == pytest.approx(naive.area(p, y == "ill", w))
    table = confusion_matrix(
        y, rules.predict(X), labels=["ill", "well"], sample_weight=weight
    )
    assert found.rules.confusion.tolist() == table.tolist()
    assert found.labels == ("ill", "well") == found.calls
    assert found.rules.rows.sum() == found.n_rows == (w > 0).sum()
    assert told.base_rate.rows == told.area.rows == found.n_rows
    assert told.sensitivity.rows == ((w > 0) & (y == "ill")).sum()
    for _, rate in told.items():
        assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_the_size_of_weights_is_none_and_whole_ones_are_rows(rows):
    X, y, weight = rows
    rules = two_classes()
    one = cw.decisions(rules, X, y, sample_weight=weight)
    scaled = cw.decisions(rules, X, y, sample_weight=1e-9 * weight)
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    rows_ = cw.decisions(rules, X[repeated], y[repeated])
    for (name, a), (_, b), (_, c) in zip(
        *(found.rules.rates[0].items() for found in (one, scaled, rows_))
    ):
        assert a == pytest.approx(b), name
        assert a.value == pytest.approx(c.value), name
        # As many rows in other words: the interval of copies is too narrow.
        assert c.high - c.low <= a.high - a.low + 1e-12, name
    assert one.is_weighted and not rows_.is_weighted


def test_a_row_at_the_threshold_is_called_so(rows):
    X, y, _ = rows
    rules = two_classes()
    strict, at, lax = (
        cw.decisions(rules, X, y, threshold=t).rules.confusion[:, 0].sum()
        for t in (0.51, 0.5, 0.1)
    )
    assert strict == (X[:, 0] > 0.7).sum() < at == (X[:, 0] > 0.4).sum()
    assert lax == len(y)
    likeliest = cw.decisions(rules, X, y).rules.confusion[:, 0].sum()
    assert likeliest == strict


def test_the_model_is_judged_at_the_same_threshold(rows):
    X, y, _ = rows
    # Its classes stand in another order than those of the rules.
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    assert list(tree.classes_) == ["ill", "well"]
    found = cw.decisions(two_classes(), X, y, model=tree, threshold=0.8)
    p = tree.predict_proba(X)[:, 0]
    assert found.model.confusion[:, 0].sum() == (p >= 0.8).sum()
    area = naive.area(p, y == "ill", np.ones(len(y)))
    assert found.model.rates[0].area.value == pytest.approx(area)
    said = cw.decisions(two_classes(), X, y, model=tree.predict(X))
    assert said.model.roc is None and np.isnan(said.model.rates[0].area.value)
    assert said.model.error.value == np.mean(tree.predict(X) != y)


def test_the_curve_is_that_of_scikit_learn(rows):
    X, y, weight = rows
    p = a_sum().predict_proba(X)[:, 1]
    roc = roc_of(p, y == "ill", weight)
    false, found, _ = roc_curve(
        y == "ill", p, sample_weight=weight, drop_intermediate=False
    )
    assert roc.false_positives == pytest.approx(false)
    assert roc.sensitivity == pytest.approx(found)


def test_each_of_several_classes_is_one_against_the_rest(rows):
    X, _, _ = rows
    rules = three_classes()
    y = np.where(X[:, 1] > 0.4, "b", "c")
    y[:30] = "a"
    found = cw.decisions(rules, X, y)
    assert found.pos_label is None and len(found.rules.rates) == 3
    for rates in found.rules.rates:
        alone = cw.decisions(rules, X, y, pos_label=rates.label).rules
        assert alone.rates[0] == rates
        assert alone.confusion[0, 0] == np.sum(
            (rules.predict(X) == y) & (y == rates.label)
        )
    assert found.rules.confusion.trace() == np.sum(rules.predict(X) == y)
    assert found.rules.error.value == np.mean(rules.predict(X) != y)
    same_lines(str(found))


def test_labels_that_the_rules_do_not_know_are_wrong(rows):
    X, y, _ = rows
    y = y.astype(object)
    y[:7] = "odd"
    with pytest.warns(UnknownCategoriesWarning, match="'odd' in 7 rows"):
        found = cw.decisions(two_classes(), X, y)
    assert found.labels == ("ill", "well") and found.rules.confusion.sum() == 300
    with pytest.warns(UnknownCategoriesWarning, match="'z' in 7 rows"):
        several = cw.decisions(three_classes(), X, np.where(y == "odd", "z", "a"))
    assert several.labels == ("a", "b", "c", "z")
    assert several.rules.confusion[3].sum() == 7


def test_a_point_for_each_line_that_decides(rows):
    X, y, _ = rows
    rules = two_classes()
    points = cw.decisions(rules, X, y).calibration
    assert [point.line for point in points] == [1, 2, 3]
    assert [point.predicted for point in points] == pytest.approx([0.9, 0.5, 0.2])
    line = rules.apply(X)
    for k, point in enumerate(points):
        assert point.found.value == np.mean(y[line == k] == "ill")
        assert point.found.rows == (line == k).sum()


def test_where_no_line_decides_rows_go_by_what_is_said(rows):
    X, y, _ = rows
    rules = a_sum()
    points = cw.decisions(rules, X, y).calibration
    assert 5 <= len(points) <= 10 and all(point.line is None for point in points)
    said = [point.predicted for point in points]
    assert said == sorted(said)
    assert sum(point.found.rows for point in points) == len(y)
    found = sum(point.found.rows * point.found.value for point in points)
    assert found == pytest.approx(np.sum(y == "ill"))


def test_groups_are_of_equal_size_and_keep_what_is_told_the_same_together():
    groups = groups_of(None, np.arange(100.0), 10)
    assert [int(rows.sum()) for _, rows in groups] == [10] * 10
    said = np.repeat(np.arange(20.0), 5)[:97]
    for _, rows in groups_of(None, said, 7):
        assert not set(said[rows]) & set(said[~rows])


def test_the_frame_and_the_text_hold_all_rates(rows):
    X, y, weight = rows
    found = cw.decisions(two_classes(), X, y, model=y, sample_weight=weight)
    frame = found.to_frame().set_index(["of", "rate"])
    assert frame.loc[("model", "sensitivity"), "value"] == 1.0
    assert frame.loc[("rules", "error"), "value"] == found.rules.error.value
    assert len(frame) == 14
    text = str(found)
    assert found.rules.rates[0].specificity.as_share(1) in text
    n, w = found.rules.rows[0, 0], found.rules.confusion[0, 0]
    assert f"{n:.0f} ({w:.0f})" in text and "rule 3" in text
    assert f"{found.n_rows} ({weight.sum():.0f})" in text
    # What shares mean stands in a column of its own.
    meanings = [meaning.format("ill") for _, meaning in MEANING.values()]
    places = {
        line.index(meaning)
        for line in text.splitlines()
        for meaning in meanings
        if line.endswith("  " + meaning)
    }
    assert len(places) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": 0.0},
        {"threshold": 1.0},
        {"pos_label": "sick"},
        {"threshold": 0.5},
    ],
)
def test_questions_without_an_answer_are_refused(rows, settings):
    X, _, _ = rows
    with refuses(InputError):
        cw.decisions(three_classes(), X, ["a"] * len(X), **settings)


def test_a_class_may_be_named_by_its_text():
    rules = cw.RuleList(
        (cw.Rule((cw.Interval(0, low=0.5),), 1, (0.2, 0.8)),),
        cw.Rule((), 0, (0.9, 0.1)), SPACE, (0, 1),
    )  # fmt: skip
    found = cw.decisions(rules, [[0.1, 0], [0.9, 0]], [0, 1], pos_label="0")
    assert found.pos_label == 0 and found.labels == ("0", "1")


def test_rows_of_one_class_have_no_curve(rows):
    X, _, _ = rows
    found = cw.decisions(two_classes(), X, ["ill"] * len(X))
    assert found.rules.roc is None
    assert np.isnan(found.rules.rates[0].specificity.value)
    same_lines(str(found))
    with refuses(InputError):
        cw.decisions(two_classes(), np.zeros((0, 2)), [])


@pytest.mark.parametrize(("n_positive", "n_others"), [(10, 200), (40, 40)])
@pytest.mark.parametrize("gap", [0.5, 2.0])
def test_intervals_of_areas_hold_the_truth(n_positive, n_others, gap):
    rng = np.random.default_rng(1)
    true = norm.cdf(gap / np.sqrt(2))
    is_positive = np.arange(n_positive + n_others) < n_positive
    held = 0
    for _ in range(300):
        p = rng.normal(size=len(is_positive)) + gap * is_positive
        area = roc_of(p, is_positive, np.ones(len(p))).area
        held += area.low <= true <= area.high
    assert 0.91 <= held / 300 <= 0.995


@given(
    st.floats(0, 1),
    st.floats(1, 1e6),
    st.floats(1, 1e6),
)
def test_an_interval_holds_its_area(area, n_positive, n_others):
    low, high = area_interval(area, n_positive, n_others)
    assert 0 <= low <= area + 1e-9 and area - 1e-9 <= high <= 1
    assert high - low > 0


def test_digits_go_by_the_interval():
    assert str(Rate(0.5, 0.4, 0.6, 10)) == "50 % [40, 60]"
    assert str(Rate(0.5012, 0.4951, 0.5068, 10)) == "50.1 % [49.5, 50.7]"
    assert Rate(0.9512, 0.9461, 0.9588, 10).as_number() == "0.951 [0.946, 0.959]"


@pytest.mark.parametrize("make", [two_classes, three_classes, a_sum])
@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_weights_have_no_unit(rows, make, unit):
    X, y, weight = rows
    rules = make()
    y = np.where(y == "ill", rules.classes[0], rules.classes[1])
    one, other = (
        cw.decisions(rules, X, y, sample_weight=w) for w in (weight, unit * weight)
    )
    assert other.rules.rates == one.rules.rates
    assert other.calibration == one.calibration
    assert other.rules.error == one.rules.error


def test_any_classifier_is_evaluated():
    X, y = make_corral(n_noise=2, random_state=0)
    y = pd.Series(np.where(y == 1, "yes", "no"), name="answer")
    steps = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    found = cw.decisions(steps, X, y)
    assert found.target == "answer" and found.pos_label == "yes"
    area = roc_auc_score(y, steps.predict_proba(X)[:, 1])
    assert found.model.rates[0].area.value == pytest.approx(area)
    # Without probabilities there is neither an area nor a calibration.
    found = cw.decisions(LinearSVC().fit(X, y), X, y)
    assert np.isnan(found.model.rates[0].area.value) and not found.calibration
    assert str(found).splitlines()[-1].startswith("error")
    found.plot()
    for wrong in (LogisticRegression(), None, 3):
        with pytest.raises(InputError, match="without rules|not fitted"):
            cw.decisions(wrong, X, y)


def test_a_classifier_without_rules_is_evaluated_as_the_model():
    X, y = make_corral(n_noise=2, random_state=0)
    forest = cw.SelectiveBayesianForestClassifier(random_state=0).fit(X[:80], y[:80])
    found = cw.decisions(forest, X[80:], y[80:])
    assert found.rules is None and found.pos_label == 1
    said, p = forest.predict(X[80:]), forest.predict_proba(X[80:])[:, 1]
    assert found.model.error.value == pytest.approx((said != y[80:]).mean())
    area = roc_auc_score(y[80:], p)
    assert found.model.rates[0].area.value == pytest.approx(area)
    assert sum(point.found.rows for point in found.calibration) == len(p)
    assert "model" in str(found) and "rules" not in str(found)
    few = cw.decisions(forest, X[80:], y[80:], threshold=0.9, sample_weight=p + 1)
    assert few.is_weighted
    assert few.model.rows[:, 0].sum() == (p >= 0.9).sum()
    frame = found.to_frame()
    assert set(frame["of"]) == {"model"}
    cw.rules.DecisionsDisplay(found).plot()
    for wrong in ({"model": forest}, {"y": np.full(len(p), 7)}):
        with refuses(InputError):
            cw.decisions(forest, X[80:], **{"y": y[80:]} | wrong)
