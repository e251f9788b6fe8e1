"""Short ordered lists of rules, fitted in bins to what an ensemble says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood.rules import (
    Condition,
    FeatureBins,
    RuleSet,
    Training,
    build_rule_list,
    region_conditions,
)
from clearwood.rules.build import together
from clearwood.search import (
    BoxList,
    ClassLoss,
    Grid,
    Penalties,
    SquaredLoss,
    candidate_boxes,
    grow_lists,
    make_problem,
)
from clearwood.search.losses import Loss
from clearwood.simplifiers.augment import mixed_rows
from clearwood.simplifiers.limits import Limits
from clearwood.simplifiers.teacher import Teacher

N_FOLDS = 3
"""Parts of the rows, each of which is held out once."""

TUNED_ROWS = 2000
"""With so many rows the settings hardly matter, and are not tuned."""

LITERAL_PENALTIES = (0.002, 0.004)
"""Penalties per literal, the default first."""

NEAR_DISJOINT = {"classification": 0.05, "regression": 0.01}
"""Overlap penalty by task: a row in two boxes costs that much of its full loss."""

DISJOINT = 1e6
"""Overlap penalty at which no overlap pays."""

MADE_WEIGHT = 10.0
"""Weight of all made rows together over that of the real ones, at most; one made row
weighs no more than a real one."""


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
        centre = float(np.average(training.taught, weights=training.weight))
        away = training.taught - centre
        variance = float(np.average(away**2, weights=training.weight))
        unit = variance**0.5 if variance > 0 else 1.0
    return Job(teacher, training, bins, max_rules, n_made, centre, unit, limits)


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
    """

    training: Training
    made: Training | None
    grid: Grid
    target: np.ndarray
    weight: np.ndarray
    pool: np.ndarray


def make_lesson(job: Job, training: Training, augment: bool, seed: int) -> Lesson:
    """Make rows, ask the ensemble about them, and find boxes to choose from.

    Parameters
    ----------
    job : Job
    training : Training
        The training rows to use.
    augment : bool
        Whether to make rows.
    seed : int

    Returns
    -------
    Lesson
    """
    generator = np.random.default_rng(seed)
    made = _made_rows(job, training, generator) if augment else None
    every = training if made is None else together(training, made)
    grid, target = job.grid(every.encoded), job.target(every.taught)
    pool = np.zeros((0, int(grid.n_bins.sum())), dtype=bool)
    if job.max_rules > 1 and len(grid.n_bins):
        pool = candidate_boxes(grid, target, every.weight, generator)
    return Lesson(training, made, grid, target, every.weight, pool)


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


def fit_path(job: Job, lesson: Lesson, settings: Settings) -> list[BoxList]:
    """Lists that grow from one to the next."""
    is_real = np.arange(lesson.grid.n_rows) < len(lesson.training.encoded)
    # A row of weight 3 is three rows; but weights may also be small all over, and the
    # rows they belong to are there all the same.
    counts = is_real * np.maximum(lesson.weight, 1.0)
    problem = make_problem(
        lesson.grid,
        job.loss(lesson.target, lesson.weight),
        Penalties(settings.literal_penalty, settings.overlap_penalty),
        counts,
        job.limits.signs[job.asked],
    )
    return grow_lists(problem, lesson.pool, job.max_rules - 1)


class Validation(NamedTuple):
    """Fidelity on held-out rows.

    Attributes
    ----------
    fidelity : ndarray of shape (n_settings, max_rules)
        Share of equal classes, or R2, of lists of at most 1, 2, ... lines.
    standard_error : ndarray of shape (n_settings, max_rules)
    """

    fidelity: np.ndarray
    standard_error: np.ndarray

    def best_settings(self, n_rules: int | None) -> int:
        """Position of the settings that are best, at a size or at the best one."""
        if n_rules is None:
            return int(self.fidelity.max(axis=1).argmax())
        return int(self.fidelity[:, n_rules - 1].argmax())

    def fewest_rules(self, settings: int) -> int:
        """The smallest size within one standard error of the best."""
        fidelity = self.fidelity[settings]
        best = int(fidelity.argmax())
        enough = fidelity >= fidelity[best] - self.standard_error[settings, best]
        return int(enough.argmax()) + 1


def cross_validate(
    job: Job,
    settings: Sequence[Any],
    seeds: Sequence[int],
    n_jobs: int | None,
    fit: Callable[[Job, Lesson, Any], Sequence[Any]] = fit_path,
) -> Validation:
    """Fit to two thirds of the rows and judge on the others, three times.

    Parameters
    ----------
    job : Job
    settings : sequence of Settings
        Or of others that say whether to ``augment``.
    seeds : sequence of int
        One for the folds and one per fold.
    n_jobs : int or None
        Threads. The result does not depend on it.
    fit : callable
        Job, lesson and settings to rules of growing size that have ``boxes`` and can
        ``predict`` a grid.

    Returns
    -------
    Validation
    """
    from joblib import Parallel, delayed

    n_rows = len(job.training.encoded)
    order = np.random.default_rng(seeds[0]).permutation(n_rows)
    folds = [np.sort(part) for part in np.array_split(order, N_FOLDS)]
    shared = [
        [i for i, s in enumerate(settings) if s.augment == augment]
        for augment in (True, False)
    ]
    pieces = [
        (held, seed, some)
        for held, seed in zip(folds, seeds[1:])
        for some in shared
        if some
    ]
    losses = np.empty((len(settings), job.max_rules, n_rows))
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_held_out_losses)(job, held, [settings[i] for i in some], seed, fit)
        for held, seed, some in pieces
    )
    for (held, _, some), part in zip(pieces, found):
        for i, lines in zip(some, part):
            losses[i][:, held] = lines
    share = job.training.weight / job.training.weight.sum()
    mean = losses @ share
    variance = ((losses - mean[:, :, None]) ** 2) @ share**2
    return Validation(1.0 - mean, np.sqrt(variance))


def _held_out_losses(
    job: Job,
    held: np.ndarray,
    settings: Sequence[Any],
    seed: int,
    fit: Callable[[Job, Lesson, Any], Sequence[Any]],
) -> np.ndarray:
    """Loss of all rules on every held-out row: (settings, sizes, rows)."""
    training = job.training
    rows = np.setdiff1d(np.arange(len(training.encoded)), held)
    labels = None if training.labels is None else training.labels[rows]
    part = Training(
        training.encoded[rows],
        training.taught[rows],
        labels,
        training.weight[rows],
        training.teacher[rows],
    )
    lesson = make_lesson(job, part, settings[0].augment, seed)
    grid = job.grid(training.encoded[held])
    target = job.target(training.taught[held])
    losses = np.empty((len(settings), job.max_rules, len(held)))
    for one, lines in zip(settings, losses):
        for rules in fit(job, lesson, one):
            lines[len(rules.boxes) :] = job.wrong(target, rules.predict(grid))
    return losses


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
