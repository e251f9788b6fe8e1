"""File format of circuits and fitted densities: flat, whatever their depth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood import codec
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.classifier import SPNClassifier
from clearwood.circuits.estimators import LearnSPN, MiniSPN
from clearwood.circuits.imputer import SPNImputer
from clearwood.circuits.nodes import Node, PointMass, Product, Sum, walk
from clearwood.circuits.pareto_estimators import HybridSPN, ParetoSPN
from clearwood.circuits.validity import check_circuit
from clearwood.codec.documents import Place
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.variables import NOTHING
from clearwood.distributions import LEAVES

SUM, PRODUCT = 0, 1

POINT_MASSES = "a continuous column, a value and a reach each"


def _read_point_masses(place: Place) -> tuple[PointMass, ...]:
    numbers = place.numbers().tolist()
    found = tuple(PointMass(int(j), *own) for j, *own in zip(*[iter(numbers)] * 3))
    if _flat(found) != numbers:
        place.fail("other numbers", POINT_MASSES)
    return found


def _flat(point_masses: tuple[PointMass, ...]) -> list[float]:
    return [x for mass in point_masses for x in mass]


CIRCUIT = (
    codec.FEATURES,
    codec.Field(
        "heaps",
        codec.FieldType(_flat, _read_point_masses),
        "point_masses",
        absent=(),
    ),
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
        "significance_level", "penalty", "n_iter", "preset", "n_networks",
        "validation_fraction", "per_class", "joint", "n_draws",
    ),
)  # fmt: skip


def _take(circuit: Circuit) -> dict[str, Any]:
    nodes = list(walk(circuit.root))
    plain = [_plain(node) for node in nodes]
    return {
        "features": _put(circuit.features, NOTHING, ()),
        "kind": [kind for kind, _, _ in plain],
        "children": [len(getattr(node, "children", ())) for node in nodes],
        "whole": [whole for _, whole, _ in plain],
        "numbers": [numbers for _, _, numbers in plain],
        "point_masses": circuit.point_masses,
    }


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
    continuous = {j for j, own in enumerate(features.categories) if own is None}
    fits = {mass.column for mass in values["point_masses"]} <= continuous
    codec.require(fits, "heaps", POINT_MASSES)
    with codec.refusing("numbers"):
        circuit = Circuit(_root(values), features, values["point_masses"])
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
    found = codec.filled(kind(), values, circuit.features.n_features - is_classifier)
    # Of a classifier the class is the last column.
    fits = circuit.features.categories[-1:] == (codec.classes_of(found),)
    codec.require(fits or not is_classifier, "classes", "those of the last column")
    found.circuit_ = circuit
    return found


SAVED = codec.by_name(
    codec.Saved(Circuit, CIRCUIT, _make, _take),
    *(
        codec.Saved(kind, ESTIMATOR, _make_estimator, lambda own: _take(own.circuit_))
        for kind in (MiniSPN, LearnSPN, ParetoSPN, HybridSPN, SPNClassifier, SPNImputer)
    ),
)
"""Circuits, and densities without their search."""
