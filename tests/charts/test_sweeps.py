"""Chains over their draws: what the picture shows and says."""

import matplotlib
import numpy as np
import pytest

from clearwood.charts.chart import draw
from clearwood.charts.sweeps import sweeps_chart

matplotlib.use("agg")
VALUES = 12345 + np.random.default_rng(0).normal(size=(3, 20))


def test_every_chain_has_a_line_and_a_name():
    (ax,) = draw(sweeps_chart(VALUES, 1.2345, "loss"))
    for line, values in zip(ax.lines, VALUES, strict=True):
        assert line.get_xdata().tolist() == list(range(1, 21))
        assert line.get_ydata().tolist() == values.tolist()
    assert len({line.get_color() for line in ax.lines}) == 3
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["chain 1", "chain 2", "chain 3"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("draw", "loss")
    assert ax.get_title(loc="left").startswith("R-hat 1.234 ")


def test_numbers_on_the_axis_are_those_of_the_chains():
    """And no difference from a number that stands above."""
    (ax,) = draw(sweeps_chart(VALUES, np.nan, "loss"))
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    for label in ax.get_yticklabels():
        shown = float(label.get_text().replace("\N{MINUS SIGN}", "-"))
        assert low - 1 <= shown <= high + 1
    assert all(x == int(x) for x in ax.get_xticks())


def test_one_chain_and_no_r_hat_say_nothing_more():
    from matplotlib import pyplot as plt

    _, given = plt.subplots()
    (ax,) = draw(sweeps_chart(VALUES[:1, :1], np.nan, "loss"), given)
    assert ax is given and ax.get_legend() is None
    assert ax.get_title(loc="left") == ""
    assert ax.get_xlim() == pytest.approx((1, 2))
