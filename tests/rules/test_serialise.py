"""Rule sets survive JSON; nothing else passes for one."""

import json
from copy import deepcopy
from dataclasses import replace
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood import load, save
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import KINDS, ColumnInfo
from clearwood.exceptions import ClearwoodError, InputError, ModelFormatError
from clearwood.rules import (
    CategorySet,
    Interval,
    Rule,
    RuleList,
    RuleSet,
    RuleStatistics,
    RuleSum,
)
from clearwood.rules.serialise import KIND_OF

SCHEMA = json.loads(
    files("clearwood.rules").joinpath("rule_set.schema.json").read_text()
)
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.floats(-1e9, 1e9)
BOUND = st.one_of(st.just(-np.inf), NUMBER)
NAME = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=8
)
SAID = st.sampled_from([ColumnInfo(), ColumnInfo("<b>", "mg/dl", "in the blood, é")])


@st.composite
def rule_sets(draw):
    names = draw(st.lists(NAME, min_size=2, max_size=3, unique=True))
    labels = tuple(draw(st.lists(NAME, min_size=1, max_size=4, unique=True)))
    said = draw(SAID)
    number = replace(said, kind=draw(st.sampled_from(KINDS)), name="")
    space = FeatureSpace(
        tuple(names),
        (labels, *[None] * (len(names) - 1)),
        info=(said, number, *[ColumnInfo()] * (len(names) - 2)),
    )
    classes = draw(
        st.sampled_from([(), ("no", "yes"), (0, 1, 2), (False, True), (0.5, 1.5)])
    )

    combine = draw(st.sampled_from(["first", "sum", "average"]))

    def rule(conditions):
        if combine == "average":
            weight = draw(st.sampled_from([0.0, 0.1, 1.0, 1e100]))
            if not classes:
                return Rule(
                    conditions,
                    draw(SMALL),
                    weight=weight,
                    statistics=RuleStatistics(support=3.0),
                )
            shares = (1.0, *[0.0] * (len(classes) - 1))
            return Rule(conditions, classes[0], shares, weight=weight)
        if combine == "sum" and classes:
            scores = tuple(
                draw(st.lists(SMALL, min_size=len(classes), max_size=len(classes)))
            )
            return Rule(
                conditions,
                classes[0],
                scores=scores,
                statistics=RuleStatistics(support=3.0),
            )
        if combine == "sum":
            return Rule(conditions, draw(SMALL))
        if classes:
            shares = np.eye(len(classes))[draw(st.integers(0, len(classes) - 1))]
            said = classes[int(shares.argmax())]
            return Rule(
                conditions,
                said,
                tuple(shares.tolist()),
                statistics=RuleStatistics(
                    support=3.0,
                    assigned=2.0,
                    precision_assigned=draw(st.sampled_from([0.25, float("nan")])),
                    disagreement=1.0,
                    instead=draw(st.sampled_from([None, *{*classes} - {said}])),
                ),
            )
        low, high = sorted([draw(NUMBER), draw(NUMBER)])
        agreement = draw(st.floats(max_value=1.0, allow_infinity=False))
        return Rule(
            conditions,
            draw(NUMBER),
            statistics=RuleStatistics(agreement=agreement, low=low, high=high),
        )

    rules = []
    for _ in range(draw(st.integers(0, 3))):
        codes = draw(st.frozensets(st.integers(0, len(labels) - 1), min_size=1))
        interval = draw(
            st.one_of(
                st.builds(Interval, st.just(1), BOUND, NUMBER, st.booleans()).filter(
                    lambda c: c.low < c.high
                ),
                st.just(Interval(1)),
                st.just(Interval(1, low=np.inf, missing=True)),
            )
        )
        category = CategorySet(0, tuple(sorted(codes)), draw(st.booleans()), False)
        rules.append(rule(draw(st.sampled_from([(category, interval), (interval,)]))))
    kind = KIND_OF[combine]
    return kind(tuple(rules), rule(()), space, classes, draw(NAME), {"model": "x"})


