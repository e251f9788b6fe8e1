"""Short ordered lists of rules, fitted in bins to what an ensemble says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    """

    teacher: Teacher
    training: Training
    bins: FeatureBins
    max_rules: int
    n_made: int
    centre: float
    unit: float

    @property
    def task(self) -> str:
        """``"classification"`` or ``"regression"``."""
        return "classification" if self.teacher.classes else "regression"

    def grid(self, encoded: np.ndarray) -> Grid:
        """Rows in the bins of the features that the ensemble asks about."""
        used = self.bins.used_features
        codes = self.bins.transform_encoded(encoded)[:, used]
        return Grid.of(codes, self.bins.n_bins[used], self.is_category[used])

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
) -> Job:
    """Put together what all fits share."""
    centre, unit = 0.0, 1.0
    if not teacher.classes:
        centre = float(np.average(training.taught, weights=training.weight))
        away = training.taught - centre
        variance = float(np.average(away**2, weights=training.weight))
        unit = variance**0.5 if variance > 0 else 1.0
    return Job(teacher, training, bins, max_rules, n_made, centre, unit)


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
    return Lesson(training, made, grid, target, every.weight, pool)


def _made_rows(
    job: Job, training: Training, generator: np.random.Generator
) -> Training:
    used, encoded, weight = job.bins.used_features, training.encoded, training.weight
    n_made = round(job.n_made * len(encoded) / len(job.training.encoded))
    mixed = mixed_rows(
        encoded[:, used], job.is_category[used], weight, n_made, generator
    )
    # The ensemble asks about nothing else.
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
    problem = make_problem(
        lesson.grid,
        job.loss(lesson.target, lesson.weight),
        Penalties(settings.literal_penalty, settings.overlap_penalty),
        is_real,
    )
    return grow_lists(problem, lesson.pool, job.max_rules - 1)


def lists_of(
    job: Job, training: Training, settings: list[Settings], seed: int
) -> list[list[BoxList]]:
    """Lists fitted to some rows, with settings that agree on making rows."""
    lesson = make_lesson(job, training, settings[0].augment, seed)
    return [fit_path(job, lesson, one) for one in settings]


PathOf = Callable[[Job, Training, list[Settings], int], list[list[BoxList]]]
"""As :func:`lists_of`."""


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
    settings: Sequence[Settings],
    seeds: Sequence[int],
    n_jobs: int | None,
    path_of: PathOf = lists_of,
) -> Validation:
    """Fit to two thirds of the rows and judge on the others, three times.

    Parameters
    ----------
    job : Job
    settings : sequence of Settings
    seeds : sequence of int
        One for the folds and one per fold.
    n_jobs : int or None
        Threads. The result does not depend on it.
    path_of : function of (Job, Training, list of Settings, int)
        Fits to some training rows, with a seed: per settings, lists that grow.

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
        delayed(_held_out_losses)(job, held, [settings[i] for i in some], seed, path_of)
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
    settings: list[Settings],
    seed: int,
    path_of: PathOf,
) -> np.ndarray:
    """Loss of every list on every held-out row: (settings, sizes, rows)."""
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
    paths = path_of(job, part, settings, seed)
    grid = job.grid(training.encoded[held])
    target = job.target(training.taught[held])
    losses = np.empty((len(settings), job.max_rules, len(held)))
    for path, lines in zip(paths, losses):
        for lst in path:
            lines[len(lst.boxes) :] = job.wrong(target, lst.predict(grid))
    return losses


def print_lists(
    job: Job, lesson: Lesson, lists: Sequence[BoxList]
) -> tuple[RuleSet, ...]:
    """Lists of boxes in the data's own terms."""
    bins, training = job.bins, job.training
    codes = bins.transform_encoded(training.encoded)
    seen = Grid.of(codes, bins.n_bins, job.is_category).seen()
    is_used = np.isin(np.arange(len(bins.n_bins)), bins.used_features)
    asked = np.repeat(is_used, bins.n_bins)

    def region_of(box: np.ndarray) -> tuple[Condition, ...] | None:
        allowed = np.ones(len(seen), dtype=bool)
        allowed[asked] = box
        return region_conditions(bins, allowed, seen)

    return tuple(
        build_rule_list(
            [region for box in lst.boxes if (region := region_of(box)) is not None],
            training,
            bins.features,
            made=lesson.made,
            classes=job.teacher.classes,
        )
        for lst in lists
    )
