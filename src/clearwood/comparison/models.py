"""The model of a comparison: as it is, or refitted without each fold."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from clearwood.ensembles.black_box import task_of
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.exceptions import InputError
from clearwood.simplifiers._common.explained_model import read_model
from clearwood.simplifiers._common.predictions import Model, class_positions


class Models(NamedTuple):
    """Models whose predictions are the target of the rules.

    Attributes
    ----------
    ensembles : tuple of TreeEnsemble or BlackBox
        One, or one per fold and one of all rows.
    originals : tuple
        The models from which they were read.
    """

    ensembles: tuple[Model, ...]
    originals: tuple[Any, ...]


def read_fitted(model: Any, X: Any, y: np.ndarray) -> Models:
    """Read a fitted model or a file, with the data's names and labels."""
    ensemble = read_model(model, X, y)
    if ensemble.classes is not None and len(ensemble.classes) < 2:
        raise InputError(
            f"The model has a single class ({ensemble.classes.tolist()[0]!r}); rules "
            "need at least two."
        )
    class_positions(ensemble, y)
    return Models((ensemble,), (model,))


def fit_afresh(
    model: Any,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray | None,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    seed: int,
) -> Models:
    """Fit copies of an estimator: one per fold without its rows, one to all.

    Parameters
    ----------
    model : estimator
        Not fitted, and not changed.
    X : ndarray or frame
    y : ndarray
    weight : ndarray or None
        Row weights, if given.
    folds : sequence of (ndarray, ndarray)
        Rows of the fit, and held-out rows.
    seed : int
        For an estimator without a seed of its own.
    """
    from clearwood._estimators import take_rows

    _check_classes(model, y)
    fitted, ensembles = [], []
    for rows in [*(kept for kept, _ in folds), np.arange(len(y))]:
        # CatBoost copies a list of cat_features, which scikit-learn's clone refuses.
        one = deepcopy(model)
        if (
            hasattr(one, "get_params")
            and one.get_params().get("random_state", 0) is None
        ):
            one.set_params(random_state=seed)
        given = None if weight is None else weight[rows]
        try:
            one = fit_to_table(one, take_rows(X, rows), y[rows], given)
        except Exception as error:  # LightGBM's and CatBoost's are no ValueError.
            raise InputError(
                f"Fitting the {type(model).__name__} to {len(rows):,} of {len(y):,} "
                f"rows failed: {' '.join(str(error.__cause__ or error).split())}"
            ) from error
        fitted.append(one)
        # Where rules may choose their own thresholds, only from the rows of the fit.
        ensembles.append(read_model(one, X, y, rows=rows))
    return Models(tuple(ensembles), tuple(fitted))


def is_classifier(model: Any) -> bool:
    """Whether an estimator, or the model read from it, is a classifier."""
    return task_of(model) == "classification"


def _check_classes(model: Any, y: np.ndarray) -> None:
    if not is_classifier(model):
        return
    classes, counts = np.unique(y, return_counts=True)
    if (counts > 1).sum() < 2:
        found = dict(zip(classes.tolist(), counts.tolist()))
        raise InputError(
            f"y holds {str(found)[:200]} rows per class; cross-validation of the model "
            "needs two classes of at least two rows each."
        )


def pickled(originals: Sequence[Any]) -> tuple[bytes, ...]:
    """Pickled models; none where one of them cannot be pickled."""
    try:
        return tuple(pickle.dumps(one) for one in originals)
    except Exception:  # Foreign objects may raise anything.
        return ()


def short_name(ensemble: Model) -> str:
    """Short name of the model, and of its prediction if that is not the mean.

    Examples
    --------
    >>> from clearwood.ensembles import read_ensemble
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> short_name(read_ensemble(DecisionTreeClassifier().fit([[0], [1]], [0, 1])))
    'DecisionTreeClassifier'
    """
    source = ensemble.source
    is_dotted = re.fullmatch(r"\w+(\.\w+)+", source) is not None
    name = source.rpartition(".")[2] if is_dotted else source
    return f"{name} ({ensemble.statistic})" if ensemble.statistic else name
