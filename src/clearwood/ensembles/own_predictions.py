"""Comparison of an ensemble with the predictions of the model that it was read from.

A method overridden in a subclass or on the object, a step of a pipeline or a setting
for prediction may change predictions, which no type shows. So every model in memory
is compared with its own predictions: on rows that are given, or on rows generated from
its thresholds and categories.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.columns.cells import UNSEEN
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.sparse_tables import is_sparse
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError, UnknownCategoriesWarning

RELATIVE, OF_RANGE = 1e-5, 1e-6
"""Tolerances relative to a number itself, and to the range of all predictions."""

N_ROWS, MOST_LEAVES = 300, 2**20
"""Generated rows; of given ones 300, or as many as reach this number of leaves."""

SHARE_MISSING = 0.1
IN_A_PIPELINE = " in a pipeline"
NO_CATEGORY = "\0 no category"


class DifferentPredictions(ModelError):
    """Raised if the predictions of a model differ from those of its trees."""


def as_it_predicts(ensemble: TreeEnsemble, model: Any, X: Any = None) -> TreeEnsemble:
    """Check that an ensemble predicts as the model that it was read from.

    Parameters
    ----------
    ensemble : TreeEnsemble
    model : fitted model
    X : array or frame, optional
        Rows to compare on.

    Returns
    -------
    TreeEnsemble
        With a note if the model predicts for none of the generated tables.

    Raises
    ------
    DifferentPredictions
        The predictions differ.
    """
    error: Exception | None = None
    for i, (table, reader) in enumerate(_tables(ensemble, model, X)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                own = _own_answers(model, reader, table)
        except Exception as found:  # Whatever a foreign object raises.
            error = found
            continue
        with warnings.catch_warnings():
            if X is None or i:
                # Warnings of categories that are not the user's.
                warnings.simplefilter("ignore", UnknownCategoriesWarning)
            ours = {method: getattr(reader, method)(table) for method in own}
        _refuse_difference(ensemble, model, ours, own)
        return ensemble
    reason = " ".join(str(error).split())[:200]
    note = f"It could not be compared with its own predictions ({reason})."
    return replace(ensemble, notes=(*ensemble.notes, note))


def _refuse_difference(
    ensemble: TreeEnsemble,
    model: Any,
    ours: dict[str, np.ndarray],
    own: dict[str, np.ndarray],
) -> None:
    wrong = {
        method: _differ(ours[method], predicted) for method, predicted in own.items()
    }
    if "predict" in wrong and "predict_proba" in ours:
        # Another order of summation may break a tie the other way.
        wrong["predict"] &= ~_are_tied(ours["predict_proba"])
    differ = np.any(list(wrong.values()), axis=0)
    if differ.any():
        first = next(method for method in wrong if wrong[method].any())
        verb = first if hasattr(model, first) else "predict"
        raise DifferentPredictions(
            f"{ensemble.source}: for {differ.sum()} of {len(differ)} rows (the first "
            f"is row {differ.argmax()}) the model's predictions differ from those of "
            f"its trees, because of {_cause(model, verb)}."
        )


def _differ(ours: np.ndarray, own: np.ndarray) -> np.ndarray:
    if own.shape != ours.shape:
        return np.ones(len(ours), dtype=bool)
    if own.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            near = OF_RANGE * np.ptp(own) if own.size else 0.0
            same = np.isclose(ours, own, RELATIVE, near, equal_nan=True)
    else:
        same = ours == own
    return ~same.reshape(len(ours), -1).all(axis=1)


def _are_tied(proba: np.ndarray) -> np.ndarray:
    """Per row, whether the two most probable classes are equally probable."""
    # A single class is never tied.
    *_, second, first = np.sort(np.pad(proba, ((0, 0), (1, 0))), axis=1).T
    return first - second <= RELATIVE * first


def _cause(model: Any, verb: str) -> str:
    may_be = (
        "a part of it with methods of its own, or a setting for prediction "
        "(pred_early_stop)"
    )
    if type(model).__module__.startswith("xgboost"):
        may_be += "; or of zeros in a sparse matrix, which XGBoost takes for missing"
    return overriding(model, verb) or may_be


def overriding(model: Any, method: str) -> str | None:
    """Description of what overrides a method of a library's own class, if anything."""
    if method in getattr(model, "__dict__", {}):
        return f"the function that was set as its {method}"
    for kind in type(model).__mro__:
        if kind.__module__.partition(".")[0] in OWN_METHODS:
            break
        if method in vars(kind):
            return f"{kind.__qualname__}.{method}, which overrides that of its parent"
    return None


# Predictions to compare


def _own_answers(model: Any, ensemble: TreeEnsemble, X: Any) -> dict[str, np.ndarray]:
    """Predictions of the library's model, by the name of the ensemble's method."""
    for kind in type(model).__mro__:
        ask = PLAIN.get((kind.__module__.partition(".")[0], kind.__name__))
        if ask is not None:
            return ask(model, ensemble, X)
        if kind.__module__.partition(".")[0] in OWN_METHODS:
            break
    if ensemble.classes is None:
        return {"predict": np.asarray(model.predict(X)).reshape(-1)}
    predicted = {"predict_proba": np.asarray(model.predict_proba(X))}
    labels = np.asarray(model.predict(X))
    if labels.size == len(predicted["predict_proba"]):
        # XGBClassifier has two columns, with multi:softprob and two classes.
        predicted["predict"] = labels.reshape(-1)
    return predicted


