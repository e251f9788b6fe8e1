import matplotlib
import numpy as np
import pytest
from tests.rules.displays.samples import LONG, UNBROKEN
from tests.sbfc.reading.cases import chains_of, many, stand_in

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.sampling.diagnostics import diagnose
from clearwood.sbfc import FeatureForest

matplotlib.use("agg")
import matplotlib.pyplot as plt
from tests.wording import refuses, same_text

ODD = (LONG, UNBROKEN, "price in $", "$x^$_", "<b>bold</b>")


def odd():
    edges = {(0, 1): 1.0, (0, 2): 0.15, (0, 3): 0.5, (2, 3): 0.3}
    return stand_in(ODD, [1.0, 0.7, 0.4, 0.2, 0.0], edges)


@pytest.fixture(params=[odd, many], ids=["odd", "many"])
def display(request):
    return cw.sbfc.FeatureGraphDisplay.from_estimator(request.param())


def boxes_of(ax):
    """Grounds of features, and above each its shade."""
    return [one for one in ax.patches if one.get_fill()]


def edges_of(ax):
    return [one for one in ax.patches if not one.get_fill()]


def test_all_is_drawn_and_nothing_lies_outside(display):
    display.figure_.draw_without_rendering()
    assert len(boxes_of(display.ax_)) == 2 * len(display.graph.shown)
    assert len(edges_of(display.ax_)) == len(display.graph.edges)
    frame = display.figure_.bbox
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 + 1
        assert frame.y0 <= box.y0 and box.y1 <= frame.y1


def test_names_are_inside_their_boxes():
    display = cw.sbfc.FeatureGraphDisplay.from_estimator(odd())
    display.figure_.draw_without_rendering()
    boxes = [b.get_window_extent() for b in boxes_of(display.ax_)]
    inside = [text for text in display.ax_.texts if text.get_ha() == "center"]
    assert len(inside) >= 2 * len(ODD)
    for text in inside:
        t = text.get_window_extent()
        assert any(b.x0 - 1 <= t.x0 and t.x1 <= b.x1 + 1 for b in boxes), text


def test_shades_and_widths_tell_probabilities():
    estimator = odd()
    display = cw.sbfc.FeatureGraphDisplay.from_estimator(estimator)
    p = [edge.probability for edge in display.graph.edges]
    widths = [one.get_linewidth() for one in edges_of(display.ax_)]
    assert np.corrcoef(p, widths)[0, 1] > 0.999
    shades = [one.get_facecolor()[3] for one in boxes_of(display.ax_)[1::2]]
    # In the order of the places.
    expected = [0.5 * p for p in display.graph.signal]
    assert sorted(shades) == pytest.approx(sorted(expected))


def test_a_cutoff_leaves_edges_out():
    display = cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), cutoff=0.4)
    assert [edge.probability for edge in display.graph.edges] == [1.0, 0.5]


def test_one_graph_is_shown_as_it_is():
    graph = FeatureForest([1, 1, 0, 0, 0], [-1, 0, -1, 2, -1])
    display = cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), graph=graph)
    edges = {frozenset(edge[:2]) for edge in display.graph.edges}
    assert edges == {frozenset({0, 1}), frozenset({2, 3})}
    assert display.graph.signal.tolist() == [1, 1, 0, 0, 0]
    assert not any(text.get_text() == "1" for text in display.ax_.texts)


def test_letters_shrink_to_fit_given_axes():
    figure, ax = plt.subplots(figsize=(4, 1.2), layout="constrained")
    display = cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), ax=ax)
    figure.draw_without_rendering()
    frame = figure.bbox
    assert display.ax_ is ax
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.y0 - 2 <= box.y0
        assert box.x1 <= frame.x1 + 2


