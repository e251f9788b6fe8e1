from itertools import permutations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from tests._html.hostile import HOSTILE, tags_of
from tests.sequences.reading.markov import of_patients, of_text, patients
from tests.sequences.reading.pages import counting, runs_of
from tests.wording import refuses

import clearwood as cw
from clearwood._html import render
from clearwood.exceptions import InputError
from clearwood.reporting import summarize
from clearwood.sequences.reading.section import section
from clearwood.sequences.reading.states_display import hsl
from clearwood.sequences.reading.two_models import (
    ACROSS,
    paired_text,
    state_agreement,
)

mpl.use("agg")


@pytest.mark.parametrize("sizes", [(3, 3), (2, 4), (4, 2)])
def test_states_match_one_to_one_as_well_as_any_do(sizes):
    rng = np.random.default_rng(0)
    first, second = (rng.integers(k, size=60) for k in sizes)
    found = state_agreement(first, second)
    few, many = (first, second) if sizes[0] <= sizes[1] else (second, first)
    best = max(
        np.mean(few == np.argsort(order)[many])
        for order in permutations(range(max(sizes)))
    )
    assert found.matched == pytest.approx(best)
    own = [j for j, i in enumerate(found.partner) if i >= 0]
    assert len(own) == min(sizes) == len(set(found.partner[own]))
    hits = sum(np.sum((first == found.partner[j]) & (second == j)) for j in own)
    assert hits / 60 == pytest.approx(found.matched)
    assert abs(found.information) < 0.2


def test_other_numbers_are_the_same_states():
    first = np.array([0, 0, 2, 1, 2, 2])
    found = state_agreement(first, np.array([1, 2, 0])[first])
    assert found.matched == found.information == 1
    assert found.partner.tolist() == [2, 0, 1]
    hues = np.array([0.0, 120.0, 240.0])
    assert found.hues(hues).tolist() == [240.0, 0.0, 120.0]
    # One that has no partner stands beside that which it is met with.
    more = state_agreement([0, 0, 0, 1], [0, 0, 1, 2])
    assert more.partner.tolist() == [0, -1, 1] and more.meets.tolist() == [0, 0, 1]
    assert more.hues(hues[:2]).tolist() == [0.0, 90.0, 120.0]
    # Nor is one left over a partner that it is met with at no step.
    apart = state_agreement([0] * 6 + [1], [0, 0, 0, 0, 1, 1, 0])
    assert apart.partner.tolist() == [0, -1]


def pairs_of(markup):
    """Upper and lower lines: their text, and the state of every letter."""
    lines = str(markup).split("\n")
    assert not any(lines[2::3])
    both = []
    for prefix, own in (("s", lines[::3]), ("t", lines[1::3])):
        plain = "".join(own).replace(f"class={prefix}", "class=s")
        runs = runs_of(plain)
        both.append((
            "".join(text for text, _ in runs),
            [state for text, state in runs for _ in text],
        ))  # fmt: skip
    sizes = [sum(len(text) for text, _ in runs_of(line)) for line in lines[::3]]
    return both, sizes


def test_a_text_stands_in_lines_twice():
    rng = np.random.default_rng(0)
    text = "".join(rng.choice(list("ab<\n&"), size=200))
    first, second = rng.integers(2, size=200), rng.integers(3, size=200)
    (upper, lower), wide = pairs_of(paired_text(text, first, second))
    assert upper[0] == lower[0] == text.replace("\n", "↵")
    assert (upper[1], lower[1]) == (first.tolist(), second.tolist())
    assert wide == [ACROSS, ACROSS, 200 - 2 * ACROSS]
    again, wide = pairs_of(paired_text(text, first, second, [0, 100]))
    assert again == [upper, lower] and wide == [88, 12, 76, 24]