def _of_xgboost(booster: Any, ensemble: TreeEnsemble, X: Any) -> dict[str, np.ndarray]:
    from xgboost import DMatrix

    data = DMatrix(X, feature_types=booster.feature_types, enable_categorical=True)
    objective = ensemble.details["objective"]
    predicted = np.asarray(booster.predict(data))
    if objective == "binary:logitraw":
        return {"raw_scores": predicted.reshape(-1, 1)}
    by_label = ensemble.classes is None or objective == "multi:softmax"
    return {"predict": predicted} if by_label else _of_classes(predicted)


def _of_lightgbm(booster: Any, ensemble: TreeEnsemble, X: Any) -> dict[str, np.ndarray]:
    predicted = np.asarray(booster.predict(X))
    return (
        {"predict": predicted} if ensemble.classes is None else _of_classes(predicted)
    )


def _of_catboost(model: Any, ensemble: TreeEnsemble, X: Any) -> dict[str, np.ndarray]:
    return {"raw_scores": np.asarray(model.predict(X)).reshape(-1, ensemble.n_outputs)}


def _of_classes(predicted: np.ndarray) -> dict[str, np.ndarray]:
    if predicted.ndim == 1:
        predicted = np.column_stack([1 - predicted, predicted])
    return {"predict_proba": predicted}


OWN_METHODS = ("sklearn", "xgboost", "lightgbm", "catboost")
PLAIN: dict[tuple[str, str], Callable[..., dict[str, np.ndarray]]] = {
    ("xgboost", "Booster"): _of_xgboost,
    ("lightgbm", "Booster"): _of_lightgbm,
    ("catboost", "CatBoost"): _of_catboost,
}
"""Models whose ``predict`` takes no table, or returns no labels."""


# Tables to compare on


def _tables(
    ensemble: TreeEnsemble, model: Any, X: Any
) -> Iterator[tuple[Any, TreeEnsemble]]:
    """The same rows in several tables, likeliest first, and an ensemble for each."""
    reader = ensemble
    if X is None:
        encoded = _made_rows(ensemble)
    else:
        n_rows = X.shape[0]
        if not ensemble.source.endswith(IN_A_PIPELINE):
            most = max(N_ROWS, MOST_LEAVES // max(ensemble.n_trees, 1))
            from clearwood._estimators import take_rows

            if n_rows > most:
                X = take_rows(X, np.linspace(0, n_rows - 1, most).astype(int))
        reader = ensemble.as_in(X)
        yield X, reader
        if is_sparse(X):
            return
        encoded = reader.encode(X)
        encoded = encoded[(encoded != UNSEEN).all(axis=1)]
        known = reader.features.categories
        own = replace(ensemble.features, categories=known)
        reader = replace(ensemble, features=own)
    features = reader.features
    names = list(features.names)
    labels = [_labels(features, d) for d in range(len(names))]
    columns = list(map(_cells, encoded.T, labels))
    if not features.named:
        by_text = any(column.dtype == object for column in columns)
        kind = object if by_text else np.float64
        yield np.column_stack([column.astype(kind) for column in columns]), reader
        return
    import pandas as pd

    plain = pd.DataFrame(dict(zip(names, columns)))
    order = list(getattr(model, "feature_names_in_", names))
    if set(order) >= set(names):
        # A pipeline may select columns; those that it drops have to be present.
        plain = plain.reindex(columns=order, fill_value=0.0)
    declared = plain.copy()
    for name, cells, lookup in zip(names, labels, features.lookup):
        if cells is not None and lookup != "integer":
            unique = list(dict.fromkeys(cells))
            declared[name] = pd.Categorical(plain[name], categories=unique)
    yield declared, reader
    yield plain, reader


def _labels(features: FeatureSpace, d: int) -> list[Any] | None:
    """Cells that represent the categories of a column."""
    labels = features.categories[d]
    if labels is None:
        return None
    if features.lookup[d] != "hash":
        return list(labels)
    # CatBoost may store only the hash of a category's text.
    texts = [label if isinstance(label, str) else NO_CATEGORY for label in labels]
    return texts or [NO_CATEGORY]


def _cells(codes: np.ndarray, labels: list[Any] | None) -> np.ndarray:
    """Decode a column of codes into cells."""
    if labels is None:
        return codes
    numbers = all(isinstance(label, int | float) for label in labels)
    cells = np.empty(len(labels) + 1, dtype=float if numbers else object)
    cells[:-1], cells[-1] = labels, np.nan
    return cells[np.where(np.isnan(codes), -1, codes).astype(int)]


def _made_rows(ensemble: TreeEnsemble) -> np.ndarray:
    """Random rows with cells between the thresholds of each column."""
    generator = np.random.default_rng(0)
    splits = ensemble.splits().numeric
    missing = np.broadcast_to(ensemble.allows_missing, ensemble.n_features)
    encoded = np.zeros((N_ROWS, ensemble.n_features))
    for d, labels in enumerate(ensemble.features.categories):
        if labels is None:
            mine = splits.cut[(splits.feature == d) & (np.abs(splits.cut) < HUGE)]
            places = _between(np.unique(mine))
        else:
            places = np.arange(float(max(len(labels), 1)))
        encoded[:, d] = generator.choice(places, N_ROWS)
        # Libraries differ in which categorical cells count as missing.
        if missing[d] and labels is None:
            encoded[generator.random(N_ROWS) < SHARE_MISSING, d] = np.nan
    return encoded


HUGE = 1e30
"""Larger numbers may be refused by a model that casts to float32."""


def _between(cuts: np.ndarray) -> np.ndarray:
    """A number in each of the intervals between thresholds."""
    if not cuts.size:
        return np.array([-1.0, 0.0, 1.0])
    step = max(float(np.ptp(cuts)), abs(float(cuts[0])), 1e-30)
    ends = [cuts[0] - step, *cuts, cuts[-1] + step]
    return np.convolve(ends, [0.5, 0.5], mode="valid")
