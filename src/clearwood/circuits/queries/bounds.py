"""Upper bounds of the density of completions with restricted values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearwood._numeric.logspace import log_of
from clearwood.circuits.nodes import Node, Product, Sum, fold, walk
from clearwood.distributions import (
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
)
from clearwood.distributions.categorical import OfLevels

MOST_NUMBERS = 2_000_000
"""Maximum number of floats in a batch of bounds (16 MB)."""

MOST_SETS = 64
"""Maximum number of sets bounded at once; more would be open for too long."""


class Choice(NamedTuple):
    """Values that a search may choose: levels, or bins of histograms.

    Attributes
    ----------
    variables : tuple of int
    values : tuple of ndarray
        Possible values of each variable: levels, or the midpoints of bins.
    slots : tuple of slice
        Slots of the values of each variable among those of all.
    """

    variables: tuple[int, ...]
    values: tuple[np.ndarray, ...]
    slots: tuple[slice, ...]

    @property
    def n_slots(self) -> int:
        """Number of values of all variables."""
        return self.slots[-1].stop if self.slots else 0

    def point(self, single: np.ndarray, n_features: int) -> np.ndarray:
        """Row in which each variable has its only allowed value."""
        row = np.full(n_features, np.nan)
        for variable, values, slots in zip(*self):
            row[variable] = values[single[slots].argmax()]
        return row

    def single(self, row: dict[int, float]) -> np.ndarray:
        """Mask that allows only the values nearest to those of a row."""
        found = np.zeros(self.n_slots, dtype=bool)
        for variable, values, slots in zip(*self):
            found[slots.start + np.abs(values - row[variable]).argmin()] = True
        return found


def choices(root: Node) -> Choice:
    """Levels of discrete columns, and bins of columns with histograms in all leaves.

    Within a bin the density of all histograms is constant.
    """
    levels: dict[int, int] = {}
    edges: dict[int, list[np.ndarray]] = {}
    others: set[int] = set()
    for node in walk(root):
        match node:
            case OfLevels(variable=variable):
                levels[variable] = len(node.probabilities)
            case ChowLiuTree():
                levels |= dict(zip(node.variables, node.n_levels))
            case Histogram(variable):
                edges.setdefault(variable, []).append(node.edges)
            case Gaussian() | MultivariateGaussian():
                others.update(node.variables)
    values = {variable: np.arange(float(n)) for variable, n in levels.items()}
    for variable in edges.keys() - others:
        cells = np.unique(np.concatenate(edges[variable]))
        values[variable] = cells[:-1] + 0.5 * np.diff(cells)
    variables = tuple(sorted(values))
    ends = np.cumsum([0, *(len(values[variable]) for variable in variables)]).tolist()
    return Choice(
        variables,
        tuple(values[variable] for variable in variables),
        tuple(slice(*pair) for pair in pairwise(ends)),
    )


class Factor(NamedTuple):
    """Independent parts: single columns, trees, mixtures, and a constant for the rest.

    ``table`` holds a number for each slot, 1 for those of other columns; ``log_rest``
    the largest log density of columns that are not searched.
    """

    table: np.ndarray
    log_rest: float
    trees: tuple[ChowLiuTree, ...]
    mixtures: tuple[int, ...]


class Bounds:
    """Upper bounds of the density of completions, for batches of allowed values.

    A mixture is at most the mixture of its components' maxima, and at most the largest,
    over the values of any one column, of the mixture of the components' maxima with
    that value: the smallest of these bounds is taken at every sum. It is exact if only
    one value of each column is allowed and no continuous column is left.

    Parameters
    ----------
    root : node
    choice : Choice
    """

    def __init__(self, root: Node, choice: Choice):
        self.choice = choice
        self.slots = dict(zip(choice.variables, choice.slots))
        self.starts = np.array([own.start for own in choice.slots], dtype=np.intp)
        sizes = [len(values) for values in choice.values]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.factors: list[Factor] = []
        self.mixtures: list[tuple[np.ndarray, list[int]]] = []
        top = fold(root, self._leaf, self._product, self._sum)
        self.factors.append(top)
        self.tables = np.array([factor.table for factor in self.factors])
        self.log_rest = np.array([factor.log_rest for factor in self.factors])

    @property
    def at_once(self) -> int:
        """Batch size of sets."""
        return int(np.clip(MOST_NUMBERS // max(self.tables.size, 1), 1, MOST_SETS))

    def __call__(self, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds for sets of allowed values.

        Parameters
        ----------
        allowed : ndarray of bool of shape (n_sets, n_slots)
            At least one value of each column.

        Returns
        -------
        bound : ndarray of shape (n_sets,)
            Upper bound of the log density of all completions of allowed values.
        table : ndarray of shape (n_sets, n_slots)
            The same of those with one value; ``bound`` less that.
        """
        best, table = self._independent(allowed)
        above: list[tuple[np.ndarray, np.ndarray]] = []
        for log_weights, below in self.mixtures:
            for i in below:
                self._complete(i, best, table, allowed, above)
            above.append(self._mixed(log_weights, best[below], table[below]))
        self._complete(-1, best, table, allowed, above)
        return best[-1], log_of(table[-1])

    def _independent(self, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maximum per column of all factors, and the ratio of every value to it."""
        table = self.tables[:, None, :] * allowed
        most = self._most(table)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = self.log_rest[:, None] + np.log(most).sum(axis=2)
            table /= most[:, :, self.owner]
        return best, np.nan_to_num(table)

    def _most(self, table: np.ndarray) -> np.ndarray:
        """Maximum of each column."""
        if not len(self.starts):
            return np.empty((*table.shape[:-1], 0))
        return np.maximum.reduceat(table, self.starts, axis=-1)

    def _complete(
        self,
        i: int,
        best: np.ndarray,
        table: np.ndarray,
        allowed: np.ndarray,
        above: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> None:
        """Multiply a factor by its trees and mixtures, in place."""
        for m in self.factors[i].mixtures:
            best[i] += above[m][0]
            table[i] *= above[m][1]
        for tree in self.factors[i].trees:
            slots = [self.slots[variable] for variable in tree.variables]
            logs = [log_of(allowed[:, own].astype(float)) for own in slots]
            value, log_tables = tree.upward(logs, np.maximum.reduce)
            best[i] += value
            worths = tree.downward(log_tables, np.maximum.reduce)[tree.n_hidden :]
            for own, worth in zip(slots, worths):
                table[i][:, own] *= np.exp(worth)

    def _mixed(
        self, log_weights: np.ndarray, best: np.ndarray, table: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mixture of the maxima and tables of components."""
        logs = log_weights[:, None] + best
        top = logs.max(axis=0)
        top[np.isneginf(top)] = 0.0
        shares = np.exp(logs - top)
        mixed = np.einsum("kn,kns->ns", shares, table)
        most = self._most(mixed).min(axis=1, initial=np.inf)
        most = np.minimum(most, shares.sum(axis=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            mixed = np.nan_to_num(np.minimum(mixed / most[:, None], 1.0))
            return top + np.log(most), mixed

    # From the circuit

    def _leaf(self, leaf: Leaf) -> Factor:
        table, log_rest = np.ones(self.choice.n_slots), 0.0
        trees: tuple[ChowLiuTree, ...] = ()
        match leaf:
            case OfLevels(variable=variable):
                table[self.slots[variable]] = leaf.probabilities
            case Histogram(variable) if variable in self.slots:
                middles = self.choice.values[self.choice.variables.index(variable)]
                table[self.slots[variable]] = leaf.density(middles)
            case ChowLiuTree():
                trees = (leaf,)
            case _:
                log_rest = max(height for height, _ in leaf.modes())
        return Factor(table, log_rest, trees, ())

    def _product(self, _: Product, below: Sequence[Factor]) -> Factor:
        return Factor(
            np.prod([factor.table for factor in below], axis=0),
            sum(factor.log_rest for factor in below),
            tuple(tree for factor in below for tree in factor.trees),
            tuple(m for factor in below for m in factor.mixtures),
        )

    def _sum(self, node: Sum, below: Sequence[Factor]) -> Factor:
        first = len(self.factors)
        self.factors += below
        logs = log_of(node.weights)
        self.mixtures.append((logs, list(range(first, len(self.factors)))))
        own = (len(self.mixtures) - 1,)
        return Factor(np.ones(self.choice.n_slots), 0.0, (), own)
