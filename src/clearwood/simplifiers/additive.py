"""Sums of a few rules and a constant, fitted in bins to what an ensemble says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood.rules import RuleSet
from clearwood.rules.building.lists import build_rule_sum
from clearwood.search import BoxSum, contains, grow_sums, make_sum_problem
from clearwood.search.sums.losses import ClassSumLoss, SquaredSumLoss
from clearwood.simplifiers._common.lesson import Job, Lesson, region_maker

LITERAL_PENALTIES = (0.004, 0.002)
"""Penalties per literal, the default first."""

RIDGE = {"classification": 1e-2, "regression": 1e-4}
"""Penalty on half the square of what a rule adds: log-odds must not run away where
the ensemble is sure."""


class SumSettings(NamedTuple):
    """What is tuned.

    Attributes
    ----------
    literal_penalty : float
        Per literal.
    augment : bool
        Whether made rows are used.
    """

    literal_penalty: float
    augment: bool


def sum_settings(tune: bool, n_made: int) -> list[SumSettings]:
    """The default settings first; with ``tune`` all others after them."""
    every = [
        SumSettings(literal, augment)
        for augment in ((True, False) if n_made else (False,))
        for literal in LITERAL_PENALTIES
    ]
    return every if tune else every[:1]


def fit_sums(job: Job, lesson: Lesson, settings: SumSettings) -> list[BoxSum]:
    """Sums that grow from one to the next."""
    kind: Any = ClassSumLoss if job.teacher.classes else SquaredSumLoss
    problem = make_sum_problem(
        lesson.grid,
        kind.of(lesson.target, lesson.weight),
        settings.literal_penalty,
        RIDGE[job.task],
        lesson.counts,
    )
    # The same for every size and all settings: what differs is not the luck.
    generator = np.random.default_rng(0)
    return grow_sums(problem, lesson.pool, job.max_rules - 1, generator)


def print_sums(job: Job, lesson: Lesson, sums: Sequence[BoxSum]) -> tuple[RuleSet, ...]:
    """Sums of boxes in the data's own terms and units."""
    region_of = region_maker(job)
    n_classes = len(job.teacher.classes)

    def printed(one: BoxSum) -> RuleSet:
        regions, values = [], []
        for k in _by_effect(one, lesson):
            region = region_of(one.boxes[k])
            if region is not None:
                regions.append(region)
                values.append(one.values[k] * job.unit)
                if n_classes:
                    values[-1] = np.eye(n_classes)[one.outputs[k]] * one.values[k]
        constant = one.constant if n_classes else one.constant[0] * job.unit
        return build_rule_sum(
            regions,
            values,
            constant if n_classes else constant + job.centre,
            job.training,
            job.bins.features,
            made=lesson.made,
            classes=job.teacher.classes,
        )

    return tuple(printed(one) for one in sums)


def _by_effect(one: BoxSum, lesson: Lesson) -> np.ndarray:
    """Boxes in order of the variance that they add, the largest first."""
    share = contains(lesson.grid, one.boxes) @ (lesson.weight / lesson.weight.sum())
    return np.argsort(-(one.values**2) * share * (1.0 - share), kind="stable")
