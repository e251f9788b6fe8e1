"""Fitted simplifiers in files, and back: what they say, without their model."""

from __future__ import annotations

import json
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clearwood import simplifiers
from clearwood._documents import Place
from clearwood._estimators import parameter_names, set_read_settings
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules import RuleSet
from clearwood.rules.serialise import (
    columns_to_dict,
    read_columns,
    rules_from_json,
    rules_to_json,
)

NUMBERS = ("single_split_fidelity_", "n_rules_")
"""Results that are one number each, of those methods that have them."""


class ModelNotSaved(BaseEstimator):
    """Stands for a model that is not in the file of the rules made of it.

    Parameters
    ----------
    description : str
        What the model was.
    allows_missing : bool
        Whether it takes missing values.
    """

    def __init__(self, description: str = "", allows_missing: bool = False) -> None:
        self.description = description
        self.allows_missing = allows_missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.allows_missing
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoReturn:
        """Refuse: files hold what the rules say, not their model."""
        raise InputError(
            f"The model ({self.description}) was not saved with its rules; to fit "
            "again, set one: set_params(estimator=...)."
        )


def to_archive(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a fitted simplifier: its rules, of all sizes, and its settings.

    Parameters
    ----------
    estimator : RuleListClassifier, FABRulesRegressor ...

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    kind = type(estimator)
    if getattr(simplifiers, kind.__name__) is not kind:
        raise InputError(
            f"Cannot save a {kind.__qualname__} of your own; save its rules_."
        )
    check_is_fitted(estimator, "rules_")
    path = getattr(estimator, "path_", None)
    document = columns_to_dict(estimator) | {
        "n_columns": estimator.n_features_in_,
        "settings": _settings_of(estimator),
        "model": None,
        "rules": json.loads(rules_to_json(estimator.rules_)),
        "path": path and [json.loads(rules_to_json(rules)) for rules in path],
        "caution": estimator.caution_,
    }
    for name in NUMBERS:
        value = getattr(estimator, name, None)
        document[name] = None if value is None else float(value)
    if estimator.estimator is not None:
        document["model"] = {
            "description": str(dict(estimator.rules_.about).get("model", "")),
            "allows_missing": bool(get_tags(estimator).input_tags.allow_nan),
        }
    return document, {}


def _settings_of(estimator: Any) -> dict[str, Any]:
    """The parameters that JSON can hold; functions and generators stay behind."""
    settings = estimator.get_params(deep=False)
    del settings["estimator"]
    plain = {name: _plain(value) for name, value in settings.items()}
    return {k: v for k, v in plain.items() if v is not None or settings[k] is None}


def _plain(value: Any) -> Any:
    if isinstance(value, bool | str):
        return value
    if isinstance(value, Real):
        return int(value) if isinstance(value, Integral) else float(value)
    if isinstance(value, tuple | list):
        parts = [_plain(part) for part in value]
        return None if None in parts else parts
    return None


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    kind = top["kind"].text()
    estimator = getattr(simplifiers, kind)()
    settings = top["settings"].value
    names = parameter_names(type(estimator)) - {"estimator"}
    _check_settings(settings)
    settings = {k: tuple(v) if type(v) is list else v for k, v in settings.items()}
    set_read_settings(estimator, settings, tuple(names))
    estimator.rules_ = _read_rules(top["rules"], top, kind)
    if top["path"].value is not None:
        sizes = top["path"].entries()
        estimator.path_ = tuple(_read_rules(place, top, kind) for place in sizes)
    read_columns(estimator, top, top["n_columns"].integer(1))
    estimator.caution_ = None
    if top["caution"].value is not None:
        caution = top["caution"]
        estimator.caution_ = {key: caution[key].number() for key in caution.keys()}
    for name in NUMBERS:
        if top[name].value is not None:
            setattr(estimator, name, top[name].number())
    model = top["model"]
    if model.value is not None:
        estimator.estimator = ModelNotSaved(
            model["description"].text(), model["allows_missing"].flag()
        )
    return estimator


def _check_settings(settings: Any) -> None:
    scalars: tuple[Any, ...] = (str, bool, int, float, type(None))
    values = settings.values() if isinstance(settings, dict) else [settings]
    flat = [part for v in values for part in (v if type(v) is list else [v])]
    if not isinstance(settings, dict) or not {type(v) for v in flat} <= set(scalars):
        raise ModelFormatError("settings: expected texts, numbers and lists of them.")
    if type(settings.get("random_state")) not in (int, type(None)):
        raise ModelFormatError("settings: random_state: expected a whole number.")


def _read_rules(place: Place, top: Place, kind: str) -> RuleSet:
    rules = rules_from_json(json.dumps(place.value))
    classes = top["classes"]
    known = () if classes.value is None else classes.labels()
    if bool(known) != kind.endswith("Classifier") or tuple(known) != rules.classes:
        place.fail("rules of other classes", "those of the kind and the classes")
    return rules
