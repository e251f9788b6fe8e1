"""Short ordered lists of rules, fitted in bins to what an ensemble says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clearwood.rules import RuleSet, build_rule_list
from clearwood.search import BoxList, Penalties, grow_lists, make_problem, refine
from clearwood.search.trees.grow import grow_trees
from clearwood.search.trees.nodes import as_list, make_tree_problem
from clearwood.simplifiers._common.lesson import Job, Lesson, region_maker

LITERAL_PENALTIES = (0.002, 0.004)
"""Penalties per literal, the default first."""

NEAR_DISJOINT = {"classification": 0.05, "regression": 0.01}
"""Overlap penalty by task: a row in two boxes costs that much of its full loss."""

TREE_PENALTY = 0.0003
"""Per literal of each leaf of a tree. It decides between trees that are as good; one of
K leaves cannot do without some K log K of them."""

DISJOINT = 1e6
"""Overlap penalty at which no overlap pays."""


class Settings(NamedTuple):
    """What is tuned.

    Attributes
    ----------
    literal_penalty, overlap_penalty : float
        See ``search.Penalties``.
    augment : bool
        Whether made rows are used.
    """

    literal_penalty: float
    overlap_penalty: float
    augment: bool


def settings_to_try(task: str, combine: str, tune: bool, n_made: int) -> list[Settings]:
    """The default settings first; with ``tune`` all others after them."""
    overlaps = {
        "near-disjoint": (NEAR_DISJOINT[task], 0.0),
        "first": (0.0,),
        "disjoint": (DISJOINT,),
    }[combine]
    every = [
        Settings(literal, overlap, augment)
        for augment in ((True, False) if n_made else (False,))
        for overlap in overlaps
        for literal in LITERAL_PENALTIES
    ]
    return every if tune else every[:1]


def fit_path(job: Job, lesson: Lesson, settings: Settings) -> list[BoxList]:
    """Lists that grow from one to the next."""
    problem = make_problem(
        lesson.grid,
        job.loss(lesson.target, lesson.weight),
        Penalties(settings.literal_penalty, settings.overlap_penalty),
        lesson.counts,
        job.limits.signs[job.asked],
    )
    lists = grow_lists(problem, lesson.pool, job.max_rules - 1)
    if settings.overlap_penalty < DISJOINT or job.limits.signs.any():
        return lists
    # Boxes that may not meet soon block one another; the leaves of a tree do not.
    trees = grow_trees(
        make_tree_problem(lesson.grid, problem.loss, lesson.counts, TREE_PENALTY),
        job.max_rules,
    )
    found: dict[int, BoxList] = {}
    for lst in [*lists, *(refine(problem, as_list(tree)) for tree in trees)]:
        known = found.get(len(lst.boxes), lst)
        found[len(lst.boxes)] = min(known, lst, key=lambda one: one.objective)
    return [found[size] for size in sorted(found)]


def print_lists(
    job: Job, lesson: Lesson, lists: Sequence[BoxList]
) -> tuple[RuleSet, ...]:
    """Lists of boxes in the data's own terms."""
    region_of = region_maker(job)
    return tuple(
        build_rule_list(
            [region for box in lst.boxes if (region := region_of(box)) is not None],
            job.training,
            job.bins.features,
            made=lesson.made,
            classes=job.teacher.classes,
            signs=job.limits.signs,
        )
        for lst in lists
    )
