"""MiniSPN and LearnSPN: recursion, and selection of what the thesis fixes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import product
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.expectation import (
    climb,
    em_sweeps,
    refine,
    variances,
)
from clearwood.circuits.learning.all_rows import AllRows
from clearwood.circuits.learning.clusters import (
    ALPHA,
    Starts,
    split_in_kinds,
    split_in_two,
)
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.recursion import (
    Piece,
    SplitsSlice,
    assemble,
    grow,
)
from clearwood.circuits.learning.slices import Parts, Slice
from clearwood.circuits.learning.trimming import judge
from clearwood.circuits.nodes import Node
from clearwood.columns.feature_space import FeatureSpace


class LearningTable(NamedTuple):
    """Training and validation rows, as ``features`` encodes them.

    Continuous columns are in standardized `Units`.

    Attributes
    ----------
    train, valid : ndarray of shape (n_rows, n_columns)
    features : FeatureSpace
    all_rows : AllRows or None
        All rows of a table larger than memory, of which ``train`` and ``valid`` are a
        sample.
    """

    train: np.ndarray
    valid: np.ndarray
    features: FeatureSpace
    all_rows: AllRows | None = None

    def score(self, root: Node) -> float:
        """Mean log density of the validation rows."""
        compiled = compile_circuit(Circuit(root, self.features))
        return float(compiled.log_likelihood(self.valid).mean())


class Choices(NamedTuple):
    """Options that the thesis leaves open or fixes, and validation rows may select.

    Attributes
    ----------
    first : Starts
        Starts of hard EM on all rows. From one start, 23 of 80 tables generated from
        two components came out as one.
    later : tuple of Starts
        Starts of hard EM on slices. MiniSPN learns with each, and validation rows
        select whole networks: a selection per slice is noise where there are many
        columns and few rows.
    balanced : bool
        Whether the median of a continuous column goes to the side that makes the halves
        more equal; ``x > median`` may be a constant.
    trees : tuple of bool
        Whether dependent discrete columns that no split separates become a Chow-Liu
        tree; otherwise they are independent leaves despite the dependence.
    alphas : tuple of float
        Smoothing, see `assemble`; ascending.
    prune : bool
        Whether a tree of a slice may replace the subcircuit grown there, see `judge`.
    polish : bool
        Whether EM refines all parameters.
    """

    first: Starts = Starts(10)
    later: tuple[Starts, ...] = (Starts(1),)
    balanced: bool = True
    trees: tuple[bool, ...] = (False, True)
    alphas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    prune: bool = True
    polish: bool = True


N_RESTARTS = 4
"""Starts of every cluster split by LearnSPN."""

MEMBER = Choices(Starts(3, drawn=True), (Starts(1, drawn=True),) * 3)
"""Options of each network of an ensemble, for diversity: all starts are random."""

PAPER = Choices(Starts(1), (Starts(1),), False, (False,), (ALPHA,), False, False)

PENALTIES, CRITICAL_PS = (0.2, 0.4, 0.6, 0.8), (0.0001, 0.0015)
"""The grid of LearnSPN: penalty of a cluster per column, and level of the G-test."""


SCORE = attrgetter("score")

LEAST_GAIN = 1e-3
"""Minimum gain of an EM sweep in log density per row; smaller ones are not worth it."""


class Chosen(NamedTuple):
    """Options and score of a circuit selected on validation rows; see `assemble`."""

    score: float
    pieces: list[Piece]
    alpha: float
    trees: bool
    pruned: Collection[int] = ()

    @property
    def root(self) -> Node:
        """The circuit."""
        return assemble(*self[1:])


def mini_spn(
    table: LearningTable,
    significance_level: float,
    choices: Choices,
    rng: np.random.Generator,
) -> Node:
    """Split rows first, into two clusters, if validation rows support it (4.2.2)."""
    whole = Slice.of(*table[:3])

    columns = partial(
        split_columns, significance_level=significance_level, balanced=choices.balanced
    )

    def grown(later: Starts) -> list[Piece]:
        def rows(slice_: Slice) -> Parts | None:
            how = choices.first if slice_ is whole else later
            return split_in_two(slice_, how, rng, choices.balanced)

        return _grown(whole, [rows, columns], choices)

    if choices == PAPER:  # which leaves nothing to choose
        return assemble(grown(choices.later[0]), ALPHA, trees=False)
    found = [choose(grown(later), table, choices) for later in choices.later]
    best = max(found, key=SCORE)
    return polished(best.root, best.alpha, table, choices)


def learn_spn(
    table: LearningTable,
    penalties: Sequence[float],
    critical_ps: Sequence[float],
    choices: Choices,
    rng: np.random.Generator,
) -> Node:
    """Split columns first, by the G-test; then rows, into penalized clusters (4.2.1).

    Penalty and significance level are selected from a grid on validation rows; without
    any, the first of both is taken.
    """
    whole = Slice.of(*table[:3])

    def chosen(
        penalty: float, significance_level: float, rng: np.random.Generator
    ) -> Chosen:
        columns = partial(
            split_columns,
            ratio=True,
            significance_level=significance_level,
            balanced=choices.balanced,
        )
        how = choices.later[0]._replace(number=N_RESTARTS)
        rows = partial(split_in_kinds, penalty=penalty, how=how, rng=rng)
        return choose(_grown(whole, [columns, rows], choices), table, choices)

    grid = list(product(penalties, critical_ps))
    if not len(table.valid):
        del grid[1:]
    found = [chosen(*point, rng) for point, rng in zip(grid, rng.spawn(len(grid)))]
    best = max(found, key=SCORE)
    return polished(best.root, best.alpha, table, choices)


def _grown(
    whole: Slice, splits: Sequence[SplitsSlice], choices: Choices
) -> list[Piece]:
    """Grow the circuit, with counts where it may become leaves again."""
    prune = choices.prune and len(whole.valid) > 0
    return grow(whole, splits, trees=any(choices.trees), prune=prune)


def choose(pieces: list[Piece], table: LearningTable, choices: Choices) -> Chosen:
    """Select leaves and smoothing on validation rows.

    First trees or independent leaves, then smoothing upward and downward from the
    thesis' value as long as it helps.
    """
    if not len(table.valid):
        return Chosen(-np.inf, pieces, ALPHA, choices.trees[-1])

    def tried(alpha: float, trees: bool) -> Chosen:
        score, pruned = judge(pieces, table.valid, alpha, trees)
        return Chosen(score, pieces, alpha, trees, pruned)

    best = max((tried(ALPHA, trees) for trees in choices.trees), key=SCORE)
    higher = [alpha for alpha in choices.alphas if alpha > ALPHA]
    lower = [alpha for alpha in reversed(choices.alphas) if alpha < ALPHA]
    for alphas in (higher, lower):
        for alpha in alphas:
            other = tried(alpha, best.trees)
            if other.score <= best.score:
                break
            best = other
    return best


def polished(root: Node, alpha: float, table: LearningTable, choices: Choices) -> Node:
    """Refine all parameters by EM, as long as the validation likelihood rises.

    If there are more rows than fit into memory, EM continues with all of these as long
    as their likelihood rises: structure and smoothing are from the sample.
    """
    if not choices.polish:
        return root
    circuit = Circuit(root, table.features)
    if len(table.valid):
        circuit = refine(
            circuit,
            table.train,
            valid=table.valid,
            alpha=alpha,
            tolerance=LEAST_GAIN,
        )
    if table.all_rows is not None:
        start, spread = compile_circuit(circuit), variances(table.train)
        circuit = climb(
            start,
            em_sweeps(start, table.all_rows.expected, alpha, spread),
            tolerance=LEAST_GAIN,
            keeps_last=True,  # The first one may be it: then nothing else is of all.
        )
    return circuit.root
