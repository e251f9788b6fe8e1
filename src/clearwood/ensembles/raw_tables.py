"""Ensembles fitted to mixed-type data frames: text, dates, booleans.

Dates become days. Text becomes categories: native ones for scikit-learn's histogram
boosting, which splits on sets of them; for all other models numbers, in an order in
which trees can separate them with few thresholds (Coppersmith, Hong & Hosking, 1999, as
in ranger: by their score on the first principal component of their mean targets; with
two classes or a numeric target by the mean itself; several numeric targets are
standardized). A threshold between numbers is then
read back as the set of categories that it represents.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clearwood._numeric import category_ranks
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.frames import frame_of
from clearwood.columns.schema import features_of
from clearwood.columns.sparse_tables import is_sparse
from clearwood.ensembles.own_predictions import DifferentPredictions, as_it_predicts
from clearwood.ensembles.read import read_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ClearwoodError, InputError, ModelError

LEARNERS = (
    *("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees", "GradientBoosting"),
    *("HistGradientBoosting", "Bagging", "AdaBoost"),
    *("XGB", "XGBRF", "LGBM", "CatBoost"),
)
"""Ensembles, of any library, that are fitted to the rows of a table themselves."""

MOST_CATEGORIES = 255
"""Most categories of a column that histogram boosting supports."""


def fit_to_table(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Fit a model to a table that, for an ensemble, may hold texts and dates.

    Parameters
    ----------
    model : estimator
        Fitted in place. Anything but an ensemble gets the table as it is; in a pipeline
        the weights are for the last step.
    X : array-like or frame of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), or of numbers of shape (n_samples, n_targets)
    sample_weight : ndarray of shape (n_samples,), optional

    Returns
    -------
    estimator or TreeEnsemble
        Model that predicts for tables like X: the estimator, or the ensemble if the
        estimator cannot read such a table; for several targets, whose trees are not
        read, a pipeline of the conversion and the estimator.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"hue": ["red", "tan", "blue", "red"]})
    >>> tree = fit_to_table(DecisionTreeClassifier(), X, np.array([0, 1, 1, 0]))
    >>> tree.predict(X)
    array([0, 1, 1, 0])
    """
    weight = _weight_of_last(model, sample_weight)
    is_raw_frame = is_frame(X) and not is_sparse(X) and is_raw(X, model)
    if not (is_raw_frame and _learns_from_rows(model)):
        return fitted(model, X, y, weight)
    features = features_of(X)
    encoded = features.encode(X)
    if getattr(model, "categorical_features", None) == "from_dtype":
        ensemble = _fit_and_read(model, _with_categories(encoded, features), y, weight)
        known = replace(ensemble.features, info=features.info)
        return replace(ensemble, features=known)
    ranks = _ranks(encoded, features, y, sample_weight)
    if np.ndim(y) == 2:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        convert = partial(_converted, features=features, ranks=ranks)
        fitted(model, _with_ranks(encoded, features, ranks), y, weight)
        return make_pipeline(FunctionTransformer(convert), model)
    ensemble = _fit_and_read(model, _with_ranks(encoded, features, ranks), y, weight)
    return _with_sets(ensemble, features, ranks)


def fitted(model: Any, X: Any, y: Any, weight: dict[str, Any]) -> Any:
    """Fit a model; if it cannot be fitted, the error names it, and a remedy."""
    if type(getattr(model, "estimator", model)).__name__.startswith("HistGradient"):
        X = _with_empty_filled(X)
    try:
        return model.fit(X, y, **weight)
    except (ClearwoodError, MemoryError):
        raise
    except Exception as error:  # CatBoost's is no ValueError.
        name = type(model).__name__
        reason = " ".join(str(error).partition("Stack trace:")[0].split())
        remedy = ""
        if np.ndim(y) == 2 and not hasattr(model, "estimator"):
            remedy = (
                " If it is for a single target, pass scikit-learn's "
                f"MultiOutputRegressor({name}(...))."
            )
        elif np.asarray(y).dtype.names:
            remedy = (
                " Pass a survival model, such as one of scikit-survival or XGBoost's "
                "survival:cox, or a fitted model of the risk."
            )
        raise InputError(
            f"Fitting the {name} failed: {reason.rstrip('.')}.{remedy}"
        ) from error


def _with_empty_filled(X: Any) -> Any:
    """Table with 0 in columns without any value, which histograms cannot bin.

    No tree splits on a constant.
    """
    if not is_frame(X):
        values = np.asarray(X)
        if values.dtype.kind != "f":
            return X
        return np.where(np.isnan(values).all(axis=0), 0.0, values)
    import narwhals as nw

    empty = [
        column.series.name
        for column in frame_of(X)
        if column.dtype.is_numeric() and np.isnan(column.cells.astype(float)).all()
    ]
    zeros = [nw.lit(0.0).alias(name) for name in empty]
    table = nw.from_native(X, eager_only=True)
    return table.with_columns(*zeros).to_native() if empty else X


def _fit_and_read(model: Any, table: Any, y: Any, weight: dict[str, Any]) -> Any:
    """Fit a model to the converted table, and read its trees."""
    fitted(model, table, y, weight)
    try:
        return as_it_predicts(read_trees(model), model, table)
    except DifferentPredictions as error:
        raise ModelError(
            f"{error} Such a model cannot be fitted to columns of texts, dates or "
            "categories: put it in a Pipeline behind an encoder."
        ) from None


