"""What stands first on a page, in every case, and whether it is true."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.reporting.results import numbers_rules

from clearwood.reporting import summarize
from clearwood.reporting.verdict.rivals import best_question, better, nearer
from clearwood.reporting.verdict.saying import listed
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList, RuleSum
from clearwood.rules.rule import FEW_ROWS, few_text
from clearwood.rules.statistics import mean_interval_of, share_interval_of
from clearwood.simplifiers import RuleListClassifier

N = 40
HALF = np.repeat(["well", "ill"], N // 2)
X = np.repeat([[36.0], [39.0]], N // 2, axis=0)


def fever(labels=("well", "ill"), **about):
    """A rule that says ill above 37.5, else well."""
    shares = np.eye(len(labels))
    return RuleList(
        (Rule((Interval(0, low=37.5),), "ill", tuple(shares[1])),),
        Rule((), "well", tuple(shares[0])),
        FeatureSpace.numeric(1, ["temperature"]),
        labels,
        about=about,
    )


def verdict(rules, **given):
    return summarize(rules, **given)["verdict"]


def changed(labels, rows, to):
    labels = labels.copy()
    labels[rows] = to
    return labels


# May they stand in?


def test_all_the_same():
    (first, *_) = verdict(fever(), X=X, teacher=HALF, new_to="model")
    assert first.startswith("These rules may stand in for the model: they say the same")
    assert "all 40 new rows (100 %; of many more rows like these most likely" in first


def test_some_are_told_otherwise():
    model = changed(HALF, slice(0, 4), "ill")
    (first, *_) = verdict(fever(), X=X, teacher=model, new_to="rules")
    assert "where it does no harm that some rows are told otherwise" in first
    assert "of 36 of 40 rows new to the rules (90 %" in first


def test_saying_one_class_may_do_as_well_or_better():
    model = changed(np.full(N, "well"), slice(30, None), "ill")
    (first, *_) = verdict(fever(), X=X, teacher=model)
    assert first.startswith("Nothing shows that these rules can stand in for the model")
    assert first.endswith("and always saying well would do so of 30.")
    model = changed(np.full(N, "well"), slice(38, None), "ill")
    (first, *_) = verdict(fever(), X=X, teacher=model)
    assert first.startswith("These rules cannot stand in for the model: they say")
    assert first.endswith("and always saying well would do so of 38.")


def test_of_a_model_that_says_one_thing_it_is_no_excuse():
    (first, *_) = verdict(fever(), X=X[:9], teacher=HALF[:9])
    assert first.startswith("These rules may stand in for the model: they say the same")


def test_a_warning_of_the_fit_decides():
    doubted = fever(warning="They follow too little.")
    sentences = verdict(doubted, X=X, teacher=HALF, new_to="model")
    assert sentences[0].startswith(
        "These rules cannot stand in for the model, as the warning below says: they "
        "say the same as the model of all 40 new rows"
    )
    assert not any("too little" in sentence for sentence in sentences)


def test_nobody_knows_without_the_model():
    (first, *_) = verdict(fever(), X=X, y=HALF, new_to="model")
    assert first.endswith("none was at hand that could be asked about these rows.")


def test_one_row_is_no_plural():
    (first, *_) = verdict(fever(), X=X[:1], teacher=HALF[:1], new_to="model")
    assert "of 1 of 1 new row (" in first


# How often are they right?


def test_right_beside_the_model():
    truth = changed(HALF, slice(0, 4), "ill")
    model = changed(truth, [39], "well")
    told = verdict(fever(), X=X, y=truth, teacher=model, new_to="model")[1]
    assert told.startswith(
        "They are right in 90 % of these rows, the model in 98 %; 40"
    )
    assert "40 rows cannot tell which is right more often. Always saying ill" in told
    truth = changed(HALF, slice(0, 8), "ill")
    told = verdict(fever(), X=X, y=truth, teacher=truth, new_to="model")[1]
    assert "the model in 100 %: the model is right more often." in told
    told = verdict(fever(), X=X, y=HALF, teacher=truth, new_to="model")[1]
    assert "the model in 80 %: they are right more often." in told
    told = verdict(fever(), X=X, y=truth, teacher=HALF, new_to="model")[1]
    assert "80 % of these rows, the same ones as the model." in told


def test_beside_saying_one_class():
    told = verdict(fever(), X=X, y=HALF)[1]
    assert told.endswith("Always saying well would be right in 50 %.")
    rare = changed(np.full(N, "well"), slice(38, None), "ill")
    told = verdict(fever(), X=X, y=rare)[1]
    assert told.endswith("would be right in 95 %, more often than they.")
    rare = changed(np.full(N, "well"), slice(30, None), "ill")
    told = verdict(fever(), X=X, y=rare)[1]
    assert told.endswith("nothing shows that they are better than that.")
    told = verdict(fever(), X=X[:9], y=HALF[:9])[1]
    assert told.endswith("there is no other class here.")


def test_whom_the_rows_are_new_to():
    caveat = "These rows tell of new ones only if they are new to the rules"
    learnt = "How good the model is on new rows is not known: it may have learnt these."
    given = {"X": X, "y": HALF, "teacher": HALF}
    nobody = verdict(fever(), **given)
    assert f"{caveat} and the model." in nobody and "rows handed in" in nobody[0]
    assert f"{caveat}." in verdict(fever(), X=X, y=HALF)
    for new_to, known in (("rules", False), ("model", True)):
        told = " ".join(verdict(fever(), **given, new_to=new_to))
        assert caveat not in told and (learnt not in told) == known
        assert ("as the model." in told) == known
    assert "true classes were not handed in" in verdict(fever(), X=X, teacher=HALF)[1]


# What are they no help for?


def test_a_class_that_no_rule_says_is_named():
    rules = fever(("well", "ill", "odd", "dead"))
    truth = changed(HALF, slice(0, 3), "odd")
    told = verdict(rules, X=X, y=truth)[-1]
    assert told == (
        "They are no help for odd or dead, which is true of 3 of these rows: they "
        "never say so."
    )
    told = verdict(fever(("well", "ill", "odd")), X=X, teacher=truth)[-1]
    assert "odd, which the model says of 3 of these rows" in told
    told = verdict(fever(("well", "ill", "odd")), X=X, teacher=HALF)[-1]
    assert told == "They are no help for odd: they never say so."
    # The warning has said it already.
    rules = fever(("well", "ill", "odd"), warning="No rule ever says odd.")
    assert not any("no help" in told for told in verdict(rules, X=X, y=truth))
    assert not any("no help" in told for told in verdict(fever(), X=X, y=HALF))


def test_in_a_sum_only_these_rows_tell_what_is_said():
    rules = RuleSum(
        (Rule((Interval(0, low=37.5),), "ill", scores=(0.0, 3.0, 0.0)),),
        Rule((), "well", scores=(1.0, 0.0, 0.0)),
        FeatureSpace.numeric(1),
        ("well", "ill", "odd"),
    )
    truth = changed(HALF, slice(0, 3), "odd")
    assert "no help for odd" in verdict(rules, X=X, y=truth)[-1]
    assert not any("no help" in told for told in verdict(rules, X=X[:9], y=HALF[:9]))


def test_names_are_few():
    assert listed([str(k) for k in range(7)], "and") == "0, 1, 2, 3, 4 and 2 more"


def test_rules_of_few_rows_are_named():
    rows = np.vstack([X[:20], X[-2:]])
    told = verdict(fever(), X=rows, y=["well"] * 20 + ["ill"] * 2)[-1]
    assert told == "Little is known of rule 1, which decides 2 of these rows."
    told = verdict(fever(), X=X[:9], y=HALF[:9])[-1]
    assert told == "Little is known of rule 1, which decides none of these rows."
    told = verdict(fever(), X=X[[0, -1, -2]], y=["well", "ill", "ill"])[-1]
    assert told == (
        "Little is known of rules 1 and 2, which decide at most 2 of these rows each."
    )


def test_why_three_rows_are_few():
    """What the limit says of itself."""
    assert share_interval_of(1.0, FEW_ROWS)[0] < 0.5 < share_interval_of(1.0, 4)[0]
    assert (
        mean_interval_of(0.0, 1.0, FEW_ROWS)[1] > 2 > mean_interval_of(0.0, 1.0, 4)[1]
    )
    assert [few_text(n) for n in (0, 1, 2, 4, np.nan)] == [
        "", "1 row only", "2 rows only", "", "",
    ]  # fmt: skip


# Values


def numbers(said, **given):
    """What is said of rules that say 3 above a half, else 1."""
    rows = np.column_stack([np.asarray(said) > 2, np.zeros(len(said))]).astype(float)
    return verdict(numbers_rules(), X=rows, **given)


SAID = np.tile([1.0, 3.0], 20)


def test_values_near_the_model():
    (first, *_) = numbers(SAID, teacher=SAID, new_to="model")
    assert first == (
        "These rules may stand in for the model: they say the same as the model of all "
        "40 new rows."
    )
    model = SAID + np.linspace(0, 0.8, 40)
    (first, *_) = numbers(SAID, teacher=model, new_to="model")
    assert first == (
        "These rules may stand in for the model where such differences do no harm: in "
        "half of 40 new rows they are at most 0.4 from what the model says, in nine of "
        "ten at most 0.72."
    )
    (first, *_) = numbers(SAID[:4], teacher=model[:4], new_to="model")
    assert "in all at most 0.0615" in first


def test_one_number_may_be_as_near_or_nearer():
    rng = np.random.default_rng(0)
    (first, *_) = numbers(SAID, teacher=2 + (SAID - 2) / 2 + rng.normal(size=40))
    assert first.startswith("Nothing shows that these rules can stand in for the model")
    (first, *_) = numbers(SAID, teacher=2 - 0.1 * (SAID - 2))
    assert first.startswith("These rules cannot stand in for the model: in half of 40")
    assert first.endswith("one number for all rows comes nearer to it.")


def test_values_near_the_truth():
    truth = SAID + np.tile([0.5, -0.5], 20)
    told = numbers(SAID, y=truth, teacher=truth, new_to="model")[1]
    assert told == (
        "Their typical error is 0.5, the model's 0: the model is nearer to the truth. "
        "One number for all rows would be off by 0.5: nothing shows that they are "
        "better than that."
    )
    told = numbers(SAID, y=SAID, teacher=truth, new_to="model")[1]
    assert "the model's 0.5: they are nearer to the truth. One number" in told
    assert told.endswith("would be off by 1.")
    told = numbers(SAID, y=SAID, teacher=SAID, new_to="model")[1]
    assert "; 40 rows cannot tell which is nearer to the truth" in told
    told = numbers(SAID, y=2 - 0.1 * (SAID - 2))[1]
    assert told.endswith("off by 0.1, less than they.")
    told = numbers(SAID, y=np.ones(40), teacher=SAID, new_to="rules")
    assert told[1] == "Their typical error is 1.41. All these rows have one true value."
    assert told[2].startswith("How good the model is on new rows is not known")
    assert "true values were not handed in" in numbers(SAID, teacher=SAID)[1]


def test_the_largest_values_are_compared():
    assert nearer(np.array([1e200, -1e200]), 0.0, np.array([1e200, -1e200])) == 1
    assert nearer(np.zeros(3), 0.0, np.zeros(3)) == 0


# One question


def stairs(n_literals=2):
    """Says b above 1, and where there is another question c above 2."""
    rules = [Rule((Interval(0, low=1.0),), "b", (0.0, 1.0, 0.0))]
    if n_literals > 1:
        rules.insert(0, Rule((Interval(0, low=2.0),), "c", (0.0, 0.0, 1.0)))
    last = Rule((), "a", (1.0, 0.0, 0.0))
    return RuleList(tuple(rules), last, FeatureSpace.numeric(1), ("a", "b", "c"))


def test_one_question_that_does_as_well_is_named():
    rows = np.repeat([[0.5], [1.5], [2.5]], (20, 18, 2), axis=0)
    said = stairs().predict(rows)
    told = verdict(stairs(), X=rows, teacher=said, new_to="model")[2]
    assert told == (
        "One question alone, about x0 and picked for these rows, would say the same as "
        "the model of 38 of these rows: nothing shows that they do better."
    )
    rows = np.repeat([[0.5], [1.5], [2.5]], (20, 10, 10), axis=0)
    said = stairs().predict(rows)
    told = verdict(stairs(), X=rows, teacher=said, new_to="model")
    assert not any("One question" in sentence for sentence in told)
    # Rules of one question are one.
    told = verdict(stairs(1), X=rows, teacher=said, new_to="model")
    assert not any("One question" in sentence for sentence in told)


def test_the_best_question_is_asked_of_missing_and_huge_cells():
    columns = np.array([[np.nan, 1e300], [np.inf, 1.0], [3.0, 1e300], [4.0, 1.0]] * 4)
    model = np.tile([0, 1], 8)
    feature, said = best_question(columns, model, "classification")
    assert feature == 1 and (said == model).all()


def test_luck_is_told_apart():
    right = np.ones(5, dtype=bool)
    # One in sixteen, to one of both sides: luck.
    assert better(right, ~right) == 0
    assert better(np.ones(6, dtype=bool), np.zeros(6, dtype=bool)) == 1


# Without rows


def test_what_they_were_learnt_from():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(size=(200, 2)), columns=["a", "b"])
    y = np.where(table["a"] > 0.5, "yes", "no")
    forest = RandomForestClassifier(5, random_state=0).fit(table, y)
    fitted = RuleListClassifier(forest, random_state=0).fit(table, y)
    first, second = verdict(fitted)
    assert first.startswith(
        "How far these rules may stand in for the model on new rows"
    )
    same = np.mean(fitted.predict(table) == forest.predict(table))
    assert (
        same > 0.99 and "of the 200 rows that they were learnt from they say" in first
    )
    assert second.startswith("Of new rows they are expected to tell")
    rows, model = np.tile([[0.0, 0.0], [1.0, 0.0]], (5, 1)), np.tile([1.0, 2.0], 5)
    (first,) = verdict(numbers_rules().described_on(rows, teacher=model))
    assert "of the 10 rows that they were learnt from they follow the model to" in first
    assert "an R² of -1 (1 is all)" in first


def test_nothing_is_known_without_numbers():
    (first,) = verdict(fever())
    assert first.endswith("no rows were handed in.")


def test_rules_of_few_rows_are_named_without_rows_too():
    first, few = verdict(fever().described_on(X[:9], teacher=HALF[:9]))
    assert "of the 9 rows" in first and few == (
        "Little is known of rule 1, which decides none of the rows that they were "
        "learnt from."
    )


@pytest.mark.parametrize("seed", range(5))
def test_two_of_the_same_are_rarely_told_apart(seed):
    """Of answers that are right equally often, some 5 % are said to differ."""
    rng = np.random.default_rng(seed)
    found = [better(*(rng.uniform(size=(2, 60)) < 0.7)) for _ in range(200)]
    assert np.mean(np.abs(found)) < 0.08
