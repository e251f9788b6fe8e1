"""Databases say what the rules say: of numbers, texts, dates and what is missing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import engines, samples

from clearwood.rules.exports.dialects import BASES


@pytest.fixture(scope="module", params=engines.ENGINES)
def engine(request):
    """A dialect, and how to ask a database of it."""
    if request.param in BASES:
        pytest.importorskip("sqlglot")
    return request.param, engines.ENGINES[request.param]()


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