def is_raw(X: Any, model: Any) -> bool:
    """Whether a frame has columns that the model cannot read as they are."""
    import narwhals as nw

    parts_sets = hasattr(model, "categorical_features")
    of_sklearn = type(model).__module__.startswith("sklearn.")
    for column in frame_of(X):
        if column.is_declared and of_sklearn and not parts_sets:
            # scikit-learn reads numeric categories as numbers.
            if any(isinstance(label, str) for label in set(column.cells.tolist())):
                return True
        is_plain = column.dtype.is_numeric() or column.is_declared
        if not is_plain and (column.dtype != nw.Boolean or column.series.null_count()):
            return True
    return False


def _weight_of_last(model: Any, sample_weight: Any) -> dict[str, Any]:
    """Keyword argument of ``fit`` with the weights."""
    name, last = "sample_weight", model
    while hasattr(last, "steps"):
        step, last = last.steps[-1]
        name = f"{step}__{name}" if last is not model else name
    return {} if sample_weight is None else {name: sample_weight}


def _learns_from_rows(model: Any) -> bool:
    if hasattr(model, "get_params") and model.get_params().get("cat_features"):
        return False  # CatBoost reads categorical columns that are declared
    if type(model).__module__ == "sklearn.multioutput":
        return _learns_from_rows(model.estimator)
    return any(
        kind.__name__.removesuffix("Classifier").removesuffix("Regressor") in LEARNERS
        for kind in type(model).__mro__
    )


def _with_categories(encoded: np.ndarray, features: FeatureSpace) -> Any:
    import pandas as pd

    columns = {}
    for name, labels, column in zip(features.names, features.categories, encoded.T):
        if labels is not None and len(labels) > MOST_CATEGORIES:
            raise InputError(
                f"Column {name!r} holds {len(labels)} different categories, more than "
                f"the {MOST_CATEGORIES} that histogram gradient boosting supports; "
                "drop the column, merge rare categories, or use another ensemble (a "
                "random forest)."
            )
        columns[name] = column
        if labels is not None:
            codes = np.where(np.isnan(column), -1, column).astype(int)
            columns[name] = pd.Categorical.from_codes(codes, categories=list(labels))
    return pd.DataFrame(columns)


def _converted(X: Any, features: FeatureSpace, ranks: dict[int, np.ndarray]) -> Any:
    return _with_ranks(features.encode(X), features, ranks)


def _with_ranks(
    encoded: np.ndarray, features: FeatureSpace, ranks: dict[int, np.ndarray]
) -> Any:
    """Frame of numbers, with categories replaced by their ranks, unseen ones by NaN."""
    import pandas as pd

    columns = dict(zip(features.names, encoded.T))
    for d, rank in ranks.items():
        column = encoded[:, d]
        known = column >= 0
        code = np.where(known, column, 0).astype(int)
        columns[features.names[d]] = np.where(known, rank[code], np.nan)
    return pd.DataFrame(columns)


def _ranks(
    encoded: np.ndarray, features: FeatureSpace, y: Any, sample_weight: Any
) -> dict[int, np.ndarray]:
    """Per categorical feature the rank of each category, from 1."""
    weight = np.ones(len(encoded)) if sample_weight is None else sample_weight
    labels = np.asarray(y)
    if labels.ndim == 2:
        spread = labels.std(axis=0)
        targets = labels / np.where(spread > 0, spread, 1.0)
    elif labels.dtype.kind == "f":
        targets = labels[:, None]
    else:
        targets = np.equal.outer(labels, np.unique(labels)).astype(np.float64)
    ranks = {}
    for d, known in enumerate(features.categories):
        if known is not None:
            rows = ~np.isnan(encoded[:, d])
            code = encoded[rows, d].astype(int)
            ranks[d] = 1 + category_ranks(code, targets[rows], weight[rows], len(known))
    return ranks


def _with_sets(
    ensemble: TreeEnsemble, features: FeatureSpace, ranks: dict[int, np.ndarray]
) -> TreeEnsemble:
    """The same trees, with category sets in place of thresholds on their ranks."""
    by_rank = np.isin(ensemble.feature, list(ranks))
    sets: dict[tuple[int, bytes], int] = {}
    tables: list[np.ndarray] = []
    category_set = ensemble.category_set.copy()
    for node in np.flatnonzero(by_rank):
        d = int(ensemble.feature[node])
        left = ranks[d] <= ensemble.cut[node]
        number = sets.setdefault((d, left.tobytes()), len(sets))
        if number == len(tables):
            tables.append(left)
        category_set[node] = number
    gone = enumerate(ensemble.features.missing_at)
    missing_at = tuple(None if d in ranks else at for d, at in gone)
    return replace(
        ensemble,
        features=replace(
            features,
            missing_at=missing_at,
            float32=ensemble.features.float32,
        ),
        cut=np.where(by_rank, np.nan, ensemble.cut),
        category_set=category_set,
        category_offsets=np.cumsum([0, *map(len, tables)], dtype=np.int64),
        categories_left=np.concatenate([np.zeros(0, bool), *tables]),
        # Categories unseen in the fit go with missing values.
        unseen_left=np.where(by_rank, ensemble.missing_left, ensemble.unseen_left),
    )
