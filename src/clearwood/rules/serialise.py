"""Rule sets to and from JSON; all input is validated.

The format is described by ``rule_set.schema.json`` beside this file. Errors name the
place of an invalid value: ``rules[2].conditions[0].low``.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from clearwood import codec
from clearwood._words.labels import check_names, type_text
from clearwood.codec.documents import Place, parse_json, refuse_repeated, shown
from clearwood.codec.fields import plain
from clearwood.codec.files import check_version, file_date, read_bytes, write_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.outcomes import OUTCOMES, Outcome, Quantile, Survival, outcome_of
from clearwood.rules.conditions import CategorySet, Condition, Interval
from clearwood.rules.evaluation.statistics import RuleStatistics
from clearwood.rules.rule import Rule
from clearwood.rules.stored_parts import CURVE, OF_OUTCOME

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

FORMAT = "clearwood.rule_set"
VERSION = 1
KIND_OF: dict[str, Any] = {}
"""The kinds of rule sets, by their names in files."""

TOP = (
    "format", "version", "clearwood", "date", "task", "target", "classes", "named",
    "survival", "quantile", "float32", "features", "combine", "rules", "otherwise",
    "about",
)  # fmt: skip
STATISTICS = (
    "support", "assigned", "agreement", "precision", "std", "agreement_assigned",
    "precision_assigned", "low", "high", "disagreement",
)  # fmt: skip
ROWS = {"rows": "support", "rows_assigned": "assigned"}
"""Numbers of rows, and the weight of the same rows."""
KNOWN = ("frequency", "expected", *ROWS)
"""Written only where known."""

SELECTED = codec.checked(
    codec.tuple_of(codec.integer(0)),
    lambda counts: len(counts) == 2 and counts[0] <= counts[1],
    "a number of folds and the number of all folds",
)

ABOUT = codec.mapping_of(codec.NAME)

# Whole documents


def rules_to_dict(rule_set: RuleSet) -> dict[str, Any]:
    """A rule set as plain values, whatever the names of its columns."""
    from clearwood import __version__

    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "clearwood": __version__,
        "task": rule_set.task,
        "target": rule_set.target,
        "classes": codec.LABELS.write(rule_set.classes),
    }
    if isinstance(rule_set.outcome, Survival):
        known = vars(rule_set.outcome).items()
        document["survival"] = OF_OUTCOME.write(
            {k: v for k, v in known if k != "n_causes" or v > 1}
        )
    if isinstance(rule_set.outcome, Quantile):
        document["quantile"] = rule_set.outcome.level
    codec.FEATURES.write(vars(rule_set).get, document)
    rule = rules_of(rule_set.features, rule_set.classes, type(rule_set))
    return document | {
        "combine": rule_set.combine,
        "rules": codec.tuple_of(rule).write(rule_set.rules),
        "otherwise": rule.write(rule_set.otherwise),
        "about": dict(rule_set.about),
    }


def _write_rules(rule_set: RuleSet) -> dict[str, Any]:
    """As ``rules_to_dict``, without names that reading would reject."""
    document = rules_to_dict(rule_set)
    features, about = rule_set.features, rule_set.about
    check_names(features.names, "A column of the rules")
    check_names((rule_set.target,), "The target")
    check_names((*about, *about.values()), "What the rules are about")
    return document


def _read_rules(top: Place) -> RuleSet:
    if top["format"].value != FORMAT:
        raise ModelFormatError(
            f"{top.where}: format: expected {FORMAT!r}; not a Clearwood rule set, as "
            "RuleSet.save and 'clearwood simplify --out' write them."
        )
    check_version(top["version"].integer(), VERSION, top.where)
    for key in {"clearwood", "date"} & set(top.keys()):
        top[key].name()
    combine = top["combine"].text()
    if combine not in KIND_OF:
        top["combine"].fail(shown(combine), f"one of {tuple(KIND_OF)}")
    kind = KIND_OF[combine]
    top.only(*TOP)
    values: dict[str, Any] = {}
    codec.FEATURES.read(values, top)
    features, classes = values["features"], top["classes"].labels()
    outcome = _read_outcome(top, classes)
    if top["task"].text() != outcome.task or len(classes) == 1:
        top["task"].fail(f"{len(classes)} classes", "a task that agrees with them")
    about = ABOUT.read(top["about"])
    rule = rules_of(features, classes, kind)
    otherwise = rule.read(top["otherwise"])
    if otherwise.conditions:
        top["otherwise"]["conditions"].fail("some", "none")
    rules = codec.tuple_of(rule).read(top["rules"])
    for i, own in enumerate(rules):
        if not own.conditions:
            top["rules"].items()[i]["conditions"].fail("none", "at least one")
    target = top["target"].name()
    try:
        check_names(about, "about")
        return kind(rules, otherwise, features, classes, target, about, outcome)
    except InputError as error:
        raise ModelFormatError(f"{top.where}: rules: {error}") from None


def _read_outcome(top: Place, classes: tuple[Any, ...]) -> Outcome:
    if classes:
        return outcome_of(classes)
    if "survival" in top:
        return Survival((), **OF_OUTCOME.read(top["survival"]))
    if "quantile" in top:
        level = top["quantile"].number()
        if not 0 < level < 1:
            top["quantile"].fail(shown(level), "a share between 0 and 1")
        return Quantile(level=level)
    is_effect = top["task"].text() == "effect"
    return OUTCOMES["effect"] if is_effect else outcome_of(())


RULES = codec.FieldType(_write_rules, _read_rules)
"""A whole rule set in a document."""


def file_text(rules: Any) -> str:
    """Text of a file of rules: their JSON, with the date."""
    document = rules._document()
    head = {key: document[key] for key in ("format", "version", "clearwood")}
    return json_text(head | {"date": file_date()} | document)


def json_text(document: dict[str, Any]) -> str:
    """A document as text of a file."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class Storable:
    """Mixin for writing and reading JSON files.

    Every kind of ``RuleSet`` with a name for files can be read.
    """

    def __init_subclass__(cls) -> None:
        if "combine" in vars(cls):
            KIND_OF[vars(cls)["combine"]] = cls

    def to_json(self) -> str:
        """The rules as JSON text.

        That of a ``RuleSet`` has a schema, ``clearwood/rules/rule_set.schema.json``;
        ``MultiOutputRules`` hold one such document per target.
        """
        return json_text(self._document())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read text written by :meth:`to_json`; other text raises ModelFormatError.

        ``RuleSet`` reads rule sets of all kinds, every other class only its own.
        """
        return cls._read(text.encode(errors="surrogatepass"), "rule set")

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the rules to a JSON file, atomically."""
        write_text(path, file_text(self), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file written by :meth:`save`, as :meth:`from_json` does."""
        return cls._read(read_bytes(path), str(path))

    @classmethod
    def _read(cls, data: bytes, where: str) -> Self:
        return cls._of_document(Place(parse_json(data, where), where))

    def _document(self: Any) -> dict[str, Any]:
        return RULES.write(self)

    @classmethod
    def _of_document(cls, top: Place) -> Any:
        rules = RULES.read(top)
        if not issubclass(type(rules), cls):
            raise ModelFormatError(
                f"This is {type_text(rules)}, no {cls.__name__}; RuleSet.load "
                "and RuleSet.from_json read both."
            )
        return rules


# Rules

NUMBER, WEIGHT = (codec.FieldType(write, Place.number) for write in (plain, float))
STATISTIC = codec.FieldType(
    lambda value: float(value) if math.isfinite(value) else None,
    lambda place: math.nan if place.value is None else place.number(),
)
"""A number; null if unknown."""


def rules_of(
    features: FeatureSpace, classes: tuple[Any, ...], kind: type[RuleSet]
) -> codec.FieldType:
    """A rule of a rule set of these features and classes."""

    def read_class(place: Place) -> Any:
        """A class label of exactly the same type."""
        for label in classes:
            if type(label) is type(place.value) and label == place.value:
                return label
        place.fail(f"{shown(place.value)}, which is no class", "one of them")

    def check(place: Place, rule: Rule) -> None:
        names = [features.names[own.feature] for own in rule.conditions]
        refuse_repeated(names, place["conditions"], "the feature")
        shares = rule.probabilities
        if any(p < 0 or p > 1 for p in shares) or (
            shares and abs(sum(shares) - 1.0) > 1e-6
        ):
            expected = "numbers from 0 to 1 that sum to 1"
            place["probabilities"].fail(shown(str(shares)), expected)
        name, expected = rule.statistics.wrong(
            rule.prediction, bool(classes), kind.rules_predict
        )
        if name:
            place[name].fail(shown(place[name].value), expected)

    label = codec.FieldType(plain, read_class)
    n = len(classes)
    of_rule = codec.record(
        codec.Field("conditions", codec.tuple_of(conditions_of(features))),
        codec.Field("prediction", label if classes else NUMBER),
        codec.Field("probabilities", _numbers(n if kind.rules_predict else 0)),
        codec.Field("scores", _numbers(0 if kind.rules_predict else n)),
        *[codec.Field("weight", WEIGHT)] * kind.has_weights,
        *(codec.Field(name, STATISTIC) for name in STATISTICS),
        *(codec.Field(k, codec.NUMBER, absent=codec.UNSET) for k in KNOWN),
        codec.Field("selected", SELECTED, absent=codec.UNSET),
        codec.Field("curve", CURVE, absent=codec.UNSET),
        codec.Field("instead", codec.optional(label)),
        make=_rule_of,
        check=check,
    )
    return codec.FieldType(lambda rule: of_rule.write(_values_of(rule)), of_rule.read)


def _numbers(n: int) -> codec.FieldType:
    return codec.FieldType(
        lambda numbers: [float(x) for x in numbers],
        lambda place: tuple(place.numbers(length=n).tolist()),
    )


def _values_of(rule: Rule) -> dict[str, Any]:
    """Fields of a rule to write; numbers of rows only where rows have weights."""
    values = vars(rule) | vars(rule.statistics)
    for name in ("frequency", "expected"):
        if not math.isfinite(values[name]):
            values[name] = codec.UNSET
    for name in ("selected", "curve"):
        if not values[name]:
            values[name] = codec.UNSET
    for rows, weight in ROWS.items():
        if not math.isfinite(values[weight]) or values[rows] == values[weight]:
            values[rows] = codec.UNSET
    return values


def _rule_of(**values: Any) -> Rule:
    known = {k: v for k, v in values.items() if k in vars(RuleStatistics())}
    predicted = {k: v for k, v in values.items() if k not in known}
    return Rule(**predicted, statistics=RuleStatistics(**known))


# Conditions

LOW = codec.FieldType(
    lambda low: None if low == -math.inf else float(low),
    lambda place: -math.inf if place.value is None else place.number(),
)
"""A bound; null if infinite."""


def _write_high(high: float) -> float | str | None:
    # Data may hold minus infinity, and a model may have a threshold there.
    return "-inf" if high == -math.inf else None if high == math.inf else float(high)


def _read_high(place: Place) -> float:
    if place.value == "-inf":
        return -math.inf
    return math.inf if place.value is None else place.number()


HIGH = codec.FieldType(_write_high, _read_high)


def conditions_of(features: FeatureSpace) -> codec.FieldType:
    """A condition on one of these features."""
    position = {name: d for d, name in enumerate(features.names)}
    codes: list[dict[Any, int] | None] = [
        None if labels is None else {label: code for code, label in enumerate(labels)}
        for labels in features.categories
    ]

    def read_feature(place: Place) -> int:
        name = place.text()
        if name not in position:
            place.fail(shown(name), "a name that is in features")
        return position[name]

    named = codec.FieldType(lambda d: features.names[d], read_feature)
    feature, missing = codec.Field("feature", named), codec.Field("missing", codec.FLAG)
    labels = codec.Field("categories", codec.LABELS)
    unseen = codec.Field("unseen", codec.FLAG)
    of_labels = codec.record(feature, labels, missing, unseen)
    of_missing = codec.record(feature, codec.Field("only_missing", codec.FLAG))
    bounds = codec.Field("low", LOW), codec.Field("high", HIGH)
    of_values = codec.record(feature, *bounds, missing, make=Interval)

    def write(condition: Condition) -> dict[str, Any]:
        if isinstance(condition, CategorySet):
            known = features.categories[condition.feature] or ()
            chosen = [known[code] for code in condition.codes]
            return of_labels.write(vars(condition) | {"categories": chosen})
        if not condition.has_values:
            return of_missing.write(vars(condition) | {"only_missing": True})
        return of_values.write(vars(condition))

    def read(place: Place) -> Condition:
        d = read_feature(place["feature"])
        code, name = codes[d], shown(features.names[d])
        if "categories" in place:
            labels = of_labels.read(place)
            chosen = labels["categories"]
            absent = [label for label in chosen if code is None or label not in code]
            if code is None or absent:
                found = f"{shown(str(absent))}, which are not categories"
                place["categories"].fail(found, f"some of {name}")
            own = tuple(sorted(code[label] for label in chosen))
            return CategorySet(d, own, labels["missing"], labels["unseen"])
        if code is not None:
            place.fail(f"no categories of {name}", "it needs a set of them")
        if "only_missing" in place:
            if not of_missing.read(place)["only_missing"]:
                place["only_missing"].fail("false", "true")
            return Interval(d, low=math.inf, missing=True)
        values = of_values.read(place)
        if not values.has_values:
            found = f"low {values.low}, which is not below high {values.high}"
            place.fail(found, "it below")
        return values

    return codec.FieldType(write, read)
