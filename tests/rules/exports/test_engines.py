"""Databases say what the rules say: of numbers, texts, dates and what is missing."""

import datetime
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import engines, samples

from clearwood.columns.info import ColumnInfo
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
from clearwood.rules.exports.dialects import BASES


@pytest.fixture(scope="module", params=engines.ENGINES)
def engine(request):
    """A dialect, and how to ask a database of it."""
    if request.param in BASES:
        pytest.importorskip("sqlglot")
    with engines.ENGINES[request.param]() as ask:
        yield request.param, ask


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=60)
@given(st.data())
def test_engines_say_what_predict_says(engine, data):
    dialect, ask = engine
    rules = data.draw(samples.rule_sets(dates=True))
    rows = data.draw(samples.tables(rules))
    shares = len(rules.classes) * data.draw(st.booleans())
    query = rules.to_sql(dialect, table=engines.TABLE, probabilities=shares > 0)
    said = [row[-1 - shares :] for row in ask(rules, rows, query)]
    assert [row[0] for row in said] == rules.predict(rows).tolist()
    if shares:
        found = np.array([row[1:] for row in said])
        np.testing.assert_allclose(found, rules.predict_proba(rows), rtol=1e-12, atol=0)


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_names_and_labels_stay_data(engine, text):
    dialect, ask = engine
    rules = samples.example(text, (text, text + "b"), ("yes", text))
    rows = [[2.0, text], [2.0, text + "b"], [2.0, "b"], [99.0, "b"]]
    said = ask(rules, rows, rules.to_sql(dialect, table=engines.TABLE))
    assert [row[-1] for row in said] == ["yes", text, text, "yes"]


@pytest.mark.parametrize("missing", [False, True])
def test_truth_values_are_no_numbers(engine, missing):
    dialect, ask = engine
    space = FeatureSpace(("flag",), (None,), info=(ColumnInfo(kind="boolean"),))
    asked = {
        "is true": Interval(0, low=0.5, missing=missing),
        "is false": Interval(0, high=0.5, missing=missing),
        "is either": Interval(0, high=2.0, missing=missing),
        "is neither": Interval(0, low=2.0, missing=missing),
    }
    rows = [[True], [False], [None]]
    for words, condition in asked.items():
        rules = RuleList((Rule((condition,), 1.0),), Rule((), 0.0), space)
        said = ask(rules, rows, rules.to_sql(dialect, table=engines.TABLE))
        cells = np.array([[1.0], [0.0], [np.nan]])
        assert [row[-1] for row in said] == rules.predict(cells).tolist(), words


@given(cell=st.sampled_from([-math.inf, -engines.LARGEST, None]))
def test_only_minus_infinity_is_at_most_minus_infinity(engine, cell):
    dialect, ask = engine
    rule = Rule((Interval(0, high=-math.inf, missing=False),), 1.0)
    rules = RuleList((rule,), Rule((), 0.0), FeatureSpace(("x",), (None,)))
    said = ask(rules, [[cell]], rules.to_sql(dialect, table=engines.TABLE))
    assert said[0][-1] == rules.predict([[cell]])[0]


NOON = datetime.datetime(2019, 4, 1, 12)
BOUNDS = {
    "before 1970": datetime.datetime(1965, 6, 1),
    "a day": datetime.datetime(2019, 4, 1),
    "an hour": NOON,
    "a fraction": NOON + datetime.timedelta(milliseconds=250),
}


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("kind", ["date", "datetime", "zoned"])
def test_cells_beside_a_bound_are_told_apart(engine, kind, bound):
    """A millisecond, an hour and a day to either side, wherever the session is."""
    dialect, ask = engine
    at, zone = BOUNDS[bound], datetime.UTC if kind == "zoned" else None
    steps = [datetime.timedelta(milliseconds=1), datetime.timedelta(hours=1)]
    steps.append(datetime.timedelta(days=1))
    cells = [at, *(at + step for step in steps), *(at - step for step in steps)]
    cells = [cell.replace(tzinfo=zone) for cell in cells]
    if kind == "date":
        cells = [cell.date() for cell in cells]
    info = ColumnInfo(
        kind="date" if kind == "date" else "datetime", unit="UTC" if zone else ""
    )
    days = (at - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    space = FeatureSpace(("at",), (None,), info=(info,))
    for low, high in ((days, math.inf), (-math.inf, days), (days - 0.5, days + 0.5)):
        asked = Rule((Interval(0, low, high, False),), "yes", (0.0, 1.0))
        rules = RuleList((asked,), Rule((), "no", (1.0, 0.0)), space, ("no", "yes"))
        rows = [[cell] for cell in [*cells, None]]
        said = ask(rules, rows, rules.to_sql(dialect, table=engines.TABLE))
        wanted = [
            "yes" if cell is not None and low < _days(cell) <= high else "no"
            for (cell,) in rows
        ]
        assert [row[-1] for row in said] == wanted == rules.predict(rows).tolist()


def _days(cell):
    """Days since 1970."""
    if not isinstance(cell, datetime.datetime):
        cell = datetime.datetime(cell.year, cell.month, cell.day)
    since = cell.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
    return since / datetime.timedelta(days=1)
