"""Size path of projected trees and lists: likelihood against complexity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._numeric import product, weighted_mean_and_error
from clearwood.exceptions import InputError
from clearwood.projection.leaves import Leaves, expected_log_likelihood
from clearwood.projection.predictive_draws import SMALLEST_VARIANCE, PredictiveDraws
from clearwood.projection.trees import leaves_of
from clearwood.results import Result
from clearwood.search import Grid

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, eq=False, repr=False)
class SizePath(Result):
    """Agreement of trees of 1, 2, ... leaves, or lists of rules, with the reference.

    The simplest comes first, and each is more likely than all simpler ones. All in nats
    per row, averaged over draws.

    Attributes
    ----------
    size : ndarray of int of shape (n_sizes,)
        Number of leaves of the tree, or of rules of the list.
    log_likelihood : ndarray of shape (n_sizes,)
        Expected log likelihood under the reference on the training rows; minus
        ``alpha`` times the complexity it is the utility of equations (4), (8) and (11).
    divergence : ndarray of shape (n_sizes,)
        Kullback-Leibler divergence from the reference on the training rows. A reference
        without noise is given a billionth of its variance: compare sizes, but do not
        interpret the number.
    held_out : ndarray of shape (n_sizes,) or None
        Loss of held-out log likelihood, or divergence, relative to the reference
        itself; None where nothing was held out.
    standard_error : ndarray of shape (n_sizes,) or None
        Standard error of ``held_out``.
    evaluated_on : {"labels", "reference", "nothing"}
        Held-out target: observations, or the predictions of the reference.
    tolerance : float or None
        Loss allowed for a smaller size relative to the best one; None where something
        else chose the size.
    complexity : ndarray of shape (n_sizes,) or None
        Complexity of each; None means its size.
    measure : str
        What the complexity is: "size", "literals", "depth", or a function's name.
    """

    _display = "clearwood.projection.display:SizePathDisplay"

    size: np.ndarray
    log_likelihood: np.ndarray
    divergence: np.ndarray
    held_out: np.ndarray | None = None
    standard_error: np.ndarray | None = None
    evaluated_on: str = "nothing"
    tolerance: float | None = None
    complexity: np.ndarray = None  # type: ignore[assignment]
    measure: str = "size"

    def __post_init__(self) -> None:
        if self.complexity is None:
            object.__setattr__(self, "complexity", self.size)

    def utility(self, alpha: float) -> np.ndarray:
        """Interpretability utility of each size, equation (4)."""
        return self.log_likelihood - alpha * self.complexity

    def best_by_utility(self, alpha: float) -> int:
        """Size of highest utility; ties go to the simplest."""
        return int(self.size[self.best_at(np.array([alpha]))[0]])

    def best_at(self, alphas: np.ndarray) -> np.ndarray:
        """Position of the size of highest utility at each alpha."""
        penalties = np.multiply.outer(alphas, self.complexity)
        return (self.log_likelihood - penalties).argmax(axis=1)

    def up_to(self, complexity: np.ndarray) -> np.ndarray:
        """Position of the largest complexity that is at most each of the given ones.

        The first, if none is.
        """
        found = np.searchsorted(self.complexity, complexity, side="right") - 1
        return np.maximum(found, 0)

    @property
    def alpha_ranges(self) -> np.ndarray:
        """Range of alphas in which each size is best: (n_sizes, 2).

        The upper end is half of the alpha at which equation (9) prunes it. Where the
        paper's weakest links have alphas out of order, they leave trees that are best
        at no alpha: the lower end is then above the upper one.
        """
        larger = self.complexity[:, None] - self.complexity
        gain = self.log_likelihood[:, None] - self.log_likelihood
        per_rule = gain / np.where(larger == 0, 1, larger)
        low = np.where(larger < 0, per_rule, 0.0).max(axis=1)
        high = np.where(larger > 0, per_rule, np.inf).min(axis=1)
        return np.stack([low, high], axis=1)

    @property
    def alphas(self) -> np.ndarray:
        """Alpha for each size that is best at some: geometric mean of its range."""
        low, high = self.alpha_ranges.T
        # For the simplest, which is best however large the penalty.
        high = np.where(np.isinf(high), 4 * low, high)
        return np.sqrt(low * high)[low <= high]

    def chosen(self, alpha: float | None) -> int:
        """Position by a penalty, or by held-out loss; the last without either."""
        if alpha is not None:
            return int(self.best_at(np.array([alpha]))[0])
        is_free = self.held_out is not None
        size = self.smallest_adequate() if is_free else self.size[-1]
        return int(np.flatnonzero(self.size == size)[0])

    @property
    def least_loss(self) -> float:
        """Held-out loss of the best size."""
        assert self.held_out is not None
        return float(self.held_out.min())

    def smallest_adequate(self) -> int:
        """Smallest size whose held-out loss is the least one, up to ``tolerance``."""
        assert self.held_out is not None and self.tolerance is not None
        is_adequate = self.held_out <= self.least_loss + self.tolerance
        return int(self.size[is_adequate.argmax()])

    def to_frame(self) -> pd.DataFrame:
        """Likelihood, divergence and held-out loss, one size per row."""
        import pandas as pd

        names = ("size", "complexity", "log_likelihood", "divergence", "held_out")
        values = {n: getattr(self, n) for n in (*names, "standard_error")}
        return pd.DataFrame({n: v for n, v in values.items() if v is not None})

    def __str__(self) -> str:
        head = "  size  log likelihood  divergence"
        rows = [
            f"{size:6d}  {likelihood:14.4g}  {divergence:10.4g}"
            for size, likelihood, divergence in zip(
                self.size, self.log_likelihood, self.divergence
            )
        ]
        if self.measure != "size":
            width = len(self.measure)
            head = f"  {self.measure}{head}"
            rows = [f"  {c:{width}g}{row}" for c, row in zip(self.complexity, rows)]
        if self.held_out is None or self.standard_error is None:
            return "\n".join([head, *rows])
        rows = [
            f"{row}  {loss:8.3g} ± {error:.2g}"
            for row, loss, error in zip(rows, self.held_out, self.standard_error)
        ]
        return "\n".join([f"{head}  held-out loss ({self.evaluated_on})", *rows])


class FittedPath(NamedTuple):
    """Trees or lists in bins, their leaf parameters, and their likelihoods."""

    proxies: Sequence[Any]
    leaves: list[Leaves]
    sizes: SizePath


def fit_path(
    proxies: Sequence[Any],
    complexity: np.ndarray,
    measure: str,
    target: PredictiveDraws,
    grid: Grid,
    weight: np.ndarray,
    family: str,
) -> FittedPath:
    """Fit the leaves of all, and keep those that are more likely than all as simple."""
    share = weight / weight.sum()
    leaves = [
        Leaves.from_predictive(target, leaves_of(proxy, grid), share, family)
        for proxy in proxies
    ]
    likelihood = np.array([params.log_likelihood for params in leaves])
    kept = undominated(complexity, likelihood)
    size = np.array([len(proxy.boxes) + 1 for proxy in proxies])[kept]
    likelihood = likelihood[kept]
    negative_entropy = float(product(target.negative_entropy, share).mean())
    return FittedPath(
        [proxies[i] for i in kept],
        [leaves[i] for i in kept],
        SizePath(
            size,
            likelihood,
            negative_entropy - likelihood,
            complexity=complexity[kept],
            measure=measure,
        ),
    )


def losses_on(
    leaves: list[Leaves],
    leaf: list[np.ndarray],
    held_out: PredictiveDraws,
    truth: np.ndarray | None,
    weight: np.ndarray,
) -> np.ndarray:
    """Loss of held-out log likelihood per size, relative to the reference.

    Where all leaves have one variance, it is that of the held-out rows, for the
    reference too: the mean loss is the logarithm of the ratio of their root mean
    squared errors. Variances from training rows are too small for large trees.
    """
    pairs = zip(leaves, leaf)
    if truth is not None:
        variances = leaves[-1].variances
        if variances is None or np.ptp(variances, axis=1).any():
            density = [params.predictive(at).log_density(truth) for params, at in pairs]
            return held_out.log_density(truth) - np.array(density)
        means = [params.means.mean(axis=0)[at] for params, at in pairs]
        of_reference, *of_sizes = (
            normal_log_density(mean, truth, weight) for mean in [held_out.mean, *means]
        )
        return of_reference - np.array(of_sizes)
    likelihood = [expected_log_likelihood(params, held_out, at) for params, at in pairs]
    loss: np.ndarray = held_out.negative_entropy - np.array(likelihood)
    return loss.mean(axis=1)


def normal_log_density(
    mean: np.ndarray, truth: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Log density of rows with the variance that is most likely for them."""
    squares = (truth - mean) ** 2
    least = SMALLEST_VARIANCE * (float(truth.var()) or 1.0)
    variance = max(float(np.average(squares, weights=weight)), least)
    density: np.ndarray = -0.5 * (np.log(2 * np.pi * variance) + squares / variance)
    return density


