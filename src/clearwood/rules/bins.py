"""Bins of features, within which a tree ensemble is constant.

An ensemble has finitely many splits: ``x_d <= cut``, or ``x_d`` in a set of categories.
Between two neighbouring cuts of a feature its output is constant, so that each feature
has finitely many bins::

    numeric      0 .. m       between the m sorted cuts (bin b: b cuts lie below x)
                 m + 1        missing
    categorical  0 .. g - 1   groups of categories that no split separates
                 g            missing
                 g + 1        a category unknown to the ensemble

A **statement** is one such split as a boolean, true where a row goes right (the papers'
``x_d > b``). The numeric statements of one feature are nested, so that sums over them
are prefix sums along the bins, which makes computations on bins fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._kernels import rules as _kernels
from clearwood.columns.cells import UNSEEN
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError

if TYPE_CHECKING:
    from clearwood.ensembles import TreeEnsemble
    from clearwood.ensembles.black_box import BlackBox


class Statements(NamedTuple):
    """Distinct splits of an ensemble; numeric ones first, in bin order.

    Attributes
    ----------
    feature : ndarray of shape (n_statements,)
        The feature of the split.
    first_true : ndarray of shape (n_numeric,)
        Lowest bin of that feature in which a numeric statement is true.
    missing_true : ndarray of shape (n_numeric,)
        Whether a numeric statement is true for a missing value.
    category_truth : tuple of ndarray
        Per categorical statement, whether it is true in each bin of its feature.
    weight : ndarray of shape (n_statements,)
        Multiplicity of the statement.
    """

    feature: np.ndarray
    first_true: np.ndarray
    missing_true: np.ndarray
    category_truth: tuple[np.ndarray, ...]
    weight: np.ndarray


class NumericStatements(NamedTuple):
    """The numeric statements."""

    feature: np.ndarray
    first_true: np.ndarray
    missing_true: np.ndarray


class CategoryStatements(NamedTuple):
    """The categorical statements: their truth tables end to end, with offsets."""

    feature: np.ndarray
    truth: np.ndarray
    borders: np.ndarray


@dataclass(frozen=True, eq=False)
class FeatureBins:
    """Bins of all features, and the statements that define them.

    Construct with :meth:`from_ensemble` or :meth:`from_splits`.

    Parameters
    ----------
    features : FeatureSpace
        Names and categories.
    cuts : tuple of ndarray
        Per feature the sorted distinct cuts (empty for a categorical feature).
    groups : tuple of (None or ndarray)
        Per categorical feature the group of each category code.
    statements : Statements
        The distinct statements.

    Examples
    --------
    >>> import numpy as np
    >>> bins = FeatureBins.from_splits(
    ...     FeatureSpace.numeric(1), feature=[0, 0], cut=[2.0, 1.0])
    >>> bins.transform(np.array([[0.5], [1.0], [1.5], [3.0], [np.nan]])).ravel()
    array([0, 0, 1, 2, 3], dtype=uint8)
    """

    features: FeatureSpace
    cuts: tuple[np.ndarray, ...]
    groups: tuple[np.ndarray | None, ...]
    statements: Statements

    @classmethod
    def from_ensemble(
        cls,
        ensemble: TreeEnsemble | BlackBox,
        *,
        missing_seen: np.ndarray | None = None,
        counts: str = "distinct",
    ) -> FeatureBins:
        """Construct the bins of a :class:`~clearwood.TreeEnsemble`.

        Parameters
        ----------
        ensemble : TreeEnsemble or BlackBox
            Its ``splits()`` are read.
        missing_seen : ndarray of bool of shape (n_features,), optional
            Features that have missing values in the data. For the others, two splits at
            one cut that differ only in the side of missing values are the same
            statement.
        counts : {"distinct", "all"}
            Weight of a statement: one, or the number of splits that are equal to it.
        """
        splits = ensemble.splits()
        return cls.from_splits(
            ensemble.features,
            feature=splits.numeric.feature,
            cut=splits.numeric.cut,
            missing_right=~splits.numeric.missing_left,
            category_splits=[split[1:] for split in splits.categorical],
            missing_seen=missing_seen,
            counts=counts,
        )

    @classmethod
    def from_splits(
        cls,
        features: FeatureSpace,
        *,
        feature: Any,
        cut: Any,
        missing_right: Any = None,
        category_splits: Any = (),
        missing_seen: np.ndarray | None = None,
        counts: str = "distinct",
    ) -> FeatureBins:
        """Construct the bins of given splits.

        Parameters
        ----------
        features : FeatureSpace
            Names and categories.
        feature, cut : array-like of shape (n_numeric_splits,)
            Numeric splits: a row goes right where ``x[feature] > cut``.
        missing_right : array-like of bool, optional
            Whether a missing value goes right; False by default.
        category_splits : iterable of (feature, codes_left, missing_left, unseen_left)
            Categorical splits.
        missing_seen, counts
            As in :meth:`from_ensemble`.
        """
        if counts not in ("distinct", "all"):
            raise InputError(f"counts must be 'distinct' or 'all', found {counts!r}.")
        feature = np.asarray(feature, dtype=np.int64)
        cut = np.asarray(cut, dtype=np.float64)
        if missing_right is None:
            missing_right = np.zeros(len(feature), dtype=bool)
        missing_true = np.asarray(missing_right, dtype=bool)
        if missing_seen is not None:
            missing_true = missing_true & missing_seen[feature]

        distinct, count = _distinct_rows(feature, cut, missing_true)
        feature, cut, missing_true = (a[distinct] for a in (feature, cut, missing_true))
        # Sorted by feature and cut; statements at one cut differ in missing values.
        is_new = np.ones(len(cut), dtype=bool)
        is_new[1:] = (np.diff(feature) != 0) | (cut[1:] != cut[:-1])
        borders = np.searchsorted(feature[is_new], np.arange(1, features.n_features))
        cuts = tuple(np.split(cut[is_new], borders))
        rank = np.cumsum(is_new)
        first_true = rank - rank[np.searchsorted(feature, feature)] + 1
        groups, truth, truth_feature, truth_count = _category_statements(
            features, category_splits, missing_seen
        )
        weight = np.concatenate([count, truth_count]).astype(np.float64)
        statements = Statements(
            np.concatenate([feature, truth_feature]).astype(np.int64),
            first_true,
            missing_true,
            truth,
            np.ones_like(weight) if counts == "distinct" else weight,
        )
        return cls(features, cuts, groups, statements)

    def without(self, exclude_features: np.ndarray) -> FeatureBins:
        """Copy without the statements of some features.

        Parameters
        ----------
        exclude_features : ndarray of bool of shape (n_features,)
        """
        s, kept = self.statements, ~exclude_features[self.statements.feature]
        n = len(s.first_true)
        statements = Statements(
            s.feature[kept],
            s.first_true[kept[:n]],
            s.missing_true[kept[:n]],
            tuple(truth for truth, keep in zip(s.category_truth, kept[n:]) if keep),
            s.weight[kept],
        )
        return replace(self, statements=statements)

    def in_columns(self, features: FeatureSpace, columns: np.ndarray) -> FeatureBins:
        """Copy with features at other positions; the remaining features have no cuts.

        Parameters
        ----------
        features : FeatureSpace
            All features.
        columns : ndarray of int
            Position of each feature of these bins among all features.
        """
        cuts, groups = [np.zeros(0)] * features.n_features, [None] * features.n_features
        for d, cut, group in zip(columns.tolist(), self.cuts, self.groups):
            cuts[d], groups[d] = cut, group
        statements = self.statements._replace(feature=columns[self.statements.feature])
        return replace(
            self,
            features=features,
            cuts=tuple(cuts),
            groups=tuple(groups),
            statements=statements,
        )

    def taken(self, columns: np.ndarray) -> FeatureBins:
        """Restrict to some features, ascending."""
        others = np.ones(self.features.n_features, dtype=bool)
        others[columns] = False
        s = self.without(others).statements
        return replace(
            self,
            features=self.features.taken(columns.tolist()),
            cuts=tuple(self.cuts[d] for d in columns),
            groups=tuple(self.groups[d] for d in columns),
            statements=s._replace(feature=np.searchsorted(columns, s.feature)),
        )

    def with_cuts(self, kept: np.ndarray) -> FeatureBins:
        """Restrict to some of the cuts, and the statements on these.

        Parameters
        ----------
        kept : ndarray of bool of shape (n_cuts,)
            Mask over the cuts of all features, end to end.
        """
        s, n = self.statements, len(self.statements.first_true)
        borders = self.flat_cuts[1]
        rank = np.concatenate([[0], np.cumsum(kept)])
        at = borders[s.feature[:n]] + s.first_true - 1
        chosen = kept[at]
        every = np.concatenate([chosen, np.ones(len(s.feature) - n, dtype=bool)])
        statements = Statements(
            s.feature[every],
            (rank[at + 1] - rank[borders[s.feature[:n]]])[chosen],
            s.missing_true[chosen],
            s.category_truth,
            s.weight[every],
        )
        parts = np.split(kept, borders[1:-1])
        cuts = tuple(c[part] for c, part in zip(self.cuts, parts))
        return FeatureBins(self.features, cuts, self.groups, statements)

    @property
    def n_statements(self) -> float:
        """Number of statements L, each counted with its weight."""
        return float(self.statements.weight.sum())

    @cached_property
    def used_features(self) -> np.ndarray:
        """Features with at least one statement, ascending."""
        return np.unique(self.statements.feature)

    @cached_property
    def is_category(self) -> np.ndarray:
        """Mask of the categorical features, of shape (n_features,)."""
        return np.array([group is not None for group in self.groups], dtype=bool)

    @cached_property
    def n_bins(self) -> np.ndarray:
        """Number of bins per feature, those for missing and unknown included."""
        return np.array(
            [
                len(c) + 2 if g is None else g.max(initial=-1) + 3
                for c, g in zip(self.cuts, self.groups)
            ],
            dtype=np.int64,
        )

    @cached_property
    def bin_start(self) -> np.ndarray:
        """Offset of each feature's bins when all bins are concatenated."""
        return np.concatenate([[0], np.cumsum(self.n_bins)[:-1]]).astype(np.int64)

    @cached_property
    def flat_cuts(self) -> tuple[np.ndarray, np.ndarray]:
        """Cuts of all features end to end, and the offset of each feature."""
        borders = np.cumsum([0, *map(len, self.cuts)])
        return np.concatenate([np.zeros(0), *self.cuts]), borders

    def missing_bin(self, feature: int) -> int:
        """The bin of missing values of one feature."""
        return int(self.n_bins[feature]) - (1 if self.groups[feature] is None else 2)

    def left_bins(self, ensemble: TreeEnsemble, node: int) -> np.ndarray:
        """Mask of the bins that a node's split sends left.

        Parameters
        ----------
        ensemble : TreeEnsemble
            All its cuts and groups of categories must be among these bins.
        node : int
            Index of an inner node.

        Returns
        -------
        ndarray of bool of shape (number of bins of the feature,)
        """
        d = int(ensemble.feature[node])
        group, missing_left = self.groups[d], ensemble.missing_left[node]
        if group is None:
            place = np.searchsorted(self.cuts[d], ensemble.cut[node])
            left = np.arange(self.n_bins[d]) <= place
            left[-1] = missing_left
            return left
        left = np.zeros(self.n_bins[d], dtype=bool)
        left[group] = ensemble.goes_left(node)
        left[-2:] = missing_left, ensemble.unseen_left[node]
        return left

    def transform(self, X: Any) -> np.ndarray:
        """Map every value to its bin.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Bins, in the smallest unsigned integer type that holds them.
        """
        return self.transform_encoded(self.features.encode(X))

    def transform_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`transform`, for an encoded matrix."""
        n_bins = self.n_bins
        dtype = np.min_scalar_type(max(int(n_bins.max(initial=1)) - 1, 0))
        codes = np.empty(encoded.shape, dtype=dtype, order="C")
        for d, (cuts, group) in enumerate(zip(self.cuts, self.groups)):
            column = encoded[:, d]
            missing = np.isnan(column)
            if group is None:
                found = np.searchsorted(cuts, column, side="left")
            else:
                unseen = column == UNSEEN
                known = np.where(missing | unseen, 0, column).astype(np.intp)
                found = np.where(unseen, n_bins[d] - 1, np.append(group, 0)[known])
            found[missing] = self.missing_bin(d)
            codes[:, d] = found
        return codes

    def sum_over_statements(
        self, when_true: np.ndarray, when_false: np.ndarray
    ) -> np.ndarray:
        """Sum over the statements of a feature, for each of its bins.

        Parameters
        ----------
        when_true, when_false : ndarray of shape (n_statements, n_columns)
            Contribution of each statement where it is true and where it is false.

        Returns
        -------
        ndarray of shape (total number of bins, n_columns)
            A row's sum over all statements is the sum of this table's entries at
            the row's bins.
        """
        table = np.zeros((int(self.n_bins.sum()), when_true.shape[1]))
        numeric, categories = self._by_kind
        n = len(numeric.feature)
        _kernels.add_numeric_statements(
            table, self.bin_start, self.n_bins, numeric, when_true, when_false
        )
        _kernels.add_category_statements(
            table, self.bin_start, categories, when_true[n:], when_false[n:]
        )
        return table

    def mass_of_statements(
        self, histogram: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mass of the bins where each statement is true, and where it is false.

        Parameters
        ----------
        histogram : ndarray of shape (total number of bins, n_columns)

        Returns
        -------
        true_mass, false_mass : ndarray of shape (n_statements, n_columns)
        """
        numeric, categories = self._by_kind
        n = len(numeric.feature)
        true_mass = np.zeros((len(self.statements.feature), histogram.shape[1]))
        false_mass = np.zeros_like(true_mass)
        _kernels.sum_numeric_statements(
            true_mass, false_mass, self.bin_start, self.n_bins, numeric, histogram
        )
        _kernels.sum_category_statements(
            true_mass[n:], false_mass[n:], self.bin_start, categories, histogram
        )
        return true_mass, false_mass

    @cached_property
    def _by_kind(self) -> tuple[NumericStatements, CategoryStatements]:
        """The statements in the form that the kernels take."""
        s, n = self.statements, len(self.statements.first_true)
        borders = np.cumsum([0, *(len(table) for table in s.category_truth)])
        truth = np.concatenate([np.zeros(0, dtype=bool), *s.category_truth])
        return (
            NumericStatements(s.feature[:n], s.first_true, s.missing_true),
            CategoryStatements(s.feature[n:], truth, borders),
        )


