"""Slow and obviously right: scores by counting, graphs listed, determinants."""

import itertools
import math
from fractions import Fraction

import numpy as np


def bd_score(child, parents, levels, alpha, weight):
    """Log evidence of a column, a Dirichlet for every cell of its parents (2.3.1).

    ``levels`` are the numbers of levels of the child and of its parents.
    """
    v, w = levels[0], math.prod(levels[1:])
    total = 0.0
    for cell in {tuple(row) for row in np.stack([*parents, 0 * child], 1).tolist()}:
        here = np.ones(len(child), bool)
        for parent, value in zip(parents, cell):
            here &= parent == value
        count = [weight[here & (child == k)].sum() for k in range(v)]
        total += math.lgamma(alpha / w) - math.lgamma(alpha / w + sum(count))
        for n in count:
            total += math.lgamma(alpha / (w * v) + n) - math.lgamma(alpha / (w * v))
    return total


def score_table(table, group, alpha):
    """Scores of features (row) given parents (column); alone on the diagonal."""
    codes, levels, y, n_classes, weight, _ = table
    weight = np.ones(len(y)) if weight is None else weight
    d = len(levels)
    found = np.empty((d, d))
    for j in range(d):
        for p in range(d):
            parents, sizes = ([], []) if j == p else ([codes[:, p]], [levels[p]])
            if group == 1:
                parents, sizes = [*parents, y], [*sizes, n_classes]
            sizes = [levels[j], *sizes]
            found[j, p] = bd_score(codes[:, j], parents, sizes, alpha, weight)
    return found


def rooted_forests(d):
    """Parents (-1: none) of all rooted forests of d nodes, one in each row."""
    every = np.array(list(itertools.product(range(-1, d), repeat=d)))
    above = every.copy()
    for _ in range(d):
        far = np.take_along_axis(every, np.maximum(above, 0), axis=1)
        above = np.where(above < 0, -1, far)
    return every[(above < 0).all(axis=1)]


def forest_log_weights(forests, log_weight):
    """Sums of the edges' log weights, for parents as rows."""
    child = np.arange(forests.shape[1])
    found = log_weight[child, np.maximum(forests, 0)]
    return np.where(forests < 0, 0.0, found).sum(axis=1)


def graphs(d):
    """Signal groups and parents of all graphs, one in each row."""
    signals, parents = [], []
    for parent in rooted_forests(d):
        child = np.flatnonzero(parent >= 0)
        for signal in itertools.product([False, True], repeat=d):
            signal = np.array(signal)
            if (signal[child] == signal[parent[child]]).all():
                signals.append(signal)
                parents.append(parent)
    return np.array(signals), np.array(parents)


def graph_log_posteriors(signals, parents, scores, penalty):
    """Of all graphs, one after the other, by the formulas of 2.3.1."""
    found = []
    for signal, parent in zip(signals.astype(int), parents):
        total = 0.0
        for j, p in enumerate(parent):
            group = signal[j]
            total += scores.alone[group, j] - penalty.node[group]
            if p >= 0:
                total += scores.gains(group)[j, p] - penalty.edge[group]
        found.append(total)
    return np.array(found)


def depth(parent, j):
    """Number of edges between a node and its root."""
    return 0 if parent[j] < 0 else 1 + depth(parent, parent[j])


def log_joint_of_rows(graph, table, rows, smoothing, alpha):
    """Log P(class, row) of rows in a graph, by the counts of 2.3.4."""
    codes, levels, y, n_classes, weight, _ = table
    weight = np.ones(len(y)) if weight is None else weight
    n_all, found = weight.sum(), np.empty((len(rows), n_classes))
    for i, row in enumerate(rows):
        for c in range(n_classes):
            of_class = y == c
            n_class = weight[of_class].sum()
            share = n_class / n_all
            if smoothing == "dirichlet":
                share = (n_class + alpha / n_classes) / (n_all + alpha)
            found[i, c] = math.log(share)
            for j in np.flatnonzero(graph.signal):
                here, cells, p = of_class, n_classes, graph.parent[j]
                if p >= 0:
                    here, cells = here & (codes[:, p] == row[p]), cells * levels[p]
                level = codes[:, j] == row[j]
                more, all_more = weight[level].sum() / n_all, 1.0
                if smoothing == "dirichlet":
                    more, all_more = alpha / (cells * levels[j]), alpha / cells
                both = weight[here & level].sum() + more
                found[i, c] += math.log(both / (weight[here].sum() + all_more))
    return found


def determinant(matrix):
    """Exact, of whole numbers or fractions."""
    matrix, product = [[Fraction(x) for x in row] for row in matrix], Fraction(1)
    for k in range(len(matrix)):
        product *= matrix[k][k]
        for i in range(k + 1, len(matrix)):
            share = matrix[i][k] / matrix[k][k]
            for j in range(k, len(matrix)):
                matrix[i][j] -= share * matrix[k][j]
    return product


def sum_of_forests(weight):
    """Of all rooted forests: det(I + Laplacian) of whole weights."""
    d = len(weight)
    total = [sum(weight[i][j] for j in range(d) if j != i) for i in range(d)]
    return determinant([
        [1 + total[i] if i == j else -weight[i][j] for j in range(d)] for i in range(d)
    ])  # fmt: skip


def edge_probability(weight, i, j):
    """Share of the forests that have an edge."""
    without = [list(row) for row in weight]
    without[i][j] = without[j][i] = 0
    return 1 - sum_of_forests(without) / sum_of_forests(weight)


def log_joint(scores, penalty, signal):
    """Log posterior of a set of signal features, up to a constant; plain floats."""
    total = 0.0
    for group, members in enumerate((~signal, signal)):
        log_weight = scores.gains(group)[np.ix_(members, members)] - penalty.edge[group]
        weight = np.exp(log_weight)
        total += (scores.alone[group] - penalty.node[group])[members].sum()
        if members.any():
            matrix = np.diag(1 + weight.sum(axis=1)) - weight
            total += np.linalg.slogdet(matrix)[1]
    return total
