"""Introduction of a page, for readers who do not know class names."""

from __future__ import annotations

import re
from typing import Any

from clearwood._words.labels import printable
from clearwood.ensembles import TreeEnsemble
from clearwood.references import Reference

IN_WORDS = {
    "RandomForest": ("a random forest", "of"),
    "ExtraTrees": ("extremely randomized trees", "of"),
    "GradientBoosting": ("gradient boosting", "with"),
    "HistGradientBoosting": ("gradient boosting", "with"),
    "AdaBoost": ("boosting (AdaBoost)", "with"),
    "Bagging": ("bagging", "with"),
    "DecisionTree": ("a decision tree", ""),
    "ExtraTree": ("an extremely randomized tree", ""),
    "MetaTree": ("a Bayesian average over all prunings of a tree", ""),
    "XGBoost": ("XGBoost", "with"),
    "XGB": ("XGBoost", "with"),
    "XGBRF": ("XGBoost's random forest", "of"),
    "LightGBM": ("LightGBM", "with"),
    "LGBM": ("LightGBM", "with"),
    "CatBoost": ("CatBoost", "with"),
}
"""Names of kinds of models, and the word before the number of their trees."""


def model_in_words(source: str, n_trees: int | None = None) -> str:
    """Describe a model in plain words.

    Parameters
    ----------
    source : str
        Its origin: a class with its path, or a library with its version.
    n_trees : int, optional

    Returns
    -------
    str
        The source without a path, if no better name is known.

    Examples
    --------
    >>> model_in_words("sklearn.ensemble._forest.RandomForestClassifier", 100)
    'a random forest of 100 trees'
    >>> model_in_words("XGBoost 3.1.2 (binary:logistic)", 1)
    'XGBoost with 1 tree'
    >>> model_in_words("some.module.Stacking")
    'Stacking'
    """
    name = source
    if re.fullmatch(r"[\w.]+", source):
        name = source.rpartition(".")[2]
    kind = re.sub("(Classifier|Regressor|Model)$", "", name.partition(" ")[0])
    if kind not in IN_WORDS:
        return printable(name)
    noun, joined = IN_WORDS[kind]
    if n_trees is None or not joined:
        return noun
    return f"{noun} {joined} {n_trees:,} tree{'s' * (n_trees != 1)}"


def read_model_in_words(model: Any, ensemble: TreeEnsemble | None) -> str | None:
    """Description of the model of a page; None if only its predictions are known."""
    if ensemble is not None:
        return model_in_words(ensemble.source, ensemble.n_trees)
    if not hasattr(model, "predict"):
        return None
    own = printable(str(getattr(model, "description", "")))
    if isinstance(model, Reference):
        return f"the reference ({own})"
    return own or model_in_words(type(model).__name__)
