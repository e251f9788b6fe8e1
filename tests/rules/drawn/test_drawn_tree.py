"""The picture of a tree: what it counts, where things stand, and what it says."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from tests.charts.drawn import dots, elements
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood._html import render
from clearwood.charts.chart import svg
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.outcomes.effect import Effect
from clearwood.outcomes.quantile import Quantile
from clearwood.rules.conditions import CategorySet, Interval
from clearwood.rules.drawn.layout import (
    LETTER,
    ROWS,
    STRIP,
    STRIP_HEIGHT,
    THICK,
    WIDTH,
    lay_out,
)
from clearwood.rules.drawn.nodes import PREDICTED_DOTS, draw_tree
from clearwood.rules.drawn.page import summarize_tree
from clearwood.rules.drawn.strips import make_strip

FEATURES = cw.FeatureSpace(("age", "hue"), (None, ("red", "blue", "tan")))


@cache
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    tree = cw.DistilledTreeClassifier(forest, n_rules=5, n_synthetic=0, random_state=0)
    return tree.fit(X, y), X, y


@cache
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    tree = cw.DistilledTreeRegressor(forest, n_rules=4, n_synthetic=0, random_state=0)
    return tree.fit(X, y), X, y


def test_rows_of_leaves_are_those_that_the_tree_sends_there():
    tree, X, y = wine()
    drawn = draw_tree(tree, X, y)
    leaves = [node for node in drawn.nodes if node.rule is not None]
    counts = np.bincount(tree.tree_.apply(X), minlength=len(leaves))
    assert [leaf.rows for leaf in leaves] == counts.tolist()
    assert [leaf.rule for leaf in leaves] == list(tree.tree_.leaves)
    for node in drawn.nodes:
        if node.children:
            below = [drawn.nodes[child].rows for child in node.children]
            assert node.rows == sum(below)


def test_without_rows_training_rows_are_counted():
    tree, X, _ = wine()
    drawn = draw_tree(tree)
    assert drawn.n_rows == len(X)
    for node in drawn.nodes:
        if node.rule is not None:
            assert node.rows == node.rule.rows_assigned
        else:
            assert node.rows == sum(drawn.nodes[child].rows for child in node.children)


def test_bars_hold_all_rows_that_come_by_class():
    tree, X, y = wine()
    drawn = draw_tree(tree, X, y)
    root = drawn.nodes[drawn.root].conditions[0].strip
    assert np.sum([bar.rows for bar in root.bars], axis=0).tolist() == [59, 71, 48]


def test_bars_beside_a_cut_hold_the_rows_of_its_side():
    column = np.array([0.0, 1.0, 1.0, 2.0, 5.0, 9.0])
    known = np.array([0, 0, 1, 1, 1, 0])
    strip = make_strip(Interval(0, high=1.0), column, known, 2, FEATURES)
    below = [bar.rows for bar in strip.bars if bar.right <= strip.cuts[0] + 1e-9]
    assert np.sum(below, axis=0).tolist() == [2, 1]
    assert np.ptp([bar.right - bar.left for bar in strip.bars]) < 1e-9


def test_means_of_bars_are_of_their_rows():
    column, known = np.array([0.0, 0.0, 4.0]), np.array([1.0, 3.0, 7.0])
    strip = make_strip(Interval(0, high=2.0), column, known, 0, FEATURES)
    means = [bar.mean for bar in strip.bars if bar.rows[0]]
    assert means == [2.0, 7.0]


def test_categories_of_a_set_stand_before_the_cut():
    column, known = np.array([0.0, 1.0, 1.0, 2.0, np.nan]), np.array([0, 1, 1, 0, 0])
    strip = make_strip(CategorySet(1, (2,)), column, known, 2, FEATURES)
    assert [bar.rows for bar in strip.bars] == [(1, 0), (0, 2), (1, 0)]
    assert strip.cuts == (pytest.approx(1 / 3),)
    assert strip.ends == ("'tan'", "'red'")


@pytest.mark.parametrize("values", [[], [np.nan], [np.inf]])
def test_nothing_to_show_is_no_strip(values):
    column = np.array(values)
    known = np.zeros(len(values), dtype=int)
    assert make_strip(Interval(0, high=2.0), column, known, 1, FEATURES) is None


@pytest.mark.parametrize("value", [0.0, 2.0, 1e300, 5e-324])
def test_equal_numbers_have_an_axis(value):
    column, known = np.full(3, value), np.zeros(3, dtype=int)
    strip = make_strip(Interval(0, high=value), column, known, 1, FEATURES)
    assert sum(bar.rows[0] for bar in strip.bars) == 3
    assert np.isfinite([(bar.left, bar.right) for bar in strip.bars]).all()


def test_the_way_of_a_row_leads_to_its_leaf():
    tree, X, _ = wine()
    row = X[100:101]
    drawn = draw_tree(tree, row=row)
    way = [node for node in drawn.nodes if node.on_way]
    (leaf,) = (node for node in way if node.rule is not None)
    assert leaf.first == tree.tree_.apply(row)[0]
    # The first is where rows come in, and each next one is below.
    assert sorted(node.depth for node in way) == list(range(leaf.depth + 1))
    with refuses(InputError):
        draw_tree(tree, row=X[:2])


@pytest.mark.parametrize("sample", [wine, diabetes])
def test_bars_and_dots_lie_within_their_strip(sample):
    tree, X, y = sample()
    place = lay_out(draw_tree(tree, X, y))
    strips = [strip for node in place.nodes for strip in node.strips]
    for strip in strips:
        top, bottom = strip.y - 0.5 * STRIP_HEIGHT, strip.y + 0.5 * STRIP_HEIGHT
        left, right = strip.x, strip.x + STRIP
        for _, x, y, width, height in strip.rects:
            assert left - 1e-9 <= x < x + width <= right + 1
            assert top - 1e-9 <= y < y + height <= bottom + 1e-9
        assert max(y + high for *_, y, _, high in strip.rects) == pytest.approx(bottom)
        for x, y in strip.dots:
            assert left <= x <= right and top <= y <= bottom
        assert all(left <= cut <= right for cut in strip.cuts)
        assert strip.text_x > right
    assert any(strip.dots for strip in strips) == (sample is diabetes)


def test_nodes_stand_on_lines_of_their_own():
    tree, X, y = wine()
    place = lay_out(draw_tree(tree, X, y))
    ys = [node.y for node in place.nodes]
    assert (np.diff(ys) > 15).all()
    assert 0 < ys[0] and ys[-1] < place.height
    for node in place.nodes:
        if node.link is not None:
            # Up where the answer is yes.
            assert (node.y < node.link[1]) == node.is_yes
            assert node.x > node.link[0]
        # Nothing is cut where there is room, and there is.
        lines = [*node.lines, *(line for s in node.strips for line in s.lines)]
        assert not any(line.endswith("…") for line in lines)
    root = place.nodes[place.tree.root]
    assert root.thickness == THICK
    assert max(n.thickness for n in place.nodes if n is not root) < THICK


def test_long_words_are_cut_before_the_number_of_rows():
    space = cw.FeatureSpace(("age " * 50, "b"), (None, None))
    rules = cw.RuleList(
        (cw.Rule((Interval(0, low=3.0),), "long " * 50, (1.0, 0.0)),),
        cw.Rule((), "no", (0.0, 1.0)), space, ("long " * 50, "no"),
    )  # fmt: skip
    place = lay_out(draw_tree(rules, [[4.0, 0.0], [1.0, 0.0]]))
    cut = 0
    for node in place.nodes:
        for x, lines in [(node.text_x, node.lines)] + [
            (strip.text_x, strip.lines) for strip in node.strips
        ]:
            assert all(x + LETTER * len(line) <= WIDTH - ROWS for line in lines)
            cut += sum(line.endswith("…") for line in lines)
    assert cut == 2


def test_a_list_is_a_chain():
    rules = cw.RuleList(
        (cw.Rule((Interval(0, low=3.0), CategorySet(1, (0,))), 1.0),
         cw.Rule((Interval(0, high=2.0),), 2.0)),
        cw.Rule((), 0.0), FEATURES,
    )  # fmt: skip
    drawn = draw_tree(rules, [[4.0, "red"], [4.0, "tan"], [1.0, "red"]])
    assert [node.depth for node in drawn.nodes] == [1, 0, 2, 1, 2]
    assert [node.rows for node in drawn.nodes] == [1, 3, 1, 2, 1]
    same_text(drawn.words(drawn.nodes[1]))


def test_sums_are_not_drawn():
    rules = cw.rules.RuleSum((), cw.Rule((), 1.0), FEATURES)
    with refuses(InputError):
        draw_tree(rules)


def test_every_node_can_be_reached_and_heard():
    tree, X, y = wine()
    drawn = draw_tree(tree, X, y, row=X[:1])
    page = render("rules/drawn/tree.html", tree=summarize_tree(drawn))
    heard = re.findall(r'tabindex="0" role="img" aria-label="([^"]+)"', page)
    assert len(heard) == len(drawn.nodes) == 9
    for words in heard:
        # In the picture, as its tip, and in the list.
        assert page.count(f"{words}<") == 2
    same_lines(heard)


def test_dots_name_their_statistic():
    tree, X, y = diabetes()
    rules = tree.rules_
    outcomes = {
        "mean of target": rules.outcome,
        "mean of target, not its quantile": Quantile(level=0.9),
        "mean effect of the treatment on target": Effect(),
    }
    for words, outcome in outcomes.items():
        drawn = draw_tree(replace(rules, outcome=outcome), X, cw.EffectScores(y))
        page = render("rules/drawn/tree.html", tree=summarize_tree(drawn))
        assert f"Dots: {words}." in page
    assert draw_tree(rules, X).dots == PREDICTED_DOTS.format("target")
    assert draw_tree(*wine()).dots == ""


def test_the_page_shows_the_picture(tmp_path):
    tree, X, y = diabetes()
    cw.report(tree, tmp_path / "a.html", X=X, y=y)
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count('<circle class="leaf"') == 4
    same_lines(page)


def test_the_display_draws_all_leaves():
    pytest.importorskip("matplotlib").use("agg")
    tree, X, y = diabetes()
    shown = cw.rules.TreeDisplay.from_estimator(tree, X, y, row=X[:1])
    texts = [text.get_text() for text in shown.ax_.texts]
    assert sum(" then " in text for text in texts) == 4
    assert texts.count("yes") == texts.count("no") == 3


@pytest.mark.parametrize("sample", [wine, diabetes])
def test_both_pictures_hold_all_that_is_laid_out(sample):
    pytest.importorskip("matplotlib").use("agg")
    tree, X, y = sample()
    place = lay_out(draw_tree(tree, X, y))
    display = cw.rules.TreeDisplay.from_estimator(tree, X, y)
    drawn = svg(display.chart(), "drawn")
    strips = [strip for node in place.nodes for strip in node.strips]
    bars = [rect for strip in strips for rect in strip.rects]
    bars += [share for node in place.nodes for share in node.shares]
    full = elements(drawn, "path", "full") + elements(drawn, "path", "count")
    assert sum(path.get("d").count("Z") for path in full) == len(bars) > 0
    leaves = {(n.x, n.y) for n in place.nodes if n.node.rule is not None}
    seen = {(round(x, 1), round(y, 1)) for x, y in dots(drawn, "leaf").tolist()}
    assert seen == {(round(x, 1), round(y, 1)) for x, y in leaves}
    circles = [
        patch.center for patch in display.ax_.patches if hasattr(patch, "center")
    ]
    assert leaves <= set(circles)
    assert len(elements(drawn, "path", "question")) == len(place.nodes) - len(leaves)
    cuts = sum(path.get("d").count("M") for path in elements(drawn, "path", "cut"))
    assert cuts == sum(len(strip.cuts) for strip in strips)
    # On the axis of values beside the leaf.
    dotted = [node for node in place.nodes if node.dot is not None]
    assert {(node.dot, node.y) for node in dotted} <= set(circles)
    n_axes = len(dotted) + sum(bool(strip.rects) for strip in strips)
    assert len(elements(drawn, "path", "axis")) == n_axes


def test_bars_of_one_row_are_drawn():
    rules = cw.RuleList(
        (cw.Rule((Interval(0, low=3.0),), "b", (0.0, 1.0)),),
        cw.Rule((), "a", (1.0, 0.0)), FEATURES, ("a", "b"),
    )  # fmt: skip
    rows = [[4.0, "red"], [1.0, "red"], [2.0, "red"], [2.0, "red"]]
    place = lay_out(draw_tree(rules, rows, ["b", "a", "a", "a"]))
    (strip,) = (strip for node in place.nodes for strip in node.strips)
    high = {k: sum(r[4] for r in strip.rects if r[0] == k) for k in (0, 1)}
    assert high[0] == pytest.approx(3 * high[1])
    assert high[1] > 0


def test_explain_tells_the_way():
    tree, X, _ = wine()
    for i in (0, 80, 170):
        told = cw.explain(tree, X[i : i + 1])
        leaf = tree.tree_.leaves[tree.tree_.apply(X[i : i + 1])[0]]
        asked = {cond.feature for cond in leaf.conditions}
        names = {tree.rules_.features.names[d] for d in asked}
        assert {answer.feature for answer in told.way} == names
        assert all(answer.holds for answer in told.way)
        last = told.way[-1]
        assert f"split {len(told.way)}: {last.condition}" in str(told)
        assert "<ol>" in told._repr_html_()


def test_rows_of_unknown_classes_leave_bars_empty():
    column, known = np.array([0.0, 4.0]), np.array([-1, -1])
    strip = make_strip(Interval(0, high=2.0), column, known, 2, FEATURES)
    assert np.sum([bar.rows for bar in strip.bars]) == 0
    tree, X, y = wine()
    one = X[y == 1].assign(flavanoids=0.0)[:3]
    with pytest.warns(UnknownCategoriesWarning, match="9 in 2 rows"):
        assert lay_out(draw_tree(tree, one, [9, 9, 0])).nodes
