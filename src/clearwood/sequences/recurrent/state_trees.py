"""Surrogate trees of a network's units on the last symbols (5.3.1).

Splits are sets of symbols at a position before the current step. Of all partitions of
the symbols in two, the best is among those that keep the order of their means, so that
no exhaustive search is needed; trees that split on one symbol at a time need three
times the depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._words.spelling import suggests_parameters
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.results import Result
from clearwood.rules import FeatureBins, Rule, Training, Tree
from clearwood.rules.tree import print_tree
from clearwood.search.losses import SQUARED_ERROR
from clearwood.search.trees.nodes import (
    GrownNode,
    TreeProblem,
    root_of,
)
from clearwood.search.trees.splits import grow, next_split, prunings
from clearwood.sequences.recurrent.trace import encode_sequences, last_steps, step_age

if TYPE_CHECKING:
    import pandas as pd

MOST_LEAVES = 64
"""Maximum before pruning; more than a complexity of 1 / 64 can keep."""

MOST_ROWS = 20_000
"""Maximum number of steps, evenly spaced, for growing and for evaluating trees."""


class StateTree(NamedTuple):
    """Regression tree of one unit.

    Attributes
    ----------
    name : str
    tree : Tree
    r2 : float
        Coefficient of determination on held-out steps; 1 if the unit does not vary.
    depth : int
        Number of splits on the longest path.
    """

    name: str
    tree: Tree
    r2: float
    depth: int

    @property
    def size(self) -> int:
        """Number of nodes: splits and leaves."""
        return 2 * self.tree.n_leaves - 1


@dataclass(frozen=True, repr=False)
class StateTrees(Result):
    """A tree per unit of a state; prints as rows of Table 17.

    Attributes
    ----------
    trees : tuple of StateTree
    """

    trees: tuple[StateTree, ...]

    def mean_and_std(self, what: str) -> tuple[float, float]:
        """Mean and standard deviation over the units.

        Parameters
        ----------
        what : {"r2", "depth", "size"}
        """
        values = [float(getattr(tree, what)) for tree in self.trees]
        return float(np.mean(values)), float(np.std(values))

    def to_frame(self) -> pd.DataFrame:
        """Fit and size of the trees, one unit per row."""
        import pandas as pd

        names = ("name", "r2", "depth", "size")
        rows = [[getattr(tree, name) for name in names] for tree in self.trees]
        return pd.DataFrame(rows, columns=["unit", *names[1:]])

    def __str__(self) -> str:
        lines = [f"{'unit':<12}{'R2':>8}{'depth':>8}{'size':>8}"]
        lines += [
            f"{tree.name:<12}{tree.r2:>8.3f}{tree.depth:>8}{tree.size:>8}"
            for tree in self.trees
        ]
        texts = [self.mean_and_std(what) for what in ("r2", "depth", "size")]
        (r2, r2_spread), *others = texts
        lines.append(
            f"mean: R2 {r2:.3f} ± {r2_spread:.3f}, "
            + ", ".join(
                f"{name} {mean:.2f} ± {spread:.2f}"
                for name, (mean, spread) in zip(("depth", "size"), others)
            )
        )
        return "\n".join(lines)


@suggests_parameters
def state_trees(
    states: Any,
    sequences: Any,
    *,
    symbols: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    window: int = 10,
    complexity: float = 0.01,
    min_samples_leaf: int = 7,
    test_size: float = 0.2,
) -> StateTrees:
    """Fit a tree on the last symbols to each unit of a state.

    Parameters
    ----------
    states : array-like of shape (n_steps, n_units)
        After each symbol: hidden states of a network (``trace.states`` of the result of
        :func:`explain_rnn`), or state probabilities of a hidden Markov model.
    sequences : str, array-like of int, or list of these
        Symbols read, in the order of ``states``, as for ``explain_rnn``.
    symbols : sequence, optional
        Symbols of the codes 0, 1, ...
    names : sequence of str, optional
        Names of the units.
    window : int, default=10
        Number of symbols used: ``x[t]``, read last, to ``x[t-window+1]``.
    complexity : float, default=0.01
        Minimum share of a unit's variance that each leaf has to explain.
    min_samples_leaf : int, default=7
        Minimum number of steps in a leaf.
    test_size : float, default=0.2
        Share of the steps, at the end, on which trees are evaluated.

    Returns
    -------
    StateTrees

    Examples
    --------
    >>> import numpy as np
    >>> text = "".join(np.random.default_rng(0).choice(list("aeiou xyz"), size=2000))
    >>> vowels = np.array([[letter in "aeiou"] for letter in text], dtype=float)
    >>> found = state_trees(vowels, text, symbols=sorted(set(text)), window=2)
    >>> print(found.trees[0].tree)
    x[t] in {' ', 'x', 'y', 'z'}
      1. then 0  (...)
    x[t] in {'a', 'e', 'i', 'o', 'u'}
      2. then 1  (...)
    """
    codes = encode_sequences(sequences, symbols)
    values = np.asarray(states, dtype=np.float64)
    if values.ndim != 2 or len(values) != sum(map(len, codes)):
        raise InputError(
            f"states has shape {values.shape}, sequences hold {sum(map(len, codes))} "
            "symbols; expected a row of states per symbol."
        )
    if not np.isfinite(values).all():
        raise InputError("states holds NaN or infinity; leave those steps out.")
    names = [f"unit {j}" for j in range(values.shape[1])] if names is None else names
    if len(names) != values.shape[1] or window < 1 or not complexity > 0:
        raise InputError(
            f"{len(names)} names for {values.shape[1]} units, window={window}, "
            f"complexity={complexity}; expected one name per unit and positive values."
        )
    largest = max(int(line.max()) for line in codes)
    labels = tuple(range(largest + 1) if symbols is None else symbols)
    features = FeatureSpace(
        tuple(f"x[t-{back}]" if back else "x[t]" for back in range(window)),
        (labels,) * window,
    )
    held_out = last_steps(np.array([len(line) for line in codes]), test_size)
    train_steps, test_steps = (
        _thinned(np.flatnonzero(part)) for part in (~held_out, held_out)
    )
    past = last_symbols(codes, window)
    bins = _symbol_bins(features)
    found = []
    for name, column in zip(names, values.T):
        tree = _tree_of(
            past[train_steps], column[train_steps], bins, complexity, min_samples_leaf
        )
        predicted = tree.to_rules().predict_encoded(past[test_steps])
        r2 = _r_squared(column[test_steps], np.asarray(predicted, dtype=np.float64))
        found.append(StateTree(str(name), tree, r2, _depth(tree.root)))
    return StateTrees(tuple(found))


def last_symbols(codes: Sequence[np.ndarray], window: int) -> np.ndarray:
    """The last symbols at each step, the newest first; NaN before a sequence begins."""
    line = np.concatenate(codes)
    lengths = np.array([len(part) for part in codes])
    age = step_age(np.cumsum(lengths) - lengths, len(line))
    columns = [
        np.where(age >= back, np.roll(line, back), np.nan) for back in range(window)
    ]
    return np.column_stack(columns)


def _thinned(steps: np.ndarray) -> np.ndarray:
    return steps[:: max(-(-len(steps) // MOST_ROWS), 1)]


def _symbol_bins(features: FeatureSpace) -> FeatureBins:
    """Bins with one symbol each, for every position."""
    apart = [
        (place, {code}, True, True)
        for place, labels in enumerate(features.categories)
        for code in range(len(labels or ()))
    ]
    return FeatureBins.from_splits(features, feature=[], cut=[], category_splits=apart)


def _tree_of(
    past: np.ndarray,
    values: np.ndarray,
    bins: FeatureBins,
    complexity: float,
    min_samples_leaf: int,
) -> Tree:
    """Grow a tree split by split, and prune splits that explain too little."""
    weight = np.ones(len(values))
    training = Training(past, values, None, weight, values, bins)
    share = weight / len(values)
    problem = TreeProblem.of(
        training.grid, (training.standardised * share)[:, None], share, weight,
        SQUARED_ERROR, min_samples_leaf=min_samples_leaf,
    )  # fmt: skip
    large = grow(root_of(problem), MOST_LEAVES, next_split)

    def total(tree: GrownNode) -> float:
        return tree.cost + complexity * tree.n_leaves

    best = min(prunings(large, MOST_LEAVES).values(), key=total)
    return print_tree(best, training)


def _r_squared(values: np.ndarray, predicted: np.ndarray) -> float:
    variance = float(values.var())
    if variance == 0:
        return 1.0
    return 1.0 - float(np.mean((values - predicted) ** 2)) / variance


def _depth(node: Any) -> int:
    if isinstance(node, Rule):
        return 0
    return 1 + max(_depth(node.if_yes), _depth(node.if_no))
