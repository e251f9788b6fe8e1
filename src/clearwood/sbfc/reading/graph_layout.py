"""Layout of the features of a picture: trees from left to right."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import probability_text
from clearwood.charts.style import wrapped
from clearwood.sbfc.reading.feature_graph import FeatureGraph, spanning_forest

Measure = Callable[[str], float]
"""Width of a text."""

WIDEST, MOST_LINES = 11.0, 3
"""Of a name, over the size of letters; what is longer is cut."""

LEADING, PAD, DOT = 1.25, 0.55, 0.9
"""Over the size of letters: height of a line, white around a text, side of a feature
without a name."""

ACROSS, DOWN, BETWEEN = 2.6, 0.7, 1.8
"""White between a feature and its children, between children, between trees."""

MARK = "\0"
"""Stands in no name that is printed."""

SHRINK, SMALLEST = 0.95, 0.55
"""From one size of letters to the next, where a tree is too wide, and where to stop."""


class FeatureBox(NamedTuple):
    """A feature: its middle, its size, and what is written in it."""

    feature: int
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


class Link(NamedTuple):
    """An edge as a Bézier curve: its ends, and two points that it bends towards."""

    first: int
    second: int
    probability: float
    points: tuple[tuple[float, float], ...]


class GraphLayout(NamedTuple):
    """Where all things stand, from the upper left corner down."""

    size: float
    width: float
    height: float
    boxes: tuple[FeatureBox, ...]
    links: tuple[Link, ...]


def lay_out_graph(
    graph: FeatureGraph,
    width: float,
    size: float,
    measure_of: Callable[[float], Measure],
) -> GraphLayout:
    """Places of features and edges; letters shrink where a tree is wider than all.

    Parameters
    ----------
    graph : FeatureGraph
    width, size : float
        Of the picture and of its letters.
    measure_of : callable
        From a size of letters to what measures texts.
    """
    least = SMALLEST * size
    while True:
        sizes = _box_sizes(graph, size, measure_of(size))
        trees = _place_trees(graph, sizes, size)
        widest = max((tree.width for tree in trees), default=0.0)
        if widest <= width or size <= least:
            break
        size = max(size * SHRINK, least)
    boxes, height = _on_shelves(trees, max(width, widest), size)
    links = _links(graph, {box.feature: box for box in boxes}, size)
    return GraphLayout(size, max(width, widest), height, tuple(boxes), links)


# Boxes


def _box_sizes(
    graph: FeatureGraph, size: float, measure: Measure
) -> dict[int, tuple[float, float, tuple[str, ...]]]:
    """Width, height and lines of every feature."""
    found: dict[int, tuple[float, float, tuple[str, ...]]] = {}
    for j in graph.shown:
        if j not in graph.named:
            found[j] = DOT * size, DOT * size, ()
            continue
        lines = _name_lines(graph.names[j], WIDEST * size, measure)
        if graph.with_numbers:
            lines.append(probability_text(float(graph.signal[j])))
        wide = max(measure(line) for line in lines)
        high = LEADING * size * len(lines)
        found[j] = wide + 2 * PAD * size, high + PAD * size, tuple(lines)
    return found


def _name_lines(name: str, width: float, measure: Measure) -> list[str]:
    # A name may be parted behind an underscore, too; the mark stands for no letter.
    pieces = printable(name).replace("_", f"_{MARK} ").split(" ")
    found = wrapped(pieces, width, lambda text: measure(text.replace(MARK, "")))
    lines = [line.replace(f"{MARK} ", "").replace(MARK, "") for line in found]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][:-1] + "…"]
    return lines


# Trees


class _Tree(NamedTuple):
    boxes: list[FeatureBox]
    width: float
    height: float


def _place_trees(
    graph: FeatureGraph,
    sizes: dict[int, tuple[float, float, tuple[str, ...]]],
    size: float,
) -> list[_Tree]:
    """Every tree by itself, in the order of their most probable features."""
    tree, forest = spanning_forest(graph)
    neighbours: dict[int, list[int]] = {i: [] for i in range(len(graph.shown))}
    for i, k in zip(forest.row.tolist(), forest.col.tolist()):
        neighbours[i].append(k)
        neighbours[k].append(i)
    placed = []
    for number in dict.fromkeys(tree.tolist()):
        inside = np.flatnonzero(tree == number).tolist()
        children = _from_root(_middle_of(inside, neighbours), neighbours)
        placed.append(_place_tree(children, graph.shown, sizes, size))
    return placed


def _middle_of(inside: list[int], neighbours: dict[int, list[int]]) -> int:
    """The node from which the farthest one is nearest: leaves are taken off in turn."""
    left = {i: len(neighbours[i]) for i in inside}
    while len(left) > 2:
        leaves = [i for i, n in left.items() if n == 1]
        for i in leaves:
            del left[i]
            for k in neighbours[i]:
                if k in left:
                    left[k] -= 1
    return min(left)


def _from_root(root: int, neighbours: dict[int, list[int]]) -> dict[int, list[int]]:
    """Children of every node, parents before children."""
    children: dict[int, list[int]] = {root: list(neighbours[root])}
    waiting = list(children[root])
    above = dict.fromkeys(waiting, root)
    while waiting:
        node = waiting.pop()
        children[node] = [k for k in neighbours[node] if k != above[node]]
        above.update(dict.fromkeys(children[node], node))
        waiting += children[node]
    return children


def _place_tree(
    children: dict[int, list[int]],
    shown: tuple[int, ...],
    sizes: dict[int, tuple[float, float, tuple[str, ...]]],
    size: float,
) -> _Tree:
    """Columns by depth; leaves below each other, parents next to their children."""
    depth = {next(iter(children)): 0}
    for node, below in children.items():
        depth.update(dict.fromkeys(below, depth[node] + 1))
    wide = [0.0] * (max(depth.values()) + 1)
    for node, level in depth.items():
        wide[level] = max(wide[level], sizes[shown[node]][0])
    left = [sum(wide[:level]) + level * ACROSS * size for level in range(len(wide))]
    # Room of a node with all that is below it, from the leaves up.
    gap = DOWN * size
    room: dict[int, float] = {}
    for node in reversed(children):
        below = children[node]
        inner = sum(room[k] for k in below) + gap * max(len(below) - 1, 0)
        room[node] = max(inner, sizes[shown[node]][1])
    top = {next(iter(children)): 0.0}
    boxes = []
    for node, below in children.items():
        width, height, lines = sizes[shown[node]]
        y = top[node] + room[node] / 2
        x = left[depth[node]] + width / 2
        boxes.append(FeatureBox(shown[node], x, y, width, height, lines))
        inner = sum(room[k] for k in below) + gap * max(len(below) - 1, 0)
        under = y - inner / 2
        for k in below:
            top[k] = under
            under += room[k] + gap
    return _Tree(boxes, left[-1] + wide[-1], room[next(iter(children))])


def _on_shelves(
    trees: list[_Tree], width: float, size: float
) -> tuple[list[FeatureBox], float]:
    """Trees in rows; those of several features first, then features by themselves."""
    gap, boxes = BETWEEN * size, []
    x = y = high = 0.0
    for tree in sorted(trees, key=lambda tree: len(tree.boxes) == 1):
        if x > 0 and x + tree.width > width:
            x, y, high = 0.0, y + high + gap, 0.0
        boxes += [box._replace(x=box.x + x, y=box.y + y) for box in tree.boxes]
        x, high = x + tree.width + gap, max(high, tree.height)
    return boxes, y + high


# Edges


def _links(
    graph: FeatureGraph, boxes: dict[int, FeatureBox], size: float
) -> tuple[Link, ...]:
    found = []
    for first, second, p in graph.edges:
        a, b = sorted(
            (boxes[first], boxes[second]), key=lambda box: box.x - box.width / 2
        )
        start = (a.x + a.width / 2, a.y)
        if b.x - b.width / 2 > start[0]:
            end = (b.x - b.width / 2, b.y)
            bend = (end[0] - start[0]) / 2
            points = (start, (start[0] + bend, a.y), (end[0] - bend, b.y), end)
        else:  # one above the other
            end = (b.x + b.width / 2, b.y)
            out = max(start[0], end[0]) + 0.8 * ACROSS * size
            points = (start, (out, a.y), (out, b.y), end)
        found.append(Link(first, second, p, points))
    return tuple(found)