@settings(max_examples=50)
@given(rule_sets())
def test_round_trip_and_schema(rules):
    text = rules.to_json()
    VALIDATOR.validate(json.loads(text))
    again = RuleSet.from_json(text)
    assert again == rules
    assert again.to_json() == text
    assert [type(r.prediction) for r in again] == [type(r.prediction) for r in rules]


def example():
    space = FeatureSpace(("age", "sex"), (None, ("f", "m")))
    conditions = (Interval(0, 1.5, 60.0), CategorySet(1, (1,)))
    rule = Rule(
        conditions, "yes", (0.25, 0.75), statistics=RuleStatistics(low=0.5, high=0.75)
    )
    return RuleList((rule,), Rule((), "no", (0.9, 0.1)), space, ("no", "yes"))


def test_file(tmp_path):
    save(example(), tmp_path / "rules.json")
    with refuses(InputError):
        save(example(), tmp_path / "rules.json")
    save(example(), tmp_path / "rules.json", overwrite=True)
    again = load(tmp_path / "rules.json")
    X = [[30.0, "m"], [30.0, "f"], [90.0, "m"]]
    assert again.predict(X).tolist() == ["yes", "no", "no"]
    np.testing.assert_array_equal(again.predict_proba(X), example().predict_proba(X))


def test_a_sum_too_large_to_add_up_is_refused():
    rules = RuleSum((), Rule((), 1.0), FeatureSpace.numeric(1))
    text = rules.to_json().replace('"prediction": 1.0', '"prediction": 1e308')
    with refuses(ModelFormatError):
        RuleSet.from_json(text)


def test_how_cells_are_read_survives():
    space = FeatureSpace(
        ("dose", "ward", "drug"),
        (None, (2, 7), ("a", "3", 77)),
        lookup=("exact", "integer", "hash"),
        missing_at=(0.0, None, None),
        float32=True,
    )
    rule = Rule((Interval(0, 1.0), CategorySet(1, (1,))), "yes", (0.25, 0.75))
    rules = RuleList((rule,), Rule((), "no", (0.9, 0.1)), space, ("no", "yes"))
    again = RuleSet.from_json(rules.to_json())
    assert again == rules and again.features == space
    assert again.predict([[2.0, 7.9, 3]]).tolist() == ["yes"]
    document = json.loads(rules.to_json())
    # Labels of which a rule could speak, and that no cell would ever find.
    for d, labels in [
        (1, [7, 2]),
        (1, [-3, 7]),
        (1, [7, 2**53 + 1]),
        (1, [7, 10**400]),
        (2, ["x", 3510494104]),
        (2, ["x", -4]),
    ]:
        damaged = deepcopy(document)
        damaged["features"][d]["categories"] = labels
        with refuses(ModelFormatError, match=rf"features\[{d}\]"):
            RuleSet.from_json(json.dumps(damaged))


def test_many_categories_and_conditions_are_read_in_time():
    # To look for every label and name in a list of them would take minutes.
    n, n_labels = 10_000, 100_000
    labels = tuple(f"c{i}" for i in range(n_labels))
    space = FeatureSpace(("ward", *map(str, range(n))), (labels, *[None] * n))
    sets = [CategorySet(0, tuple(range(first, n_labels, 2))) for first in (0, 1)]
    bounds = tuple(Interval(d, low=0.5) for d in range(1, n + 1))
    rules = RuleList(
        (Rule((sets[0],), 1.0), Rule((sets[1], *bounds), 2.0)), Rule((), 0.0), space
    )
    assert RuleSet.from_json(rules.to_json()) == rules


