"""Nodes of a circuit: mixtures over rows, products over groups of columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clearwood.distributions import Leaf


@dataclass(frozen=True, eq=False)
class Sum:
    """Sum node: a mixture, of which every row belongs to one component.

    Attributes
    ----------
    weights : ndarray of shape (n_children,)
        Mixture weights; they add up to 1.
    children : tuple of nodes
        All over the same variables.
    variables : tuple of int
        The scope, in increasing order; derived from the children.
    """

    weights: np.ndarray
    children: tuple[Node, ...]
    variables: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Computed once from the children: circuits may be deeper than recursion allows.
        own = self.children[0].variables if self.children else ()
        object.__setattr__(self, "variables", in_order(own))


@dataclass(frozen=True, eq=False)
class Product:
    """Product node: groups of columns that are independent here.

    Attributes
    ----------
    children : tuple of nodes
        With disjoint scopes.
    variables : tuple of int
        The scope, in increasing order; derived from the children.
    """

    children: tuple[Node, ...]
    variables: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = tuple(j for child in self.children for j in child.variables)
        object.__setattr__(self, "variables", in_order(own))


Node = Sum | Product | Leaf


def in_order(variables: tuple[int, ...]) -> tuple[int, ...]:
    """Variables in increasing order; the same tuple if they are already."""
    ordered = tuple(sorted(variables))
    return variables if variables == ordered else ordered


def walk(root: Node) -> Iterator[Node]:
    """All nodes in postorder, children in their order; the root last.

    Examples
    --------
    >>> from clearwood.distributions import Bernoulli
    >>> [type(node).__name__ for node in walk(Product((Bernoulli(0, 0.5),)))]
    ['Bernoulli', 'Product']
    """
    found, left = [], [root]
    while left:
        node = left.pop()
        found.append(node)
        if isinstance(node, Sum | Product):
            left.extend(node.children)
    return reversed(found)


def fold(
    root: Node,
    leaf: Callable[[Leaf], Any],
    product: Callable[[Product, Sequence[Any]], Any],
    sum_: Callable[[Sum, Sequence[Any]], Any],
) -> Any:
    """Evaluate nodes bottom-up.

    Examples
    --------
    >>> from clearwood.distributions import Bernoulli
    >>> root = Product((Bernoulli(0, 0.5), Bernoulli(1, 0.5)))
    >>> fold(root, lambda leaf: 1, lambda node, below: sum(below), None)
    2
    """
    found: list[Any] = []
    for node in walk(root):
        if not isinstance(node, Sum | Product):
            found.append(leaf(node))
            continue
        below = found[-len(node.children) :]
        del found[-len(node.children) :]
        combine: Any = sum_ if isinstance(node, Sum) else product
        found.append(combine(node, below))
    return found[0]


def with_children(node: Sum | Product, children: Sequence[Node]) -> Sum | Product:
    """Copy of a sum or product with other children."""
    return replace(node, children=tuple(children))
