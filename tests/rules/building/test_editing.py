"""Rule sets as data: parts, and lines changed by hand."""

import math

import pandas as pd
import pytest
from tests.wording import refuses, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleAverage, RuleList, RuleSum

SPACE = FeatureSpace(("age", "ward"), (None, ("a", "b", "c")))
RULES = RuleList(
    (
        Rule((Interval(0, low=60.0), CategorySet(1, (0,))), "sick", (0.2, 0.8)),
        Rule((Interval(0, low=40.0),), "well", (0.9, 0.1)),
    ),
    Rule((), "sick", (0.3, 0.7)),
    SPACE,
    ("well", "sick"),
    about={"model": "forest"},
)
TABLE = pd.DataFrame({"age": [70.0, 70.0, 50.0, 30.0], "ward": ["a", "b", "c", "a"]})
Y = ["sick", "well", "well", "well"]
COUNTED = RULES.described_on(TABLE, Y)


def test_lines_are_taken_by_place_and_by_slice():
    assert RULES[0] is RULES.rules[0]
    assert RULES[-1] is RULES.otherwise
    assert list(RULES) == [RULES[0], RULES[1], RULES[2]]
    with pytest.raises(IndexError):
        RULES[3]
    assert RULES[:] is RULES
    assert list(RULES[1:]) == [RULES[1], RULES.otherwise]
    first = COUNTED[:1]
    assert (first.n_rules, first.predict(TABLE).tolist()) == (2, ["sick"] * 4)
    # Rows that the second rule had are now of the last line.
    assert all(math.isnan(rule.assigned) for rule in first)


def test_what_is_changed_by_hand_forgets_its_statistics_and_says_so():
    edited = COUNTED.drop(1).change(1, low=45.0).add("ward is 'a' then sick", at=1)
    assert list(edited.about) == ["model", "edited by hand"]
    same_text(edited.about.values())
    assert all(math.isnan(rule.rows) and math.isnan(rule.low) for rule in edited)
    assert edited.predict(TABLE).tolist() == ["sick", "well", "well", "sick"]
    again = edited.described_on(TABLE, Y)
    assert [rule.rows_assigned for rule in again] == [2, 2, 0]
    assert again[0].precision == 0.5
    assert type(again).from_json(again.to_json()) == again
    # What it came from is as it was.
    assert COUNTED.about == {"model": "forest"}
    assert COUNTED[0].rows == 1


def test_bounds_and_what_is_said_are_changed():
    changed = RULES.change(1, high=80.0, probabilities=(0.0, 1.0))
    assert changed[0].conditions[0] == Interval(0, 60.0, 80.0)
    assert changed[0].conditions[1] == RULES[0].conditions[1]
    assert changed[0].probabilities == (0.0, 1.0)
    last = RULES.change(3, prediction="well", probabilities=(1.0, 0.0))
    assert last.otherwise.prediction == "well"
    numbers = FeatureSpace.numeric(2, ["a", "b"])
    one = RuleList((Rule((Interval(1, 0.0),), 1.0),), Rule((), 0.0), numbers)
    assert one.change(1, "a", high=2.0)[0].conditions == (
        Interval(0, high=2.0),
        Interval(1, low=0.0),
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda: RULES.drop(3),
        lambda: RULES.drop(0),
        lambda: RULES.change(1, low=90.0, high=80.0),
        lambda: RULES.change(1, "ward", low=1.0),
        lambda: RULES.change(1, "height", low=1.0),
        lambda: RULES.change(3, low=1.0),
        lambda: RULES.change(1, support=3.0),
        lambda: RULES.add(Rule((), "sick", (0.0, 1.0))),
        lambda: RULES.add("age > 3 then sick", at=4),
        lambda: RULES.add("age > 3 then ill"),
        lambda: RULES.add("age > 3"),
    ],
)
def test_what_cannot_be_done_is_told(change):
    with refuses(InputError):
        change()


def test_sums_and_averages_are_edited_too():
    numbers = FeatureSpace.numeric(1, ["a"])
    total = RuleSum((Rule((Interval(0, 1.0),), 5.0),), Rule((), 1.0), numbers)
    assert total.add("a > 2 then -1.5").predict([[3.0]]).tolist() == [4.5]
    mean = RuleAverage((Rule((Interval(0, 1.0),), 5.0),), Rule((), 1.0), numbers)
    assert mean.change(1, weight=3.0).predict([[3.0]]).tolist() == [4.0]
    assert mean.change(1, weight=3.0).to_frame()["weight"].tolist() == [3.0, 1.0]
    of_classes = RuleSum(
        (Rule((Interval(0, 1.0),), "b", scores=(0.0, 2.0)),),
        Rule((), "a", scores=(0.0, -1.0)),
        numbers,
        ("a", "b"),
    )
    with pytest.raises(InputError, match="scores"):
        of_classes.add("a > 2 then b")


def test_a_frame_holds_what_is_known():
    frame = COUNTED.to_frame()
    assert frame.index.tolist() == [1, 2, 3]
    same_text(frame["conditions"].tolist())
    assert frame["probability of sick"].tolist() == [0.8, 0.1, 0.7]
    assert frame["rows_assigned"].tolist() == [1, 2, 1]
    assert frame["precision"].tolist() == [1.0, 2 / 3, 0.0]
    assert "std" not in frame
    assert "rows" not in RULES.to_frame()


def test_features_are_counted_by_name():
    assert RULES.feature_counts_ == {"age": 2, "ward": 1}


def test_long_sets_are_shortened_in_print_and_nowhere_else():
    labels = tuple(f"c{i}" for i in range(40))
    space = FeatureSpace(("code",), (labels,))
    many = CategorySet(0, tuple(range(20)))
    rules = RuleList((Rule((many,), 1.0),), Rule((), 0.0), space)
    assert "'c11', ... 8 more}" in " ".join(str(rules).split())
    assert "'c12'" not in str(rules)
    assert "more" not in rules.to_text()
    for full in (rules.to_text(), rules.to_json(), rules.to_sql(), rules.to_latex()):
        assert "c19" in full


def test_whole_numbers_are_exported_in_signs():
    space = FeatureSpace(("n",), (None,), info=(ColumnInfo(kind="integer"),))
    rules = RuleList((Rule((Interval(0, 7.5),), 1.0),), Rule((), 0.0), space)
    assert r"n $\geq$ 8" in rules.to_latex()
    assert "n >= 8" in rules.to_python() and "n > 7.5:" in rules.to_python()
