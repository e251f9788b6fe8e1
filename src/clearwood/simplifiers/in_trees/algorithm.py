"""inTrees (Deng 2014): rules of an ensemble's trees, pruned and ordered.

:func:`find_rules` is the article from its second step to its last: measure, prune,
select, order. The first, extraction, is ``extract_paths``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clearwood.rules import RuleSet, Training
from clearwood.rules.building.lists import build_rule_list
from clearwood.simplifiers.in_trees.ordering import best_prefixes, order_rules
from clearwood.simplifiers.in_trees.paths import Paths
from clearwood.simplifiers.in_trees.pruning import (
    Evaluated,
    ExtractedRules,
    distinct,
    score_and_prune,
    target_of,
    unpacked,
    without_twins,
)

MOST_ROWS = 20_000
"""Maximum number of random rows to evaluate rules on; predictions use all rows."""

FREQUENCIES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Minimum frequencies tried by default."""


def find_rules(
    paths: Paths,
    training: Training,
    procedure: Procedure,
    *,
    max_rules: int | None,
    min_samples_leaf: float,
    min_frequency: float | None,
    round_thresholds: bool,
    generator: np.random.Generator,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[ExtractedRules, ExtractedRules, tuple[RuleSet, ...]]:
    """The article's steps but the first (``extract_paths``).

    See :class:`InTreesClassifier` for the parameters; ``min_frequency`` of None tries
    ``FREQUENCIES``.

    Returns
    -------
    extracted, pruned : ExtractedRules
        The distinct rules of the trees, and those that pruning leaves of them.
    path : tuple of RuleSet
        Ordered lists of growing size.
    """
    rows = evaluation_rows(training, procedure.levels, generator)
    n_drawn = procedure.max_extracted
    if n_drawn is not None and paths.n_rules > n_drawn:
        drawn = generator.choice(paths.n_rules, n_drawn, replace=False)
        paths = paths.take(np.sort(drawn))
    # Measure, and prune.
    whole, pruned = score_and_prune(
        paths, rows, procedure.decay, procedure.max_decay, n_jobs, verbose
    )
    pruned = distinct(pruned)
    # Select.
    candidates = without_twins(pruned)
    if procedure.select and candidates.paths.n_rules:
        candidates = informative(candidates, rows, int(generator.integers(2**31)))
    # Order.
    most = None if max_rules is None else max_rules - 1
    lists = [
        order_rules(candidates, rows, frequency, most, min_samples_leaf)
        for frequency in (FREQUENCIES if min_frequency is None else (min_frequency,))
    ]
    path: dict[int, RuleSet] = {}
    for prefix in dict.fromkeys(map(tuple, best_prefixes(lists, most))):
        regions = [
            candidates.paths.conditions(k, training.bins, training.seen) for k in prefix
        ]
        rules = build_rule_list(
            [region for region in regions if region is not None],
            training,
            round_thresholds=round_thresholds,
        )
        path[rules.n_rules] = rules
    return (
        ExtractedRules.of(whole, rows, training.seen),
        ExtractedRules.of(pruned, rows, training.seen),
        tuple(path[size] for size in sorted(path)),
    )


class Procedure(NamedTuple):
    """Choices in which the article and its R package differ; the defaults are ours.

    ``preset="paper"`` uses those of the R package. Users have no reason to change one
    alone; to compare methods, set ``_procedure`` of an estimator's class.

    Attributes
    ----------
    nodes : {"all", "leaves"}
        Whether the paths to all nodes are rules or, as in the article, those to the
        leaves. The former cover more rows each, and make better short lists.
    max_extracted : int or None
        Maximum number of rules, drawn at random from more.
    decay : {"absolute", "relative"} or None
        Criterion for the removal of a literal, by the rise of the rule's error without
        it: absolute as in the R package, or relative to the error of the whole rule, as
        in the article. Rules without error hardly get shorter by the relative rise.
        None keeps all literals.
    max_decay : float
        Maximum rise. The error of values is in units of the target's variance.
    levels : int or None
        Evaluate rules for values by this number of quantile levels as classes; the R
        package does so with 3. None uses squared error. Printed predictions are means
        in either case.
    select : bool
        Use only the rules of largest importance in a random forest on the rules'
        memberships, short ones preferred, as in the article.
    """

    nodes: str = "all"
    max_extracted: int | None = 10_000
    decay: str | None = "absolute"
    max_decay: float = 0.05
    levels: int | None = None
    select: bool = False


ARTICLE = Procedure(nodes="leaves", decay="relative")
"""The procedure of the article, without selection."""

R_PACKAGE = Procedure(nodes="leaves", levels=3)
"""The default procedure of the R package."""


def evaluation_rows(
    training: Training, levels: int | None, generator: np.random.Generator
) -> Training:
    """The training rows, or a sample of very many; values may become levels."""
    if levels is not None and not training.classes:
        level, names = levels_of(training.target, levels)
        target = np.eye(levels)[level]
        training = replace(training, target=target, classes=names, scale=None)
    if len(training) <= MOST_ROWS:
        return training
    drawn = generator.choice(len(training), MOST_ROWS, replace=False)
    # Errors are shares of the variance of these rows.
    return replace(training.take(np.sort(drawn)), scale=None)


def levels_of(values: np.ndarray, n_levels: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Values as quantile levels, as in the R package.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
    n_levels : int

    Returns
    -------
    level : ndarray of int of shape (n_rows,)
    names : tuple of str
        ``L1`` for the lowest, and so on.

    Examples
    --------
    >>> levels_of(np.array([5.0, 1.0, 2.0, 9.0, 7.0, 4.0]), 3)[0]
    array([1, 0, 0, 2, 2, 1])
    """
    shares = np.arange(1, n_levels) / n_levels
    borders = np.quantile(values, shares, method="closest_observation")
    names = tuple(f"L{i + 1}" for i in range(n_levels))
    return np.searchsorted(borders, values, side="left"), names


def informative(evaluated: Evaluated, rows: Training, seed: int) -> Evaluated:
    """The rules of largest importance in a forest on the rules' memberships.

    Long rules need more importance (the complexity-guided selection of the article,
    with importances in place of a penalty inside the trees).
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if rows.classes else RandomForestRegressor
    forest = make(100, max_features="sqrt", random_state=seed)
    member = unpacked(evaluated.bits, len(rows)).T.astype(np.float32)
    forest.fit(member, target_of(rows), rows.weight)
    lengths = evaluated.paths.lengths
    score = forest.feature_importances_ * (1.0 - 0.5 * lengths / lengths.max())
    return evaluated.take(np.flatnonzero(score >= score.mean()))
