"""Class probabilities averaged over graphs (2.3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.sbfc import average_probabilities
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.scores import CodedTable

BATCHES = 20
"""Number of batches of graphs; the variance of their means gives the standard error."""


class Averaged(NamedTuple):
    """Class probabilities of rows, with Monte Carlo errors.

    Attributes
    ----------
    probability : ndarray of shape (n, n_classes)
    error : ndarray of shape (n, n_classes)
        Monte Carlo standard error relative to the average over all graphs, estimated
        from batches of consecutive graphs, so that draws of a chain are allowed. NaN
        with one graph.
    """

    probability: np.ndarray
    error: np.ndarray


@dataclass(frozen=True, eq=False)
class GraphAverage:
    """Conditional probability tables that predict classes, averaged over graphs.

    Attributes
    ----------
    log_class : ndarray of shape (n_classes,)
        Log probability of each class.
    feature : ndarray of int of shape (n_used,)
        Features that are signal in any graph; all indices below refer to these.
    levels : ndarray of int of shape (n_used,)
        Number of levels of each.
    known : ndarray of bool of shape (levels.sum(),)
        Levels that occur in training rows, feature after feature.
    child, parent : ndarray of int of shape (n_conditionals,)
        Features of the distinct conditional distributions; parent -1 for none.
    start : ndarray of int of shape (n_conditionals + 1,)
        Start of the cells of each: level of the child by level of the parent.
    log_table : ndarray of shape (n_cells, n_classes)
        Log probability of the child's level, given the parent's and the class.
    graph_start : ndarray of int of shape (n_graphs + 1,)
        Start of the conditionals of each distinct graph.
    entry, above : ndarray of int
        Conditionals of the graphs, children before their parents, and the position in
        its graph of the parent's (-1: none).
    draws : ndarray of int of shape (n_draws,)
        Indices of the distinct graphs, in the order in which they were drawn.
    """

    log_class: np.ndarray
    feature: np.ndarray
    levels: np.ndarray
    known: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    start: np.ndarray
    log_table: np.ndarray
    graph_start: np.ndarray
    entry: np.ndarray
    above: np.ndarray
    draws: np.ndarray

    def predict(self, codes: np.ndarray) -> Averaged:
        """Average the class probabilities of the graphs, each draw counting once.

        Levels that occur in no training row, and negative codes, are unknown values:
        they are summed out exactly, over the tree of the feature. (Missing values are a
        level of their own if any occurred in training.)

        Parameters
        ----------
        codes : ndarray of int of shape (n, d)
            Levels of all features, as in training.
        """
        used = codes[:, self.feature].astype(np.int64, order="C")
        inside = (used >= 0) & (used < self.levels)
        place = np.cumsum(self.levels) - self.levels
        used[~inside] = 0
        used[~(inside & self.known[place + used])] = -1
        conditionals = self.child, self.parent, self.start, self.log_table
        graphs = self.graph_start, self.entry, self.above, self.draws
        n_batches = min(BATCHES, len(self.draws))
        return Averaged(
            *average_probabilities(
                used, self.log_class, self.levels, conditionals, graphs, n_batches
            )
        )


def average_graphs(
    graphs: Sequence[FeatureForest],
    table: CodedTable,
    smoothing: str = "paper",
    alpha: float = 5.0,
) -> GraphAverage:
    """Build the averaged predictor of graphs drawn from their posterior.

    Only the signal matters. Equal graphs, and equal conditional distributions in
    different graphs, are kept once.

    Parameters
    ----------
    graphs : sequence of FeatureForest
        As drawn, unweighted: one that is twice as probable occurs twice as often.
    table : CodedTable
        The training rows.
    smoothing : {"paper", "dirichlet"}, default="paper"
        Counts plus one row per level of the parent, distributed as the child's levels
        are overall, or posterior means under the prior of the scores.
    alpha : float, default=5.0
        Pseudo-count of that prior.

    Examples
    --------
    >>> codes = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    >>> table = CodedTable(codes, np.array([2]), np.array([0, 0, 0, 1]), 2, None, 1)
    >>> average = average_graphs([FeatureForest([True], [-1])], table)
    >>> average.predict(np.array([[0], [1], [-1]])).probability.round(2).tolist()
    [[0.88, 0.12], [0.6, 0.4], [0.75, 0.25]]
    """
    parts = arrange(graphs, table.levels)
    feature = parts["feature"]
    return GraphAverage(
        log_class=_log_class(table, smoothing, alpha),
        known=np.concatenate([np.empty(0), *(_counts(table, j) for j in feature)]) > 0,
        log_table=_log_conditionals(parts, table, smoothing, alpha),
        **parts,
    )


def leave_one_out(
    average: GraphAverage,
    table: CodedTable,
    smoothing: str,
    alpha: float,
    codes: np.ndarray,
    label: np.ndarray,
) -> np.ndarray:
    """Class probabilities of training rows, each by the counts of all other rows.

    Without a row only the conditional probabilities given its own class change. The
    table holds all training rows, codes and labels are those of some.
    """
    left = _log_conditionals(vars(average), table, smoothing, alpha, without=1.0)
    found = np.empty((len(label), table.n_classes))
    for c in range(table.n_classes):
        log_table = average.log_table.copy()
        log_table[:, c] = left[:, c]
        own, rows = replace(average, log_table=log_table), label == c
        found[rows] = own.predict(codes[rows]).probability
    return found


def arrange(
    graphs: Sequence[FeatureForest], levels: np.ndarray
) -> dict[str, np.ndarray]:
    """Fields of ``GraphAverage`` that depend on graphs and numbers of levels only."""
    distinct: dict[bytes, int] = {}
    draws, different = [], []
    for graph in graphs:
        # Parents within the noise are irrelevant here.
        key = np.where(graph.signal, graph.parent, -2).tobytes()
        if key not in distinct:
            distinct[key] = len(distinct)
            different.append(graph)
        draws.append(distinct[key])
    feature = np.flatnonzero(np.any([graph.signal for graph in different], axis=0))
    conditionals: dict[tuple[int, int], int] = {}
    entry, above, graph_start = [], [], [0]
    for graph in different:
        nodes = _deepest_first(graph)
        place = {int(j): i for i, j in enumerate(nodes)} | {-1: -1}
        for j in nodes.tolist():
            pair = j, int(graph.parent[j])
            entry.append(conditionals.setdefault(pair, len(conditionals)))
            above.append(place[pair[1]])
        graph_start.append(len(entry))
    position = np.full(len(levels) + 1, -1)  # the last entry is for no parent
    position[feature] = np.arange(len(feature))
    ends = np.array(list(conditionals), dtype=np.int64).reshape(-1, 2)
    width = np.append(levels, 1)[ends[:, 1]]
    return {
        "feature": feature,
        "levels": levels[feature].astype(np.int64),
        "child": position[ends[:, 0]],
        "parent": position[ends[:, 1]],
        "start": np.append(0, np.cumsum(levels[ends[:, 0]] * width)),
        "graph_start": np.array(graph_start),
        "entry": np.array(entry, dtype=np.int64),
        "above": np.array(above, dtype=np.int64),
        "draws": np.array(draws),
    }


def _deepest_first(graph: FeatureForest) -> np.ndarray:
    """Signal features, children before their parents."""
    nodes = np.flatnonzero(graph.signal)
    depth, above = np.zeros(len(nodes), dtype=int), graph.parent[nodes]
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, graph.parent[above], -1)
    return nodes[np.argsort(-depth, kind="stable")]


def _log_class(table: CodedTable, smoothing: str, alpha: float) -> np.ndarray:
    count = np.bincount(table.y, table.weight, table.n_classes).astype(float)
    if smoothing == "dirichlet":
        count += alpha / table.n_classes
    with np.errstate(divide="ignore"):  # a class without rows
        return np.log(count / count.sum())


def _log_conditionals(
    parts: Mapping[str, np.ndarray],
    table: CodedTable,
    smoothing: str,
    alpha: float,
    without: float = 0.0,
) -> np.ndarray:
    """Log P(child | parent, class), as ``GraphAverage.log_table``.

    ``without`` is the weight taken from the cell and the class in question.
    """
    feature, found = parts["feature"], [np.empty((0, table.n_classes))]
    children, parents = feature[parts["child"]], np.append(feature, -1)[parts["parent"]]
    for child, parent in zip(children.tolist(), parents.tolist()):
        count = _joint_counts(table, child, parent)
        v, width, _ = count.shape
        if smoothing == "paper":  # one row more, distributed as the child is overall
            share = _counts(table, child)
            more = (share / share.sum())[:, None, None]
        else:
            more = np.full((v, 1, 1), alpha / count.size)
        gone = np.minimum(count, without)
        with np.errstate(divide="ignore"):  # a level without rows
            share = np.log(
                (count - gone + more) / (count.sum(axis=0) - gone + more.sum())
            )
        found.append(share.reshape(v * width, table.n_classes))
    return np.concatenate(found)


def _joint_counts(table: CodedTable, child: int, parent: int) -> np.ndarray:
    """Weights of levels of the child by those of the parent, if any, by classes."""
    v, width = int(table.levels[child]), 1 if parent < 0 else int(table.levels[parent])
    cell = table.codes[:, child].astype(np.intp) * width
    if parent >= 0:
        cell += table.codes[:, parent]
    shape = v, width, table.n_classes
    cell = cell * table.n_classes + table.y
    return np.bincount(cell, table.weight, v * width * shape[2]).reshape(shape)


def level_counts(table: CodedTable) -> np.ndarray:
    """Weights of the levels of all features, one after another, by classes."""
    counts = [_joint_counts(table, j, -1)[:, 0] for j in range(len(table.levels))]
    return np.concatenate([np.empty((0, table.n_classes)), *counts])


def _counts(table: CodedTable, feature: Any) -> np.ndarray:
    return np.bincount(
        table.codes[:, feature], table.weight, int(table.levels[feature])
    )
