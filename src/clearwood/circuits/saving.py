"""Circuits and fitted densities in files, and back: flat, whatever their depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._archive import split_parts
from clearwood._documents import Place
from clearwood._estimators import set_read_settings
from clearwood.circuits.circuit import Circuit, Heap, Node, Product, Sum, walk
from clearwood.circuits.classifier import SPNClassifier
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.circuits.estimators import LearnSPN, MiniSPN
from clearwood.circuits.imputer import SPNImputer
from clearwood.circuits.learning.variables import NOTHING
from clearwood.circuits.pareto_estimators import HybridSPN, ParetoSPN
from clearwood.circuits.validity import check_circuit
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.rules.serialise import (
    columns_to_dict,
    features_to_dict,
    read_columns,
    read_features,
)

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (MiniSPN, LearnSPN, ParetoSPN, HybridSPN, SPNClassifier, SPNImputer)
}

SETTINGS = (
    "critical_p", "penalty", "n_iterations", "exactly_as", "n_networks",
    "validation_fraction", "per_class", "joint", "n_draws",
)  # fmt: skip
"""Parameters that are kept, for people to read."""

SUM, PRODUCT = 0, 1

LEAVES = (
    Bernoulli, Categorical, Gaussian, Histogram, MultivariateGaussian, ChowLiuTree,
)  # fmt: skip
"""Kinds of leaves; in files by their position, after sums and products."""


# Estimators


def to_archive(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a circuit, or of a fitted density: not how that was found.

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    if isinstance(estimator, Circuit):
        return _columns_of(estimator), circuit_to_arrays(estimator)
    if KINDS.get(type(estimator).__name__) is not type(estimator):
        raise InputError(f"Cannot save a {type(estimator).__name__}.")
    check_is_fitted(estimator)
    settings = estimator.get_params(deep=False)
    document = {
        **columns_to_dict(estimator),
        **_columns_of(estimator.circuit_),
        "settings": {
            name: np.asarray(settings[name]).item()
            for name in SETTINGS
            if name in settings
        },
    }
    return document, circuit_to_arrays(estimator.circuit_)


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    features = _put(read_features(top), (), NOTHING)
    circuit = replace(circuit_from_arrays(features, array), heaps=_heaps(top, features))
    kind = top["kind"].text()
    if kind == "Circuit":
        return circuit
    estimator = KINDS[kind]()
    set_read_settings(estimator, top["settings"].value, SETTINGS)
    # Of a classifier the class is the last column.
    labels = top["classes"].value and top["classes"].labels()
    if isinstance(estimator, SPNClassifier) != bool(labels):
        top["classes"].fail("labels or none", "labels of a classifier, of no other")
    if labels and features.categories[-1:] != (labels,):
        top["classes"].fail("other labels", "those of the last column")
    read_columns(estimator, top, features.n_features - bool(labels))
    estimator.circuit_ = circuit
    return estimator


# Circuits


def _columns_of(circuit: Circuit) -> dict[str, Any]:
    """What is kept of a circuit's columns."""
    heaps = [x for heap in circuit.heaps for x in heap]
    return {**features_to_dict(_put(circuit.features, NOTHING, ())), "heaps": heaps}


def _put(features: FeatureSpace, labels: tuple, others: tuple) -> FeatureSpace:
    """Other levels where a column had no value: None is no label in files."""
    categories = tuple(others if own == labels else own for own in features.categories)
    return replace(features, categories=categories)


def _heaps(top: Place, features: FeatureSpace) -> tuple[Heap, ...]:
    """Where rows heap up; nothing is known of it in older files."""
    if "heaps" not in top:
        return ()
    place = top["heaps"]
    numbers = place.numbers().tolist()
    found = tuple(Heap(int(j), *own) for j, *own in zip(*[iter(numbers)] * 3))
    continuous = {j for j, own in enumerate(features.categories) if own is None}
    kept = [x for heap in found for x in heap]
    if kept != numbers or not {heap.column for heap in found} <= continuous:
        place.fail("other numbers", "a continuous column, a value and a reach each")
    return found


def circuit_to_arrays(circuit: Circuit) -> dict[str, np.ndarray]:
    """What is kept of a circuit; of its columns nothing.

    Returns
    -------
    dict of str to ndarray
        Per node its ``kind``, and how many ``children`` it has of those before it, and
        numbers in ``whole`` and ``numbers``: ``n_whole`` and ``n_numbers``.
    """
    kinds, children, whole, numbers = [], [], [], []
    for node in walk(circuit.root):
        if isinstance(node, Sum):
            kinds.append(SUM)
            plain: tuple = (), node.weights.tolist()
        elif isinstance(node, Product):
            kinds.append(PRODUCT)
            plain = (), ()
        else:
            kinds.append(2 + LEAVES.index(type(node)))
            plain = node.to_plain()
        children.append(len(getattr(node, "children", ())))
        whole.append(plain[0])
        numbers.append(plain[1])
    return {
        "kind": np.array(kinds, dtype=np.int64),
        "children": np.array(children, dtype=np.int64),
        "n_whole": np.array([len(own) for own in whole], dtype=np.int64),
        "n_numbers": np.array([len(own) for own in numbers], dtype=np.int64),
        "whole": np.array([x for own in whole for x in own], dtype=np.int64),
        "numbers": np.array([x for own in numbers for x in own], dtype=np.float64),
    }


def circuit_from_arrays(
    features: FeatureSpace, array: Callable[..., np.ndarray]
) -> Circuit:
    """Read what :func:`circuit_to_arrays` kept; ``array`` as from an archive.

    Raises
    ------
    ModelFormatError
        It is no circuit over these columns.
    """
    kinds = array("kind", "i", -1)
    children = array("children", "i", len(kinds))
    whole, numbers = (
        split_parts(array(name, kind, -1), array(f"n_{name}", "i", len(kinds)), name)
        for name, kind in (("whole", "i"), ("numbers", "f"))
    )
    done: list[Node] = []
    for kind, n, own in zip(kinds.tolist(), children.tolist(), zip(whole, numbers)):
        is_inner = kind in (SUM, PRODUCT)
        if not (1 <= n <= len(done) if is_inner else n == 0):
            raise ModelFormatError(f"children: {n} of a node of kind {kind}.")
        below = tuple(done[len(done) - n :])
        del done[len(done) - n :]
        done.append(_node(kind, below, *own))
    if len(done) != 1:
        raise ModelFormatError(f"children: expected one root, found {len(done)}.")
    circuit = Circuit(done[0], features)
    try:
        check_circuit(circuit)
    except InputError as error:
        raise ModelFormatError(f"numbers: {error}") from None
    return circuit


def _node(
    kind: int, below: tuple[Node, ...], whole: np.ndarray, numbers: np.ndarray
) -> Node:
    if kind == SUM:
        return Sum(numbers, below)
    if kind == PRODUCT:
        return Product(below)
    if kind not in range(2, 2 + len(LEAVES)):
        raise ModelFormatError(f"kind: found {kind}, which no node is.")
    try:
        return LEAVES[kind - 2].from_plain(whole, numbers)
    except (ValueError, IndexError) as error:
        raise ModelFormatError(f"numbers of a leaf: {error}.") from None
