"""Graphs: the record, the best one, and random ones beside all there are."""

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.special import logsumexp
from tests.sbfc import naive
from tests.sbfc.tables import as_table, golden_cases
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.sbfc.graphs import (
    FeatureForest,
    best_graph,
    draw_graphs,
    log_posterior,
    weakest_edge,
)
from clearwood.sbfc.scores import Edges, Penalty, score, strong_edges


def random_weights(d, seed, spread=2.0, centre=0.0):
    """Symmetric log weights, minus infinity on the diagonal."""
    found = np.random.default_rng(seed).normal(centre, spread, (d, d))
    found = np.tril(found, -1) + np.tril(found, -1).T
    np.fill_diagonal(found, -np.inf)
    return found


def as_edges(log_weight):
    """Finite log weights as a sparse table."""
    i, j = np.nonzero(np.isfinite(log_weight))
    table = sparse.coo_array((log_weight[i, j], (i, j)), shape=log_weight.shape)
    return Edges(table.tocsr(), np.zeros(len(log_weight)))


def drawn_parents(log_weight, n, seed=0):
    """Random forests of noise alone."""
    edges = as_edges(log_weight)
    noise = np.zeros(len(log_weight), dtype=bool)
    graphs = draw_graphs([noise] * n, (edges, edges), seed)
    return np.array([graph.parent for graph in graphs])


# The record


def test_edges_of_a_graph():
    graph = FeatureForest([0, 1, 0, 1, 0], [2, -1, 4, -1, -1])
    assert graph.edges.tolist() == [[0, 2], [2, 4]]
    assert str(graph).splitlines() == [
        "signal", "  x1, x3", "noise", "  x4", "    x2", "      x0",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        graph.parent[0] = 1


@pytest.mark.parametrize(
    ("signal", "parent"),
    [
        ([1, 1], [-1]),
        ([1, 1], [-1, 2]),
        ([1, 1], [-2, -1]),
        ([1, 0], [-1, 0]),
        ([0, 0, 0], [1, 2, 0]),
        ([0], [0]),
    ],
)
def test_no_forest(signal, parent):
    with refuses(InputError):
        FeatureForest(signal, parent)


def test_many_features_without_an_edge_are_counted():
    lines = str(FeatureForest(np.zeros(1025), np.full(1025, -1))).splitlines()
    assert lines[0] == "noise"
    assert lines[1].startswith("  x0, x1, ")
    assert lines[1].endswith(", x19, 1,005 more")


def test_a_long_chain_is_a_forest():
    FeatureForest(np.zeros(1000), np.arange(1000) - 1)
    with refuses(InputError):
        FeatureForest(np.zeros(1000), np.roll(np.arange(1000), 1))


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case["name"])
def test_golden_posteriors_of_graphs(case):
    table = as_table(case)
    scores = score(table, case["alpha"])
    cost = Penalty.of(
        "paper", case["lambda_x"], case["lambda_y"], case["d"], case["classes"]
    )
    for fact in case.get("all_graphs", case["top_graphs"]):
        graph = FeatureForest(fact["group"], fact["parent"])
        found = log_posterior(graph, scores, cost)
        assert found == pytest.approx(fact["log_prior"] + fact["log_likelihood"])
        rooted = np.exp(found - case["log_evidence_unnormalised_rooted"])
        assert rooted == pytest.approx(fact["posterior_rooted"], abs=1e-9)
    signals, parents = naive.graphs(case["d"])
    assert len(signals) == case["n_graphs"]
    total = logsumexp([
        log_posterior(FeatureForest(signal, parent), scores, cost)
        for signal, parent in zip(signals, parents)
    ])  # fmt: skip
    wanted = case["log_evidence_unnormalised_rooted"]
    assert total == pytest.approx(wanted, abs=1e-9)


# The best one


@pytest.mark.parametrize("seed", range(5))
def test_best_graph_is_the_best_of_all(seed):
    log_weight = [random_weights(5, 10 * seed + group) for group in (0, 1)]
    signal = np.array([True, False, True, True, seed % 2])
    graph = best_graph(signal, tuple(as_edges(w) for w in log_weight))
    every = naive.rooted_forests(5)
    child = np.arange(5)
    inside = (every < 0) | (signal[child] == signal[np.maximum(every, 0)])
    own = np.where(signal[:, None], log_weight[1], log_weight[0])
    best = naive.forest_log_weights(every[inside.all(axis=1)], own).max()
    found = naive.forest_log_weights(graph.parent[None], own)[0]
    assert found == pytest.approx(best, abs=1e-12)
    for j in np.flatnonzero(graph.parent >= 0):
        root = j
        while graph.parent[root] >= 0:
            root = graph.parent[root]
        assert root < j  # trees start at their first features


# Random ones

