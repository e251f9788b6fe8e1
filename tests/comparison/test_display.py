import math

import matplotlib
import numpy as np
import pytest
from tests.reporting.frontiers import NAN, frontier, point, small_frontier
from tests.wording import refuses

from clearwood.charts.scale import Scale, log_ticks, scale_of
from clearwood.comparison.display import FrontierDisplay
from clearwood.exceptions import InputError

matplotlib.use("agg")


def random_frontier(seed, n=60):
    """Sizes and errors of few values, so that many tie."""
    rng = np.random.default_rng(seed)
    points = [
        point(
            f"method {rng.integers(5)}",
            int(rng.integers(1, 12)),
            round(rng.uniform(0.1, 0.9), 1),
            fidelity=round(rng.uniform(), 1),
        )
        for _ in range(n)
    ]
    return frontier(points)


@pytest.mark.parametrize("seed", range(5))
def test_the_filled_points_are_those_of_the_frontier(seed):
    found = random_frontier(seed)
    display = FrontierDisplay.from_frontier(found)
    assert display.points == list(found.points)
    assert display.unbeaten == [one.on_frontier for one in found.points]
    filled = [
        line
        for line in found.plot().ax_.lines
        if line.get_marker() not in ("", "None")
        and line.get_markerfacecolor() != "white"
        and len(line.get_xdata())
    ]
    assert len(filled) == sum(display.unbeaten)


def test_more_fidelity_is_better():
    display = FrontierDisplay.from_frontier(random_frontier(0), y="fidelity")
    for one, best in zip(display.points, display.unbeaten):
        beaten = any(
            other.n_rules <= one.n_rules
            and other.fidelity >= one.fidelity
            and (other.n_rules < one.n_rules or other.fidelity > one.fidelity)
            for other in display.points
        )
        assert best == (not beaten)
    assert np.diff([y for _, y in display.stairs]).min() > 0


def test_the_line_goes_down_from_one_unbeaten_point_to_the_next():
    display = FrontierDisplay.from_frontier(small_frontier())
    places = [display.places[k] for k in (0, 3, 1, 2)]
    assert display.stairs == places
    x, y = display.plot().ax_.lines[0].get_data()
    assert list(zip(x, y))[:-1] == places
    assert y[-1] == 0.2 and x[-1] == display.ax_.get_xlim()[1]


def test_axes_are_logarithmic_where_places_are_laid_out_so():
    points = [point("list", k, 2.0**-k) for k in range(1, 12)]
    display = FrontierDisplay.from_frontier(frontier(points)).plot()
    scales = [axis.get_scale() for axis in (display.ax_.xaxis, display.ax_.yaxis)]
    expected = ["log" if scale.is_log else "linear" for scale in display.scales]
    assert scales == expected and "log" in scales


def test_points_stand_where_they_belong_and_side_by_side():
    display = FrontierDisplay.from_frontier(small_frontier())
    for one, (x, y) in zip(display.points, display.places):
        assert abs(x - one.n_rules) < 0.5 and y == one.error
    assert len(set(display.places)) == len(display.points)
    assert display.places[2][0] < display.places[4][0]  # list and tree, 4 lines
    by_time = FrontierDisplay.from_frontier(small_frontier(), x="seconds")
    assert {x for x, _ in by_time.places} == {2.0}


def test_what_is_not_known_is_left_out():
    found = small_frontier()
    display = FrontierDisplay.from_frontier(found, y="stability")
    assert len(display.points) == len(found.points) - 1
    display.plot().figure_.canvas.draw()
    unknown = frontier([point("list", 2, 0.5, stability=NAN)])
    with refuses(InputError):
        FrontierDisplay.from_frontier(unknown, y="stability")


@pytest.mark.parametrize("options", [{"x": "error"}, {"y": "n_rules"}])
def test_axes_that_are_not_known_are_refused(options):
    with refuses(InputError):
        FrontierDisplay.from_frontier(small_frontier(), **options)


def test_the_model_is_a_line_with_its_name_beside_it():
    display = FrontierDisplay.from_frontier(small_frontier(model_error=0.07)).plot()
    dashed = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert [set(line.get_ydata()) for line in dashed] == [{0.07}]
    (name,) = display.ax_.texts
    assert "0.07" in name.get_text() and "below" not in name.get_text()
    assert FrontierDisplay.from_frontier(small_frontier(model_error=NAN)).plot()


def test_a_model_far_below_is_said_to_be():
    points = [point("list", k, 10.0 / k**2) for k in (1, 3, 9)]
    display = FrontierDisplay.from_frontier(frontier(points, model_error=0.0)).plot()
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.texts[0].get_text().endswith("below")
    # On an axis that is not logarithmic nought has a place.
    for error in (0.0, 1e-9):
        near = FrontierDisplay.from_frontier(small_frontier(model_error=error)).plot()
        assert near.ax_.get_yscale() == "linear"
        assert near.ax_.get_ylim()[0] < error


def test_a_constant_far_above_the_others_is_named_at_the_upper_end():
    points = [point("list", k, e) for k, e in ((1, 3.0), (3, 0.3), (9, 0.2))]
    display = FrontierDisplay.from_frontier(frontier(points, model_error=0.1)).plot()
    top = display.ax_.get_ylim()[1]
    assert top < 3.0
    notes = {text.get_text(): text.xy[1] for text in display.ax_.texts}
    assert notes["\N{UPWARDS ARROW} 1 rule: 3"] == top


@pytest.mark.parametrize("n_methods", [1, 4, 12])
def test_no_text_lies_on_another(n_methods):
    names = ["$x^$_", "a longer name of a method", *(f"m{k}" for k in range(10))]
    points = [
        point(names[m], k, 1.0 / (k + m), error_se=0.02)
        for m in range(n_methods)
        for k in range(1, 11)
    ]
    display = FrontierDisplay.from_frontier(frontier(points)).plot()
    figure, ax = display.figure_, display.ax_
    figure.canvas.draw()
    legend = ax.get_legend()
    assert len({(h.get_color(), h.get_marker()) for h in legend.legend_handles}) == (
        n_methods + 1
    )
    parts = [legend, ax.xaxis.label, ax.yaxis.label, *ax.texts]
    boxes = [part.get_window_extent() for part in parts]
    boxes.append(ax.get_window_extent())
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[k + 1 :])


def test_it_draws_where_it_is_told():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2)
    display = FrontierDisplay.from_frontier(small_frontier())
    assert display.plot(axes[1]) is display
    assert display.ax_ is axes[1] and display.figure_ is figure
    assert not axes[0].lines


@pytest.mark.parametrize(
    "values", [[1.0], [0.0, 0.0], [1e-250, 1e250], [-5.0, 1e300], [0.1, 0.2], [3, 900]]
)
def test_an_axis_has_room_for_its_values(values):
    scale = scale_of(values)
    assert scale.low < min(values) and max(values) < scale.high < math.inf
    shares = [scale.share(value) for value in sorted(values)]
    assert all(0 < share < 1 for share in shares) and sorted(shares) == shares
    assert scale.share(-math.inf) == 0 and scale.share(math.inf) == 1
    if scale.is_log:
        ticks = log_ticks(scale)
        assert 1 <= len(ticks) <= 8
        assert all(scale.low <= tick <= scale.high for tick in ticks)


def test_ticks_of_a_short_logarithmic_axis():
    assert log_ticks(Scale(0.9, 25.0, True)) == [1.0, 2.0, 5.0, 10.0, 20.0]
