"""One tree of a LightGBM text: its nodes, checked and numbered parents first."""

from __future__ import annotations

import numpy as np

from clearwood.codec.documents import shown
from clearwood.columns.feature_space import ZERO
from clearwood.ensembles.lightgbm.columns import Columns
from clearwood.ensembles.lightgbm.text import Section
from clearwood.ensembles.nodes import TreeNodes
from clearwood.exceptions import UnsupportedModelError

CATEGORICAL, DEFAULT_LEFT = 1, 2
NOTHING, ZERO_TOO, NAN = range(3)
"""Values that a node treats as missing: bits 2 and 3 of its ``decision_type``."""
MOST_LEAVES = 2**31 - 2
# Shared by trees without splits: a file can hold very many of them.
ONE_LEAF = np.array([-1], dtype=np.int32)
NO_SIDE = np.array([False])


def read_tree(section: Section, output: int, columns: Columns) -> TreeNodes:
    """Read one tree, and record its splits in the columns.

    Parameters
    ----------
    section : Section
    output : int
        The output that the tree adds to.
    columns : Columns

    Returns
    -------
    TreeNodes
        Its ``categories_left`` still holds the bits of all codes.
    """
    if "is_linear" in section and section.integer("is_linear", 0, 1):
        raise UnsupportedModelError(
            f"{section.name}: {section.title} has linear models in its leaves, which "
            "rules cannot show. Fit with linear_tree=False."
        )
    n_leaves = section.integer("num_leaves", 1, MOST_LEAVES)
    n = n_leaves - 1
    value = section.numbers("leaf_value", n_leaves)
    left = section.integers("left_child", n, -n_leaves, n - 1)
    right = section.integers("right_child", n, -n_leaves, n - 1)
    feature = section.integers("split_feature", n, 0, columns.n_features - 1)
    # An infinite threshold separates missing values from all others.
    cut = section.numbers("threshold", n, or_infinity=True)
    kind = section.integers("decision_type", n, 0, 4 * NAN + DEFAULT_LEFT + CATEGORICAL)
    if n == 0:
        return TreeNodes(
            feature=ONE_LEAF,
            cut=ONE_LEAF,
            left=ONE_LEAF,
            right=ONE_LEAF,
            missing_left=NO_SIDE,
            value=value[:, None],
            output=output,
        )
    categorical = kind & CATEGORICAL > 0
    default_left = kind & DEFAULT_LEFT > 0
    missing = kind >> 2
    zero_left = 0 <= cut
    columns.note_numeric(
        section,
        feature,
        ~categorical,
        zero_is_missing=missing == ZERO_TOO,
        needs_zero=(missing == NAN) & (default_left != zero_left),
    )
    missing_left = np.where(missing == NOTHING, zero_left, default_left) & ~categorical
    sets = _sets(section, np.flatnonzero(categorical), cut)
    columns.note_categorical(section, feature, sets)
    order, place = _parents_first(section, left, right)
    leaf = np.zeros(n_leaves, bool)
    return TreeNodes(
        feature=np.append(feature[order], np.full(n_leaves, -1)).astype(np.int32),
        cut=np.append(_moved(cut[order]), leaf),
        left=np.append(place[left[order]], leaf).astype(np.int32),
        right=np.append(place[right[order]], leaf).astype(np.int32),
        missing_left=np.append(missing_left[order], leaf),
        value=np.append(np.zeros(n), value)[:, None],
        output=output,
        categories_left={int(place[node]): words for node, words in sets.items()},
    )


def _moved(cut: np.ndarray) -> np.ndarray:
    """Thresholds that treat numbers near 0 as LightGBM treats 0."""
    below = np.nextafter(-ZERO, -np.inf)
    near = np.abs(cut) <= ZERO
    return np.where(near, np.where(cut < 0, below, ZERO), cut)


def _sets(
    section: Section, nodes: np.ndarray, cut: np.ndarray
) -> dict[int, np.ndarray]:
    """Bits of every categorical node, as 32-bit words; its threshold is an index."""
    if not nodes.size:
        return {}
    n_sets = section.integer("num_cat", 0, MOST_LEAVES)
    ends = section.integers("cat_boundaries", n_sets + 1, 0, 2**31 - 1)
    if ends[0] != 0 or (np.diff(ends) <= 0).any():
        section.fail("cat_boundaries", shown(ends.tolist()), "numbers rising from 0")
    words = section.integers("cat_threshold", int(ends[-1]), 0, 2**32 - 1)
    words = words.astype("<u4")
    which = cut[nodes]
    wrong = np.flatnonzero((which < 0) | (which >= n_sets) | (which != np.floor(which)))
    if wrong.size:
        i = int(nodes[wrong[0]])
        expected = f"the number of one of {n_sets} category sets"
        section.fail_entry("threshold", i, cut[i], expected)
    # If nodes could share sets, a small file could declare sets without bound.
    numbers, first = np.unique(which, return_index=True)
    if numbers.size < which.size:
        again = int(np.delete(nodes, first)[0])
        expected = "a category set of every node's own"
        section.fail_entry("threshold", again, f"{cut[again]:g} again", expected)
    return {
        int(node): words[ends[s] : ends[s + 1]]
        for node, s in zip(nodes, which.astype(int))
    }


def _parents_first(
    section: Section, left: np.ndarray, right: np.ndarray
) -> tuple[list[int], np.ndarray]:
    """Inner nodes, parents before children, and the new position of every node.

    Inner nodes are numbered from 0, and leaf ``k`` is stored as ``-1 - k``, which
    Python counts from the end: ``place`` has inner nodes, then the leaves backwards.
    """
    n = left.size
    order, seen = [0], [False] * (2 * n + 1)
    children = list(zip(left.tolist(), right.tolist()))
    for node in order:
        for child in children[node]:
            if seen[child] or child == 0:
                key = "left_child" if child == children[node][0] else "right_child"
                section.fail_entry(key, node, child, "a node that has no parent yet")
            seen[child] = True
            if child > 0:
                order.append(child)
    if len(order) < n:
        lost = next(i for i in range(1, n) if not seen[i])
        section.fail("left_child", f"no way to node {lost}", "every node to be reached")
    place = np.empty(2 * n + 1, dtype=np.int64)
    place[order] = np.arange(n)
    place[n:] = np.arange(2 * n, n - 1, -1)
    return order, place
