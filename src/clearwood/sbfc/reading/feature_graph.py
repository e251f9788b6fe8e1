"""Selection of the features and edges to display, of a posterior or of one graph."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from clearwood._words.labels import type_text
from clearwood._words.numbers import probability_text
from clearwood.columns.info import shown_names
from clearwood.exceptions import InputError
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest

CUTOFF = 0.1
"""Least probability of an edge that is shown."""

ALL_NAMED, NAMED_FROM = 30, 0.1
"""Up to this number of features all are labelled; beyond, those of this probability."""

MOST_SHOWN = 150
"""Maximum number of features in a picture."""


class Edge(NamedTuple):
    """An edge between two features, the one of higher signal probability first."""

    first: int
    second: int
    probability: float


class FeatureGraph(NamedTuple):
    """Features and edges of a picture, and notes on what is left out.

    Attributes
    ----------
    names : tuple of str
        Names of all features.
    signal : ndarray of shape (n_features,)
        Probability that each feature is signal; 0 or 1 for a single graph.
    shown : tuple of int
        Features in the picture, by decreasing probability.
    named : frozenset of int
        Features in the picture that are labelled.
    edges : tuple of Edge
        Edges in the picture, by decreasing probability.
    with_numbers : bool
        Whether probabilities are written out; not for a single graph.
    notes : tuple of str
        Legend of shades and lines, and what is not shown.
    """

    names: tuple[str, ...]
    signal: np.ndarray
    shown: tuple[int, ...]
    named: frozenset[int]
    edges: tuple[Edge, ...]
    with_numbers: bool
    notes: tuple[str, ...]


def check_classifier(estimator: Any) -> SelectiveBayesianForestClassifier:
    """Raise an error if the estimator has no feature graph."""
    if not isinstance(estimator, SelectiveBayesianForestClassifier):
        raise InputError(
            f"estimator is {type_text(estimator)}; pass a fitted "
            "SelectiveBayesianForestClassifier."
        )
    check_is_fitted(estimator)
    return estimator


def average_graph(
    estimator: SelectiveBayesianForestClassifier, cutoff: float = CUTOFF
) -> FeatureGraph:
    """Posterior probabilities of features and edges, averaged over all graphs.

    Parameters
    ----------
    estimator : SelectiveBayesianForestClassifier
        Fitted.
    cutoff : float
        Least probability of an edge that is shown.
    """
    p = estimator.edge_probability_.tocoo()
    pairs = (p.row < p.col) & (p.data >= cutoff)
    edges = zip(p.row[pairs].tolist(), p.col[pairs].tolist(), p.data[pairs].tolist())
    found = _shown_part(
        shown_names(estimator.levels_.features),
        estimator.inclusion_probability_,
        [Edge(*edge) for edge in edges],
        True,
        "Shade and number: probability that the feature is signal. Width of lines: "
        f"probability that two features are dependent, if at least {cutoff:g}.",
    )
    # Features of a single level were not examined, which is not to be improbable.
    varies = estimator.levels_.n_levels > 1
    return found._replace(shown=tuple(j for j in found.shown if varies[j]))


def single_graph(names: tuple[str, ...], graph: FeatureForest) -> FeatureGraph:
    """Feature graph of one forest, undirected, as all roots are equivalent."""
    edges = [Edge(i, j, 1.0) for i, j in graph.edges.tolist()]
    note = "A single graph. Dark: signal; white: noise."
    return _shown_part(names, graph.signal.astype(float), edges, False, note)


def _shown_part(
    names: tuple[str, ...],
    signal: np.ndarray,
    edges: list[Edge],
    with_numbers: bool,
    note: str,
) -> FeatureGraph:
    d = len(names)
    every = range(d) if d <= ALL_NAMED else np.flatnonzero(signal >= NAMED_FROM)
    named = frozenset(int(j) for j in every)
    strongest = np.zeros(d)
    for first, second, p in edges:
        strongest[[first, second]] = np.maximum(strongest[[first, second]], p)
    # Labelled ones by their probability, then those that others depend on.
    order = sorted(range(d), key=lambda j: (j not in named, -signal[j], -strongest[j]))
    shown = [j for j in order if j in named or strongest[j] > 0][:MOST_SHOWN]
    inside = set(shown)
    kept = []
    for *ends, p in edges:
        if inside.issuperset(ends):
            first, second = sorted(ends, key=lambda j: (-signal[j], j))
            kept.append(Edge(first, second, p))
    kept.sort(key=lambda edge: (-edge.probability, edge))
    notes = [note, *_left_out(names, signal, shown, len(edges) - len(kept))]
    if inside - named:
        less = f"signal with less than {NAMED_FROM:g}" if with_numbers else "noise"
        notes.append(f"Without a name: {less}.")
    return FeatureGraph(
        names, signal, tuple(shown), named & inside, tuple(kept), with_numbers,
        tuple(notes),
    )  # fmt: skip


def _left_out(
    names: tuple[str, ...], signal: np.ndarray, shown: list[int], n_edges: int
) -> list[str]:
    hidden = np.setdiff1d(np.arange(len(names)), shown)
    if not len(hidden):
        return []
    many = f"{len(hidden):,} more feature{'s' * (len(hidden) != 1)}"
    most = probability_text(float(signal[hidden].max()))
    lost = f" and {n_edges:,} of their edges" if n_edges else ""
    return [f"Not shown: {many}, signal with at most {most}{lost}."]


def spanning_forest(graph: FeatureGraph) -> tuple[np.ndarray, coo_array]:
    """Maximum spanning forest by edge probability.

    Returns
    -------
    tree : ndarray of int of shape (n_shown,)
        Index of the tree of each feature shown.
    forest : coo_array of shape (n_shown, n_shown)
        Each edge once, by positions in ``shown``.
    """
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    place = {j: i for i, j in enumerate(graph.shown)}
    n = len(place)
    ends = np.array(
        [(place[e.first], place[e.second]) for e in graph.edges], dtype=np.int32
    ).reshape(-1, 2)
    # Small for probable edges, and never 0, which would mean no edge.
    length = np.array([2.0 - e.probability for e in graph.edges])
    forest = minimum_spanning_tree(coo_array((length, ends.T), shape=(n, n)).tocsr())
    _, tree = connected_components(forest, directed=False)
    return tree, coo_array(forest)
