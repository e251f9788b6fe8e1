"""Markov chain on graphs with the moves of the thesis (2.3.2), or exchanges of edges.

Graphs change one by one, for many features that edges connect, where a sum over all
forests is slow, and to reproduce the thesis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.sbfc import make_moves
from clearwood.sampling import fingerprint_of
from clearwood.sbfc.graphs import FeatureForest, weakest_edge
from clearwood.sbfc.scores import Edges, Penalty, Scores, strong_edges

TREES_SWITCHED = 10
"""Number of trees proposed for a switch in each iteration: the thesis' k."""

THIN, SHARE = 50, 8
"""Iterations per step: the thesis' thinning interval; of exchanges, one for so many
features, if that is more."""


class GraphState(NamedTuple):
    """A graph and its log posterior.

    Attributes
    ----------
    signal : ndarray of bool of shape (d,)
    parent : ndarray of int32 of shape (d,)
    log_posterior : float
        Log posterior up to constants.
    """

    signal: np.ndarray
    parent: np.ndarray
    log_posterior: float


class MovesInfo(NamedTuple):
    """Acceptance rates of the iterations of a step.

    Attributes
    ----------
    switched : float
        Share of the proposed trees that switched groups.
    reassigned : float
        Share of the iterations that gave a subtree another parent or group.
    """

    switched: float
    reassigned: float


class OriginalSampler:
    """A Markov chain on graphs, for ``clearwood.sampling.run_chains``.

    An iteration proposes the other group for ten trees (Switch Trees), then draws a new
    parent or none for the subtree of a random feature from its exact conditional
    (Reassign Subtree), in a tree whose root was drawn anew (Pivot Trees).

    Where the root of the subtree has to get the parent, as in the thesis, clusters of
    strong edges hardly change. With ``exchange``, any of its features may: given the
    groups, this is the basis-exchange walk on forests, which forgets its start in about
    d log d moves whatever the weights (Anari et al., "Log-concave polynomials IV",
    2021).

    Parameters
    ----------
    scores : Scores
    penalty : Penalty
        The prior.
    edges : tuple of Edges, optional
        Result of ``strong_edges`` with the bound of ``weakest_edge`` or less, if
        already computed.
    exchange : bool, default=False
        Whether any feature of a subtree may be the one that gets a parent.
    thin : int, optional
        Iterations per step: by default 50, the thinning interval of the thesis, or with
        ``exchange`` an eighth of the features, if that is more.

    Examples
    --------
    >>> from clearwood.sampling import run_chains
    >>> from clearwood.sbfc.scores import CodedTable, score
    >>> codes = np.random.default_rng(0).integers(2, size=(100, 5)).astype(np.uint8)
    >>> table = CodedTable(codes, np.full(5, 2), codes[:, 3], 2, None, 5)
    >>> cost = Penalty.of("paper", 4.0, 1.0, n_columns=5, n_classes=2)
    >>> sampler = OriginalSampler(score(table), cost)
    >>> chains = run_chains(sampler, n_draws=500, n_warmup=20, random_state=0)
    >>> float(chains.draws["signal"].mean(axis=(0, 1))[3])
    1.0
    """

    def __init__(
        self,
        scores: Scores,
        penalty: Penalty,
        *,
        edges: tuple[Edges, Edges] | None = None,
        exchange: bool = False,
        thin: int | None = None,
    ) -> None:
        self.exchange = exchange
        self.alone = scores.alone - np.array(penalty.node)[:, None]
        usual = max(THIN, exchange * self.alone.shape[1] // SHARE)
        self.thin = usual if thin is None else thin
        if edges is None:
            edges = strong_edges(scores, penalty, weakest_edge(self.alone.shape[1]))
        self.edges = tuple(_heaviest_first(part.log_weight) for part in edges)
        flat = [values for part in self.edges for values in part]
        self.fingerprint = fingerprint_of(self.alone, *flat, exchange, self.thin)

    def init(self, rng: np.random.Generator) -> GraphState:
        """Overdispersed start: no edges, any share of the features in the signal."""
        signal = rng.random(self.alone.shape[1]) < rng.random()
        return self.state_of(FeatureForest(signal, np.full(len(signal), -1)))

    def state_of(self, graph: FeatureForest) -> GraphState:
        """State of a given graph."""
        return self._moved(graph.signal, graph.parent, 0, np.random.default_rng(0))[0]

    def step(
        self, rng: np.random.Generator, state: GraphState
    ) -> tuple[GraphState, MovesInfo]:
        """Run ``thin`` iterations."""
        return self._moved(state.signal, state.parent, self.thin, rng)

    def record(self, state: GraphState) -> dict[str, Any]:
        """The graph, its log posterior and its number of signal features."""
        # A checkpoint may hold an invalid forest, which is refused here, before a step.
        FeatureForest(state.signal, state.parent)
        return {
            "log_posterior": state.log_posterior,
            "n_signal": float(state.signal.sum()),
            "signal": state.signal,
            "parent": state.parent,
        }

    def _moved(
        self,
        signal: np.ndarray,
        parent: np.ndarray,
        n_moves: int,
        rng: np.random.Generator,
    ) -> tuple[GraphState, MovesInfo]:
        signal, parent = signal.astype(np.bool_), parent.astype(np.int32)
        moves = n_moves, TREES_SWITCHED, self.exchange
        switched, reassigned, log_weight = make_moves(
            signal, parent, self.alone, self.edges, moves, rng
        )
        return GraphState(signal, parent, log_weight), MovesInfo(switched, reassigned)


def _heaviest_first(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row pointers, column indices and values of a sparse matrix, sorted in rows."""
    first = table.indptr.astype(np.int64)
    row = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((table.indices, -table.data, row))
    return first, table.indices[order].astype(np.int32), table.data[order]
