"""Rules as PMML: a list as one tree, a sum or an average as totals of trees.

A tree has one leaf per rule, whose predicate holds where the rule does; an evaluator
takes the first that holds, which for the last leaf is always. Comparisons with missing
values are false (strategy "none").
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from clearwood.exceptions import InputError
from clearwood.rules.exports.questions import (
    LARGEST,
    LabelQuestion,
    NumberQuestion,
    Piece,
    Question,
    finite_number,
    has_text_cells,
    plain_classes,
    plain_label,
    questions_of,
    refuse_times,
)
from clearwood.rules.exports.totals import totals_of
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

NAMESPACE, VERSION = "http://www.dmg.org/PMML-4_4", "4.4"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NUMBER = {"optype": "continuous", "dataType": "double"}
TYPES = {str: "string", bool: "boolean", int: "integer", float: "double"}


def rules_to_pmml(rule_set: RuleSet) -> str:
    """See :meth:`clearwood.RuleSet.to_pmml`."""
    from clearwood import __version__

    refuse_times(rule_set, "PMML")
    used = sorted(rule_set.used_features)
    pmml = ET.Element("PMML", xmlns=NAMESPACE, version=VERSION)
    header = ET.SubElement(pmml, "Header", description=rule_set.to_text())
    ET.SubElement(header, "Application", name="Clearwood", version=__version__)
    fields = ET.SubElement(pmml, "DataDictionary")
    for d in used:
        _add_input(fields, rule_set, d)
    target = _free(rule_set.target, {rule_set.features.names[d] for d in used})
    field = ET.SubElement(fields, "DataField", _type_of_target(rule_set), name=target)
    for label in map(_text, plain_classes(rule_set)):
        ET.SubElement(field, "Value", value=label)
    if rule_set.combine == "first":
        scores = [
            (rule, _text(plain_label(rule.prediction, "the label")), rule.numbers)
            for rule in rule_set
        ]
        _add_outputs(_add_tree(pmml, rule_set, target, scores), rule_set, target)
    else:
        _add_chain(pmml, rule_set, target)
    ET.indent(pmml)
    text = ET.tostring(pmml, "unicode", xml_declaration=True)
    if found := NOT_IN_XML.search(text):
        raise InputError(
            f"A name or label has the character {found.group()!r}, which XML cannot "
            "hold; rename it."
        )
    return text


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _text(value: Any) -> str:
    """A label or number as PMML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _add_input(fields: ET.Element, rule_set: RuleSet, d: int) -> None:
    name = rule_set.features.names[d]
    field = ET.SubElement(fields, "DataField", name=name)
    if not _is_categorical(rule_set, d):
        field.attrib.update(NUMBER)
        return
    is_text = has_text_cells(rule_set.features, d)
    kind = "string" if is_text else "boolean"
    # No list of values, so that others are valid, too: they satisfy some conditions.
    field.attrib.update(optype="categorical", dataType=kind)


def _is_categorical(rule_set: RuleSet, d: int) -> bool:
    """Whether labels are compared as such, and not as numbers."""
    labels = rule_set.features.categories[d] or ()
    is_flag = bool(labels) and all(isinstance(label, bool) for label in labels)
    return has_text_cells(rule_set.features, d) or is_flag


def _type_of_target(rule_set: RuleSet) -> dict[str, str]:
    kinds = {TYPES[type(label)] for label in plain_classes(rule_set)}
    if not kinds:
        return NUMBER
    kind = kinds.pop() if len(kinds) == 1 else "double"
    return {"optype": "categorical", "dataType": kind}


def _add_model(
    parent: ET.Element, tag: str, rule_set: RuleSet, target: str, **attributes: str
) -> ET.Element:
    """A model of the columns that the rules use; of no target if it is a part."""
    is_class = bool(rule_set.classes and target)
    task = "classification" if is_class else "regression"
    model = ET.SubElement(parent, tag, attributes, functionName=task)
    schema = ET.SubElement(model, "MiningSchema")
    if target:
        ET.SubElement(schema, "MiningField", name=target, usageType="target")
    for d in sorted(rule_set.used_features):
        ET.SubElement(schema, "MiningField", name=rule_set.features.names[d])
    return model


def _add_outputs(model: ET.Element, rule_set: RuleSet, target: str) -> None:
    """The prediction, and the probabilities of the classes."""
    output = ET.Element("Output")
    name = _free("prediction", {*rule_set.features.names, target})
    kind = _type_of_target(rule_set)
    ET.SubElement(output, "OutputField", kind, name=name, feature="predictedValue")
    for label in map(_text, plain_classes(rule_set)):
        ET.SubElement(
            output,
            "OutputField",
            NUMBER,
            name=f"probability({label})",
            feature="probability",
            value=label,
        )
    model.insert(1, output)  # After MiningSchema.


def _add_tree(
    parent: ET.Element,
    rule_set: RuleSet,
    target: str,
    leaves: Sequence[tuple[Rule, str, Sequence[float]]],
) -> ET.Element:
    """A tree whose leaves are rules, with a score and probabilities each."""
    tree = _add_model(
        parent,
        "TreeModel",
        rule_set,
        target,
        missingValueStrategy="none",
        splitCharacteristic="multiSplit",
    )
    root = ET.SubElement(tree, "Node")
    ET.SubElement(root, "True")
    for rule, score, shares in leaves:
        leaf = ET.SubElement(root, "Node", score=score)
        leaf.append(_predicate(rule, rule_set))
        for label, share in zip(rule_set.classes, shares):
            number = repr(finite_number(share))
            ET.SubElement(
                leaf,
                "ScoreDistribution",
                value=_text(plain_label(label, "the label")),
                recordCount=number,
                probability=number,
            )
    return tree


