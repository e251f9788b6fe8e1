import re

import pytest
from jinja2 import UndefinedError
from tests._html.hostile import HOSTILE, tags_of
from tests.reporting.results import classes_rules, numbers_rules

from clearwood._html import PACKAGE, count_text, render
from clearwood.charts.scale import round_ticks


def test_there_are_enough_hostile_names():
    assert len(set(HOSTILE)) >= 100


@pytest.fixture(scope="module")
def harmless():
    return tags_of(classes_rules()._repr_html_())


@pytest.mark.parametrize("name", HOSTILE)
def test_no_tag_of_a_hostile_name_survives(name, harmless):
    rules = classes_rules(
        names=(name, "colour"),
        labels=("well", name),
        target=name,
        hues=("r", "g", name),
    )
    assert tags_of(rules._repr_html_()) == harmless


def test_a_value_that_the_template_asks_for_must_be_given():
    with pytest.raises(UndefinedError):
        render("rules/rule_set.html", rules={"target": "y"})


def test_unknown_statistics_show_as_a_dash_that_is_read_out():
    html = classes_rules()._repr_html_()
    assert html.count('aria-label="not known"') == 2


def test_a_negative_agreement_draws_no_bar_but_shows_its_number():
    html = numbers_rules()._repr_html_()
    assert "-0.1" in html
    assert "width: 0.0%" in html
    assert "width: -" not in html


def test_numbers_are_short():
    assert count_text(3.25) == "3.2"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 4.7), (1e-9, 3e-9), (0.31, 0.32), (7, 9999)]
)
def test_round_ticks_are_few_and_within(low, high):
    ticks = round_ticks(low, high)
    assert 2 <= len(ticks) <= 4
    assert low <= ticks[0] and ticks[-1] <= high
    step = ticks[1] - ticks[0]
    digit = f"{step:.0e}"[0]
    assert digit in "125"
    assert all(t / step == pytest.approx(round(t / step)) for t in ticks)


def test_equal_bounds_have_one_tick():
    assert round_ticks(2, 2) == [2.0]


def test_only_sections_are_landmarks():
    """A table of a section's name beside it would be a second landmark of that name."""
    templates = {p: p.read_text("utf-8") for p in PACKAGE.rglob("*.html")}
    assert len(templates) > 20
    assert [p.name for p, text in templates.items() if 'role="region"' in text] == []
    for path, text in templates.items():
        for tag in re.findall(r"<[^>]*tabindex=\"0\"[^>]*>", text):
            assert "aria-label" in tag or "<a" in tag, (path.name, tag)
