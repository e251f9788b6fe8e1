"""Coverage and error of rules, and removal of literals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from clearwood._kernels import in_trees as _kernels
from clearwood._numeric.progress import progress
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import Condition, FeatureBins, Training
from clearwood.simplifiers.in_trees.paths import Paths

SMALLEST_ERROR = 0.001
"""Lower bound of errors when a rise is relative to them."""

PRUNED_AT_ONCE = 1000
"""Number of rules per task of a thread."""


def score_and_prune(
    paths: Paths,
    rows: Training,
    decay: str | None = "absolute",
    max_decay: float = 0.05,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[Evaluated, Evaluated]:
    """Evaluate rules, and remove literals without which their error hardly rises.

    Literals are tried once each, from the last split of the tree to the first. The
    class that a rule predicts does not change, a value is the mean of its rows. Rules
    that cover no row are dropped.

    Parameters
    ----------
    paths : Paths
    rows : Training
        Rows to evaluate on.
    decay, max_decay
        See ``algorithm.Procedure``.
    n_jobs : int, optional
        Number of threads.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    whole, pruned : Evaluated
        The bits are those of the pruned rules in both.
    """
    most = -np.inf if decay is None else max_decay
    satisfied_by = _kernels.satisfied(rows.codes.T, paths.literals)
    judging = as_evaluation_rows(rows)

    def work(first: int) -> tuple[np.ndarray, ...]:
        borders = paths.borders[first : first + PRUNED_AT_ONCE + 1]
        return _kernels.prune(
            borders - borders[0], paths.literal[borders[0] : borders[-1]],
            satisfied_by, judging, most, SMALLEST_ERROR, decay == "relative",
        )  # fmt: skip

    starts = range(0, max(paths.n_rules, 1), PRUNED_AT_ONCE)
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    finished = parallel(delayed(work)(first) for first in starts)
    parts = progress(finished, len(starts), "thousands of rules pruned", verbose)
    kept, bits, total, predicted, loss = (np.concatenate(part) for part in zip(*parts))
    covers = total[:, :1] > 0
    frequency, error = total / judging.weight.sum(), loss / np.where(covers, total, 1.0)
    whole, pruned = (
        Evaluated(shown, predicted[:, i], frequency[:, i], error[:, i], bits).take(
            np.flatnonzero(covers)
        )
        for i, shown in enumerate((paths, paths.keep(kept)))
    )
    return whole, pruned


class Evaluated(NamedTuple):
    """Rules, and their quality on some rows.

    Attributes
    ----------
    paths : Paths
    predicted : ndarray of float64 of shape (n_rules,)
        Class number or standardized value that each predicts.
    frequency, error : ndarray of shape (n_rules,)
        Share of all rows that a rule covers, and of those the share of another class,
        or their variance.
    bits : ndarray of uint8 of shape (n_rules, n_rows / 8)
        The rows that a rule covers, as packed bits.
    """

    paths: Paths
    predicted: np.ndarray
    frequency: np.ndarray
    error: np.ndarray
    bits: np.ndarray

    def take(self, rules: np.ndarray) -> Evaluated:
        """Some of the rules, by position."""
        return Evaluated(self.paths.take(rules), *(part[rules] for part in self[1:]))


class EvaluationRows(NamedTuple):
    """Rows to evaluate rules on.

    Attributes
    ----------
    target : ndarray of float64 of shape (n_rows,)
        Target of the rules: class numbers, or standardized values.
    weight : ndarray of float64 of shape (n_rows,)
    n_classes : int
        0 for values.
    """

    target: np.ndarray
    weight: np.ndarray
    n_classes: int


def as_evaluation_rows(rows: Training) -> EvaluationRows:
    """Target, weights and number of classes of some rows."""
    weight = rows.weight.astype(np.float64)
    return EvaluationRows(target_of(rows), weight, len(rows.classes))


def target_of(rows: Training) -> np.ndarray:
    """Target to evaluate rules by: class numbers, or standardized values."""
    return rows.outcome.point(rows.standardised).astype(np.float64)


def distinct(evaluated: Evaluated) -> Evaluated:
    """Each set of literals once for the same class or value, the first one."""
    paths = evaluated.paths
    first: dict[tuple[frozenset[int], float], int] = {}
    for k, predicted in enumerate(evaluated.predicted.tolist()):
        first.setdefault((frozenset(paths.ids(k)), predicted), k)
    return evaluated.take(np.array(list(first.values()), dtype=np.int64))


def without_twins(evaluated: Evaluated) -> Evaluated:
    """The shortest, then first, of all rules that cover the same rows.

    An ordered list is the same with and without the others, which always lose.
    """
    best: dict[tuple[bytes, float], int] = {}
    for k in np.argsort(evaluated.paths.lengths, kind="stable").tolist():
        best.setdefault((evaluated.bits[k].tobytes(), float(evaluated.predicted[k])), k)
    return evaluated.take(np.array(sorted(best.values()), dtype=np.int64))


def packed(rows: np.ndarray) -> np.ndarray:
    """Truth values as packed bits."""
    return np.packbits(rows, axis=-1, bitorder="little")


def unpacked(bits: np.ndarray, n_rows: int) -> np.ndarray:
    """The packed bits as truth values."""
    return np.unpackbits(bits, axis=-1, count=n_rows, bitorder="little").view(bool)


@dataclass(frozen=True, eq=False)
class ExtractedRules:
    """Rules of an ensemble one by one, with their quality on the training rows.

    Attributes
    ----------
    prediction : ndarray of shape (n_rules,)
        Class, mean value or level that each predicts.
    frequency : ndarray of shape (n_rules,)
        Share of the rows (or of their weight) that it covers.
    error : ndarray of shape (n_rules,)
        Share of the covered rows of another class, or the mean squared error.
    length : ndarray of shape (n_rules,)
        Number of its literals; a set of categories is one.
    """

    prediction: np.ndarray
    frequency: np.ndarray
    error: np.ndarray
    length: np.ndarray
    _paths: Paths
    _bins: FeatureBins
    _seen: np.ndarray

    @classmethod
    def of(
        cls, evaluated: Evaluated, rows: Training, seen: np.ndarray
    ) -> ExtractedRules:
        """Evaluated rules in the target's own units.

        ``rows`` evaluated them; ``seen`` are the bins that contain any training rows.
        """
        return cls(
            rows.outcome.named(rows.centre + rows.unit * evaluated.predicted),
            evaluated.frequency,
            evaluated.error * rows.unit**2,
            evaluated.paths.lengths,
            evaluated.paths,
            rows.bins,
            seen,
        )

    def __len__(self) -> int:
        """Number of rules."""
        return len(self.length)

    @property
    def features(self) -> FeatureSpace:
        """Names and categories."""
        return self._bins.features

    def conditions(self, k: int) -> tuple[Condition, ...]:
        """Conditions of rule ``k``, one per feature."""
        return self._paths.conditions(k, self._bins, self._seen) or ()

    def to_pandas(self) -> Any:
        """The rules as a table, one row each, with their conditions as text."""
        import pandas as pd

        words = [
            " and ".join(c.text(self.features) for c in self.conditions(k))
            for k in range(len(self))
        ]
        return pd.DataFrame(
            {
                "rule": words,
                "prediction": self.prediction,
                "frequency": self.frequency,
                "error": self.error,
                "length": self.length,
            }
        )
