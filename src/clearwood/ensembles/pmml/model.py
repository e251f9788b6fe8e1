"""Reader of PMML files: trees, forests and boosting, as R, JPMML and others write them.

A ``TreeModel`` is one tree. A ``MiningModel`` combines trees as a sum, mean or vote; or
is a chain whose last model, a ``RegressionModel``, applies the link to such sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood.codec.documents import plain_integer, plain_number, shown
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.ensembles.pmml.elements import Element, parse
from clearwood.ensembles.pmml.trees import TreeInputs, read_tree
from clearwood.ensembles.tree_ensemble import TreeEnsemble

MODELS = ("TreeModel", "MiningModel")
LINKS = {
    ("regression", "none"): "identity",
    ("regression", "exp"): "exp",
    ("regression", "logit"): "sigmoid",
    ("classification", "logit"): "logistic",
    ("classification", "softmax"): "softmax",
}
NUMBERS = ("integer", "float", "double")


class TreeSum(NamedTuple):
    """A score: ``(sum of trees / divisor) * scale + offset``."""

    trees: list[TreeNodes]
    divisor: float = 1.0
    scale: float = 1.0
    offset: float = 0.0


class _Fields:
    """Inputs and target of the file, known before its first tree."""

    def __init__(self, root: Element) -> None:
        pmml = root.need("PMML")
        others = ("Header", "DataDictionary", "TransformationDictionary", "Extension")
        models = [one for one in pmml.children if one.tag not in others]
        if len(models) != 1 or models[0].tag not in MODELS:
            tags = ", ".join(one.tag for one in models) or "no model"
            pmml.refuse(f"{tags}; one TreeModel or MiningModel is read")
        (self.model,) = models
        dictionary = pmml.need("DataDictionary")
        known = {one.get("name"): one for one in dictionary.all("DataField")}
        self.inputs, self.target = [], None
        for one in self.model.need("MiningSchema").all("MiningField"):
            usage, name = one.get("usageType", "active"), one.get("name")
            if usage in ("target", "predicted"):
                self.target = known.get(name)
            elif usage == "active" and name in known:
                if "missingValueReplacement" in one.attributes:
                    one.refuse(f"{name!r}, whose missing values are replaced")
                self.inputs.append(known[name])
        if not self.inputs:
            self.model.fail("no inputs", "a MiningField for each input")
        names = [one.get("name") for one in self.inputs]
        self.columns = TreeInputs(
            place={name: d for d, name in enumerate(names)},
            single={
                one.get("name")
                for one in self.inputs
                if one.get("dataType", "double") == "float"
            },
            codes=[_codes(one) for one in self.inputs],
        )

    def add_casts(self, place: Element) -> None:
        """Add the derived fields of a place that cast an input; others stay unknown."""
        for one in place.all("DerivedField"):
            of = one.first("FieldRef")
            name = "" if of is None else of.get("field")
            kind = one.get("dataType", "double")
            if name in self.columns.place and kind in ("float", "double"):
                self.columns.place[one.get("name")] = self.columns.place[name]
                if kind == "float" or name in self.columns.single:
                    self.columns.single.add(one.get("name"))

    def classes(self) -> list[str]:
        """Labels of the target, as texts."""
        labels = [] if self.target is None else list(_codes(self.target) or ())
        if len(labels) < 2:
            self.model.fail(
                f"{len(labels)} classes", "two or more Values of the target"
            )
        return labels

    def space(self) -> FeatureSpace:
        """Names and categories of the inputs."""
        names = [one.get("name") for one in self.inputs]
        if len(set(names)) < len(names):
            self.model.fail(f"the inputs {shown(str(names))}", "different names")
        space = FeatureSpace.numeric(len(names), names)
        categories = tuple(
            None if codes is None else tuple(_typed(list(codes), one))
            for codes, one in zip(self.columns.codes, self.inputs)
        )
        single = [name in self.columns.single for name in names]
        return replace(
            space,
            categories=categories,
            missing_at=tuple(map(_missing_at, self.inputs)),
            float32=all(single),
        )


def _codes(field: Element) -> dict[str, int] | None:
    """Codes of the categories of a field; None if it is continuous."""
    if field.get("optype", "continuous") == "continuous":
        if field.get("dataType", "double") not in NUMBERS:
            field.refuse(f"a continuous field of type {shown(field.get('dataType'))}")
        return None
    values = [
        one.get("value")
        for one in field.all("Value")
        if one.get("property", "valid") == "valid"
    ]
    if field.get("dataType", "string") == "boolean" and not values:
        values = ["false", "true"]
    return {label: code for code, label in enumerate(dict.fromkeys(values))}


def _typed(labels: list[str], field: Element) -> list[Any]:
    """Labels in the type of their field."""
    kind = field.get("dataType", "string")
    if kind == "boolean" and set(labels) <= {"true", "false"}:
        return [label == "true" for label in labels]
    parse_label = {"integer": plain_integer}.get(kind, plain_number)
    numbers = [parse_label(label) for label in labels]
    return labels if kind not in NUMBERS or None in numbers else numbers


def _missing_at(field: Element) -> float | None:
    """The number that counts as missing in a continuous field."""
    marks = [x for x in field.all("Value") if x.get("property", "valid") == "missing"]
    numbers = {plain_number(mark.get("value")) for mark in marks} - {None}
    if len(numbers) > 1 or (numbers and _codes(field) is not None):
        field.refuse("a field with several values that count as missing")
    return numbers.pop() if numbers else None


def read_pmml(data: bytes, name: str) -> TreeEnsemble:
    """Read a PMML file.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The file is damaged, defines entities or holds a model of a kind that cannot be
        read.
    """
    fields: _Fields | None = None

    def tree(root: Element, model: Element) -> Any:
        nonlocal fields
        fields = fields or _Fields(root)
        for place in (root.need("PMML"), *_open_models(root)):
            for dictionary in ("TransformationDictionary", "LocalTransformations"):
                for one in place.all(dictionary):
                    fields.add_casts(one)
        is_class = model.get("functionName") == "classification"
        labels = fields.classes() if is_class else []
        known = {label: k for k, label in enumerate(labels)} if is_class else None
        return read_tree(model, fields.columns, known)

    root = parse(data, name, tree)
    fields = fields or _Fields(root)
    if fields.model.get("functionName") not in ("regression", "classification"):
        fields.model.refuse(f"functionName={shown(fields.model.get('functionName'))}")
    sums, meaning = _combined(fields)
    return _ensemble(root.need("PMML"), fields, sums, meaning)


def _open_models(root: Element) -> list[Element]:
    """Models within one another that the parser is in: always the last ones."""
    found, place = [], root.need("PMML")
    while place.children:
        place = place.children[-1]
        # Other elements, as a Segmentation of very many trees, have no fields.
        found += [place] if place.tag in MODELS else []
    return found


def _combined(fields: _Fields) -> tuple[list[TreeSum], dict[str, Any]]:
    """Scores of a model; its task, link and classes."""
    model = fields.model
    segmentation = model.first("Segmentation")
    chain = segmentation is not None and (
        segmentation.get("multipleModelMethod") == "modelChain"
    )
    if segmentation is not None and chain:
        *parts, last = [_model_of(one) for one in segmentation.all("Segment")] or [
            model
        ]
        if last.tag != "RegressionModel":
            last.refuse(f"a chain that ends in {last.tag}")
        return _linked(fields, parts, last)
    if model.get("functionName") == "regression":
        return [_sum(model)], {"task": "regression", "link": "identity"}
    labels = _typed(fields.classes(), fields.target or model)
    return [_sum(model)], {
        "task": "classification",
        "link": "probability",
        "classes": np.array(labels),
    }


def _model_of(segment: Element) -> Element:
    if segment.first("True") is None:
        segment.refuse("a part of the model that holds for some rows only")
    return segment.need("TreeModel", "MiningModel", "RegressionModel")


def _sum(model: Element) -> TreeSum:
    """Trees of a model that adds or averages them."""
    if model.tag == "TreeModel":
        trees, weights, method = [model], [1.0], "sum"
    else:
        segmentation = model.need("Segmentation")
        segments = segmentation.all("Segment")
        method = segmentation.get("multipleModelMethod")
        trees = [_model_of(segment) for segment in segments]
        weights = [segment.number("weight", "1") for segment in segments]
    known = ("sum", "average", "majorityVote")
    plain = method.removeprefix("weighted")
    plain = plain[:1].lower() + plain[1:]
    if plain not in known or not trees or {tree.tag for tree in trees} != {"TreeModel"}:
        model.refuse(f"the method {shown(method)}, or models other than trees in it")
    if plain == method:
        weights = [1.0] * len(trees)
    nodes = []
    for tree, weight in zip(trees, weights):
        one, has_probabilities = tree.read
        if plain == "majorityVote" and has_probabilities:
            one.value = np.eye(one.value.shape[1])[one.value.argmax(axis=1)]
        one.value = one.value * weight
        nodes.append(one)
    divisor = 1.0 if plain == "sum" else sum(weights)
    return _rescaled(model, TreeSum(nodes, divisor))


def _rescaled(model: Element, score: TreeSum) -> TreeSum:
    targets = model.first("Targets")
    for target in () if targets is None else targets.all("Target"):
        for key in ("min", "max", "castInteger"):
            if key in target.attributes:
                target.refuse(f"a target with {key!r}")
        score = score._replace(
            scale=target.number("rescaleFactor", "1"),
            offset=target.number("rescaleConstant", "0"),
        )
    return score


def _linked(
    fields: _Fields, parts: list[Element], last: Element
) -> tuple[list[TreeSum], dict[str, Any]]:
    """Scores that a RegressionModel maps to predictions."""
    kind = last.get("functionName"), last.get("normalizationMethod", "none")
    if kind not in LINKS:
        last.refuse(f"the normalization {shown(kind[1])} for {kind[0]}")
    scores = {}
    for part in parts:
        for output in part.need("Output").all("OutputField"):
            if output.get("feature", "predictedValue") == "predictedValue":
                scores[output.get("name")] = _sum(part)
    tables = last.all("RegressionTable")
    if LINKS[kind] == "logistic":
        if len(tables) != 2 or tables[1].children or tables[1].number("intercept"):
            last.refuse("classes with other scores than one and zero")
    # With the logistic function the score of the second class is 0.
    scored = tables[:1] if LINKS[kind] == "logistic" else tables
    sums = [_of_table(table, scores) for table in scored]
    meaning: dict[str, Any] = {"task": kind[0], "link": LINKS[kind]}
    if kind[0] == "classification":
        labels = [table.get("targetCategory") for table in tables]
        labels = labels[::-1] if LINKS[kind] == "logistic" else labels
        if set(labels) != set(fields.classes()):
            last.fail("other targetCategory values", "the classes of the target")
        classes = np.array(_typed(labels, fields.target or last))
        meaning |= {"classes": classes, "decision": "probability"}
    return sums, meaning


def _of_table(table: Element, scores: dict[str, TreeSum]) -> TreeSum:
    predictors = table.all("NumericPredictor")
    if len(predictors) != 1 or predictors[0].get("name") not in scores:
        table.refuse("a regression on other numbers than one sum of trees")
    score, factor = (
        scores[predictors[0].get("name")],
        predictors[0].number("coefficient"),
    )
    return score._replace(
        scale=score.scale * factor,
        offset=score.offset * factor + table.number("intercept"),
    )


def _ensemble(
    pmml: Element, fields: _Fields, sums: list[TreeSum], meaning: dict[str, Any]
) -> TreeEnsemble:
    if len({(score.divisor, score.scale) for score in sums}) > 1:
        fields.model.refuse("scores of classes on different scales")
    trees = []
    for output, score in enumerate(sums):
        for nodes in score.trees:
            nodes.output = output
            trees.append(nodes)
    widths = {nodes.value.shape[1] for nodes in trees}
    if len(widths) != 1:
        fields.model.fail("trees for other tasks", "trees of one task")
    n_outputs = max(len(sums), *widths)
    space, n = fields.space(), len(fields.inputs)
    single = fields.model.get("x-mathContext", "double") == "float"
    header = pmml.first("Header")
    writer = None if header is None else header.first("Application")
    library = "PMML" if writer is None else f"PMML of {writer.get('name', 'unknown')}"
    return TreeEnsemble(
        features=space,
        **meaning,
        **join_trees(trees),
        base_score=np.zeros(n_outputs),
        divisor=sums[0].divisor,
        scale=sums[0].scale,
        offset=np.resize([score.offset for score in sums], n_outputs),
        sum_dtype="float32" if single else "float64",
        allows_missing=~np.isin(np.arange(n), list(fields.columns.no_missing)),
        allows_infinite=True,
        input_dtype="float32" if space.float32 else "float64",
        source=printable(library),
        details={"library": printable(library), "version": pmml.get("version", "")},
    )
