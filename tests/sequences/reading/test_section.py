import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import lines
from tests.sequences.reading.pages import counting, explanation, runs_of
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood._html import render
from clearwood.charts.chart import Axis
from clearwood.exceptions import InputError
from clearwood.reporting import summarize
from clearwood.sequences import explain_rnn
from clearwood.sequences.reading import automaton_display
from clearwood.sequences.reading.charts import two_lines
from clearwood.sequences.reading.section import section


def page_of(result, folder):
    path = folder / "page.html"
    cw.report(result, path, overwrite=True)
    return path.read_text(encoding="utf-8")


def test_the_text_and_its_states_are_on_the_page(tmp_path):
    e = explanation()
    page = page_of(e, tmp_path)
    (text,) = re.findall(r"<pre [^>]*>(.*?)</pre>", page, re.DOTALL)
    runs = runs_of(text)
    assert "".join(run for run, _ in runs) == "".join(
        e.symbols[code] for code in e.trace.codes[640:]
    )
    states = [state for run, state in runs for _ in run]
    assert states == e.states_[640:].tolist()
    for state in range(3):
        assert f".s{state}{{--h:" in page


@pytest.mark.filterwarnings("ignore")
def test_a_sequence_begins_on_a_line_of_its_own():
    lines = [np.arange(40) % 3, np.arange(6) % 3, np.arange(4) % 3]
    beside = np.zeros(50, dtype=int)
    e = explain_rnn(
        counting, lines, symbols="abc", n_states=3, test_size=0.2, other_states=beside
    )
    text = "".join(run for run, _ in runs_of(section(e)["text"]))
    assert text == "abcabc\nabca"
    pairs = str(section(e)["comparison"]["text"]).split("\n")
    assert [line.count("class=t") for line in pairs] == [0, 1, 0, 0, 1, 0]


def test_the_page_is_whole_and_the_same_each_time(tmp_path):
    page = page_of(explanation(), tmp_path)
    assert page == page_of(explanation(), tmp_path)
    assert "<script" not in page and "http://" not in page and "https://" not in page
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    wanted = re.findall(r'href="#([^"]+)"', page)
    for labels in re.findall(r'aria-labelledby="([^"]+)"', page):
        wanted += labels.split()
    assert wanted and set(wanted) <= set(identifiers)


def test_lines_begin_at_nothing_or_below():
    across = Axis("step"), "nats"
    for first, least in (([3.0, 1.0], 0.0), ([-3.0, 1.0], -3.0)):
        chart = two_lines("t", [0, 1], [first, [0.0, 1.0]], ("a", "b"), across)
        low, high = chart.panels[0].scales()[1][:2]
        assert low == least if least == 0 else low < least
        assert high > max(first)


def test_numbers_are_those_of_the_explanation():
    e = explanation()
    found = section(e)
    assert [line["name"] for line in found["fidelity"]] == list(e.fidelity_)
    assert [line["kl"] for line in found["fidelity"]] == [
        line.kl for line in e.fidelity_.values()
    ]
    assert found["warning"] == ""
    assert sum(line["share"] for line in found["states"]) == pytest.approx(1)
    assert [len(line) for line in lines(found["curve"])] == [2, 2]


def test_failures_add_up_and_come_worst_first():
    e = explanation(n_states=(2,))
    found = section(e)
    lines = found["failures"]
    lost = [line["kl"] * line["times"] for line in lines]
    assert lost == sorted(lost, reverse=True)
    held_out = "".join(e.symbols[code] for code in e.trace.codes[639:])
    pairs = Counter(map("".join, pairwise(held_out.replace(" ", "␣"))))
    assert {line["context"]: line["times"] for line in lines} == pairs
    total = e.fidelity_["states read"].kl * e.fidelity_.n_steps
    assert sum(lost) == pytest.approx(total, rel=1e-6)
    assert sum(line["share"] for line in lines) == pytest.approx(1)
    assert found["curve"] is None


def test_no_tag_of_a_hostile_symbol_survives(monkeypatch):
    # Long names take more lines; all shall be shown the same way here.
    monkeypatch.setattr(automaton_display, "LONGEST", 10**6)
    n = len(HOSTILE)

    def network(codes):
        last = np.eye(n)[codes]
        return last, 3 * last

    codes = np.random.default_rng(0).integers(n, size=4 * n)
    e = explain_rnn(network, codes, n_states=4)

    def tags(names, network):
        summary = summarize(replace(e, symbols=names, network=network))
        return tags_of(render("reporting/section.html", **summary))

    plain = tags(tuple(f"plain {i}" for i in range(n)), "plain")
    for first in (0, n // 2):
        names = tuple(HOSTILE[first:] + HOSTILE[:first])
        assert tags(names, names[0]) == plain


def test_doubts_stand_first(tmp_path):
    page = page_of(replace(explanation(), warning_="It is <b>poor</b>."), tmp_path)
    assert "It is &lt;b&gt;poor&lt;/b&gt;." in page
    same_lines(page, without=page_of(explanation(), tmp_path))


def test_rows_have_no_place_on_this_page():
    with refuses(InputError):
        section(explanation(), X=np.zeros((2, 1)))