def _predicate(rule: Rule, rule_set: RuleSet) -> ET.Element:
    """Where a rule holds."""
    return _joined(
        "and",
        [
            _of_question(question, rule_set)
            for question in questions_of(rule.conditions, rule_set.features)
        ],
    )


def _joined(operator: str, parts: list[ET.Element]) -> ET.Element:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return ET.Element("True" if operator == "and" else "False")
    compound = ET.Element("CompoundPredicate", booleanOperator=operator)
    compound.extend(parts)
    return compound


def _of_question(question: Question, rule_set: RuleSet) -> ET.Element:
    """A question as a predicate, which is never true of a missing value by itself."""
    d = question.feature
    simple = partial(ET.Element, "SimplePredicate", field=rule_set.features.names[d])
    if isinstance(question, LabelQuestion) and not _is_categorical(rule_set, d):
        question = question.on_numbers(map(float, question.labels))
    if question.anything:
        parts = [simple(operator="isNotMissing")]
    elif isinstance(question, NumberQuestion):
        parts = [_joined("and", _bounds(piece, simple)) for piece in question.pieces]
    else:
        operators = ("equal", "or") if question.inside else ("notEqual", "and")
        tests = [simple(operator=operators[0], value=_text(x)) for x in question.labels]
        parts = [_joined(operators[1], tests)]
    parts += [simple(operator="isMissing")] if question.missing else []
    return _joined("or", parts)


def _bounds(piece: Piece, simple: Any) -> list[ET.Element]:
    low, high = piece
    if high == -math.inf:
        return [simple(operator="lessThan", value=repr(-LARGEST))]
    tests = []
    if low > -math.inf:
        tests.append(simple(operator="greaterThan", value=repr(low)))
    if high < math.inf:
        tests.append(simple(operator="lessOrEqual", value=repr(high)))
    return tests


def _add_chain(pmml: ET.Element, rule_set: RuleSet, target: str) -> None:
    """Totals of the rules that hold, then a regression on them."""
    model = _add_model(pmml, "MiningModel", rule_set, target)
    chain = ET.SubElement(model, "Segmentation", multipleModelMethod="modelChain")
    totals = totals_of(rule_set)
    taken = {*(rule_set.features.names), target}
    names = [_free(f"total{k}", taken) for k in range(len(totals))]
    for name, total in zip(names, totals):
        *terms, start = [repr(finite_number(math.prod(factors))) for factors in total]
        part = _add_model(_segment(chain), "MiningModel", rule_set, "")
        ET.SubElement(
            ET.SubElement(part, "Output"),
            "OutputField",
            NUMBER,
            name=name,
            feature="predictedValue",
        )
        added = ET.SubElement(part, "Segmentation", multipleModelMethod="sum")
        otherwise = rule_set.otherwise
        _add_tree(_segment(added), rule_set, "", [(otherwise, start, ())])
        for rule, term in zip(rule_set.rules, terms):
            leaves = [(rule, term, ()), (otherwise, "0.0", ())]
            _add_tree(_segment(added), rule_set, "", leaves)
    _add_regression(_segment(chain), rule_set, target, names)


def _segment(segmentation: ET.Element) -> ET.Element:
    segment = ET.SubElement(segmentation, "Segment")
    segment.set("id", str(len(segmentation)))
    ET.SubElement(segment, "True")
    return segment


def _add_regression(
    parent: ET.Element, rule_set: RuleSet, target: str, names: list[str]
) -> None:
    """The totals as values, log-odds or, divided by the weight, probabilities."""
    is_average = rule_set.combine == "average"
    link = "simplemax" if is_average else "softmax"
    model = ET.SubElement(
        parent,
        "RegressionModel",
        functionName="classification" if rule_set.classes else "regression",
        normalizationMethod=link if rule_set.classes else "none",
    )
    schema = ET.SubElement(model, "MiningSchema")
    ET.SubElement(schema, "MiningField", name=target, usageType="target")
    for name in names:
        ET.SubElement(schema, "MiningField", name=name)
    _add_outputs(model, rule_set, target)
    if is_average:
        means = ET.SubElement(model, "LocalTransformations")
        weight, *sums = names
        numbers = rule_set.otherwise.numbers
        names = [_add_mean(means, weight, *pair) for pair in zip(sums, numbers)]
    categories = [{"targetCategory": _text(x)} for x in plain_classes(rule_set)]
    for name, category in zip(names, categories or [{}]):
        table = ET.SubElement(model, "RegressionTable", category, intercept="0")
        ET.SubElement(table, "NumericPredictor", name=name, coefficient="1")


def _add_mean(means: ET.Element, weight: str, total: str, otherwise: float) -> str:
    """``otherwise if weight == 0 else total / weight``, as a field."""
    name = f"{total}/{weight}"
    field = ET.SubElement(means, "DerivedField", NUMBER, name=name)
    choice = ET.SubElement(field, "Apply", function="if")
    is_nothing = ET.SubElement(choice, "Apply", function="equal")
    ET.SubElement(is_nothing, "FieldRef", field=weight)
    ET.SubElement(is_nothing, "Constant", dataType="double").text = "0"
    constant = ET.SubElement(choice, "Constant", dataType="double")
    constant.text = repr(finite_number(otherwise))
    ratio = ET.SubElement(choice, "Apply", function="/")
    ET.SubElement(ratio, "FieldRef", field=total)
    ET.SubElement(ratio, "FieldRef", field=weight)
    return name
