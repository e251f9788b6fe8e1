"""Markov chain on the set of signal features, with all forests summed out.

Given the set, the sum over forests is a determinant. Without edges of negligible weight
it factorizes over the connected components of the features, of which a move changes
few. These are recomputed, in logs and without subtraction, so that rounding errors do
not accumulate and weights of any size are allowed.

A step is a sweep: Gibbs moves of every feature from one group to the other, then of
blocks of features: clusters connected by strong edges, and branches of the best forest
of either group. So correlated noise, which no single feature can leave, moves at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._kernels.sbfc import (
    add_edge_probabilities,
    log_sums_of_blocks,
    sweep,
)
from clearwood.exceptions import InputError
from clearwood.sampling import fingerprint_of
from clearwood.sbfc.graphs import (
    active_nodes,
    both_layers,
    heaviest_forest,
    least_certain_edges,
    rooted,
)
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

BOUNDS = (1e-6, 1e-5, 1e-4, 1e-3)
"""Weights below which edges may be left out. The first is used that leaves components
below the size; where only some gains are kept, the last one."""

MOST_TIED = 64
"""Largest size of a component, beyond which a step would take too long."""


class SignalState(NamedTuple):
    """A set of signal features.

    Attributes
    ----------
    signal : ndarray of bool of shape (d,)
    log_joint : float
        Log posterior of the set, up to a constant, as in ``ExactPosterior``.
    """

    signal: np.ndarray
    log_joint: float


class SignalInfo(NamedTuple):
    """Number of features that changed groups in a sweep."""

    changed: int


class SignalSampler:
    """A Markov chain on sets of signal features, for ``sampling.run_chains``.

    Parameters
    ----------
    scores : Scores
    penalty : Penalty
    edges : tuple of Edges, optional
        Result of ``strong_edges`` with a bound of log 1e-6 or less (log 1e-3 or less
        for more than 2,000 features), if already computed.
    forest_starts : bool, default=True
        Whether half of the chains start from the best groups for the trees of the
        maximum spanning forest. All others start from a random share of the features.

    Raises
    ------
    InputError
        Strong edges connect more than 64 features.

    Attributes
    ----------
    edges : tuple of Edges
        The edges kept.
    dropped : float
        Largest total weight of the edges of one feature that are left out, in either
        group. They could add at most twice this to its log odds, if all the other
        features were in that group; most are not, so that the effect is far smaller.

    Examples
    --------
    >>> from clearwood.sampling import run_chains
    >>> from clearwood.sbfc.scores import CodedTable, score
    >>> rng = np.random.default_rng(0)
    >>> codes = rng.integers(2, size=(100, 30), dtype=np.uint8)
    >>> y = (codes[:, 3] ^ (rng.random(100) < 0.2)).astype(int)
    >>> table = CodedTable(codes, np.full(30, 2), y, 2, None, n_columns=30)
    >>> penalty = Penalty.of("paper", 4.0, 1.0, n_columns=30, n_classes=2)
    >>> sampler = SignalSampler(score(table), penalty)
    >>> chains = run_chains(sampler, n_draws=400, n_warmup=50, random_state=0)
    >>> found = sampler.average(chains.draws["signal"])
    >>> int(found.signal_probability.argmax())
    3
    """

    def __init__(
        self,
        scores: Scores,
        penalty: Penalty,
        *,
        edges: tuple[Edges, Edges] | None = None,
        forest_starts: bool = True,
    ) -> None:
        bounds = BOUNDS[-1:] if scores.kept is None else BOUNDS
        if edges is None:
            edges = strong_edges(scores, penalty, float(np.log(bounds[0])))
        layers = _thinned(edges[NOISE], bounds), _thinned(edges[SIGNAL], bounds)
        self.dropped = max(float(part.dropped.max(initial=0.0)) for part in layers)
        self.forest_starts = forest_starts
        self._own = (scores.alone - np.array(penalty.node)[:, None]).ravel()
        self.edges = layers
        self._graph = both_layers(layers)
        everywhere = np.ones(scores.table.n_features, dtype=bool)
        trees = [heaviest_forest(part.log_weight, everywhere) for part in layers]
        clusters = _clusters(trees)
        self._blocks = _concatenated(_blocks(trees, clusters))
        self._log_sums = log_sums_of_blocks(self._graph, self._blocks)
        self._forest = self._forest_start(trees, clusters)
        self.fingerprint = fingerprint_of(
            self._own, *self._graph, *self._blocks, forest_starts
        )

    # The Sampler protocol

    def init(self, rng: np.random.Generator) -> SignalState:
        """Groups of the spanning forest, or random ones; see ``forest_starts``."""
        share = rng.random()
        if self.forest_starts and rng.random() < 0.5:
            return self.state_of(self._forest)
        return self.state_of(rng.random(len(self._forest)) < share)

    def state_of(self, signal: np.ndarray) -> SignalState:
        """State of a given set of signal features."""
        never = np.empty(0)
        log_joint, _ = self._sweep(active_nodes(signal), never)
        return SignalState(signal, log_joint)

    def step(
        self, rng: np.random.Generator, state: SignalState
    ) -> tuple[SignalState, SignalInfo]:
        """Sweep over all features and all clusters."""
        active, d = active_nodes(state.signal), len(state.signal)
        draws = rng.random(len(self._blocks[0]) - 1)
        log_joint, _ = self._sweep(active, draws)
        signal = active[d:].copy()
        return SignalState(signal, log_joint), SignalInfo(
            int((signal != state.signal).sum())
        )

    def record(self, state: SignalState) -> dict[str, Any]:
        """Log posterior, number of signal features, and their indicators."""
        return {
            "log_joint": state.log_joint,
            "n_signal": float(state.signal.sum()),
            "signal": state.signal,
        }

    # Averages over draws

    def average(self, sets: np.ndarray) -> Averages:
        """Rao-Blackwellized probabilities of features and edges.

        For every set, the probability of each feature given all others, and of each
        edge given the groups, is averaged, which is more precise than counting draws.

        Parameters
        ----------
        sets : ndarray of bool of shape (..., d)
            ``draws["signal"]`` of one or more chains.
        """
        from scipy.sparse import csr_array

        d = sets.shape[-1]
        # The group of a feature without edges carries no information on any other.
        degree = np.diff(self._graph[0])
        tied = np.flatnonzero(degree[:d] + degree[d:])
        some, which, count = np.unique(
            sets.reshape(-1, d)[:, tied],
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        distinct = np.zeros((len(some), d), dtype=bool)
        distinct[:, tied] = some
        signal_probability = np.zeros(d)
        edges = np.zeros(len(self._graph[1]))
        never = np.full(d, np.nan)
        for signal, share in zip(distinct, count / count.sum()):
            active = active_nodes(signal)
            _, p = self._sweep(active, never)
            signal_probability += share * np.where(signal, 1.0 - p, p)
            add_edge_probabilities(active, self._graph, share, edges)
        first, neighbour, _ = self._graph
        both_ways = csr_array((edges, neighbour % d, first), shape=(2 * d, d))
        edge_probability = both_ways[:d] + both_ways[d:]
        edge_probability.eliminate_zeros()
        ends = least_certain_edges(edge_probability)
        given = self._given_sets(distinct, ends)[which.ravel()]
        edge_draws = {
            (i, j): values.reshape(sets.shape[:-1])
            for (i, j), values in zip(ends.tolist(), given.T)
        }
        return Averages(signal_probability, edge_probability, edge_draws)

    def _given_sets(self, sets: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Probabilities of some edges (columns) given each of some sets."""
        from scipy.sparse import csr_array

        first, neighbour, _ = self._graph
        (i, j), d = ends.T, sets.shape[1]
        number = np.arange(1, len(neighbour) + 1), neighbour % d, first
        # Number 0 is that of an edge that a group lacks.
        own = csr_array(number, shape=(2 * d, d))[np.array([i, i + d]), j].toarray()
        found = np.empty((len(sets), len(ends)))
        for signal, row in zip(sets, found):
            edges = np.zeros(len(neighbour) + 1)
            add_edge_probabilities(active_nodes(signal), self._graph, 1.0, edges[1:])
            edges[own].sum(axis=0, out=row)
        # Convergence is not a matter of smaller differences.
        return found.round(3)

    def _sweep(self, active: np.ndarray, draws: np.ndarray) -> tuple[float, np.ndarray]:
        return sweep(
            active, self._own, self._graph, self._blocks, self._log_sums, draws
        )

    def _forest_start(self, trees: list[Any], clusters: list[list[int]]) -> np.ndarray:
        """Put each cluster into the group where its best forest weighs more."""
        own = self._own.reshape(2, -1)
        start = own[SIGNAL] > own[NOISE]
        inside = np.zeros(len(start), dtype=bool)
        for cluster in clusters:  # nested ones come before those around them
            inside[cluster] = True
            gain = [
                own[group, cluster].sum()
                + tree.data[inside[tree.row] & inside[tree.col]].sum()
                for group, tree in enumerate(trees)
            ]
            inside[cluster] = False
            start[cluster] = gain[SIGNAL] > gain[NOISE]
        return start