def edited(path, value):
    document = json.loads(example().to_json())
    at = document
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "other"),
        (("version",), 99),
        (("version",), True),
        (("combine",), "mean"),
        (("combine",), "sum"),
        (("rules", 0, "scores"), [1.0, 2.0]),
        (("task",), "regression"),
        (("rules",), None),
        (("rules",), {}),
        (("rules", 0), 3),
        (("rules", 0, "prediction"), "maybe"),
        (("rules", 0, "probabilities"), [1.0]),
        (("rules", 0, "probabilities"), [0.1, 0.1]),
        (("rules", 0, "probabilities"), [0.5, "x"]),
        (("rules", 0, "support"), "many"),
        (("rules", 0, "conditions", 0, "feature"), "height"),
        (("rules", 0, "conditions", 0, "low"), "x"),
        (("rules", 0, "conditions", 0, "missing"), 1),
        (("rules", 0, "conditions", 1, "categories"), ["x"]),
        (("rules", 0, "conditions", 0, "feature"), "sex"),
        (("features", 0, "name"), "sex"),
        (("features", 1, "categories"), ["m", "m"]),
        (("otherwise", "conditions"), [{"feature": "age", "only_missing": True}]),
        (("features", 1, "lookup"), "nearest"),
        (("features", 1, "lookup"), "integer"),
        (("features", 0, "missing_at"), "zero"),
        (("about",), {"model": 3}),
        (("about",), {"model": "\ud800"}),
        (("target",), "\ud800"),
        (("more",), 1),
        (("rules", 0, "more"), 1),
        (("features", 0, "more"), 1),
        (("rules", 0, "support"), -5),
        (("rules", 0, "disagreement"), -5),
        (("rules", 0, "instead"), "maybe"),
        (("rules", 0, "low"), 0.9),
        (("rules", 0, "conditions", 0, "high"), 1.0),
        (("rules", 0, "conditions", 0, "only_missing"), True),
        (("rules", 0, "conditions", 0), {"feature": "age", "only_missing": False}),
    ],
)  # fmt: skip
def test_every_fault_is_named(path, value):
    with refuses(ModelFormatError):
        RuleSet.from_json(edited(path, value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        "[" * 100_000,
        '{"format": NaN}',
        '{"format": "a", "format": "b"}',
        example().to_json().replace("1.5", "1e999"),
        example().to_json().replace("1.5", "9" * 400),
    ],
)
def test_what_is_no_rule_set_is_refused(text):
    with pytest.raises(ModelFormatError):
        RuleSet.from_json(text)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
def test_mutants_are_refused_or_sound():
    """Byte edits: a ModelFormatError, or a rule set that predicts; nothing else."""
    rng = np.random.default_rng(0)
    text = example().to_json().encode()
    refused = 0
    for _ in range(600):
        mutant = bytearray(text)
        for _ in range(rng.integers(1, 4)):
            i = int(rng.integers(len(mutant)))
            kind = rng.integers(3)
            if kind == 0:
                mutant[i] = int(rng.integers(32, 127))
            elif kind == 1:
                del mutant[i : i + int(rng.integers(1, 30))]
            else:
                mutant[i:i] = mutant[i : i + int(rng.integers(1, 30))]
        try:
            rules = RuleSet.from_json(mutant.decode(errors="replace"))
        except ModelFormatError:
            refused += 1
            continue
        VALIDATOR.validate(json.loads(rules.to_json()))
        assert len(rules.predict(np.zeros((2, rules.features.n_features)))) == 2
    assert 0 < refused < 600


