"""Structures from trees of ensembles and of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._kernels import metatree_growing as _kernels
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.read import read_trees
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder
from clearwood.metatree.posterior.structure import Structure
from clearwood.rules.bins import FeatureBins


def from_ensemble_tree(
    ensemble: TreeEnsemble, tree: int = 0, *, bins: FeatureBins | None = None
) -> Structure:
    """Structure of one tree of an ensemble; its leaf values are not used.

    Missing and unseen values go where the tree sends them.

    Parameters
    ----------
    ensemble : TreeEnsemble
    tree : int, default=0
    bins : FeatureBins, optional
        Bins with all cuts of the tree, for trees that are to share codes:
        ``FeatureBins.from_ensemble(ensemble)``. By default those of this tree.

    Returns
    -------
    Structure
        ``original`` holds node positions inside the ensemble's tree.

    Examples
    --------
    >>> from clearwood import read_ensemble
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0], [2.0]], [5.0, 7.0, 7.0])
    >>> structure = from_ensemble_tree(read_ensemble(model))
    >>> structure.route(structure.encode([[0.2], [1.7]])).tolist()
    [1, 2]
    """
    if not 0 <= tree < ensemble.n_trees:
        raise InputError(
            f"tree is {tree}, but the ensemble has the trees 0 to "
            f"{ensemble.n_trees - 1}."
        )
    root = int(ensemble.roots[tree])
    end = int(np.append(ensemble.roots, ensemble.n_nodes)[tree + 1])
    parent, first_child, order = shape_of_tree(ensemble, slice(root, end))
    nodes = order + root
    feature = ensemble.feature[nodes]
    inner = feature >= 0
    if bins is None:
        bins = _bins_of_nodes(ensemble, nodes)

    missing_child = np.where(ensemble.missing_left[nodes], 0, 1).astype(np.int32)
    cut_code = np.full(len(nodes), -1, dtype=np.int32)
    table_start = np.full(len(nodes), -1, dtype=np.int64)
    numeric = inner & (ensemble.category_set[nodes] < 0)
    cut_code[numeric] = _codes_of_cuts(
        bins, feature[numeric], ensemble.cut[nodes[numeric]]
    )
    tables, n = [np.zeros(0, dtype=np.int32)], 0
    for node in np.flatnonzero(inner & ~numeric):
        table_start[node] = n
        tables.append(_category_table(ensemble, int(nodes[node]), bins))
        n += len(tables[-1])
    return Structure(
        parent=parent,
        first_child=first_child,
        n_children=np.where(inner, 2, 0).astype(np.int32),
        feature=feature.astype(np.int32),
        cut_code=cut_code,
        missing_child=missing_child,
        table_start=table_start,
        goes_to=np.concatenate(tables),
        coder=BinCoder(bins),
        original=order.astype(np.int32),
    )


def shape_of_tree(
    ensemble: TreeEnsemble, nodes: slice
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parents, first children and original numbers of a tree at some nodes.

    Children are adjacent: the nodes are in breadth-first order.
    """
    order, parent = _kernels.breadth_first(
        ensemble.left[nodes], ensemble.right[nodes], nodes.start
    )
    inner = ensemble.feature[nodes][order] >= 0
    first_child = np.full(len(order), -1, dtype=np.int32)
    first_child[inner] = 1 + 2 * np.arange(np.count_nonzero(inner))
    return parent, first_child, order


def _bins_of_nodes(ensemble: TreeEnsemble, nodes: np.ndarray) -> FeatureBins:
    is_categorical = ensemble.category_set[nodes] >= 0
    numeric = nodes[(ensemble.feature[nodes] >= 0) & ~is_categorical]
    return FeatureBins.from_splits(
        ensemble.features,
        feature=ensemble.feature[numeric],
        cut=ensemble.cut[numeric],
        missing_right=~ensemble.missing_left[numeric],
        category_splits=(
            (
                int(ensemble.feature[node]),
                frozenset(np.flatnonzero(ensemble.goes_left(node)).tolist()),
                bool(ensemble.missing_left[node]),
                bool(ensemble.unseen_left[node]),
            )
            for node in nodes[is_categorical]
        ),
    )


def _codes_of_cuts(
    bins: FeatureBins, feature: np.ndarray, cut: np.ndarray
) -> np.ndarray:
    """Last codes that go left: the positions of the cuts among all cuts."""
    flat, start = bins.flat_cuts
    place = _kernels.places_of_cuts(flat, start, feature, cut)
    if (place < 0).any():
        name = bins.features.names[feature[int(place.argmin())]]
        raise InputError(
            f"The bins lack a cut of feature {name!r} at which the tree splits; make "
            "them from the ensemble that holds the tree."
        )
    return place


def _category_table(ensemble: TreeEnsemble, node: int, bins: FeatureBins) -> np.ndarray:
    """Child of each bin of a categorical feature: its groups, missing, unseen."""
    d = int(ensemble.feature[node])
    group = bins.groups[d]
    table = np.zeros(int(bins.n_bins[d]), dtype=np.int32)
    if group is None:
        raise InputError(f"The bins hold no categories of feature {d}.")
    table[group] = ~ensemble.goes_left(node)
    table[-2] = not ensemble.missing_left[node]
    table[-1] = not ensemble.unseen_left[node]
    return table


def from_sklearn_tree(model: Any) -> Structure:
    """Structure of a fitted scikit-learn decision tree.

    Casts to float32, ``<=`` and the side of missing values are preserved.

    Parameters
    ----------
    model : DecisionTreeClassifier, DecisionTreeRegressor or ExtraTree*
        Or anything that :func:`~clearwood.read_ensemble` reads as one tree.

    Returns
    -------
    Structure
        ``original`` holds scikit-learn's node numbers.
    """
    ensemble = read_trees(model)
    if ensemble.n_trees != 1:
        raise InputError(
            f"Expected one tree, found {ensemble.n_trees}; take one with "
            "from_ensemble_tree(read_ensemble(model), tree)."
        )
    return from_ensemble_tree(ensemble)


def stop_unseen(structure: Structure) -> Structure:
    """Structure in which unseen categories stop at splits on their feature."""
    goes_to = structure.goes_to.copy()
    asks = np.flatnonzero(structure.table_start >= 0)
    last = structure.coder.n_codes[structure.feature[asks]] - 1
    goes_to[structure.table_start[asks] + last] = -1
    return replace(structure, goes_to=goes_to)
