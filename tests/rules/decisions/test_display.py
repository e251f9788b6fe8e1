import matplotlib
import numpy as np
import pytest
from tests.rules.decisions.test_classes import three_classes, two_classes
from tests.rules.decisions.test_values import a_list
from tests.wording import refuses, same_text

from clearwood.exceptions import InputError
from clearwood.rules import DecisionsDisplay, ResidualsDisplay

matplotlib.use("agg")
X = np.random.default_rng(0).uniform(size=(90, 2))


def test_points_and_curves_are_those_of_the_decisions():
    y = np.where(X.sum(axis=1) > 1, "ill", "well")
    display = DecisionsDisplay.from_estimator(two_classes(), X, y, model=y)
    left, right = display.axes_
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert [float(dot.get_xdata()[0]) for dot in dots] == [0.2, 0.5, 0.9]
    assert [text.get_text() for text in left.texts] == ["3", "2", "1"]
    # The more rows, the larger.
    sizes = [dot.get_markersize() for dot in dots]
    rows = [point.found.rows for point in reversed(display.found.calibration)]
    assert np.argsort(sizes).tolist() == np.argsort(rows).tolist()
    curves = [line for line in right.lines if len(line.get_xdata()) > 2]
    (curve,) = curves  # Of the model only classes are known.
    roc = display.found.rules.roc
    assert curve.get_ydata().tolist() == roc.sensitivity.tolist()
    display.figure_.canvas.draw()


def test_several_classes_have_a_table_and_two_shares_each():
    y = np.array(["a", "b", "c"])[(3 * X[:, 0]).astype(int)]
    display = DecisionsDisplay.from_estimator(three_classes(), X, y)
    left, right = display.axes_
    shown = [float(text.get_text()) for text in left.texts]
    table = display.found.rules.confusion
    assert shown == table.ravel().tolist()
    (image,) = left.images
    np.testing.assert_allclose(
        image.get_array(), table / table.sum(axis=1, keepdims=True)
    )
    assert len([line for line in right.lines if line.get_marker() != "None"]) == 6
    told = [text.get_text() for text in right.get_legend().get_texts()]
    same_text(told)
    # All of the scale of shares, and no more.
    assert right.get_xlim() == pytest.approx((0, 1), abs=0.05)
    display.figure_.canvas.draw()


def test_errors_are_drawn_by_line():
    y = X[:, 0]
    display = ResidualsDisplay.from_estimator(a_list(), X[:, :1], y)
    thin = display.ax_.lines[1]
    ends = display.found.lines[0].errors.quantiles
    assert thin.get_xdata().tolist() == [ends[0], ends[-1]]
    display.figure_.canvas.draw()


def test_each_is_for_its_own_kind():
    with refuses(InputError, match="ResidualsDisplay"):
        DecisionsDisplay.from_estimator(a_list(), X[:, :1], X[:, 0])
    with refuses(InputError, match="DecisionsDisplay"):
        ResidualsDisplay.from_estimator(two_classes(), X, ["ill"] * 90)
