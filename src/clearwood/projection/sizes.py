"""How large a projected tree should be: what each leaf more brings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearwood.exceptions import InputError


@dataclass(frozen=True, eq=False)
class SizePath:
    """What trees of 1, 2, ... leaves say of the reference, and of held-out rows.

    All in nats per row; of draws, on average.

    Attributes
    ----------
    size : ndarray of int of shape (n_sizes,)
        Leaves of the tree.
    log_likelihood : ndarray of shape (n_sizes,)
        Expected log likelihood under the reference on the training rows; with
        ``alpha`` times the size taken off, the utility of equations (8) and (11).
    divergence : ndarray of shape (n_sizes,)
        Kullback-Leibler divergence from the reference on the training rows. A
        reference without noise counts as having a billionth of its variance: compare
        sizes, but do not read the number.
    held_out : ndarray of shape (n_sizes,) or None
        How much less likely, or how much farther from the reference, held-out rows
        are than under the reference itself; None where nothing was held out.
    standard_error : ndarray of shape (n_sizes,) or None
        Of ``held_out``.
    error_to_best : ndarray of shape (n_sizes,) or None
        Of ``held_out`` less that of the best size. Trees of one path err on the same
        rows, so it is much smaller.
    judged_by : {"labels", "reference", "nothing"}
        What was held out: observations, or what the reference says of other rows.
    tolerance : float
        What a smaller tree may lose.
    """

    size: np.ndarray
    log_likelihood: np.ndarray
    divergence: np.ndarray
    held_out: np.ndarray | None = None
    standard_error: np.ndarray | None = None
    error_to_best: np.ndarray | None = None
    judged_by: str = "nothing"
    tolerance: float = 0.0

    def utility(self, alpha: float) -> np.ndarray:
        """The interpretability utility of every size, equations (8) and (11)."""
        return self.log_likelihood - alpha * self.size

    def best_by_utility(self, alpha: float) -> int:
        """The size of highest utility; of equals, the smallest."""
        return int(self.size[self.utility(alpha).argmax()])

    def fewest_leaves(self) -> int:
        """The smallest size that is as good as the reference, or as the best.

        As good as the reference is within ``tolerance`` of it, a standard error of
        that difference granted. Where no size is, the smallest that is worse than the
        best by no more than a standard error of the difference between these two.
        """
        assert self.held_out is not None and self.standard_error is not None
        enough = self.held_out - self.standard_error <= self.tolerance
        if not enough.any():
            assert self.error_to_best is not None
            enough = self.held_out - self.error_to_best <= self.held_out.min()
        return int(self.size[enough.argmax()])

    def __str__(self) -> str:
        head = "leaves  log likelihood  from the reference"
        rows = [
            f"{size:6d}  {likelihood:14.4g}  {gap:18.4g}"
            for size, likelihood, gap in zip(
                self.size, self.log_likelihood, self.divergence
            )
        ]
        if self.held_out is None or self.standard_error is None:
            return "\n".join([head, *rows])
        rows = [
            f"{row}  {lost:8.3g} ± {error:.2g}"
            for row, lost, error in zip(rows, self.held_out, self.standard_error)
        ]
        return "\n".join([f"{head}  held out ({self.judged_by})", *rows])


def folds_of(
    n_rows: int,
    n_folds: int,
    generator: np.random.Generator,
    labels: np.ndarray | None = None,
) -> np.ndarray:
    """The fold that holds out each row; those of one label are spread over all."""
    if n_rows < n_folds:
        raise InputError(
            f"The size of the tree is chosen by holding out each of {n_folds} parts of "
            f"the rows, but there are {n_rows}; give max_leaf_nodes a number."
        )
    order = generator.permutation(n_rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(n_rows, dtype=int)
    fold[order] = np.arange(n_rows) % n_folds
    return fold