def complexity_of(proxy: Any, measure: Callable[[Any], float]) -> float:
    """Complexity of a printed tree or list, Omega in equation (4)."""
    found = float(measure(proxy))
    if not np.isfinite(found):
        raise InputError(
            f"complexity returned {found}; it must be a function of the tree or list "
            "that returns a finite number."
        )
    return found


def undominated(complexity: np.ndarray, likelihood: np.ndarray) -> np.ndarray:
    """Positions of those that are more likely than all that are as simple.

    Examples
    --------
    >>> undominated(np.array([1, 5, 2, 2]), np.array([-3.0, -1.5, -2.0, -1.0]))
    array([0, 3])
    """
    order = np.lexsort((-likelihood, complexity))
    sorted_likelihood = likelihood[order]
    best_before = np.maximum.accumulate(np.append(-np.inf, sorted_likelihood[:-1]))
    found: np.ndarray = order[sorted_likelihood > best_before]
    return found


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


def judged(
    sizes: SizePath, folds: list[tuple[Any, SizePath, np.ndarray]], weight: np.ndarray
) -> tuple[SizePath, float]:
    """Held-out loss of each size, and the alpha of least loss.

    Parameters
    ----------
    sizes : SizePath
    folds : list of (rows, SizePath, losses)
        Held-out rows of each fold, the sizes found on all others, and their losses.
    weight : ndarray of shape (n_rows,)
    """
    alphas = sizes.alphas
    loss = np.empty((len(sizes.size), len(weight)))
    loss_by_alpha = np.empty((len(alphas), len(weight)))
    for rows, fold_sizes, losses in folds:
        loss[:, rows] = losses[fold_sizes.up_to(sizes.complexity)]
        loss_by_alpha[:, rows] = losses[fold_sizes.best_at(alphas)]
    by_alpha, _ = weighted_mean_and_error(loss_by_alpha, weight)
    mean, error = weighted_mean_and_error(loss, weight)
    found = replace(sizes, held_out=mean, standard_error=error)
    return found, float(alphas[by_alpha.argmin()])
