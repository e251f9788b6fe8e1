"""Rules from damaged files: refused, or as usable as any others.

A field of a sound file becomes another value; what still loads must print, predict,
explain, draw, export and report, and be the same when it is written and read again.
"""

import json
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood import report
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import ClearwoodError, InputError, ModelFormatError
from clearwood.rules import (
    CategorySet,
    Interval,
    Rule,
    RuleAverage,
    RuleList,
    RuleSet,
    RuleStatistics,
    RuleSum,
)

SPACE = FeatureSpace(
    ("age", "sex", "dose"),
    (None, ("f", "m", "x"), None),
    missing_at=(None, None, 0.0),
)
CONDITIONS = (
    (Interval(0, 30.5, 60.0), CategorySet(1, (1, 2))),
    (Interval(2, low=1.5, missing=True),),
    (CategorySet(1, (0,), True, True),),
    (),
)


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({
        "age": rng.integers(20, 80, 60).astype(float),
        "sex": rng.choice(["f", "m", "x"], 60),
        "dose": rng.integers(0, 5, 60).astype(float),
    })  # fmt: skip
    y = np.where(X.age > 50, "yes", np.where(X.dose > 3, "maybe", "no"))
    return X, y


def line(kind, classes, i):
    weight = 0.5 * (i + 1) if kind is RuleAverage else 1.0
    if not classes:
        return Rule(CONDITIONS[i], i + 0.25, weight=weight)
    said = classes[i % len(classes)]
    if kind is RuleSum:
        scores = np.roll(np.arange(len(classes)) / 2.0, i)
        return Rule(CONDITIONS[i], said, scores=tuple(scores.tolist()))
    shares = np.full(len(classes), 0.2 / (len(classes) - 1))
    shares[i % len(classes)] = 0.8
    return Rule(CONDITIONS[i], said, tuple(shares.tolist()), weight=weight)


def documents():
    """One of every kind, with all statistics; for values, two and three classes."""
    X, y = table()
    found = []
    for classes in ((), ("no", "yes"), ("maybe", "no", "yes")):
        truth = y if classes else X.age.to_numpy() / 7
        truth = np.where(truth == "maybe", "no", truth) if len(classes) == 2 else truth
        for kind in (RuleList, RuleSum, RuleAverage):
            *rules, last = [line(kind, classes, i) for i in range(4)]
            rules = kind(tuple(rules), last, SPACE, classes, "goal", {"model": "m"})
            rules = rules.described_on(X, truth, model=np.roll(truth, 1))
            found.append(json.loads(rules.to_json()))
    return found


DOCUMENTS = documents()