def test_files_that_cannot_be_read(tmp_path):
    with refuses(InputError):
        load(tmp_path / "absent.json")
    (tmp_path / "image.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ModelFormatError, match="image.json"):
        load(tmp_path / "image.json")


def test_labels_that_json_cannot_hold_are_refused():
    rules = RuleList(
        (), Rule((), (1, 2), (1.0, 0.0)), FeatureSpace.numeric(1), ((1, 2), (3,))
    )
    with refuses(ClearwoodError):
        rules.to_json()


def test_only_rule_sets_are_saved(tmp_path):
    with pytest.raises(InputError, match="save rules"):
        save({"not": "rules"}, tmp_path / "x.json")


def test_minus_infinity_as_the_only_number_survives():
    space = FeatureSpace.numeric(1)
    rules = RuleList((Rule((Interval(0, high=-np.inf),), 1.0),), Rule((), 0.0), space)
    text = rules.to_json()
    VALIDATOR.validate(json.loads(text))
    again = RuleSet.from_json(text)
    assert again == rules
    assert again.predict([[-np.inf], [-1e300], [np.nan]]).tolist() == [1.0, 0.0, 0.0]
    with refuses(ModelFormatError):
        RuleSet.from_json(text.replace('"low": null', '"low": 3.0', 1))


def test_what_is_told_of_columns_is_checked_and_may_be_absent():
    document = json.loads(example().to_json())
    assert set(document["features"][0]) == {
        "name", "categories", "lookup", "missing_at",
    }  # fmt: skip
    for key, value in [
        ("kind", "colour"), ("unit", 3), ("unit", "a\nb"), ("units", "mg"),
    ]:  # fmt: skip
        wrong = json.loads(json.dumps(document))
        wrong["features"][0][key] = value
        with refuses(ModelFormatError):
            RuleSet.from_json(json.dumps(wrong))
    wrong = json.loads(json.dumps(document))
    wrong["features"][1]["kind"] = "integer"
    with refuses(ModelFormatError):
        RuleSet.from_json(json.dumps(wrong))


def test_numbers_of_rows_are_kept_beside_their_weights():
    numbers = {"support": 7.5, "assigned": 5.0, "rows": 30.0, "rows_assigned": 5.0}
    rule = Rule((Interval(0, low=1.0),), 1.0, statistics=RuleStatistics(**numbers))
    rules = RuleList((rule,), Rule((), 0.0), FeatureSpace.numeric(1))
    document = json.loads(rules.to_json())
    assert document["rules"][0]["rows"] == 30.0
    # Where it is the weight, once is enough.
    assert "rows_assigned" not in document["rules"][0]
    again = RuleSet.from_json(rules.to_json()).rules[0]
    assert (again.rows, again.rows_assigned, again.support) == (30.0, 5.0, 7.5)


END = st.one_of(st.sampled_from([-np.inf, np.inf, np.nan, 0.0, -0.0, 1]), NUMBER)
ROWS = np.array([-np.inf, -1e300, -1.0, 0.0, 5e-324, 1.0, 1e300, np.inf, np.nan])


@given(END, END, st.booleans(), st.booleans())
def test_whatever_interval_can_be_saved_is_loaded(low, high, is_point, missing):
    """Rows tell intervals apart, and empty ones are refused before they are saved."""
    condition = Interval(1, low, low if is_point else high, missing)
    space = FeatureSpace(("hue", "size"), (("red",), None))
    rule = Rule((condition,), 1.0)
    with np.errstate(over="ignore"):
        above = np.nextafter(condition.low, np.inf)
    column = np.append(ROWS, [low, high, above])
    if np.isnan([condition.low, condition.high]).any() or not (
        missing or condition.matches(column).any()
    ):
        with pytest.raises(InputError, match="'size'"):
            RuleList((rule,), Rule((), 0.0), space)
        return
    rules = RuleList((rule,), Rule((), 0.0), space)
    (again,) = RuleSet.from_json(rules.to_json()).rules[0].conditions
    np.testing.assert_array_equal(again.matches(column), condition.matches(column))


@pytest.mark.parametrize(
    "conditions",
    [
        (Interval(0),),
        (CategorySet(1, (0,)),),
        (CategorySet(0, (1,)),),
        (Interval(1, 2.0), Interval(1, high=1.0)),
    ],
)
def test_what_could_not_be_loaded_is_no_rule_set(conditions):
    space = FeatureSpace(("hue", "size"), (("red",), None))
    with refuses(InputError):
        RuleList((Rule(conditions, 1.0),), Rule((), 0.0), space)


def test_numbers_of_numpy_are_saved_too(tmp_path):
    space = FeatureSpace.numeric(1)
    bounds = np.int64(1), np.float32(2.5)
    rule = Rule((Interval(0, *bounds, missing=np.bool_(True)),), 1.0)
    save(RuleList((rule,), Rule((), 0.0), space), tmp_path / "rules.json")
    assert load(tmp_path / "rules.json").rules[0].conditions == rule.conditions
