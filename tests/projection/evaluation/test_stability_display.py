import matplotlib
import numpy as np
import pytest
from tests.wording import same_text

from clearwood.projection import TreeStability, TreeStabilityDisplay

matplotlib.use("agg")


def found(shift=0.0):
    pairs = np.array([0.1, 0.3, 0.2])
    return TreeStability(
        (3, 4, 4),
        tuple(pairs + shift),
        tuple(pairs + 0.5),
        (1.0, 2.0, 3.0),
        tuple(0.9 - pairs),
        tuple(1.0 - pairs - shift),
    )


def test_every_pair_and_the_means_stand_at_their_measures():
    display = TreeStabilityDisplay({"a": found(), "b": found(0.4)}).plot()
    ax = display.ax_
    means = {line.get_label(): line for line in ax.lines if "RMS" in line.get_label()}
    same_text(means)
    told = [np.asarray(line.get_xdata()) for line in means.values()]
    assert told[0] == pytest.approx([0.2, 0.3, 0.2])
    assert told[1] == pytest.approx([0.6, 0.3, 0.6])
    dots = [line for line in ax.lines if line.get_label() not in means]
    assert len(dots) == 6 and all(len(line.get_xdata()) == 3 for line in dots)
    # Top to bottom as they are named, and methods apart.
    heights = [np.asarray(line.get_ydata()) for line in means.values()]
    assert (np.diff(heights[0]) < 0).all() and (heights[0] > heights[1]).all()
    low, high = ax.get_xlim()
    assert low < 0 and high > 1


def test_dots_stand_nearer_to_their_own_mean_than_to_any_other():
    given = {name: found() for name in "abcd"}
    lines = TreeStabilityDisplay(given).plot().ax_.lines
    means = [line for line in lines if "RMS" in line.get_label()]
    centres = {line.get_color(): np.asarray(line.get_ydata()) for line in means}
    for dots in (line for line in lines if line not in means):
        for y in dots.get_ydata():
            apart = {ink: np.abs(at - y).min() for ink, at in centres.items()}
            assert min(apart, key=apart.get) == dots.get_color()


def test_an_axes_of_yours_is_drawn_on():
    ax = matplotlib.figure.Figure().subplots()
    assert TreeStabilityDisplay({"$a$": found()}).plot(ax).ax_ is ax
