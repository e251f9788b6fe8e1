from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from tests.circuits.made import circuits
from tests.circuits.reading.cases import (
    apart,
    clinic,
    spiked,
    stand_in,
    table,
    wide,
)

import clearwood as cw
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.reading import curves
from clearwood.circuits.reading.display import cells_of, colour_of, dependence_order
from clearwood.circuits.reading.outline import outline
from clearwood.distributions import Bernoulli, Gaussian
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from tests.wording import refuses, same_lines, same_text


@pytest.fixture(autouse=True)
def closing():
    yield
    plt.close("all")


# The circuit


@settings(max_examples=25)
@given(circuits())
def test_every_strip_holds_all_rows_and_adds_up(circuit):
    part = outline(circuit.root, 2)
    strips = {j: [] for j in part.columns}
    for cell in cells_of(part):
        strips[cell.column].append(cell)
    for j, cells in strips.items():
        cells.sort(key=lambda cell: cell.left)
        ends = [cell.right for cell in cells]
        assert np.allclose([cell.left for cell in cells], [0.0, *ends[:-1]])
        assert ends[-1] == pytest.approx(1)
        shares = np.array([cell.right - cell.left for cell in cells])
        pooled = type(part.profile[j]).pooled(shares, [cell.facts for cell in cells])
        assert np.allclose(np.hstack(pooled[:2]), np.hstack(part.profile[j][:2]))


@pytest.fixture(
    scope="module",
    params=[clinic, apart, lambda: wide(3, 2), lambda: wide(100, 16)],
    ids=["clinic", "apart", "three", "hundred"],
)
def display(request):
    return cw.circuits.CircuitDisplay.from_estimator(stand_in(request.param()))


def test_nothing_overlaps_and_nothing_lies_outside(display):
    figure = display.figure_
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    frame = figure.bbox
    for box in boxes:
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 + 1
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1
    lefts, rights, lows, highs = np.array([b.extents for b in boxes]).T[[0, 2, 1, 3]]
    apart_x = (rights[:, None] <= lefts + 1) | (rights <= lefts[:, None] + 1)
    # Letters of neighbouring lines have white above and below.
    apart_y = (highs[:, None] <= lows + 4) | (highs <= lows[:, None] + 4)
    assert (apart_x | apart_y | np.eye(len(boxes), dtype=bool)).all()


def test_numbers_stand_inside_their_cells(display):
    display.figure_.draw_without_rendering()
    cells = [
        one.get_window_extent() for one in display.ax_.patches
        if isinstance(one, Rectangle)
    ]  # fmt: skip
    inside = [t for t in display.ax_.texts if t.get_ha() == "center"]
    plain = [t for t in inside if t.get_fontweight() == "normal"]
    assert plain
    for text in plain:
        t = text.get_window_extent()
        around = [c for c in cells if c.y0 <= t.y0 and t.y1 <= c.y1]
        assert any(c.x0 - 1 <= t.x0 and t.x1 <= c.x1 + 1 for c in around)


def test_kinds_are_as_wide_as_their_shares():
    display = cw.circuits.CircuitDisplay(clinic()).plot()
    heads = [t.get_text() for t in display.ax_.texts if t.get_fontweight() == "bold"]
    assert heads == ["1: 60 %", "2: 40 %"]
    smoker = [cell for cell in display.cells if cell.column == 0]
    assert [(c.left, c.right) for c in smoker] == [(0, 0.6), (0.6, pytest.approx(1))]
    pressure = [cell.right - cell.left for cell in display.cells if cell.column == 4]
    assert pressure == pytest.approx([0.42, 0.18, 0.28, 0.12])


def test_colours_tell_the_side_and_how_far():
    white, below, above = (np.array(to_rgb(colour_of(x))) for x in (0, -9, 9))
    assert white.min() > 0.9
    assert below[2] > below[0] and above[0] > above[2]
    half = np.array(to_rgb(colour_of(0.75)))
    assert above[2] < half[2] < white[2]


def test_columns_that_depend_on_each_other_are_neighbours():
    order = cw.circuits.CircuitDisplay(apart()).columns
    assert abs(order.index(0) - order.index(1)) == 1
    assert abs(order.index(2) - order.index(3)) == 1
    assert dependence_order(np.ones((1, 1))) == [0]


