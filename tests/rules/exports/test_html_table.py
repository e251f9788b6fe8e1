import re
from dataclasses import replace

import numpy as np
import pytest
from tests.rules.displays.samples import boxes_list, scores_sum, values_sum
from tests.wording import same_lines, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import Interval, Rule, RuleList, RuleStatistics
from clearwood.rules.exports.html_table import line_bars, summarize_rules


def numbers(values, spreads):
    rules = tuple(
        Rule(
            (Interval(0, low=k),),
            value,
            statistics=RuleStatistics(20.0 + k, 10.0, std=spread),
        )
        for k, (value, spread) in enumerate(zip(values, spreads))
    )
    otherwise = Rule((), values[0], statistics=RuleStatistics(10.0, 10.0, std=0.0))
    return RuleList(rules, otherwise, FeatureSpace.numeric(1))


def test_values_lie_on_one_axis_from_the_least_to_the_most():
    bars = line_bars(numbers([10.0, 20.0], [2.0, 4.0]))
    # From 8 to 24.
    assert bars[0]["value"] == {"at": 2 / 16, "spread": 2 / 16}
    assert bars[1]["value"] == {"at": 12 / 16, "spread": 4 / 16}
    assert [bar["matching"] for bar in bars] == [20 / 30, 21 / 30, 10 / 30]
    assert all(bar["added"] is None for bar in bars)


def test_nothing_is_drawn_where_nothing_differs_or_is_known():
    assert line_bars(numbers([1.0], [0.0]))[0]["value"] is None
    assert line_bars(numbers([1.0, np.inf], [0.0, 0.0]))[0]["value"] is None
    for bar in line_bars(boxes_list()):
        assert bar == {"matching": None, "value": None, "added": None}


def test_a_sum_of_values_leaves_the_constant_out():
    bars = line_bars(values_sum())
    assert [bar["added"] for bar in bars] == [None, -1.0, 0.25]
    assert [bar["matching"] for bar in bars] == [1.0, 0.3, 0.6]


def test_two_classes_are_told_of_one_and_more_not_at_all():
    two = scores_sum(2)
    scores = np.array([rule.scores[1] for _, rule in two.lines()])
    bars = [bar["added"] for bar in line_bars(two)]
    assert bars == pytest.approx(scores / np.abs(scores).max())
    assert all(bar["added"] is None for bar in line_bars(scores_sum(3)))


@pytest.mark.parametrize(
    "rules", [numbers([10.0, -20.0], [2.0, 400.0]), values_sum(), scores_sum(2)]
)
def test_no_bar_of_the_table_leaves_its_room(rules):
    html = rules._repr_html_()
    places = re.findall(r'style="left: ([-\d.]+)%; width: ([-\d.]+)%"', html)
    assert len(places) >= len(rules.rules)
    for left, width in places:
        assert float(left) >= 0 and float(width) >= 0
        assert float(left) + float(width) <= 100.11


def test_a_table_marks_lines_of_next_to_no_rows_and_links_only_on_a_page():
    html = numbers([10.0], [2.0])._repr_html_()
    assert "only" not in html and 'href="#' not in html
    rules = numbers([10.0], [2.0]).described_on([[1.0]] * 2 + [[-1.0]] * 4, [1.0] * 6)
    html = rules._repr_html_()
    same_lines(html)
    assert html.count("only") == 1
    (meaning,) = re.findall(r'<abbr title="([^"]*)">SD<', html)
    same_text(meaning)
    linked = summarize_rules(rules, "Rows of a page", is_linked=True)
    same_text(linked["words"]["Rows"])


def test_an_unlikely_class_states_why_it_is_predicted():
    ill = Rule(
        (Interval(0, low=2.0),),
        "ill",
        (0.82, 0.18),
        statistics=RuleStatistics(30.0, 30.0, expected=0.18),
    )
    rest = Rule(
        (), "well", (0.92, 0.08), statistics=RuleStatistics(70.0, 70.0, expected=0.92)
    )
    rules = RuleList((ill,), rest, FeatureSpace.numeric(1), ("well", "ill"))
    same_lines(str(rules))
    same_lines(rules._repr_html_())
    assert str(rules).count("elsewhere") == rules._repr_html_().count("elsewhere") == 1
    # Nor is it likelier here: then only the model says so.
    least = replace(rules, otherwise=replace(rest, probabilities=(0.7, 0.3)))
    same_lines(str(least))
    third = replace(
        rules,
        classes=("well", "ill", "odd"),
        rules=(replace(ill, probabilities=(0.3, 0.4, 0.3)),),
        otherwise=replace(rest, probabilities=(0.9, 0.05, 0.05)),
    )
    same_lines(str(third))
    # Nothing is known of rows elsewhere.
    unknown = replace(rest.statistics, support=np.nan, assigned=np.nan)
    unknown = replace(rules, otherwise=replace(rest, statistics=unknown))
    assert "elsewhere" not in str(unknown)
