"""MiniSPN and LearnSPN: recursion, and selection of what the thesis fixes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

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
    split_into_clusters,
    split_into_two,
)
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.hidden_trees import N_STATES, with_hidden
from clearwood.circuits.learning.leaf_blocks import Block
from clearwood.circuits.learning.recursion import (
    Piece,
    SplitRule,
    assemble,
    grow,
    product_of,
)
from clearwood.circuits.learning.slices import Parts, Slice
from clearwood.circuits.learning.trimming import prune_pieces
from clearwood.circuits.nodes import Node
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import ChowLiuTree


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

    def log_density(self, root: Node) -> np.ndarray:
        """Log density of the validation rows."""
        return compile_circuit(Circuit(root, self.features)).log_likelihood(self.valid)

    def sampled(self, n_rows: int, rng: np.random.Generator) -> LearningTable:
        """At most ``n_rows`` training rows, and a fifth as many validation rows."""
        if len(self.train) <= n_rows or not len(self.valid):
            return self._replace(all_rows=None)
        train, valid = (
            part[np.sort(rng.permutation(len(part))[:n])]
            for part, n in ((self.train, n_rows), (self.valid, n_rows // 5))
        )
        return LearningTable(train, valid, self.features)

    def score(self, root: Node) -> float:
        """Mean log density of the validation rows."""
        return float(self.log_density(root).mean())


class Options(NamedTuple):
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
        Whether a tree of a slice may replace the subcircuit grown there; see
        `prune_pieces`.
    polish : bool
        Whether EM refines all parameters.
    hidden : bool
        Whether MiniSPN gives way to a hidden Chow-Liu tree, of all rows, under which
        validation rows are likelier.
    """

    first: Starts = Starts(10)
    later: tuple[Starts, ...] = (Starts(1),)
    balanced: bool = True
    trees: tuple[bool, ...] = (False, True)
    alphas: tuple[float, ...] = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    prune: bool = True
    polish: bool = True
    hidden: bool = True


N_RESTARTS = 4
"""Starts of every cluster split by LearnSPN."""

MIXTURE_OPTIONS = Options(Starts(3, drawn=True), (Starts(1, drawn=True),) * 3)
"""Options of each network of an ensemble, for diversity: all starts are random."""

PAPER_OPTIONS = Options(
    first=Starts(1, drawn=True),
    later=(Starts(1, drawn=True),),
    balanced=False,
    trees=(False,),
    alphas=(ALPHA,),
    prune=False,
    polish=False,
    hidden=False,
)

PENALTIES, CRITICAL_PS = (0.2, 0.4, 0.6, 0.8), (0.0001, 0.0015)
"""The grid of LearnSPN: penalty of a cluster per column, and level of the G-test."""


SCORE = attrgetter("score")

LEAST_GAIN = 1e-3
"""Minimum gain of an EM sweep in log density per row; smaller ones are not worth it."""


SWEEPS, LEAST_SWEEPS, FULL_COLUMNS = 60, 10, 100
"""Maximum number of sweeps of EM from random parameters. In MiniSPN, where the tree is
one of two candidates, fewer with more columns than the third, in inverse proportion,
but not fewer than the second: the log-likelihood changes little."""


MOST_ROWS = 10_000
"""Maximum number of training rows of these sweeps; all refine the tree selected."""


STRUCTURE_ROWS = 50_000
"""Maximum number of training rows that MiniSPN learns the structure from. Held-out rows
are about as likely as with all rows: larger networks fit the same rows twice."""

MOST_SWEEPS, FEWEST_SWEEPS = 50, 3
"""Maximum number of sweeps of EM over all rows after those over a sample: they cost no
more than as many sweeps over the sample, unless these are fewer."""


class Candidate(NamedTuple):
    """Options and score of a circuit selected on validation rows; see `assemble`."""

    score: float
    pieces: list[Piece]
    alpha: float
    trees: bool
    pruned: Collection[int] = ()

    @property
    def root(self) -> Node:
        """The circuit."""
        return assemble(self.pieces, self.alpha, self.trees, self.pruned)


def mini_spn(
    table: LearningTable,
    significance_level: float,
    options: Options,
    rng: np.random.Generator,
) -> Node:
    """Split rows first, into two clusters, if validation rows support it (4.2.2).

    If there are many rows, the structure is learned from a sample of them; then EM
    refines the parameters on all.
    """
    is_paper = options == PAPER_OPTIONS  # which leaves nothing to select_leaves
    sample = table if is_paper else table.sampled(STRUCTURE_ROWS, rng)
    whole = Slice.from_table(sample.train, sample.valid, table.features)

    by_columns = partial(
        split_columns, significance_level=significance_level, balanced=options.balanced
    )

    def grow_from(later: Starts) -> list[Piece]:
        def by_rows(slice_: Slice) -> Parts | None:
            starts = options.first if slice_ is whole else later
            return split_into_two(slice_, starts, rng, options.balanced)

        return _grow(whole, [by_rows, by_columns], options)

    if is_paper:
        return assemble(grow_from(options.later[0]), ALPHA, trees=False)
    candidates = [
        select_leaves(grow_from(later), sample, options) for later in options.later
    ]
    best = max(candidates, key=SCORE)
    alpha = best.alpha
    found = polished(best.root, alpha, sample, options)
    if options.hidden and len(table.valid):
        hidden = latent_tree(sample, N_STATES, options, rng, sample.score(found))
        # Clusters can be read: a tree has to be likelier by a standard error, at least.
        if is_clearly_greater(sample.log_density(hidden), sample.log_density(found)):
            found, alpha = hidden, ALPHA
    if table.all_rows is None and sample.train is table.train:
        return found
    sweeps = MOST_SWEEPS * len(sample.train) // len(table.train)
    return polished(found, alpha, table, options, sweeps=max(sweeps, FEWEST_SWEEPS))


