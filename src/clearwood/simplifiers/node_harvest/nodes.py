"""The shallow nodes of an ensemble's trees, as sets of bins and of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.ensembles import TreeEnsemble
from clearwood.rules import Training
from clearwood.search import contains


class Nodes(NamedTuple):
    """Distinct nodes; no two contain the same rows, and none contains all.

    Attributes
    ----------
    allowed : tuple of dict of int to ndarray of bool
        Per node, for each feature of its conditions, which of its bins are allowed.
    held : ndarray of bool of shape (n_rows, n_nodes)
    """

    allowed: tuple[dict[int, np.ndarray], ...]
    held: np.ndarray


def shallow_nodes(
    ensemble: TreeEnsemble,
    training: Training,
    *,
    max_features: int,
    min_samples_leaf: float,
) -> Nodes:
    """All nodes with conditions on few features and enough rows.

    Forbidden features are skipped: a node below a split on one contains all rows that
    it would contain without it.

    Parameters
    ----------
    ensemble : TreeEnsemble
    training : Training
        Rows in the bins of the ensemble.
    max_features : int
        Maximum number of features in the conditions of a node.
    min_samples_leaf : float
        Minimum number of rows in a node.

    Returns
    -------
    Nodes
        Of nodes with the same rows, the one of least depth.
    """
    columns = np.ascontiguousarray(training.codes.T)
    may_ask = np.isin(np.arange(len(columns)), training.used_features)
    everything = np.ones(len(training), dtype=bool)
    found: dict[bytes, Any] = {everything.tobytes(): (0, {}, everything)}
    for root in ensemble.roots.tolist():
        waiting = [(root, 0, dict[int, np.ndarray](), everything)]
        while waiting:
            node, depth, allowed, rows = waiting.pop()
            d = int(ensemble.feature[node])
            if d >= 0 and not may_ask[d]:
                for child in (int(ensemble.left[node]), int(ensemble.right[node])):
                    waiting.append((child, depth + 1, allowed, rows))
                continue
            if d < 0 or (d not in allowed and len(allowed) == max_features):
                continue
            left = training.bins.left_bins(ensemble, node)
            for child, side in (
                (int(ensemble.left[node]), left),
                (int(ensemble.right[node]), ~left),
            ):
                inside = rows & side[columns[d]]
                if training.counts[inside].sum() < min_samples_leaf:
                    continue
                narrower = {**allowed, d: allowed[d] & side if d in allowed else side}
                waiting.append((child, depth + 1, narrower, inside))
                key = inside.tobytes()
                if key not in found or depth + 1 < found[key][0]:
                    found[key] = (depth + 1, narrower, inside)
    del found[everything.tobytes()]
    held = np.array([rows for _, _, rows in found.values()], dtype=bool)
    return Nodes(
        tuple(allowed for _, allowed, _ in found.values()),
        held.reshape(len(found), len(training)).T,
    )


def nodes_of_boxes(
    boxes: np.ndarray, training: Training, *, max_features: int, min_samples_leaf: float
) -> Nodes:
    """Boxes with conditions on few features and enough rows, as nodes.

    Parameters
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
        In the training's grid; no two contain the same rows.
    training : Training
    max_features, min_samples_leaf
        As in :func:`shallow_nodes`.
    """
    grid, held = training.grid, contains(training.grid, boxes)
    allowed = [
        {
            d: part
            for d, part in zip(training.used_features, np.split(box, grid.start[1:]))
            if not part.all()
        }
        for box in boxes
    ]
    kept = [
        k
        for k, bins in enumerate(allowed)
        if len(bins) <= max_features
        and training.counts[held[k]].sum() >= min_samples_leaf
        and not held[k].all()
    ]
    return Nodes(tuple(allowed[k] for k in kept), held[kept].T)
