from collections import Counter

import matplotlib
import numpy as np
import pytest
from tests.metatree.reading.cases import Reader, cart, many_values, values
from tests.rules.displays.samples import LONG, UNBROKEN

from clearwood._words.numbers import probability_text
from clearwood.exceptions import InputError
from clearwood.metatree import BernoulliBeta, MetaTree, MetaTreeDisplay, given
from clearwood.metatree.estimators import MetaTreeClassifier
from clearwood.metatree.reading.annotated_tree import shown_nodes
from clearwood.metatree.reading.display_layout import PALE, SURE, VALUE
from clearwood.rules import FeatureSpace

matplotlib.use("agg")
import matplotlib.pyplot as plt
from tests.wording import refuses, same_text


def awkward():
    n = 4
    names = (LONG, UNBROKEN, "price in $", "$x^$_")
    structure = given([0, 1, 2, 3, 3], n_values=2, n_features=n,
                      features=FeatureSpace(names, (None,) * n))  # fmt: skip
    tree = MetaTree(structure, BernoulliBeta(), 0.95)
    rows = np.random.default_rng(0).integers(0, 2, (300, n))
    tree.update(rows, (rows[:, 0] + rows[:, 1] + rows[:, 2] + rows[:, 3]) % 2)
    reader = Reader(tree, ["$a$ " + LONG, UNBROKEN])
    reader.target_name = LONG
    return reader


READERS = {
    "cart": lambda: Reader(*cart()[::2]),
    "values": lambda: Reader(values()[0]),
    "stopped": lambda: Reader(*many_values()[::2]),
    "awkward": awkward,
}


@pytest.fixture(params=READERS)
def display(request):
    return MetaTreeDisplay.from_estimator(READERS[request.param]())


def texts(ax):
    return [text.get_text() for text in ax.texts]


def lines_from_side_to_side(display):
    """Their heights in pixels."""
    heights = [path.vertices[0] for path in display.ax_.collections[0].get_paths()]
    return display.ax_.transData.transform(heights)[:, 1]


def test_every_node_is_drawn_and_nothing_lies_outside(display):
    display.figure_.draw_without_rendering()
    nodes = shown_nodes(display.tree)
    markers = [line for line in display.ax_.lines if line.get_marker() in ("o", "s")]
    dots = 0 if display.tree.classes else len(nodes)
    assert len(markers) == len(nodes) + dots
    asks = sum(node.feature is not None for node, _ in nodes)
    assert sum(line.get_marker() == "s" for line in markers) == asks
    figure = display.figure_.bbox
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert figure.x0 <= box.x0
        assert box.x1 <= figure.x1 + 1
        assert figure.y0 <= box.y0
        assert box.y1 <= figure.y1


def test_every_node_is_linked_to_its_parent(display):
    ends = [
        (line.get_xdata(), line.get_ydata())
        for line in display.ax_.lines
        if len(line.get_xdata()) == 3
    ]
    assert len(ends) == len(shown_nodes(display.tree)) - 1
    marks = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in display.ax_.lines
        if line.get_marker() in ("o", "s")
    }
    for x, y in ends:
        assert (float(x[0]), float(y[0])) in marks
        assert (float(x[-1]), float(y[-1])) in marks


def test_every_node_tells_how_probable_it_is_as_a_leaf(display):
    told = Counter(texts(display.ax_))
    nodes = [node for node, _ in shown_nodes(display.tree) if not node.stopped]
    wanted = Counter(probability_text(node.leaf) for node in nodes)
    assert nodes and not wanted - told


def test_texts_do_not_cover_each_other(display):
    display.figure_.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    for i, a in enumerate(boxes):
        for j in range(i):
            b = boxes[j]
            wide = min(a.x1, b.x1) - max(a.x0, b.x0)
            high = min(a.y1, b.y1) - max(a.y0, b.y0)
            # Boxes have some white around letters.
            assert wide < 2 or high < 5, (texts(display.ax_)[i], texts(display.ax_)[j])
    top, bottom = lines_from_side_to_side(display)
    for y in (top, bottom):
        assert not any(box.y0 + 2 < y < box.y1 - 2 for box in boxes)
    # Heads stand above the first line, nodes between both.
    above = [text for text, box in zip(texts(display.ax_), boxes) if box.y0 > top - 2]
    same_text(above[0])
    same_text(above[-1])
    assert len(above) == 4


def test_bars_are_as_long_as_the_probabilities():
    display = MetaTreeDisplay.from_estimator(READERS["stopped"]())
    nodes = [node for node, _ in shown_nodes(display.tree) if not node.stopped]
    units = []
    for ink, told in (
        (SURE, [n.leaf for n in nodes]),
        (PALE, [n.reach for n in nodes]),
    ):
        ink = matplotlib.colors.to_rgba(ink)
        bars = [p for p in display.ax_.patches if p.get_facecolor() == ink]
        widths = np.array([bar.get_width() for bar in bars])[: len(told)]
        assert np.ptp(told) > 0.4
        units.append(widths.max() / max(told))
        assert widths == pytest.approx(units[-1] * np.array(told))
    assert units[0] == pytest.approx(units[1])


def test_values_stand_on_one_axis_with_their_spread():
    display = MetaTreeDisplay.from_estimator(READERS["values"]())
    rules = [node.rule for node, _ in shown_nodes(display.tree)]
    dots = [
        line.get_xdata()[0]
        for line in display.ax_.lines
        if line.get_marker() == "o" and line.get_color() == VALUE
    ]
    ends = [p.vertices[:, 0] for c in display.ax_.collections for p in c.get_paths()]
    # Behind the two lines from side to side: an axis and a band for each node.
    axes, bands = ends[2::2], ends[3::2]
    (left, right), *others = axes
    assert all(other.tolist() == [left, right] for other in others)
    low = min(rule.prediction - rule.std for rule in rules)
    high = max(rule.prediction + rule.std for rule in rules)
    unit = (right - left) / (high - low)
    for rule, dot, band in zip(rules, dots, bands, strict=True):
        at = left + unit * (rule.prediction - low)
        assert dot == pytest.approx(at)
        wide = unit * rule.std
        assert band == pytest.approx([at - wide, at + wide])


def test_letters_shrink_to_fit_given_axes():
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.5), layout="constrained")
    for ax, name in zip(axes, ("awkward", "values")):
        display = MetaTreeDisplay.from_estimator(READERS[name](), ax=ax)
        assert display.ax_ is ax
        figure.draw_without_rendering()
        box = ax.get_window_extent()
        for text in ax.texts:
            placed = text.get_window_extent()
            assert box.x0 - 2 <= placed.x0
            assert placed.x1 <= box.x1 + 2
            assert box.y0 - 2 <= placed.y0


def test_other_things_are_refused():
    for other in (MetaTreeClassifier(), 3):
        with refuses(InputError, match="map_tree_"):
            MetaTreeDisplay.from_estimator(other)
