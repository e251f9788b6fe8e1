"""Charts: both writers show the same marks between the same ends."""

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import dots, elements, lines, texts

from clearwood._words.labels import printable
from clearwood.charts.chart import Axis, Chart, Panel, draw, svg
from clearwood.charts.marks import SHAPES, Area, Key, Level, Note, Points, Span

matplotlib.use("agg")
X = [0.0, 1.0, 2.0, 4.0]


def one(*marks, x=None, y=None, **look):
    return Chart("title", [Panel(marks, x or Axis(), y or Axis(), **look)])


NUMBERS = [[3, 1, 2, -5], [1e-9, 2e-9, 5e-9, 0], [1e300, 0, 9, -1e300]]


@pytest.mark.parametrize("y", NUMBERS)
@pytest.mark.parametrize("ends", [(None, None), (5.0, -6.0)])
def test_both_writers_put_points_at_the_same_shares(y, ends):
    chart = one(Points(X, y, dots=4.0), y=Axis("up", *ends))
    (ax,) = draw(chart)
    (points,) = lines(svg(chart, "c"))
    at = dots(svg(chart, "c"))
    low, high = ax.get_ylim()
    expected = np.clip((np.array(y) / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
    np.testing.assert_allclose((180 - points[:, 1]) / 150, expected, atol=1e-3)
    left, right = points[0, 0], points[-1, 0]
    np.testing.assert_allclose((points[:, 0] - left) / (right - left) * 4, X, atol=0.01)
    np.testing.assert_array_equal(at, points)
    matplotlib.pyplot.close("all")


def test_axes_are_logarithmic_where_numbers_differ_very_much():
    for most, is_log in ((4.0, False), (1000.0, True)):
        chart = one(Points([1.0, most], [0, 1]), x=Axis("n", is_log=None))
        (ax,) = draw(chart)
        assert (ax.get_xscale() == "log") == is_log
        assert ("10" in texts(svg(chart, "c"))) == is_log
    matplotlib.pyplot.close("all")


def test_lines_are_broken_where_a_number_is_missing_and_thinned_where_there_are_many():
    y = [1.0, 2.0, np.nan, 3.0, 4.0, np.inf, 5.0]
    parts = lines(svg(one(Points(range(7), y)), "c"))
    assert [len(part) for part in parts] == [2, 2]
    (many,) = lines(svg(one(Points(range(9000), np.arange(9000.0))), "c"))
    assert len(many) == 720
    (steps,) = lines(svg(one(Points([0, 1, 2], [2, 1, 0], steps=True)), "c"))
    assert len(steps) == 5 and steps[0, 1] == steps[1, 1] and steps[1, 0] == steps[2, 0]


def test_every_mark_is_drawn_by_both():
    marks = [
        Area(X, [0, 0, 0, 0], [1, 2, 3, 4], label="band"),
        Level(1.5, "y", "level"),
        Level(2.0, "x", "chosen"),
        Note(1.0, 2.0, "beside", (4.0, 2.0)),
        *(Points(X, X, "second", shape, "", 6.0, shape) for shape in SHAPES),
    ]
    drawn = svg(one(*marks), "c", "words")
    assert {"level", "chosen", "beside"} <= set(texts(drawn))
    assert len(elements(drawn, "polygon")) == 1
    assert len(elements(drawn, "path", "dot")) == 4 * (len(SHAPES) - 1)
    assert len(dots(drawn)) == 4
    # The name of an upright rule stands above the panel and below what goes up.
    assert texts(drawn)["chosen"][1] < 48
    (ax,) = draw(one(*marks))
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["band", "level", "chosen", *SHAPES]
    ax.figure.canvas.draw()
    matplotlib.pyplot.close("all")


def test_categories_stand_at_their_ticks_and_long_ones_are_cut():
    names = [(0.0, "short"), (1.0, "a name that is very much longer " * 3)]
    axis = Axis("", 1.5, -0.5, ticks=names)
    chart = one(Points([0, 1], [0, 1], look="", dots=4.0), y=axis)
    said = texts(svg(chart, "c"))
    cut = next(words for words in said if words.endswith("…"))
    heights = dots(svg(chart, "c"))[:, 1]
    assert [said["short"][1] - 4, said[cut][1] - 4] == pytest.approx(heights)
    # From the top to the bottom.
    assert heights[0] < heights[1]
    (ax,) = draw(chart)
    assert [t.get_text() for t in ax.get_yticklabels()] == [name for _, name in names]
    matplotlib.pyplot.close("all")


def test_panels_share_what_goes_across():
    across = Axis("steps", is_whole=True)
    panels = [
        Panel([Points([k, k + 3], [0, 1])], across, Axis(f"p{k}")) for k in (1, 5)
    ]
    above, below = draw(Chart("title", panels))
    assert above.get_xlim() == below.get_xlim()
    first, second = lines(svg(Chart("title", panels), "c"))
    assert first[0, 0] < first[1, 0] < second[0, 0] + 1 and first[0, 1] < second[1, 1]
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_tag_of_a_hostile_name_survives(name):
    def page(name):
        note = Note(0.0, 0.0, printable(name))
        marks = Level(0.5, "y", name), Level(0.5, "x", name), note
        axes = Axis(name), Axis(name, ticks=[(0.0, name)])
        return svg(Chart(name, [Panel(marks, *axes)]), "c", name)

    assert tags_of(page(name)) == tags_of(page("harmless"))


def test_without_marks_that_say_how_far_axes_have_ends():
    for y in ([np.nan], [3.0], [np.inf, 3.0], [1e308, -1e308]):
        drawn = svg(one(Points(range(len(y)), y, dots=3.0)), "c")
        assert "nan" not in drawn and "inf" not in drawn


def test_a_band_stands_between_its_ends():
    chart = one(Span(1.0, 3.0, "quiet", "grey"), x=Axis("across", 0.0, 4.0))
    (band,) = elements(svg(chart, "c"), "rect", "quiet")
    (line,) = lines(svg(one(Points([1, 3], [0, 1]), x=Axis("across", 0.0, 4.0)), "c"))
    left, width = float(band.get("x")), float(band.get("width"))
    # Pixels have one decimal.
    np.testing.assert_allclose([left, left + width], line[:, 0], atol=0.11)


def test_an_entry_of_the_legend_alone_draws_nothing():
    figure, ax = matplotlib.pyplot.subplots()
    ax.set(xlim=(-1, 2), ylim=(-1, 2))
    figure.canvas.draw()
    before = np.asarray(figure.canvas.buffer_rgba()).copy()
    Key("a colour", "first", "red").draw(ax)
    figure.canvas.draw()
    changed = (np.asarray(figure.canvas.buffer_rgba()) != before).any(axis=2)
    assert changed.sum() < 9  # pixels of the stroke of a rectangle without an area
    assert ax.get_legend_handles_labels()[1] == ["a colour"]
    matplotlib.pyplot.close(figure)
