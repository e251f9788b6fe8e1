"""Warnings on rules that are unsuitable as an explanation.

Whatever the method, rules may omit parts of the model's predictions, and a model may be
read with its classes in the wrong order. Both are detected on the rows of the fit.
"""

from __future__ import annotations

import shlex
import warnings
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import product
from clearwood._words.labels import prediction_text
from clearwood.exceptions import ClassOrderWarning
from clearwood.rules import RuleSet, Training
from clearwood.rules.scores import likelier_order, never_predicted
from clearwood.simplifiers._common.predictions import Model, answers_of

ROUNDING = 1e-9
"""Relative tolerance of equality, to the largest number."""

MARGIN = 0.005
"""Tolerance: rounding costs up to 0.00003 of R2, and the split may be from a sample."""


class Flaw(NamedTuple):
    """Deficiency of rules relative to the target of the fit.

    Attributes
    ----------
    kind : {"constant", "worse", "never_predicted"}
        One prediction for all rows; worse than a single split; a class never predicted.
    text : str
        The same as a sentence.
    """

    kind: str
    text: str


class SingleSplit(NamedTuple):
    """Fidelity of a tree with a single split to the target of the fit.

    Attributes
    ----------
    fidelity : float
    apart : float
        Variance of the class probabilities between its leaves; 0 for values.
    """

    fidelity: float
    apart: float = 0.0


def diagnose(
    rules: RuleSet, training: Training, split: SingleSplit, min_samples_leaf: int
) -> list[Flaw]:
    """Deficiencies of rules relative to the target of the fit.

    Parameters
    ----------
    rules : RuleSet
        With a maximum size of more than one.
    training : Training
        The rows of the fit, without synthetic ones.
    split : SingleSplit
        See :func:`best_single_split`.
    min_samples_leaf : int
        A class of fewer rows needs no rule.

    Returns
    -------
    list of Flaw
        Empty if there is none.
    """
    if not varies(training.target):
        return []
    outcome, matches = training.outcome, rules.matches_encoded(training.encoded)
    predicted, answers = rules.predictions_by(matches), rules.answers_by(matches)
    if not varies(answers):
        return [
            Flaw(
                "constant",
                f"These rules predict {prediction_text(predicted.tolist()[0])} for "
                "every row, although their target varies: they explain nothing.",
            )
        ]
    predicted, target = outcome.codes(predicted), training.point(training.target)
    found = []
    if outcome.estimates_truth:
        # Estimates from true values may be right where the model is not: what counts
        # is how well the regions separate its predictions.
        groups = _groups(answers)
        mass = np.bincount(groups, training.weight)
        predicted = (np.bincount(groups, training.weight * target) / mass)[groups]
    reached = outcome.fidelity(target, predicted, training.weight)
    # Rules that rank rows better than the split are no worse if classes are few.
    is_worse = reached < split.fidelity - MARGIN and not (
        training.classes
        and variance_between(_groups(answers), training.standardised, training.weight)
        > split.apart
    )
    if is_worse:
        found.append(
            Flaw(
                "worse",
                f"These rules agree with their target less ({reached:.3g}) than a "
                f"single split does ({split.fidelity:.3g}): do not use them as an "
                "explanation.",
            )
        )
    if training.classes:
        # Class weights may require a rule; counted are the predictions themselves.
        needed, rows = (
            np.bincount(points, training.counts, len(training.classes))
            for points in (target, outcome.point(training.target))
        )
        needed_classes = needed >= min_samples_leaf
        left_out = never_predicted(training.classes, predicted, needed_classes, rows)
        if left_out:
            found.append(Flaw("never_predicted", f"No rule predicts {left_out}."))
    return found


def varies(answers: np.ndarray) -> bool:
    """Whether predictions differ between rows by more than rounding."""
    return bool(np.ptp(answers, axis=0).max() > ROUNDING * np.abs(answers).max())


def variance_between(
    groups: np.ndarray, scores: np.ndarray, weight: np.ndarray
) -> float:
    """Variance between groups of rows of weighted class scores, over all classes.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])
    >>> ones = np.ones(4)
    >>> variance_between(np.array([0, 0, 1, 1]), scores, ones)
    0.0
    >>> variance_between(np.array([0, 0, 1, 2]), scores, ones)
    0.25
    """
    share = np.bincount(groups, weight) / weight.sum()
    sums = [np.bincount(groups, weight * p) for p in scores.T]
    means = np.array(sums) / (weight.sum() * share)
    centre = product(means, share)
    return float((((means - centre[:, None]) ** 2).sum(axis=0) * share).sum())


