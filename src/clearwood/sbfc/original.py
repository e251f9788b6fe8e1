"""Markov chain on graphs with the moves of the thesis (2.3.2).

Graphs change one by one, for targets without a sum over all forests, and to reproduce
the thesis.
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

    Parameters
    ----------
    scores : Scores
    penalty : Penalty
        The prior.
    edges : tuple of Edges, optional
        Result of ``strong_edges`` with the bound of ``weakest_edge`` or less, if
        already computed.
    thin : int, default=50
        Iterations per step: the thinning interval of the thesis.

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
        thin: int = 50,
    ) -> None:
        self.thin = thin
        self.alone = scores.alone - np.array(penalty.node)[:, None]
        if edges is None:
            edges = strong_edges(scores, penalty, weakest_edge(self.alone.shape[1]))
        self.edges = tuple(_sorted_rows(part.log_weight) for part in edges)
        flat = [values for part in self.edges for values in part]
        self.fingerprint = fingerprint_of(self.alone, *flat, thin)

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
        switched, reassigned, log_weight = make_moves(
            signal, parent, self.alone, self.edges,
            n_moves, TREES_SWITCHED, rng,
        )  # fmt: skip
        return GraphState(signal, parent, log_weight), MovesInfo(switched, reassigned)


def _sorted_rows(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row pointers, sorted column indices and values of a sparse matrix."""
    if not table.has_sorted_indices:
        table = table.sorted_indices()
    return table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data