def is_clearly_greater(logs: np.ndarray, others: np.ndarray) -> bool:
    """Whether the mean difference of log probabilities exceeds its standard error."""
    with np.errstate(invalid="ignore"):  # of rows that are impossible in both: no gain
        gain = np.where(logs == others, 0.0, logs - others)
    if np.isinf(gain).any():
        # Of two that are infinitely worse in some rows, neither is better.
        return not np.isneginf(gain).any()
    return bool(gain.mean() > gain.std() / len(gain) ** 0.5)


def latent_tree(
    table: LearningTable,
    n_states: Sequence[int],
    options: Options,
    rng: np.random.Generator,
    goal: float = -np.inf,
) -> Node:
    """Hidden Chow-Liu trees; validation rows select the number of states.

    Columns that are continuous, or independent of all others, have leaves of their own.

    Parameters
    ----------
    table : LearningTable
    n_states : sequence of int
        Numbers of states of hidden variables, ascending; without validation rows the
        first is taken.
    options : Options
    rng : Generator
    goal : float
        Validation score to reach: if a quarter of the last gain would not, no more
        states are tried, for gains become smaller.
    """
    if not len(table.valid):
        table, n_states = table._replace(valid=table.train), n_states[:1]
    some = rng.permutation(len(table.train))[:MOST_ROWS]
    sample = table._replace(train=table.train[np.sort(some)], all_rows=None)
    whole = Slice.from_table(table.train, table.valid, table.features)
    leaves = Block.from_slice(whole).leaves(ALPHA, trees=True)
    visible: Node = product_of(leaves) if len(leaves) > 1 else leaves[0]
    best, score = visible, table.score(visible)
    if not any(isinstance(leaf, ChowLiuTree) for leaf in leaves):
        n_states = ()
    sweeps = SWEEPS
    if goal > -np.inf and table.features.n_features > FULL_COLUMNS:
        fewer = SWEEPS * FULL_COLUMNS // table.features.n_features
        sweeps = max(fewer, LEAST_SWEEPS)
    for n in n_states:
        start = with_hidden(visible, n, rng)
        found = polished(start, ALPHA, sample, options, sweeps=sweeps, much=np.inf)
        gain = table.score(found) - score
        if gain <= LEAST_GAIN:
            break
        best, score = found, score + gain
        if score + gain / 4 < goal:
            break
    is_of_all = len(some) == len(table.train) and table.all_rows is None
    return best if is_of_all or score < goal else polished(best, ALPHA, table, options)


def learn_spn(
    table: LearningTable,
    penalties: Sequence[float],
    critical_ps: Sequence[float],
    options: Options,
    rng: np.random.Generator,
) -> Node:
    """Split columns first, by the G-test; then rows, into penalized clusters (4.2.1).

    Penalty and significance level are selected from a grid on validation rows; without
    any, the first of both is taken.
    """
    whole = Slice.from_table(table.train, table.valid, table.features)

    def candidate(
        penalty: float, significance_level: float, rng: np.random.Generator
    ) -> Candidate:
        by_columns = partial(
            split_columns,
            ratio=True,
            significance_level=significance_level,
            balanced=options.balanced,
        )
        starts = options.later[0]._replace(number=N_RESTARTS)
        by_rows = partial(split_into_clusters, penalty=penalty, how=starts, rng=rng)
        pieces = _grow(whole, [by_columns, by_rows], options)
        return select_leaves(pieces, table, options)

    grid = list(product(penalties, critical_ps))
    if not len(table.valid):
        del grid[1:]
    found = [candidate(*point, rng) for point, rng in zip(grid, rng.spawn(len(grid)))]
    best = max(found, key=SCORE)
    return polished(best.root, best.alpha, table, options)


def _grow(whole: Slice, splits: Sequence[SplitRule], options: Options) -> list[Piece]:
    """Grow the circuit, with counts where it may become leaves again."""
    prune = options.prune and len(whole.valid) > 0
    return grow(whole, splits, trees=any(options.trees), prune=prune)


def select_leaves(
    pieces: list[Piece], table: LearningTable, options: Options
) -> Candidate:
    """Select leaves and smoothing on validation rows.

    First trees or independent leaves, then smoothing upward and downward from the
    thesis' value as long as it helps.
    """
    if not len(table.valid):
        return Candidate(-np.inf, pieces, ALPHA, options.trees[-1])

    def candidate(alpha: float, trees: bool) -> Candidate:
        score, pruned = prune_pieces(pieces, table.valid, alpha, trees)
        return Candidate(score, pieces, alpha, trees, pruned)

    best = max((candidate(ALPHA, trees) for trees in options.trees), key=SCORE)
    higher = [alpha for alpha in options.alphas if alpha > ALPHA]
    lower = [alpha for alpha in reversed(options.alphas) if alpha < ALPHA]
    for alphas in (higher, lower):
        for alpha in alphas:
            other = candidate(alpha, best.trees)
            if other.score <= best.score:
                break
            best = other
    return best


def polished(
    root: Node, alpha: float, table: LearningTable, options: Options, **how: Any
) -> Node:
    """Refine all parameters by EM, as long as the validation likelihood rises.

    If there are more rows than fit into memory, EM continues with all of these as long
    as their likelihood rises: structure and smoothing are from the sample.
    """
    if not options.polish:
        return root
    circuit = Circuit(root, table.features)
    if len(table.valid):
        circuit = refine(
            circuit,
            table.train,
            valid=table.valid,
            alpha=alpha,
            tolerance=LEAST_GAIN,
            **how,
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
