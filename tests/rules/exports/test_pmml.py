"""The PMML means what the rules predict, by the standard and for an evaluator."""

import shutil
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.guides import blocks_of, names_of
from tests.rules.exports import samples
from tests.wording import refuses, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleAverage, RuleList

NO_YES = ("no", "yes")
NAMESPACE = "{http://www.dmg.org/PMML-4_4}"
COMPARE = {
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
}


def holds(predicate, row):
    """True, False or None for unknown, by the tables of the standard."""
    tag = predicate.tag.removeprefix(NAMESPACE)
    if tag in ("True", "False"):
        return tag == "True"
    if tag == "SimplePredicate":
        cell, operator = row[predicate.get("field")], predicate.get("operator")
        if "Missing" in operator:
            return (cell is None) == (operator == "isMissing")
        if cell is None:
            return None
        value = predicate.get("value")
        if isinstance(cell, bool):
            cell = str(cell).lower()
        return COMPARE[operator](cell, value if isinstance(cell, str) else float(value))
    found = [holds(part, row) for part in predicate]
    decisive = predicate.get("booleanOperator") == "or"
    if decisive in found:
        return decisive
    return None if None in found else not decisive


def leaf_of(tree, row):
    assert tree.get("missingValueStrategy") == "none"
    node = tree.find(f"{NAMESPACE}Node")
    while nodes := node.findall(f"{NAMESPACE}Node"):
        node = next(child for child in nodes if holds(child[0], row))
    return node


def predicted(model, row):
    """Score and probabilities, as texts and numbers."""
    if model.tag == f"{NAMESPACE}TreeModel":
        leaf = leaf_of(model, row)
        shares = leaf.findall(f"{NAMESPACE}ScoreDistribution")
        return leaf.get("score"), [float(one.get("probability")) for one in shares]
    *parts, last = [one[1] for one in model.find(f"{NAMESPACE}Segmentation")]
    known = {}
    for part in parts:
        name = part.find(f".//{NAMESPACE}OutputField").get("name")
        trees = [one[1] for one in part.find(f"{NAMESPACE}Segmentation")]
        known[name] = sum(float(leaf_of(tree, row).get("score")) for tree in trees)
    for field in last.iter(f"{NAMESPACE}DerivedField"):
        condition, otherwise, ratio = field[0]
        weight = known[condition[0].get("field")]
        total = known[ratio[0].get("field")]
        known[field.get("name")] = (
            total / weight if weight != 0 else float(otherwise.text)
        )
    tables = last.findall(f"{NAMESPACE}RegressionTable")
    values = np.array([known[table[0].get("name")] for table in tables])
    if last.get("normalizationMethod") == "none":
        return str(values[0]), []
    if last.get("normalizationMethod") == "softmax":
        values = np.exp(values - values.max())
    label = tables[int(values.argmax())].get("targetCategory")
    return label, list(values / values.sum())


def text_of(label):
    return str(label).lower() if isinstance(label, bool) else str(label)


def agree(rules, rows, evaluate):
    wanted = rules.predict(rows).tolist()
    shares = rules.predict_proba(rows) if rules.classes else np.empty((len(rows), 0))
    if rules.combine == "average":
        shares = shares / shares.sum(axis=1, keepdims=True)
    hashed = [lookup == "hash" for lookup in rules.features.lookup]
    for row, label, numbers in zip(rows, wanted, shares):
        cells = [
            None if cell is None or cell != cell else str(cell) if by_hash else cell
            for cell, by_hash in zip(row, hashed)
        ]
        said, found = evaluate(dict(zip(rules.features.names, cells)))
        if rules.classes:
            assert text_of(said) == text_of(label)
        else:
            np.testing.assert_allclose(float(said), label, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(found, numbers, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=60)
@given(st.data())
def test_by_the_standard_it_predicts_as_the_rules_do(data):
    rules = data.draw(samples.rule_sets())
    model = ET.fromstring(rules.to_pmml())[2]
    rows = data.draw(samples.tables(rules))
    agree(rules, rows, lambda row: predicted(model, row))


@pytest.mark.dear
@pytest.mark.skipif(shutil.which("java") is None, reason="the evaluator needs Java")
@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=10, deadline=None)
@given(st.data())
def test_an_evaluator_predicts_as_the_rules_do(data):
    rules = data.draw(samples.rule_sets())
    agree_in_java(rules, data.draw(samples.tables(rules)))


def agree_in_java(rules, rows):
    pypmml = pytest.importorskip("pypmml")
    model = pypmml.Model.fromString(rules.to_pmml())

    def evaluate(row):
        found = model.predict(row)
        shares = [found.pop(f"probability({text_of(x)})") for x in rules.classes]
        return found.popitem()[1], shares

    # Not closed: that would end the machine, of which every model would start another.
    agree(rules, rows, evaluate)


@pytest.mark.skipif(shutil.which("java") is None, reason="PMML4S runs on Java")
def test_the_guide_runs():
    pytest.importorskip("pypmml")
    _, evaluated = blocks_of("serving")
    exec(evaluated, names_of("serving"))


def test_how_it_reads():
    same_text(samples.example().to_pmml().partition("<DataDictionary>")[2])


def test_a_value_with_other_rules_than_the_most_probable_class():
    rules = RuleList((), Rule((), "no", (0.2, 0.8)), FeatureSpace.numeric(1), NO_YES)
    model = ET.fromstring(rules.to_pmml())[2]
    assert predicted(model, {}) == ("no", [0.2, 0.8])


@pytest.mark.parametrize("labels", [("a\0b", "c"), (1, "1")])
def test_what_it_cannot_hold(labels):
    with refuses(InputError):
        samples.example(labels=labels).to_pmml()


def test_names_that_meet():
    rule = Rule((Interval(0, high=1.0), Interval(1, high=1.0)), 2.0)
    space = FeatureSpace(("y", "prediction"), (None, None))
    model = ET.fromstring(RuleList((rule,), Rule((), 0.0), space).to_pmml())
    names = [one.get("name") for one in model.iter(f"{NAMESPACE}DataField")]
    assert names == ["y", "prediction", "y_"]
    assert model.find(f".//{NAMESPACE}OutputField").get("name") == "prediction_"


def test_weights_that_vanish():
    rule = Rule((CategorySet(0, (0,)),), 3.0, weight=0.5)
    otherwise = Rule((), 7.0, weight=0.0)
    rules = RuleAverage((rule,), otherwise, FeatureSpace(("hue",), (("red",),)))
    rows = [["red"], ["blue"], [None]]
    model = ET.fromstring(rules.to_pmml())[2]
    said = [predicted(model, {"hue": hue})[0] for (hue,) in rows]
    assert said == ["3.0", "7.0", "7.0"]