class Averages(NamedTuple):
    """Averages over draws of sets; fields as in ``ExactPosterior``.

    Attributes
    ----------
    signal_probability : ndarray of shape (d,)
    edge_probability : csr_array of shape (d, d)
    edge_draws : dict of (int, int) to ndarray of shape (...)
        Probabilities of the least certain edges given each set, to three decimals.
    """

    signal_probability: np.ndarray
    edge_probability: csr_array
    edge_draws: dict[tuple[int, int], np.ndarray]


def _thinned(edges: Edges, bounds: tuple[float, ...]) -> Edges:
    """Drop the weakest edges, so many that components are small."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    every = edges.log_weight.tocoo()
    for bound in bounds:
        strong = every.data > np.log(bound)
        ends = every.row[strong], every.col[strong]
        # Not the weights: csgraph takes a weight of 1, log 0, for no edge.
        there = coo_array((np.ones(len(ends[0])), ends), shape=every.shape)
        _, component = connected_components(there.tocsr(), directed=False)
        largest = np.bincount(component).max(initial=0)
        if largest <= MOST_TIED:
            break
    if largest > MOST_TIED:
        raise InputError(
            f"Strong edges connect more than {MOST_TIED} features, too many to sum "
            'over their forests; use sampler="exchange", which draws the forests as '
            "well."
        )
    weak = np.exp(every.data[~strong])
    return Edges(
        coo_array((every.data[strong], ends), shape=every.shape).tocsr(),
        edges.dropped + np.bincount(every.row[~strong], weak, len(edges.dropped)),
    )


def _clusters(trees: list[Any]) -> list[list[int]]:
    """Agglomerative clusters by edges of decreasing weight, in either group."""
    row, column, weight = (
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("row", "col", "data")
    )
    member = [[j] for j in range(trees[0].shape[0])]
    found = []
    for e in np.argsort(-weight, kind="stable"):
        one, other = member[row[e]], member[column[e]]
        if one is other or len(one) + len(other) > MOST_TIED:
            continue
        both = one + other
        found.append(both)
        for j in both:
            member[j] = both
    return found


def _branches(forest: Any) -> Iterator[list[int]]:
    """The smaller side that removing each edge cuts off, and the edge's two ends."""
    order, parent = (values.tolist() for values in rooted(forest))
    below, root = [[j] for j in range(len(parent))], list(range(len(parent)))
    for v in order:
        root[v] = v if parent[v] < 0 else root[parent[v]]
    for v in reversed(order):
        if parent[v] >= 0:
            below[parent[v]] += below[v]
    for v in order:
        if parent[v] >= 0:
            yield [parent[v], v]
            inside, whole = set(below[v]), below[root[v]]
            is_smaller = 2 * len(inside) <= len(whole)
            yield [u for u in whole if (u in inside) == is_smaller]


def _blocks(trees: list[Any], clusters: list[list[int]]) -> list[list[int]]:
    """Blocks that move at once: features, clusters, branches of the best forests."""
    parts = clusters + [block for tree in trees for block in _branches(tree)]
    distinct = {tuple(sorted(block)) for block in parts}
    several = sorted(block for block in distinct if len(block) > 1)
    return [[j] for j in range(trees[0].shape[0])] + [list(b) for b in several]


def _concatenated(blocks: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Start of each block, and all blocks concatenated."""
    first = np.cumsum([0] + [len(block) for block in blocks])
    return first, np.array([j for block in blocks for j in block], dtype=np.int64)