def test_only_those_that_differ_most_are_shown_of_many():
    d = 120
    kinds = [
        Product(tuple(Bernoulli(j, 0.5 + side * (0.3 * (j >= 30))) for j in range(d)))
        for side in (-1, 1)
    ]
    features = FeatureSpace(tuple(f"x{j}" for j in range(d)), ((0, 1),) * d)
    root = Sum(np.array([0.5, 0.5]), tuple(kinds))
    display = cw.circuits.CircuitDisplay(Circuit(root, features)).plot()
    assert len(display.columns) == 100 and set(range(30, d)) <= set(display.columns)
    said = " ".join(text.get_text() for text in display.ax_.texts)
    same_lines(said)


def test_letters_shrink_to_fit_given_axes():
    figure, ax = plt.subplots(figsize=(5, 1.4), layout="constrained")
    display = cw.circuits.CircuitDisplay(clinic()).plot(ax)
    figure.draw_without_rendering()
    frame = ax.get_window_extent()
    assert display.ax_ is ax
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.y0 - 2 <= box.y0 and box.x1 <= frame.x1 + 2


def test_what_has_no_circuit_is_refused():
    with refuses(InputError, match="circuit_"):
        cw.circuits.CircuitDisplay.from_estimator(3)
    with pytest.raises(Exception, match="not fitted"):
        cw.circuits.CircuitDisplay.from_estimator(type(stand_in(clinic()))())


# Curves


def log_likelihood(circuit, **known):
    features = circuit.features
    row = np.full((1, features.n_features), np.nan)
    for name, value in known.items():
        labels = features.categories[features.names.index(name)]
        row[0, features.names.index(name)] = labels.index(value) if labels else value
    return compile_circuit(circuit).log_likelihood(row)[0]


def test_curves_are_conditional_densities():
    circuit = clinic()
    # A number that stands for new levels elsewhere.
    given = {"smoker": "yes", "age": -1.0, "bmi": 25.0}
    display = cw.circuits.ConditionalDisplay.from_estimator(
        stand_in(circuit), "bp", [given]
    )
    grid = np.linspace(60, 200, 2001)
    curves = display.density(grid)
    assert np.trapezoid(curves, grid, axis=1) == pytest.approx([1, 1])
    for x in (105.0, 140.0, 161.0):
        for known, curve in zip(({}, given), curves):
            whole = log_likelihood(circuit, bp=x, **known)
            without = log_likelihood(circuit, **known)
            at = np.interp(x, grid, curve)
            assert at == pytest.approx(np.exp(whole - without), rel=1e-3)


def test_bars_are_conditional_probabilities():
    circuit = clinic()
    display = cw.circuits.ConditionalDisplay(
        circuit, "sex", [{"hue": "blue"}, {"age": 40}]
    )
    for known, own in zip(display.given, display.shares):
        without = log_likelihood(circuit, **known)
        both = [log_likelihood(circuit, sex=level, **known) for level in (0.0, 1.0)]
        assert own == pytest.approx(np.exp(np.array(both) - without))
    display.plot()
    widths = sorted(bar.get_width() for bar in display.ax_.patches)
    assert widths == pytest.approx(sorted(display.shares.ravel()))


def test_a_histogram_is_drawn_as_it_is():
    name = clinic().features.names[6]
    display = cw.circuits.ConditionalDisplay(clinic(), name).plot()
    found = display.density(np.array([-1.0, 0.0, 0.99, 1.0, 3.99, 4.0, 5.0]))[0]
    assert found == pytest.approx([0, 0.4, 0.4, 0.2, 0.2, 0.2, 0])
    assert display.ax_.get_xlabel() == r"<b>dose</b> in \$"


def test_curves_are_of_the_cells_off_the_point_masses_whose_shares_are_shown():
    display = cw.circuits.ConditionalDisplay(spiked(), "dose", [{"ill": "no"}]).plot()
    assert display.ax_.get_ylim()[1] < 0.05
    assert display.density(np.array([0.0])).ravel() == pytest.approx(
        [0.582, 0.97 * 0.54 / 0.58]
    )
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    same_text(names)


