"""Stability of trees under refits on other samples.

Two trees are compared split by split (eq. 12 of Afrabandpey et al. 2020, after Briand
et al. 2009), and by quantities that do not depend on how they are drawn: their
predictions, their partitions of the rows, and their features.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._numeric import spawn_generators
from clearwood._words.labels import type_text
from clearwood.exceptions import InputError
from clearwood.references.tabular import count_rows
from clearwood.results import Result
from clearwood.rules import CategorySet, Interval, Rule, Tree
from clearwood.rules.rule import wrapped

if TYPE_CHECKING:
    import pandas as pd


WEIGHTS = ("corrected", "paper")


@dataclass(frozen=True, repr=False)
class TreeStability(Result):
    """Result of :func:`~clearwood.projection.tree_stability`; print it.

    Each measure has one value per pair of trees.

    Attributes
    ----------
    n_leaves : tuple of int
        Number of leaves of each tree.
    dissimilarity : tuple of float
        :func:`tree_dissimilarity`: 0 for equal trees, 1 where no split is similar.
    paper_dissimilarity : tuple of float
        The same as printed in the paper, which is above 0 for equal trees.
    prediction_rms : tuple of float
        Root mean squared difference of the predictions of two trees (of the class
        probabilities), over all rows.
    adjusted_rand : tuple of float
        Adjusted Rand index of the partitions of the rows by the leaves of two trees: 1
        for equal partitions, 0 for agreement by chance.
    shared_features : tuple of float
        Features used by both, over features used by either; 1 if there are none.
    """

    _display = "clearwood.projection.evaluation.stability_display:TreeStabilityDisplay"

    n_leaves: tuple[int, ...]
    dissimilarity: tuple[float, ...]
    paper_dissimilarity: tuple[float, ...]
    prediction_rms: tuple[float, ...]
    adjusted_rand: tuple[float, ...]
    shared_features: tuple[float, ...]

    def __str__(self) -> str:
        def mean_text(values: tuple[float, ...]) -> str:
            return f"{np.mean(values):.3g} (standard deviation {np.std(values):.2g})"

        low, high = min(self.n_leaves), max(self.n_leaves)
        leaves = f"{low}" if low == high else f"{low} to {high}"
        lines = [
            f"{len(self.n_leaves)} trees of bootstrap samples, {leaves} leaves, "
            f"{len(self.dissimilarity)} pairs",
            f"dissimilarity of splits: {mean_text(self.dissimilarity)}; as printed "
            f"in the paper: {mean_text(self.paper_dissimilarity)}",
            f"RMS difference of predictions: {mean_text(self.prediction_rms)}",
            f"adjusted Rand index of the leaves: {mean_text(self.adjusted_rand)}",
            f"Jaccard index of the features: {mean_text(self.shared_features)}",
        ]
        return "\n".join(wrapped(line) for line in lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """The measures, one pair of trees per row."""
        import pandas as pd

        values = asdict(self)
        del values["n_leaves"]
        return pd.DataFrame(values)


def tree_stability(
    fit: Callable[[np.ndarray], Tree],
    X: Any,
    *,
    n_refits: int = 10,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> TreeStability:
    """Fit trees to bootstrap samples and compare each pair.

    Parameters
    ----------
    fit : callable
        Receives the positions of the rows drawn, as many as there are rows, with
        repetitions; fits to these rows by any procedure, the reference model included,
        and returns a :class:`~clearwood.rules.Tree`.
    X : array-like or frame of shape (n_samples, n_features)
        Rows from which samples are drawn, and on which trees are compared.
    n_refits : int, default=10
        Number of bootstrap samples, at least two: of 10 there are 45 pairs.
    n_jobs : int, optional
        Number of parallel fits (threads); results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples.

    Returns
    -------
    TreeStability

    Raises
    ------
    InputError
        There are no rows, or ``fit`` returns no tree.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.rules import Question
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> def fit(rows):
    ...     low, high = Interval(0, high=rows.mean()), Interval(0, low=rows.mean())
    ...     leaves = Rule((low,), 1.0), Rule((high,), 2.0)
    ...     return Tree(Question(low, high, *leaves), FeatureSpace.numeric(1))
    >>> print(tree_stability(fit, X, n_refits=3, random_state=0))
    3 trees of bootstrap samples, 2 leaves, 3 pairs
    ...
    """
    from joblib import Parallel, delayed

    if not isinstance(n_refits, Integral) or n_refits < 2:
        raise InputError(f"n_refits is {n_refits!r}; expected 2 or more.")
    n_rows = count_rows(X)
    if n_rows == 0:
        raise InputError("X has no rows; pass those that the trees are fitted to.")

    def refit(generator: np.random.Generator) -> Tree:
        return fit(np.sort(generator.integers(n_rows, size=n_rows)))

    generators = spawn_generators(random_state, int(n_refits))
    trees = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(refit)(generator) for generator in generators
    )
    for tree in trees:
        if not isinstance(tree, Tree):
            raise InputError(f"fit returned {type_text(tree)}; expected a Tree.")
    return compare_trees(trees, X)


def compare_trees(trees: list[Tree], X: Any) -> TreeStability:
    """Stability of given trees: how similar each pair of them is, by each measure."""
    from sklearn.metrics import adjusted_rand_score

    ranges = _ranges(trees[0], X)
    classes = tuple(dict.fromkeys(c for tree in trees for c in tree.classes))
    leaves = [tree.apply(X) for tree in trees]
    predicted = [_leaf_values(t, classes)[leaf] for t, leaf in zip(trees, leaves)]
    placed = [place_splits(tree) for tree in trees]
    used = [{split.feature for split in splits.values()} for splits in placed]
    measures = []
    for i, j in itertools.combinations(range(len(trees)), 2):
        _check_same_features(trees[i], trees[j])
        n_used = len(used[i] | used[j])
        measures.append(
            (
                _dissimilarity(placed[i], placed[j], ranges, "corrected"),
                _dissimilarity(placed[i], placed[j], ranges, "paper"),
                float(np.sqrt(np.mean((predicted[i] - predicted[j]) ** 2))),
                float(adjusted_rand_score(leaves[i], leaves[j])),
                len(used[i] & used[j]) / n_used if n_used else 1.0,
            )
        )
    return TreeStability(tuple(tree.n_leaves for tree in trees), *zip(*measures))


def _leaf_values(tree: Tree, classes: tuple[Any, ...]) -> np.ndarray:
    """Prediction of each leaf: a value, or a probability for each of all classes."""
    if not classes:
        return np.array([[leaf.prediction] for leaf in tree.leaves])
    values = np.zeros((tree.n_leaves, len(classes)))
    # A sample may lack a class, and then its tree does too.
    columns = [classes.index(label) for label in tree.classes]
    values[:, columns] = [leaf.probabilities for leaf in tree.leaves]
    return values


def tree_dissimilarity(
    one: Tree, two: Tree, X: Any, *, weights: str = "corrected"
) -> float:
    """Dissimilarity of the splits of two trees, node by node.

    Splits at the same place (the root, its left child, ...; left is ``x <= c``) have
    the similarity ``S = 1 - |c_1 - c_2| / range(x)`` if they use the same feature, else
    0.

    Parameters
    ----------
    one, two : Tree
        Trees of the same features.
    X : array-like or frame of shape (n_samples, n_features)
        Rows from which the ranges of features are taken.
    weights : {"corrected", "paper"}, default="corrected"
        ``"corrected"``: one minus the mean of S over the places where either tree
        splits; equal trees are 0 apart. ``"paper"``: one minus the sum of S over b, the
        number of leaves (of the larger tree, as the paper does not specify which);
        equal trees are 1/b apart.

    Returns
    -------
    float
        From 0 to 1, symmetric in the trees.

    Notes
    -----
    The paper covers numeric features only. Here the similarity of splits on categories
    is the share of the categories they name that both send to the same side; the left
    side is the one with the first category in alphabetical order. The side of missing
    values and unknown categories is ignored; a split on whether a value is missing has
    no similarity with any other on the feature.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.rules import Question
    >>> def stump(cut):
    ...     low, high = Interval(0, high=cut), Interval(0, low=cut)
    ...     leaves = Rule((low,), 1.0), Rule((high,), 2.0)
    ...     return Tree(Question(low, high, *leaves), FeatureSpace.numeric(1))
    >>> X = [[0.0], [8.0]]
    >>> tree_dissimilarity(stump(3.0), stump(5.0), X)
    0.25
    >>> tree_dissimilarity(stump(3.0), stump(3.0), X, weights="paper")
    0.5
    """
    if weights not in WEIGHTS:
        raise InputError(f"weights must be one of {WEIGHTS}, found {weights!r}.")
    _check_same_features(one, two)
    placed = place_splits(one), place_splits(two)
    return _dissimilarity(*placed, _ranges(one, X), weights)


def _check_same_features(one: Tree, two: Tree) -> None:
    kinds = [
        [(name, labels is None) for name, labels in zip(f.names, f.categories)]
        for f in (one.features, two.features)
    ]
    if kinds[0] != kinds[1]:
        raise InputError(
            f"The trees are of different features: {list(one.features.names)} and "
            f"{list(two.features.names)}, or of features with different types; compare "
            "trees of the same table."
        )


def _ranges(tree: Tree, X: Any) -> np.ndarray:
    """Largest minus smallest finite value of each feature; 0 where there is none."""
    encoded = tree.features.encode(X)
    columns = [column[np.isfinite(column)] for column in encoded.T]
    return np.array([np.ptp(column) if len(column) else 0.0 for column in columns])


class PlacedSplit(NamedTuple):
    """Split with the sides in a fixed order.

    Attributes
    ----------
    feature : int
    pivot : float
        Numbers up to it go left; infinite where missing values are separated from all
        others, and for categories.
    left, right : frozenset
        Categories; empty for numbers.
    """

    feature: int
    pivot: float
    left: frozenset[Any]
    right: frozenset[Any]


def place_splits(tree: Tree) -> dict[int, PlacedSplit]:
    """Splits of a tree by place: the root is 1, below p are 2 p and 2 p + 1."""
    splits = {}
    todo = [(1, tree.root)]
    while todo:
        place, node = todo.pop()
        if isinstance(node, Rule):
            continue
        sides = [(node.yes, node.if_yes), (node.no, node.if_no)]
        # A tree is printed with the smaller side first.
        (left, below_left), (right, below_right) = sorted(
            sides, key=lambda side: _order(side[0], tree)
        )
        pivot = left.high if isinstance(left, Interval) else math.inf
        splits[place] = PlacedSplit(
            left.feature, pivot, _labels(left, tree), _labels(right, tree)
        )
        todo += [(2 * place, below_left), (2 * place + 1, below_right)]
    return splits


def _order(condition: Interval | CategorySet, tree: Tree) -> tuple[Any, ...]:
    if isinstance(condition, Interval):
        return condition.low, condition.high
    labels = _labels(condition, tree)
    return not labels, min(map(str, labels), default="")


def _labels(condition: Interval | CategorySet, tree: Tree) -> frozenset[Any]:
    if isinstance(condition, Interval):
        return frozenset()
    labels = tree.features.categories[condition.feature] or ()
    return frozenset(labels[code] for code in condition.codes)


def _dissimilarity(
    one: dict[int, PlacedSplit],
    two: dict[int, PlacedSplit],
    ranges: np.ndarray,
    weights: str,
) -> float:
    similarity = math.fsum(
        _similarity(one[p], two[p], ranges) for p in one.keys() & two.keys()
    )
    if weights == "paper":
        return 1.0 - similarity / (max(len(one), len(two)) + 1)
    n_places = len(one.keys() | two.keys())
    return 1.0 - similarity / n_places if n_places else 0.0


def _similarity(one: PlacedSplit, two: PlacedSplit, ranges: np.ndarray) -> float:
    """S of eq. 12."""
    if one.feature != two.feature:
        return 0.0
    named = one.left | one.right | two.left | two.right
    if named:
        moved = (one.left & two.right) | (one.right & two.left)
        return 1.0 - len(moved) / len(named)
    if one.pivot == two.pivot:
        return 1.0
    distance, width = abs(one.pivot - two.pivot), ranges[one.feature]
    return max(0.0, 1.0 - distance / width) if width else 0.0
