"""References of precomputed draws at given rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.columns.cells import is_missing, unwrapped
from clearwood.exceptions import InputError
from clearwood.references.base import Reference, check_noise
from clearwood.references.checks import check_draws
from clearwood.references.tabular import (
    columns_read_by,
    count_rows,
    task_with,
    times_of,
)
from clearwood.references.truncated import check_normal, truncated


class GivenDraws(Reference):
    """Reference of precomputed draws at given rows, with predictions for these only.

    Rows are identified by the values of their cells, in any order.

    Integer draws are draws of labels or of counts or, with horizons, of 1 while a row
    is alive and 0 after its event. They include the variation of an observation, which
    a reference adds itself, so that their mean is the only draw, and rows with equal
    cells share it. Draws of probabilities or rates are better.

    Parameters
    ----------
    values : array-like of shape (n_draws, n_samples) or (n_draws, n_samples, n_outputs)
        Means or rates; or class probabilities, of two classes those of the second one
        suffice; or labels or counts, as integers; or probabilities of survival beyond
        each horizon, of one horizon without a dimension of its own, too. Chains may be
        a further dimension before these.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in the order of ``values``.
    n_draws : int, optional
        Number of draws to keep, evenly spaced.
    task : {"regression", "counts", "survival"}, optional
        Kind of the predictions, if there are no classes. By default integers 0 and 1
        are labels, all numbers that are not integers regression, and all draws with
        ``horizons`` survival.
    classes : sequence, optional
        Labels in the order of the probabilities. Integer draws are labels if these are
        numbers, else their positions.
    noise_variance : float or array, default=0.0
        In regression: a number, (n_draws,) or (n_draws, n_samples). Zero for draws of
        the target itself, which include the noise already.
    bounds, horizons, time_unit, is_posterior
        As in :class:`FunctionReference`.

    Examples
    --------
    >>> reference = GivenDraws([[1.0, 2.0], [3.0, 2.0]], [[0.5], [0.7]])
    >>> reference.draws([[0.7]]).tolist()
    [[2.0], [2.0]]
    """

    features: Any

    def __init__(
        self,
        values: Any,
        X: Any,
        *,
        n_draws: int | None = None,
        task: str | None = None,
        classes: Sequence[Any] | None = None,
        noise_variance: Any = 0.0,
        bounds: Sequence[float] | None = None,
        horizons: Any = None,
        time_unit: str = "",
        is_posterior: bool = True,
    ) -> None:
        if X is None:
            raise InputError("Draws are predictions for rows: pass X, these rows, too.")
        values = np.asarray(unwrapped(values))
        self.horizons, self.time_unit = times_of(horizons, time_unit)
        has_outputs = classes is not None or bool(self.horizons)
        n_rows, given = count_rows(X), values.shape
        # Of one horizon, or two classes, outputs may have no dimension.
        is_bare = values.ndim == 3 and values.shape[1] != n_rows == values.shape[2]
        if values.ndim == (4 if has_outputs and not is_bare else 3):
            values = values.reshape(-1, *values.shape[2:])
        if values.ndim < 2 or not len(values):
            raise InputError(
                f"Draws have shape {values.shape}; expected (n_draws, n_samples), or "
                "(n_draws, n_samples, n_outputs) with classes or horizons."
            )
        self.n_draws = n_draws or len(values)
        if values.shape[1] != n_rows == len(values):
            raise InputError(
                f"Draws have shape {values.shape}, with rows of X first; expected "
                "draws first: pass numpy.swapaxes(draws, 0, 1)."
            )
        if values.shape[1] != n_rows:
            raise InputError(
                f"Draws have shape {given}, and X has {n_rows} rows; expected shape "
                f"(n_draws, {n_rows}), or, with chains first, (n_chains, n_draws, "
                f"{n_rows}). Draws of probabilities have one further dimension at the "
                "end: pass classes=[...] for those of classes, horizons=[...] for "
                "those of survival."
            )
        if self.n_draws > len(values):
            raise InputError(
                f"n_draws is {n_draws}, but there are {len(values)} draws."
            )
        kept = np.linspace(0, len(values) - 1, self.n_draws).round().astype(int)
        values, noise = values[kept], check_noise(noise_variance, len(values), n_rows)
        self.noise, self.is_posterior = noise[kept], is_posterior
        self.description = f"{self.n_draws} draws at {n_rows} rows"
        self.features = columns_read_by(None, X)
        are_outcomes = values.dtype.kind in "biu" and task != "regression"
        if are_outcomes and self.horizons:
            values, kind = _mean_of_indicators(values), "survival"
        elif are_outcomes:
            values, classes = _mean_of_outcomes(values, classes, task)
            kind = "counts" if classes is None else "labels"
        if are_outcomes:
            self.description = (
                f"mean of {self.n_draws} draws of {kind} at {n_rows} rows"
            )
            self.n_draws, self.is_posterior, self.noise = 1, False, self.noise[:1]
        self.task, self.classes = task_with(classes, task, self.horizons)
        self._values = check_draws(values, self, n_rows)
        inside = check_normal(noise_variance, bounds, self.task)
        if inside:
            self._values, self.noise = truncated(self._values, self.noise, inside)
        self._position: dict[tuple[Any, ...], int] = {}
        cells = enumerate(self._cells(X))
        first = np.array([self._position.setdefault(cell, i) for i, cell in cells])
        if are_outcomes:
            total = np.zeros_like(self._values)
            np.add.at(total[0], first, self._values[0])
            count = np.bincount(first)[first].reshape(-1, *[1] * (total.ndim - 2))
            self._values = total[:, first] / count
        differ = (self._values != self._values[:, first]).any(axis=0)
        if differ.any():
            i = int(np.argwhere(differ)[0, 0])
            raise InputError(
                f"Rows {first[i]} and {i} are equal, but their draws differ. Pass "
                "draws of the mean and noise_variance instead of draws of the "
                "target, and an X with all columns that the draws depend on."
            )

    def _cells(self, X: Any) -> list[tuple[Any, ...]]:
        columns = [
            [None if is_missing(cell) else cell for cell in column.tolist()]
            for column in self.features.columns(X)
        ]
        return list(zip(*columns))

    def _look_up(self, X: Any) -> list[int]:
        rows = self._cells(X)
        unknown = [i for i, cells in enumerate(rows) if cells not in self._position]
        if unknown:
            raise InputError(
                f"{len(unknown)} of {len(rows)} rows, the first is row {unknown[0]}, "
                f"are not among the {len(self._position)} rows with draws. Pass draws "
                "for these rows, too, or, to predict any row, the model or a function "
                "(X, draw)."
            )
        return [self._position[cells] for cells in rows]

    def draws(self, X: Any) -> np.ndarray:
        """The draws at these rows; see :meth:`~clearwood.Reference.draws`."""
        return self._values[:, self._look_up(X)]

    def noise_variance(self, X: Any) -> np.ndarray:
        """Noise variance as passed; see :meth:`~clearwood.Reference.noise_variance`."""
        return self.noise[:, self._look_up(X)]


def _mean_of_indicators(values: np.ndarray) -> np.ndarray:
    """Mean of draws of 1 while a row is alive and 0 after its event."""
    if not np.isin(values, [0, 1]).all():
        raise InputError(
            f"The draws are integers from {values.min()} to {values.max()}; with "
            "horizons expected probabilities of survival, or 1 beyond a horizon and 0 "
            "after the event. Of draws of times pass draws[..., None] > horizons."
        )
    return values.mean(axis=0, keepdims=True)


def _mean_of_outcomes(values: np.ndarray, classes: Any, task: str | None) -> Any:
    """Mean of draws of labels or counts, as the only draw, and the classes."""
    if classes is None and task is None and not np.isin(values, [0, 1]).all():
        raise InputError(
            f"The draws are integers from {values.min()} to {values.max()}: pass "
            'task="counts" for counts, classes=[...] for labels, in the order of '
            'their numbers, or task="regression".'
        )
    if classes is None and task is None:
        classes = np.array([0, 1], dtype=values.dtype)
    if classes is not None and values.ndim == 2:
        labels = np.asarray(classes)
        numbers = labels if labels.dtype.kind in "biuf" else np.arange(len(labels))
        unknown = values[~np.isin(values, numbers)]
        if len(unknown):
            raise InputError(
                f"The draws hold the label {unknown[0]}, which is none of "
                f"{numbers.tolist()} of the classes {labels.tolist()}. Pass all "
                "classes, in the order of their numbers."
            )
        values = values[..., None] == numbers
    return values.mean(axis=0, keepdims=True), classes
