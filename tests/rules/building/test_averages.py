"""Averages of rules: what they say, and how they are shown, written and read."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.wording import refuses, same_lines, same_text

from clearwood.cli import main
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.reporting import report, summarize
from clearwood.rules import (
    FeatureBins,
    FeatureSpace,
    Interval,
    RegionsDisplay,
    Rule,
    RuleAverage,
    RuleList,
    RuleSet,
    RuleSum,
    Training,
)
from clearwood.rules.building.averages import build_rule_average
from clearwood.rules.exports.html_table import line_bars

NAMES = FeatureSpace(("height", "age"), (None, None))


def values(last_weight=0.2):
    return RuleAverage(
        (
            Rule((Interval(0, low=5.25),), 31.0, weight=0.5),
            Rule((Interval(1, low=10.0),), 11.0, weight=0.25),
        ),
        Rule((), 22.0, weight=last_weight),
        NAMES,
        target="heating",
    )


def classes(labels=("no", "yes")):
    shares = [(0.25, 0.75), (0.5, 0.5), (0.9, 0.1)]
    shares = [(*s, *[0.0] * (len(labels) - 2)) for s in shares]
    return RuleAverage(
        (
            Rule((Interval(0, low=5.25),), labels[1], shares[0], weight=0.5),
            Rule((Interval(1, low=10.0),), labels[0], shares[1], weight=0.25),
        ),
        Rule((), labels[0], shares[2], weight=0.25),
        NAMES,
        labels,
    )


ROWS = [[6.0, 20.0], [6.0, 1.0], [1.0, 20.0], [1.0, 1.0], [math.nan, math.nan]]


def test_the_weighted_mean_of_what_holds_is_said():
    both = (0.5 * 31 + 0.25 * 11 + 0.2 * 22) / 0.95
    one, other = (0.5 * 31 + 0.2 * 22) / 0.7, (0.25 * 11 + 0.2 * 22) / 0.45
    said = values().predict(ROWS)
    np.testing.assert_allclose(said, [both, one, other, 22, 22], rtol=1e-15)


def test_without_a_weight_of_its_own_the_last_line_speaks_where_no_other_does():
    said = values(0.0).predict(ROWS)
    np.testing.assert_allclose(said, [18.25 / 0.75, 31, 11, 22, 22], rtol=1e-15)


def test_probabilities_are_averaged_and_the_largest_is_said():
    rules = classes()
    shares = rules.predict_proba(ROWS)
    np.testing.assert_allclose(shares[:, 1], [0.525, 1.6 / 3, 0.3, 0.1, 0.1])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert rules.predict(ROWS).tolist() == ["yes", "yes", "no", "no", "no"]


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=30)
@given(st.data())
def test_row_by_row_and_rule_by_rule_it_is_the_same(data):
    rules = data.draw(samples.rule_sets().filter(lambda r: isinstance(r, RuleAverage)))
    rows = data.draw(samples.tables(rules))
    held = np.column_stack([rules.matches(rows), np.ones(len(rows), dtype=bool)])
    for said, mask in zip(rules.predict(rows).tolist(), held):
        lines = [line for line, holds in zip(rules, mask) if holds and line.weight]
        lines = lines or [rules.otherwise]
        numbers = np.array([line.probabilities or line.prediction for line in lines])
        weight = np.array([line.weight for line in lines])
        weight = weight if weight.any() else np.ones(1)
        mean = np.average(numbers.astype(float), axis=0, weights=weight)
        if rules.classes:
            assert mean[rules.classes.index(said)] >= mean.max() - 1e-12
        else:
            # What cancels is exact to the size of what is added.
            largest = np.abs(numbers.astype(float)).max()
            assert said == pytest.approx(mean, rel=1e-12, abs=1e-14 * largest)


def test_no_rule_decides_alone_and_nothing_adds_up():
    with refuses(InputError):
        values().apply(ROWS)
    with refuses(InputError, match="RuleAverage"):
        values().totals(ROWS)
    with refuses(InputError, match="to_python"):
        values().to_sklearn()


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, 1e-300, 1e200])
def test_weights_with_which_nothing_can_be_computed(weight):
    with refuses(InputError):
        RuleAverage((), Rule((), 1.0, weight=weight), NAMES)


def test_values_that_are_too_large_and_weights_that_mean_nothing():
    with refuses(InputError):
        RuleAverage((), Rule((), 1e200), NAMES)
    for kind in (RuleList, RuleSum):
        with refuses(InputError, match="RuleAverage"):
            kind((), Rule((), 1.0, weight=2.0), NAMES)


def test_how_it_reads():
    same_text(str(values()))
    assert str(values(0.0)).endswith("\n3. otherwise 22")
    same_lines(str(classes()))
    three = str(classes(("a", "b", "c")))
    same_lines(three)


def test_what_is_printed_tells_how_good_a_line_is_where_it_holds():
    rules = values().described_on(ROWS, [30.0, 32, 10, 20, 24], model=[31.0] * 5)
    assert [rule.support for rule in rules] == [2, 2, 5]
    assert [rule.assigned for rule in rules] == [2, 2, 5]
    assert rules.rules[0].std == 1.0
    assert rules.rules[0].disagreement == 0.0
    same_lines(str(rules))
    assert rules.predict(ROWS).tolist() == values().predict(ROWS).tolist()


def test_it_survives_json_and_nothing_else_passes():
    for rules in (values(), classes()):
        assert RuleSet.from_json(rules.to_json()) == rules
    plain = json.loads(values().to_json())
    del plain["rules"][0]["weight"]
    with refuses(ModelFormatError, match="'weight'"):
        RuleSet.from_json(json.dumps(plain))
    plain["rules"][0]["weight"] = -1
    with refuses(ModelFormatError):
        RuleSet.from_json(json.dumps(plain))
    plain["combine"] = "first"
    with refuses(ModelFormatError):
        RuleSet.from_json(json.dumps(plain))


def test_how_the_exports_read():
    assert values().to_sql("sqlite", table="houses") == (
        "SELECT *,\n"
        "  (4.4e0\n"
        "      + CASE WHEN `height` > 5.25e0 THEN 15.5e0 ELSE 0e0 END\n"
        "      + CASE WHEN `age` > 10e0 THEN 2.75e0 ELSE 0e0 END)\n"
        "  / (0.2e0\n"
        "      + CASE WHEN `height` > 5.25e0 THEN 0.5e0 ELSE 0e0 END\n"
        "      + CASE WHEN `age` > 10e0 THEN 0.25e0 ELSE 0e0 END) AS `prediction`\n"
        "FROM `houses`\n"
    ).replace("4.4e0", f"{0.2 * 22!r}e0")
    python = values().to_python()
    assert "    if height > 5.25:\n        weight += 0.5\n" in python
    assert "        total += 0.5 * 31.0\n" in python
    assert "    if weight == 0:\n        return 22.0\n" in python
    assert python.endswith("    return total / weight\n")
    latex = values(0.0).to_latex()
    same_lines(latex)
    assert r"1 & height $>$ 5.25 & 31 & 0.5 &  &  \\" in latex
    assert r"3 & otherwise & 22 & 0 &  &  \\" in latex
    assert r"3 & always & 22 & 0.2 &  &  \\" in values().to_latex()


def test_a_feature_may_be_called_weight():
    space = FeatureSpace(("weight", "total"), (None, None))
    rule = Rule((Interval(0, 1.0), Interval(1, 2.0)), 1.0)
    rules = RuleAverage((rule,), Rule((), 0.0), space)
    functions = {}
    exec(rules.to_python(), functions)
    assert functions["predict"]({"weight": 2.0, "total": 3.0}) == 0.5
    assert functions["predict"]({"weight": 0.5, "total": 3.0}) == 0.0


def test_the_page_shows_weights_with_bars():
    rules = values()
    assert [bar["weighed"] for bar in line_bars(rules)] == [1.0, 0.5, 0.4]
    page = rules._repr_html_()
    same_lines(page)
    assert len(re.findall('data-label="Weight"', page)) == 3
    assert "always" in page
    assert "otherwise" in values(0.0)._repr_html_()
    assert "Weight" not in RuleList((), Rule((), 0.0), NAMES)._repr_html_()
    same_lines(classes()._repr_html_())


def test_an_explanation_names_all_that_take_part():
    told = values().explain({"height": 6.0, "age": 5.0})
    same_text(str(told).splitlines())
    assert told.rule is None and told.combine == "average"
    # Without weight the last line speaks only where no other does.
    assert "22" not in str(values(0.0).explain({"height": 6.0, "age": 5.0}))
    nothing_holds = values(0.0).explain({"height": 1.0, "age": 5.0})
    same_lines(str(nothing_holds).splitlines())
    assert "otherwise" in nothing_holds._repr_html_()
    told = classes().explain({"height": 6.0, "age": 5.0})
    same_lines(str(told))
    assert [change.prediction for change in told.changes] == ["no"]
    same_lines(told._repr_html_())


def test_a_change_is_told_with_all_values_that_do_as_well():
    cuts = [1.0, 2.0, 3.0, 4.0]
    rules = RuleAverage(
        tuple(Rule((Interval(0, low=x),), "yes", (0.25, 0.75), weight=0.5)
              for x in cuts),
        Rule((), "no", (0.6, 0.4), weight=0.5),
        FeatureSpace(("height",), (None,)),
        ("no", "yes"),
    )  # fmt: skip
    (change,) = rules.explain({"height": 0.5}).changes
    same_text(change.text)
    assert change.rule is None


def test_a_report_says_where_the_average_fails(tmp_path):
    rules, target = values(), np.array([31.0, 31, 11, 22, 0])
    page = summarize(rules, X=ROWS, model=target)
    worst = page["failures"]["disagreements"][0]
    assert worst["rule"] == "3"
    same_text(worst["values"])
    assert page["failures"]["disagreements"][1]["rule"] == "1, 2"
    path = tmp_path / "page.html"
    report(rules.described_on(ROWS), path, X=ROWS, model=target, show_rows=True)
    text = path.read_text()
    same_lines(text)
    assert ">5 rows<" in text


def test_the_command_says_which_rules_took_part(tmp_path):
    path, data = tmp_path / "average.json", tmp_path / "new.csv"
    classes().save(path)
    pd.DataFrame(ROWS[:4], columns=["height", "age"]).to_csv(data, index=False)
    found = CliRunner().invoke(main, ["predict", str(path), str(data), "--json"])
    assert found.exit_code == 0, found.output
    listed = json.loads(found.stdout)
    assert [x["rules"] for x in listed] == [[1, 2], [1], [2], []]
    assert listed[0]["probabilities"] == pytest.approx([0.475, 0.525])


def test_pictures():
    import matplotlib

    matplotlib.use("agg")
    regions = RegionsDisplay.from_estimator(values(), ROWS[:4])
    assert regions.decided is None
    matplotlib.pyplot.close("all")


def training(target, classes=()):
    encoded = np.arange(6.0)[:, None]
    said = target.argmax(axis=1) if target.ndim == 2 else target
    bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[], cut=[])
    return Training(encoded, target, None, np.ones(6), said, bins, classes)


def test_building_gives_means_short_numbers_and_joins_what_holds_every_row():
    target = np.array([1.0, 1.0, 1.0, 4.00001, 5.0, 6.00002])
    regions = [(Interval(0, low=2.3456),), (Interval(0, low=-1.0),)]
    rules = build_rule_average(regions, [0.123456, 0.5], 0.25, training(target))
    assert [rule.weight for rule in rules] == [0.123, 0.75]
    assert [rule.prediction for rule in rules] == [5.0, 3.0]
    assert rules.rules[0].conditions == (Interval(0, low=2.0),)
    assert rules.otherwise.support == 6
    exact = build_rule_average(
        regions, [0.123456, 0.5], 0.25, training(target), round_thresholds=False
    )
    assert exact.rules[0].weight == 0.123456
    assert exact.rules[0].prediction == pytest.approx(target[3:].mean(), rel=1e-15)


def test_building_rounds_probabilities_so_that_they_add_up():
    target = np.array([[1 / 3] * 3] * 3 + [[1 / 7, 2 / 7, 4 / 7]] * 3)
    rules = build_rule_average(
        [(Interval(0, low=2.5),), (Interval(0, high=2.5),)],
        [0.5, 0.5],
        0.0,
        training(target, ("a", "b", "c")),
    )
    assert rules.rules[0].probabilities == (0.143, 0.286, 0.571)
    assert rules.rules[1].probabilities == (0.334, 0.333, 0.333)
    assert rules.rules[0].prediction == "c"
