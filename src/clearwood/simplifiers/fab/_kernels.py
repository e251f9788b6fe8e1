"""The inner loops of FAB: table look-ups, responsibilities, histograms."""

import numpy as np

from clearwood._numeric import kernel


@kernel
def add_looked_up(scores, codes, bin_start, table):
    """Add to each row's scores the table entries of the row's bins."""
    n_rows, n_features = codes.shape
    n_components = scores.shape[1]
    for n in range(n_rows):
        for d in range(n_features):
            b = bin_start[d] + codes[n, d]
            for k in range(n_components):
                scores[n, k] += table[b, k]


@kernel
def responsibilities(log_joint, penalty):
    """Softmax over components of ``log_joint - penalty``, per row (eq. 13)."""
    n_rows, n_components = log_joint.shape
    result = np.empty((n_rows, n_components))
    for n in range(n_rows):
        largest = -np.inf
        for k in range(n_components):
            score = log_joint[n, k] - penalty[k]
            result[n, k] = score
            if score > largest:
                largest = score
        total = 0.0
        for k in range(n_components):
            gap = result[n, k] - largest
            # Below -746 the exponential is zero; with many statements nearly all
            # components of a row are there, and the call is what costs.
            share = np.exp(gap) if gap > -746.0 else 0.0
            result[n, k] = share
            total += share
        for k in range(n_components):
            result[n, k] /= total
    return result


@kernel
def responsibility_counts(log_joint, penalty, weight):
    """Weighted sums over rows of what ``responsibilities`` returns, without it."""
    n_rows, n_components = log_joint.shape
    counts = np.zeros(n_components)
    share = np.empty(n_components)
    for n in range(n_rows):
        largest = -np.inf
        for k in range(n_components):
            share[k] = log_joint[n, k] - penalty[k]
            if share[k] > largest:
                largest = share[k]
        total = 0.0
        for k in range(n_components):
            gap = share[k] - largest
            share[k] = np.exp(gap) if gap > -746.0 else 0.0
            total += share[k]
        for k in range(n_components):
            counts[k] += weight[n] * (share[k] / total)
    return counts


@kernel
def add_to_histogram(histogram, codes, bin_start, mass):
    """Add each row's mass per component to the row's bins."""
    n_rows, n_features = codes.shape
    n_components = mass.shape[1]
    for n in range(n_rows):
        for d in range(n_features):
            b = bin_start[d] + codes[n, d]
            for k in range(n_components):
                histogram[b, k] += mass[n, k]


@kernel
def weighted_sums(mass, values):
    """Sum over rows of mass times value: components by columns of ``values``.

    Written out because the order of additions in a matrix product may depend on
    the number of threads.
    """
    n_rows, n_components = mass.shape
    sums = np.zeros((n_components, values.shape[1]))
    for n in range(n_rows):
        for k in range(n_components):
            if mass[n, k] > 0.0:
                for c in range(values.shape[1]):
                    sums[k, c] += mass[n, k] * values[n, c]
    return sums