def _distinct_rows(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the distinct rows, sorted by the columns, and their counts."""
    order = np.lexsort(columns[::-1])
    if len(order) == 0:
        return order, order
    changes = np.zeros(len(order), dtype=bool)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[order][1:] != column[order][:-1]
    starts = np.flatnonzero(changes)
    return order[starts], np.diff(np.append(starts, len(order)))


def _category_statements(
    features: FeatureSpace, splits: Any, missing_seen: np.ndarray | None
) -> tuple[
    tuple[np.ndarray | None, ...], tuple[np.ndarray, ...], np.ndarray, np.ndarray
]:
    """Groups of categories, and the distinct categorical statements on them."""
    # A split and its mirror image are equivalent: orient each so that category 0 goes
    # left, that is, so that its statement is false there.
    # Keyed by bytes, as there may be thousands of categories.
    counted: list[dict[bytes, int]] = [{} for _ in features.names]
    for feature, codes_left, missing_left, unseen_left in splits:
        labels = features.categories[feature]
        if labels is None:
            raise InputError(
                f"Feature {features.names[feature]!r} is numeric but is split by "
                "categories; give its categories in the FeatureSpace."
            )
        right = np.ones(len(labels), dtype=bool)
        right[list(codes_left)] = False
        if missing_seen is not None and not missing_seen[feature]:
            missing_left = not right[0]
        side = np.append(right, [not missing_left, not unseen_left])
        key = (side ^ side[0]).tobytes()
        counted[feature][key] = counted[feature].get(key, 0) + 1

    groups: list[np.ndarray | None] = []
    truth, truth_feature, count = [], [], []
    for d, labels in enumerate(features.categories):
        if labels is None:
            groups.append(None)
            continue
        keys = sorted(counted[d])
        sides = np.frombuffer(b"".join(keys), dtype=bool).reshape(-1, len(labels) + 2)
        known = sides[:, : len(labels)].T
        # Packed bits, eight statements to a byte, sort in the same order, and faster.
        _, first, group = np.unique(
            np.packbits(known, axis=1), axis=0, return_index=True, return_inverse=True
        )
        groups.append(group.reshape(-1).astype(np.int64))
        for key, row, pattern in zip(keys, sides, known[first].T):
            truth.append(np.concatenate([pattern, row[len(labels) :]]))
            truth_feature.append(d)
            count.append(counted[d][key])
    return (
        tuple(groups),
        tuple(truth),
        np.array(truth_feature, dtype=np.int64),
        np.array(count, dtype=np.int64),
    )
