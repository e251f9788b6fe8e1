"""The tree whose prunings are averaged: T_max in flat arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import metatree_posterior as _kernels
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import info_of_both, info_of_more
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder, Coder, ValueCoder

BLOCK_CODES = 2**17
"""Codes routed at a time: as many as stay in the cache."""

MOST_FORMS = 2**12
"""Up to this number of combinations of codes, routing uses a lookup table."""


class Routing(NamedTuple):
    """Routing tables of rows; described at the kernel ``make_ways``."""

    ways: np.ndarray
    leads_to: np.ndarray
    has_cuts: bool
    least_depth: int
    depth: int


class TreeShape:
    """Properties that follow from the arrays of parents and first children."""

    parent: np.ndarray
    first_child: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.parent.size

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Whether a node is a leaf of T_max."""
        return self.first_child < 0

    @cached_property
    def depth(self) -> np.ndarray:
        """Number of splits above each node."""
        return _kernels.node_depths(self.parent)


@dataclass(frozen=True, eq=False, repr=False)
class Structure(TreeShape):
    """One tree T_max: its splits and branches.

    Parents precede their children, and the children of a node are adjacent. A row
    consists of one integer code per feature. At a node it goes to

    - child ``goes_to[table_start[node] + code]`` where the node has a table,
    - else child 0 where ``code <= cut_code[node]``, ``missing_child[node]`` where the
      code is the feature's last, and child 1 otherwise.

    A child number -1, and a code outside the feature's range, mean that the row stops
    at the node: an unseen category, or a missing value without a branch.

    Parameters
    ----------
    parent : ndarray of int32 of shape (n_nodes,)
        -1 at the root.
    first_child : ndarray of int32 of shape (n_nodes,)
        -1 at leaves.
    n_children : ndarray of int32 of shape (n_nodes,)
        0 at leaves.
    feature : ndarray of int32 of shape (n_nodes,)
        -1 at leaves.
    cut_code, missing_child : ndarray of int32 of shape (n_nodes,)
        For nodes without a table.
    table_start : ndarray of int64 of shape (n_nodes,)
        -1 at nodes without a table.
    goes_to : ndarray of int32
        The tables, concatenated, with one entry per code of the node's feature.
    coder : BinCoder or ValueCoder
        Encoder of tables as codes.
    original : ndarray of int32 of shape (n_nodes,)
        Number of the node in the original tree.

    Examples
    --------
    >>> structure = given([0, 1, 1], n_values=2, n_features=2)
    >>> structure.n_nodes, structure.parent.tolist()
    (7, [-1, 0, 0, 1, 1, 2, 2])
    >>> structure.route([[0, 0], [1, 0], [1, 9]]).tolist()
    [3, 5, 2]
    """

    parent: np.ndarray
    first_child: np.ndarray
    n_children: np.ndarray
    feature: np.ndarray
    cut_code: np.ndarray
    missing_child: np.ndarray
    table_start: np.ndarray
    goes_to: np.ndarray
    coder: Coder
    original: np.ndarray

    def __repr__(self) -> str:
        """One-line description, as it is a parameter of estimators."""
        return (
            f"<Structure: {self.n_nodes} nodes, {int(self.is_leaf.sum())} leaves, "
            f"depth {int(self.depth.max())}, features: {self.n_features}>"
        )

    @property
    def n_features(self) -> int:
        """Number of features of a row."""
        return self.coder.features.n_features

    @property
    def used_features(self) -> set[int]:
        """Features of all splits."""
        return set(np.unique(self.feature[~self.is_leaf]).tolist())

    @cached_property
    def routing(self) -> Routing:
        """Tables by which the kernel routes rows."""
        ways, leads_to = _kernels.make_ways(
            self.first_child, self.feature, self.cut_code, self.missing_child,
            self.table_start, self.goes_to,
            np.ascontiguousarray(self.coder.n_codes, dtype=np.int64),
        )  # fmt: skip
        has_cuts = bool((~self.is_leaf & (self.table_start < 0)).any())
        depths = self.depth[self.is_leaf]
        return Routing(ways, leads_to, has_cuts, int(depths.min()), int(depths.max()))

    def encode(self, X: Any) -> np.ndarray:
        """Codes of a table; see the coder."""
        return self.coder.codes_of(self.coder.features.encode(X, self.used_features))

    def route(self, codes: Any) -> np.ndarray:
        """Node at which each row ends: a leaf, or an inner node where it stops.

        Parameters
        ----------
        codes : array-like of int of shape (n_rows, n_features)

        Returns
        -------
        ndarray of int32 of shape (n_rows,)
        """
        codes = np.ascontiguousarray(codes)
        if codes.ndim != 2 or codes.shape[1] != self.n_features:
            raise InputError(
                f"codes have the shape {codes.shape}, expected (n_rows, "
                f"{self.n_features}); make them with encode."
            )
        if codes.dtype.kind not in "iu":
            raise InputError(
                f"codes are of type {codes.dtype}, expected integers; make them with "
                "encode."
            )
        if codes.dtype == np.uint64:
            codes = codes.view(np.int64)  # equivalent, and accepted by the kernel
        ends = np.empty(len(codes), dtype=np.int32)
        if self._all_forms <= min(MOST_FORMS, len(codes)):
            _kernels.look_up_ends(codes, self._n_forms, self._end_of_form, ends)
        else:
            self._send_down(codes, ends)
        return ends

    @cached_property
    def _n_forms(self) -> np.ndarray:
        """Number of codes of each feature, with one for all that are outside."""
        return np.asarray(self.coder.n_codes).astype(np.uint64) + np.uint64(1)

    @cached_property
    def _all_forms(self) -> float:
        return float(self._n_forms.prod(dtype=np.float64))

    @cached_property
    def _code_type(self) -> np.dtype:
        """Smallest type of all codes, with one for those outside."""
        return np.min_scalar_type(int(self.coder.n_codes.max(initial=0)))

    @cached_property
    def _end_of_form(self) -> np.ndarray:
        """End nodes of rows, for all combinations of codes."""
        sizes = tuple(int(n) for n in self._n_forms)
        codes = np.indices(sizes, dtype=np.int32).reshape(len(sizes), -1).T
        ends = np.empty(len(codes), dtype=np.int32)
        self._send_down(np.ascontiguousarray(codes), ends)
        return ends

    def _send_down(self, codes: np.ndarray, ends: np.ndarray) -> None:
        """Write the end nodes of rows that are routed split by split."""
        small = self._code_type
        too_wide = codes.itemsize == 8 and small.itemsize < 4
        n_rows = max(1, BLOCK_CODES // max(self.n_features, 1))
        buffer = np.empty((min(n_rows, len(codes)), self.n_features), dtype=small)
        for start in range(0, len(codes), n_rows):
            block = codes[start : start + n_rows]
            if too_wide:
                narrowed = buffer[: len(block)]
                _kernels.narrow(block.reshape(-1), narrowed.reshape(-1))
                block = narrowed
            part = ends[start : start + n_rows]
            _kernels.find_ends(block, self.routing, part)

    def child_of_codes(self, node: int) -> np.ndarray:
        """Child number for each code of an inner node's feature, -1 to stop."""
        d = int(self.feature[node])
        n_codes = int(self.coder.n_codes[d])
        start = int(self.table_start[node])
        if start >= 0:
            return self.goes_to[start : start + n_codes]
        child = (np.arange(n_codes) > self.cut_code[node]).astype(np.int32)
        child[-1] = self.missing_child[node]
        return child

    def same_as(self, other: Structure) -> bool:
        """Whether two structures have the same splits at the same nodes."""
        return self is other or (
            all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in (
                    "first_child", "n_children", "feature", "cut_code",
                    "missing_child", "table_start", "goes_to",
                )
            )
            and _same_codes(self.coder, other.coder)
        )  # fmt: skip


