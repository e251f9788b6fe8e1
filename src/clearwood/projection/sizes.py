"""Size path of projected trees and lists: the gain of each further rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearwood.exceptions import InputError


class Words(NamedTuple):
    """Names of a proxy, and of one or more of its parts.

    Examples
    --------
    >>> Words("tree", "leaf", "leaves").count_text(1)
    '1 leaf'
    """

    proxy: str
    line: str
    lines: str

    def count_text(self, n: int) -> str:
        """Number with its noun."""
        return f"{n} {self.line if n == 1 else self.lines}"


@dataclass(frozen=True, eq=False)
class SizePath:
    """Agreement of trees of 1, 2, ... leaves, or lists of rules, with the reference.

    All in nats per row, averaged over draws.

    Attributes
    ----------
    size : ndarray of int of shape (n_sizes,)
        Number of leaves of the tree, or of rules of the list.
    log_likelihood : ndarray of shape (n_sizes,)
        Expected log likelihood under the reference on the training rows; minus
        ``alpha`` times the size it is the utility of equations (8) and (11).
    divergence : ndarray of shape (n_sizes,)
        Kullback-Leibler divergence from the reference on the training rows. A reference
        without noise is given a billionth of its variance: compare sizes, but do not
        interpret the number.
    held_out : ndarray of shape (n_sizes,) or None
        Loss of held-out log likelihood, or divergence, relative to the reference
        itself; None where nothing was held out.
    standard_error : ndarray of shape (n_sizes,) or None
        Standard error of ``held_out``.
    error_to_best : ndarray of shape (n_sizes,) or None
        Standard error of the difference of ``held_out`` to the best size. Trees of one
        path err on the same rows, so it is much smaller.
    evaluated_on : {"labels", "reference", "nothing"}
        Held-out target: observations, or the predictions of the reference.
    tolerance : float or None
        Loss allowed for a smaller one; None where something else chose the size.
    """

    size: np.ndarray
    log_likelihood: np.ndarray
    divergence: np.ndarray
    held_out: np.ndarray | None = None
    standard_error: np.ndarray | None = None
    error_to_best: np.ndarray | None = None
    evaluated_on: str = "nothing"
    tolerance: float | None = None

    def utility(self, alpha: float) -> np.ndarray:
        """Interpretability utility of each size, equations (8) and (11)."""
        return self.log_likelihood - alpha * self.size

    def best_by_utility(self, alpha: float) -> int:
        """Size of highest utility; ties go to the smallest."""
        return int(self.size[self.best_at(np.array([alpha]))[0]])

    def best_at(self, alphas: np.ndarray) -> np.ndarray:
        """Position of the size of highest utility at each alpha."""
        penalties = np.multiply.outer(alphas, self.size)
        return (self.log_likelihood - penalties).argmax(axis=1)

    def up_to(self, size: np.ndarray) -> np.ndarray:
        """Position of the largest size that is at most each of the given sizes."""
        return np.searchsorted(self.size, size, side="right") - 1

    @property
    def alpha_ranges(self) -> np.ndarray:
        """Range of alphas in which each size is best: (n_sizes, 2).

        The upper end is half of the alpha at which equation (9) prunes it. Where the
        paper's weakest links have alphas out of order, they leave trees that are best
        at no alpha: the lower end is then above the upper one.
        """
        larger = self.size[:, None] - self.size
        gain = self.log_likelihood[:, None] - self.log_likelihood
        per_rule = gain / np.where(larger == 0, 1, larger)
        low = np.where(larger < 0, per_rule, 0.0).max(axis=1)
        high = np.where(larger > 0, per_rule, np.inf).min(axis=1)
        return np.stack([low, high], axis=1)

    @property
    def alphas(self) -> np.ndarray:
        """Alpha for each size that is best at some: geometric mean of its range."""
        low, high = self.alpha_ranges.T
        # For the smallest size, which is best however large the penalty.
        high = np.where(np.isinf(high), 4 * low, high)
        return np.sqrt(low * high)[low <= high]

    def smallest_adequate(self) -> int:
        """Smallest size that is as good as the reference, or as the best.

        As good as the reference means within ``tolerance`` and one standard error of
        that difference. If no size is, the smallest that is worse than the best by no
        more than one standard error of the difference between these two.
        """
        assert self.held_out is not None and self.standard_error is not None
        assert self.tolerance is not None
        is_adequate = self.held_out - self.standard_error <= self.tolerance
        if not is_adequate.any():
            assert self.error_to_best is not None
            is_adequate = self.held_out - self.error_to_best <= self.held_out.min()
        return int(self.size[is_adequate.argmax()])

    def __str__(self) -> str:
        head = "  size  log likelihood  divergence"
        rows = [
            f"{size:6d}  {likelihood:14.4g}  {divergence:10.4g}"
            for size, likelihood, divergence in zip(
                self.size, self.log_likelihood, self.divergence
            )
        ]
        if self.held_out is None or self.standard_error is None:
            return "\n".join([head, *rows])
        rows = [
            f"{row}  {loss:8.3g} ± {error:.2g}"
            for row, loss, error in zip(rows, self.held_out, self.standard_error)
        ]
        return "\n".join([f"{head}  held-out loss ({self.evaluated_on})", *rows])


def folds_of(
    n_rows: int,
    n_folds: int,
    generator: np.random.Generator,
    labels: np.ndarray | None = None,
) -> np.ndarray:
    """Fold that holds out each row, stratified by label."""
    if n_rows < n_folds:
        raise InputError(
            f"The size is chosen by {n_folds}-fold cross-validation, which requires "
            f"{n_folds} rows, found {n_rows}; set n_leaf_nodes (for lists, n_rules)."
        )
    order = generator.permutation(n_rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(n_rows, dtype=int)
    fold[order] = np.arange(n_rows) % n_folds
    return fold
