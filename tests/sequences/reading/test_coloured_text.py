import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sequences.reading.pages import runs_of
from tests.sequences.recurrent.traces import golden

from clearwood.sequences.reading.coloured_text import (
    coloured_text,
    state_hues,
    state_styles,
)

CASES = golden("text_html")["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden_texts(case):
    made = coloured_text(case["text"], case["state_labels"])
    wanted = [(text, int(name[1:])) for text, name in case["unescaped_spans"]]
    assert runs_of(made) == wanted
    for (escaped, _), run in zip(case["merged_spans"], str(made).split("</i>")):
        assert run.partition(">")[2].replace("&#39;", "&#x27;") == escaped


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@given(TEXTS, st.randoms(use_true_random=False))
def test_text_and_states_come_back(text, random):
    states = [random.randrange(3) for _ in text]
    runs = runs_of(coloured_text(text, states))
    assert "".join(run for run, _ in runs) == text
    assert [state for run, state in runs for _ in run] == states
    assert all(one[1] != two[1] for one, two in zip(runs, runs[1:]))
    assert "\r" not in coloured_text(text, states)


def test_words_are_pieces_and_what_cannot_be_written_is_replaced():
    assert runs_of(coloured_text(["to ", "be "], [0, 0])) == [("to be ", 0)]
    assert runs_of(coloured_text(["a\0", "\ud800"], [0, 1])) == [("a␀", 0), ("?", 1)]


def test_a_text_of_100_000_letters_is_below_two_megabytes():
    rng = np.random.default_rng(0)
    letters = rng.choice(list("etaoin shrdlu'\n"), size=100_000)
    made = coloured_text(letters.tolist(), rng.integers(100, size=100_000))
    assert len(made.encode()) < 2_000_000


@given(st.text(st.characters(codec="utf-8"), max_size=20))
def test_no_name_leaves_its_string_in_a_style(name):
    made = str(state_styles([name], [10.0]))
    inside = re.fullmatch(r'\.s0\{--h:10\}\.s0:hover::after\{content:"0: (.*)"\}', made)
    assert re.fullmatch(r"(?:[A-Za-z0-9 ,.:]|\\[0-9a-f]+ )*", inside[1])
    # As a browser reads it.
    back = re.sub(r"\\([0-9a-f]+) ", lambda m: chr(int(m[1], 16)), inside[1])
    assert back == name.replace("\0", "\ufffd")


def test_states_that_say_the_same_have_neighbouring_colours():
    rng = np.random.default_rng(0)
    output = np.repeat(rng.dirichlet(np.full(8, 0.2), size=4), 3, axis=0)
    hues = state_hues(output)
    assert sorted(hues) == pytest.approx([30.0 * i for i in range(12)])
    for first in range(0, 12, 3):
        around = np.sort(hues[first : first + 3])
        assert min(np.ptp(around), 360 - np.max(np.diff(around))) == pytest.approx(60)
    assert state_hues(output[:1]).tolist() == [0.0]
