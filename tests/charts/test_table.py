"""Tables in pictures: where a legend's entries stand."""

import itertools
from typing import NamedTuple

import pytest

from clearwood.charts.table import MARK, legend_of, measures, opened

NAMES = ["short", "two words", "a name of some more words", "b", "end of the line"]


@pytest.mark.parametrize("width", [80.0, 150.0, 300.0, 2000.0])
def test_entries_stand_side_by_side_while_there_is_room(width):
    size = 10.0
    *_, measure = measures(size)
    found = legend_of([(name, {"look": name}) for name in NAMES], 7.0, width, size)
    assert [look["look"] for *_, look in found.marks] == NAMES
    assert found.marks[0][:2] == (0.0, 7.0)
    lines = [
        [mark for mark in found.marks if mark[1] == y]
        for y in sorted({y for _, y, _ in found.marks})
    ]
    for line, following in itertools.pairwise([*lines, []]):
        ends = [x + MARK * size + measure(look["look"]) for x, _, look in line]
        assert line[0][0] == 0.0
        if len(line) > 1:
            assert ends[-1] <= width
        assert all(end < x for end, (x, *_) in zip(ends, line[1:]))
        if following:
            first = MARK * size + measure(following[0][2]["look"])
            assert ends[-1] + first > width - 2 * size
    assert found.end >= max(text.y for text in found.texts)
    words = " ".join(text.text for text in found.texts)
    assert words == " ".join(NAMES)


def test_an_entry_that_is_too_long_takes_several_lines():
    found = legend_of([("many words " * 9, {}), ("b", {})], 0.0, 120.0, 10.0)
    *_, measure = measures(10.0)
    assert all(text.x + measure(text.text) <= 120.0 for text in found.texts)
    last = found.texts[-1]
    assert last.text == "b" and last.y > max(text.y for text in found.texts[:-1])


def test_a_table_fills_the_width_of_a_new_figure():
    plt = pytest.importorskip("matplotlib.pyplot")

    class Laid(NamedTuple):
        width: float
        height: float

    ax, table = opened(None, lambda width, size: Laid(width, 100.0))
    inner = ax.get_window_extent().width * 72 / ax.figure.dpi
    assert table.width == pytest.approx(inner)
    assert ax.get_xlim() == (0.0, table.width)
    plt.close(ax.figure)