def places(value, above=()):
    """The way to every value of a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*above, key)
        if isinstance(part, dict | list):
            yield from places(part, (*above, key))


def at(document, way):
    for key in way:
        document = document[key]
    return document


PLACES = [list(places(document)) for document in DOCUMENTS]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.floats(allow_nan=True),
    st.floats(-2.0, 2.0),
    st.sampled_from(["", "no", "yes", "f", "age", "-inf", "hash", "integer", "<b>\n"]),
    st.sampled_from(["first", "sum", "average", "regression", "a\udc80", "\x1b[2J"]),
    st.lists(st.integers(0, 2), max_size=3),
    st.lists(st.sampled_from(["f", "m", "x"]), max_size=3),
)


@st.composite
def mutants(draw):
    i = draw(st.integers(0, len(DOCUMENTS) - 1))
    document = deepcopy(DOCUMENTS[i])
    for _ in range(draw(st.integers(1, 2))):
        way = draw(st.sampled_from(PLACES[i]))
        try:
            holder, was = at(document, way[:-1]), at(document, way)
        except (LookupError, TypeError):
            continue  # the first change has taken the place away
        change = draw(st.sampled_from(["value", "factor", "copy", "drop"]))
        if change == "drop":
            del holder[way[-1]]
        elif change == "copy":
            source = draw(st.sampled_from(PLACES[i]))
            holder[way[-1]] = deepcopy(at(DOCUMENTS[i], source))
        elif change == "factor" and type(was) in (int, float):
            holder[way[-1]] = was * draw(st.sampled_from([-1, 0, 0.5, 1.0001, 10]))
        else:
            holder[way[-1]] = draw(VALUES)
    return json.dumps(document)


def use(rules, folder):
    """All that can be done with rules that were read."""
    str(rules).encode()
    rules._repr_html_().encode()
    report(rules, folder / "page.html", overwrite=True)
    again = RuleSet.from_json(rules.to_json())
    assert again == rules
    rows = [[31.0, "m", 2.0], [None, "f", 0.0], [55.5, None, None]]
    exports = (rules.to_latex, rules.to_python, rules.to_sql, rules.to_sklearn)
    for do in (
        *exports, lambda: rules.predict(rows), lambda: str(rules.explain(rows[0])),
    ):  # fmt: skip
        try:
            do()
        except ClearwoodError:
            pass  # Not all can be said in every language, and fewer columns not read.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@settings(max_examples=400)
@given(mutants())
def test_what_loads_can_be_used(folder, text):
    try:
        rules = RuleSet.from_json(text)
    except ModelFormatError:
        return
    use(rules, folder)


def test_sound_ones_can_be_used(folder):
    for document in DOCUMENTS:
        use(RuleSet.from_json(json.dumps(document)), folder)


LIST_OF_VALUES, LIST_OF_CLASSES = DOCUMENTS[0], DOCUMENTS[3]
SUM = DOCUMENTS[1]


@pytest.mark.parametrize(
    ("document", "field", "changes"),
    [
        (LIST_OF_CLASSES, "assigned", {"support": None}),
        (LIST_OF_CLASSES, "assigned", {"assigned": 1e9}),
        (LIST_OF_CLASSES, "support", {"support": -1}),
        (LIST_OF_CLASSES, "assigned", {"assigned": -1e-9}),
        (LIST_OF_CLASSES, "agreement", {"agreement": 1.5}),
        (LIST_OF_CLASSES, "agreement_assigned", {"agreement_assigned": -0.5}),
        (LIST_OF_CLASSES, "precision", {"precision": 2}),
        (LIST_OF_CLASSES, "precision_assigned", {"precision_assigned": -1}),
        (LIST_OF_CLASSES, "std", {"std": 1.0}),
        (LIST_OF_CLASSES, "low", {"low": -0.1}),
        (LIST_OF_CLASSES, "high", {"high": 1.1}),
        (LIST_OF_CLASSES, "low", {"low": None}),
        (LIST_OF_CLASSES, "disagreement", {"disagreement": 1e9}),
        (LIST_OF_CLASSES, "disagreement", {"support": None, "assigned": None}),
        (LIST_OF_CLASSES, "instead", {"disagreement": 0, "instead": "no"}),
        (LIST_OF_CLASSES, "instead", {"disagreement": None, "instead": "no"}),
        (LIST_OF_CLASSES, "instead", {"disagreement": 1, "instead": "yes"}),
        (LIST_OF_VALUES, "agreement", {"agreement": 1.5}),
        (LIST_OF_VALUES, "precision", {"precision": 0.5}),
        (LIST_OF_VALUES, "std", {"std": -2}),
        (LIST_OF_VALUES, "low", {"high": None}),
        (LIST_OF_VALUES, "instead", {"instead": 1.0}),
        (SUM, "agreement", {"agreement": 0.5}),
        (SUM, "std", {"std": 0.5}),
    ],
)
def test_statistics_that_cannot_be_are_named(document, field, changes):
    damaged = deepcopy(document)
    damaged["rules"][1].update(changes)
    with refuses(ModelFormatError, match=field):
        RuleSet.from_json(json.dumps(damaged))


def test_by_hand_they_are_refused_too():
    with refuses(InputError, match="5.0"):
        RuleList(
            (),
            Rule((), 1.0, statistics=RuleStatistics(assigned=5.0)),
            FeatureSpace.numeric(1),
        )


def test_sums_of_weights_may_round():
    rule = Rule(
        (),
        1.0,
        statistics=RuleStatistics(
            support=3.0, assigned=3.0000000001, agreement=1.0000000001
        ),
    )
    rules = RuleList((), rule, FeatureSpace.numeric(1))
    assert RuleSet.from_json(rules.to_json()) == rules
