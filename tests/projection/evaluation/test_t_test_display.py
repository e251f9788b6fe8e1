import matplotlib
import numpy as np
import pytest
from tests.wording import same_text

from clearwood import compare_methods
from clearwood.charts.style import COLOURS
from clearwood.projection import DifferenceDisplay

matplotlib.use("agg")

A, B = [0.9, 0.8, 0.95, 0.7, 0.8], [0.85, 0.82, 0.9, 0.75, 0.7]


def area(collection):
    (path,) = collection.get_paths()
    return path.to_polygons()[0]


def share(collection, total):
    x, y = area(collection).T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2 / total


@pytest.mark.parametrize("test", ["correlated", "paired", "two_groups"])
@pytest.mark.parametrize("greater", [True, False])
def test_areas_are_the_probabilities(test, greater):
    found = compare_methods(A, B, test=test, rope=0.02, greater_is_better=greater)
    display = DifferenceDisplay.from_comparison(found).plot()
    parts = display.ax_.collections
    total = sum(share(part, 1.0) for part in parts)
    shares = {part.get_label(): share(part, total) for part in parts}
    p = found.p_a_better, found.p_rope, found.p_b_better
    for words, known in zip(
        ("a is better", "difference of at most 0.02", "b is better"), p
    ):
        (seen,) = (v for label, v in shares.items() if label.startswith(words))
        # The picture leaves out the last half per cent.
        assert seen == pytest.approx(known, abs=0.01)
    # To the right a has more: that is better, or worse.
    right = parts[-1]
    assert right.get_label().startswith("a" if greater else "b")
    ink = matplotlib.colors.to_rgb(COLOURS[0 if greater else 1])
    assert tuple(right.get_facecolor()[0][:3]) == pytest.approx(ink)


def test_bar_dot_and_words_are_those_of_the_comparison():
    found = compare_methods(A, B, rope=0.02)
    ax = found.plot().ax_
    curve, bar, dot = ax.lines[:3]
    assert tuple(bar.get_xdata()) == found.hdi
    assert dot.get_xdata()[0] == found.difference
    assert curve.get_ydata().max() == 1.0
    same_text(ax.get_xlabel())
    ends = {float(line.get_xdata()[0]) for line in ax.lines[3:]}
    assert ends == {-0.02, 0.0, 0.02}


def test_areas_meet_at_the_ends_of_the_region():
    parts = compare_methods(A, B, rope=0.02).plot().ax_.collections
    left, middle, right = (area(part)[:, 0] for part in parts)
    assert left.max() == middle.min() == -0.02 and middle.max() == right.min() == 0.02


def test_no_region_no_area_unless_scores_are_equal():
    _, words = compare_methods(A, A).plot().ax_.get_legend_handles_labels()
    same_text([word.split(":")[0] for word in words])
    ax = compare_methods(A, B).plot().ax_
    assert len(ax.collections) == 2
    assert {float(line.get_xdata()[0]) for line in ax.lines[3:]} == {0.0}


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
def test_what_is_certain_or_far_away_can_be_drawn(unit):
    a, b = unit * np.array([5.0, 6.0, 7.5]), unit * np.array([0.1, 0.1, 0.1])
    for found in (
        compare_methods(a, b),
        compare_methods(b, b),
        compare_methods(b, 3 * b),
    ):
        _, ax = matplotlib.pyplot.subplots()
        display = found.plot(ax)
        assert display.ax_ is ax and display.figure_ is ax.figure
        display.figure_.canvas.draw()