def _same_codes(a: Coder, b: Coder) -> bool:
    if a is b:
        return True
    if not np.array_equal(a.n_codes, b.n_codes):
        return False
    if a.features.categories != b.features.categories:
        return False
    if isinstance(a, BinCoder) and isinstance(b, BinCoder):
        return all(map(np.array_equal, a.bins.cuts, b.bins.cuts)) and all(
            np.array_equal(g, h) if g is not None and h is not None else g is h
            for g, h in zip(a.bins.groups, b.bins.groups)
        )
    return isinstance(a, ValueCoder) and isinstance(b, ValueCoder)


@dataclass(frozen=True, eq=False)
class BareTree(TreeShape):
    """Tree of a forest with the features of its splits, but without thresholds.

    Parameters
    ----------
    parent, first_child, feature : ndarray of int32 of shape (n_nodes,)
        As in ``Structure``.
    n_features : int
        Number of features of a row.
    """

    parent: np.ndarray
    first_child: np.ndarray
    feature: np.ndarray
    n_features: int

    def same_as(self, other: BareTree) -> bool:
        """Whether two trees have the same shape."""
        return np.array_equal(self.first_child, other.first_child)


def features_of_both(structure: Structure, features: FeatureSpace) -> Structure:
    """Structure with the kinds of numeric columns updated by other features."""
    mine = structure.coder.features
    info = info_of_both(mine.info, features.info)
    return with_features(structure, replace(mine, info=info))


def with_more_rows(structure: Structure, encoded: np.ndarray) -> Structure:
    """Structure with the kinds of numeric columns updated by more rows."""
    mine = structure.coder.features
    info = info_of_more(mine.info, encoded)
    return with_features(structure, replace(mine, info=info))


def with_features(structure: Structure, features: FeatureSpace) -> Structure:
    """Structure with another description of the same features."""
    if features == structure.coder.features:
        return structure
    coder = structure.coder
    if isinstance(coder, BinCoder):
        return replace(
            structure, coder=BinCoder(replace(coder.bins, features=features))
        )
    return replace(structure, coder=replace(coder, features=features))


