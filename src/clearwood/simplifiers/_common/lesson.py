"""What rules are fitted to: the rows, made ones, and what the ensemble says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearwood.rules import Condition, FeatureBins, Training, region_conditions
from clearwood.rules.statistics import variance
from clearwood.rules.training import together
from clearwood.search import ClassLoss, Grid, SquaredLoss, candidate_boxes
from clearwood.search.losses import Loss
from clearwood.simplifiers._common.constraints import Limits
from clearwood.simplifiers._common.synthetic_rows import mixed_rows
from clearwood.simplifiers._common.teacher import Teacher

MADE_WEIGHT = 10.0
"""Weight of all made rows together over that of the real ones, at most; one made row
weighs no more than a real one."""


@dataclass(frozen=True, eq=False)
class Job:
    """What all fits of one estimator share.

    Attributes
    ----------
    teacher : Teacher
        Answers for made rows.
    training : Training
        The rows.
    bins : FeatureBins
    max_rules : int
        Most lines, ``otherwise`` included.
    n_made : int
        Made rows, where all rows are used; for a part of them in proportion.
    centre, unit : float
        Mean and standard deviation of the values that are taught.
    limits : Limits
        Features that rules may not ask, or must rise or fall in.
    """

    teacher: Teacher
    training: Training
    bins: FeatureBins
    max_rules: int
    n_made: int
    centre: float
    unit: float
    limits: Limits

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "classification" if self.teacher.classes else "regression"

    @property
    def asked(self) -> np.ndarray:
        """Features that the ensemble asks about and rules may ask, ascending."""
        used = self.bins.used_features
        return used[~self.limits.forbidden[used]]

    def grid(self, encoded: np.ndarray) -> Grid:
        """Rows in the bins of the features that rules may ask."""
        asked = self.asked
        codes = self.bins.transform_encoded(encoded)[:, asked]
        return Grid.of(codes, self.bins.n_bins[asked], self.is_category[asked])

    @property
    def is_category(self) -> np.ndarray:
        """Which features are categorical."""
        return np.array([group is not None for group in self.bins.groups], dtype=bool)

    def target(self, taught: np.ndarray) -> np.ndarray:
        """Class probabilities as they are, values standardised."""
        return taught if self.teacher.classes else (taught - self.centre) / self.unit

    def loss(self, target: np.ndarray, weight: np.ndarray) -> Loss:
        """Regret for class probabilities, squares for values."""
        kind = ClassLoss if self.teacher.classes else SquaredLoss
        return kind.of(target, weight)

    def wrong(self, target: np.ndarray, said: np.ndarray) -> np.ndarray:
        """Whether another class is said, or the squared difference, per row."""
        if self.teacher.classes:
            return (target.argmax(axis=1) != said).astype(np.float64)
        return (target - said) ** 2


def make_job(
    teacher: Teacher,
    training: Training,
    bins: FeatureBins,
    max_rules: int,
    n_made: int,
    limits: Limits,
) -> Job:
    """Put together what all fits share."""
    centre, unit = 0.0, 1.0
    if not teacher.classes:
        centre, unit = centre_and_unit(training.taught, training.weight)
    return Job(teacher, training, bins, max_rules, n_made, centre, unit, limits)


def centre_and_unit(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation, 1 where that is 0: units of penalties."""
    spread = variance(values, weight) ** 0.5
    return float(np.average(values, weights=weight)), spread if spread > 0 else 1.0


class Lesson(NamedTuple):
    """What lists are fitted to: training rows, or some of them, and made ones.

    Attributes
    ----------
    training : Training
    made : Training or None
    grid : Grid
        All these rows.
    target, weight : ndarray
        What is to be said of them, and what they count.
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Boxes to choose from.
    seed : int
        For what is random in fitting, too.
    """

    training: Training
    made: Training | None
    grid: Grid
    target: np.ndarray
    weight: np.ndarray
    pool: np.ndarray
    seed: int

    @property
    def counts(self) -> np.ndarray:
        """How much each row counts towards the fewest that a rule must catch.

        Made rows do not count.
        """
        is_real = np.arange(self.grid.n_rows) < len(self.training.encoded)
        return is_real * counts_of(self.weight)


def counts_of(weight: np.ndarray) -> np.ndarray:
    """How many rows each row is: three where it weighs 3, but at least one.

    Weights may also be small all over, and the rows are there all the same.
    """
    return np.maximum(weight, 1.0)


def make_lesson(
    job: Job, training: Training, augment: bool, seed: int, *, with_pool: bool = True
) -> Lesson:
    """Make rows, ask the ensemble about them, and find boxes to choose from.

    Parameters
    ----------
    job : Job
    training : Training
        The training rows to use.
    augment : bool
        Whether to make rows.
    seed : int
    with_pool : bool
        Whether to find boxes.

    Returns
    -------
    Lesson
    """
    generator = np.random.default_rng(seed)
    made = _made_rows(job, training, generator) if augment else None
    every = training if made is None else together(training, made)
    grid, target = job.grid(every.encoded), job.target(every.taught)
    pool = np.zeros((0, int(grid.n_bins.sum())), dtype=bool)
    if with_pool and job.max_rules > 1 and len(grid.n_bins):
        pool = candidate_boxes(grid, target, every.weight, generator)
    return Lesson(training, made, grid, target, every.weight, pool, seed)


def _made_rows(
    job: Job, training: Training, generator: np.random.Generator
) -> Training:
    used, encoded, weight = job.bins.used_features, training.encoded, training.weight
    n_made = round(job.n_made * len(encoded) / len(job.training.encoded))
    mixed = mixed_rows(
        encoded[:, used], job.is_category[used], weight, n_made, generator
    )
    # The ensemble asks about nothing else (and about what rules may not ask, too).
    made = np.tile(encoded[:1], (len(mixed), 1))
    made[:, used] = mixed
    said = job.teacher.says_encoded(made)
    teacher = said.argmax(axis=1) if job.teacher.classes else said
    each = min(1.0, MADE_WEIGHT * len(encoded) / max(len(made), 1))
    made_weight = np.full(len(made), each * weight.mean())
    return Training(made, said, None, made_weight, teacher)


def region_maker(job: Job) -> Callable[[np.ndarray], tuple[Condition, ...] | None]:
    """What makes conditions of a box; None where it is empty."""
    bins = job.bins
    codes = bins.transform_encoded(job.training.encoded)
    seen = Grid.of(codes, bins.n_bins, job.is_category).seen()
    is_asked = np.isin(np.arange(len(bins.n_bins)), job.asked)
    asked = np.repeat(is_asked, bins.n_bins)

    def region_of(box: np.ndarray) -> tuple[Condition, ...] | None:
        allowed = np.ones(len(seen), dtype=bool)
        allowed[asked] = box
        return region_conditions(bins, allowed, seen)

    return region_of
