import itertools
import math
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from tests.rules.displays.samples import (
    LONG,
    UNBROKEN,
    awkward_list,
    boxes_list,
    scores_sum,
    values_sum,
)
from tests.wording import refuses, same_lines

from clearwood.charts.style import wrapped
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import Interval, Rule, RuleAverage, RuleList
from clearwood.rules.displays import RulesDisplay
from clearwood.simplifiers import RuleListClassifier

matplotlib.use("agg")

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(200, 3))
TAUGHT = RNG.choice(["a", "b", "c"], size=200)
Y = RNG.choice(["a", "b", "c"], size=200)


def numbers_list():
    rules = (
        Rule((Interval(0, low=0.5),), 3.0, (), 40.0, 40.0, 0.8, spread=0.5,
             agreement_caught=0.8),
        Rule((Interval(1, low=0.5),), 1.0, (), 50.0, 20.0, -1.5, spread=0.25,
             agreement_caught=0.6),
    )  # fmt: skip
    otherwise = Rule((), 2.0, (), 40.0, 40.0, 0.9, spread=0.1, agreement_caught=0.9)
    return RuleList(rules, otherwise, FeatureSpace.numeric(2))


def test_training_shares_are_over_all_caught_rows():
    lines = RulesDisplay.from_estimator(numbers_list()).lines
    assert [line.number for line in lines] == [1, 2, 3]
    assert [line.caught for line in lines] == [0.4, 0.2, 0.4]
    assert [line.matching for line in lines] == [0.4, 0.5, 0.4]
    assert [line.agreement for line in lines] == [0.8, -1.5, 0.9]
    assert [line.agreement_caught for line in lines] == [0.8, 0.6, 0.9]
    assert [line.conditions for line in lines] == [("x0 > 0.5",), ("x1 > 0.5",), ()]
    assert [line.says for line in lines] == ["3", "1", "2"]


def test_scores_on_rows_are_those_of_a_plain_count():
    lines = RulesDisplay.from_estimator(boxes_list(), X, Y, teacher=TAUGHT).lines
    one = (X[:, 0] > 0.5) & (X[:, 1] > 0.5)
    two = X[:, 0] > 0.2
    cases = [("b", one, one), ("c", two, two & ~one), ("a", ~one & ~two, ~one & ~two)]
    for line, (said, matching, caught) in zip(lines, cases):
        assert line.matching == matching.sum() / 200
        assert line.caught == caught.sum() / 200
        assert line.agreement == pytest.approx(np.mean(TAUGHT[matching] == said))
        assert line.agreement_caught == pytest.approx(np.mean(TAUGHT[caught] == said))
        assert line.precision == pytest.approx(np.mean(Y[matching] == said))


def test_all_marks_of_scores_are_told():
    display = RulesDisplay.from_estimator(boxes_list(), X, Y, teacher=TAUGHT).plot()
    same_lines([text.get_text() for text in display.ax_.texts])


def test_the_spread_is_of_the_rows_that_a_rule_decides():
    x = np.arange(10.0)[:, None]
    y = np.array([0.0, 0.1, -0.1, 5.0, 5.1, 4.9, 5.0, 5.2, 4.8, 5.0])
    rules = RuleList(
        (Rule((Interval(0, low=2.5),), 5.0), Rule((Interval(0, low=-1.0),), 0.0)),
        Rule((), 2.0),
        FeatureSpace.numeric(1),
    )
    first, second, otherwise = RulesDisplay.from_estimator(rules, x, y).lines
    assert (first.caught, second.caught, second.matching) == (0.7, 0.3, 1.0)
    assert first.spread == pytest.approx(np.std(y[3:]))
    # All ten rows satisfy the second rule; their spread is thirty times as large.
    assert second.spread == pytest.approx(np.std(y[:3]))
    assert second.spread == rules.described_on(x, y).rules[1].spread
    assert np.isnan(otherwise.spread)


