"""The Python function says what the rules say, with nothing but itself."""

import ast
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.wording import refuses, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleSum


def functions_of(rule_set, name="predict"):
    text = rule_set.to_python(name)
    ast.parse(text, feature_version=(3, 8))
    namespace = {}
    exec(compile(text, "<rules>", "exec"), namespace)
    return namespace


def as_dicts(rule_set, rows):
    """Every second missing value is left out."""
    for i, row in enumerate(rows):
        pairs = zip(rule_set.features.names, row)
        yield {k: v for k, v in pairs if v is not None or i % 2}


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=60)
@given(st.data())
def test_it_says_what_predict_says(data):
    rules = data.draw(samples.rule_sets())
    rows = data.draw(samples.tables(rules))
    functions = functions_of(rules)
    said = [functions["predict"](row) for row in as_dicts(rules, rows)]
    assert said == rules.predict(rows).tolist()
    if rules.classes:
        said = [functions["predict_proba"](row) for row in as_dicts(rules, rows)]
        assert all(tuple(shares) == rules.classes for shares in said)
        shares = [list(shares.values()) for shares in said]
        np.testing.assert_allclose(shares, rules.predict_proba(rows), rtol=1e-12)
    else:
        assert "predict_proba" not in functions


def example(names=("age", "ward"), labels=("a", "b"), classes=("no", "yes")):
    space = FeatureSpace(names, (None, labels))
    rule = Rule(
        (Interval(0, 1.5, 60.0), CategorySet(1, (1,), unseen=True)),
        classes[1],
        (0.25, 0.75),
    )
    return RuleList((rule,), Rule((), classes[0], (0.9, 0.1)), space, classes)


def test_how_it_reads():
    text = example().to_python("triage")
    same_text(text.split("\n\n\n", 1)[1])


@pytest.mark.parametrize(
    "name", ["", "a b", "class", "float", "_x", "f():\n  pass\ndef g", "é"]
)
def test_a_name_that_no_function_can_have(name):
    with refuses(InputError):
        example().to_python(name)


@pytest.mark.parametrize("name", ["row", "float", "class", "x1", "total", "_number"])
def test_features_may_be_called_like_words_of_the_text(name):
    space = FeatureSpace((name, "x0", "totals"), (None,) * 3)
    rule = Rule((Interval(0, 1.0), Interval(1, 2.0), Interval(2, 3.0)), 1.0)
    for kind in (RuleList, RuleSum):
        rules = kind((rule,), Rule((), 0.0), space)
        predict = functions_of(rules)["predict"]
        assert predict({name: 2.0, "x0": 3.0, "totals": 4.0}) == 1.0
        assert predict({name: 3.0, "x0": 2.0, "totals": 4.0}) == 0.0


def test_what_cannot_be_written():
    space = FeatureSpace.numeric(1)
    with pytest.raises(InputError, match="finite"):
        RuleList((), Rule((), math.inf), space).to_python()
    label = (1, 2)
    rules = RuleList((), Rule((), label, (1.0,)), space, (label,))
    with refuses(InputError):
        rules.to_python()
    hashed = FeatureSpace(("hue",), ((3510494104, "y"),), lookup=("hash",))
    rule = Rule((CategorySet(0, (0,)),), 1.0)
    with refuses(InputError, match="as_in"):
        RuleList((rule,), Rule((), 0.0), hashed).to_python()
    known = hashed.as_in([["x"], ["y"]])
    predict = functions_of(RuleList((rule,), Rule((), 0.0), known))["predict"]
    assert [predict({"hue": hue}) for hue in ("x", "y", "z", None)] == [1, 0, 0, 0]


def test_a_number_and_its_text_are_one_category_where_the_text_is_hashed():
    space = FeatureSpace(("hue",), (("5", "1"),), lookup=("hash",))
    rules = RuleList((Rule((CategorySet(0, (0, 1)),), 1.0),), Rule((), 0.0), space)
    predict = functions_of(rules)["predict"]
    cells = ["5", 5, 5.0, True, 5.5, math.nan]
    assert [predict({"hue": cell}) for cell in cells] == [1, 1, 1, 1, 0, 0]
    assert rules.predict([[cell] for cell in cells]).tolist() == [1, 1, 1, 1, 0, 0]


def test_minus_infinity_lies_below_all_numbers():
    rules = RuleList(
        (Rule((Interval(0, high=-math.inf),), 1.0),),
        Rule((), 0.0),
        FeatureSpace.numeric(1, ["x"]),
    )
    cells = [-math.inf, -1.7976931348623157e308, 0.0, math.inf, None]
    says = functions_of(rules)["predict"]
    assert [says({"x": cell}) for cell in cells] == [1.0, 0.0, 0.0, 0.0, 0.0]


def test_a_number_that_counts_as_missing_is_not_anything():
    space = FeatureSpace(("x",), (None,), missing_at=(-999.0,))
    rules = RuleList((Rule((Interval(0),), 1.0),), Rule((), 0.0), space)
    predict = functions_of(rules)["predict"]
    assert [predict({"x": x}) for x in (5.0, -999.0, None)] == [1.0, 0.0, 0.0]
