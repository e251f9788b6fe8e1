"""What stands first on a page, in every case, and whether it is true."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.reporting.results import numbers_rules
from tests.wording import same_lines, same_text

from clearwood._words.sentences import listed
from clearwood.outcomes import ClassProbabilities
from clearwood.outcomes.intervals import mean_interval, share_interval
from clearwood.reporting import report, summarize
from clearwood.reporting.verdict.rivals import best_stump, better, nearer
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList, RuleSum
from clearwood.rules.evaluation.statistics import FEW_ROWS, few_text
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
    (first, *_) = verdict(fever(), X=X, model=HALF, held_out_from="model")
    same_text(first)


def test_some_are_told_otherwise():
    model = changed(HALF, slice(0, 4), "ill")
    (first, *_) = verdict(fever(), X=X, model=model, held_out_from="rules")
    same_text(first)


def test_saying_one_class_may_do_as_well_or_better():
    model = changed(np.full(N, "well"), slice(30, None), "ill")
    (first, *_) = verdict(fever(), X=X, model=model)
    same_text(first)
    model = changed(np.full(N, "well"), slice(38, None), "ill")
    (first, *_) = verdict(fever(), X=X, model=model)
    same_text(first)


def test_of_a_model_that_says_one_thing_it_is_no_excuse():
    (first, *_) = verdict(fever(), X=X[:9], model=HALF[:9])
    same_text(first)


def test_a_warning_of_the_fit_decides():
    doubted = fever(warning="They follow too little.")
    sentences = verdict(doubted, X=X, model=HALF, held_out_from="model")
    same_text(sentences)


def test_nobody_knows_without_the_model():
    (first, *_) = verdict(fever(), X=X, y=HALF, held_out_from="model")
    same_text(first)


def test_one_row_is_no_plural():
    (first, *_) = verdict(fever(), X=X[:1], model=HALF[:1], held_out_from="model")
    same_text(first)


# How often are they right?


def test_right_beside_the_model():
    truth = changed(HALF, slice(0, 4), "ill")
    model = changed(truth, [39], "well")
    told = verdict(fever(), X=X, y=truth, model=model, held_out_from="model")[1]
    same_text(told)
    truth = changed(HALF, slice(0, 8), "ill")
    told = verdict(fever(), X=X, y=truth, model=truth, held_out_from="model")[1]
    same_text(told)
    told = verdict(fever(), X=X, y=HALF, model=truth, held_out_from="model")[1]
    same_text(told)
    told = verdict(fever(), X=X, y=truth, model=HALF, held_out_from="model")[1]
    same_text(told)


def test_beside_saying_one_class():
    told = verdict(fever(), X=X, y=HALF)[1]
    same_text(told)
    rare = changed(np.full(N, "well"), slice(38, None), "ill")
    told = verdict(fever(), X=X, y=rare)[1]
    same_text(told)
    rare = changed(np.full(N, "well"), slice(30, None), "ill")
    told = verdict(fever(), X=X, y=rare)[1]
    same_text(told)
    told = verdict(fever(), X=X[:9], y=HALF[:9])[1]
    same_text(told)


def test_whom_the_rows_are_new_to():
    given = {"X": X, "y": HALF, "model": HALF}
    same_text(verdict(fever(), **given))
    same_text(verdict(fever(), X=X, y=HALF))
    for held_out_from in ("rules", "model"):
        same_text(verdict(fever(), **given, held_out_from=held_out_from))
    same_text(verdict(fever(), X=X, model=HALF)[1])


# What are they no help for?


def test_a_class_that_no_rule_says_is_named():
    rules = fever(("well", "ill", "odd", "dead"))
    truth = changed(HALF, slice(0, 3), "odd")
    told = verdict(rules, X=X, y=truth)[-1]
    same_text(told)
    told = verdict(fever(("well", "ill", "odd")), X=X, model=truth)[-1]
    same_text(told)
    told = verdict(fever(("well", "ill", "odd")), X=X, model=HALF)[-1]
    same_text(told)
    # The warning has said it already.
    rules = fever(("well", "ill", "odd"), warning="No rule predicts odd.")
    same_text(verdict(rules, X=X, y=truth))
    same_text(verdict(fever(), X=X, y=HALF))


def test_in_a_sum_only_these_rows_tell_what_is_said():
    rules = RuleSum(
        (Rule((Interval(0, low=37.5),), "ill", scores=(0.0, 3.0, 0.0)),),
        Rule((), "well", scores=(1.0, 0.0, 0.0)),
        FeatureSpace.numeric(1),
        ("well", "ill", "odd"),
    )
    truth = changed(HALF, slice(0, 3), "odd")
    same_text(verdict(rules, X=X, y=truth)[-1])
    same_text(verdict(rules, X=X[:9], y=HALF[:9]))


def test_names_are_few():
    same_text(listed([str(k) for k in range(7)], "and"))


def test_rules_of_few_rows_are_named():
    rows = np.vstack([X[:20], X[-2:]])
    told = verdict(fever(), X=rows, y=["well"] * 20 + ["ill"] * 2)[-1]
    same_text(told)
    told = verdict(fever(), X=X[:9], y=HALF[:9])[-1]
    same_text(told)
    told = verdict(fever(), X=X[[0, -1, -2]], y=["well", "ill", "ill"])[-1]
    same_text(told)


def test_why_three_rows_are_few():
    """What the limit says of itself."""
    assert share_interval(1.0, FEW_ROWS)[0] < 0.5 < share_interval(1.0, 4)[0]
    assert mean_interval(0.0, 1.0, FEW_ROWS)[1] > 2 > mean_interval(0.0, 1.0, 4)[1]
    same_text([few_text(n) for n in (0, 1, 2, 4, np.nan)])


# Values


def numbers(said, **given):
    """What is said of rules that say 3 above a half, else 1."""
    rows = np.column_stack([np.asarray(said) > 2, np.zeros(len(said))]).astype(float)
    return verdict(numbers_rules(), X=rows, **given)


SAID = np.tile([1.0, 3.0], 20)


def test_values_near_the_model():
    (first, *_) = numbers(SAID, model=SAID, held_out_from="model")
    same_text(first)
    model = SAID + np.linspace(0, 0.8, 40)
    (first, *_) = numbers(SAID, model=model, held_out_from="model")
    same_text(first)
    (first, *_) = numbers(SAID[:4], model=model[:4], held_out_from="model")
    same_text(first)


def test_one_number_may_be_as_near_or_nearer():
    rng = np.random.default_rng(0)
    (first, *_) = numbers(SAID, model=2 + (SAID - 2) / 2 + rng.normal(size=40))
    same_text(first)
    (first, *_) = numbers(SAID, model=2 - 0.1 * (SAID - 2))
    same_text(first)


def test_values_near_the_truth():
    truth = SAID + np.tile([0.5, -0.5], 20)
    told = numbers(SAID, y=truth, model=truth, held_out_from="model")[1]
    same_text(told)
    told = numbers(SAID, y=SAID, model=truth, held_out_from="model")[1]
    same_text(told)
    told = numbers(SAID, y=SAID, model=SAID, held_out_from="model")[1]
    same_text(told)
    told = numbers(SAID, y=2 - 0.1 * (SAID - 2))[1]
    same_text(told)
    told = numbers(SAID, y=np.ones(40), model=SAID, held_out_from="rules")
    same_text(told[1])
    same_text(told[2])
    same_text(numbers(SAID, model=SAID)[1])


def test_the_largest_values_are_compared():
    assert nearer(np.array([1e200, -1e200]), 0.0, np.array([1e200, -1e200])) == 1
    assert nearer(np.zeros(3), 0.0, np.zeros(3)) == 0


def test_errors_are_stated_of_values_that_are_far_but_in_order(tmp_path):
    """Drift, a bias or another scale: a rank correlation cannot distinguish them."""
    same_text(numbers(SAID, y=SAID + 15, model=SAID, held_out_from="model"))
    same_text(numbers(SAID, y=SAID, model=SAID / 1000))
    near = numbers(SAID, y=-SAID, model=SAID + 0.9)
    assert "scale" not in " ".join(near) and "however" not in " ".join(near)
    rows = np.column_stack([SAID > 2, SAID]).astype(float)
    tile, *_ = summarize(numbers_rules(), X=rows, model=SAID / 1000)["scores"]["tiles"]
    assert tile["rules"] < -1 and tile["note"] == "rank correlation 1"
    found = numbers_rules().described_on(rows, model=SAID / 1000)
    assert "agreement below -100" in str(found)
    report(numbers_rules(), tmp_path / "page.html", X=rows, model=SAID / 1000)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("below -100") == 5 and "-4990004" not in page


def test_ranking_scores_have_no_errors():
    rules = numbers_rules().with_metadata(predicts="a ranking score")
    rows = np.column_stack([SAID > 2, SAID]).astype(float)
    given = {"X": rows, "y": 9 - SAID, "model": SAID + 0.5}
    page = summarize(rules, **given, held_out_from="model")
    same_lines(page["verdict"])
    same_lines(line["name"] for line in page["scores"]["lines"])
    assert page["decisions"] is None and page["failures"]["right"] is None
    constant = summarize(rules, **(given | {"y": np.ones(40)}))["verdict"]
    same_text(constant[1])


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
    told = verdict(stairs(), X=rows, model=said, held_out_from="model")[2]
    same_text(told)
    rows = np.repeat([[0.5], [1.5], [2.5]], (20, 10, 10), axis=0)
    said = stairs().predict(rows)
    told = verdict(stairs(), X=rows, model=said, held_out_from="model")
    same_text(told)
    # Rules of one question are one.
    told = verdict(stairs(1), X=rows, model=said, held_out_from="model")
    same_text(told)


def test_the_best_question_is_asked_of_missing_and_huge_cells():
    columns = np.array([[np.nan, 1e300], [np.inf, 1.0], [3.0, 1e300], [4.0, 1.0]] * 4)
    model = np.tile([0, 1], 8)
    feature, said = best_stump(columns, model, ClassProbabilities())
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
    same = np.mean(fitted.predict(table) == forest.predict(table))
    assert same > 0.99
    same_lines(first)
    same_lines(second)
    rows, model = np.tile([[0.0, 0.0], [1.0, 0.0]], (5, 1)), np.tile([1.0, 2.0], 5)
    (first,) = verdict(numbers_rules().described_on(rows, model=model))
    same_text(first)


def test_nothing_is_known_without_numbers():
    (first,) = verdict(fever())
    same_text(first)


def test_rules_of_few_rows_are_named_without_rows_too():
    first, few = verdict(fever().described_on(X[:9], model=HALF[:9]))
    same_text(first)
    same_text(few)


@pytest.mark.parametrize("seed", range(5))
def test_two_of_the_same_are_rarely_told_apart(seed):
    """Of answers that are right equally often, some 5 % are said to differ."""
    rng = np.random.default_rng(seed)
    found = [better(*(rng.uniform(size=(2, 60)) < 0.7)) for _ in range(200)]
    assert np.mean(np.abs(found)) < 0.08