def test_values_on_rows_are_judged_by_the_teachers_variance():
    taught, y = RNG.normal(size=200), RNG.normal(size=200)
    display = RulesDisplay.from_estimator(numbers_list(), X[:, :2], y, teacher=taught)
    rows = X[:, 1] > 0.5
    caught = rows & ~(X[:, 0] > 0.5)
    line = display.lines[1]
    assert line.spread == pytest.approx(np.std(y[caught]))
    for found, some in ((line.agreement, rows), (line.agreement_caught, caught)):
        mse = np.mean((taught[some] - 1.0) ** 2)
        assert found == pytest.approx(1 - mse / np.var(taught))
    assert math.isnan(line.precision)


def test_the_estimators_ensemble_is_the_teacher():
    from sklearn.ensemble import RandomForestClassifier

    y = np.where(X[:, 0] > 0.5, "b", "a")
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    fitted = RuleListClassifier(forest, n_rules=2, tune=None, random_state=0)
    fitted.fit(X, y)
    on_rows = RulesDisplay.from_estimator(fitted, X, y).lines
    trained = RulesDisplay.from_estimator(fitted).lines
    for here, there in zip(on_rows, trained):
        for name in ("caught", "matching", "agreement", "agreement_caught"):
            assert getattr(here, name) == pytest.approx(getattr(there, name))
        assert here.precision == pytest.approx(there.precision)


def test_without_a_teacher_there_is_no_agreement():
    display = RulesDisplay.from_estimator(boxes_list(), X).plot()
    assert list(display.panels_) == ["rows"]
    assert all(math.isnan(line.agreement_caught) for line in display.lines)


def test_rules_that_catch_no_row_have_no_scores():
    rows = np.zeros((4, 3))
    display = RulesDisplay.from_estimator(boxes_list(), rows, teacher=["a"] * 4)
    assert [line.caught for line in display.lines] == [0.0, 0.0, 1.0]
    assert math.isnan(display.lines[0].agreement)
    display.plot().figure_.canvas.draw()


def test_bars_are_as_long_as_the_shares():
    display = RulesDisplay.from_estimator(numbers_list()).plot()
    assert display.plot() is display
    assert display.ax_.figure is display.figure_
    bars = display.panels_["rows"].patches
    widths = [bar.get_width() for bar in bars]
    assert widths == [0.4, 0.2, 0.4, 0.4, 0.5, 0.4]
    high = display.panels_["rows"].get_xlim()[1]
    assert high >= 0.5


def test_values_stand_on_one_axis_with_their_spread():
    panel = RulesDisplay.from_estimator(numbers_list()).plot().panels_["value"]
    assert panel.lines[0].get_xdata().tolist() == [3.0, 1.0, 2.0]
    spreads = [
        path.vertices[:, 0].tolist() for path in panel.collections[0].get_paths()
    ]
    assert spreads == [[2.5, 3.5], [0.75, 1.25], [1.9, 2.1]]
    low, high = panel.get_xlim()
    assert low < 0.75 < 3.5 < high
    hexed = matplotlib.colors.to_hex
    inks = [
        *(line.get_color() for line in panel.lines),
        panel.collections[0].get_colors()[0],
    ]
    # Marks of the legend look like what they stand for; those of rows come first.
    told = [mark.get_color() for mark in panel.figure.axes[0].lines[2:]]
    assert {*map(hexed, told)} == {*map(hexed, inks)}


def test_dots_stand_where_the_agreement_is_and_point_out_of_the_scale():
    panel = RulesDisplay.from_estimator(numbers_list()).plot().panels_["agreement"]
    marks = {}
    for line in panel.lines:
        filled = line.get_markerfacecolor() != "none"
        marks.setdefault((line.get_marker(), filled), []).extend(line.get_xdata())
    assert marks["o", True] == [0.8, 0.6, 0.9]
    assert marks["o", False] == [0.8, 0.9]
    # The agreement of -1.5 is below the scale.
    assert marks["<", False] == [0.0]