def _groups(answers: np.ndarray) -> np.ndarray:
    """Index of the group of rows with equal predictions."""
    _, groups = np.unique(answers, axis=0, return_inverse=True)
    return groups.ravel()


def warn_of_class_order(ensemble: Model, encoded: np.ndarray, y: np.ndarray) -> None:
    """Warn as in :func:`class_order_warning`, given a model and true labels."""
    classes = tuple(np.asarray(ensemble.classes).tolist())
    position = {label: i for i, label in enumerate(classes)}
    truth = np.array([position.get(label, -1) for label in y.tolist()])
    predicted = answers_of(ensemble, encoded).argmax(axis=1)
    text = class_order_warning(classes, truth, predicted)
    if text:
        warnings.warn(text, ClassOrderWarning, stacklevel=3)


def class_order_warning(
    classes: tuple[Any, ...], truth: np.ndarray, predicted: np.ndarray
) -> str | None:
    """Evidence that a model's classes are in another order, or None.

    Parameters
    ----------
    classes, truth, predicted
        As in :func:`~clearwood.rules.scores.likelier_order`.

    Examples
    --------
    >>> predicted = np.repeat([0, 1], 10)
    >>> class_order_warning(("no", "yes"), predicted, predicted)
    >>> print(class_order_warning(("no", "yes"), 1 - predicted, predicted))
    The model is wrong in 100 % of the rows, but in 0 % if its classes are, in this \
order, yes, no: pass read_ensemble(model).with_classes(['yes', 'no']), or set \
--classes yes,no.
    """
    found = likelier_order(classes, truth, predicted)
    if found is None:
        return None
    labels, text = found
    names, option = list(map(prediction_text, labels)), ""
    # The command splits its argument at every comma, and strips spaces.
    joined = ",".join(names)
    if [name.strip() for name in joined.split(",")] == names:
        option = f", or set --classes {shlex.quote(joined)}"
    return f"{text}: pass read_ensemble(model).with_classes({labels}){option}."


def best_single_split(
    training: Training, min_samples_leaf: int, most_rows: int = 20_000
) -> SingleSplit:
    """Fidelity of a tree with a single split to the target of the fit.

    The split is one of the ensemble's thresholds that rules may use, or a set of
    categories. Evaluated on the rows it is grown on, like the rules; of very many rows,
    on a random sample.
    """
    rows = np.arange(len(training))
    if len(rows) > most_rows:
        rows = np.random.default_rng(0).choice(rows, most_rows, replace=False)
    # In units in which scikit-learn resolves differences.
    target, weight = training.standardised[rows], training.weight[rows]
    weight = weight / weight.max()
    scores = target.reshape(len(target), -1)[:, 0]
    columns = training.codes[np.ix_(rows, training.used_features)].astype(np.float32)
    for column, d in zip(columns.T, training.used_features):
        if training.bins.is_category[d]:
            codes = column.astype(np.int64)
            ranks = mean_ranks(codes, scores, weight, int(training.bins.n_bins[d]))
            column[:] = ranks[codes]
    outcome, probabilities = training.outcome, target
    target = outcome.point(target)
    if not columns.size:
        columns = np.zeros((len(rows), 1), dtype=np.float32)
    least = min(min_samples_leaf, len(rows))
    make = outcome.tree_class()
    stump = make(max_depth=1, min_samples_leaf=least, random_state=0)
    stump.fit(columns, target, sample_weight=weight)
    reached = outcome.fidelity(target, stump.predict(columns), weight)
    if not training.classes:
        return SingleSplit(reached)
    leaves = stump.apply(columns)
    return SingleSplit(
        reached, variance_between(_groups(leaves), probabilities, weight)
    )


def mean_ranks(
    column: np.ndarray, score: np.ndarray, weight: np.ndarray, size: int
) -> np.ndarray:
    """Rank of every bin of a feature by the mean score of its rows.

    Among all sets of categories, the best for a score is a threshold in these ranks.

    Parameters
    ----------
    column : ndarray of integers of shape (n_rows,)
        Bin of every row.
    score, weight : ndarray of shape (n_rows,)
    size : int
        Number of bins. One without rows has mean 0.

    Returns
    -------
    ndarray of int64 of shape (size,)

    Examples
    --------
    >>> mean_ranks(np.array([0, 1, 1, 2]), np.array([3.0, 1.0, 2.0, 2.0]),
    ...            np.ones(4), size=3)
    array([2, 0, 1])
    """
    total = np.bincount(column, weights=weight, minlength=size)
    sums = np.bincount(column, weights=weight * score, minlength=size)
    mean = sums / np.maximum(total, 1e-300)
    return np.argsort(np.argsort(mean, kind="stable"))
