"""References of posterior draws in ArviZ's form, as PyMC, Stan and NumPyro write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.columns.feature_space import is_frame
from clearwood.exceptions import InputError
from clearwood.references.given import GivenDraws
from clearwood.references.tabular import count_rows

GROUPS = ("posterior_predictive", "predictions", "posterior")
SAMPLES = ("chain", "draw")
"""Dimensions of the draws; all others are of the model."""


def arviz_reference(
    data: Any,
    X: Any,
    *,
    variable: str | None = None,
    group: str | None = None,
    task: str | None = None,
    classes: Any = None,
    **settings: Any,
) -> GivenDraws:
    """Make a reference of ArviZ draws (PyMC, Stan, NumPyro) at rows of the model.

    Parameters
    ----------
    data : arviz.InferenceData or xarray.DataTree
    X : array-like or frame of shape (n_samples, n_features)
        The rows of the variable, in its order; or a pandas frame whose index holds the
        coordinates of its rows, if these are named, in any order.
    variable : str, optional
        Its name, in the posterior predictive, the predictions or the posterior; by
        default the predicted variable, or of several the observed one. Its dimensions
        besides chain and draw are that of the rows, which is as long as X, and for
        class probabilities that of the classes, for survival that of the horizons. Best
        is the mean, rate or probability, as a deterministic variable, with
        ``noise_variance`` from the draws of its scale: draws of the target include the
        noise, which cannot be separated.
    group : {"posterior_predictive", "predictions", "posterior"}, optional
        Needed if the predictions are for as many rows as the posterior predictive.
    task : {"regression", "counts"}, optional
        Whole numbers as predicted targets are labels if they are 0 and 1, and require
        ``task`` or ``classes`` otherwise. Rates of counts require ``task="counts"``.
    classes : sequence, optional
        Labels in the order of the probabilities; by default the coordinates of their
        dimension, and 0 and 1 for probabilities of a model of such targets.
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
    if X is None:
        raise InputError("Draws are predictions for rows: pass X, these rows, too.")
    group, array = _variable_of(data, variable, group, count_rows(X))
    sizes = dict(zip(array.dims, array.shape))
    rows = next(d for d in sizes if d not in SAMPLES and sizes[d] == count_rows(X))
    others = [d for d in sizes if d not in (*SAMPLES, rows) and sizes[d] > 1]
    if len(others) > 1:
        raise InputError(
            f"The variable has the dimensions {sizes}; expected chain, draw, one of "
            f"the rows ({rows!r}) and at most one of classes. Select from the others."
        )
    order = [array.dims.index(d) for d in (*SAMPLES, rows, *others)]
    single = [i for i in range(len(array.dims)) if i not in order]
    values = np.transpose(np.asarray(array.values), [*order, *single])
    values = values.reshape(-1, *[sizes[d] for d in (rows, *others)])
    values = values[:, _positions(X, _labels(array, rows, sizes[rows]))]
    if group != "posterior" and values.dtype.kind == "f" and _are_whole(values):
        values = values.astype(np.int64)  # Stan's files hold all numbers as floats.
    if classes is None and settings.get("horizons") is None:
        if others:
            classes = _labels(array, others[0], sizes[others[0]])
        elif task is None and values.dtype.kind == "f":
            classes = _classes_of_target(data, variable)
    return GivenDraws(values, X, task=task, classes=classes, **settings)


def _classes_of_target(data: Any, variable: str | None) -> list[int] | None:
    """Classes 0 and 1, if the observed target is so; an error for counts."""
    targets, drawn = (_arrays(data, g) for g in ("observed_data", GROUPS[0]))
    for name, target in targets.items() if len(targets) == 1 else ():
        if np.isin(np.asarray(target.values), [0, 1]).all():
            return [0, 1]
        if name in drawn and _are_whole(np.asarray(drawn[name].values)):
            raise InputError(
                f"The model predicts whole numbers, {name!r}: pass task='counts' if "
                f"{variable!r} holds their rates, otherwise task='regression'."
            )
    return None


def _are_whole(values: np.ndarray) -> bool:
    return not (values % 1).any()


def _variable_of(
    data: Any, variable: str | None, group: str | None, n_rows: int
) -> tuple[str, Any]:
    """Group of the variable, and its array with one value per draw and row."""
    groups = (group,) if group else GROUPS
    held = {g: arrays for g in groups if (arrays := _arrays(data, g))}
    names = {g: list(arrays) for g, arrays in held.items()}
    if variable is None:
        predicted = {name for g in held if g != "posterior" for name in held[g]}
        if len(predicted) > 1:
            predicted &= set(_arrays(data, "observed_data"))
        if len(predicted) != 1:
            raise InputError(
                "The variable of the predictions is ambiguous. Set variable=... to "
                f"one of {names}."
            )
        (variable,) = predicted
    having = [g for g in held if variable in held[g]]
    if not having:
        raise InputError(f"There is no variable {variable!r}; there are {names}.")
    fitting = [g for g in having if _has_rows(held[g][variable], n_rows)]
    if not fitting:
        found = [
            dict(zip(a.dims, a.shape)) for a in (held[g][variable] for g in having)
        ]
        raise InputError(
            f"X has {n_rows} rows, but {variable!r} has the dimensions "
            f"{' or '.join(map(str, found))}, none of which besides chain and draw is "
            "of this size. Pass the rows for which it was computed."
        )
    if len(fitting) > 1 and "predictions" in fitting:
        raise InputError(
            f"{variable!r} has {n_rows} rows in each of the groups "
            f"{', '.join(fitting)}. Pass group='predictions' if X are the rows of the "
            "predictions, otherwise another one."
        )
    return fitting[0], held[fitting[0]][variable]


def _arrays(data: Any, group: str) -> dict[str, Any]:
    """Variables of a group, if there is one."""
    return {n: data[group][n] for n in data[group].data_vars} if group in data else {}


def _has_rows(array: Any, n_rows: int) -> bool:
    sizes = zip(array.dims, array.shape)
    return set(SAMPLES) <= set(array.dims) and any(
        size == n_rows for name, size in sizes if name not in SAMPLES
    )


def _labels(array: Any, dimension: str, size: int) -> np.ndarray:
    """Coordinates of a dimension, by default 0, 1, ..."""
    if dimension not in array.coords:
        return np.arange(size)
    return np.asarray(array.coords[dimension].values)


def _positions(X: Any, labels: np.ndarray) -> np.ndarray:
    """Position of each row of X: by the labels of a frame's index, if they are named.

    Coordinates 0, 1, ... are ArviZ's default, and no names.
    """
    positions = np.arange(len(labels))
    if not (is_frame(X) and hasattr(X, "index")) or np.array_equal(labels, positions):
        return positions
    import pandas as pd

    names = pd.Index(labels)
    found = names.get_indexer(X.index) if names.is_unique else positions
    return found if np.array_equal(np.sort(found), positions) else positions
