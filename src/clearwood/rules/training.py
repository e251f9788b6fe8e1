"""Training data of rules and trees: bins, target, weights, synthetic rows.

Every method that fits rules or trees to rows takes a :class:`Training`. Derived
quantities are computed once, on first use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._numeric.fold_roles import N_FOLDS
from clearwood.columns.sparse_tables import SparseRows
from clearwood.outcomes import Outcome, outcome_of
from clearwood.rules.bins import FeatureBins
from clearwood.rules.conditions import Condition, region_conditions
from clearwood.rules.evaluation.sums import EncodedRows
from clearwood.search.grid import Grid
from clearwood.search.losses import Loss

HASHES = "training data", "predictions of the model"
"""Entries of ``RuleSet.about`` on what rules were fitted to."""


@dataclass(frozen=True, eq=False)
class Training:
    """Training data of rules: real rows, followed by synthetic ones.

    Attributes
    ----------
    encoded : ndarray of shape (n_rows, n_features)
        The rows as encoded by ``FeatureSpace.encode``; the synthetic ones come last.
        Columns should be contiguous, as rules read columns.
    target : ndarray of shape (n_rows,) or (n_rows, n_classes)
        The target to fit: values in their own units, or class probabilities.
    labels : ndarray of shape (n_real,) or None
        True values of the real rows, or positions of true labels in ``classes``; used
        for statistics only.
    weight : ndarray of shape (n_rows,)
        Row weights, larger than zero for real rows.
    model_predictions : ndarray of shape (n_real,)
        The model's predictions for the real rows: values, or positions in ``classes``.
        Equal to the point predictions of ``target`` unless rules are fitted to labels.
    bins : FeatureBins
        Bins, the coordinates of the search.
    classes : tuple, default=()
        Class labels; empty for regression.
    exclude_features : ndarray of bool of shape (n_features,), optional
        Features that rules must not use; none by default.
    n_synthetic : int, default=0
        Number of synthetic rows, the last ones: they count for predictions of rules,
        but neither for minimum numbers of rows nor in statistics.
    scale : tuple of float, optional
        Mean and standard deviation for standardization; by default those of the real
        rows. Subsets of the rows keep those of the whole.
    others : SparseRows, optional
        The real rows in all columns of a sparse table, where ``encoded`` has some.
    class_weight : ndarray of shape (n_classes,), optional
        Weight of each class: rules predict the class of largest weighted probability,
        and report the probability unweighted. Ones by default.
    outcome : Outcome, optional
        Type of the target; by default derived from ``classes``.
    groups : ndarray of int of shape (n_real,), optional
        Code of the group of each row; by default rows are independent.
    folds : ndarray of int of shape (n_real, n_folds), optional
        Role of each row in each fold (``fold_roles``); by default folds are random.
    times : structured ndarray of shape (n_real,), optional
        For survival ``event`` and ``time`` of each row, of which ``labels`` are the
        pseudo-values.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[0], cut=[1.5])
    >>> rows, values = np.array([[1.0], [2.0]]), np.array([10.0, 30.0])
    >>> training = Training(rows, values, None, np.ones(2), values, bins)
    >>> training.codes.ravel(), training.standardised, training.seen
    (array([0, 1], dtype=uint8), array([-1.,  1.]), array([ True,  True, False]))
    >>> more = training.with_synthetic(np.array([[5.0]]), np.array([30.0]), np.ones(1))
    >>> len(more), more.counts, more.grid.columns, len(more.real)
    (3, array([1., 1., 0.]), array([[0, 1, 1]], dtype=uint16), 2)
    """

    encoded: np.ndarray
    target: np.ndarray
    labels: np.ndarray | None
    weight: np.ndarray
    model_predictions: np.ndarray
    bins: FeatureBins
    classes: tuple[Any, ...] = ()
    exclude_features: np.ndarray = None  # type: ignore[assignment]
    n_synthetic: int = 0
    scale: tuple[float, float] | None = None
    others: SparseRows | None = None
    class_weight: np.ndarray | None = None
    outcome: Outcome = None  # type: ignore[assignment]
    groups: np.ndarray | None = None
    folds: np.ndarray | None = None
    times: np.ndarray | None = None

    def __post_init__(self) -> None:
        outcome = outcome_of(self.classes, self.outcome)
        object.__setattr__(self, "outcome", outcome)
        if self.exclude_features is None:
            none = np.zeros(self.encoded.shape[1], dtype=bool)
            object.__setattr__(self, "exclude_features", none)

    def __len__(self) -> int:
        return len(self.encoded)

    def hashes(self) -> dict[str, str]:
        """Size and hash of the real rows, and hash of the model's predictions for them.

        The rows are hashed by column, as they are encoded, then their labels, in
        ascending order, so that the order in which they were given does not matter.
        """
        n, d = self.n_real, self.encoded.shape[1]
        encoded, predicted = self.encoded[:n], self.model_predictions
        labels = predicted if self.labels is None else self.labels
        order = np.lexsort((predicted, labels, place_of_rows(encoded)))
        return {
            HASHES[0]: f"{n:,} rows, {d:,} columns, SHA-256 {hash_of(encoded, labels)}",
            HASHES[1]: f"SHA-256 {_sha256([predicted], order)}",
        }

    @property
    def n_real(self) -> int:
        """Number of rows that are not synthetic."""
        return len(self.encoded) - self.n_synthetic

    @property
    def n_folds(self) -> int:
        """Number of folds in which rows are held out."""
        return N_FOLDS if self.folds is None else self.folds.shape[1]

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return self.outcome.task

    @cached_property
    def is_real(self) -> np.ndarray:
        """Mask of the rows that are not synthetic, of shape (n_rows,)."""
        return np.arange(len(self.encoded)) < self.n_real

    @cached_property
    def counts(self) -> np.ndarray:
        """Count of each row towards the minimum number of rows of a rule.

        One, whatever its weight: a single row of large weight is no evidence for a
        rule. Synthetic rows count zero.
        """
        return self.is_real.astype(np.float64)

    @cached_property
    def codes(self) -> np.ndarray:
        """Bin of every row and feature: unsigned integers (n_rows, n_features)."""
        return self.bins.transform_encoded(self.encoded)

    @cached_property
    def seen(self) -> np.ndarray:
        """Mask, over all bins of all features, of those that hold real rows."""
        seen = np.zeros(int(self.bins.n_bins.sum()), dtype=bool)
        for first, column in zip(self.bins.bin_start, self.codes[: self.n_real].T):
            seen[first + column.astype(np.int64)] = True
        return seen

    @cached_property
    def used_features(self) -> np.ndarray:
        """Features that the model uses and rules may use, ascending."""
        used = self.bins.used_features
        return used[~self.exclude_features[used]]

    @cached_property
    def grid(self) -> Grid:
        """All rows, as bins of the features in ``used_features``."""
        return Grid.of(
            self.codes[:, self.used_features],
            self.bins.n_bins[self.used_features],
            self.bins.is_category[self.used_features],
        )

    @cached_property
    def used_bins(self) -> np.ndarray:
        """Mask, over all bins of all features, of the bins of ``grid``."""
        is_used = np.isin(np.arange(len(self.bins.n_bins)), self.used_features)
        return np.repeat(is_used, self.bins.n_bins)

    @cached_property
    def _centre_and_unit(self) -> tuple[float, float]:
        if self.scale is not None:
            return self.scale
        target, weight = self.target[: self.n_real], self.weight[: self.n_real]
        return self.outcome.scale(target, weight)

    @property
    def centre(self) -> float:
        """Mean of the values to fit; 0 for classes."""
        return self._centre_and_unit[0]

    @property
    def unit(self) -> float:
        """Standard deviation of the values to fit; 1 where 0, and for classes."""
        return self._centre_and_unit[1]

    @cached_property
    def standardised(self) -> np.ndarray:
        """The standardized target, for which penalties have a common scale."""
        return self.standardise(self.target)

    def standardise(self, answers: np.ndarray) -> np.ndarray:
        """Values less ``centre``, over ``unit``; class probabilities, weighted."""
        standard = (answers - self.centre) / self.unit
        return standard if self.class_weight is None else standard * self.class_weight

    @property
    def class_counts(self) -> Any:
        """Class weights; 1 by default."""
        return 1.0 if self.class_weight is None else self.class_weight

    def point(self, answers: np.ndarray) -> Any:
        """Values, or positions of the class of largest weighted probability."""
        return self.outcome.point(answers * self.class_counts)

    @cached_property
    def loss(self) -> Loss:
        """Loss of point predictions: regret for classes, squared error for values."""
        kind = Loss.regret if self.classes else Loss.squares
        return kind(self.standardised, self.weight)

    def soft_loss(self, softness: float) -> Loss:
        """As ``loss``, for predicted class probabilities."""
        if self.classes:
            return Loss.probabilities(self.standardised, self.weight, softness)
        return Loss.squares(self.standardised, self.weight)

    @cached_property
    def real(self) -> Training:
        """Copy without the synthetic rows."""
        return self.take(slice(self.n_real)) if self.n_synthetic else self

    @property
    def counted(self) -> EncodedRows:
        """The rows as a block for statistics of rules; none may be synthetic."""
        return EncodedRows(
            self.encoded, self.weight, self.model_predictions, self.labels
        )

    def take(self, rows: np.ndarray | slice) -> Training:
        """Subset of the real rows, by position; ``centre`` and ``unit`` are kept."""
        part = replace(
            self,
            encoded=_rows_of(self.encoded, rows),
            target=self.target[rows],
            labels=None if self.labels is None else self.labels[rows],
            weight=self.weight[rows],
            model_predictions=self.model_predictions[rows],
            others=None if self.others is None else self.others.take(rows),
            groups=None if self.groups is None else self.groups[rows],
            folds=None if self.folds is None else self.folds[rows],
            times=None if self.times is None else self.times[rows],
            n_synthetic=0,
            scale=self._centre_and_unit,
        )
        # Bins are computed once for all rows.
        part.__dict__["codes"] = self.codes[rows]
        return part

    def in_one_order(self) -> Training:
        """The real rows, in an order that does not depend on that of the table.

        Sorted by bins and weights, then by values and labels, so that only rows equal
        in all of these keep their order; then shuffled with a fixed seed, because
        methods that sample rows must not see them sorted.
        """
        labels = np.atleast_2d((self.weight if self.labels is None else self.labels).T)
        if self.others is None:
            places = [place_of_rows(table) for table in (self.encoded, self.codes)]
        else:
            stored = self.others.stored(), self.others.stored(self.codes)
            places = [place_of_cells(len(self), cells) for cells in stored]
        rows = np.lexsort((*labels, places[0], self.weight, places[1]))
        rows = rows[np.random.default_rng(0).permutation(len(rows))]
        # Summation in another order differs in the last digits, and so would the scale.
        found = replace(self.take(rows), scale=self.scale)
        found.__dict__["codes"] = self.codes[rows]
        return found

    def as_read(self, encoded: np.ndarray, rows: np.ndarray) -> Any:
        """Rows in the format of the model, derived from some of the real rows.

        Parameters
        ----------
        encoded : ndarray of shape (n_made, n_features)
        rows : ndarray of int of shape (n_made,)
            The real row that each derives from, and whose other columns it has.
        """
        return encoded if self.others is None else self.others.filled(encoded, rows)

    def with_synthetic(
        self, encoded: np.ndarray, target: np.ndarray, weight: np.ndarray
    ) -> Training:
        """Copy with synthetic rows after the real ones.

        Parameters
        ----------
        encoded, target, weight : ndarray
            As the fields of the same names.
        """
        real = self.real
        both = replace(
            real,
            encoded=np.concatenate([real.encoded.T, encoded.T], axis=1).T,
            target=np.concatenate([real.target, target]),
            weight=np.concatenate([real.weight, weight]),
            n_synthetic=len(encoded),
            scale=self._centre_and_unit,
        )
        codes = self.bins.transform_encoded(encoded)
        both.__dict__["codes"] = np.concatenate([real.codes, codes])
        return both

    def region(self, box: np.ndarray) -> tuple[Condition, ...] | None:
        """Conditions of a box of ``grid``; None if the box is empty.

        Parameters
        ----------
        box : ndarray of bool of shape (total number of bins of ``grid``,)
        """
        allowed = np.ones(len(self.seen), dtype=bool)
        allowed[self.used_bins] = box
        return region_conditions(self.bins, allowed, self.seen)


def _rows_of(table: np.ndarray, rows: np.ndarray | slice) -> np.ndarray:
    """Subset of rows that keeps columns contiguous."""
    if isinstance(rows, slice) or not table.flags.f_contiguous:
        return table[rows]
    return table.T.take(rows, axis=1).T


def place_of_rows(table: np.ndarray) -> np.ndarray:
    """Number that identifies each distinct row."""
    return place_of_cells(len(table), ((slice(None), column) for column in table.T))


def place_of_cells(
    n_rows: int, columns: Iterable[tuple[np.ndarray | slice, np.ndarray]]
) -> np.ndarray:
    """As :func:`place_of_rows`, of columns whose other cells are zeros."""
    place = np.zeros(n_rows)
    generator = np.random.default_rng(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows, cells in columns:
            finite = np.nan_to_num(cells, posinf=1.0, neginf=-1.0)
            place[rows] += generator.random() * finite
    return place


def hash_of(encoded: np.ndarray, labels: np.ndarray) -> str:
    """SHA-256 of encoded rows and their labels, whatever the order of the rows."""
    order = np.lexsort((labels, place_of_rows(encoded)))
    return _sha256([*encoded.T, labels], order)


def _sha256(columns: Iterable[np.ndarray], order: np.ndarray) -> str:
    found = hashlib.sha256()
    for column in columns:
        found.update(np.ascontiguousarray(column[order], "<f8").tobytes())
    return found.hexdigest()
