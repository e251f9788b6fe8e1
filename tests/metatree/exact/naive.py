"""Slow and obviously right: trees one by one, and the recursion over dicts of rows."""

import itertools
import math

import numpy as np


def leaf_stats(leaf_model, y, weight, rows):
    """Statistics of some rows, as one row."""
    stats = leaf_model.no_rows(1)
    ends = np.zeros(len(rows), dtype=np.int64)
    leaf_model.add_rows(stats, ends, y[rows], weight[rows])
    return stats


def all_trees(n_values, depth, g, repeats, asked=()):
    """Every tree as nested tuples, with its prior probability."""
    features = range(len(n_values))
    open_features = [j for j in features if repeats or j not in asked]
    if depth == len(g) or not open_features:
        yield (), 1.0
        return
    yield (), 1.0 - g[depth]
    for j in open_features:
        below = list(all_trees(n_values, depth + 1, g, repeats, (*asked, j)))
        for children in itertools.product(below, repeat=n_values[j]):
            prior = g[depth] / len(open_features)
            prior *= math.prod(p for _, p in children)
            yield (j, *(tree for tree, _ in children)), prior


def leaves(tree, codes, rows):
    """The rows in every leaf of a tree."""
    if not tree:
        return [rows]
    found = []
    for value, child in enumerate(tree[1:]):
        found += leaves(child, codes, rows[codes[rows, tree[0]] == value])
    return found


def leaf_of(tree, row):
    """The conditions of the leaf of one row."""
    conditions = []
    while tree:
        conditions.append((tree[0], int(row[tree[0]])))
        tree = tree[1 + row[tree[0]]]
    return conditions


def n_nodes(tree):
    return 1 + sum(map(n_nodes, tree[1:]))


def features_of(tree):
    """The features that a tree asks about anywhere."""
    return {tree[0]}.union(*map(features_of, tree[1:])) if tree else set()


class Enumeration:
    """Posterior over all trees by listing them."""

    def __init__(self, codes, y, leaf_model, n_values, g, repeats, weight=None):
        self.codes, self.y, self.leaf_model = codes, y, leaf_model
        self.weight = np.ones(len(y)) if weight is None else weight
        self.trees, priors = zip(*all_trees(n_values, 0, g, repeats))
        known = {}

        def evidence(rows):
            key = rows.tobytes()
            if key not in known:
                stats = leaf_stats(leaf_model, y, self.weight, rows)
                known[key] = float(leaf_model.log_marginal(stats)[0])
            return known[key]

        everyone = np.arange(len(y))
        log_joint = np.array([
            math.log(prior) + sum(map(evidence, leaves(tree, codes, everyone)))
            for tree, prior in zip(self.trees, priors)
        ])  # fmt: skip
        self.prior_total = sum(priors)
        self.log_evidence = float(np.logaddexp.reduce(log_joint))
        self.log_posterior = log_joint - self.log_evidence
        self.posterior = np.exp(self.log_posterior)

    def average(self, function, row):
        """Posterior mean of a function of the statistics in the row's leaf."""
        known, total = {}, 0.0
        for tree, probability in zip(self.trees, self.posterior):
            conditions = frozenset(leaf_of(tree, row))
            if conditions not in known:
                here = np.ones(len(self.y), dtype=bool)
                for j, value in conditions:
                    here &= self.codes[:, j] == value
                rows = np.flatnonzero(here)
                stats = leaf_stats(self.leaf_model, self.y, self.weight, rows)
                known[conditions] = float(function(stats)[0])
            total += probability * known[conditions]
        return total

    def feature_used(self, n_features):
        used = np.zeros(n_features)
        for tree, probability in zip(self.trees, self.posterior):
            used[list(features_of(tree))] += probability
        return used


def recursion(codes, y, leaf_model, n_values, g, repeats):
    """Log evidence by the same recursion over rows, memoised in a dict."""
    known = {}
    weight = np.ones(len(y))

    def log_q(conditions, depth):
        key = (conditions, depth)
        if key in known:
            return known[key]
        here = np.ones(len(y), dtype=bool)
        for j, value in conditions:
            here &= codes[:, j] == value
        stats = leaf_stats(leaf_model, y, weight, np.flatnonzero(here))
        leaf = float(leaf_model.log_marginal(stats)[0])
        asked = {j for j, _ in conditions}
        features = [j for j in range(len(n_values)) if repeats or j not in asked]
        if depth == len(g) or not features:
            known[key] = leaf
            return leaf
        terms = [math.log(1.0 - g[depth]) + leaf]
        for j in features:
            if j in asked:
                total = log_q(conditions, depth + 1)
            else:
                total = sum(
                    log_q(conditions | {(j, v)}, depth + 1) for v in range(n_values[j])
                )
            terms.append(math.log(g[depth] / len(features)) + total)
        known[key] = float(np.logaddexp.reduce(terms))
        return known[key]

    return log_q(frozenset(), 0)
