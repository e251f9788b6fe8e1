"""References of precomputed draws at given rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.columns.cells import is_missing, unmasked
from clearwood.exceptions import InputError
from clearwood.references.base import Reference, check_noise
from clearwood.references.checks import check_draws
from clearwood.references.tabular import columns_read_by, count_rows, task_with


class GivenDraws(Reference):
    """Reference of precomputed draws at given rows, with predictions for these only.

    Rows are identified by the values of their cells, in any order.

    Parameters
    ----------
    values : array-like of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
        Means or rates; or class probabilities.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in the order of ``values``.
    n_draws : int, optional
        Number of draws to keep, evenly spaced.
    task : {"regression", "counts"}, default="regression"
        Kind of the predictions, if there are no classes.
    classes : sequence, optional
        Labels in the order of the probabilities.
    noise_variance : float or array, default=0.0
        In regression: a number, (n_draws,) or (n_draws, n_samples). Zero for draws of
        the target itself, which include the noise already.
    is_posterior : bool, default=True
        Whether the draws are from a posterior.

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
        is_posterior: bool = True,
    ) -> None:
        if X is None:
            raise InputError("Draws are predictions for rows: pass X, these rows, too.")
        values = np.asarray(unmasked(values))
        if values.ndim < 2 or not len(values):
            raise InputError(
                f"Draws have shape {values.shape}; expected (n_draws, n_samples), or "
                "(n_draws, n_samples, n_classes) and classes."
            )
        n_rows, self.n_draws = count_rows(X), n_draws or len(values)
        if values.shape[1] != n_rows == len(values):
            raise InputError(
                f"Draws have shape {values.shape}, with rows of X first; expected "
                "draws first: pass numpy.swapaxes(draws, 0, 1)."
            )
        if self.n_draws > len(values):
            raise InputError(
                f"n_draws is {n_draws}, but there are {len(values)} draws."
            )
        kept = np.linspace(0, len(values) - 1, self.n_draws).round().astype(int)
        self.task, self.classes = task_with(classes, task)
        self.is_posterior = is_posterior
        self.description = f"{self.n_draws} draws at {n_rows} rows"
        self._values = check_draws(values[kept], self, n_rows)
        self.noise = check_noise(noise_variance, len(values), n_rows)[kept]
        self.features = columns_read_by(None, X)
        self._position = self._positions_of(X)

    def _positions_of(self, X: Any) -> dict[tuple[Any, ...], int]:
        position: dict[tuple[Any, ...], int] = {}
        for i, cells in enumerate(self._cells(X)):
            first = position.setdefault(cells, i)
            if i != first and (self._values[:, i] != self._values[:, first]).any():
                raise InputError(
                    f"Rows {first} and {i} are equal, but their draws differ. Pass "
                    "draws of the mean and noise_variance instead of draws of the "
                    "target, and an X with all columns that the draws depend on."
                )
        return position

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
        """The draws at these rows; see :meth:`Reference.draws`."""
        return self._values[:, self._look_up(X)]

    def noise_variance(self, X: Any) -> np.ndarray:
        """Noise variance as passed; see :meth:`Reference.noise_variance`."""
        return self.noise[:, self._look_up(X)]


def arviz_reference(
    data: Any, X: Any, *, variable: str | None = None, **settings: Any
) -> GivenDraws:
    """Make a reference of ArviZ draws (PyMC, Stan, NumPyro) at the rows of the model.

    Parameters
    ----------
    data : arviz.InferenceData or xarray.DataTree
    X : array-like or frame of shape (n_samples, n_features)
        The rows of the variable, in its order.
    variable : str, optional
        Its name, in the posterior predictive, the predictions or the posterior, of
        dimensions (chain, draw, row) or (chain, draw, row, class). May be omitted if
        the posterior predictive has one only. Best is the mean, as a deterministic
        variable, with ``noise_variance`` from the draws of its scale: draws of the
        target include the noise, which cannot be separated.
    **settings
        Parameters of :class:`GivenDraws`.

    Returns
    -------
    GivenDraws

    Examples
    --------
    >>> sigma = data.posterior["sigma"].values.ravel()  # doctest: +SKIP
    >>> arviz_reference(
    ...     data, X, variable="mu", noise_variance=sigma**2
    ... )  # doctest: +SKIP
    <GivenDraws: 4000 draws at 442 rows>
    """
    groups = ("posterior_predictive", "predictions", "posterior")
    held = {g: list(data[g].data_vars) for g in groups if g in data}
    if variable is None:
        names = held.get("posterior_predictive", [])
        if len(names) != 1:
            raise InputError(
                "The variable of the predictions is ambiguous. Set variable=... to "
                f"one of {held}."
            )
        variable = names[0]
    group = next((g for g, names in held.items() if variable in names), None)
    if group is None:
        raise InputError(f"There is no variable {variable!r}; there are {held}.")
    values = np.asarray(data[group][variable].values)
    return GivenDraws(values.reshape(-1, *values.shape[2:]), X, **settings)
