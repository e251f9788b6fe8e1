"""Hidden Chow-Liu trees (Liu and Van den Broeck, NeurIPS 2021), learned by EM.

The shape is the Chow-Liu tree of the discrete columns. Each column has a hidden
variable, on which alone it depends; hidden variables depend on each other along the
tree.
"""

from __future__ import annotations

import numpy as np

from clearwood.circuits.nodes import Node, fold, with_children
from clearwood.distributions import ChowLiuTree, Leaf

N_STATES = (4, 8, 16)
"""Numbers of states of hidden variables, tried as long as validation rows gain."""


def with_hidden(root: Node, n_states: int, rng: np.random.Generator) -> Node:
    """The circuit with hidden variables in its Chow-Liu trees, of random parameters.

    Examples
    --------
    >>> tables = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> tree = ChowLiuTree((0, 1), (-1, 0), tables)
    >>> hidden = with_hidden(tree, 4, np.random.default_rng(0))
    >>> hidden.parents, [table.shape for table in hidden.tables]
    ((-1, 0, 0, 1), [(1, 4), (4, 4), (4, 2), (4, 2)])
    """

    def leaf(node: Leaf) -> Leaf:
        if not isinstance(node, ChowLiuTree):
            return node
        states = [(n_states, 1 if above < 0 else n_states) for above in node.parents]
        columns = [(n, n_states) for n in node.n_levels]
        return ChowLiuTree(
            node.variables,
            (*node.parents, *range(len(columns))),
            tuple(rng.dirichlet(np.ones(n), size=m) for n, m in states + columns),
        )

    return fold(root, leaf, with_children, with_children)
