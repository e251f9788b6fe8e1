"""Rule sets as JSON, and back, trusting nothing that is read.

The format is described by ``rule_set.schema.json`` beside this file. Reading checks
everything again and names the place of what is wrong: ``rules[2].conditions[0].low``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._cityhash import category_hash
from clearwood._features import LOOKUPS, FeatureSpace
from clearwood._json import Place, parse_json
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.conditions import CategorySet, Condition, Interval
from clearwood.rules.kinds import KINDS
from clearwood.rules.rule import Rule
from clearwood.rules.rule_set import RuleSet

FORMAT = "clearwood.rule_set"
VERSION = 1
TOP = (
    "format", "version", "clearwood", "task", "target", "classes", "named",
    "float32", "features", "combine", "rules", "otherwise", "about",
)  # fmt: skip
KIND_OF = {kind.combine: kind for kind in KINDS}
MOST_BYTES = 64 * 2**20
STATISTICS = (
    "support",
    "caught",
    "agreement",
    "precision",
    "spread",
    "agreement_caught",
    "precision_caught",
    "low",
    "high",
    "disagreement",
)


def rules_to_json(rule_set: RuleSet) -> str:
    """A rule set as JSON text."""
    from clearwood import __version__

    features = rule_set.features
    document = {
        "format": FORMAT,
        "version": VERSION,
        "clearwood": __version__,
        "task": rule_set.task,
        "target": rule_set.target,
        "classes": [plain(label) for label in rule_set.classes],
        "named": features.named,
        "float32": features.float32,
        "features": [feature_to_dict(features, d) for d in range(features.n_features)],
        "combine": rule_set.combine,
        "rules": [_rule_to_dict(rule, rule_set) for rule in rule_set.rules],
        "otherwise": _rule_to_dict(rule_set.otherwise, rule_set),
        "about": rule_set.about,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def feature_to_dict(features: FeatureSpace, d: int) -> dict[str, Any]:
    """One feature as the format writes it."""
    labels = features.categories[d]
    return {
        "name": features.names[d],
        "categories": None if labels is None else [plain(label) for label in labels],
        "lookup": features.lookup[d],
        "missing_at": features.missing_at[d],
    }


def _rule_to_dict(rule: Rule, rule_set: RuleSet) -> dict[str, Any]:
    numbers = {name: getattr(rule, name) for name in STATISTICS}
    return {
        "conditions": [
            _condition_to_dict(c, rule_set.features) for c in rule.conditions
        ],
        "prediction": plain(rule.prediction),
        "probabilities": [float(p) for p in rule.probabilities],
        "scores": [float(s) for s in rule.scores],
        **({"weight": float(rule.weight)} if rule_set.has_weights else {}),
        **{k: None if math.isnan(v) else float(v) for k, v in numbers.items()},
        "instead": None if rule.instead is None else plain(rule.instead),
    }


def _condition_to_dict(condition: Condition, features: FeatureSpace) -> dict[str, Any]:
    name = features.names[condition.feature]
    if isinstance(condition, CategorySet):
        labels = features.categories[condition.feature] or ()
        return {
            "feature": name,
            "categories": [plain(labels[code]) for code in condition.codes],
            "missing": condition.missing,
            "unseen": condition.unseen,
        }
    if condition.low == math.inf:
        return {"feature": name, "only_missing": True}
    return {
        "feature": name,
        "low": None if condition.low == -math.inf else condition.low,
        "high": _high_to_json(condition.high),
        "missing": condition.missing,
    }


def _high_to_json(high: float) -> float | str | None:
    # Where data holds minus infinity, a model may cut there.
    return "-inf" if high == -math.inf else None if high == math.inf else high


def plain(value: Any) -> Any:
    """A label as JSON can hold it, or an error."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"Cannot write {value!r} to JSON; labels must be finite.")
    if not isinstance(value, str | bool | int | float):
        raise InputError(
            f"Cannot write the label {value!r} of type {type(value).__name__} to JSON; "
            "use text, numbers or booleans as labels."
        )
    return value


