"""Slow and obviously right: tests of pairs, clusters, and the best tree."""

import itertools
import math

import numpy as np
from scipy import stats


def pair_test(first, second, n_levels, ratio):
    """Statistic, degrees of freedom and rows of two columns of levels, -1 missing."""
    table = np.zeros(n_levels)
    for a, b in zip(first, second):
        if a >= 0 and b >= 0:
            table[a, b] += 1
    kept = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(kept.shape) < 2:
        return 0.0, 0, int(table.sum())
    found = stats.chi2_contingency(
        kept, correction=False, lambda_="log-likelihood" if ratio else "pearson"
    )
    return found.statistic, found.dof, int(table.sum())


def best_tree_weight(weight):
    """Total weight of the heaviest spanning tree, of all that there are."""
    d = len(weight)
    pairs = list(itertools.combinations(range(d), 2))
    return max(
        sum(weight[edge] for edge in edges)
        for edges in itertools.combinations(pairs, d - 1)
        if spans(edges, d)
    )


def spans(edges, d):
    reached = {0}
    for _ in range(d):
        reached |= {j for e in edges for j in e if reached & set(e)}
    return len(reached) == d


def cluster_score(row, own, n_levels, share, alpha, kappa, floor, whole):
    """``log w_k + log p(row | k)`` of (codes, reals), from the rows of the cluster.

    ``own`` and ``whole`` are rows: those of the cluster, and all.
    """
    total = math.log(share)
    codes, reals = row
    for j, levels in enumerate(n_levels):
        if codes[j] >= 0:
            cells = [c[j] for c, _ in own if c[j] >= 0]
            equal = sum(cell == codes[j] for cell in cells)
            total += math.log((equal + alpha) / (len(cells) + alpha * levels))
    for j, value in enumerate(reals):
        if not math.isnan(value):
            cells = [r[j] for _, r in own if not math.isnan(r[j])]
            every = [r[j] for _, r in whole if not math.isnan(r[j])]
            mean = np.mean(cells if cells else every)
            squares = sum((x - mean) ** 2 for x in cells) + kappa * np.var(every)
            variance = max(squares / (len(cells) + kappa), floor)
            total += stats.norm(mean, math.sqrt(variance)).logpdf(value)
    return total
