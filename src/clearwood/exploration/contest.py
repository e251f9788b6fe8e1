"""Models on held-out rows: folds, scores, and the choice of one model.

All models are fitted to the same folds. The scores of the best of several models on the
rows by which it was chosen are too good; so the model is chosen anew for each fold,
by its loss on the rows of the other folds, and the scores of these choices, each on its
own fold, are those reported for the recommended model.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.model_selection import KFold, StratifiedKFold

from clearwood._estimators import take_rows
from clearwood._numeric.progress import progress
from clearwood._tables.target import Labelled
from clearwood._warned_once import users_level
from clearwood.exceptions import ClearwoodError, InterruptedFitWarning, ModelError
from clearwood.exploration.contenders import BOOSTING, MOST_PARTS, Contender
from clearwood.outcomes import Outcome, outcome_of
from clearwood.simplifiers._common.size_path import ENOUGH_ERRORS

N_FOLDS = 5


class HeldOutScores(NamedTuple):
    """Scores on held-out rows, with standard errors; NaN where there are none.

    Attributes
    ----------
    loss, loss_error : float
        Log loss, or root mean squared error.
    auc, auc_error : float
        Area under the ROC curve, for two classes.
    accuracy : float
        Share of correct classes.
    """

    loss: float
    loss_error: float
    auc: float = math.nan
    auc_error: float = math.nan
    accuracy: float = math.nan


class Entry(NamedTuple):
    """A model, its predictions for held-out rows, and the fit to all rows.

    Attributes
    ----------
    contender : Contender
    predicted : ndarray
        Values, or a column of probabilities per class.
    losses : ndarray of shape (n_rows,)
    scores : HeldOutScores
    seconds : float
        Of the fit to all rows.
    fitted : estimator
    """

    contender: Contender
    predicted: np.ndarray
    losses: np.ndarray
    scores: HeldOutScores
    seconds: float = 0.0
    fitted: Any = None

    @property
    def size(self) -> float:
        """Number of literals or terms; NaN if it cannot be printed in full."""
        return math.nan if self.fitted is None else self.contender.size(self.fitted)

    @property
    def is_readable(self) -> bool:
        """Whether it predicts by something, and prints in full."""
        return 1 <= self.size <= MOST_PARTS


class Task(NamedTuple):
    """Rows, and the positions or values to predict.

    Attributes
    ----------
    X : frame
    y : ndarray
        Labels or values.
    target : str
        Their name.
    outcome : Outcome
    folds : list of (ndarray, ndarray)
        Rows to fit to, and held-out rows.
    """

    X: Any
    y: np.ndarray
    target: str
    outcome: Outcome
    folds: list[tuple[np.ndarray, np.ndarray]]

    @classmethod
    def from_labelled(cls, rows: Labelled, target: str, seed: int) -> Task:
        """Deal folds, stratified by class."""
        is_class = rows.task == "classification"
        outcome = outcome_of(np.unique(rows.y) if is_class else ())
        dealer = StratifiedKFold if is_class else KFold
        folds = dealer(N_FOLDS, shuffle=True, random_state=seed)
        return cls(rows.X, rows.y, target, outcome, list(folds.split(rows.X, rows.y)))

    @property
    def points(self) -> np.ndarray:
        """Values, or positions of the classes."""
        classes = self.outcome.classes
        return np.searchsorted(classes, self.y) if classes else self.y

    def entry(self, contender: Contender, predicted: np.ndarray, **more: Any) -> Entry:
        """Scores of predictions for all rows."""
        answers = self.outcome.certain(self.points)
        losses = self.outcome.proper_losses(answers, predicted)
        return Entry(
            contender, predicted, losses, self.scores(losses, predicted), **more
        )

    def scores(self, losses: np.ndarray, predicted: np.ndarray) -> HeldOutScores:
        """Scores of predictions for all rows, from their losses."""
        mean, error = losses.mean(), losses.std() / math.sqrt(len(losses))
        if not self.outcome.classes:
            root = math.sqrt(mean)
            return HeldOutScores(root, error / (2 * root) if root else 0.0)
        is_right = predicted.argmax(axis=1) == self.points
        auc = (math.nan, math.nan)
        if predicted.shape[1] == 2:
            auc = auc_and_error(self.points == 1, predicted[:, 1])
        return HeldOutScores(mean, error, *auc, float(is_right.mean()))

    def constant(self) -> Entry:
        """Shares of the classes, or the mean, of the other folds."""
        answers = self.outcome.certain(self.points).astype(float)
        predicted = np.empty_like(answers)
        for kept, held in self.folds:
            predicted[held] = answers[kept].mean(axis=0)
        entry = self.entry(Contender("constant", lambda *_: None), predicted)
        # Constants of different folds do not rank their rows.
        return entry._replace(scores=entry.scores._replace(auc=math.nan))

    def predict(self, fitted: Any, X: Any) -> np.ndarray:
        """Values, or probabilities of the classes in order."""
        if not self.outcome.classes:
            return np.asarray(fitted.predict(X), dtype=float)
        known = fitted.classes_ if hasattr(fitted, "classes_") else fitted.classes
        if len(known) != len(self.outcome.classes):
            raise ModelError(
                f"The model has {len(known)} classes, but {self.target} has "
                f"{len(self.outcome.classes)}."
            )
        return np.asarray(fitted.predict_proba(X))[:, np.argsort(known)]


def auc_and_error(positive: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """Area under the ROC curve, and its standard error (DeLong et al., 1988).

    Examples
    --------
    >>> auc_and_error(np.array([False, True, False, True]), np.array([1, 2, 3, 4]))
    (0.75, 0.25)
    """
    n, m = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(score)
    # Shares of the rows of the other class that each row is ranked correctly with.
    of_positive = (ranks[positive] - rankdata(score[positive])) / m
    of_negative = 1 - (ranks[~positive] - rankdata(score[~positive])) / n
    error = math.sqrt(of_positive.var() / n + of_negative.var() / m)
    return float(of_positive.mean()), error


def fit_all(
    task: Task,
    contenders: Sequence[Contender],
    seed: int,
    ends: float,
    verbose: bool,
) -> tuple[tuple[Entry, ...], list[str]]:
    """Fit contenders to each fold, and to all rows, until the time is over.

    Parameters
    ----------
    task : Task
    contenders : sequence of Contender
        The first is the gradient boosting that rules may approximate.
    seed : int
    ends : float
        Time, on the monotonic clock, at which no further fit begins. The boosting and
        the first readable model are always fitted.
    verbose : bool

    Returns
    -------
    entries : tuple of Entry
        The constant, and the models that were fitted in time.
    notes : list of str
        Sentences on the others.
    """
    boosted: list[Any] = [None] * (N_FOLDS + 1)
    entries, notes = [task.constant()], []
    least = 0.0
    n_always = 1 + next(i for i, one in enumerate(contenders) if one.parts)
    shown = progress(contenders, len(contenders), "models", verbose)
    try:
        for number, contender in enumerate(shown):
            limit = math.inf if number < n_always else ends
            try:
                found, models = _fit(task, contender, boosted, seed, limit, least)
            except Exception as error:  # of any library: the others are still fitted
                own = isinstance(error, ClearwoodError)
                kind = "" if own else f"{type(error).__name__}: "
                notes.append(f"{contender.title}: {kind}{error}")
                continue
            if not found:
                notes.append(f"{contender.title}: left out, as the time is over.")
            if contender.name == BOOSTING:
                boosted, least = models, found[0].seconds
            # A short model may be the same as one that was not limited.
            entries += [
                entry
                for entry in found
                if not any(np.array_equal(entry.losses, e.losses) for e in entries)
            ]
    except KeyboardInterrupt:
        warnings.warn(
            "Interrupted: the result holds the models fitted until then.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
        notes.append("The fits were interrupted; some models are missing.")
    return tuple(entries), notes


def _fit(
    task: Task,
    contender: Contender,
    boosted: list[Any],
    seed: int,
    ends: float,
    least: float,
) -> tuple[list[Entry], list[Any]]:
    """Entries of all sizes, and the models of the folds; none if there is no time.

    ``least`` is the expected time of the first fit, in seconds.
    """
    rows = [*task.folds, (np.arange(len(task.y)), np.arange(0))]
    answers: list[list[np.ndarray]] = []
    models: list[Any] = []
    start = time.monotonic()
    for (kept, held), boosting in zip(rows, boosted):
        began = time.monotonic()
        each = (began - start) / len(models) if models else least
        if began + each * (len(rows) - len(models)) > ends:
            return [], []
        with warnings.catch_warnings():
            # Such as those of poor fidelity: here a model is judged by its scores.
            warnings.simplefilter("ignore")
            y = pd.Series(task.y[kept], name=task.target)
            model = contender.fit(take_rows(task.X, kept), y, boosting, seed)
            sizes = contender.of_sizes(model)
            X = take_rows(task.X, held)
            answers.append([task.predict(one, X) for one in sizes if len(held)])
        models.append(model)
    seconds = time.monotonic() - began
    entries: dict[float, Entry] = {}
    for position, fitted in enumerate(sizes):
        predicted = np.empty(task.outcome.certain(task.points).shape)
        for (_, held), of_fold in zip(task.folds, answers):
            predicted[held] = of_fold[position]
        entry = task.entry(contender, predicted, seconds=seconds, fitted=fitted)
        entries.setdefault(entry.size, entry)
    return list(entries.values()), models


def choose(task: Task, entries: Sequence[Entry]) -> tuple[Entry, Entry, int] | None:
    """The recommended model, and the scores of such a choice.

    Returns
    -------
    best : Entry
    chosen : Entry
        Predictions for each fold of the model that is recommended by all other folds.
    n_same : int
        Number of folds for which this is a model of the same kind.
    """
    readable = [entry for entry in entries if entry.is_readable]
    if not readable:
        return None
    best = _shortest(readable, np.arange(len(task.y)))
    predicted, n_same = np.empty_like(best.predicted), 0
    for kept, held in task.folds:
        of_fold = _shortest(readable, kept)
        predicted[held] = of_fold.predicted[held]
        n_same += of_fold.contender is best.contender
    return best, task.entry(best.contender, predicted), n_same


def _shortest(entries: Sequence[Entry], rows: np.ndarray) -> Entry:
    """The shortest model whose loss is within half a standard error of the least.

    The standard error is that of the difference.
    """
    least = min(entries, key=lambda entry: entry.losses[rows].mean())

    def is_enough(entry: Entry) -> bool:
        more = entry.losses[rows] - least.losses[rows]
        error = more.std() / math.sqrt(len(rows))
        return bool(more.mean() <= ENOUGH_ERRORS * error)

    return min(filter(is_enough, entries), key=lambda entry: entry.size)
