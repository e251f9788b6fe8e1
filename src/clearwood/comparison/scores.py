"""Scores of all jobs, as points and their Pareto frontier."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clearwood._estimators import take_rows
from clearwood.comparison.folds import Job, Problem, Reply, SizedAnswer
from clearwood.comparison.point import FrontierPoint
from clearwood.outcomes import Outcome


class HeldOut(NamedTuple):
    """True targets and model predictions on the held-out rows of each fold.

    Attributes
    ----------
    truth, target : list of ndarray
        Values, or positions in the problem's labels.
    weight : list of ndarray
    sure : list of ndarray
        Class probabilities of the model; empty in regression.
    groups : list of ndarray
        Codes of the groups of the rows; empty if each is by itself.
    """

    truth: list[np.ndarray]
    target: list[np.ndarray]
    weight: list[np.ndarray]
    sure: Sequence[np.ndarray] = ()
    groups: Sequence[np.ndarray] = ()


def make_held_out(problem: Problem) -> HeldOut:
    """Collect true targets and model predictions of all held-out rows."""
    folds = [part for part in problem.parts if part.kind == "fold"]
    truth, groups = problem.positions(problem.y), problem.groups
    pairs = [
        (problem.ensembles[fold.ensemble], take_rows(problem.X, fold.test))
        for fold in folds
    ]
    sure = []
    if len(problem.labels):
        sure = [
            problem.spread_out(model.predict_proba(rows), model.classes)
            for model, rows in pairs
        ]
    return HeldOut(
        [truth[fold.test] for fold in folds],
        [problem.positions(model.predict(rows)) for model, rows in pairs],
        [problem.weight[fold.test] for fold in folds],
        sure,
        () if groups is None else [groups[fold.test] for fold in folds],
    )


def mean_error(
    predicted: Sequence[np.ndarray], held: HeldOut, outcome: Outcome
) -> tuple[float, float]:
    """Mean loss on all held-out rows, and its standard error from these rows.

    Not from the few means of the folds: their variation is mostly chance, and
    stratified folds make that of a constant nearly zero. Rows of a group are not
    independent: the error is that of a sample of groups.

    Examples
    --------
    >>> from clearwood.outcomes import Mean
    >>> one, two = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    >>> held = HeldOut([one, two], [one, two], [np.ones(2)] * 2)
    >>> mean_error([one, two - 1.0], held, Mean())
    (0.5, 0.25)
    """
    joined, truth, weight = map(np.concatenate, (predicted, held.truth, held.weight))
    loss = outcome.losses(truth, joined).astype(np.float64)
    return _mean_and_spread(loss, weight, held.groups)


def constant_error(held: HeldOut, outcome: Outcome) -> float:
    """Error of a constant prediction: the most frequent class, or the mean."""
    truth, weight = map(np.concatenate, (held.truth, held.weight))
    return outcome.constant_error(truth, weight)


def mean_log_loss(
    predicted: Sequence[np.ndarray | None], held: HeldOut, outcome: Outcome
) -> tuple[float, float]:
    """Log loss against the model less the model's own, and its standard error.

    NaN where a fold has no probabilities.
    """
    known = [sure for sure in predicted if sure is not None]
    if not held.sure or len(known) < len(predicted):
        return math.nan, math.nan
    sure, joined, weight = map(np.concatenate, (held.sure, known, held.weight))
    loss = outcome.proper_losses(sure, joined)
    return _mean_and_spread(loss, weight, held.groups)


def _mean_and_spread(
    loss: np.ndarray, weight: np.ndarray, groups: Sequence[np.ndarray]
) -> tuple[float, float]:
    mean = float(np.average(loss, weights=weight))
    off = weight * (loss - mean)
    if len(groups):
        off = np.bincount(np.concatenate(groups), off).astype(np.float64)
    spread = math.sqrt(float((off**2).sum()))
    return mean, spread / float(weight.sum())


def points_of(
    method: str,
    groups: Sequence[tuple[int, ...]],
    problem: Problem,
    held: HeldOut,
    replies: dict[Job, Reply],
) -> list[FrontierPoint]:
    """Points of one method for which all results are complete.

    Parameters
    ----------
    method : str
    groups : sequence of tuple of int
        Sizes of each fit.
    problem : Problem
    held : HeldOut
    replies : dict of Job to Reply

    Returns
    -------
    list of FrontierPoint
        By number of rules; those with the same rules are merged.
    """
    points: dict[str, FrontierPoint] = {}
    for sizes in groups:
        by_kind: dict[str, list[Reply | None]] = {"fold": [], "all": [], "refit": []}
        for position, part in enumerate(problem.parts):
            by_kind[part.kind].append(replies.get(Job(method, sizes, position)))
        last = by_kind["all"][0]
        if last is None or None in by_kind["fold"]:
            continue
        folds = [reply.answers for reply in by_kind["fold"] if reply]
        refits = [reply.answers for reply in by_kind["refit"] if reply]
        if len(refits) < len(by_kind["refit"]):
            refits = []
        for answer in last.answers:
            point = _point(method, answer, folds, refits, problem, held, last.seconds)
            if point is not None:
                points.setdefault(point.text, point)
    return sorted(points.values(), key=lambda point: (point.n_rules, point.requested))


def _point(
    method: str,
    answer: SizedAnswer,
    folds: list[list[SizedAnswer]],
    refits: list[list[SizedAnswer]],
    problem: Problem,
    held: HeldOut,
    seconds: float,
) -> FrontierPoint | None:
    """One point; None where a fold found nothing of this size or less."""
    here = [_longest(answers, answer.requested) for answers in folds]
    found = [one for one in here if one is not None]
    if len(found) < len(folds):
        return None
    predicted = [one.predicted for one in found]
    outcome = problem.outcome
    error, spread = mean_error(predicted, held, outcome)
    totals = [weight.sum() for weight in held.weight]
    again = [_longest(answers, answer.requested) for answers in refits]
    pairs = []
    if len(again) > 1 and None not in again:
        pairs = pairwise_agreement([one.predicted for one in again if one], outcome)
    return FrontierPoint(
        method,
        answer.requested,
        answer.n_rules,
        answer.n_literals,
        error,
        spread,
        outcome.fidelity(*map(np.concatenate, (held.target, predicted, held.weight))),
        float(np.average([one.coverage for one in found], weights=totals)),
        float(np.average([one.overlap for one in found], weights=totals)),
        float(np.mean(pairs)) if pairs else math.nan,
        seconds,
        False,
        answer.rules,
        answer.text,
        *mean_log_loss([one.sure for one in found], held, outcome),
        tuple(_scores_by_fold(found, held, outcome)),
    )


def _scores_by_fold(
    found: Sequence[SizedAnswer], held: HeldOut, outcome: Outcome
) -> list[tuple[float, float, float]]:
    """Weight, error and log loss of each fold; the last NaN where it is unknown."""
    rows = []
    for k, one in enumerate(found):
        weight, log_loss = held.weight[k], math.nan
        loss = outcome.losses(held.truth[k], one.predicted)
        if held.sure and one.sure is not None:
            losses = outcome.proper_losses(held.sure[k], one.sure)
            log_loss = float(np.average(losses, weights=weight))
        error = float(np.average(loss, weights=weight))
        rows.append((float(weight.sum()), error, log_loss))
    return rows


def _longest(answers: list[SizedAnswer], size: int) -> SizedAnswer | None:
    """Longest answer that was requested for at most this size; None without any."""
    some = [answer for answer in answers if answer.requested <= size]
    return some[-1] if some else None


def pairwise_agreement(
    predicted: Sequence[np.ndarray], outcome: Outcome
) -> list[float]:
    """Agreement of each pair of predictions of the same rows.

    Parameters
    ----------
    predicted : sequence of ndarray of shape (n_rows,)
        Labels or values.
    outcome : Outcome

    Returns
    -------
    list of float
        Share of equal classes, or Lin's concordance of values.

    Examples
    --------
    >>> from clearwood.outcomes import Mean
    >>> one, two = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    >>> pairwise_agreement([one, one, two], Mean())
    [1.0, -1.0, -1.0]
    """
    return [outcome.concordance(a, b) for a, b in itertools.combinations(predicted, 2)]


def with_frontier(points: Sequence[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """The same points, with the Pareto-optimal ones marked."""

    def is_beaten(one: FrontierPoint) -> bool:
        return any(
            other.n_rules <= one.n_rules
            and other.error <= one.error
            and (other.n_rules, other.error) != (one.n_rules, one.error)
            for other in points
        )

    return tuple(replace(point, on_frontier=not is_beaten(point)) for point in points)


def warnings_in_words(replies: dict[Job, Reply]) -> list[str]:
    """One line for each kind of warning from the fits of a method."""
    fits = Counter(job.method for job in replies)
    warned: Counter[tuple[str, str]] = Counter()
    first: dict[tuple[str, str], str] = {}
    for job in sorted(replies):
        for kind, text in replies[job].warnings:
            first.setdefault((job.method, kind), text)
        for kind in {kind for kind, _ in replies[job].warnings}:
            warned[job.method, kind] += 1
    return [
        f"{method}: {n} of {fits[method]} fits warned ({kind}), the first: "
        f"{first[method, kind]}"
        for (method, kind), n in sorted(warned.items())
    ]
