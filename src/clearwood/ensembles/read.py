"""The door of this room: any fitted model in, a ``TreeEnsemble`` out."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError

# By the top-level module of a model's class. A reader module has a function
# ``read(model)`` and a dict ``READERS`` whose keys are the classes it reads; it is
# imported only when it is needed.
READER_MODULES = {"sklearn": "clearwood.ensembles.sklearn"}


def read_ensemble(model: Any) -> TreeEnsemble:
    """Read a fitted tree ensemble, without refitting or changing it.

    Parameters
    ----------
    model : fitted estimator or TreeEnsemble
        From scikit-learn: decision and extra trees, random forests, extra trees,
        gradient boosting, histogram gradient boosting, bagging and AdaBoost over
        trees, also inside a ``FrozenEstimator``. A ``TreeEnsemble`` is returned as is.

    Returns
    -------
    TreeEnsemble
        Predicts what the model predicts.

    Raises
    ------
    ModelError
        The model is not fitted or of a kind that cannot be read.

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
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if library in READER_MODULES:
            return import_module(READER_MODULES[library]).read(model)
    found = repr(model) if isinstance(model, type) else type(model).__qualname__
    raise ModelError(
        f"Cannot read {found}; expected a TreeEnsemble or a fitted model, one of "
        f"{_readable_models()}."
    )


def _readable_models() -> str:
    """The names of all classes that can be read, for messages."""
    names = [name for m in READER_MODULES.values() for name in import_module(m).READERS]
    return ", ".join(names)
