import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import elements, lines, texts
from tests.reporting.frontiers import (
    NAN,
    frontier,
    large_frontier,
    named_frontier,
    point,
    small_frontier,
    values_rules,
)
from tests.wording import refuses, same_lines, same_text

from clearwood.charts.grounds import REACH, ground
from clearwood.exceptions import InputError
from clearwood.reporting import report
from clearwood.reporting.frontier import summarize_frontier


def page_of(folder, found, **options):
    path = folder / "compare.html"
    report(found, path, overwrite=True, **options)
    return path.read_text(encoding="utf-8")


def section_of(page, number):
    """What the page holds of a point."""
    found = re.search(rf'<section id="p{number}".*?</section>', page, re.S)
    return found.group()


def test_each_point_is_a_link_to_its_rules(tmp_path):
    found = small_frontier()
    page = page_of(tmp_path, found)
    for chart in re.findall(r"<svg class=\"chart frontier.*?</svg>", page, re.S):
        for number, one in enumerate(found.points):
            link = re.search(rf'<a href="#p{number}".*?</a>', chart).group()
            title = re.search(r"<title>(.*?)</title>", link).group(1)
            assert title.startswith(f"{one.method}, {one.n_rules} ")
            assert f" {one.error:.3g}" in title
            same_text(title)
    for number, one in enumerate(found.points):
        section = section_of(page, number)
        assert f">{one.method}, " in section
        if one.rules is not None:
            assert section.count('<tr role="row">') == one.n_rules
            assert section.count("height &gt; ") == one.n_rules - 1


def dots_of(chart):
    """Of each point where its dot is, and what it looks like; in their order."""
    found = {}
    for link in elements(chart, "a"):
        (ring, dot) = (
            one for one in link if one.get("class") != "ground" and one.tag != "title"
        )
        place = float(ring.get("cx")), float(ring.get("cy"))
        found[int(link.get("href")[2:])] = *place, dot.get("class")
    return found


def test_lower_dots_stand_for_lower_errors_and_all_lie_on_the_canvas():
    found = small_frontier()
    for chart in summarize_frontier(found)["charts"]:
        dots = dots_of(chart)
        assert sorted(dots) == list(range(len(found.points)))
        errors = [one.error for one in found.points]
        heights = [dots[k][1] for k in range(len(errors))]
        assert np.array_equal(np.argsort(errors), np.argsort(heights)[::-1])
        across = {name: x for name, (x, _) in texts(chart).items() if name.isdigit()}
        for number, one in enumerate(found.points):
            x, y, look = dots[number]
            (bar,) = (line for line in lines(chart) if set(line[:, 0]) == {x})
            assert bar[1, 1] < y < bar[0, 1]
            assert ("hollow" in look) == (not one.on_frontier)
            tick = across[str(one.n_rules)]
            assert abs(tick - x) == min(abs(other - x) for other in across.values())
        # What lies on top is what comes last.
        assert ["hollow" in look for *_, look in dots.values()] == [True] * 2 + [
            False
        ] * 4
    assert len({key for key, _ in summarize_frontier(found)["keys"]}) == 4


def test_many_methods_look_different():
    points = [point(f"method {k}", 2, 0.1 + k) for k in range(30)]
    found = summarize_frontier(frontier(points))["keys"]
    assert len({str(key) for key, _ in found}) == len(found) == 31


def test_a_click_means_the_nearest_point():
    rng = np.random.default_rng(0)
    points = [tuple(p) for p in rng.uniform(0, 120, size=(40, 2)).tolist()]
    grounds = [ground(one, points) for one in points]
    for spot in rng.uniform(0, 120, size=(2000, 2)).tolist():
        distance = [math.dist(spot, one) for one in points]
        nearest = int(np.argmin(distance))
        # A polygon with 16 corners is not quite a circle.
        if distance[nearest] < 0.98 * REACH:
            assert [k for k, g in enumerate(grounds) if inside(spot, g)] == [nearest]
        elif distance[nearest] > REACH:
            assert not any(inside(spot, g) for g in grounds)


def inside(spot, polygon):
    """Whether a convex polygon holds a spot: it lies on one side of all edges."""
    turns = [
        (b[0] - a[0]) * (spot[1] - a[1]) - (b[1] - a[1]) * (spot[0] - a[0])
        for a, b in zip(polygon, polygon[1:] + polygon[:1])
    ]
    return min(turns) > 0


def test_points_at_the_same_place_have_the_same_ground():
    alone = ground((3.0, 4.0), [(3.0, 4.0)])
    assert ground((3.0, 4.0), [(3.0, 4.0), (3.0, 4.0)]) == alone and len(alone) == 16


def test_the_fewest_lines_that_are_enough_are_shown_first(tmp_path):
    found = small_frontier()
    number = found.points.index(found.enough())
    assert found.points[number].n_rules == 3
    page = page_of(tmp_path, found)
    assert re.findall(r'id="p(\d+)" class="[^"]*\bshown\b', page) == [str(number)]
    same_lines(page)
    for k, one in enumerate(found.points):
        section = section_of(page, k)
        assert (" best" in section[:60]) == one.on_frontier


def test_two_points_of_as_many_lines_are_told_apart(tmp_path):
    points = [point("fab", 3, 0.3 / k, requested=k) for k in (3, 5)]
    page = page_of(tmp_path, frontier([*points, point("em", 3, 0.5)]))
    same_lines(page)


def test_a_peer_that_is_better_is_named(tmp_path):
    found = small_frontier()
    without = page_of(tmp_path, found)
    better = replace(found.points[-1], error=0.1)
    page = page_of(tmp_path, replace(found, points=(*found.points[:-1], better)))
    same_lines(page, without)


