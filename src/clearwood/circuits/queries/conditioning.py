"""Conditioning of circuits on known columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._numeric import product
from clearwood._numeric.logspace import log_of
from clearwood.circuits.nodes import Node, Product, Sum, fold, with_children
from clearwood.columns.table_variables import TableVariables
from clearwood.distributions import Categorical, Leaf, MultivariateGaussian
from clearwood.distributions.categorical import OfLevels
from clearwood.exceptions import InputError

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

Rest = tuple[float, Node | None]
"""Log density of the known entries, and a node over the others, if any."""


def condition(circuit: Circuit, row: np.ndarray) -> Circuit:
    """Circuit of the missing entries of a row, conditional on the present ones.

    Parameters
    ----------
    circuit : Circuit
    row : ndarray of shape (n_features,)
        Encoded; NaN where an entry is missing.

    Returns
    -------
    Circuit
        Over the missing columns, in their order.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.distributions import Bernoulli
    >>> from clearwood.rules import FeatureSpace
    >>> features = FeatureSpace(("ill", "test"), ((0, 1), (0, 1)))
    >>> well = Product((Bernoulli(0, 0.0), Bernoulli(1, 0.1)))
    >>> ill = Product((Bernoulli(0, 1.0), Bernoulli(1, 0.9)))
    >>> circuit = Circuit(Sum(np.array([0.9, 0.1]), (well, ill)), features)
    >>> condition(circuit, np.array([np.nan, 1.0])).root.probabilities.round(3).tolist()
    [0.5, 0.5]
    """
    at_mass = [j for j, place in circuit.table.place_of.items() if row[place] > 0]
    log_density, root = given(without(circuit.root, at_mass), known(circuit, row))
    if root is None:
        raise InputError("No entry of the row is missing: nothing to predict.")
    if log_density == -np.inf:
        raise impossible(0)
    return _of_columns(root, circuit)


def without(root: Node, variables: Collection[int]) -> Node:
    """Marginal distribution: a node without some continuous variables."""
    if not variables:
        return root

    def leaf(node: Leaf) -> Node | None:
        kept = [j for j in node.variables if j not in variables]
        if isinstance(node, MultivariateGaussian) and kept:
            return node.marginal(kept)
        return node if kept else None

    def product(_: Product, below: Sequence[Node | None]) -> Node | None:
        return _product([node for node in below if node is not None])

    def sum_(node: Sum, below: Sequence[Node | None]) -> Node | None:
        kept = [child for child in below if child is not None]
        return with_children(node, kept) if kept else None

    found: Node | None = fold(root, leaf, product, sum_)
    assert found is not None
    return found


def known(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """The rows with NaN also for unknown levels."""
    values = np.array(values, dtype=np.float64)
    categories = circuit.features.categories[: values.shape[-1]]
    discrete = [labels is not None for labels in categories]
    values[(values < 0) & discrete] = np.nan
    return values


def impossible(row: int) -> InputError:
    """Error message for a row of impossible entries."""
    return InputError(
        f"Row {row}: the circuit gives its entries a probability of 0 together, so "
        "nothing follows from them; leave one of them out."
    )


def given(root: Node, row: np.ndarray) -> Rest:
    """Log density of the present entries of a row, and the node of the missing ones."""

    def leaf_left(leaf: Leaf) -> Rest:
        log_density, parts = leaf.given(row)
        return log_density, _product(parts)

    return fold(root, leaf_left, product_left, sum_left)


def product_left(_: Product, below: Sequence[Rest]) -> Rest:
    """Remaining groups of columns; nested products are merged."""
    children: list[Node] = []
    for _log, node in below:
        if node is not None:
            children += node.children if isinstance(node, Product) else (node,)
    return sum(log for log, _node in below), _product(children)


def _product(children: Sequence[Node]) -> Node | None:
    if len(children) < 2:
        return children[0] if children else None
    return Product(tuple(children))


def sum_left(node: Sum, below: Sequence[Rest]) -> Rest:
    """Possible components with posterior weights; nested sums are merged."""
    logs = log_of(node.weights) + [log for log, _ in below]
    total = float(np.logaddexp.reduce(logs))
    if total == -np.inf or below[0][1] is None:
        return total, below[0][1]
    weights: list[float] = []
    children: list[Node] = []
    for weight, (_, child) in zip(np.exp(logs - total), below):
        assert child is not None  # as all are over the same variables
        if weight > 0 and isinstance(child, Sum):
            weights += list(weight * child.weights)
            children += child.children
        elif weight > 0:
            weights.append(weight)
            children.append(child)
    return total, _sum(np.array(weights), children)


def _sum(weights: np.ndarray, children: Sequence[Node]) -> Node:
    """Sum node; for levels of one column, the column's distribution."""
    if len(children) == 1:
        return children[0]
    leaves = [c for c in children if isinstance(c, OfLevels)]
    if len(leaves) < len(children):
        return Sum(weights / weights.sum(), tuple(children))
    tables = np.array([leaf.probabilities for leaf in leaves])
    return Categorical(leaves[0].variable, product(weights, tables))


def _of_columns(root: Node, circuit: Circuit) -> Circuit:
    """Circuit of the columns in a node's scope, renumbered."""
    kept = sorted(root.variables)  # a leaf has its own order
    place = {variable: i for i, variable in enumerate(kept)}

    def leaf(node: Leaf) -> Leaf:
        return node.over([place[v] for v in node.variables])

    own = fold(root, leaf, with_children, with_children)
    features = circuit.features.taken(kept)
    table = TableVariables(features, circuit.table.scales(kept), (0.0,) * len(kept))
    return replace(circuit, root=own, features=features, table=table)
