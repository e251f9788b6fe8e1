"""Validation of circuits that were not learned here."""

from __future__ import annotations

from collections import Counter

import numpy as np

from clearwood._words.labels import type_text
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Node, Product, Sum, walk
from clearwood.distributions import Leaf
from clearwood.distributions.categorical import shares_fault
from clearwood.exceptions import InputError

MOST_SHOWN = 200
"""Maximum number of characters quoted in a message."""


def check_circuit(circuit: Circuit) -> None:
    """Raise an error if a circuit is no distribution of its columns.

    Children of a sum have the same scope (completeness), those of a product disjoint
    ones (decomposability), weights add up to 1, leaves match the types of their
    columns, and no column is left out.

    Raises
    ------
    InputError
        Names the node by its columns, and the defect.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.distributions import Bernoulli
    >>> root = Product((Bernoulli(0, 0.5), Bernoulli(0, 0.2)))
    >>> check_circuit(Circuit(root, FeatureSpace(("wet",), ((0, 1),))))
    Traceback (most recent call last):
    clearwood.exceptions.InputError: A Product over 'wet' has children over the same \
column 'wet'; expected each column in one child of a product only.
    """
    for node in walk(circuit.root):
        if isinstance(node, Sum):
            _check_sum(node, circuit)
        elif isinstance(node, Product):
            _check_product(node, circuit)
        elif isinstance(node, Leaf):
            _check_leaf(node, circuit)
        else:
            raise InputError(
                f"A circuit holds {type_text(node)}; expected Sum, Product or a "
                "kind of leaf."
            )
    left_out = set(range(circuit.features.n_features)).difference(
        circuit.root.variables
    )
    if left_out:
        found = f"has no distribution of {_name(min(left_out), circuit)}"
        _refuse(circuit.root, circuit, found, "expected all columns of the table")


def _check_sum(node: Sum, circuit: Circuit) -> None:
    if not node.children or np.shape(node.weights) != (len(node.children),):
        _refuse(
            node,
            circuit,
            f"has {np.size(node.weights)} weights and {len(node.children)} children",
            "expected one weight per child",
        )
    if shares_fault(node.weights):
        found = f"has weights {node.weights.tolist()}"
        _refuse(node, circuit, found, "expected non-negative weights that sum to 1")
    for child in node.children:
        if sorted(child.variables) != list(node.variables):
            found = f"has a child over {_names(child, circuit)}"
            _refuse(
                node, circuit, found, "expected the columns of the sum in each child"
            )


def _check_product(node: Product, circuit: Circuit) -> None:
    if not node.children:
        _refuse(node, circuit, "has no children", "expected one or more")
    twice = [j for j, n in Counter(node.variables).items() if n > 1]
    if twice:
        found = f"has children over the same column {_name(twice[0], circuit)}"
        _refuse(
            node, circuit, found, "expected each column in one child of a product only"
        )


def _check_leaf(leaf: Leaf, circuit: Circuit) -> None:
    categories = circuit.features.categories
    inside = all(j in range(len(categories)) for j in leaf.variables)
    if not inside or len(set(leaf.variables)) < max(1, len(leaf.variables)):
        raise InputError(
            f"A {type(leaf).__name__} is over the columns {list(leaf.variables)}; "
            f"expected different positions among {len(categories)} columns."
        )
    fault = leaf.fault([len(categories[j] or ()) for j in leaf.variables])
    if fault:
        _refuse(leaf, circuit, fault, "expected a distribution of its columns")


def _refuse(node: Node, circuit: Circuit, found: str, expected: str) -> None:
    if len(found) > MOST_SHOWN:
        found = f"{found[:MOST_SHOWN]} ..."
    kind = type(node).__name__
    raise InputError(f"A {kind} over {_names(node, circuit)} {found}; {expected}.")


def _names(node: Node, circuit: Circuit) -> str:
    own = list(dict.fromkeys(node.variables))
    names = [_name(j, circuit) for j in own[:5]]
    more = len(own) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _name(j: int, circuit: Circuit) -> str:
    return repr(circuit.features.names[j])
