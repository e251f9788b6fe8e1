"""Rule sets as JSON, and back, trusting nothing that is read.

The format is described by ``rule_set.schema.json`` beside this file. Reading checks
everything again and names the place of what is wrong: ``rules[2].conditions[0].low``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from clearwood._documents import Place, parse_json, refuse_repeated, shown
from clearwood._files import read_bytes
from clearwood._words.labels import check_names
from clearwood.columns.cityhash import category_hash
from clearwood.columns.feature_space import LOOKUPS, FeatureSpace
from clearwood.columns.info import KINDS as COLUMN_KINDS
from clearwood.columns.info import ColumnInfo, Kind
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.conditions import CategorySet, Condition, Interval
from clearwood.rules.rule import Rule, wrong_statistic
from clearwood.rules.rule_kinds import KINDS
from clearwood.rules.rule_set import RuleSet

FORMAT = "clearwood.rule_set"
VERSION = 1
KIND_OF = {kind.combine: kind for kind in KINDS}
TOP = (
    "format", "version", "clearwood", "task", "target", "classes", "named",
    "float32", "features", "combine", "rules", "otherwise", "about",
)  # fmt: skip
SAID = (
    ("shown", "name"), ("unit", "unit"), ("description", "description"),
    ("kind", "kind"),
)  # fmt: skip
"""How the format and ``ColumnInfo`` name what is told of a column."""
Known = dict[str, tuple[int, dict[Any, int] | None]]
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
ROWS = {"rows": "support", "rows_caught": "caught"}
"""Numbers of rows, and the weight of the same rows."""


def rules_to_json(rule_set: RuleSet) -> str:
    """A rule set as JSON text, without names that would not be read back."""
    document = rules_to_dict(rule_set)
    features, about = rule_set.features, rule_set.about
    check_names(features.names, "A column of the rules")
    check_names((rule_set.target,), "The target")
    check_names((*about, *about.values()), "What the rules are about")
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def rules_to_dict(rule_set: RuleSet) -> dict[str, Any]:
    """A rule set as plain values, whatever its columns are called."""
    from clearwood import __version__

    return {
        "format": FORMAT,
        "version": VERSION,
        "clearwood": __version__,
        "task": rule_set.task,
        "target": rule_set.target,
        "classes": [plain(label) for label in rule_set.classes],
        **features_to_dict(rule_set.features),
        "combine": rule_set.combine,
        "rules": [_rule_to_dict(rule, rule_set) for rule in rule_set.rules],
        "otherwise": _rule_to_dict(rule_set.otherwise, rule_set),
        "about": dict(rule_set.about),
    }


def columns_to_dict(estimator: Any) -> dict[str, Any]:
    """Classes and column names of a fitted estimator, for an archive."""
    classes = getattr(estimator, "classes_", None)
    names = getattr(estimator, "feature_names_in_", None)
    check_names(() if names is None else names, "A column of the training data")
    return {
        "classes": None if classes is None else [plain(c) for c in classes.tolist()],
        "column_names": None if names is None else [str(name) for name in names],
    }


def features_to_dict(features: FeatureSpace) -> dict[str, Any]:
    """Names and categories, as :func:`read_features` takes them."""
    return {
        "named": features.named,
        "float32": features.float32,
        "features": [_feature_to_dict(features, d) for d in range(features.n_features)],
    }


def _feature_to_dict(features: FeatureSpace, d: int) -> dict[str, Any]:
    """One feature as the format writes it."""
    labels = features.categories[d]
    return {
        "name": features.names[d],
        "categories": None if labels is None else [plain(label) for label in labels],
        "lookup": features.lookup[d],
        "missing_at": features.missing_at[d],
        **_said_of(features.info[d]),
    }


def _said_of(info: ColumnInfo) -> dict[str, str]:
    """What is told of a column beside its name in the data, where that is anything."""
    usual = ColumnInfo()
    told = {key: (getattr(info, name), getattr(usual, name)) for key, name in SAID}
    return {key: said for key, (said, as_usual) in told.items() if said != as_usual}


def _rule_to_dict(rule: Rule, rule_set: RuleSet) -> dict[str, Any]:
    numbers = {name: getattr(rule, name) for name in STATISTICS}
    return {
        "conditions": [
            condition_to_dict(c, rule_set.features) for c in rule.conditions
        ],
        "prediction": plain(rule.prediction),
        "probabilities": [float(p) for p in rule.probabilities],
        "scores": [float(s) for s in rule.scores],
        **({"weight": float(rule.weight)} if rule_set.has_weights else {}),
        **{k: float(v) if math.isfinite(v) else None for k, v in numbers.items()},
        **({"expected": rule.expected} if math.isfinite(rule.expected) else {}),
        # Where rows have weights; else their number is the weight.
        **{k: getattr(rule, k) for k, v in ROWS.items() if _differs(rule, k, v)},
        "instead": None if rule.instead is None else plain(rule.instead),
    }


def _differs(rule: Rule, rows: str, weight: str) -> bool:
    known = math.isfinite(getattr(rule, weight))
    return known and getattr(rule, rows) != getattr(rule, weight)


def condition_to_dict(condition: Condition, features: FeatureSpace) -> dict[str, Any]:
    """A condition, as :func:`read_condition` takes it."""
    name = features.names[condition.feature]
    if isinstance(condition, CategorySet):
        labels = features.categories[condition.feature] or ()
        return {
            "feature": name,
            "categories": [plain(labels[code]) for code in condition.codes],
            "missing": bool(condition.missing),
            "unseen": bool(condition.unseen),
        }
    if not condition.has_values:
        return {"feature": name, "only_missing": True}
    return {
        "feature": name,
        "low": None if condition.low == -math.inf else float(condition.low),
        "high": _high_to_json(float(condition.high)),
        "missing": bool(condition.missing),
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
    return _read_document(read_bytes(path), str(path))


def rules_from_json(text: str) -> RuleSet:
    """Read a rule set from JSON text."""
    return _read_document(text.encode(errors="surrogatepass"), "rule set")


def _read_document(data: bytes, name: str) -> RuleSet:
    top = Place(parse_json(data, name), name)
    if top["format"].value != FORMAT:
        raise ModelFormatError(
            f"{name}: format: expected {FORMAT!r}; not a Clearwood rule set, as "
            "RuleSet.save and 'clearwood simplify --out' write them."
        )
    version = top["version"].integer()
    if version != VERSION:
        raise ModelFormatError(
            f"{name}: version: expected {VERSION}, found {version}; read it with the "
            "version of Clearwood that wrote it."
        )
    top["clearwood"].text()
    combine = top["combine"].text()
    if combine not in KIND_OF:
        top["combine"].fail(shown(combine), f"one of {tuple(KIND_OF)}")
    kind = KIND_OF[combine]
    top.only(*TOP)
    features = read_features(top)
    known = known_features(features)
    classes = top["classes"].labels()
    task = "classification" if classes else "regression"
    if top["task"].text() != task or len(classes) == 1:
        top["task"].fail(f"{len(classes)} classes", "a task that agrees with them")
    about = {key: top["about"][key].name() for key in top["about"].keys()}
    otherwise = _read_rule(top["otherwise"], known, classes, kind)
    if otherwise.conditions:
        top["otherwise"]["conditions"].fail("some", "none")
    rules = []
    for place in top["rules"].items():
        rules.append(_read_rule(place, known, classes, kind))
        if not rules[-1].conditions:
            place["conditions"].fail("none", "at least one")
    target = top["target"].name()
    try:
        check_names(about, "about")
        return kind(tuple(rules), otherwise, features, classes, target, about)
    except InputError as error:
        raise ModelFormatError(f"{name}: rules: {error}") from None


def read_columns(estimator: Any, top: Place, n_columns: int) -> None:
    """Give an estimator what :func:`columns_to_dict` kept of one."""
    estimator.n_features_in_ = n_columns
    if top["classes"].value is not None:
        estimator.classes_ = np.array(top["classes"].labels())
    if top["column_names"].value is not None:
        names = [name.name() for name in top["column_names"].items()]
        refuse_repeated(names, top["column_names"], "the name")
        if len(names) != n_columns:
            top["column_names"].fail(f"{len(names)} names", "one per feature")
        estimator.feature_names_in_ = np.array(names, dtype=object)


def read_features(top: Place) -> FeatureSpace:
    """The features of a document, all checked."""
    entries = top["features"].items()
    for place in entries:
        place.only("name", "categories", "lookup", "missing_at", *dict(SAID))
    names = tuple(place["name"].name() for place in entries)
    refuse_repeated(names, top["features"], "the name")
    return FeatureSpace(
        names,
        tuple(_unless_null(place["categories"], Place.labels) for place in entries),
        top["named"].flag(),
        tuple(_read_lookup(place) for place in entries),
        tuple(_unless_null(place["missing_at"], Place.number) for place in entries),
        top["float32"].flag(),
        tuple(_read_info(place) for place in entries),
    )


def _read_info(place: Place) -> ColumnInfo:
    """What older files do not say."""
    told = {name: place[key].name() for key, name in SAID if key in place}
    kind = told.pop("kind", "number")
    if kind not in COLUMN_KINDS or (kind != "number" and place["categories"].value):
        place["kind"].fail(
            shown(kind), f"one of {COLUMN_KINDS}, for a column of numbers"
        )
    return ColumnInfo(**told, kind=cast(Kind, kind))


def _unless_null(place: Place, read: Callable[[Place], Any]) -> Any:
    return None if place.value is None else read(place)


def _read_lookup(place: Place) -> Any:
    lookup = place["lookup"].text()
    labels = _unless_null(place["categories"], Place.labels) or ()
    if lookup not in LOOKUPS or not _fits(lookup, labels):
        expected = f"one of {LOOKUPS} that fits the categories"
        place["lookup"].fail(shown(lookup), expected)
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


def known_features(features: FeatureSpace) -> Known:
    """By name, a feature's position and the codes of its categories, if any."""
    codes: list[dict[Any, int] | None] = [
        None if labels is None else {label: code for code, label in enumerate(labels)}
        for labels in features.categories
    ]
    return {name: (d, codes[d]) for d, name in enumerate(features.names)}