def test_it_is_said_whether_the_model_may_have_seen_the_rows(tmp_path):
    fair, flattered = (
        page_of(tmp_path, small_frontier(model_refitted=fair)) for fair in (True, False)
    )
    same_lines(flattered, without=fair)
    # Of rows that it has learnt by heart an error is no headline and no scale.
    same_lines(fair, without=flattered)
    assert "itself<" in fair and "itself<" not in flattered


def test_failures_are_said(tmp_path):
    pages = [page_of(tmp_path, small_frontier(**kw)) for kw in ({}, {"failures": ()})]
    same_lines(pages[0], without=pages[1])


def test_all_numbers_stand_in_the_table(tmp_path):
    page = page_of(tmp_path, small_frontier())
    table = re.search(r'id="table".*?</table>', page, re.S).group()
    cells_of = re.compile(r"<t[hd].*?</t[hd]>")
    rows = [
        [re.sub(r"<.*?>", "", cell).strip() for cell in cells_of.findall(row)]
        for row in re.findall(r"<tr.*?</tr>", table, re.S)
    ]
    assert rows[2] == "list|3|6|0.21 &plusmn; 0.01|0.9|80 %|1.5|0.95|2".split("|")
    assert rows[3][7] == "&ndash;"
    assert rows[6][5:7] == ["&ndash;", "&ndash;"]
    assert rows[7][3] == "0.05 &plusmn; 0.01"
    same_text(rows[7][0])


def test_rounding_of_what_means_nothing_is_not_shown(tmp_path):
    one = point("list", 1, 1e-9, fidelity=-6e-17, stability=-1e-13, error_se=0.0)
    page = page_of(tmp_path, frontier([one], model_error=1e-10))
    assert "e-13" not in page and "e-17" not in page
    assert "1e-09" in page  # an error in a large unit


def test_what_a_peer_prints_is_shown_as_it_is(tmp_path):
    page = page_of(tmp_path, small_frontier())
    assert "<pre>a &lt;= 1\n    b</pre>" in page


def test_without_any_rules_the_failures_are_the_page(tmp_path):
    page = page_of(tmp_path, frontier([], failures=(("list", "no rows"),)))
    same_lines(page)
    assert "chart wide" not in page


@pytest.mark.parametrize("error", [NAN, 0.0, 1e-12, 1e6])
@pytest.mark.parametrize("spread", [NAN, 0.0, 1e5])
def test_any_errors_are_drawn(tmp_path, error, spread):
    found = small_frontier(model_error=error)
    wide = [point("list", 1, 3e4, error_se=spread, rules=values_rules(1))]
    for one in (found, replace(found, points=(*found.points, *wide))):
        page = page_of(tmp_path, one)
        for chart in re.findall(r"<svg class=\"chart frontier.*?</svg>", page, re.S):
            assert "nan" not in chart and "inf" not in chart
            for _, y, _ in dots_of(chart).values():
                assert 30 <= y <= 340


def test_a_model_far_below_is_named_but_leaves_the_points_their_room():
    points = [point("list", k, 10.0 / k**2, rules=values_rules(k)) for k in (1, 3, 9)]
    chart = summarize_frontier(frontier(points, model_error=0.0))["charts"][0]
    assert ">below<" in chart and not elements(chart, "line", "ink")
    same_text(next(words for words in texts(chart) if "error" in words))
    near = summarize_frontier(frontier(points, model_error=0.05))["charts"][0]
    assert ">below<" not in near and len(elements(near, "line", "ink")) == 1


def test_the_page_is_self_contained_and_the_same_each_time(tmp_path):
    page = page_of(tmp_path, small_frontier())
    assert page == page_of(tmp_path, small_frontier())
    assert "default-src 'none'" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert "http://" not in page and "https://" not in page
    for chart in re.findall(r"<svg.*?</svg>", page, re.S):
        ElementTree.fromstring(chart)


def test_every_label_points_at_something(tmp_path):
    page = page_of(tmp_path, small_frontier())
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    wanted = re.findall(r'href="#([^"]+)"', page)
    for labels in re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', page):
        wanted += labels.split()
    assert {"p0", "wide-title", "narrow-desc"} <= set(wanted) <= set(identifiers)


def test_a_large_comparison_stays_below_two_megabytes(tmp_path):
    found = large_frontier()
    page = page_of(tmp_path, found)
    assert len(page.encode()) < 2_000_000
    tables = [number for number in range(480) if "<table" in section_of(page, number)]
    best = [k for k, one in enumerate(found.points) if one.on_frontier]
    # The frontier before all others.
    assert set(best) <= set(tables) and len(tables) > len(best)
    assert "then 0.111" in page
    same_lines(page)


def test_rows_are_not_asked_for(tmp_path):
    with refuses(InputError):
        report(small_frontier(), tmp_path / "page.html", X=[[1.0, 2.0]])
    assert not list(tmp_path.iterdir())


def test_the_title_may_be_chosen(tmp_path):
    assert "<h1>Mine</h1>" in page_of(tmp_path, small_frontier(), title="Mine")


def test_no_tag_of_a_hostile_name_survives(tmp_path, monkeypatch):
    # Long names take more room; all shall be shown the same way here.
    monkeypatch.setattr("clearwood.reporting.frontier.LARGEST_TABLES", 1e9)
    some = HOSTILE[::5]
    harmless = [f"name {k}" for k in range(len(some))]
    expected = tags_of(page_of(tmp_path, named_frontier(harmless)))
    assert tags_of(page_of(tmp_path, named_frontier(some))) == expected