def read_rules(path: str | Path) -> RuleSet:
    """Read rules from a JSON file."""
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise ModelFormatError(
                f"{path}: {size} bytes are too many for a rule set "
                f"(at most {MOST_BYTES})."
            )
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ModelFormatError(f"{path}: not a text file in UTF-8.") from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    try:
        return rules_from_json(text)
    except ModelFormatError as error:
        raise ModelFormatError(f"{path}: {error}") from None


def rules_from_json(text: str) -> RuleSet:
    """Read a rule set from JSON text."""
    document = parse_json(
        text, "rules as RuleSet.save or 'clearwood simplify --out' write them"
    )
    top = Place(document, "")
    if document.get("format") != FORMAT:
        raise ModelFormatError(
            f"format: expected {FORMAT!r}; not a Clearwood rule set, as RuleSet.save "
            "and 'clearwood simplify --out' write them."
        )
    if top.value(int, "version") != VERSION:
        raise ModelFormatError(
            f"version: expected {VERSION}, found {document['version']!r}; read it with "
            "the version of Clearwood that wrote it."
        )
    top.value(str, "clearwood")
    combine = top.value(str, "combine")
    if combine not in KIND_OF:
        raise ModelFormatError(f"combine: expected one of {tuple(KIND_OF)}.")
    kind = KIND_OF[combine]
    top.only(*TOP)
    features = read_features(top)
    classes = top.labels("classes") or ()
    task = "classification" if classes else "regression"
    if top.value(str, "task") != task or len(classes) == 1:
        raise ModelFormatError("task: does not agree with the number of classes.")
    about = top.value(dict, "about")
    if not all(isinstance(v, str) for v in about.values()):
        raise ModelFormatError("about: expected text only.")
    otherwise = _read_rule(top.place("otherwise"), features, classes, kind)
    if otherwise.conditions:
        raise ModelFormatError("otherwise.conditions: expected none.")
    rules = tuple(_read_rule(p, features, classes, kind) for p in top.places("rules"))
    for i, rule in enumerate(rules):
        if not rule.conditions:
            raise ModelFormatError(f"rules[{i}].conditions: expected at least one.")
    target = top.value(str, "target")
    try:
        return kind(rules, otherwise, features, classes, target, about)
    except InputError as error:
        raise ModelFormatError(f"rules: {error}") from None


def read_features(top: Place) -> FeatureSpace:
    """The features of a document, all checked."""
    entries = top.places("features")
    for place in entries:
        place.only("name", "categories", "lookup", "missing_at")
    names = tuple(place.value(str, "name") for place in entries)
    if len(set(names)) != len(names):
        raise ModelFormatError("features: names must differ.")
    return FeatureSpace(
        names,
        tuple(place.labels("categories", or_none=True) for place in entries),
        top.value(bool, "named"),
        tuple(_read_lookup(place) for place in entries),
        tuple(_read_missing_at(place) for place in entries),
        top.value(bool, "float32"),
    )


def _read_missing_at(place: Place) -> float | None:
    """A number that counts as missing in this feature, or none."""
    given = place.value(object, "missing_at")
    return None if given is None else place.number("missing_at")


def _read_lookup(place: Place) -> Any:
    lookup = place.value(str, "lookup")
    labels = place.labels("categories", or_none=True) or ()
    if lookup not in LOOKUPS or not _fits(lookup, labels):
        raise ModelFormatError(
            f"{place.path}.lookup: found {lookup!r}, expected one of {LOOKUPS} that "
            "fits the categories."
        )
    return lookup


def _fits(lookup: str, labels: tuple) -> bool:
    """Whether every label is the category of the cells that a reader expects."""
    if lookup == "integer":
        # Cells are float64 numbers, looked up by bisection.
        whole = all(type(x) is int and 0 <= x <= 2**53 for x in labels)
        return whole and list(labels) == sorted(labels)
    if lookup == "hash":
        hashes = [category_hash(x) if isinstance(x, str) else x for x in labels]
        whole = all(type(x) is int and 0 <= x < 2**32 for x in hashes)
        return whole and len(set(hashes)) == len(hashes)
    return True