def _read_rule(place: Place, known: Known, classes: tuple, kind: type[RuleSet]) -> Rule:
    place.only(
        "conditions", "prediction", "probabilities", "scores", "instead", *STATISTICS,
        *ROWS, "expected", *["weight"] * kind.has_weights,
    )  # fmt: skip
    asked = place["conditions"].items()
    conditions = tuple(read_condition(p, known) for p in asked)
    names = [p["feature"].text() for p in asked]
    refuse_repeated(names, place["conditions"], "the feature")
    shares, scored = (classes, ()) if kind.lines_predict else ((), classes)
    scores = _read_per_class(place["scores"], scored)
    probabilities = _read_per_class(place["probabilities"], shares)
    if any(p < 0 or p > 1 for p in probabilities) or (
        probabilities and abs(sum(probabilities) - 1.0) > 1e-6
    ):
        found = shown(str(probabilities))
        place["probabilities"].fail(found, "numbers from 0 to 1 that sum to 1")
    prediction: Any = (
        _read_class(place["prediction"], classes)
        if classes
        else place["prediction"].number()
    )
    instead = _unless_null(place["instead"], lambda p: _read_class(p, classes))
    statistics = {
        name: math.nan if place[name].value is None else place[name].number()
        for name in STATISTICS
    }
    written = (name for name in (*ROWS, "expected") if name in place)
    statistics |= {name: place[name].number() for name in written}
    rule = Rule(
        conditions, prediction, probabilities, scores=scores, instead=instead,
        weight=place["weight"].number() if kind.has_weights else 1.0, **statistics,
    )  # fmt: skip
    if wrong := wrong_statistic(rule, bool(classes), kind.lines_predict):
        name, expected = wrong
        place[name].fail(shown(place[name].value), expected)
    return rule


