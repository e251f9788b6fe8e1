import matplotlib
import numpy as np
import pytest
from tests.sequences.reading.pages import explanation
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.sequences.reading.automaton_display import moves_of
from clearwood.sequences.reading.display import surprisals

matplotlib.use("agg")


def test_moves_are_those_of_the_automaton():
    e = explanation()
    moves = moves_of(e)
    for state in range(3):
        own = [move for move in moves if move.source == state]
        assert sum(move.share for move in own) == pytest.approx(1)
        stays, leaves = sorted(own, key=lambda move: move.target != state)
        assert stays.target == state and set(stays.symbols) == {"a", "<"}
        assert leaves.symbols == ("␣",)
        counts = e.automaton_.counts[state]
        assert leaves.share == pytest.approx(counts[1] / counts.sum())


def test_the_automaton_is_drawn():
    display = cw.sequences.AutomatonDisplay.from_explanation(explanation())
    drawn = display.plot()
    assert drawn is display and drawn.figure_ is drawn.ax_.figure
    # Three circles; three loops and three arrows, each with its tip.
    assert len(drawn.ax_.patches) == 15
    texts = [text.get_text() for text in drawn.ax_.texts]
    assert {"0", "1", "2", "␣"} <= set(texts)
    few = cw.sequences.AutomatonDisplay.from_explanation(
        explanation(), most=2, cutoff=0.5
    )
    assert len(few.moves) == 2
    few = cw.sequences.AutomatonDisplay.from_explanation(
        explanation(), most=2, cutoff=0.1
    )
    same_text(few.plot().ax_.get_title(loc="left"))
    # Two stay where they are, one of them goes to the other.
    assert sorted(move.source == move.target for move in few.moves) == [
        False,
        True,
        True,
    ]


def test_the_curve_has_both_readings_and_all_tables():
    ax = cw.sequences.FidelityCurveDisplay.from_explanation(explanation()).plot().ax_
    curve = explanation().curve_
    assert ax.lines[0].get_ydata() == pytest.approx([p.read.kl for p in curve])
    assert ax.lines[1].get_ydata() == pytest.approx([p.alone.kl for p in curve])
    assert ax.lines[0].get_xdata() == pytest.approx([1, 3])
    marks = [line.get_ydata()[0] for line in ax.lines[2:]]
    fidelity = explanation().fidelity_
    assert marks == pytest.approx([fidelity[n].kl for n in list(fidelity)[2:]])


def test_surprisal_is_minus_the_log_of_the_prediction():
    e = explanation()
    steps, network, picture = surprisals(e)
    assert steps.tolist() == list(range(640, 799))
    following = e.trace.codes[641:]
    np.testing.assert_allclose(
        network, -e.trace.log_proba[np.arange(640, 799), following]
    )
    # The picture is the network here.
    np.testing.assert_allclose(network, picture)
    display = cw.sequences.SurprisalDisplay.from_explanation(
        e, start=3, length=5
    ).plot()
    labels = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert labels == [{0: "a", 1: "␣", 2: "<"}[code] for code in following[3:8]]
    with refuses(InputError, match="159"):
        cw.sequences.SurprisalDisplay.from_explanation(e, start=200)


@pytest.mark.parametrize(
    "display",
    [
        cw.sequences.AutomatonDisplay,
        cw.sequences.FidelityCurveDisplay,
        cw.sequences.SurprisalDisplay,
    ],
)
def test_what_is_no_explanation_is_refused(display):
    with refuses(InputError, match="explain_rnn"):
        display.from_explanation("explanation")
