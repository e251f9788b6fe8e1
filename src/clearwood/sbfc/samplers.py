"""Posterior over graphs by an exact sum, by sampled groups or by sampled graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clearwood.exceptions import InputError
from clearwood.sampling import Chains, Sampler
from clearwood.sbfc.collapsed import SignalSampler
from clearwood.sbfc.exact import MOST_FEATURES, exact_posterior
from clearwood.sbfc.graphs import (
    FeatureForest,
    best_graph,
    draw_graphs,
    least_certain_edges,
    weakest_edge,
)
from clearwood.sbfc.original import OriginalSampler
from clearwood.sbfc.scores import (
    NOISE,
    SIGNAL,
    Edges,
    Penalty,
    Scores,
    strong_edges,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SAMPLERS = "exact", "collapsed", "exchange", "original"

MOST_COMPARED = 1000
"""Number of sets of signal features, drawn by chains, that are searched for the best
graph."""


class GraphPosterior(NamedTuple):
    """Posterior over graphs, by any sampler.

    Attributes
    ----------
    signal_probability : ndarray of shape (d,)
    edge_probability : csr_array of shape (d, d)
    log_evidence : float or None
    graphs : list of FeatureForest
        Draws from the posterior.
    best : FeatureForest
    best_log_posterior : float
    chains : Chains or None
    edge_draws : dict of (int, int) to ndarray of shape (n_chains, n_draws)
        Probabilities of the least certain edges given the groups drawn, or whether the
        graphs drawn have them. Empty without chains.
    sampler : {"exact", "collapsed", "exchange", "original"}
    dropped : float
        Largest total weight of the edges of one feature that were left out.
    """

    signal_probability: np.ndarray
    edge_probability: csr_array
    log_evidence: float | None
    graphs: list[FeatureForest]
    best: FeatureForest
    best_log_posterior: float
    chains: Chains | None
    edge_draws: dict[tuple[int, int], np.ndarray]
    sampler: str
    dropped: float


Run = Callable[[Sampler], Chains]
"""Type of the function that runs chains of a given sampler."""


class GraphProblem(NamedTuple):
    """Scores, prior and edges: the input of every sampler.

    Attributes
    ----------
    scores : Scores
    penalty : Penalty
    edges : tuple of Edges
        Noise and signal edges of non-negligible weight.
    """

    scores: Scores
    penalty: Penalty
    edges: tuple[Edges, Edges]

    @classmethod
    def from_scores(cls, scores: Scores, penalty: Penalty) -> GraphProblem:
        """Problem with the edges of non-negligible weight."""
        bound = weakest_edge(scores.table.n_features)
        return cls(scores, penalty, strong_edges(scores, penalty, bound))


def find_posterior(
    sampler: str,
    problem: GraphProblem,
    n_graphs: int,
    run: Run,
    rng: np.random.Generator,
) -> GraphPosterior:
    """Compute the posterior over graphs, and draw graphs from it.

    ``"auto"`` is exact for few features; else collapsed, unless strong edges connect
    too many features; else by exchanges of edges.
    """
    scores, penalty, edges = problem
    is_auto, few = sampler == "auto", scores.table.n_features <= MOST_FEATURES
    if sampler == "exact" or (is_auto and few):
        return _enumerated(problem, n_graphs, rng)
    if is_auto or sampler == "collapsed":
        try:
            groups = SignalSampler(scores, penalty, edges=edges)
        except InputError:  # strong edges connect too many features
            if not is_auto:
                raise
        else:
            return _sampled_collapsed(problem, groups, n_graphs, run(groups), rng)
    exchange = sampler != "original"
    moves = OriginalSampler(scores, penalty, edges=edges, exchange=exchange)
    found = _sampled_by_moves(problem, n_graphs, run(moves))
    return found._replace(sampler="exchange") if exchange else found


def _enumerated(
    problem: GraphProblem, n_graphs: int, rng: np.random.Generator
) -> GraphPosterior:
    every = exact_posterior(problem.scores, problem.penalty)
    number = rng.choice(len(every.sets), size=n_graphs, p=every.set_probability)
    log_share = every.log_evidence + np.log(every.set_probability)
    return GraphPosterior(
        every.signal_probability,
        every.edge_probability,
        every.log_evidence,
        draw_graphs(every.sets[number], problem.edges, rng),
        *_best(problem, every.sets, log_share),
        chains=None,
        edge_draws={},
        sampler="exact",
        dropped=0.0,
    )


def _sampled_collapsed(
    problem: GraphProblem,
    sampler: SignalSampler,
    n_graphs: int,
    chains: Chains,
    rng: np.random.Generator,
) -> GraphPosterior:
    """Collapsed sampler: chains of groups, with all forests summed out."""
    average = sampler.average(chains.draws["signal"])
    sets, log_joint = (_flat(chains.draws[name]) for name in ("signal", "log_joint"))
    _, first = np.unique(sets, axis=0, return_index=True)
    likeliest = first[np.argsort(-log_joint[first], kind="stable")]
    return GraphPosterior(
        average.signal_probability,
        average.edge_probability,
        None,
        draw_graphs(sets[_spread(len(sets), n_graphs)], sampler.edges, rng),
        *_best(problem, sets[likeliest], log_joint[likeliest]),
        chains=chains,
        edge_draws=average.edge_draws,
        sampler="collapsed",
        dropped=sampler.dropped,
    )


def _sampled_by_moves(
    problem: GraphProblem, n_graphs: int, chains: Chains
) -> GraphPosterior:
    """Original sampler: chains of graphs, as in the thesis."""
    from scipy.sparse import coo_array

    signals, parents = (_flat(chains.draws[name]) for name in ("signal", "parent"))
    d = signals.shape[1]
    ups = []
    # One chain at a time: the edges of all graphs may not fit into memory.
    for drawn in chains.draws["parent"]:
        row, child = np.nonzero(drawn >= 0)
        share = np.full(len(child), 1 / len(signals))
        ends = child, drawn[row, child]
        ups.append(coo_array((share, ends), shape=(d, d)).tocsr())
    up = sum(ups[1:], ups[0])
    edge_probability = (up + up.T).tocsr()
    parent = chains.draws["parent"]
    edge_draws = {
        (i, j): (parent[..., i] == j) | (parent[..., j] == i)
        for i, j in least_certain_edges(edge_probability).tolist()
    }
    likeliest = int(_flat(chains.draws["log_posterior"]).argmax())
    return GraphPosterior(
        signals.mean(axis=0),
        edge_probability,
        None,
        [
            FeatureForest(signals[i], parents[i])
            for i in _spread(len(signals), n_graphs)
        ],
        *_best(problem, signals[[likeliest]], np.array([np.inf])),
        chains=chains,
        edge_draws=edge_draws,
        sampler="original",
        dropped=max(float(part.dropped.max()) for part in problem.edges),
    )


def posterior_without_features(n_graphs: int) -> GraphPosterior:
    """Posterior where no feature varies: there is a single graph."""
    from scipy.sparse import csr_array

    graph = FeatureForest(np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int32))
    return GraphPosterior(
        np.zeros(0),
        csr_array((0, 0)),
        0.0,
        [graph] * n_graphs,
        graph,
        0.0,
        None,
        {},
        "exact",
        0.0,
    )


def _best(
    problem: GraphProblem, sets: np.ndarray, log_share: np.ndarray
) -> tuple[FeatureForest, float]:
    """The most probable graph of some sets, ordered by decreasing probability.

    The probability of a set bounds that of its graphs, so that the search ends with the
    first set that is less probable than the best graph found.
    """
    penalty = np.array(problem.penalty.node)[:, None]
    alone = problem.scores.alone - penalty
    best, height = best_graph(sets[0], problem.edges), -np.inf
    for signal, most in zip(sets[:MOST_COMPARED], log_share):
        if most < height:
            break
        graph = best_graph(signal, problem.edges)
        total = np.where(signal, alone[SIGNAL], alone[NOISE]).sum()
        child, parent = graph.edges.T
        for inside, part in zip((~signal, signal), problem.edges):
            own = inside[child]
            total += part.log_weight[child[own], parent[own]].sum()
        if total > height:
            best, height = graph, float(total)
    return best, height


def _flat(draws: np.ndarray) -> np.ndarray:
    """Draws of all chains, concatenated."""
    return draws.reshape(-1, *draws.shape[2:])


def _spread(n_draws: int, n_wanted: int) -> np.ndarray:
    """Evenly spaced indices of draws, with repetition if there are too few."""
    return np.arange(n_wanted) * n_draws // n_wanted
