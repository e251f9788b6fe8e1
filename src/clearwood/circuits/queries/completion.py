"""Most probable completion of rows, by branch and bound."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logsumexp

from clearwood.circuits.nodes import Node
from clearwood.circuits.queries.bounds import Bounds, choices
from clearwood.circuits.queries.conditioning import given, impossible, known
from clearwood.circuits.queries.modes import highest_mode, likeliest_kinds

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

TOLERANCE = 1e-9
"""Excess of a bound over the best log density that counts as rounding."""


class MostProbable(NamedTuple):
    """Most probable completions of rows.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features)
        Complete rows.
    log_density : ndarray of shape (n_rows,)
        Of the completed rows.
    bound : ndarray of shape (n_rows,)
        Proven upper bound of the log density of all completions.
    """

    values: np.ndarray
    log_density: np.ndarray
    bound: np.ndarray

    @property
    def proved(self) -> np.ndarray:
        """Whether the completion of each row is proven to be optimal."""
        return self.bound <= self.log_density + TOLERANCE


def most_probable(
    circuit: Circuit, values: np.ndarray, most: int = 20_000
) -> MostProbable:
    """Most probable joint completion of the missing entries of each row.

    Best-first branch and bound: sets of completions are split column by column, those
    of the largest bound first; a set is dropped once its bound is below the best found.
    Max-product, which takes one component of each sum, is often wrong: many components
    together can make another completion more probable.

    The completion of discrete columns, and of columns that are histograms in all
    leaves, is exact. For normal columns the highest local maximum found is taken: its
    discrete part is searched in the same way, but a higher maximum may exist; ``bound``
    limits its height.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_features)
        Encoded; NaN where an entry is missing.
    most : int, default=20000
        Maximum number of sets of completions examined per row. Beyond it the best found
        is returned without proof.

    Returns
    -------
    MostProbable

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.columns.feature_space import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.9, 0.2, 0.1)]
    >>> root = Sum(np.array([0.4, 0.3, 0.3]), tuple(kinds))
    >>> circuit = Circuit(root, FeatureSpace(("a", "b"), ((0, 1), (0, 1))))
    >>> best = most_probable(circuit, np.array([[np.nan, np.nan]]))
    >>> best.values.tolist(), best.proved.tolist()
    ([[0.0, 0.0]], [True])
    """
    complete = known(circuit, values)
    log_density, bound = np.empty(len(complete)), np.empty(len(complete))
    for i, row in enumerate(complete):
        log_density[i], left = given(circuit.root, row)
        if log_density[i] == -np.inf:
            raise impossible(i)
        bound[i] = log_density[i]
        if left is not None:
            filled, height, ceiling = complete_best(
                left, circuit.features.n_features, most
            )
            row[np.isnan(row)] = filled[np.isnan(row)]
            log_density[i] += height
            bound[i] += ceiling
    return MostProbable(complete, log_density, np.maximum(bound, log_density))


def complete_best(
    root: Node, n_features: int, most: int
) -> tuple[np.ndarray, float, float]:
    """Most probable point of a node, its log density, and a bound of all others'.

    It examines at most ``most`` sets of points.
    """
    choice = choices(root)
    bounds = Bounds(root, choice)
    search = _Search(root, bounds, n_features)
    search.start()
    order = count()  # among equal bounds the oldest set goes first
    everything = np.full(choice.n_slots, True)
    opened = [(-np.inf, next(order), everything)]
    looked = 0
    while opened and looked < most:
        sets: list[np.ndarray] = []
        while opened and len(sets) < bounds.at_once:
            ceiling, _, allowed = heapq.heappop(opened)
            if -ceiling <= search.height + TOLERANCE:
                opened.clear()
            else:
                sets.append(allowed)
        looked += len(sets)
        for ceiling, allowed in search.split(np.array(sets)):
            heapq.heappush(opened, (-ceiling, next(order), allowed))
    ceiling = -opened[0][0] if opened else -np.inf
    return search.point, search.height, max(search.height, search.ceiling, ceiling)


class _Search:
    """Best completion so far; evaluates and splits sets of completions.

    ``ceiling`` bounds those whose continuous part was climbed for.
    """

    def __init__(self, root: Node, bounds: Bounds, n_features: int):
        self.root, self.bounds, self.n_features = root, bounds, n_features
        self.slots = bounds.choice.slots
        self.point = np.full(n_features, np.nan)
        self.height, self.ceiling = -np.inf, -np.inf
        self.is_exact = len(bounds.choice.variables) == len(root.variables)
        self.climbed: set[bytes] = set()

    def start(self) -> None:
        """Start from the likeliest components' mode; change one value at a time."""
        ((_, mode),) = likeliest_kinds(self.root, 1)
        self._try(self.bounds.choice.single(mode)[None])
        height = -np.inf
        while self.is_exact and height < self.height:
            height, now = (
                self.height,
                self.bounds.choice.single(dict(enumerate(self.point))),
            )
            changed = np.repeat(now[None], len(now), axis=0)
            for slots in self.slots:
                changed[slots, slots] = np.eye(slots.stop - slots.start, dtype=bool)
            for some in np.array_split(
                changed, 1 + len(changed) // self.bounds.at_once
            ):
                self._try(some)

    def split(self, sets: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
        """Smaller sets and their bounds, without those that cannot hold the optimum."""
        bound, table = self.bounds(sets)
        table += bound[:, None]
        self._try(self._likeliest(table))
        sets = sets & (table > self.height + TOLERANCE)
        for own, worth in zip(sets, table):
            if all(own[slots].any() for slots in self.slots):
                yield from self._smaller(own, worth)

    def _smaller(
        self, own: np.ndarray, worth: np.ndarray
    ) -> Iterator[tuple[float, np.ndarray]]:
        """One set per value of the most informative column."""
        widths = [own[slots].sum() for slots in self.slots]
        if max(widths, default=1) == 1:
            return  # the single completion has been tried
        # The column with the smallest sum of bounds is the most informative.
        logs = [
            logsumexp(worth[slots], b=own[slots]) if width > 1 else np.inf
            for slots, width in zip(self.slots, widths)
        ]
        slots = self.slots[int(np.argmin(logs))]
        for slot in np.flatnonzero(own[slots]) + slots.start:
            smaller = own.copy()
            smaller[slots] = False
            smaller[slot] = True
            yield float(worth[slot]), smaller

    def _likeliest(self, table: np.ndarray) -> np.ndarray:
        """Completion of each set by every column's value of largest bound."""
        single = np.zeros(table.shape, dtype=bool)
        every = np.arange(len(table))
        for slots in self.slots:
            single[every, slots.start + table[:, slots].argmax(axis=1)] = True
        return single

    def _try(self, single: np.ndarray) -> None:
        """Keep the best of some completions if it improves on the best so far."""
        height, _ = self.bounds(single)
        for i in np.argsort(-height, kind="stable"):
            if height[i] <= self.height + TOLERANCE:
                break
            point = self.bounds.choice.point(single[i], self.n_features)
            self._keep(single[i], point, float(height[i]))

    def _keep(self, single: np.ndarray, point: np.ndarray, height: float) -> None:
        """Keep a completion; its open continuous columns are climbed for."""
        if not self.is_exact:
            key = single.tobytes()
            if key in self.climbed:
                return
            self.climbed.add(key)
            self.ceiling = max(self.ceiling, height)
            log_known, left = given(self.root, point)
            assert left is not None
            more, height = highest_mode(left, self.n_features)
            point = np.where(np.isnan(point), more, point)
            height += log_known
        if height > self.height:
            self.point, self.height = point, height
