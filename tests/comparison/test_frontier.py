"""Points, the best of them, and how they are told."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.wording import refuses, same_lines, same_text

from clearwood.comparison import Frontier, FrontierPoint
from clearwood.comparison.folds import Job, Part, Problem, Reply, SizedAnswer
from clearwood.comparison.point import measure_text
from clearwood.comparison.scores import HeldOut, mean_error, points_of, with_frontier
from clearwood.exceptions import InputError
from clearwood.outcomes import ClassProbabilities, Mean
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList, RuleSet

NAMES = ("dose", "age")


def rules_of(n_rules):
    lines = tuple(Rule((Interval(0, low=float(i)),), "ill") for i in range(n_rules - 1))
    lines = tuple(replace(r, probabilities=(0.0, 1.0)) for r in lines)
    last = Rule((), "well", (1.0, 0.0))
    return RuleList(lines, last, FeatureSpace(NAMES, (None, None)), ("well", "ill"))


def point(method, n_rules, error, spread=0.01, fidelity=0.9, ours=True):
    rules = rules_of(n_rules) if ours else None
    other = math.nan if not ours else 0.5
    return FrontierPoint(
        method, n_rules, n_rules, 2 * n_rules, error, spread, fidelity, other, other,
        0.8, 1.5, False, rules, str(rules),
    )  # fmt: skip


def frontier(*points, **changed):
    found = Frontier(
        "classification", "Forest", 200, 5, 5, 0.05, 0.01, False,
        with_frontier(points), (), 12.0, NAMES, ("well", "ill"),
    )  # fmt: skip
    return replace(found, **changed)


SOME = (
    point("list", 1, 0.5),
    point("list", 3, 0.2, fidelity=0.99),
    point("list", 5, 0.105),
    point("tree", 3, 0.205),
    point("tree", 6, 0.10),
    point("imodels:FIGS", 4, 0.15, ours=False),
)


def test_the_frontier_holds_what_no_other_beats():
    found = frontier(*SOME)
    marked = [(p.method, p.n_rules) for p in found.points if p.on_frontier]
    assert marked == [
        ("list", 1), ("list", 3), ("list", 5), ("tree", 6), ("imodels:FIGS", 4),
    ]  # fmt: skip
    # Equals do not beat each other; fewer lines with the same error do.
    tied = with_frontier([point("a", 2, 0.1), point("b", 2, 0.1), point("c", 3, 0.1)])
    assert [p.on_frontier for p in tied] == [True, True, False]


def test_the_best_is_ours_and_no_longer_than_asked():
    found = frontier(*SOME)
    assert found.best() == rules_of(6)
    assert found.best(5) == rules_of(5)
    assert found.best(4) == rules_of(3)
    assert found.best(5, by="fidelity") == rules_of(3)
    assert found.best_point(4).method == "list"
    with refuses(InputError, match="'log_loss'.*'fidelity'"):
        found.best(by="size")
    with refuses(InputError, match="max_rules.*'3'"):
        found.best("3")
    with refuses(InputError):
        frontier(SOME[1]).best(2)
    with refuses(InputError):
        frontier(SOME[-1]).best()
    with refuses(InputError):
        frontier(SOME[-1]).best(2)


def test_enough_is_the_fewest_lines_within_one_standard_error():
    assert frontier(*SOME).enough().n_rules == 5
    assert frontier(*SOME, point("list", 7, 0.04, 0.001)).enough().n_rules == 7


def test_the_error_of_what_is_enough_is_from_folds_that_did_not_choose_it():
    """Of many equally bad rules the luckiest is no better on folds left out."""
    rng = np.random.default_rng(1)
    errors = rng.normal(0.3, 0.05, size=(60, 5))
    lucky = [
        replace(
            point("list", 2, row.mean(), 0.0),
            by_fold=tuple((10.0, error, np.nan) for error in row),
        )
        for row in errors
    ]
    found = frontier(*lucky)
    expected = np.mean(
        [errors[np.delete(errors, k, 1).mean(1).argmin(), k] for k in range(5)]
    )
    assert found.enough_error() == pytest.approx(expected)
    assert found.enough().error < 0.3 < found.enough_error()
    same_text(str(found))
    assert np.isnan(frontier(*SOME).enough_error())


def test_as_good_are_other_methods_within_one_standard_error():
    found = frontier(*SOME)
    assert found.equivalent_methods(found.points[1]) == ("tree",)
    assert found.equivalent_methods(found.points[3]) == ("list",)
    assert found.equivalent_methods(found.points[4]) == ("list",)


def test_text_says_what_was_found_and_what_may_flatter():
    found = frontier(*SOME, failures=(("te2rules", "stopped after 60 s"),))
    text = str(found)
    same_text(text)
    same_text(str(replace(found, model_refitted=True)))
    assert "nan" not in text
    # Of points with the same size and error one is enough.
    twice = str(frontier(point("list", 2, 0.1), point("tree", 2, 0.1)))
    row = next(x for x in twice.splitlines() if x.strip().startswith("2"))
    assert "list" in row and row.endswith("tree")
    better = frontier(*SOME, point("imodels:FIGS", 9, 0.01, ours=False))
    same_text(str(better))


def test_nearly_nothing_is_told_as_nothing():
    almost = replace(point("list", 2, 0.1), stability=-1e-13, fidelity=1e-15)
    assert measure_text(almost, "stability") == measure_text(almost, "fidelity") == "0"


def test_the_standard_error_is_that_of_the_rows():
    rng = np.random.default_rng(0)
    truth = [np.zeros(40), np.zeros(60)]
    said = [(rng.random(40) < 0.3) * 1.0, (rng.random(60) < 0.3) * 1.0]
    held = HeldOut(truth, truth, [np.ones(40), np.ones(60)])
    error, spread = mean_error(said, held, ClassProbabilities())
    assert error == np.concatenate(said).mean()
    assert spread == pytest.approx(np.sqrt(error * (1 - error) / 100))
    # A row of the weight w counts as often as w equal ones in the mean, but once here.
    one, two = (
        HeldOut([truth[0]], [truth[0]], [np.full(40, 7.0)]),
        HeldOut([truth[0]], [truth[0]], [np.ones(40)]),
    )
    a, b = (mean_error(said[:1], h, ClassProbabilities()) for h in (one, two))
    assert a == pytest.approx(b)
    # Of two equal rows in each group there are half as many.
    held = HeldOut(truth, truth, [np.ones(40), np.ones(60)], groups=[
        np.arange(40) // 2, 20 + np.arange(60) // 2
    ])  # fmt: skip
    twice = [np.repeat(part[: len(part) // 2], 2) for part in said]
    error, spread = mean_error(twice, held, ClassProbabilities())
    assert spread == pytest.approx(np.sqrt(error * (1 - error) / 50))
    # No two rows differ in loss.
    assert mean_error(truth, held, Mean()) == (0.0, 0.0)


def test_table_and_plain_data():
    found = frontier(*SOME)
    table = found.to_frame()
    assert list(table["method"].unique()) == ["list", "tree", "imodels:FIGS"]
    assert table["n_rules"].tolist() == [1, 3, 5, 3, 6, 4]
    assert "rules" not in table and "text" not in table
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["points"][-1]["coverage"] is None
    assert told["points"][-1]["rules"] is None
    kept = RuleSet.from_json(json.dumps(told["points"][2]["rules"]))
    assert kept == rules_of(5)
    assert told["classes"] == ["well", "ill"]


def test_a_notebook_shows_a_table_with_names_escaped():
    bad = "<script>alert(1)</script>"
    page = frontier(*SOME, model=bad, failures=((bad, bad),))._repr_html_()
    assert "<script>" not in page and page.count("&lt;script&gt;") == 3
    assert page.count("<strong>") == 5


def test_regression_says_mean_squared_error():
    found = frontier(*SOME, task="regression", model_error=4351.2)
    same_lines(str(found))


def test_points_are_plain_numbers():
    for found in frontier(*SOME).points:
        assert not isinstance(found.on_frontier, np.bool_)


def judged(task, said, truth, target, weight):
    """The point of one method in one size, from what it says in two folds."""
    folds = [Part("fold", weight, np.array([k, k + 2]), 0, 0) for k in (0, 1)]
    held = HeldOut(*[[part[f.test] for f in folds] for part in (truth, target, weight)])
    parts = (*folds, Part("all", weight, np.zeros(0, dtype=int), 0, 0))
    labels = np.arange(6) if task == "classification" else np.zeros(0)
    problem = Problem(None, truth, weight, True, (), labels, parts)
    replies = {
        Job("tree", (2,), k): Reply([SizedAnswer(2, 2, 1, said[f.test], c, 2 * c)], 1.0)
        for k, (f, c) in enumerate(zip(folds, (0.25, 0.75)))
    }
    replies[Job("tree", (2,), 2)] = Reply([SizedAnswer(2, 2, 1, np.zeros(0))], 3.0)
    (found,) = points_of("tree", [(2,)], problem, held, replies)
    return found


def test_scores_of_a_point_count_rows_by_their_weight():
    truth = np.array([0.0, 1.0, 2.0, 4.0])
    said = np.array([1.0, 1.0, 2.0, 2.0])
    target = np.array([0.0, 2.0, 2.0, 5.0])
    weight = np.array([1.0, 2.0, 3.0, 4.0])
    found = judged("regression", said, truth, target, weight)
    # Losses 1, 0, 0, 4; one fold holds rows 0 and 2, the other 1 and 3.
    assert found.error == pytest.approx(17 / 10)
    gaps = weight * (np.array([1.0, 0.0, 0.0, 4.0]) - 1.7)
    assert found.error_se == pytest.approx(np.sqrt((gaps**2).sum()) / 10)
    # The mean of the target is 3.
    assert found.fidelity == pytest.approx(1 - (1 + 2 + 36) / (9 + 2 + 3 + 16))
    assert found.coverage == pytest.approx((4 * 0.25 + 6 * 0.75) / 10)
    assert found.overlap == pytest.approx(2 * found.coverage)
    assert found.seconds == 3.0
    found = judged("classification", said, truth, target, weight)
    assert found.error == pytest.approx(5 / 10)
    assert found.fidelity == pytest.approx(3 / 10)


@pytest.mark.parametrize(
    "constant, words", [(0.5, ""), (0.052, "hardly better"), (0.04, "not better")]
)
def test_the_model_is_compared_with_a_constant(constant, words):
    found = str(frontier(*SOME, constant_error=constant))
    assert ("better" in found) == bool(words) and words in found