def _read_rule(
    place: Place, features: FeatureSpace, classes: tuple, kind: type[RuleSet]
) -> Rule:
    place.only(
        "conditions", "prediction", "probabilities", "scores", "instead", *STATISTICS,
        *["weight"] * kind.has_weights,
    )  # fmt: skip
    conditions = tuple(_read_condition(p, features) for p in place.places("conditions"))
    asked = [condition.feature for condition in conditions]
    if len(set(asked)) != len(asked):
        raise ModelFormatError(f"{place.path}.conditions: a feature is asked twice.")
    shares, scored = (classes, ()) if kind.lines_predict else ((), classes)
    scores = _read_per_class(place, "scores", scored)
    probabilities = _read_per_class(place, "probabilities", shares)
    if any(p < 0 or p > 1 for p in probabilities) or (
        probabilities and abs(sum(probabilities) - 1.0) > 1e-6
    ):
        raise ModelFormatError(
            f"{place.path}.probabilities: expected numbers from 0 to 1 that sum to 1."
        )
    prediction: Any = (
        _read_class(place, "prediction", classes)
        if classes
        else place.number("prediction")
    )
    instead = place.value(object, "instead")
    if instead is not None:
        instead = _read_class(place, "instead", classes)
    statistics = {
        name: math.nan if place.value(object, name) is None else place.number(name)
        for name in STATISTICS
    }
    for name in ("support", "caught", "spread", "disagreement"):
        if statistics[name] < 0:
            raise ModelFormatError(f"{place.path}.{name}: expected at least 0.")
    if statistics["low"] > statistics["high"]:
        raise ModelFormatError(f"{place.path}.low: expected at most high.")
    return Rule(
        conditions, prediction, probabilities, scores=scores, instead=instead,
        weight=place.number("weight") if kind.has_weights else 1.0, **statistics,
    )  # fmt: skip


def _read_class(place: Place, key: str, classes: tuple) -> Any:
    """One of the classes, of the very type that it has there."""
    label = place.value(object, key)
    known = [c for c in classes if type(c) is type(label) and c == label]
    if not known:
        raise ModelFormatError(f"{place.at(key)}: {label!r} is no class.")
    return known[0]


def _read_per_class(place: Place, key: str, classes: tuple) -> tuple[float, ...]:
    """One number for each of some classes."""
    found = tuple(place.numbers(key))
    if len(found) != len(classes):
        raise ModelFormatError(
            f"{place.path}.{key}: expected {len(classes)} numbers, found {len(found)}."
        )
    return found


def _read_condition(place: Place, features: FeatureSpace) -> Condition:
    name = place.value(str, "feature")
    if name not in features.names:
        raise ModelFormatError(f"{place.path}.feature: {name!r} is not in features.")
    feature = features.names.index(name)
    labels = features.categories[feature]
    if "categories" in place.content:
        place.only("feature", "categories", "missing", "unseen")
        chosen = place.labels("categories") or ()
        absent = [label for label in chosen if label not in (labels or ())]
        if labels is None or absent:
            raise ModelFormatError(
                f"{place.path}.categories: {absent or list(chosen)} are not "
                f"categories of {name!r}."
            )
        codes = tuple(sorted(labels.index(label) for label in chosen))
        missing, unseen = place.value(bool, "missing"), place.value(bool, "unseen")
        return CategorySet(feature, codes, missing, unseen)
    if labels is not None:
        raise ModelFormatError(f"{place.path}: {name!r} needs a set of categories.")
    if "only_missing" in place.content:
        place.only("feature", "only_missing")
        if place.content["only_missing"] is not True:
            raise ModelFormatError(f"{place.path}.only_missing: expected true.")
        return Interval(feature, low=math.inf, missing=True)
    at_bottom = place.content.get("high") == "-inf"
    if at_bottom:
        place.content["high"] = None
    low, high = (
        default if place.value(object, bound) is None else place.number(bound)
        for bound, default in (("low", -math.inf), ("high", math.inf))
    )
    place.only("feature", "low", "high", "missing")
    if at_bottom:
        high = -math.inf
    if not low < high and not low == high == -math.inf:
        raise ModelFormatError(f"{place.path}: low {low} is not below high {high}.")
    return Interval(feature, low, high, place.value(bool, "missing"))
