"""What a printed list predicts, scores and says."""

import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.records import changeable
from tests.wording import refuses, same_lines, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.outcomes import Mean
from clearwood.rules import (
    CategorySet,
    Interval,
    Rule,
    RuleAverage,
    RuleList,
    RuleScores,
    RuleSet,
    RuleStatistics,
    RuleSum,
)

SPACE = FeatureSpace(("age", "ward"), (None, ("a", "b", "c")))
RULES = RuleList(
    rules=(
        Rule((Interval(0, low=60.0), CategorySet(1, (0,))), "sick", (0.2, 0.8)),
        Rule((Interval(0, low=40.0),), "well", (0.9, 0.1)),
    ),
    otherwise=Rule((), "sick", (0.3, 0.7)),
    features=SPACE,
    classes=("well", "sick"),
)
TABLE = {"age": [70.0, 70.0, 50.0, 30.0, None], "ward": ["a", "b", "z", "a", "a"]}
FIRST = [0, 1, 1, 2, 2]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_first_match_decides_in_frames_in_any_column_order(frame):
    table = frame({"ward": TABLE["ward"], "extra": [0] * 5, "age": TABLE["age"]})
    assert RULES.apply(table).tolist() == FIRST
    assert RULES.predict(table).tolist() == ["sick", "well", "well", "sick", "sick"]
    np.testing.assert_array_equal(
        RULES.predict_proba(table),
        [[0.2, 0.8], [0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [0.3, 0.7]],
    )


def test_scores():
    table = pd.DataFrame(TABLE)
    y = ["sick", "sick", "well", "sick", "well"]
    teacher = ["sick", "well", "well", "well", "well"]
    scores = RULES.evaluate(table, y, model=np.array(teacher))
    assert scores == RuleScores(
        error=2 / 5,
        fidelity=3 / 5,
        coverage=3 / 5,
        overlap=4 / 5,
        n_rules=3,
        n_literals=3,
    )


def test_scores_without_truth_or_teacher_are_not_numbers():
    scores = RULES.evaluate(pd.DataFrame(TABLE))
    assert math.isnan(scores.error)
    assert math.isnan(scores.fidelity)
    assert "error" not in str(scores)


def test_regression_scores_are_mse_and_r2():
    y, said = np.array([0.0, 2.0, 4.0]), np.array([1.0, 2.0, 4.0])
    assert Mean().mean_loss(y, said) == pytest.approx(1 / 3)
    assert Mean().fidelity(y, said) == pytest.approx(1 - 1 / 8)
    assert Mean().fidelity(np.ones(3), np.ones(3)) == 1.0
    assert Mean().fidelity(np.ones(3), np.zeros(3)) == 0.0


def test_teacher_may_be_a_model():
    class Always:
        def predict(self, X):
            return np.full(len(X), "sick")

    assert RULES.evaluate(pd.DataFrame(TABLE), model=Always()).fidelity == 3 / 5


def test_an_empty_list_says_otherwise():
    rules = RuleList((), Rule((), 3.5), FeatureSpace.numeric(2))
    assert rules.predict(np.zeros((2, 2))).tolist() == [3.5, 3.5]
    scores = rules.evaluate(np.zeros((2, 2)))
    assert (scores.coverage, scores.overlap, scores.n_rules) == (0.0, 0.0, 1)
    assert str(rules) == "1. otherwise 3.5"


@pytest.mark.parametrize(
    "call",
    [
        lambda: RULES.predict(pd.DataFrame({"age": [1.0]})),
        lambda: RULES.predict([[1.0, "a", 2.0]]),
        lambda: RULES.predict([1.0, 2.0]),
        lambda: RULES.predict([["old", "a"]]),
        lambda: RULES.evaluate(pd.DataFrame(TABLE)[:0]),
        lambda: RULES.evaluate(pd.DataFrame(TABLE), ["sick"]),
        lambda: RULES.evaluate(pd.DataFrame(TABLE), [0, 1, 1, 0, 1]),
        lambda: RULES.evaluate(pd.DataFrame(TABLE), ["sick", None] + 3 * ["well"]),
        lambda: RULES.evaluate(pd.DataFrame(TABLE), model=np.arange(5)),
        lambda: RuleList((), Rule((), 0.0), FeatureSpace.numeric(1)).evaluate(
            [[0.0]], ["a"]
        ),
        lambda: RULES.predict(
            pd.DataFrame([[1, 2, "a"]], columns=["age", "age", "ward"])
        ),
        lambda: RuleList((), Rule((), 0.0), FeatureSpace.numeric(1)).predict_proba(
            [[0.0]]
        ),
        lambda: RuleList((), Rule((Interval(0),), 0.0), FeatureSpace.numeric(1)),
        lambda: RuleList(
            (Rule((Interval(3),), 0.0),), Rule((), 0.0), FeatureSpace.numeric(1)
        ),
        lambda: RuleList(
            (), Rule((), "a"), FeatureSpace.numeric(1), classes=("a", "b")
        ),
        lambda: FeatureSpace(("a", "a"), (None, None)),
    ],
)
def test_errors_name_the_problem(call):
    with refuses(InputError):
        call()


def test_equal_rules_are_equal_though_statistics_are_unknown():
    def make(cut):
        rule = Rule(
            (Interval(0, low=cut),), 1.0, statistics=RuleStatistics(support=3.0)
        )
        return RuleList((rule,), Rule((), 0.0), FeatureSpace.numeric(1))

    assert make(1.0) == make(1.0)
    assert hash(make(1.0)) == hash(make(1.0))
    assert make(1.0) != make(2.0)
    assert make(1.0) == RuleSet.from_json(make(1.0).to_json())
    assert make(1.0).rules[0] in {make(1.0).rules[0]}


def test_long_rules_are_wrapped_between_words():
    names = tuple(f"a rather long name {c}" for c in "abcdefgh")
    space = FeatureSpace(names, (None,) * 8)
    rule = Rule(
        tuple(Interval(d, 0.25, 0.5) for d in range(8)),
        1.0,
        statistics=RuleStatistics(support=7.0),
    )
    text = str(RuleList((rule,), Rule((), 0.0), space))
    assert max(map(len, text.splitlines())) <= 88
    assert rule.text(space) in " ".join(text.split())
    same_text(text)


def sums():
    value = RuleSum(
        (Rule((Interval(0, low=60.0),), 2.5), Rule((CategorySet(1, (0,)),), -1.0)),
        Rule((), 10.0),
        SPACE,
        target="days",
    )
    classes = RuleSum(
        (
            Rule((Interval(0, low=60.0),), "sick", scores=(0.0, 2.0)),
            Rule((CategorySet(1, (0,)),), "well", scores=(0.0, -3.0)),
        ),
        Rule((), "sick", scores=(0.0, 0.5)),
        SPACE,
        ("well", "sick"),
    )
    return value, classes


def test_all_rules_of_a_sum_count():
    value, classes = sums()
    table = pd.DataFrame(TABLE)
    assert value.predict(table).tolist() == [11.5, 12.5, 10.0, 9.0, 9.0]
    odds = np.array([-0.5, 2.5, 0.5, -2.5, -2.5])
    np.testing.assert_allclose(classes.totals(table)[:, 1], odds)
    np.testing.assert_allclose(
        classes.predict_proba(table)[:, 1], 1 / (1 + np.exp(-odds))
    )
    assert classes.predict(table).tolist() == ["well", "sick", "sick", "well", "well"]
    scores = classes.evaluate(table, classes.predict(table))
    assert (scores.error, scores.overlap) == (0.0, 1.0)
    assert value.evaluate(table, value.predict(table)).error == 0.0


def test_a_sum_is_printed_as_one():
    value, classes = sums()
    same_text(str(value).splitlines())
    same_text(str(classes).splitlines()[:3])
    html = classes._repr_html_()
    same_lines(html)
    assert "otherwise" not in html and "Agreement" not in html


def test_no_rule_of_a_sum_decides_alone():
    value, _ = sums()
    with refuses(InputError):
        value.apply(pd.DataFrame(TABLE))
    with refuses(InputError):
        RULES.totals(pd.DataFrame(TABLE))
    for wrong in [
        {"classes": (0, 1)},
        {"otherwise": Rule((), 1e308)},
    ]:
        with refuses(InputError):
            RuleSum(**{
                "rules": (Rule((Interval(0, low=60.0),), 1e308),),
                "otherwise": Rule((), 0.0), "features": SPACE, **wrong,
            })  # fmt: skip


def test_there_are_three_kinds_and_no_other():
    otherwise = Rule((), 1.0)
    with pytest.raises(InputError, match="RuleList .* RuleSum .* RuleAverage"):
        RuleSet((), otherwise, SPACE)
    kinds = [kind((), otherwise, SPACE) for kind in (RuleList, RuleSum, RuleAverage)]
    assert all(isinstance(rules, RuleSet) for rules in kinds)
    assert len(set(kinds)) == 3
    for rules in kinds:
        again = RuleSet.from_json(rules.to_json())
        assert type(again) is type(rules) and again == rules
        with refuses(ModelFormatError, match=type(rules).__name__):
            kinds[kinds.index(rules) - 1].from_json(rules.to_json())
        assert type(pickle.loads(pickle.dumps(rules))) is type(rules)
        assert type(rules.with_target("z")) is type(rules)
        assert type(rules.described_on(pd.DataFrame(TABLE))) is type(rules)


def test_records_cannot_be_changed():
    assert changeable("rules") == []
