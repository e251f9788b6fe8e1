"""Predictions by graphs, beside the formulas of 2.3.4 and sums over all rows."""

import json

import numpy as np
import pytest
from scipy.special import logsumexp
from tests.conftest import find_shared_data
from tests.sbfc import naive
from tests.sbfc.tables import as_table, random_table

from clearwood.sbfc.graphs import FeatureForest, draw_graphs, weakest_edge
from clearwood.sbfc.prediction import average_graphs
from clearwood.sbfc.scores import Penalty, score, strong_edges

SMOOTHINGS = ("paper", "dirichlet")

LEVELS = (2, 3, 2, 4, 3)

GRAPHS = [
    FeatureForest([1, 1, 1, 1, 0], [-1, 0, 1, 1, -1]),
    FeatureForest([1, 0, 1, 1, 1], [2, -1, -1, 2, 3]),
    FeatureForest([0, 0, 0, 0, 0], [-1, 0, 1, 1, -1]),
    FeatureForest([1, 1, 1, 1, 1], [1, 2, 3, 4, -1]),
]


@pytest.fixture(scope="module", params=[None, "parts"])
def table(request):
    weight = None if request.param is None else np.arange(50) % 7 / 4 + 0.25
    return random_table(LEVELS, 50, n_classes=3, weight=weight)


def every_row():
    return np.array(list(np.ndindex(LEVELS)))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_golden_predictions(smoothing):
    path = find_shared_data("golden/sbfc_corral.json")
    case = json.loads(path.read_text())["corral6"]
    table = as_table(case)
    name = {"paper": "thesis_smoothing", "dirichlet": "dirichlet_mean"}[smoothing]
    for fact in case["predictions"]:
        graph = case["graphs"][fact["graph_index"]]
        average = average_graphs(
            [FeatureForest(graph["group"], graph["parent"])], table, smoothing
        )
        found = average.predict(table.codes[fact["test_row_indices"]])
        wanted = fact[f"class_probabilities_{name}"]
        np.testing.assert_allclose(found.probability, wanted, rtol=0, atol=1e-9)
        assert np.isnan(found.error).all()


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("place", range(len(GRAPHS)))
def test_one_graph_by_the_formula(table, place, smoothing):
    codes = every_row()
    average = average_graphs([GRAPHS[place]], table, smoothing, alpha=2.0)
    log_joint = naive.log_joint_of_rows(GRAPHS[place], table, codes, smoothing, 2.0)
    wanted = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    found = average.predict(codes).probability
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_unknown_values_are_summed_out(table, smoothing):
    """Every pattern of unknown values, beside sums over all rows that fit."""
    codes = every_row()
    for graph in GRAPHS:
        average = average_graphs([graph], table, smoothing)
        log_joint = naive.log_joint_of_rows(graph, table, codes, smoothing, 5.0)
        asked = codes[7::31]
        for pattern in np.ndindex((2,) * len(LEVELS)):
            rows = np.where(np.array(pattern) == 1, -1, asked)
            fits = (rows[:, None] == codes) | (rows[:, None] < 0)
            total = np.array(
                [logsumexp(log_joint[f.all(axis=1)], axis=0) for f in fits]
            )
            wanted = np.exp(total - logsumexp(total, axis=1, keepdims=True))
            found = average.predict(rows).probability
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_levels_never_seen_are_unknown():
    table = random_table((2, 3, 2), 30)
    codes = table.codes.copy()
    codes[codes[:, 1] == 2, 1] = 0  # a level that is left without a row
    table = table._replace(codes=codes)
    graph = FeatureForest([1, 1, 1], [1, -1, 1])
    for smoothing in SMOOTHINGS:
        average = average_graphs([graph], table, smoothing)
        rows = np.array([[1, value, 0] for value in (-1, -7, 2, 3, 200)])
        found = average.predict(rows).probability
        assert np.isfinite(found).all()
        assert (found == found[0]).all()


def test_average_counts_every_draw_once(table):
    codes = every_row()
    draws = [0, 1, 1, 2, 3, 1, 0, 0]
    each = [average_graphs([g], table).predict(codes).probability for g in GRAPHS]
    found = average_graphs([GRAPHS[i] for i in draws], table).predict(codes)
    drawn = np.array([each[i] for i in draws])
    np.testing.assert_allclose(found.probability, drawn.mean(axis=0), atol=1e-14)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(draws))
    np.testing.assert_allclose(found.error, error, atol=1e-14)


def test_equal_graphs_are_kept_once(table):
    noise = [np.array(p) for p in ([-1, 4, -1, -1, -1], [-1, -1, -1, -1, 1])]
    graphs = [FeatureForest([1, 0, 1, 1, 0], p) for p in noise] * 100
    average = average_graphs(graphs, table)
    assert len(average.graph_start) == 2
    assert average.feature.tolist() == [0, 2, 3]
    found = average.predict(every_row())
    assert found.error.max() < 1e-15


def test_error_of_draws_that_follow_one_another(table):
    """A chain that rests for long is worth few draws."""
    codes = every_row()
    spread = [GRAPHS[i] for i in (0, 3)] * 100
    resting = [GRAPHS[0]] * 100 + [GRAPHS[3]] * 100
    found = [
        average_graphs(graphs, table).predict(codes) for graphs in (spread, resting)
    ]
    np.testing.assert_allclose(found[0].probability, found[1].probability, atol=1e-14)
    assert found[0].error.max() < 1e-15
    assert found[1].error.max() > 0.05


def test_average_over_draws_is_that_over_all_graphs():
    table = random_table((2, 2, 3), 40)
    scores, cost = score(table), Penalty((0.6, 0.2), (0.0, 0.4))
    signals, parents = naive.graphs(3)
    log_each = naive.graph_log_posteriors(signals, parents, scores, cost)
    share = np.exp(log_each - logsumexp(log_each))
    codes = np.array(list(np.ndindex(2, 2, 3)))
    exact = sum(
        p * average_graphs([FeatureForest(*graph)], table).predict(codes).probability
        for p, *graph in zip(share, signals, parents)
    )
    chosen = np.random.default_rng(0).choice(len(share), 1000, p=share)
    edges = strong_edges(scores, cost, weakest_edge(3))
    graphs = draw_graphs(signals[chosen], edges, 0)
    found = average_graphs(graphs, table).predict(codes)
    assert 0 < found.error.max() < 0.01
    assert (np.abs(found.probability - exact) < 4 * found.error).all()
