"""Rules as an ONNX graph, which compares columns in float64.

Every column that the rules use is an input of shape (n, 1): numbers as double, with NaN
for missing; text with "" for missing. Each rule becomes a boolean column; the kind of
the rules determines how these are combined.
"""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules.exports.questions import (
    LabelQuestion,
    Piece,
    Question,
    finite_number,
    has_text_cells,
    plain_classes,
    questions_of,
    refuse_times,
)
from clearwood.rules.exports.totals import totals_of

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

OPSETS = {"": 15, "ai.onnx.ml": 2}
"""Versions of the operators; runtimes since 2021 have them."""
IR_VERSION = 8
INT32, BOOL = 6, 9
"""Types of tensors."""


class _Graph:
    """Nodes and constants, with names that no column has."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.taken = set(columns)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operator: str, *inputs: str, name: str = "", **how: Any) -> str:
        """Add a node; returns the name of its output."""
        from onnx import helper

        name = self._free(name or f"n{len(self.nodes)}")
        self.nodes.append(helper.make_node(operator, inputs, [name], **how))
        return name

    def constant(self, value: Any) -> str:
        """Add a constant; returns its name."""
        from onnx import numpy_helper

        name = self._free(f"c{len(self.constants)}")
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def rules_to_onnx(rule_set: RuleSet) -> Any:
    """See :meth:`clearwood.RuleSet.to_onnx`."""
    try:
        from onnx import TensorProto, helper
    except ImportError:
        raise InputError(
            'to_onnx needs onnx; install it with pip install "clearwood[onnx]".'
        ) from None
    from clearwood import __version__

    features, used = rule_set.features, sorted(rule_set.used_features)
    _check_inputs(rule_set, used)
    info, inputs = helper.make_tensor_value_info, []
    for d in used:
        is_text = has_text_cells(features, d)
        kind = TensorProto.STRING if is_text else TensorProto.DOUBLE
        inputs.append(info(features.names[d], kind, [None, 1]))
    graph = _Graph(tuple(features.names[d] for d in used))
    holds = _rule_columns(graph, rule_set, features.names[used[0]])
    labels = _labels(rule_set)
    if rule_set.combine == "first":
        names = _of_first(graph, rule_set, holds, labels)
    else:
        names = _of_totals(graph, rule_set, holds, labels)
    outputs = [info(names[0], helper.np_dtype_to_tensor_dtype(labels.dtype), [None])]
    shape = [None, len(rule_set.classes)]
    outputs += [info(name, TensorProto.DOUBLE, shape) for name in names[1:]]
    text = rule_set.to_text()
    return helper.make_model(
        helper.make_graph(
            graph.nodes, "rules", inputs, outputs, graph.constants, doc_string=text
        ),
        producer_name="clearwood",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid(*opset) for opset in OPSETS.items()],
        ir_version=IR_VERSION,
    )


def _check_inputs(rule_set: RuleSet, used: list[int]) -> None:
    if not used:
        raise InputError(
            "These rules have no conditions, so that an ONNX graph of them would have "
            "no input and no number of rows; they always predict the same."
        )
    refuse_times(rule_set, "ONNX")
    for d in used:
        if not rule_set.features.names[d]:
            raise InputError("A column without a name cannot be an input of ONNX.")
        if "" in (rule_set.features.categories[d] or ()):
            raise InputError(
                f"The empty text is a category of {rule_set.features.names[d]!r}, but "
                "in ONNX it stands for a missing text; rename the category."
            )


def _labels(rule_set: RuleSet) -> np.ndarray:
    """The classes in a type that ONNX has; without classes, an array of float64."""
    labels = plain_classes(rule_set)
    is_text = bool(labels) and isinstance(labels[0], str)
    found = np.array(labels, dtype=object if is_text else None)
    if found.tolist() != labels or (found.dtype == object and not is_text):
        raise InputError(
            f"The classes {labels} do not fit into 64 bits, as ONNX requires."
        )
    return found


def _rule_columns(graph: _Graph, rule_set: RuleSet, first: str) -> list[str]:
    """A boolean column per rule, the default rule included."""
    from onnx import numpy_helper

    true = numpy_helper.from_array(np.array([True]))
    always = graph.add("ConstantOfShape", graph.add("Shape", first), value=true)
    features, columns = rule_set.features, []
    for rule in rule_set:
        tests = [
            _test(graph, asked, features.names[d], has_text_cells(features, d))
            for asked in questions_of(rule.conditions, features)
            for d in [asked.feature]
        ]
        columns.append(reduce(partial(graph.add, "And"), tests) if tests else always)
    return columns


def _test(graph: _Graph, question: Question, cell: str, is_text: bool) -> str:
    """A question as a boolean column; comparisons with NaN are false."""
    if isinstance(question, LabelQuestion) and is_text:
        known, inside = list(question.labels), int(question.inside)
        code = graph.add(
            "LabelEncoder",
            cell,
            domain="ai.onnx.ml",
            keys_strings=[*known, ""],
            values_int64s=[inside] * len(known) + [int(question.missing)],
            default_int64=1 - inside,
        )
        return graph.add("Cast", code, to=BOOL)
    if isinstance(question, LabelQuestion):
        question = question.on_numbers(map(float, question.labels))
    # No number lies above infinity: the test of a question that no number satisfies.
    pieces = question.pieces or ((math.inf, math.inf),)
    tests = [_piece_test(graph, piece, cell) for piece in pieces]
    tests += [graph.add("IsNaN", cell)] if question.missing else []
    return reduce(partial(graph.add, "Or"), tests)


def _piece_test(graph: _Graph, piece: Piece, cell: str) -> str:
    low, high = piece
    above = graph.add("Greater", cell, graph.constant(np.float64(low)))
    up_to = graph.add("LessOrEqual", cell, graph.constant(np.float64(high)))
    return up_to if low == -math.inf else graph.add("And", above, up_to)


def _of_first(
    graph: _Graph, rule_set: RuleSet, holds: list[str], labels: np.ndarray
) -> list[str]:
    """The first column that is true selects a rule."""
    matrix = graph.add("Cast", graph.add("Concat", *holds, axis=1), to=INT32)
    first = graph.add("ArgMax", matrix, axis=1, keepdims=0)
    if not rule_set.classes:
        values = np.array([finite_number(rule.prediction) for rule in rule_set])
        return [graph.add("Gather", graph.constant(values), first, name="prediction")]
    ranks = [rule_set.classes.index(rule.prediction) for rule in rule_set]
    shares = np.array([list(map(finite_number, rule.numbers)) for rule in rule_set])
    return [
        graph.add("Gather", graph.constant(labels[ranks]), first, name="prediction"),
        graph.add("Gather", graph.constant(shares), first, name="probabilities"),
    ]


def _of_totals(
    graph: _Graph, rule_set: RuleSet, holds: list[str], labels: np.ndarray
) -> list[str]:
    """Rules that hold add their values, one after the other as in ``predict``."""
    terms = np.array([[math.prod(x) for x in total] for total in totals_of(rule_set)])
    zero = graph.constant(np.zeros(len(terms)))
    *added, total = [
        graph.add("Where", column, graph.constant(term), zero)
        for column, term in zip(holds, terms.T)
    ]
    for term in added:
        total = graph.add("Add", total, term)
    if rule_set.combine == "average":
        total = _mean(graph, rule_set, total)
    if not rule_set.classes:
        flat = graph.constant(np.array([-1]))
        return [graph.add("Reshape", total, flat, name="prediction")]
    largest = graph.add("ArgMax", total, axis=1, keepdims=0)
    link = "Softmax" if rule_set.combine == "sum" else "Identity"
    how = {"axis": 1} if link == "Softmax" else {}
    return [
        graph.add("Gather", graph.constant(labels), largest, name="prediction"),
        graph.add(link, total, name="probabilities", **how),
    ]


def _mean(graph: _Graph, rule_set: RuleSet, total: str) -> str:
    """Totals divided by their weights, in the first column."""
    numbers = np.array(rule_set.otherwise.numbers, dtype=np.float64)
    weight = graph.add("Gather", total, graph.constant([0]), axis=1)
    rest = graph.constant(np.arange(1, len(numbers) + 1))
    sums = graph.add("Gather", total, rest, axis=1)
    nothing = graph.add("Equal", weight, graph.constant(0.0))
    return graph.add(
        "Where", nothing, graph.constant(numbers), graph.add("Div", sums, weight)
    )
