"""Rows of folds and bootstrap refits, and the jobs that use them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric.fold_roles import draw_folds, fold_roles
from clearwood.outcomes import Outcome, outcome_of
from clearwood.rules import RuleSet
from clearwood.simplifiers._common.predictions import Model

ALL_SMALL = 4
"""Up to this size, methods that fit one size at a time fit all sizes."""

GROWTH = 1.5
"""Ratio of consecutive larger sizes."""

MOST_JUDGED = 10_000
"""Maximum number of rows on which refits are compared; a random sample of more."""


class Part(NamedTuple):
    """Rows of one fit.

    Attributes
    ----------
    kind : {"fold", "all", "refit"}
    weight : ndarray of shape (n_rows,)
        Weight of each row in the fit; 0 for held-out rows.
    test : ndarray of int
        Rows to predict: those held out, or those on which refits are compared.
    ensemble : int
        Index of the ensemble whose predictions are the target.
    seed : int
    """

    kind: str
    weight: np.ndarray
    test: np.ndarray
    ensemble: int
    seed: int


class Problem(NamedTuple):
    """Everything that a worker needs.

    Attributes
    ----------
    X : ndarray or frame
    y : ndarray
    weight : ndarray
        As given; ones where none were.
    is_weighted : bool
    ensembles : tuple of TreeEnsemble or BlackBox
        One, or one per fold and one of all rows.
    labels : ndarray
        All labels in order; empty in regression. Predictions are positions in it.
    parts : tuple of Part
    target : str
        Name of the target.
    pickled_models : tuple of bytes
        The models themselves, in the order of the ensembles, for peers that read no
        ``TreeEnsemble``; empty where they are not needed or cannot be pickled.
    groups : ndarray or None
        Code of the group of each row, where given.
    cv : splitter of scikit-learn or None
        How rows are held out for the estimates of the final rules.
    """

    X: Any
    y: np.ndarray
    weight: np.ndarray
    is_weighted: bool
    ensembles: tuple[Model, ...]
    labels: np.ndarray
    parts: tuple[Part, ...]
    target: str = "y"
    pickled_models: tuple[bytes, ...] = ()
    groups: np.ndarray | None = None
    cv: Any = None

    @property
    def outcome(self) -> Outcome:
        """Type of outcome, with all labels as classes."""
        return outcome_of(self.labels)

    def positions(self, predicted: np.ndarray) -> np.ndarray:
        """Labels as positions in ``labels``; values unchanged."""
        if not len(self.labels):
            return predicted
        return np.searchsorted(self.labels, predicted).astype(np.int32)

    def spread_out(self, probabilities: np.ndarray, classes: Any) -> np.ndarray:
        """Expand probabilities of some classes to all ``labels``."""
        found = np.zeros((len(probabilities), len(self.labels)))
        found[:, self.positions(np.asarray(classes))] = probabilities
        return found


class Job(NamedTuple):
    """One fit: a method, its sizes, and the rows."""

    method: str
    sizes: tuple[int, ...]
    part: int


class SizedAnswer(NamedTuple):
    """Result of a method for one size.

    Attributes
    ----------
    requested : int
        The smallest requested size that gives it.
    n_rules, n_literals : int
    predicted : ndarray
        Predictions of the rows ``test``: values, or positions in the problem's labels.
    coverage, overlap : float
        On these rows; NaN for peers.
    rules : RuleSet or None
        Rules of the fit on all rows; None for other fits and for peers.
    text : str
        Printed form of the rules.
    sure : ndarray of shape (n_known, n_labels), or None
        Class probabilities of the held-out rows of a fold, by the problem's labels;
        None for peers and in regression.
    """

    requested: int
    n_rules: int
    n_literals: int
    predicted: np.ndarray
    coverage: float = math.nan
    overlap: float = math.nan
    rules: RuleSet | None = None
    text: str = ""
    sure: np.ndarray | None = None


class Reply(NamedTuple):
    """Reply of a worker to a job.

    Attributes
    ----------
    answers : list of SizedAnswer
    seconds : float
        Of the fit.
    error : str
        Reason why there are no answers; empty otherwise.
    warnings : tuple of (str, str)
        Kind and text of every warning.
    """

    answers: list[SizedAnswer]
    seconds: float
    error: str = ""
    warnings: tuple[tuple[str, str], ...] = ()


def deal_folds(
    y: np.ndarray,
    cv: Any,
    is_class: bool,
    generator: np.random.Generator,
    groups: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of the fit and held-out rows of each fold, as of ``fold_roles``.

    A number without groups means random folds of equal size, stratified by class. The
    rows of a class are dealt out in turn, so that a class with fewer rows than folds is
    held out once per row, and one with two rows or more is always in the training rows.

    Examples
    --------
    >>> y = np.array(["a", "b", "a", "b", "a", "b", "b", "b"])
    >>> folds = deal_folds(y, 2, True, np.random.default_rng(0))
    >>> [sorted(y[held].tolist()) for _, held in folds]
    [['a', 'a', 'b', 'b'], ['a', 'b', 'b', 'b']]
    """
    n_rows, labels = len(y), y if is_class else None
    if groups is not None or not isinstance(cv, Integral):
        roles = fold_roles(cv, groups, labels, n_rows)
        return draw_folds(n_rows, roles, generator, n_rows)
    order = generator.permutation(n_rows)
    if is_class:
        code = np.unique(y, return_inverse=True)[1]
        order = order[np.argsort(code[order], kind="stable")]
    held = [np.sort(order[k :: int(cv)]) for k in range(int(cv))]
    return [(np.setdiff1d(order, part), part) for part in held]


