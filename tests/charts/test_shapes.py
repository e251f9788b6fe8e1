"""Drawings without axes: both writers put the same things at the same places."""

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import elements, texts

from clearwood._words.labels import printable
from clearwood.charts.chart import draw, svg
from clearwood.charts.shapes import Disc, Shape, TextLine, box, drawing

matplotlib.use("agg")

MARKS = [
    Shape(
        [[(0, 0), (40, 90), (200, 0)]],
        "arrow",
        "grey",
        3.0,
        is_bent=True,
        says="to and fro",
    ),  # fmt: skip
    Shape([box(10, 20, 30, 40), box(60, 20, 10, 10)], "bars", "blue"),
    Disc(100.0, 50.0, 8.0, "state", "red", says="often"),
    TextLine(100.0, 80.0, "a name", "panel halo"),
]


def test_places_are_pixels_of_the_page():
    drawn = svg(drawing("two states", MARKS, 200.0, 100.0, "few of many"), "graph")
    assert 'viewBox="0 0 200 100"' in drawn
    curve, bars = elements(drawn, "path")
    assert curve.get("d") == "M0.0 0.0Q40.0 90.0 200.0 0.0"
    assert bars.get("d").count("Z") == 2 and curve[0].text == "to and fro"
    (disc,) = elements(drawn, "circle")
    assert [float(disc.get(key)) for key in ("cx", "cy", "r")] == [100.0, 50.0, 8.0]
    assert texts(drawn).keys() == {"few of many", "a name"}
    assert elements(drawn, "line") == []


@pytest.mark.parametrize("width", [2.0, 5.0])
def test_all_grows_with_the_axes_of_matplotlib(width):
    _, ax = matplotlib.pyplot.subplots(figsize=(width, width))
    (found,) = draw(drawing("two states", MARKS, 200.0, 100.0), ax)
    assert found is ax and ax.get_xlim() == (0, 200) and ax.get_ylim() == (100, 0)
    ax.figure.canvas.draw()
    curve, bars, disc = ax.patches
    np.testing.assert_allclose(bars.get_path().get_extents().bounds, (10, 20, 60, 40))
    points = ax.get_window_extent().width / 200 * 72 / ax.figure.dpi
    assert curve.get_linewidth() == pytest.approx(3.0 * points, rel=0.01)
    assert ax.texts[0].get_fontsize() == pytest.approx(9.0 * points, rel=0.01)
    assert disc.center == (100.0, 50.0) and disc.radius == 8.0
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_tag_of_a_hostile_name_survives(name):
    def page(name):
        shape = Shape([[(0, 0), (1, 1)]], "line", "red", 1.0, says=name)
        text = TextLine(0.0, 0.0, printable(name))
        return svg(drawing(name, [shape, Disc(0, 0, 1, "", "red", says=name), text],
                           9.0, 9.0, name), "c")  # fmt: skip

    assert tags_of(page(name)) == tags_of(page("harmless"))
