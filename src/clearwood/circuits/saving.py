"""File format of circuits and fitted densities: flat, whatever their depth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood import codec
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.classifier import SPNClassifier
from clearwood.circuits.estimators import LatentTreeSPN, LearnSPN, MiniSPN
from clearwood.circuits.imputer import SPNImputer
from clearwood.circuits.nodes import Node, Product, Sum, walk
from clearwood.circuits.pareto_estimators import HybridSPN, ParetoSPN
from clearwood.circuits.validity import check_circuit
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import (
    PLACES,
    LogScale,
    NumericColumn,
    TableVariables,
    with_others,
)
from clearwood.columns.variables import NOTHING
from clearwood.distributions import LEAVES

SUM, PRODUCT = 0, 1

PAIR = codec.checked(
    codec.tuple_of(codec.NUMBER), lambda ends: len(ends) == 2, "the ends of a range"
)
LOG_SCALE = codec.record(
    codec.Field("start", codec.NUMBER),
    codec.Field("unit", codec.checked(codec.NUMBER, lambda x: x > 0, "more than 0")),
    make=LogScale,
)
NUMERIC_COLUMN = codec.record(
    codec.Field("point_masses", codec.POINT_MASSES),
    codec.Field("scale", codec.optional(LOG_SCALE)),
    codec.Field("places", codec.optional(codec.integer(PLACES[0], PLACES[-1]))),
    codec.Field("range", codec.optional(PAIR)),
    make=NumericColumn,
)
NUMERIC_COLUMNS = codec.tuple_of(codec.optional(NUMERIC_COLUMN))
"""Models of the numeric columns of a table, null for discrete ones."""

CIRCUIT = (
    codec.FEATURES,
    codec.Field("numeric_columns", NUMERIC_COLUMNS),
    codec.Array("unseen", "f", "columns", check=codec.within(0.0, 1.0)),
    codec.Array("kind", "i", "nodes"),
    codec.Array("children", "i", "nodes"),
    codec.Pieces("whole", "i", size="nodes"),
    codec.Pieces("numbers", "f", size="nodes"),
)
"""Per node in postorder, its kind, the number of its children among those before it,
and its integers and floats."""

ESTIMATOR = (
    *codec.COLUMNS,
    *CIRCUIT,
    codec.Settings(
        "significance_level", "penalty", "n_states", "n_iter", "preset", "n_networks",
        "validation_fraction", "per_class", "joint", "n_draws",
    ),
)  # fmt: skip

ESTIMATORS = (
    MiniSPN, LearnSPN, LatentTreeSPN, ParetoSPN, HybridSPN, SPNClassifier, SPNImputer
)  # fmt: skip


def _take(circuit: Circuit) -> dict[str, Any]:
    nodes, table = list(walk(circuit.root)), circuit.table
    # The class of a classifier; the table determines the variables before.
    further = range(table.n_variables, circuit.features.n_features)
    others = circuit.features.taken(further)
    plain = [_plain(node) for node in nodes]
    return {
        "features": _put(with_others(table.columns, others), NOTHING, ()),
        "kind": [kind for kind, _, _ in plain],
        "children": [len(getattr(node, "children", ())) for node in nodes],
        "whole": [whole for _, whole, _ in plain],
        "numbers": [numbers for _, _, numbers in plain],
        "numeric_columns": [_as_dict(own) for own in circuit.table.numbers],
        "unseen": circuit.table.unseen,
    }


def _as_dict(own: NumericColumn | None) -> dict[str, Any] | None:
    if own is None:
        return None
    return own._asdict() | {"scale": own.scale and own.scale._asdict()}


def _plain(node: Node) -> tuple[int, Any, Any]:
    if isinstance(node, Sum):
        return SUM, (), node.weights.tolist()
    if isinstance(node, Product):
        return PRODUCT, (), ()
    return 2 + LEAVES.index(type(node)), *node.to_plain()


def _put(
    features: FeatureSpace, labels: tuple[Any, ...], others: tuple[Any, ...]
) -> FeatureSpace:
    """Levels with those of a column without values replaced: files cannot hold None."""
    categories = tuple(others if own == labels else own for own in features.categories)
    return replace(features, categories=categories)


def _make(kind: Any, values: dict[str, Any]) -> Circuit:
    features = _put(values["features"], (), NOTHING)
    numbers = values["numeric_columns"]
    d = len(numbers)
    is_numeric = [own is None for own in features.categories]
    fits = [own is not None for own in numbers] == is_numeric[:d]
    codec.require(fits, "numeric_columns", "one for each numeric column of the table")
    table = TableVariables(
        features.taken(range(d)), numbers, tuple(values["unseen"].tolist())
    )
    others = features.taken(range(d, features.n_features))
    with codec.refusing("numbers"):
        circuit = Circuit(_root(values), with_others(table.variables, others), table)
        check_circuit(circuit)
    return circuit


def _root(values: dict[str, Any]) -> Node:
    kinds, children = values["kind"].tolist(), values["children"].tolist()
    done: list[Node] = []
    for kind, n, *own in zip(kinds, children, values["whole"], values["numbers"]):
        is_inner = kind in (SUM, PRODUCT)
        fits = 1 <= n <= len(done) if is_inner else n == 0
        codec.require(fits, "children", "as many as a node of that kind has", n)
        below = tuple(done[len(done) - n :])
        del done[len(done) - n :]
        done.append(_node(kind, below, *own))
    codec.require(len(done) == 1, "children", "one root", len(done))
    return done[0]


def _node(
    kind: int, below: tuple[Node, ...], whole: np.ndarray, numbers: np.ndarray
) -> Node:
    if kind == SUM:
        return Sum(numbers, below)
    if kind == PRODUCT:
        return Product(below)
    codec.require(2 <= kind < 2 + len(LEAVES), "kind", "one that a node is", kind)
    return LEAVES[kind - 2].from_plain(whole, numbers)


def _make_estimator(kind: Any, values: dict[str, Any]) -> Any:
    circuit = _make(Circuit, values)
    is_classifier = kind is SPNClassifier
    found = codec.filled(kind(), values, circuit.table.columns.n_features)
    # Of a classifier the class is the last column.
    others = circuit.features.categories[circuit.table.n_variables :]
    fits = others == ((codec.classes_of(found),) if is_classifier else ())
    codec.require(fits, "classes", "those of the last column")
    found.circuit_ = circuit
    return found


SAVED = codec.by_name(
    codec.Saved(Circuit, CIRCUIT, _make, _take),
    *(
        codec.Saved(kind, ESTIMATOR, _make_estimator, lambda own: _take(own.circuit_))
        for kind in ESTIMATORS
    ),
)
"""Circuits, and densities without their search."""