def test_a_sum_shows_what_is_added_on_both_sides_of_zero():
    display = RulesDisplay.from_estimator(values_sum()).plot()
    assert [line.number for line in display.lines] == [None, 1, 2]
    assert [line.says for line in display.lines] == ["20", "- 8", "+ 2"]
    assert [line.matching for line in display.lines] == [1.0, 0.3, 0.6]
    bars = display.panels_["adds"].patches
    # The constant is told, not drawn.
    assert [bar.get_width() for bar in bars] == [0.0, -8.0, 2.0]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts.count("always") == 1 and "otherwise" not in texts


def test_shares_of_a_sum_on_rows_overlap():
    lines = RulesDisplay.from_estimator(values_sum(), X[:, :2]).lines
    expected = [1.0, np.mean(X[:, 0] > 0.5), np.mean(X[:, 1] > 0.5)]
    assert [line.matching for line in lines] == pytest.approx(expected)
    assert [line.caught for line in lines] == pytest.approx(expected)


def test_two_classes_of_a_sum_are_bars_more_are_fields():
    two = scores_sum(2)
    panel = RulesDisplay.from_estimator(two).plot().panels_["adds"]
    scores = [rule.scores[1] for rule in (two.otherwise, *two.rules)]
    assert [bar.get_width() for bar in panel.patches] == scores
    three = scores_sum(3)
    panel = RulesDisplay.from_estimator(three).plot().panels_["adds"]
    fields = [image.get_array().tolist()[0] for image in panel.images]
    assert fields == [list(rule.scores) for rule in (three.otherwise, *three.rules)]
    assert panel.get_xlim() == (0, 3)


def test_a_line_without_weight_has_no_bar():
    rules = RuleAverage(
        (Rule((Interval(0, low=0.5),), 3.0, weight=0.5),),
        Rule((), 1.0, weight=0.0), FeatureSpace.numeric(1),
    )  # fmt: skip
    panel = RulesDisplay.from_estimator(rules).plot().panels_["weight"]
    assert [bar.get_width() for bar in panel.patches] == [0.5, 0.0]


def test_the_scale_of_agreements_begins_where_all_are_above_it():
    rules = numbers_list()
    better = replace(rules.rules[1], agreement=0.55)
    rules = replace(rules, rules=(rules.rules[0], better))
    panel = RulesDisplay.from_estimator(rules).plot().panels_["agreement"]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["0.5", "1"]
    ticks = [path.vertices[0, 0] for path in panel.collections[0].get_paths()]
    assert ticks == [0.5, 0.75, 1.0]
    dots = [x for line in panel.lines for x in line.get_xdata()]
    assert sorted(dots) == [0.55, 0.6, 0.8, 0.8, 0.9, 0.9]
    assert all(m.get_marker() != "<" or not len(m.get_xdata()) for m in panel.lines)


def text_boxes(display):
    """Boxes of all texts in pixels, after drawing."""
    display.figure_.canvas.draw()
    texts = [text for text in display.ax_.texts if text.get_text()]
    if (legend := display.ax_.get_legend()) is not None:
        texts += legend.get_texts()
    for panel in display.panels_.values():
        low, high = panel.get_xlim()
        texts += [
            t for t in panel.get_xticklabels() if low <= t.get_position()[0] <= high
        ]
    return [text.get_window_extent() for text in texts]


def overlap(one, other):
    # Touching is none: two pixels are allowed for the leading.
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    down = min(one.y1, other.y1) - max(one.y0, other.y0)
    return across > 0.5 and down > 2.0


CASES = {
    "one rule": awkward_list(1, 2),
    "ten classes": awkward_list(9),
    "thirty rules": awkward_list(30),
    "numbers": numbers_list(),
    "sum": values_sum(),
    "sum of two classes": scores_sum(2),
    "sum of ten classes": scores_sum(10),
}


