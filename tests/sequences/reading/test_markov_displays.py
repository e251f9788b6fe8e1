import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from tests.sequences.reading.markov import (
    TEXT,
    of_flags,
    of_patients,
    of_text,
    patients,
)
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood._words.numbers import share_text
from clearwood.exceptions import InputError, PoorMixingWarning
from clearwood.reporting import summarize
from clearwood.sequences.reading.states_display import hsl

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_every_step_stands_before_the_colour_of_its_state():
    hmm, (X, lengths) = of_patients(), patients()
    shown = cw.sequences.StatesDisplay.from_estimator(
        hmm, X, lengths, start=20, length=60
    )
    shown.plot()
    states = hmm.predict_proba(X, lengths)[20:80].argmax(axis=1)
    assert len(shown.parts_) == 4 and shown.begins == [60]
    for axis in shown.parts_:
        spans = [
            (patch.get_x(), patch.get_width(), patch.get_facecolor()[:3])
            for patch in axis.patches
        ]
        for step, state in enumerate(states, 20):
            (colour,) = (c for x, wide, c in spans if x < step < x + wide)
            assert colour == pytest.approx(to_rgb(hsl(shown.hues[state])))
    line = shown.parts_[1].lines[-1].get_ydata()
    np.testing.assert_array_equal(line, X["temperature"][20:80])
    ticks = [tick.get_text() for tick in shown.parts_[2].get_yticklabels()]
    assert ticks == ["intensive", "normal"]


def test_symbols_are_written_below():
    shown = cw.sequences.StatesDisplay.from_estimator(of_text(), TEXT, length=9)
    assert len(shown.parts_) == 1
    ticks = [tick.get_text() for tick in shown.ax_.get_xticklabels()]
    assert "".join(ticks) == "abba␣cab␣"
    with refuses(InputError):
        cw.sequences.StatesDisplay.from_estimator(of_text(), TEXT, start=len(TEXT))


@pytest.mark.parametrize(
    "display", [cw.sequences.StatesDisplay, cw.sequences.SurprisalDisplay]
)
def test_a_step_without_a_symbol_is_a_box(display):
    shown = display.from_estimator(of_text(), ["a", None, "b"])
    assert list(shown.symbols) == ["a", "▯", "b"]


def test_a_list_of_texts_is_read_as_sequences():
    shown = cw.sequences.StatesDisplay.from_estimator(
        of_text(), [TEXT[:5], TEXT[5:]], length=9
    )
    assert shown.begins == [5] and len(shown.symbols) == 9


def test_surprise_is_less_the_log_likelihood_of_a_step():
    shown = cw.sequences.SurprisalDisplay.from_estimator(
        of_text(), [TEXT[:5], TEXT[5:]], start=3, length=5
    )
    wanted = -of_text().step_log_likelihood(TEXT, [5, len(TEXT) - 5])
    assert shown.ax_.lines[0].get_ydata() == pytest.approx(wanted[3:8])
    ticks = [tick.get_text() for tick in shown.ax_.get_xticklabels()]
    assert "".join(ticks) == "a␣cab"
    hmm, (X, lengths) = of_patients(), patients()
    shown = cw.sequences.SurprisalDisplay.from_estimator(hmm, X, lengths, start=40)
    wanted = -hmm.step_log_likelihood(X, lengths)[40:]
    assert shown.ax_.lines[0].get_ydata() == pytest.approx(wanted)
    assert shown.ax_.lines[1].get_xdata().tolist() == list(range(40, 100))
    same_text(text.get_text() for text in shown.ax_.get_legend().get_texts())
    assert shown.ax_.get_ylim()[0] <= min(0, wanted.min())
    with refuses(InputError, match="100"):
        cw.sequences.SurprisalDisplay.from_estimator(hmm, X, lengths, start=100)


def test_arrows_are_the_moves_away():
    display = cw.sequences.AutomatonDisplay.from_estimator(of_flags())
    assert [move[:3] for move in display.moves] == [(0, 1, 1.0)]
    seen = cw.sequences.AutomatonDisplay.from_estimator(of_patients(), *patients())
    wanted = of_patients().predict_proba(*patients()).mean(axis=0)
    np.testing.assert_allclose(seen.share, wanted)
    hmm = of_text()
    display = cw.sequences.AutomatonDisplay.from_estimator(hmm, most=2, cutoff=0.0)
    assert display.n_left_out == 1
    for move in display.moves:
        i, j = display.numbers[move.source], display.numbers[move.target]
        row = hmm.transmat_[i]
        assert move.share == pytest.approx(row[j] / (1 - row[i]))
        assert move.symbols == (share_text(move.share),)
    said = {text.get_text() for text in display.ax_.texts}
    assert {str(number) for number in display.numbers} <= said


def test_sweeps_are_those_of_chains_or_of_em():
    shown = cw.sequences.SweepsDisplay.from_estimator(of_text())
    history = shown.ax_.lines[0].get_ydata()
    np.testing.assert_array_equal(history, of_text().history_)
    assert shown.ax_.get_xlabel() == "iteration"
    with pytest.warns(PoorMixingWarning):
        hmm = cw.HiddenMarkovModel(2, n_draws=5, n_init=2, random_state=0).fit(TEXT)
    shown = cw.sequences.SweepsDisplay.from_estimator(hmm)
    assert len(shown.ax_.lines) == 4 and "R-hat" in shown.ax_.get_title(loc="left")
    drawn = np.array([line.get_ydata() for line in shown.ax_.lines])
    np.testing.assert_array_equal(drawn, hmm.chains_.draws["log_likelihood"])
    with refuses(InputError):
        cw.sequences.SweepsDisplay.from_estimator(of_flags())


def test_numbers_of_states_are_those_that_were_tried():
    X = np.random.default_rng(0).normal(size=(80, 1)) + np.tile([[0], [9]], (40, 1))
    settings = {"emission": "gaussian", "algorithm": "em", "random_state": 0}
    hmm = cw.HiddenMarkovModel("auto", **settings).fit(X)
    shown = cw.sequences.StateNumbersDisplay.from_estimator(hmm)
    line, selected = shown.ax_.lines
    assert dict(zip(*line.get_data())) == hmm.held_out_scores_
    assert set(selected.get_xdata()) == {hmm.n_states_}
    assert summarize(hmm)["hmm"]["sizes"].startswith("<svg")
    with refuses(InputError):
        cw.sequences.StateNumbersDisplay.from_estimator(of_flags())