def _read_class(place: Place, classes: tuple) -> Any:
    """One of the classes, of the very type that it has there."""
    for label in classes:
        if type(label) is type(place.value) and label == place.value:
            return label
    place.fail(f"{shown(place.value)}, which is no class", "one of them")


def _read_per_class(place: Place, classes: tuple) -> tuple[float, ...]:
    """One number for each of some classes."""
    return tuple(place.numbers(length=len(classes)).tolist())


def read_condition(place: Place, known: Known) -> Condition:
    """One condition, on features as :func:`known_features` knows them."""
    name = place["feature"].text()
    if name not in known:
        place["feature"].fail(shown(name), "a name that is in features")
    feature, code = known[name]
    if "categories" in place:
        place.only("feature", "categories", "missing", "unseen")
        chosen = place["categories"].labels()
        absent = [label for label in chosen if code is None or label not in code]
        if code is None or absent:
            found = f"{shown(str(absent))}, which are not categories"
            place["categories"].fail(found, f"some of {shown(name)}")
        codes = tuple(sorted(code[label] for label in chosen))
        missing, unseen = place["missing"].flag(), place["unseen"].flag()
        return CategorySet(feature, codes, missing, unseen)
    if code is not None:
        place.fail(f"no categories of {shown(name)}", "it needs a set of them")
    if "only_missing" in place:
        place.only("feature", "only_missing")
        if not place["only_missing"].flag():
            place["only_missing"].fail("false", "true")
        return Interval(feature, low=math.inf, missing=True)
    place.only("feature", "low", "high", "missing")
    low = -math.inf if place["low"].value is None else place["low"].number()
    high = _high_of(place["high"])
    interval = Interval(feature, low, high, place["missing"].flag())
    if not interval.has_values:
        place.fail(f"low {low}, which is not below high {high}", "it below")
    return interval


def _high_of(place: Place) -> float:
    """The inverse of ``_high_to_json``."""
    if place.value == "-inf":
        return -math.inf
    return math.inf if place.value is None else place.number()
