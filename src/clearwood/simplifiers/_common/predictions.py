"""Predictions of the model to explain, in the form that rules are fitted to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearwood.columns.sparse_tables import (
    SparseRows,
    columns_of,
    is_sparse,
    most_columns,
)
from clearwood.columns.validation import label_positions
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.black_box import BlackBox

Model = TreeEnsemble | BlackBox


def class_positions(ensemble: Model, y: np.ndarray) -> np.ndarray:
    """Indices of labels in the ensemble's classes; values unchanged."""
    if ensemble.classes is None:
        return y
    # CatBoost keeps classes in the order of class_names, whatever that is.
    return label_positions(
        y,
        ensemble.classes,
        "ensemble",
        " If these are the same classes under other names, rename those of the "
        "ensemble, in its order: ensemble.with_classes(labels), or --classes on the "
        "command line.",
    )


class ReadRows(NamedTuple):
    """A table in the form in which rules are searched for.

    Attributes
    ----------
    table : array-like or frame
        The columns that are read.
    encoded : ndarray of shape (n_rows, n_columns)
        The same encoded.
    answers : ndarray
        What the ensemble predicts.
    others : SparseRows or None
        All columns of a sparse table.
    """

    table: Any
    encoded: np.ndarray
    answers: np.ndarray
    others: SparseRows | None = None


def read_rows(ensemble: Model, X: Any, columns: np.ndarray | None = None) -> ReadRows:
    """Read a table in all columns; a sparse one in those of :func:`columns_to_read`.

    By default among the columns that the model reads.
    """
    if not is_sparse(X):
        encoded = ensemble.encode(X)
        return ReadRows(X, encoded, answers_of(ensemble, encoded))
    answers = answers_of(ensemble, X)
    if columns is None:
        used = ensemble.used_features
        columns = used if len(used) else np.zeros(1, dtype=int)
    others = columns_to_read(X, columns, answers)
    read = others.columns.tolist()
    table = columns_of(ensemble.features, X, read)
    encoded = ensemble.features.taken(read).encode(table)
    return ReadRows(table, encoded, answers, others)


def columns_to_read(X: Any, columns: np.ndarray, answers: np.ndarray) -> SparseRows:
    """Read some columns of a sparse table as a dense one.

    All of those given; of more than ``most_columns`` those with the largest explained
    sum of squares in a simple linear regression of the model's predictions. A few rules
    use no more.
    """
    every, most = SparseRows.of(X, columns), most_columns(X.shape[0])
    if len(columns) <= most:
        return every
    cells = every.table.copy()
    cells.data = np.nan_to_num(cells.data, posinf=0.0, neginf=0.0)
    mean = np.asarray(cells.mean(axis=0)).ravel()
    spread = np.asarray(cells.multiply(cells).mean(axis=0)).ravel() - mean**2
    centred = answers.reshape(len(answers), -1) - answers.mean(axis=0)
    # Sparse products are loops in one order, not BLAS.
    both = (cells.T.dot(centred) ** 2).sum(axis=1)
    ratio = np.divide(both, spread, out=np.zeros(len(both)), where=spread > 0)[columns]
    strongest = columns[np.argsort(-ratio, kind="stable")[:most]]
    return replace(every, columns=np.sort(strongest))


def answers_of(ensemble: Model, rows: Any) -> np.ndarray:
    """Predictions of an ensemble for rows encoded by its ``encode``, or sparse ones.

    Class probabilities, or values.
    """
    if isinstance(rows, np.ndarray):
        answers = ensemble.answers_encoded(rows)
    elif ensemble.classes is None:
        answers = ensemble.predict(rows)
    else:
        answers = ensemble.predict_proba(rows)
    if ensemble.link == "one_vs_rest":
        # One model per class: its predictions need not sum to 1, those of rules do.
        total = answers.sum(axis=1, keepdims=True)
        even = np.full_like(answers, 1 / answers.shape[1])
        answers = np.divide(answers, total, out=even, where=total > 0)
    return np.ascontiguousarray(answers)