def make_parts(
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    weight: np.ndarray,
    n_refits: int,
    one_ensemble: bool,
    generators: Sequence[np.random.Generator],
    groups: np.ndarray | None = None,
) -> tuple[Part, ...]:
    """Parts for all folds, all rows, and all refits, in this order.

    Parameters
    ----------
    folds : sequence of (ndarray, ndarray)
        Rows of the fit, and held-out rows.
    weight : ndarray of shape (n_rows,)
    n_refits : int
    one_ensemble : bool
        Whether one ensemble serves all parts, or each fold has its own.
    generators : sequence of Generator
        One per part.
    groups : ndarray of shape (n_rows,), optional
        Code of the group of each row: bootstrap samples are of whole groups.
    """
    n_rows = len(weight)
    last = 0 if one_ensemble else len(folds)
    parts = []
    for k, (rows, held) in enumerate(folds):
        kept = np.zeros_like(weight)
        kept[rows] = weight[rows]
        parts.append(Part("fold", kept, held, min(k, last), 0))
    nothing = np.zeros(0, dtype=np.int64)
    parts.append(Part("all", weight, nothing, last, 0))
    judged = np.arange(n_rows)
    if n_refits and n_rows > MOST_JUDGED:
        judged = np.sort(generators[-1].choice(n_rows, MOST_JUDGED, replace=False))
    for generator in generators[len(parts) : len(parts) + n_refits]:
        drawn = bootstrap_weight(weight, generator, groups)
        parts.append(Part("refit", drawn, judged, last, 0))
    # The same seed for all methods, so that the results of one do not depend on others.
    return tuple(
        part._replace(seed=int(generator.integers(2**31)))
        for part, generator in zip(parts, generators)
    )


def bootstrap_weight(
    weight: np.ndarray,
    generator: np.random.Generator,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Number of times each row, or its group, is drawn, times the row's weight.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_weight(np.array([1.0, 0.0, 2.0]), np.random.default_rng(0))
    array([0., 0., 4.])
    """
    groups = np.arange(len(weight)) if groups is None else groups
    counted = np.unique(groups[weight > 0])
    drawn = generator.choice(counted, size=len(counted))
    return np.bincount(drawn, minlength=groups.max() + 1)[groups] * weight


def few_sizes(max_rules: int) -> list[int]:
    """Sizes for methods that fit one size at a time.

    Examples
    --------
    >>> few_sizes(10), few_sizes(3), few_sizes(30)
    ([1, 2, 3, 4, 6, 10], [1, 2, 3], [1, 2, 3, 4, 6, 9, 14, 21, 30])
    """
    sizes = list(range(1, min(max_rules, ALL_SMALL) + 1))
    while (larger := math.ceil(GROWTH * sizes[-1])) < max_rules:
        sizes.append(larger)
    # One just below the last would give nearly the same result.
    if len(sizes) > ALL_SMALL and max_rules < 1.25 * sizes[-1]:
        sizes.pop()
    return sizes if sizes[-1] == max_rules else [*sizes, max_rules]


def make_jobs(
    method: str, groups: Sequence[tuple[int, ...]], parts: Sequence[Part]
) -> list[Job]:
    """All fits of a method, in order of priority.

    First the fits that make points, the smallest size first; then those for stability.
    """
    order = ("fold", "all"), ("refit",)
    return [
        Job(method, sizes, position)
        for kinds in order
        for sizes in groups
        for position, part in enumerate(parts)
        if part.kind in kinds
    ]
