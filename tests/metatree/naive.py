"""Slow and obvious twins of what `clearwood.metatree` computes fast."""

import itertools
import math

import numpy as np
from tests.distributions.naive import stats_of


def end_of(structure, row):
    """The node where one row of codes ends."""
    node = 0
    while structure.first_child[node] >= 0:
        answers = structure.child_of_codes(node)
        code = int(row[structure.feature[node]])
        child = int(answers[code]) if 0 <= code < len(answers) else -1
        if child < 0:
            break
        node = int(structure.first_child[node]) + child
    return node


def path(structure, node):
    """Nodes from the root to one of them."""
    nodes = [node]
    while structure.parent[nodes[0]] >= 0:
        nodes.insert(0, int(structure.parent[nodes[0]]))
    return nodes


def nodes_below(structure, node):
    """A node and all that is below it."""
    found = [node]
    for s in found:
        first = structure.first_child[s]
        if first >= 0:
            found += range(first, first + structure.n_children[s])
    return found


def prunings(structure, node=0):
    """Every pruned tree below a node: a set of inner nodes and a set of leaves."""
    yield frozenset(), frozenset([node])
    first = structure.first_child[node]
    if first < 0:
        return
    children = range(first, first + structure.n_children[node])
    for parts in itertools.product(*[list(prunings(structure, c)) for c in children]):
        inner = frozenset([node]).union(*(part[0] for part in parts))
        yield inner, frozenset().union(*(part[1] for part in parts))


def weighed_prunings(structure, model, g, ends, y, weight, x=None):
    """Every pruning with its joint log probability with the targets.

    Rows that stop at an inner node of a pruning are in a leaf of their own there.
    """

    def log_marginal(rows):
        if not rows.any():
            return 0.0
        part = None if x is None else x[rows]
        stats = stats_of(model, y[rows], weight[rows], part)
        return float(model.log_marginal(stats[None])[0])

    found = []
    for inner, leaves in prunings(structure):
        log_p = 0.0
        for s in inner:
            log_p += math.log(g[s]) + log_marginal(ends == s)
        for s in leaves:
            stop = 0.0 if structure.first_child[s] < 0 else math.log1p(-g[s])
            log_p += stop + log_marginal(np.isin(ends, nodes_below(structure, s)))
        found.append((inner, leaves, log_p))
    return found


def log_sum(values):
    largest = max(values)
    return largest + math.log(sum(math.exp(v - largest) for v in values))


def feature_used(structure, weighed):
    """Probability that a feature is asked about, over all prunings."""
    total = log_sum([log_p for *_, log_p in weighed])
    used = np.zeros(structure.n_features)
    for inner, _, log_p in weighed:
        for d in {int(structure.feature[s]) for s in inner}:
            used[d] += math.exp(log_p - total)
    return used


def log_density(structure, model, g, ends, y, weight, end, value):
    """Log density of one more row, as a ratio of two evidences."""
    before = weighed_prunings(structure, model, g, ends, y, weight)
    after = weighed_prunings(
        structure, model, g, np.append(ends, end), np.append(y, value),
        np.append(weight, 1.0),
    )  # fmt: skip
    return log_sum([w[2] for w in after]) - log_sum([w[2] for w in before])


def search_corrected(structure, g, p):
    """The recursion without data, node by node; ``g`` and ``p`` by node, or one."""
    new = np.zeros(structure.n_nodes)
    g, p = (np.broadcast_to(values, (structure.n_nodes,)) for values in (g, p))

    def z(node):
        first = structure.first_child[node]
        if first < 0:
            return 1.0
        children = range(first, first + structure.n_children[node])
        split = g[node] / p[node] * math.prod(z(child) for child in children)
        new[node] = split / (1 - g[node] + split)
        return 1 - g[node] + split

    z(0)
    return new


def effective_questions(structure, X, max_features=None):
    """Features that vary times the root of the questions about one, node by node."""
    encoded = structure.coder.features.encode(X)
    ends = structure.route(structure.encode(X))
    found = np.ones(structure.n_nodes)
    for node in range(structure.n_nodes):
        here = [node in path(structure, end) for end in ends]
        values = [
            {"missing" if np.isnan(v) else v for v in column[here]}
            for column in encoded.T
        ]
        n_features = sum(len(v) > 1 for v in values)
        if max_features is not None:
            n_features = min(n_features, max_features)
        d, n_questions = structure.feature[node], 1
        if d >= 0 and len(values[d]) > 1:
            n_questions = len(values[d]) - 1
            if structure.coder.features.categories[d] is not None:
                n_questions = 2**n_questions - 1
        found[node] = max(n_features, 1) * math.sqrt(n_questions)
    return found