def test_bars_are_sorted_and_have_their_errors():
    rng = np.random.default_rng(0)
    signal = rng.random((4, 50, 5)) < [1.1, 0.7, 0.4, 0.2, -0.1]
    estimator = odd()
    estimator.chains_ = chains_of(signal, rng.normal(size=(4, 50)))
    estimator.inclusion_probability_ = np.array([0.4, 1.0, 0.2, 0.7, 0.0])
    display = cw.sbfc.SignalDisplay.from_estimator(estimator, most=4)
    assert display.names == [ODD[1], ODD[3], ODD[0], ODD[2]]
    assert display.probability.tolist() == [1.0, 0.7, 0.4, 0.2]
    expected = [diagnose(signal[..., j].astype(float)).mcse for j in (1, 3)]
    assert display.error[:2] == pytest.approx(expected)
    assert display.error[2] == 0  # in all draws
    same_text(display.ax_.get_title(loc="left"))
    assert [bar.get_width() for bar in display.ax_.patches] == [1.0, 0.7, 0.4, 0.2]


def test_a_line_for_every_chain():
    rng = np.random.default_rng(0)
    heights = rng.normal(size=(4, 30))
    chains = chains_of(np.zeros((4, 30, 5), dtype=bool), heights)
    estimator = odd()
    estimator.chains_ = chains
    display = cw.sbfc.LogPosteriorDisplay.from_estimator(estimator)
    drawn = [line.get_ydata() for line in display.ax_.lines]
    np.testing.assert_array_equal(drawn, heights)
    assert f"{diagnose(heights).rhat:.3f}" in display.ax_.get_title(loc="left")
    with refuses(InputError):
        cw.sbfc.LogPosteriorDisplay.from_estimator(odd())


def test_sizes_of_the_graphs_drawn():
    estimator = odd()
    estimator.graphs_ = [
        FeatureForest([1, 1, 1, 0, 0], [-1, 0, 1, -1, 3]),
        FeatureForest([1, 0, 0, 0, 0], [-1, -1, 1, 1, -1]),
        FeatureForest([1, 0, 0, 0, 0], [-1, -1, -1, -1, -1]),
    ]
    sizes = cw.sbfc.GraphSizesDisplay.from_estimator(estimator)
    assert sizes.values["signal"] == [3, 1, 1]
    shares = [bar.get_height() for bar in sizes.ax_.patches]
    assert shares == pytest.approx([2 / 3, 0, 1 / 3])
    density = cw.sbfc.GraphSizesDisplay.from_estimator(estimator, "edge_density")
    assert density.values["signal"] == pytest.approx([2 / 3, 0, 0])
    assert density.values["noise"] == pytest.approx([0.5, 0.5, 0])


def test_other_things_are_refused():
    with refuses(InputError):
        cw.sbfc.FeatureGraphDisplay.from_estimator(cw.MetaTreeClassifier())
    with pytest.raises(ValueError, match="not fitted"):
        cw.sbfc.SignalDisplay.from_estimator(cw.SelectiveBayesianForestClassifier())
    with refuses(InputError, match="FeatureForest"):
        cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), graph=0)
    with refuses(InputError):
        cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), cutoff=0)
    with refuses(InputError):
        other = FeatureForest([1, 1], [-1, 0])
        cw.sbfc.FeatureGraphDisplay.from_estimator(odd(), graph=other)
    with refuses(InputError, match="'size'"):
        cw.sbfc.GraphSizesDisplay({}, of="size")


def test_the_legend_stands_clear_of_what_is_written():
    heights = np.random.default_rng(0).normal(-13925.5, 0.1, size=(4, 20))
    drawn = cw.sbfc.LogPosteriorDisplay(heights, 1.001).plot()
    drawn.figure_.canvas.draw()
    legend = drawn.ax_.get_legend().get_window_extent()
    for said in (drawn.ax_._left_title, drawn.ax_.xaxis.label):
        assert not legend.overlaps(said.get_window_extent())
    assert legend.y0 >= 0


def test_features_of_a_single_level_are_not_shown_as_improbable():
    X = np.column_stack([np.ones(60), np.arange(60) % 2, np.arange(60) % 3])
    forest = cw.SelectiveBayesianForestClassifier(n_graphs=5, random_state=0)
    forest.fit(X, np.arange(60) % 2)
    graph = cw.sbfc.FeatureGraphDisplay.from_estimator(forest).graph
    assert set(graph.shown) == {1, 2}
    ranking = cw.sbfc.SignalDisplay.from_estimator(forest)
    assert set(ranking.names) == {"x1", "x2"}
    assert ranking.n_left_out == 1
