"""Fidelity on held-out rows, for choosing settings and sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric.progress import progress
from clearwood.rules import Training
from clearwood.simplifiers._common.lesson import Job, Lesson, make_lesson

N_FOLDS = 3
"""Parts of the rows, each of which is held out once."""

TUNED_ROWS = 2000
"""With so many rows the settings hardly matter, and are not tuned."""

Fit = Callable[[Job, Lesson, Any], Sequence[Any]]
"""Fits rules of growing size."""


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
    fit: Fit,
    with_pool: bool,
    verbose: bool,
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
    with_pool : bool
        Whether lessons need boxes to choose from.
    verbose : bool
        Whether to show a progress bar on stderr.

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
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    found = parallel(
        delayed(_held_out_losses)(
            job, held, [settings[i] for i in some], seed, fit, with_pool
        )
        for held, seed, some in pieces
    )
    finished = progress(found, len(pieces), "held-out parts", verbose)
    for part, (held, _, some) in zip(finished, pieces):
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
    fit: Fit,
    with_pool: bool,
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
    lesson = make_lesson(job, part, settings[0].augment, seed, with_pool=with_pool)
    grid = job.grid(training.encoded[held])
    target = job.target(training.taught[held])
    losses = np.empty((len(settings), job.max_rules, len(held)))
    for one, lines in zip(settings, losses):
        for rules in fit(job, lesson, one):
            lines[len(rules.boxes) :] = job.wrong(target, rules.predict(grid))
    return losses