@pytest.mark.parametrize("case", CASES)
def test_no_text_is_cut_off_or_runs_into_another(case):
    display = RulesDisplay.from_estimator(CASES[case]).plot()
    boxes = text_boxes(display)
    page = display.figure_.bbox
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= page.x1 and box.y1 <= page.y1
    assert not any(overlap(*pair) for pair in itertools.combinations(boxes, 2))
    bars = [panel.get_window_extent() for panel in display.panels_.values()]
    texts = [text.get_window_extent() for text in display.ax_.texts]
    assert not any(overlap(bar, text) for bar in bars for text in texts)
    lines = [c.get_paths() for c in display.ax_.collections]
    across = [path.vertices[0] for paths in lines for path in paths]
    for _, y in display.ax_.transData.transform(across):
        assert not any(t.y0 + 2 < y < t.y1 - 2 for t in texts)
    assert {text.get_rotation() for text in display.ax_.texts} <= {0.0, 90.0}
    # What stands in the legend for a mark is one, before its words.
    scale = display.figure_.dpi / 72
    for line in display.ax_.lines:
        (x, y), half = line.get_transform().transform(line.get_xydata()[0]), 0.5 * scale
        left, right = (x + s * half * line.get_markersize() for s in (-1, 1))
        assert left >= 0
        assert not any(t.y0 < y < t.y1 and t.x0 < right and left < t.x1 for t in texts)


@pytest.mark.parametrize("size", [(10, 4), (4, 3)])
def test_the_letters_shrink_to_the_axes_they_are_given(size):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=size, layout="constrained")
    display = RulesDisplay.from_estimator(awkward_list(6)).plot(axes[1])
    assert display.ax_ is axes[1] and display.figure_ is figure
    boxes = text_boxes(display)
    place = axes[1].get_window_extent()
    for box in boxes:
        assert box.x0 >= place.x0 - 2 and box.x1 <= place.x1 + 2
        assert box.y0 >= place.y0 - 2 and box.y1 <= place.y1 + 2
    assert not any(overlap(*pair) for pair in itertools.combinations(boxes, 2))


def test_all_of_a_long_condition_is_printed():
    rules = awkward_list(9)
    display = RulesDisplay.from_estimator(rules).plot()
    printed = "".join(text.get_text() for text in display.ax_.texts)
    printed = printed.replace(" ", "").replace(r"\$", "$")
    assert LONG.replace(" ", "") in printed
    assert UNBROKEN in printed
    for rule in rules.rules:
        assert rule.text(rules.features).replace(" ", "") in printed


def test_nothing_is_shown_on_a_screen(monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda *a, **k: pytest.fail("shown"))
    RulesDisplay.from_estimator(numbers_list()).plot()


def test_wrapping_keeps_pieces_together_and_loses_nothing():
    pieces = ["age <= 20 and", "a longer condition than fits", "x" * 30]
    for width in (6, 12, 20, 100):
        lines = wrapped(pieces, width, len)
        assert all(len(line) <= width for line in lines)
        joined = "".join(lines).replace(" ", "")
        assert joined == "".join(pieces).replace(" ", "")
    assert wrapped(["ab cd", "ef gh"], 8, len) == ["ab cd", "ef gh"]
    assert wrapped([""], 5, len) == [""]


@pytest.mark.parametrize(
    ("estimator", "arguments"),
    [
        ("rules", {}),
        (RuleListClassifier(), {}),
        (boxes_list(), {"y": ["a"]}),
        (boxes_list(), {"X": np.zeros((0, 3))}),
        (boxes_list(), {"X": X, "y": ["a"]}),
        (boxes_list(), {"X": X, "teacher": ["a"]}),
    ],
)
def test_bad_input_is_refused(estimator, arguments):
    with refuses(InputError):
        RulesDisplay.from_estimator(estimator, **arguments)