def given(
    feature: Any,
    n_values: Any,
    *,
    n_features: int | None = None,
    first_child: Any = None,
    features: FeatureSpace | None = None,
    missing: str = "stop",
) -> Structure:
    """Make a tree from its splits, with one child per value of the feature.

    Parameters
    ----------
    feature : array-like of int
        Feature of the split at every node in breadth-first order, -1 at leaves; nodes
        at the end that are not listed are leaves. For perfect trees this is heap order:
        the children of node ``s`` are ``M s + 1`` to ``M s + M``.
    n_values : int or array-like of shape (n_features,)
        Number of values of each feature. They are 0, 1, ..., or category codes.
    n_features : int, optional
        Number of columns; by default as many as the splits use.
    first_child : array-like of int, optional
        Position of every node's first child, -1 at leaves, for trees in another order:
        parents first, the children of a node adjacent.
    features : FeatureSpace, optional
        Names and categories of the columns.
    missing : {"stop", "branch"}
        A missing value stops at the node, or has a child of its own, the last.

    Returns
    -------
    Structure

    Examples
    --------
    >>> given([0, 1, -1, 1], n_values=[3, 2]).first_child.tolist()
    [1, 4, -1, 6, -1, -1, -1, -1]
    """
    feature = np.atleast_1d(np.asarray(feature, dtype=np.int64))
    if n_features is None:
        n_features = (
            features.n_features if features else max(int(feature.max(initial=0)) + 1, 1)
        )
        if features is None and np.ndim(n_values) == 1:
            n_features = len(n_values)
    if features is None:
        features = FeatureSpace.numeric(n_features)
    values = np.asarray(n_values, dtype=np.int64)
    if values.shape not in ((), (n_features,)):
        raise InputError(
            f"n_values has the shape {values.shape}; expected one number, or one per "
            f"feature ({n_features})."
        )
    values = np.broadcast_to(values, (n_features,))
    if feature.size and (feature.max() >= n_features or feature.min() < -1):
        raise InputError(
            f"feature holds {feature.min()} to {feature.max()}, expected -1 at leaves, "
            f"else 0 to {n_features - 1}."
        )
    if (values < 1).any() or missing not in ("stop", "branch"):
        raise InputError(
            f"Found n_values {values.tolist()} and missing={missing!r}; expected at "
            "least one value per feature, and 'stop' or 'branch'."
        )
    own_branch = missing == "branch"
    widths = np.where(feature >= 0, values[feature] + own_branch, 0)
    if first_child is None:
        n_nodes = 1 + int(widths.sum())
        if len(feature) > n_nodes:
            raise InputError(
                f"feature lists {len(feature)} nodes, but its splits have only "
                f"{n_nodes - 1} children; list nodes breadth first, -1 at leaves."
            )
        pad = n_nodes - len(feature)
        feature = np.pad(feature, (0, pad), constant_values=-1)
        widths = np.pad(widths, (0, pad))
        first = np.where(widths > 0, 1 + np.cumsum(widths) - widths, -1)
    else:
        first = np.asarray(first_child, dtype=np.int64)
    parent = check_children(first, widths)

    # One table per feature serves all its nodes.
    tables, at, n = [], np.zeros(n_features, dtype=np.int64), 0
    for d in range(n_features):
        to_missing = values[d] if own_branch else -1
        tables.append([*range(values[d]), to_missing, -1])
        at[d], n = n, n + len(tables[-1])
    goes_to = np.concatenate(tables).astype(np.int32)
    return Structure(
        parent=parent,
        first_child=first.astype(np.int32),
        n_children=widths.astype(np.int32),
        feature=feature.astype(np.int32),
        cut_code=np.full(len(feature), -1, dtype=np.int32),
        missing_child=np.full(len(feature), -1, dtype=np.int32),
        table_start=np.where(feature >= 0, at[feature], -1),
        goes_to=goes_to,
        coder=ValueCoder(features, np.array(values)),
        original=np.arange(len(feature), dtype=np.int32),
    )


def check_children(first: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Parents from first children; raises unless they form one tree."""
    n_nodes = len(widths)
    parent = np.full(n_nodes, -1, dtype=np.int32)
    if first.shape != widths.shape or n_nodes == 0:
        raise InputError(
            f"first_child has the shape {first.shape}, expected ({n_nodes},): one "
            "entry per node, for one node at least."
        )
    # int64, as sums of invalid numbers could overflow.
    first, widths = first.astype(np.int64), widths.astype(np.int64)
    for node in np.flatnonzero(widths):
        stop = first[node] + widths[node]
        if not node < first[node] < stop <= n_nodes:
            raise InputError(
                f"first_child of node {node} is {first[node]}; its {widths[node]} "
                f"children must come after it and end before {n_nodes}: all children "
                "of a split must be among the nodes."
            )
        if (parent[first[node] : stop] >= 0).any():
            raise InputError(f"Children of node {node} have another parent already.")
        parent[first[node] : stop] = node
    if (parent[1:] < 0).any():
        raise InputError(
            f"Node {1 + int(np.argmin(parent[1:]))} is nobody's child; list every "
            "node of the tree and no others."
        )
    return parent
