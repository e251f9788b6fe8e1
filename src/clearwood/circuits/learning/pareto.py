"""Pareto front of circuits in size and likelihood, by random search (4.2.3)."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from clearwood._numeric.progress import progress
from clearwood._warned_once import users_level
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.productions import SearchSpace, Subcircuit
from clearwood.circuits.nodes import Node
from clearwood.exceptions import InterruptedFitWarning

BEST = 0.5
"""Probability that the likeliest circuit grows; otherwise it is a random one."""


class FrontPoint(NamedTuple):
    """A circuit of the population, with its size and likelihood."""

    degrees_of_freedom: int
    log_likelihood: float
    root: Subcircuit


def pareto_spn(
    table: LearningTable,
    n_iter: int,
    rng: np.random.Generator,
    *,
    seed: Node | None = None,
    thesis: bool = False,
    visible: bool = False,
) -> list[FrontPoint]:
    """Grow circuits at random; those that are not dominated, by increasing size.

    Ctrl-C ends the search with the front so far. It starts from the ``seed``, or from
    independent columns. In the ``thesis`` discrete columns stay separate leaves, and
    `dominates` is strict.
    """
    space = SearchSpace.from_table(table, trees=not thesis)
    front = [
        _judged(space.single_block() if seed is None else space.from_circuit(seed))
    ]
    try:
        for _ in progress(range(n_iter), n_iter, "circuits", visible):
            grown = space.grow(_drawn(front, rng), rng)
            if grown is not None:
                front = inserted(front, _judged(grown), thesis)
    except KeyboardInterrupt:
        warnings.warn(
            f"Interrupted; the {len(front)} circuits found until then are kept.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    return sorted(front, key=lambda one: one[:2])


def inserted(
    front: list[FrontPoint], new: FrontPoint, strict: bool = False
) -> list[FrontPoint]:
    """Insert a circuit into the front unless it is dominated.

    Of equals the older one is kept.
    """
    if any(dominates(old, new, strict) for old in front):
        return front
    return [old for old in front if not dominates(new, old, strict)] + [new]


def dominates(one: FrontPoint, other: FrontPoint, strict: bool = False) -> bool:
    """Whether a circuit dominates another one: no larger, and no less likely.

    In the thesis it must be smaller and likelier (``strict``), so equals accumulate.

    Examples
    --------
    >>> small, large = FrontPoint(3, -1.5, None), FrontPoint(8, -1.5, None)
    >>> dominates(small, large), dominates(small, large, strict=True)
    (True, False)
    """
    if strict:
        return (
            one.degrees_of_freedom < other.degrees_of_freedom
            and one.log_likelihood > other.log_likelihood
        )
    return (
        one.degrees_of_freedom <= other.degrees_of_freedom
        and one.log_likelihood >= other.log_likelihood
    )


def likeliest(front: list[FrontPoint]) -> FrontPoint:
    """Circuit of highest likelihood; of equals the smallest, then the first.

    Examples
    --------
    >>> likeliest([FrontPoint(8, -1, None), FrontPoint(5, -1, None)]).degrees_of_freedom
    5
    """
    return min(front, key=lambda one: (-one.log_likelihood, one.degrees_of_freedom))


def _judged(root: Subcircuit) -> FrontPoint:
    """A circuit with its size and its mean log density of rows."""
    score = root.log_density.mean() if len(root.log_density) else 0.0
    return FrontPoint(root.degrees_of_freedom, float(score), root)


def _drawn(front: list[FrontPoint], rng: np.random.Generator) -> Subcircuit:
    """Draw the circuit that grows next."""
    if rng.random() < BEST:
        return likeliest(front).root
    return front[rng.integers(len(front))].root
