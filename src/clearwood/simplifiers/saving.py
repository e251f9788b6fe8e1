"""File format of fitted simplifiers: their rules, without their model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from clearwood import codec, simplifiers
from clearwood._estimators import parameter_names
from clearwood.codec.documents import Place
from clearwood.exceptions import InputError
from clearwood.rules import Question, RuleList, RuleSet, Tree
from clearwood.rules.serialise import RULES, STATISTIC, conditions_of
from clearwood.rules.stored_parts import BINS, bins_of, parts_of_bins
from clearwood.rules.tree import tree_of_questions
from clearwood.simplifiers.fab.inference import Iteration, Mixture

SIDES = ("yes", "no")

MOST_DEPTH = 2
"""Entries that are lists in a dictionary: scores are per size."""


class ModelNotSaved(BaseEstimator):
    """Placeholder for a model that is not saved with its rules.

    Parameters
    ----------
    description : str
        Description of the model.
    allows_missing : bool
        Whether it accepts missing values.
    """

    def __init__(self, description: str = "", allows_missing: bool = False) -> None:
        self.description = description
        self.allows_missing = allows_missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.allows_missing
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoReturn:
        """Raise an error: files hold the rules, not their model."""
        raise InputError(
            f"The model ({self.description}) was not saved with its rules; to fit "
            "again, set one: set_params(estimator=...)."
        )


# Kinds


def _finite(value: Any) -> Any:
    """The same plain data, with null for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _read_plain(place: Place, depth: int = 0) -> Any:
    """Strings, numbers, booleans, and lists of them, by name.

    A null among numbers is NaN.
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


def _read_step(place: Place) -> Iteration:
    parts = place.items()
    if len(parts) != len(Iteration._fields):
        place.fail("other numbers", f"{Iteration._fields}")
    bound, size, passes = parts
    known = math.nan if bound.value is None else bound.number()
    return Iteration(known, size.integer(0), passes.integer(0))


PLAIN = codec.FieldType(_finite, _read_plain)
STEP = codec.FieldType(_finite, _read_step)
SHARE = codec.FieldType(float, Place.number)
COUNT = codec.FieldType(float, lambda place: int(place.number()))
NUMBERS = {
    "single_split_fidelity_": SHARE, "n_rules_": COUNT, "n_iter_": COUNT,
    "n_start_components_": COUNT, "n_nodes_": COUNT, "selected_": COUNT,
}  # fmt: skip
"""Scalar results, of the methods that have them."""
NUMERIC = codec.within(-np.inf, np.inf, "numbers")
MODEL = codec.record(
    codec.Field("description", codec.TEXT), codec.Field("allows_missing", codec.FLAG)
)
TREE = codec.FieldType(
    lambda tree: list(_questions(tree.root, conditions_of(tree.features))),
    lambda place: place,  # Read once its rules are known.
)


def _questions(node: Any, condition: codec.FieldType) -> Iterator[Any]:
    """Nodes of a tree in preorder, the first side first; null for a leaf."""
    if not isinstance(node, Question):
        yield None
        return
    yield {side: condition.write(getattr(node, side)) for side in SIDES}
    yield from _questions(node.if_yes, condition)
    yield from _questions(node.if_no, condition)


def _read_tree(place: Place, rules: RuleSet) -> Tree:
    """A tree from its splits and the rules that are its leaves."""
    condition = conditions_of(rules.features)
    sides = codec.record(*(codec.Field(side, condition) for side in SIDES))
    below: list[Any] = []
    for node in reversed(place.items()):
        if node.value is None:
            below.append(None)
            continue
        question = sides.read(node)
        if len(below) < 2 or question["yes"].feature != question["no"].feature:
            node.fail("half a split", "both sides of one feature")
        yes, no = question.values()
        below.append(Question(yes, no, below.pop(), below.pop()))
    is_whole = len(below) == 1 and place.size() == 2 * rules.n_rules - 1
    if not is_whole or not isinstance(rules, RuleList):
        place.fail("no tree of these rules", "one with a leaf per rule")
    try:
        return tree_of_questions(below[0], rules)
    except RecursionError:
        place.fail("a tree that is too deep", "one that can be read")


# Files. Attributes that only some methods have are not set for others; files of
# version 0.1 lack (part of) how rules were found.

PARTS = (
    codec.Field("model", codec.optional(MODEL)),
    codec.Field("rules", RULES, "rules_"),
    codec.Field("path", codec.tuple_of(RULES), "path_", null=True),
    codec.Field(
        "shrinkage", codec.optional(codec.mapping_of(codec.NUMBER)), "shrinkage_"
    ),
    *(
        codec.Field(name, kind, absent=codec.UNSET, null=True)
        for name, kind in NUMBERS.items()
    ),
    codec.Together(
        codec.Field("trees", codec.tuple_of(TREE), "trees_"),
        codec.Field("chosen_tree", codec.integer(0)),
    ),
    codec.Field(
        "cv_results", codec.optional(PLAIN), "cv_results_", absent=codec.UNSET
    ),
    codec.Together(codec.Field("stability_loss", STATISTIC, "stability_loss_")),
    codec.Together(
        codec.Field("history", codec.tuple_of(STEP), "history_"),
        codec.Field("restarts", codec.tuple_of(PLAIN), "restarts_"),
    ),
    codec.Together(
        *BINS,
        codec.Array("mixture_features", "i", below="features"),
        codec.Array("mixture_table", "f", "bins components", check=codec.FINITE),
        codec.Array("mixture_log_share", "f", "components", check=NUMERIC),
        codec.Array("mixture_values", "f", "components outputs", check=codec.FINITE),
    ),
)  # fmt: skip


def _take(found: Any) -> dict[str, Any]:
    taken: dict[str, Any] = {"model": None}
    if hasattr(found, "trees_"):
        taken["chosen_tree"] = [t is found.tree_ for t in found.trees_].index(True)
    mixture: Mixture | None = getattr(found, "_mixture", None)
    if mixture is not None:
        taken |= parts_of_bins(mixture.bins)
        taken |= {f"mixture_{name}": own for name, own in mixture._asdict().items()}
        taken["mixture_values"] = mixture.values.reshape(len(mixture.log_share), -1)
    if found.estimator is not None:
        taken["model"] = {
            "description": str(dict(found.rules_.about).get("model", "")),
            "allows_missing": get_tags(found).input_tags.allow_nan,
        }
    return taken


def _make(kind: Any, values: dict[str, Any]) -> Any:
    settings = values["settings"].items()
    values["settings"] = {k: tuple(v) if type(v) is list else v for k, v in settings}
    found = codec.filled(kind(), values, values["n_features_in_"])
    classes = codec.classes_of(found)
    path = getattr(found, "path_", ())
    fits = all(rules.classes == classes for rules in (found.rules_, *path))
    codec.require(fits, "rules, path", "rules of the same classes")
    if hasattr(found, "trees_"):
        fits = len(path) == len(found.trees_) > 0
        codec.require(fits, "trees", "one per size", "another number of trees")
        pairs = zip(found.trees_, path, strict=True)
        found.trees_ = tuple(_read_tree(place, rules) for place, rules in pairs)
        chosen = values["chosen_tree"]
        codec.require(chosen < len(path), "chosen_tree", "the position of a tree")
        found.tree_ = found.trees_[chosen]
    if hasattr(found, "history_"):
        found.restarts_ = list(found.restarts_)
        found.selected_ = getattr(found, "selected_", None)
        if values["cuts"] is not codec.UNSET or not found.restarts_:
            found._mixture = _read_mixture(found.rules_, values)
    if values["model"] is not None:
        found.estimator = ModelNotSaved(**values["model"])
    return found


def _read_mixture(rules: RuleSet, values: dict[str, Any]) -> Mixture | None:
    """Mixture of FAB or EM; None if there was nothing to fit."""
    if values["cuts"] is codec.UNSET:
        return None
    names = ("features", "table", "log_share", "values")
    bins = bins_of(rules.features, values)
    mixture = Mixture(bins, *(values[f"mixture_{name}"] for name in names))
    fits = len(mixture.table) == bins.n_bins.sum() and len(mixture.log_share) > 0
    codec.require(fits, "mixture_table", "a row per bin, a column per component")
    fits = mixture.values.shape[1] == (len(rules.classes) or 1)
    codec.require(fits, "mixture_values", "one value, or a probability per class")
    if rules.classes:
        shares = np.isclose(mixture.values.sum(axis=1), 1) & (mixture.values >= 0).all()
        codec.require(shares, "mixture_values", "probabilities that sum to 1")
        return mixture
    return mixture._replace(values=mixture.values[:, 0])


class _Saved(dict[str, codec.Saved]):
    """Each class's format on first access, so that one method loads no others."""

    def __missing__(self, name: str) -> codec.Saved:
        kind = getattr(simplifiers, name)
        names = sorted(parameter_names(kind) - {"estimator", "cv"})
        n_columns = codec.Field("n_columns", codec.integer(1), "n_features_in_")
        parts = (*codec.COLUMNS, n_columns, codec.Settings(*names), *PARTS)
        self[name] = codec.Saved(kind, parts, _make, _take)
        return self[name]


SAVED = _Saved()
