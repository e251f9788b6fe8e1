import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sbfc.reading.cases import many, stand_in
from tests.wording import same_text

from clearwood.sbfc.reading.feature_graph import (
    MOST_SHOWN,
    average_graph,
    spanning_forest,
)
from clearwood.sbfc.reading.graph_layout import WIDEST, lay_out_graph


def letters(size):
    return lambda text: 0.6 * size * len(text)


@st.composite
def graphs(draw):
    d = draw(st.integers(1, 14))
    names = draw(st.lists(st.text(max_size=40), min_size=d, max_size=d, unique=True))
    pairs = [(i, j) for i in range(d) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    p = st.floats(0, 1)
    edges = {pair: draw(p) for pair in chosen}
    signal = draw(st.lists(p, min_size=d, max_size=d))
    return average_graph(stand_in(names, signal, edges), 0.1)


@pytest.mark.parametrize("size", [6.0, 10.0, 14.0])
def test_names_are_parted_only_where_they_are_wider_than_a_box(size):
    names = ["pH", "two words", "a name of many more words than fit", "age_in_years"]
    graph = average_graph(stand_in(names, [0.9] * 4, {}), 0.1)
    graph = graph._replace(with_numbers=False)
    boxes = lay_out_graph(graph, 2000.0, size, letters).boxes
    lines = {box.feature: box.lines for box in boxes}
    measure, widest = letters(size), WIDEST * size
    for j, name in enumerate(names):
        assert "".join(lines[j]).replace(" ", "") == name.replace(" ", "")
        assert all(measure(line) <= widest for line in lines[j])
        assert (len(lines[j]) == 1) == (measure(name) <= widest)


@given(graphs(), st.floats(120, 900), st.floats(6, 14), st.booleans())
@settings(max_examples=30, deadline=None)
def test_boxes_do_not_touch_and_curves_join_them(graph, width, size, with_numbers):
    graph = graph._replace(with_numbers=with_numbers)
    place = lay_out_graph(graph, width, size, letters)
    boxes = {box.feature: box for box in place.boxes}
    assert sorted(boxes) == sorted(graph.shown)
    assert len(place.boxes) == len(boxes)
    for box in place.boxes:
        assert box.x - box.width / 2 >= -1e-6
        assert box.x + box.width / 2 <= place.width + 1e-6
        assert box.y - box.height / 2 >= -1e-6
        assert box.y + box.height / 2 <= place.height + 1e-6
        for other in place.boxes:
            wide = (box.width + other.width) / 2 - abs(box.x - other.x)
            high = (box.height + other.height) / 2 - abs(box.y - other.y)
            assert box is other or wide < 1e-6 or high < 1e-6
    assert [link[:3] for link in place.links] == [tuple(edge) for edge in graph.edges]
    for link in place.links:
        ends = {link.first, link.second}
        for x, y in (link.points[0], link.points[-1]):
            at = [
                j
                for j in ends
                if abs(y - boxes[j].y) < 1e-6
                and abs(abs(x - boxes[j].x) - boxes[j].width / 2) < 1e-6
            ]
            assert at
            ends -= {at[0]}
        assert link.points[1][0] >= link.points[0][0]  # to the right of the first box


def test_what_matters_is_shown_and_the_rest_is_counted():
    graph = average_graph(many(), 0.1)
    edges = {(e.first, e.second): e.probability for e in graph.edges}
    assert edges.keys() >= {(0, 1), (1, 2)}
    assert not edges.keys() & {(3, 4), (4, 3)}
    cluster = set(range(90, 96))
    assert cluster <= set(graph.shown)
    assert not cluster & graph.named
    assert graph.named == set(np.flatnonzero(graph.signal >= 0.1).tolist())
    hidden = 100 - len(graph.shown)
    most = max(p for j, p in enumerate(graph.signal) if j not in graph.shown)
    same_text(graph.notes)
    assert any(f"{hidden} " in note for note in graph.notes)
    assert any(f"{round(most, 3):g}" in note for note in graph.notes)


def test_few_features_are_all_named():
    graph = average_graph(stand_in("abc", [0.9, 0.0, 0.0], {}), 0.1)
    assert graph.named == {0, 1, 2}
    assert graph.shown == (0, 1, 2)


def test_no_more_than_can_be_read():
    d = 400
    edges = {(j, j + 1): 0.5 for j in range(d - 1)}
    graph = average_graph(stand_in([f"f{j}" for j in range(d)], np.ones(d), edges), 0.1)
    assert len(graph.shown) == MOST_SHOWN
    assert {j for e in graph.edges for j in e[:2]} <= set(graph.shown)
    same_text(graph.notes)
    # A chain of 150 is rooted in its middle: half as many columns.
    place = lay_out_graph(graph, 800.0, 9.0, letters)
    assert len({round(box.x - box.width / 2, 6) for box in place.boxes}) == 76


def test_a_picture_is_held_together_by_its_most_probable_edges():
    edges = {(0, 1): 0.9, (1, 2): 0.2, (0, 2): 0.8}
    graph = average_graph(stand_in("abc", [1, 1, 1], edges), 0.1)
    tree, forest = spanning_forest(graph)
    kept = {tuple(sorted(pair)) for pair in zip(forest.row, forest.col)}
    assert kept == {(0, 1), (0, 2)}
    assert len(set(tree)) == 1


@pytest.mark.parametrize("name", ["max_heart_rate", "a_ b", "__", " ", "x" * 300])
def test_names_are_written_as_they_are_or_cut(name):
    graph = average_graph(stand_in([name], [1.0], {}), 0.1)
    graph = graph._replace(with_numbers=False)
    (box,) = lay_out_graph(graph, 800, 10.0, letters).boxes
    shown = "".join(box.lines)
    if shown.endswith("…"):
        assert name.startswith(shown[:-1])
        assert len(box.lines) == 3
    else:
        assert shown.replace(" ", "") == name.replace(" ", "")
