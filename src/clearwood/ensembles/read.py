"""The door of this room: any fitted model or model file in, a ``TreeEnsemble`` out."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError

# By the top-level module of a model's class. A reader module has a function
# ``read(model)`` and ``READERS``, the names of the classes it reads; it is imported
# only when it is needed.
READER_MODULES = {
    "sklearn": "clearwood.ensembles.sklearn.model",
    "xgboost": "clearwood.ensembles.xgboost.model",
    "lightgbm": "clearwood.ensembles.lightgbm.model",
    "catboost": "clearwood.ensembles.catboost.model",
}


def read_ensemble(model: Any) -> TreeEnsemble:
    """Read a fitted tree ensemble, without refitting or changing it.

    Files are read by Clearwood's own parsers, which take nothing on trust; they need
    neither the library that wrote them nor the way in which the file is named.

    Parameters
    ----------
    model : fitted estimator, path or TreeEnsemble
        From scikit-learn: decision and extra trees, random forests, extra trees,
        gradient boosting, histogram gradient boosting, bagging and AdaBoost over
        trees, also inside a ``FrozenEstimator``. From XGBoost, LightGBM and CatBoost:
        their estimators and boosters, and the path (str or Path) of a model file:
        XGBoost's JSON or UBJSON, LightGBM's text, CatBoost's JSON. A
        ``TreeEnsemble`` is returned as is.

    Returns
    -------
    TreeEnsemble
        Predicts what the model predicts.

    Raises
    ------
    ModelError
        The model is not fitted or of a kind that cannot be read.
    ModelFormatError
        The file is damaged, of another format, or holds a model of a kind that
        cannot be read.
    InputError
        The file cannot be opened.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=20, max_depth=2).fit(X, y)
    >>> read_ensemble(model)
    <TreeEnsemble: regression, trees: 20, splits: 60, features: 10, from \
sklearn.ensemble.GradientBoostingRegressor>
    """
    if isinstance(model, TreeEnsemble):
        return model
    if isinstance(model, str | Path):
        from clearwood.ensembles.files import read_file

        return read_file(model)
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in READER_MODULES:
            return import_module(READER_MODULES[library]).read(model)
    found = repr(model) if isinstance(model, type) else type(model).__qualname__
    raise ModelError(
        f"Cannot read {found}; expected a TreeEnsemble, the path of a model file or a "
        f"fitted model, one of {_readable_models()}."
    )


def as_predictor(teacher: Any) -> Any:
    """A teacher whose ``predict`` takes a table and gives classes or values.

    A path does not predict; XGBoost's Booster takes no table, LightGBM's gives
    probabilities, and CatBoost without a kind gives raw scores.

    Parameters
    ----------
    teacher : model, path or array-like

    Returns
    -------
    TreeEnsemble, or the teacher as it is
    """
    if isinstance(teacher, str | Path):
        return read_ensemble(teacher)
    library = type(teacher).__module__.partition(".")[0]
    plain = type(teacher).__name__ in ("Booster", "CatBoost")
    return read_ensemble(teacher) if plain and library in READER_MODULES else teacher


def _readable_models() -> str:
    """The names of all classes that can be read, for messages."""
    names = [name for m in READER_MODULES.values() for name in import_module(m).READERS]
    return ", ".join(names)


def needs_fit(estimator: Any) -> bool:
    """Whether ``estimator`` is a scikit-learn estimator that is not yet fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if estimator is None:
        return True
    if isinstance(estimator, TreeEnsemble) or not hasattr(estimator, "fit"):
        return False
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return True
    return False
