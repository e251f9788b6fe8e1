"""What is left of a circuit when some columns are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from clearwood._numeric import product
from clearwood.circuits.circuit import (
    Circuit,
    Node,
    Product,
    Sum,
    fold,
    with_children,
)
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Leaf,
    MultivariateGaussian,
)
from clearwood.circuits.queries.messages import known_levels, upward
from clearwood.columns.feature_space import FeatureSpace
from clearwood.conjugate import partial_normal
from clearwood.exceptions import InputError

Rest = tuple[float, Node | None]
"""Log density of the entries that are known, and a node over the others, if any."""


def condition(circuit: Circuit, row: np.ndarray) -> Circuit:
    """The circuit of the missing entries of a row, given those that are present.

    Parameters
    ----------
    circuit : Circuit
    row : ndarray of shape (n_features,)
        Encoded; NaN where an entry is missing.

    Returns
    -------
    Circuit
        Over the columns that are missing, in their order.

    Examples
    --------
    >>> features = FeatureSpace(("ill", "test"), ((0, 1), (0, 1)))
    >>> well = Product((Bernoulli(0, 0.0), Bernoulli(1, 0.1)))
    >>> ill = Product((Bernoulli(0, 1.0), Bernoulli(1, 0.9)))
    >>> circuit = Circuit(Sum(np.array([0.9, 0.1]), (well, ill)), features)
    >>> condition(circuit, np.array([np.nan, 1.0])).root.probabilities.round(3).tolist()
    [0.5, 0.5]
    """
    log_density, root = given(circuit.root, known(circuit, row))
    if root is None:
        raise InputError("No entry of the row is missing, so nothing is left to ask.")
    if log_density == -np.inf:
        raise impossible(0)
    return _of_columns(root, circuit)


def known(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """The rows with NaN also for levels that the circuit does not know."""
    values = np.array(values, dtype=np.float64)
    discrete = [labels is not None for labels in circuit.features.categories]
    values[(values < 0) & discrete] = np.nan
    return values


def impossible(row: int) -> InputError:
    """What to say of a row whose entries cannot occur together."""
    return InputError(
        f"Row {row}: the circuit gives its entries a probability of 0 together, so "
        "nothing follows from them; leave one of them out."
    )


def given(root: Node, row: np.ndarray) -> Rest:
    """Log density of what a row has, and the node of what it lacks."""
    return fold(root, lambda leaf: leaf_given(leaf, row), product_left, sum_left)


def product_left(_: Product, below: Sequence[Rest]) -> Rest:
    """The groups of which something is left; groups of groups become groups."""
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
    """The kinds that are possible, in their new shares; kinds of kinds become kinds."""
    with np.errstate(divide="ignore"):
        logs = np.log(node.weights) + [log for log, _ in below]
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
    """A sum; of levels of one column, the column's distribution."""
    if len(children) == 1:
        return children[0]
    leaves = [c for c in children if isinstance(c, Bernoulli | Categorical)]
    if len(leaves) < len(children):
        return Sum(weights / weights.sum(), tuple(children))
    tables = np.array([leaf.probabilities for leaf in leaves])
    return Categorical(leaves[0].variable, product(weights, tables))


def log(p: float) -> float:
    """Log of a probability; -inf of 0, without a warning."""
    return math.log(p) if p > 0.0 else -math.inf


# Leaves


@singledispatch
def leaf_given(leaf: Leaf, row: np.ndarray) -> Rest:
    """Log density of what a row has of a leaf, and the node of what it lacks."""
    x = row[leaf.variables[0]]
    if np.isnan(x):
        return 0.0, leaf
    match leaf:
        case Gaussian(_, mean, variance):
            spread = math.log(2 * math.pi * variance)
            gap = float(x) - mean  # whose square may be infinite
            return -0.5 * (gap * gap / variance + spread), None
        case Bernoulli() | Categorical():
            return log(leaf.probabilities[int(x)]), None
    return float(leaf.log_density(row[None])[0]), None


@leaf_given.register
def _(leaf: MultivariateGaussian, row: np.ndarray) -> Rest:
    own = row[None, leaf.variables]
    log_density = float(partial_normal.log_density(own, leaf.mean, leaf.covariance)[0])
    pattern = next(partial_normal.by_pattern(own, leaf.mean, leaf.covariance))
    variables = tuple(j for j in leaf.variables if np.isnan(row[j]))
    mean, covariance = pattern.means[0], pattern.covariance
    if len(variables) > 1:
        return log_density, MultivariateGaussian(variables, mean, covariance)
    if not variables:
        return log_density, None
    return log_density, Gaussian(variables[0], float(mean[0]), float(covariance[0, 0]))


@leaf_given.register
def _(leaf: ChowLiuTree, row: np.ndarray) -> Rest:
    log_density, logs = upward(
        leaf, known_levels(leaf, row[None, leaf.variables]), np.logaddexp.reduce
    )
    trees: dict[int, list[int]] = {}  # of what is missing, by the place of their roots
    root_of: dict[int, int] = {}
    tables: dict[int, np.ndarray] = {}
    for i, (variable, parent) in enumerate(zip(leaf.variables, leaf.parents)):
        if not np.isnan(row[variable]):
            continue
        table = np.exp(logs[i][0])
        if parent not in root_of:  # it has none, or that is known
            known = int(row[leaf.variables[parent]]) if parent >= 0 else 0
            table = table[known : known + 1]
        # Levels that cannot be may lead anywhere.
        table[table.sum(axis=1) == 0] = 1 / table.shape[1]
        tables[i] = table
        root_of[i] = root_of.get(parent, i)
        trees.setdefault(root_of[i], []).append(i)
    parts = [_tree(leaf, places, tables) for places in trees.values()]
    return float(log_density[0]), _product(parts)


def _tree(
    leaf: ChowLiuTree, places: Sequence[int], tables: dict[int, np.ndarray]
) -> Categorical | ChowLiuTree:
    """The tree of the variables at some places; of a single one, its levels."""
    variables = tuple(leaf.variables[i] for i in places)
    if len(places) == 1:
        return Categorical(variables[0], tables[places[0]][0])
    new = {i: k for k, i in enumerate(places)}
    parents = tuple(new.get(leaf.parents[i], -1) for i in places)
    return ChowLiuTree(variables, parents, tuple(tables[i] for i in places))


def _of_columns(root: Node, circuit: Circuit) -> Circuit:
    """A circuit of the columns that a node is over, counted anew."""
    kept = sorted(root.variables)  # a leaf has its own order
    place = {variable: i for i, variable in enumerate(kept)}

    def leaf(node: Leaf) -> Leaf:
        if isinstance(node, MultivariateGaussian | ChowLiuTree):
            return replace(node, variables=tuple(place[v] for v in node.variables))
        return replace(node, variable=place[node.variable])

    own = fold(root, leaf, with_children, with_children)
    heaps = [h._replace(column=place[h.column]) for h in circuit.heaps
             if h.column in place]  # fmt: skip
    return Circuit(own, of_columns(circuit.features, kept), tuple(heaps))


def of_columns(features: FeatureSpace, columns: Sequence[int]) -> FeatureSpace:
    """Some of the columns, in this order."""
    parts = ("names", "categories", "lookup", "missing_at", "info")
    own: dict[str, Any] = {
        part: tuple(getattr(features, part)[j] for j in columns) for part in parts
    }
    return replace(features, **own)
