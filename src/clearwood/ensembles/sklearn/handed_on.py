"""Columns of the data traced through the steps of a pipeline.

Steps that treat one column at a time (scaling, one-hot and ordinal encoding, imputation
by a constant, selection) output columns each of which is a function of one column of
the data. Scaling is computed as scikit-learn computes it, encoders are called
themselves: the results are those that reach the model, bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from clearwood._estimators import columns_of_transformers, output_columns
from clearwood.columns.cells import is_missing
from clearwood.ensembles.sklearn.which_class import is_a, kind_of, public_name
from clearwood.exceptions import ModelError

Step = Callable[[np.ndarray], np.ndarray]

NEVER_SEEN = "\0 never seen"
"""A cell that belongs to no category of any encoder."""


@dataclass(frozen=True)
class HandedOn:
    """Column of the data after some steps.

    Parameters
    ----------
    source : int
        The column of the data that it comes from.
    steps : tuple of callable
        Functions applied to its cells, in order.
    labels : tuple, optional
        Categories of the encoder that the cells were looked up in.
    was_scaled : bool, default=False
        Whether cells that are not missing were changed without a lookup.
    """

    source: int
    steps: tuple[Step, ...] = ()
    labels: tuple[Hashable, ...] | None = None
    was_scaled: bool = False

    def after(self, step: Step, **changes: Any) -> HandedOn:
        """Copy after one more step."""
        return replace(self, steps=(*self.steps, step), **changes)

    def values(self, cells: Sequence[Any] | np.ndarray) -> np.ndarray:
        """Numbers that the steps make of some cells of the source.

        Raises
        ------
        ValueError
            A step refuses one of them.
        """
        column = np.asarray(cells)
        if self.labels is not None:
            column = np.empty(len(cells), dtype=object)
            column[:] = cells
        for step in self.steps:
            column = step(column)
        return column.astype(np.float64)


def follow(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    """Output columns of a fitted step for given input columns.

    Raises
    ------
    ModelError
        A column is made of several, or by an unsupported step.

    Examples
    --------
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> scaler = MinMaxScaler().fit([[0.0, 5.0], [4.0, 7.0]])
    >>> first, second = follow(scaler, [HandedOn(0), HandedOn(1)])
    >>> second.source, second.values([5.0, 6.0, np.nan])
    (1, array([0. , 0.5, nan]))
    """
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return list(columns)
    if isinstance(step, str):  # "drop"
        return []
    kind = kind_of(step, FOLLOWED)
    if kind is None:
        raise ModelError(
            f"{public_name(step)} makes columns in a way that is not followed; these "
            f"steps are: {', '.join(FOLLOWED)}"
        )
    return FOLLOWED[kind](step, columns)


# Steps of several parts


def _pipeline(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    for _, part in step.steps:
        columns = follow(part, columns)
    return list(columns)


def _column_transformer(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    made = []
    for part, places in columns_of_transformers(step):
        if places:  # A part without columns is not even fitted.
            made += follow(part, [columns[i] for i in places])
    return made


def _union(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    if step.transformer_weights:
        raise ModelError("a FeatureUnion with weights is not followed")
    return [made for _, part in step.transformer_list for made in follow(part, columns)]


def _selection(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    return [columns[i] for i in step.get_support(indices=True)]


def _function(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    if step.func is not None:
        raise ModelError("a FunctionTransformer with a function is not followed")
    return list(columns)


# Numbers into numbers


def _scaler(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    kind = kind_of(step, SCALERS) or ""
    return [
        column.after(partial(SCALERS[kind], step, i), was_scaled=True)
        for i, column in enumerate(columns)
    ]


def _standard(step: Any, i: int, x: np.ndarray) -> np.ndarray:
    x = x - step.mean_[i] if step.with_mean else x
    return x / step.scale_[i] if step.with_std else x


def _min_max(step: Any, i: int, x: np.ndarray) -> np.ndarray:
    x = x * step.scale_[i] + step.min_[i]
    return np.clip(x, *step.feature_range) if step.clip else x


def _max_abs(step: Any, i: int, x: np.ndarray) -> np.ndarray:
    x = x / step.scale_[i]
    return np.clip(x, -1.0, 1.0) if getattr(step, "clip", False) else x


def _robust(step: Any, i: int, x: np.ndarray) -> np.ndarray:
    x = x - step.center_[i] if step.with_centering else x
    return x / step.scale_[i] if step.with_scaling else x


def _imputer(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    if not is_missing(step.missing_values):
        raise ModelError(
            f"a SimpleImputer with missing_values={step.missing_values!r} is not "
            "followed"
        )
    if any(is_missing(fill) for fill in step.statistics_):
        raise ModelError("a SimpleImputer of a column without any value is dropped")
    made = [
        column.after(partial(_fill, fill))
        for column, fill in zip(columns, step.statistics_)
    ]
    if step.indicator_ is not None:
        made += follow(step.indicator_, columns)
    return made


def _fill(fill: Any, cells: np.ndarray) -> np.ndarray:
    gaps = _gaps(cells)
    if not gaps.any():
        return cells
    filled = cells.copy()
    filled[gaps] = fill
    return filled


def _indicator(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    return [columns[i].after(_flags, was_scaled=True) for i in step.features_]


def _flags(cells: np.ndarray) -> np.ndarray:
    return _gaps(cells).astype(np.float64)


def _gaps(cells: np.ndarray) -> np.ndarray:
    return np.array([is_missing(cell) for cell in cells.tolist()], dtype=bool)


# Categories into numbers


def _encoder(step: Any, columns: Sequence[HandedOn]) -> list[HandedOn]:
    made = []
    for i, (column, place) in enumerate(zip(columns, output_columns(step))):
        if column.was_scaled or column.labels is not None:
            raise ModelError(
                f"{public_name(step)} of a column that was changed before is not "
                "followed"
            )
        known = step.categories_[i].tolist()
        labels = tuple(label for label in known if not is_missing(label))
        for at in place:
            made.append(column.after(partial(_look_up, step, i, at), labels=labels))
    return made


def _look_up(step: Any, i: int, at: int, cells: np.ndarray) -> np.ndarray:
    """Output column ``at`` of an encoder for cells of its input column ``i``."""
    rows = np.empty((len(cells), len(step.categories_)), dtype=object)
    for j, known in enumerate(step.categories_):
        rows[:, j] = known[0]
    rows[:, i] = cells
    with warnings.catch_warnings():
        # Warnings of missing column names, and of unknown categories.
        warnings.simplefilter("ignore")
        made = step.transform(rows)
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)[:, at]


SCALERS: dict[str, Callable[[Any, int, np.ndarray], np.ndarray]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
}

FOLLOWED: dict[str, Callable[[Any, Sequence[HandedOn]], list[HandedOn]]] = {
    **dict.fromkeys(SCALERS, _scaler),
    "OneHotEncoder": _encoder,
    "OrdinalEncoder": _encoder,
    "TargetEncoder": _encoder,
    "SimpleImputer": _imputer,
    "MissingIndicator": _indicator,
    "FunctionTransformer": _function,
    "SelectorMixin": _selection,
    "Pipeline": _pipeline,
    "ColumnTransformer": _column_transformer,
    "FeatureUnion": _union,
}


def gives_sparse(step: Any, before: bool = False) -> bool:
    """Whether a fitted step outputs a sparse matrix."""
    if is_a(step, "Pipeline"):
        for _, part in step.steps:
            before = gives_sparse(part, before)
        return before
    if is_a(step, "ColumnTransformer"):
        return bool(step.sparse_output_)
    if is_a(step, "FeatureUnion"):
        return any(gives_sparse(part, before) for _, part in step.transformer_list)
    if is_a(step, "OneHotEncoder"):
        return bool(step.sparse_output)
    return before
