"""Slow and obviously right: circuits read row by row."""

import math

import numpy as np
from tests.distributions.naive import completions, leaf_density

from clearwood.circuits.nodes import Product, Sum


def density(node, row):
    """Of what is present in one row; probabilities of discrete columns."""
    if isinstance(node, Sum):
        return sum(w * density(c, row) for w, c in zip(node.weights, node.children))
    if isinstance(node, Product):
        return math.prod(density(child, row) for child in node.children)
    return leaf_density(node, [row[j] for j in node.variables])


def states(circuit):
    """All rows of a circuit over discrete columns alone."""
    sizes = [len(labels) for labels in circuit.features.categories]
    return np.array(list(completions([math.nan] * len(sizes), sizes)), dtype=float)