@pytest.mark.parametrize("out", [1e12, -1e12])
def test_a_few_rows_far_out_leave_the_others_to_be_seen(out):
    near, far = Gaussian(0, 50.0, 100.0), Gaussian(0, out, 1.0)
    root = Sum(np.array([0.98, 0.02]), (near, far))
    display = cw.circuits.ConditionalDisplay(
        Circuit(root, FeatureSpace.numeric(1)), "x0"
    ).plot()
    low, high = display.ax_.get_xlim()
    assert 0 < low < 30 and 70 < high < 110
    same_text(display.ax_.get_title("left"))
    (curve,) = display.ax_.get_lines()
    assert curve.get_ydata().max() == pytest.approx(
        0.98 / np.sqrt(200 * np.pi), rel=0.01
    )
    normal = cw.circuits.ConditionalDisplay(
        Circuit(near, FeatureSpace.numeric(1)), "x0"
    ).plot()
    assert not normal.ax_.get_title("left")
    assert np.allclose(normal.ax_.get_xlim(), (19, 81), atol=1)


def test_legends_lie_outside_and_inside_the_figure():
    given = [{"smoker": s, "age": a} for s in ("no", "yes") for a in (30, 50, 70)]
    for column in ("bmi", "hue"):
        display = cw.circuits.ConditionalDisplay(clinic(), column, given).plot()
        display.figure_.draw_without_rendering()
        box = display.ax_.get_legend().get_window_extent()
        assert box.y1 <= display.ax_.get_window_extent().y0
        assert display.figure_.bbox.y0 <= box.y0
        assert len(display.ax_.get_legend().get_texts()) == 7


@pytest.mark.parametrize(
    ("column", "given", "message"),
    [
        ("pulse", {}, "'pulse'"),
        ("age", {"pulse": 3}, "'pulse'"),
        ("age", {"hue": "pink"}, "'hue'.*'pink'.*'red'"),
        ("age", {"age": 3}, ""),
        ("age", {"bp": "high"}, ""),
    ],
)
def test_what_cannot_be_drawn_is_refused(column, given, message):
    with refuses(InputError, match=message):
        cw.circuits.ConditionalDisplay(clinic(), column, [given])


# A row


def test_the_surprising_entry_comes_first_with_what_was_expected():
    row = np.array([[1.0, np.nan, 0.0, 35.0, 190.0, 20.0, 2.0]])
    display = cw.circuits.AnomalyDisplay.from_estimator(stand_in(clinic()), table(row))
    first = display.entries[0]
    assert (first["column"], first["found"]) == ("bp", "190")
    assert first["surprise"] > 20 and first["expected"].startswith("110")
    assert [one["column"] for one in display.entries].count("sex") == 0
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert widths == sorted(widths, reverse=True)
    display.figure_.draw_without_rendering()
    frame = display.figure_.bbox
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 + 1


def test_only_one_row_is_drawn():
    with refuses(InputError):
        cw.circuits.AnomalyDisplay.from_estimator(
            stand_in(clinic()), table(np.zeros((2, 7)))
        )
    many = cw.circuits.AnomalyDisplay(clinic(), np.zeros(7), most=3).plot()
    same_text(many.ax_.get_title(loc="left"))


def test_a_column_without_spread_is_no_surprise():
    features = FeatureSpace(("a", "b"), (None, (0, 1)))
    root = Product((Gaussian(0, 1.0, 1e-12), Bernoulli(1, 0.0)))
    found = cw.circuits.AnomalyDisplay(
        Circuit(root, features), np.array([1.0, 0.0])
    ).entries
    assert all(np.isfinite(one["surprise"]) for one in found)


# Sizes


def test_the_chosen_network_is_marked():
    found = stand_in(clinic())
    own = clinic().degrees_of_freedom
    found.front_ = [
        SimpleNamespace(degrees_of_freedom=size, log_likelihood=height)
        for size, height in ((2, -9.0), (own, -8.0), (90, -7.5))
    ]
    display = cw.circuits.NetworkSizesDisplay.from_estimator(found)
    assert display.chosen == 1
    (mark,) = [line for line in display.ax_.lines if line.get_label() == "selected"]
    assert mark.get_xydata().tolist() == [[own, -8.0]]
    assert display.ax_.get_xscale() == "log"
    with refuses(InputError, match="front_"):
        cw.circuits.NetworkSizesDisplay.from_estimator(stand_in(clinic()))


def test_lines_of_many_conditions_differ_in_colour_or_kind():
    looks = [curves.look_of(i) for i in range(28)]
    assert len({tuple(map(str, look.values())) for look in looks}) == 28
