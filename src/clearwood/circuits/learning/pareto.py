"""Circuits of all sizes: a population that trades size for likelihood (4.2.3)."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from clearwood._numeric.progress import progress
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.productions import Branch, Ground
from clearwood.circuits.nodes import Node
from clearwood.columns.warned_once import users_level
from clearwood.exceptions import InterruptedFitWarning

BEST = 0.5
"""How often it is the likeliest circuit that grows; else it is any."""


class Grown(NamedTuple):
    """A circuit of the population, and what it is judged by."""

    degrees_of_freedom: int
    log_likelihood: float
    root: Branch


def pareto_spn(
    table: LearningTable,
    n_iterations: int,
    rng: np.random.Generator,
    *,
    seed: Node | None = None,
    thesis: bool = False,
    visible: bool = False,
) -> list[Grown]:
    """Let circuits grow at random, and keep those that no other one dominates.

    Ctrl-C ends the search; what it has found stays.

    Parameters
    ----------
    table : LearningTable
    n_iterations : int
        Circuits that are tried.
    rng : Generator
    seed : node, optional
        The circuit from which all others grow; by default columns are independent.
    thesis : bool, default=False
        Whether discrete columns stay apart in leaves, and a circuit must be both larger
        and less likely than another one to leave; see `dominates`.
    visible : bool
        Show how far the search has come.

    Returns
    -------
    list of Grown
        From the smallest to the largest.
    """
    ground = Ground.of(table, trees=not thesis)
    front = [_judged(ground.bare() if seed is None else ground.planted(seed))]
    try:
        for _ in progress(range(n_iterations), n_iterations, "circuits", visible):
            grown = ground.grow(_drawn(front, rng), rng)
            if grown is not None:
                front = inserted(front, _judged(grown), thesis)
    except KeyboardInterrupt:
        warnings.warn(
            f"Interrupted; the {len(front)} circuits found until then are kept.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    return sorted(front, key=lambda one: one[:2])


def inserted(front: list[Grown], new: Grown, strict: bool = False) -> list[Grown]:
    """The front with a new circuit, unless another one dominates that.

    Of equals the older stays.
    """
    if any(dominates(old, new, strict) for old in front):
        return front
    return [old for old in front if not dominates(new, old, strict)] + [new]


def dominates(one: Grown, other: Grown, strict: bool = False) -> bool:
    """Whether a circuit makes another one useless: no larger, and no less likely.

    In the thesis it must be smaller and likelier (``strict``): equals pile up.

    Examples
    --------
    >>> small, large = Grown(3, -1.5, None), Grown(8, -1.5, None)
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


def likeliest(front: list[Grown]) -> Grown:
    """The circuit with the highest likelihood; of equals the smallest, then the first.

    Examples
    --------
    >>> likeliest([Grown(8, -1.5, None), Grown(5, -1.5, None)]).degrees_of_freedom
    5
    """
    return min(front, key=lambda one: (-one.log_likelihood, one.degrees_of_freedom))


def _judged(root: Branch) -> Grown:
    """A circuit by its size, and by what it says of a row on average."""
    score = root.log_density.mean() if len(root.log_density) else 0.0
    return Grown(root.degrees_of_freedom, float(score), root)


def _drawn(front: list[Grown], rng: np.random.Generator) -> Branch:
    """The circuit that is to grow."""
    if rng.random() < BEST:
        return likeliest(front).root
    return front[rng.integers(len(front))].root
