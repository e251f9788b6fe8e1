"""Averaged predictions as leaf values: prediction in one pass per tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.distributions.counts import Counts
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder
from clearwood.metatree.posterior.forest import MetaForest, each
from clearwood.metatree.posterior.posterior import Posterior
from clearwood.metatree.posterior.structure import Structure

STOP = -1
"""Marks a branch after which the node itself predicts."""


def node_values(posterior: Posterior) -> np.ndarray:
    """Prediction for rows that end at each node.

    Parameters
    ----------
    posterior : Posterior
        With leaves that read no features.

    Returns
    -------
    ndarray of shape (n_nodes, n_outputs)
        Class probabilities, or means.
    """
    model = posterior.model
    if model.reads_features:
        raise InputError(
            f"Predictions of {type(model).__name__} depend on the row's features, not "
            "on the leaf alone; predict with the estimator itself."
        )
    if isinstance(model, Counts):
        answers = model.probabilities(posterior.known)
    else:
        answers = model.mean(posterior.known)[:, None]
    if not np.isfinite(answers).all():
        raise InputError(
            "Some nodes have no finite mean; use a leaf_model with a narrower prior."
        )
    return _kernels.mix_down(posterior.structure.parent, posterior.g, answers)


def as_ensemble(tree: TreeNodes, **about: Any) -> TreeEnsemble:
    """Ensemble of a single tree with predictions at its leaves.

    ``about`` holds its ``features``, ``classes`` and ``source``.
    """
    classes = about["classes"]
    about = {
        "task": "regression" if classes is None else "classification",
        "link": "identity" if classes is None else "probability",
        "base_score": np.zeros(1 if classes is None else len(classes)),
        "allows_missing": True,
        "allows_infinite": True,
        "input_dtype": "float64",
        **about,
    }
    return TreeEnsemble(**join_trees([tree]), **about)


def forest_to_ensemble(
    forest: MetaForest,
    tree_weight: np.ndarray | None,
    n_jobs: int | None = None,
    **about: Any,
) -> TreeEnsemble:
    """Ensemble with averaged predictions at its leaves.

    Parameters
    ----------
    forest : MetaForest
    tree_weight : ndarray of shape (n_trees,) or None
        None means equal weights.
    n_jobs : int or None
    **about
        ``classes`` and ``source``.
    """
    e, n_trees = forest.ensemble, len(forest.bare)
    posteriors = forest.posteriors(n_jobs)

    def mix(t: int) -> np.ndarray:
        factor = 1.0 if tree_weight is None else tree_weight[t] * n_trees
        values = factor * node_values(posteriors[t])
        # In the order of the ensemble's nodes.
        return values[forest.place[forest.nodes_of[t]]]

    value = np.concatenate(each(mix, range(n_trees), n_jobs))
    value[e.feature >= 0] = 0.0
    is_class = about["classes"] is not None
    return replace(
        e,
        task="classification" if is_class else "regression",
        value=value,
        output=np.zeros(n_trees),
        base_score=np.zeros(value.shape[1]),
        aggregation="sum",
        divisor=float(n_trees),
        scale=1.0,
        offset=np.zeros(0),
        sum_dtype="float64",
        tree_weight=np.zeros(0),
        link="probability" if is_class else "identity",
        link_scale=1.0,
        decision="raw",
        details={},
        notes=(),
        **about,
    )


def binary_splits(structure: Structure, values: np.ndarray) -> TreeNodes:
    """Convert a structure to a tree of binary splits, with values at its leaves.

    A node with more than two branches, or at which some rows stop, becomes several
    successive splits. ``values`` are of shape (n_nodes, n_outputs).
    """
    tree = _BinarySplits(structure, values)
    # Content of a place: a node, and whether rows stop there.
    open_ends = [(tree.add(0), 0, False)]
    while open_ends:
        place, node, stops = open_ends.pop()
        tree.value[place] = values[node]
        if stops or structure.is_leaf[node]:
            continue
        by_set = structure.coder.features.categories[structure.feature[node]]
        ask = tree.split_numbers if by_set is None else tree.split_categories
        for end, child in ask(place, node):
            if child == STOP:
                open_ends.append((end, node, True))
            else:
                open_ends.append((end, int(structure.first_child[node]) + child, False))
    return tree.nodes()


class _BinarySplits:
    """Builder of successive binary splits."""

    def __init__(self, structure: Structure, values: np.ndarray) -> None:
        self.structure = structure
        self.values = values
        self.feature: list[int] = []
        self.cut: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.missing_left: list[bool] = []
        self.unseen_left: list[bool] = []
        self.sets: dict[int, np.ndarray] = {}
        self.value: list[np.ndarray] = []

    def add(self, node: int) -> int:
        """Add a node, at first as a leaf."""
        self.feature.append(-1)
        self.cut.append(np.nan)
        self.left.append(-1)
        self.right.append(-1)
        self.missing_left.append(False)
        self.unseen_left.append(False)
        self.value.append(self.values[node])
        return len(self.feature) - 1

    def ask(self, place: int, node: int, cut: float, missing_left: bool) -> int:
        """Turn a leaf into a split; its children are adjacent, left first."""
        self.feature[place] = int(self.structure.feature[node])
        self.cut[place] = cut
        self.missing_left[place] = missing_left
        self.left[place], self.right[place] = self.add(node), self.add(node)
        return self.left[place]

    def split_numbers(self, place: int, node: int) -> list[tuple[int, int]]:
        """Splits on a number; the place of each branch, and its child number."""
        cuts, children, missing = _line(self.structure, node)
        ends = []
        first, last = children[0], children[-1]
        if missing not in (first, last):
            # As scikit-learn splits missing values from all others.
            left = self.ask(place, node, np.inf, False)
            ends.append((left + 1, missing))
            place = left
        for number, (cut, child) in enumerate(zip(cuts, children)):
            goes_left = number == 0 and missing == first and missing != last
            left = self.ask(place, node, cut, goes_left)
            ends.append((left, child))
            place = left + 1
        return [*ends, (place, last)]

    def split_categories(self, place: int, node: int) -> list[tuple[int, int]]:
        """Splits on categories, which separate one branch after the other."""
        known, missing, unseen = _answers_by_category(self.structure, node)
        order = sorted({*known.tolist(), missing, unseen} - {STOP})
        order += [STOP] * (STOP in {*known.tolist(), missing, unseen})
        ends = []
        for child in order[:-1]:
            left = self.ask(place, node, np.nan, missing == child)
            self.unseen_left[place] = unseen == child
            self.sets[place] = known == child
            ends.append((left, child))
            place = left + 1
        return [*ends, (place, order[-1])]

    def nodes(self) -> TreeNodes:
        """All splits as one tree."""
        return TreeNodes(
            feature=self.feature,
            cut=self.cut,
            left=self.left,
            right=self.right,
            missing_left=self.missing_left,
            unseen_left=self.unseen_left,
            value=np.array(self.value),
            categories_left=self.sets,
        )


def _line(structure: Structure, node: int) -> tuple[list[float], list[int], int]:
    """Cuts along the axis, the children between them, and that of missing values."""
    coder, d = structure.coder, int(structure.feature[node])
    child = structure.child_of_codes(node).tolist()
    missing = child[coder.missing_code(d)]
    if isinstance(coder, BinCoder):
        cuts, answers = coder.bins.cuts[d].tolist(), child[:-1]
    else:
        # Numbers below the first value and above the last one are unseen.
        n = int(coder.n_values[d])
        cuts = float64_cut_of_float32_test(np.arange(n + 1) - 0.5).tolist()
        answers = [child[-1], *child[:n], child[-1]]
    change = [i for i, cut in enumerate(cuts) if answers[i] != answers[i + 1]]
    children = [answers[i] for i in change] + answers[-1:]
    real = [child for child in children if child != STOP]
    if missing not in (STOP, children[0], children[-1]):
        real.append(missing)
    if len(set(real)) < len(real):
        raise InputError(
            f"Non-contiguous values at node {node} lead to the same child, which a "
            "binary tree cannot represent; predict with the estimator itself."
        )
    return [cuts[i] for i in change], children, missing


def _answers_by_category(
    structure: Structure, node: int
) -> tuple[np.ndarray, int, int]:
    """Child of each category, and of missing and unseen values."""
    coder, d = structure.coder, int(structure.feature[node])
    child = structure.child_of_codes(node)
    group = coder.bins.groups[d] if isinstance(coder, BinCoder) else None
    known = child[: int(coder.n_codes[d]) - 2] if group is None else child[group]
    return known, int(child[-2]), int(child[-1])
