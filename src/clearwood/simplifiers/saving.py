"""Fitted simplifiers in files, and back: what they say, without their model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clearwood import simplifiers
from clearwood._documents import Place
from clearwood._estimators import parameter_names, set_read_settings
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules import Question, RuleList, RuleSet, Tree
from clearwood.rules.serialise import (
    columns_to_dict,
    condition_to_dict,
    known_features,
    read_columns,
    read_condition,
    rules_from_json,
    rules_to_json,
)
from clearwood.rules.tree import tree_of_questions
from clearwood.simplifiers.fab.inference import Iteration

COUNTS = ("n_rules_", "n_iter_", "n_start_components_", "n_nodes_", "selected_")
NUMBERS = ("single_split_fidelity_", *COUNTS)
"""Results that are one number each, of those methods that have them."""

SIDES = ("yes", "no")

MOST_DEPTH = 3
"""Of lists in a dictionary: scores are per setting and size."""


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
    document |= _how_it_was_found(estimator)
    if estimator.estimator is not None:
        document["model"] = {
            "description": str(dict(estimator.rules_.about).get("model", "")),
            "allows_missing": bool(get_tags(estimator).input_tags.allow_nan),
        }
    return document, {}


def _how_it_was_found(estimator: Any) -> dict[str, Any]:
    """What was tried, and what came of it, of those methods that keep it."""
    found: dict[str, Any] = {}
    if hasattr(estimator, "trees_"):
        trees = estimator.trees_
        found["trees"] = [list(_questions(t.root, t.features)) for t in trees]
        found["chosen_tree"] = [t is estimator.tree_ for t in trees].index(True)
    if hasattr(estimator, "settings_"):
        found["chosen"] = estimator.settings_
        found["tried"] = _finite(estimator.cv_results_)
    if hasattr(estimator, "history_"):
        found["history"] = [_finite(list(step)) for step in estimator.history_]
        found["restarts"] = _finite(estimator.restarts_)
    return found


def _questions(node: Any, features: FeatureSpace) -> Iterator[Any]:
    """A tree from its root on, the first side first; null where nothing is asked."""
    if not isinstance(node, Question):
        yield None
        return
    yield {side: condition_to_dict(getattr(node, side), features) for side in SIDES}
    yield from _questions(node.if_yes, features)
    yield from _questions(node.if_no, features)


def _finite(value: Any) -> Any:
    """The same plain data, with null for numbers that JSON has not."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
        place = top.get(name)
        if place is not None and place.value is not None:
            number = place.number()
            setattr(estimator, name, int(number) if name in COUNTS else number)
    _read_how_it_was_found(estimator, top)
    model = top["model"]
    if model.value is not None:
        estimator.estimator = ModelNotSaved(
            model["description"].text(), model["allows_missing"].flag()
        )
    return estimator


def _read_how_it_was_found(estimator: Any, top: Place) -> None:
    """What files of version 0.1 do not hold, not all of it."""
    if "trees" in top:
        path = getattr(estimator, "path_", ())
        if len(path) != top["trees"].size() or not path:
            top["trees"].fail("another number of trees", "one per size")
        pairs = zip(top["trees"].entries(), path, strict=True)
        estimator.trees_ = tuple(_read_tree(place, rules) for place, rules in pairs)
        chosen = top["chosen_tree"].integer(0, len(path) - 1)
        estimator.tree_ = estimator.trees_[chosen]
    if "chosen" in top:
        estimator.settings_ = _read_plain(top["chosen"])
        tried = top["tried"]
        estimator.cv_results_ = None if tried.value is None else _read_plain(tried)
    if "history" in top:
        entries = [place.items() for place in top["history"].entries()]
        if any(len(parts) != len(Iteration._fields) for parts in entries):
            top["history"].fail("other numbers", f"{Iteration._fields}")
        estimator.history_ = tuple(
            Iteration(_number(bound), size.integer(0), passes.integer(0))
            for bound, size, passes in entries
        )
        estimator.restarts_ = [_read_plain(one) for one in top["restarts"].entries()]
        estimator.selected_ = getattr(estimator, "selected_", None)


def _read_tree(place: Place, rules: RuleSet) -> Tree:
    """A tree of its questions and of the rules that are its leaves."""
    known = known_features(rules.features)
    below: list[Any] = []
    for node in reversed(place.items()):
        if node.value is None:
            below.append(None)
            continue
        node.only(*SIDES)
        yes, no = (read_condition(node[side], known) for side in SIDES)
        if len(below) < 2 or yes.feature != no.feature:
            node.fail("half a question", "two sides of one feature")
        below.append(Question(yes, no, below.pop(), below.pop()))
    is_whole = len(below) == 1 and place.size() == 2 * rules.n_rules - 1
    if not is_whole or not isinstance(rules, RuleList):
        place.fail("no tree of these rules", "one with a leaf per line")
    try:
        return tree_of_questions(below[0], rules)
    except RecursionError:
        place.fail("a tree that is too deep", "one that can be read")


def _number(place: Place) -> float:
    return math.nan if place.value is None else place.number()


def _read_plain(place: Place, depth: int = 0) -> Any:
    """Texts, numbers, truth values, and lists of them, under names.

    A null among numbers in two dimensions is a number that is not known.
    """
    if depth == 0:
        return {key: _read_plain(place[key], 1) for key in place.keys()}
    if isinstance(place.value, list) and depth < MOST_DEPTH:
        return [_read_plain(part, depth + 1) for part in place.entries()]
    if place.value is None:
        return math.nan if depth == MOST_DEPTH else None
    if isinstance(place.value, str):
        return place.text()
    return place.value if isinstance(place.value, bool | int) else place.number()


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
