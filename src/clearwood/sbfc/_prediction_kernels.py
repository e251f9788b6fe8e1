"""The hot loops of predictions."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel


@kernel
def log_of_class(
    codes, y, levels, child, parent, start, log_table, entry, above, belief
):  # fmt: skip
    """Log probability of a row in a forest, given a class; unknown levels summed out.

    Children come before their parents and send them a message: the log probability of
    all that is known below, for each level of the parent (``belief``).
    """
    total = 0.0
    for e in range(entry.size):
        belief[e, : levels[child[entry[e]]]] = 0.0
    for e in range(entry.size):
        k = entry[e]
        j, p = child[k], parent[k]
        low, high = codes[j], codes[j] + 1
        if low < 0:
            low, high = 0, levels[j]
        width, low_p, high_p = 1, 0, 1
        if p >= 0:
            width, low_p, high_p = levels[p], codes[p], codes[p] + 1
            if low_p < 0:
                low_p, high_p = 0, levels[p]
        for m in range(low_p, high_p):
            message = -math.inf
            for x in range(low, high):
                cell = start[k] + x * width + m
                message = np.logaddexp(message, log_table[cell, y] + belief[e, x])
            if p >= 0:
                belief[above[e], m] += message
            else:
                total += message
    return total


@kernel
def to_shares(log_share):
    """Logs to what they are logs of, scaled to the sum 1."""
    top, total = log_share[0], 0.0
    for x in log_share:
        top = max(top, x)
    for y in range(log_share.size):
        log_share[y] = math.exp(log_share[y] - top)
        total += log_share[y]
    for y in range(log_share.size):
        log_share[y] /= total


@kernel
def average_probabilities(
    codes, log_class, levels, child, parent, start, log_table, graph_start, entry,
    above, draws, n_batches,
):  # fmt: skip
    """Class probabilities of rows, averaged over graphs, and their standard errors.

    The arrays are those of ``GraphAverage``. Errors are those of means over batches of
    graphs that follow one another.
    """
    n, n_classes = codes.shape[0], log_class.size
    n_graphs = graph_start.size - 1
    probability, error = np.empty((n, n_classes)), np.full((n, n_classes), np.nan)
    value = np.empty((child.size, n_classes))
    each, batch = np.empty((n_graphs, n_classes)), np.empty((n_batches, n_classes))
    batch_size = np.zeros(n_batches)
    most = 0
    for i in range(draws.size):
        batch_size[i * n_batches // draws.size] += 1.0
    for g in range(n_graphs):
        most = max(most, graph_start[g + 1] - graph_start[g])
    belief = np.zeros((most, levels.max() if levels.size else 1))
    for row in range(n):
        code = codes[row]
        complete = True
        for j in range(code.size):
            complete = complete and code[j] >= 0
        if complete:
            for k in range(child.size):
                cell = start[k] + code[child[k]]
                if parent[k] >= 0:
                    cell += code[child[k]] * (levels[parent[k]] - 1) + code[parent[k]]
                for y in range(n_classes):
                    value[k, y] = log_table[cell, y]
        for g in range(n_graphs):
            first, last = graph_start[g], graph_start[g + 1]
            for y in range(n_classes):
                each[g, y] = log_class[y]
                if complete:
                    for e in range(first, last):
                        each[g, y] += value[entry[e], y]
                else:
                    each[g, y] += log_of_class(
                        code, y, levels, child, parent, start, log_table,
                        entry[first:last], above[first:last], belief,
                    )  # fmt: skip
            to_shares(each[g])
        batch[:] = 0.0
        for i in range(draws.size):
            b = i * n_batches // draws.size
            for y in range(n_classes):
                batch[b, y] += each[draws[i], y]
        for y in range(n_classes):
            total = 0.0
            for b in range(n_batches):
                total += batch[b, y]
            mean = probability[row, y] = total / draws.size
            if n_batches > 1:
                total = 0.0
                for b in range(n_batches):
                    total += (batch[b, y] / batch_size[b] - mean) ** 2
                error[row, y] = math.sqrt(total / (n_batches * (n_batches - 1)))
    return probability, error