def test_a_strip_has_the_colours_of_the_states_it_matches():
    hmm, (X, lengths) = of_patients(), patients()
    states = hmm.predict_proba(X, lengths).argmax(axis=1)
    other = np.where(np.arange(100) < 40, 2, 1 - states)
    shown = cw.sequences.StatesDisplay.from_estimator(
        hmm, X, lengths, start=20, length=60, other_states=pd.Series(other)
    )
    agreement = state_agreement(states, other, 2)
    assert shown.agreement.matched == agreement.matched
    assert str(agreement) in shown.parts_[0].get_title(loc="left")
    assert len(shown.parts_) == 5
    hues = agreement.hues(shown.hues)
    for step, state in enumerate(other[20:80], 20):
        # On top of the ground that all panels share.
        *_, colour = (
            patch.get_facecolor()[:3]
            for patch in shown.parts_[1].patches
            if patch.get_x() < step < patch.get_x() + patch.get_width()
        )
        assert colour == pytest.approx(to_rgb(hsl(hues[state])))
    same = cw.sequences.StatesDisplay.from_estimator(hmm, X, lengths, other_states=hmm)
    assert same.agreement.matched == same.agreement.information == 1
    for wrong in (other[:50], other / 1.0, other - 1):
        with refuses(InputError, match="100"):
            cw.sequences.StatesDisplay.from_estimator(
                hmm, X, lengths, other_states=wrong
            )


def explained(beside, symbols=("a", "b", " ")):
    codes = np.array(["ab ".index(letter) for letter in "abba bab" * 30])
    return cw.explain_rnn(
        counting, codes, n_states=3, symbols=symbols, other_states=beside
    )


@pytest.mark.filterwarnings("ignore")
def test_the_page_of_a_network_shows_another_model_beside():
    hmm = of_text()
    e = explained(hmm)
    text = [e.symbols[code] for code in e.trace.codes]
    wanted = hmm.filter_proba(text).argmax(axis=1)
    np.testing.assert_array_equal(e.other_states_, wanted)
    held_out = e.trace.is_held_out
    found = section(e)["comparison"]
    agreement = state_agreement(e.states_[held_out], wanted[held_out], 3, 3)
    assert found["matched"] == agreement.matched
    assert found["information"] == agreement.information
    (upper, lower), _ = pairs_of(found["text"])
    assert upper == ("".join(np.array(text)[held_out]), e.states_[held_out].tolist())
    assert lower == (upper[0], wanted[held_out].tolist())
    for state in range(wanted.max() + 1):
        assert f".t{state}{{--h:" in found["styles"]
    page = render("reporting/section.html", **summarize(e))
    assert 'id="comparison"' in page and str(found["text"]) in page
    assert section(explained(None))["comparison"] is None
    assert section(explained(wanted * 2))["comparison"]["n_states"] == len(set(wanted))
    with refuses(InputError):
        explained(wanted[1:])


@pytest.mark.filterwarnings("ignore")
def test_a_model_beside_knows_no_more_than_the_network_does():
    hmm = cw.HiddenMarkovModel(2)
    hmm.startprob_, hmm.transmat_ = [0.9, 0.1], [[0.7, 0.3], [0.1, 0.9]]
    hmm.emissionprob_ = [[0.4, 0.2, 0.4], [0.3, 0.4, 0.3]]
    lines = [np.random.default_rng(s).integers(3, size=40 + s) for s in range(4)]
    e = cw.explain_rnn(counting, lines, n_states=3, other_states=hmm)
    whole, lengths = e.trace.codes, [40, 41, 42, 43]
    wanted = hmm.filter_proba(whole, lengths).argmax(axis=1)
    np.testing.assert_array_equal(e.other_states_, wanted)
    for other in (hmm.predict_proba(whole, lengths), hmm.filter_proba(whole)):
        assert (other.argmax(axis=1) != wanted).any()


@pytest.mark.filterwarnings("ignore")
def test_no_tag_of_a_hostile_symbol_survives():
    beside = np.arange(240) % 2

    def tags(symbols):
        summary = summarize(explained(beside, symbols))
        return set(map(str, tags_of(render("reporting/section.html", **summary))))

    plain = tags(("aa", "bb", "cc"))
    hostile = [text for text in HOSTILE if text.strip()]
    for i in range(0, len(hostile) - 2, 24):
        assert tags(tuple(hostile[i : i + 3])) <= plain