WEIGHTS = {
    "about 1": random_weights(4, 0),
    "strong": random_weights(4, 1, centre=3.0),
    "huge": random_weights(4, 2, spread=1.0, centre=1270.0),
    "a weak bridge": np.where(
        np.equal.outer([0, 0, 1, 1], [0, 0, 1, 1]), 900.0, -0.5
    ) + random_weights(4, 3, spread=0.3),
    "not all": np.where(np.eye(4, k=1) + np.eye(4, k=-1) > 0, 0.7, -np.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", WEIGHTS)
def test_random_forests_come_as_often_as_they_should(name):
    n, forests = 2500, naive.rooted_forests(4)
    assert len(forests) == 125
    log_weight = naive.forest_log_weights(forests, WEIGHTS[name])
    expected = n * np.exp(log_weight - logsumexp(log_weight))
    drawn = drawn_parents(WEIGHTS[name], n)
    found = (drawn[:, None] == forests).all(axis=2).sum(axis=0)
    rare = expected < 5.0
    found = np.append(found[~rare], found[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    used = expected > 1e-3  # else: all of these are impossible
    assert found[~used].sum() == 0
    assert stats.chisquare(found[used], expected[used]).pvalue > 1e-4


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_many_nodes_by_the_matrix_tree_theorem(share):
    log_weight = random_weights(30, 5, centre=-2.0)
    away = np.random.default_rng(0).random((30, 30)) > share
    log_weight[away | away.T] = -np.inf
    weight = np.exp(log_weight)
    laplacian = np.diag(1.0 + weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian)
    diagonal = np.diag(inverse)
    probability = weight * (diagonal[:, None] + diagonal - 2 * inverse)
    n = 2000
    found = np.zeros((30, 30))
    for parent in drawn_parents(log_weight, n):
        child = np.flatnonzero(parent >= 0)
        found[child, parent[child]] += 1
    found = (found + found.T) / n
    error = np.sqrt(probability * (1 - probability) / n) + 1 / n
    assert (np.abs(found - probability) < 4.5 * error).all()


def test_edges_that_may_be_left_out_are_rare_in_all():
    for d in (2, 10, 2000):
        total = d * (d - 1) / 2 * np.exp(weakest_edge(d))
        assert total == pytest.approx(0.5e-4)
    assert weakest_edge(1) < -9
    assert weakest_edge(2001) == weakest_edge(10_000) == -16.0


def test_no_draws():
    edges = as_edges(random_weights(3, 0))
    assert draw_graphs([], (edges, edges), 0) == []


def test_strong_edges_apart_from_those_that_do_not_matter():
    """Weights e^700 apart: a forest holds the strong ones and no others."""
    d = 60
    log_weight = random_weights(d, 1, spread=0.1, centre=50.0)
    chain = np.arange(d - 1)
    log_weight[chain, chain + 1] = log_weight[chain + 1, chain] = 750.0
    drawn = drawn_parents(log_weight, 20)
    for parent in drawn:
        child = np.flatnonzero(parent >= 0)
        assert len(child) == d - 1
        assert (np.abs(child - parent[child]) == 1).all()
    roots = np.array([np.flatnonzero(parent < 0)[0] for parent in drawn])
    assert len(set(roots.tolist())) > 10


def test_graphs_keep_their_groups_and_repeat_with_their_seed():
    table = as_table(golden_cases()[1])
    cost = Penalty((-1.0, -1.0), (0.0, 0.0))
    edges = strong_edges(score(table), cost, weakest_edge(4))
    signals = np.random.default_rng(0).random((50, 4)) < 0.5
    graphs = draw_graphs(signals, edges, 3)
    again = draw_graphs(signals, edges, np.random.default_rng(3))
    np.testing.assert_array_equal([g.signal for g in graphs], signals)
    np.testing.assert_array_equal([g.parent for g in graphs], [g.parent for g in again])
    assert sum(len(g.edges) for g in graphs) > 50


def test_drawing_with_random_groups_has_the_posterior_of_graphs():
    """Groups by their exact probability, forests given these: all graphs."""
    case = golden_cases()[0]
    table = as_table(case)
    scores = score(table, case["alpha"])
    cost = Penalty((1.0, 0.5), (0.0, 0.3))
    signals, parents = naive.graphs(3)
    log_each = naive.graph_log_posteriors(signals, parents, scores, cost)
    each = np.exp(log_each - logsumexp(log_each))
    n = 3000
    chosen = np.random.default_rng(0).choice(len(each), n, p=each)
    edges = strong_edges(scores, cost, weakest_edge(3))
    drawn = [(*g.signal, *g.parent) for g in draw_graphs(signals[chosen], edges, 0)]
    listed = [tuple(row) for row in np.hstack([signals, parents]).tolist()]
    found = np.array([drawn.count(row) for row in listed])
    rare = each * n < 5
    found = np.append(found[~rare], found[rare].sum())
    expected = n * np.append(each[~rare], each[rare].sum())
    assert found.sum() == n
    assert stats.chisquare(found, expected).pvalue > 1e-4
